#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules that every trace keeps, one test each. rules_test.py CHROME_SO"""
import ctypes as c
import re
import zlib

from sink import (ARROW, COUNTER, DICT, DOUBLE, FIRST, GAP, INSTANT, INT, LIST, MIDNIGHT, STRING, UINT,
                  UNFINISHED, Clock, End, Scene, Source, run_tests)
from strict import check_rules, read_trace

DAY = 86400_000000000
DEVICES, LANES = 1 << 30, (1 << 30) + (1 << 24)


def write(writer, path, scene, *batches, **more):
    writer.write(path, scene.header, [scene.announce(), *batches], **more)
    trace = read_trace(path)
    check_rules(trace)
    return trace


def spans(trace):
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def named(trace, name):
    return [event for event in trace["traceEvents"] if event["name"] == name]


def ns(number):
    """Of a number of microseconds, as it stands in the file."""
    whole, point, fraction = number.text.partition(".")
    assert point and len(fraction) == 3, number.text
    return int(whole + fraction)


# ---- The document ----

def test_the_top_level_keys_have_their_order(writer, path, r):
    scene = Scene(writer)
    scene.processes[0].rank = 3
    own = ["trace_id", "kymo", "metadata", "traceEvents", "traceName", "rank", "with_stack"]
    scene.header.metadata = writer.values([(key, INT, 1) for key in own])
    scene.header.metadata_count = len(own)
    trace = write(writer, path, scene, [scene.event()])
    assert list(trace) == [
        "schemaVersion", "deviceProperties", "trace_id", "kymo (2)", "metadata (3)",
        "traceEvents (4)", "traceName (5)", "rank (6)", "with_stack", "distributedInfo",
        "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "metadata", "kymo", "traceName"]
    with open(path, "rb") as f:
        assert f.read()[-1:] == b"}"


def first_rank(path):
    """As HTA finds it: a pattern over the text, the first hit."""
    with open(path, encoding="utf-8") as f:
        found = re.search(r'"rank":\s+(\d+)', f.read())
    return int(found[1]) if found else None


def test_the_first_rank_in_the_text_is_that_of_the_only_rank(writer, path, r):
    scene = Scene(writer)
    scene.processes[1].rank, scene.processes[1].world_size = 12, 16
    scene.processes[0].name = writer.text('"rank": 5')
    scene.device.name = writer.text('"rank": 6')
    scene.device.values, scene.device.value_count = writer.values([("rank", INT, 7)]), 1
    scene.header.metadata, scene.header.metadata_count = writer.values([("rank", INT, 8)]), 1
    scene.header.command_line = writer.text('run --env "rank": 9')
    trace = write(writer, path, scene, [scene.event(values=[("rank", INT, 10)])])
    assert first_rank(path) == 12
    assert trace["distributedInfo"]["world_size"] == 16


def test_several_ranks_or_none_have_no_distributed_info(writer, path, r):
    for ranks, wanted in (((3, 4), False), ((-1, -1), False), ((3, 3), True), ((-1, 0), True)):
        scene = Scene(writer)
        for process, rank in zip(scene.processes, ranks, strict=True):
            process.rank = rank
        assert ("distributedInfo" in write(writer, path, scene)) is wanted, ranks


def test_what_is_said_of_the_ranks_stands_beside_the_rank_of_the_process(writer, path, r):
    said = [("ranks", STRING, "[0, 1]"), ("world_size", INT, 5), ("backend", STRING, "nccl"),
            ("rank", INT, 4), ("rank", STRING, "four"), ("pg_config", LIST, [("", DICT, [("rank", INT, 1)])])]
    for ranks, wanted in (
            ((3, -1), [("backend", "nccl"), ("rank", 3), ("world_size", 16), ("ranks", "[0, 1]"),
                       ("rank (5)", "four"), ("pg_config", [{"rank": 1}])]),
            ((-1, -1), [("backend", "nccl"), ("ranks", "[0, 1]"), ("world_size (2)", 5), ("rank (4)", 4),
                        ("rank (5)", "four"), ("pg_config", [{"rank (1)": 1}])]),
            ((3, 4), None)):
        scene = Scene(writer)
        for process, rank in zip(scene.processes, ranks, strict=True):
            process.rank, process.world_size = rank, 16
        scene.header.metadata = writer.values([("options", DICT, [("rank", INT, 9)]),
                                               ("distributedInfo", DICT, said)])
        scene.header.metadata_count = 2
        trace = write(writer, path, scene)
        assert first_rank(path) == (None if ranks == (-1, -1) else 3), ranks
        assert trace["options"] == {"rank (1)": 9}, trace["options"]
        # Of several ranks it is nobody's, so no reader is to take it for that.
        assert ("distributedInfo" in trace) == (wanted is not None), ranks
        if wanted:
            assert list(trace["distributedInfo"].items()) == wanted, trace["distributedInfo"]
        else:
            assert trace["distributedInfo (2)"]["backend"] == "nccl", trace


def make_end(writer, scene, **texts):
    texts = {key: writer.text(text) for key, text in texts.items()}
    source = Source(struct_size=c.sizeof(Source), state=4, process=c.pointer(scene.processes[0]),
                    **texts)
    clock = Clock(struct_size=c.sizeof(Clock), process=c.pointer(scene.processes[0]),
                  name=writer.text("device"), anchor_count=12, uncertainty_ns=800)
    writer.keep((source, clock))
    return End(struct_size=c.sizeof(End), source_count=1,
               sources=writer.pointers(Source, [source]), clocks=writer.pointers(Clock, [clock]),
               clock_count=1)


def test_the_short_truth_is_flat_and_stands_in_metadata(writer, path, r):
    scene = Scene(writer)
    scene.processes[0].rank = 2
    end = make_end(writer, scene, name="npu", reason="held by another tool", remedy="end it")
    truth = write(writer, path, scene, [scene.event()] * 3, end=end)["metadata"]
    assert all(type(value) in (int, str) for value in truth.values()), truth
    assert truth["events"] == 3 and truth["lost"] == 0 and truth["rank"] == 2
    assert truth["base time (ns)"] == str(MIDNIGHT) and truth["host"] == "h0"
    assert any(key.startswith("source npu") and "held by another tool" in value
               for key, value in truth.items())


def test_kymo_says_who_took_part_and_how_exact_the_clocks_are(writer, path, r):
    scene = Scene(writer)
    process = scene.processes[0]
    process.exe, process.boot_id = writer.text("/bin/p"), writer.text("b007")
    process.rank, process.world_size = 1, 4
    scene.types[1].is_static, scene.types[1].activity_type = 0, 70000
    end = make_end(writer, scene, name="npu", reason="why", remedy="what helps")
    kymo = write(writer, path, scene, end=end)["kymo"]
    first = kymo["processes"][0]
    assert (first["pid"], first["exe"], first["host"], first["boot id"], first["rank"],
            first["world size"]) == (77, "/bin/p", "h0", "b007", 1, 4)
    source = kymo["sources"][0]
    assert (source["name"], source["reason"], source["remedy"]) == ("npu", "why", "what helps")
    assert [t["number"] for t in kymo["activity types"]] == [70000]
    assert kymo["clocks"][0]["uncertainty (ns)"] == 800 and kymo["clocks"][0]["anchors"] == 12
    assert kymo["ledger"]["offered"] == 0 and kymo["version"]


def test_gzip_is_one_member(writer, path, r):
    scene = Scene(writer)
    path += ".gz"
    write(writer, path, scene, *[[scene.event()] * 1000] * 9)
    with open(path, "rb") as f:
        data = f.read()
    inflate = zlib.decompressobj(31)
    assert len(inflate.decompress(data)) > 1 << 20  # so several blocks
    assert inflate.eof and not inflate.unused_data


# ---- Times ----

def test_times_keep_every_nanosecond(writer, path, r):
    scene = Scene(writer)
    times = sorted((r.randrange(10**17), r.randrange(10**r.randrange(1, 17))) for _ in range(300))
    trace = write(writer, path, scene, [scene.event(begin=b, length=n) for b, n in times])
    base = trace["baseTimeNanoseconds"]
    for span, (begin, length) in zip(spans(trace), times, strict=True):
        assert base + ns(span["ts"]) == MIDNIGHT + FIRST + begin
        assert ns(span["dur"]) == length


def test_the_base_is_the_midnight_at_or_before_the_first_event(writer, path, r):
    for offset in (0, 1, DAY - 1, DAY, DAY + 1, -1, -DAY):
        scene = Scene(writer)
        scene.header.realtime_offset_ns = MIDNIGHT - FIRST + offset
        trace = write(writer, path, scene, [scene.event()])
        base, since = trace["baseTimeNanoseconds"], ns(spans(trace)[0]["ts"])
        assert base % DAY == 0 and 0 <= since < DAY and base + since == MIDNIGHT + offset


def test_events_outside_of_time_are_counted(writer, path, r):
    scene = Scene(writer)
    far = [scene.event(begin=b, length=n, flags=f) for b, n, f in (
        (-FIRST - 1, 0, 0), (0, -1, 0), (10**18, 0, 0), (0, 10**18, 0), (0, 0, 8))]
    trace = write(writer, path, scene, far, [scene.event()])
    assert len(spans(trace)) == 1
    assert trace["kymo"]["sink"]["not drawn"] == len(far)


# ---- Rows ----

def test_rows_never_share_numbers(writer, path, r):
    scene = Scene(writer)
    events = [scene.event(track=i, name=str(i), begin=i, correlation=i + 1, arrow_id=0)
              for i in range(len(scene.tracks))]
    trace = write(writer, path, scene, events)
    rows = [(span["pid"], span["tid"]) for span in spans(trace)]
    assert len(set(rows)) == len(scene.tracks)
    names = named(trace, "process_name")
    assert len({event["pid"] for event in names}) == len(names) == 3
    assert any(event["args"].get("pid") == 77 for event in names)
    assert all(pid != tid or pid == 77 for pid, tid in rows)
    assert not any(tid == 0 for _, tid in rows)


def test_devices_lanes_and_queues_have_their_ranges_and_originals(writer, path, r):
    scene = Scene(writer)
    trace = write(writer, path, scene)
    rows = {event["args"]["name"]: event for event in named(trace, "thread_name")}
    queue, lane = rows["stream 1 q"], rows["stream 1 q (lane 2)"]
    assert queue["pid"] == lane["pid"] == DEVICES and queue["tid"] == 1 and lane["tid"] >= LANES
    assert queue["args"]["native"] == lane["args"]["native"] == str((1 << 64) - 1)
    threads = [event for event in named(trace, "thread_name") if event["pid"] < DEVICES]
    originals = [event["args"].get("tid", event["tid"]) for event in threads]
    assert sorted(map(int, originals)) == sorted([77, 77, 78, 0, 1 << 31, (1 << 63) - 1] * 2)


def test_rows_are_named_and_ordered_before_anything_is_on_them(writer, path, r):
    scene = Scene(writer)
    trace = write(writer, path, scene, [scene.event(track=i) for i in range(len(scene.tracks))])
    known = set()
    for event in trace["traceEvents"][:-1]:
        pid, tid = event["pid"], event["tid"]
        if event["ph"] == "M":
            known.add((event["name"], pid, tid))
            assert type(event["args"].get("sort_index", 0)) is int
            assert event["args"].get("sort_index", 0) < 1 << 31
            continue
        for name in ("process_name", "process_labels", "process_sort_index"):
            assert (name, pid, 0) in known, (name, event)
        for name in ("thread_name", "thread_sort_index"):
            assert (name, pid, tid) in known, (name, event)


def test_the_name_of_a_device_stands_in_its_process_name(writer, path, r):
    scene = Scene(writer)
    scene.device.name = writer.text("Model X")
    trace = write(writer, path, scene)
    name = next(e for e in named(trace, "process_name") if e["pid"] == DEVICES)["args"]["name"]
    label = next(e for e in named(trace, "process_labels") if e["pid"] == DEVICES)["args"]["labels"]
    assert label == "GPU 0" and "GPU 0" in name and "Model X" in name


# ---- Arrows ----

def test_arrows_come_in_pairs_and_never_go_back(writer, path, r):
    scene = Scene(writer)
    events = [scene.event(track=0, length=5), scene.event(track=2, begin=2, length=5)]
    events += [scene.event(kind=ARROW, name='a"b', track=2, begin=b, arrow_id=i, from_ns=FIRST + 1,
                           from_track=c.pointer(scene.tracks[0]))
               for i, b in ((1, 2), (2, 1), (3, 0), ((1 << 53), 2))]
    trace = write(writer, path, scene, events)
    ends = [(e["ph"], e["id"], e["cat"], e["name"]) for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert ends == [(p, i, 'a"b', 'a"b') for i in (1, 2) for p in "sf"]
    assert trace["kymo"]["sink"]["not drawn"] == 2
    assert trace["kymo"]["sink"]["arrows"] == trace["metadata"]["arrows"] == 2


# ---- Counters ----

def test_counters_of_one_name_and_process_are_kept_apart(writer, path, r):
    scene = Scene(writer)
    for _ in range(2):
        scene.track(kind=3, process=c.pointer(scene.processes[0]))
    events = [scene.event(kind=COUNTER, name="power", track=len(scene.tracks) - 1 - i % 2, begin=i,
                          values=[("W", DOUBLE, float(i))]) for i in range(6)]
    trace = write(writer, path, scene, events)
    rows = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            assert isinstance(event.get("id", ""), str), event  # a number is not looked at
            rows.setdefault((event["pid"], event["name"], event.get("id")), []).append(event["args"]["W"])
    assert sorted(rows.values()) == [[0, 2, 4], [1, 3, 5]], rows


# ---- Args ----

def test_a_launch_and_its_first_share_a_correlation_further_ones_name_it(writer, path, r):
    scene = Scene(writer)
    queue, domain = len(scene.tracks) - 3, writer.text("npu.command")
    trace = write(writer, path, scene, [
        scene.event(correlation=1, domain=domain, native_correlation=(1 << 64) - 1),
        scene.event(track=queue, begin=1, correlation=1, domain=domain, native_correlation=900),
        scene.event(track=queue, begin=2, correlation=2, launch_correlation=1),
        scene.event(begin=3)])
    launch, first, further, other = [span.get("args") for span in spans(trace)]
    assert launch == {"External id": 1, "correlation": 1, "npu.command id": str((1 << 64) - 1)}
    assert first == {"External id": 1, "device": 0, "stream": 1, "correlation": 1,
                     "npu.command id": 900}
    assert further == {"External id": 1, "device": 0, "stream": 1, "correlation": 2,
                       "launch correlation": 1}
    assert other is None
    assert sorted(trace["kymo"]["big number keys"]) == [
        "base time (ns)", "native", "npu.command id", "tid"]


def test_values_never_pose_as_what_readers_join_by(writer, path, r):
    scene = Scene(writer)
    keys = ["stream", "device", "correlation", "External id", "launch correlation"]
    values = [(key, UINT, 5) for key in keys]
    queue = len(scene.tracks) - 3
    trace = write(writer, path, scene, [scene.event(values=values),
                                        scene.event(kind=INSTANT, begin=1, values=values),
                                        scene.event(kind=GAP, name="", begin=2, values=values),
                                        scene.event(track=queue, begin=3, values=values)])
    numbered = {f"{key} ({i})": 5 for i, key in enumerate(keys, 1)}
    found = [e["args"] for e in trace["traceEvents"] if e["ph"] in "Xi" and "args" in e]
    assert found == [numbered] * 3 + [{"device": 0, "stream": 1, **numbered}], found


def test_a_gap_whose_end_nobody_saw_says_so(writer, path, r):
    scene = Scene(writer)
    trace = write(writer, path, scene, [scene.event(kind=GAP, name="why", begin=1, length=1,
                                                    flags=UNFINISHED),
                                        scene.event(kind=GAP, name="why", begin=2, length=1)])
    assert [e["args"] for e in spans(trace)] == [{"what": "why", "finished": False},
                                                 {"what": "why"}], spans(trace)


def test_what_tensorboard_needs_comes_only_when_asked_for_and_says_so(writer, path, r):
    scene = Scene(writer)
    assert not [e for e in spans(write(writer, path, scene, [scene.event()])) if e["cat"] == "cpu_op"]
    scene.header.last_ns = FIRST + 10**6
    trace = write(writer, path, scene, [scene.event(length=10**6)], compat="tensorboard")
    made = [e for e in spans(trace) if e["cat"] == "cpu_op"]
    assert len(made) == len(scene.processes) == trace["kymo"]["sink"]["synthetic events"]
    for event in made:
        assert event["args"] == {"synthetic": True}
        assert (ns(event["ts"]), ns(event["dur"])) == (FIRST, 10**6)
    assert trace["metadata"]["events"] == 1  # what was made up is not among them


if __name__ == "__main__":
    run_tests(globals())
