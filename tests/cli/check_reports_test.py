#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo check on what users of other tools have reported: each test makes the small file that a
report is about, is named after what was seen there, and holds what is found and mended. Prints
TAP; `check_reports_test.py WORD` runs the tests whose names have the word."""
import json

from check_tool import arrow, check, get, main, put, run, span

EPOCH_US = 1757000000000000


def name_of(text):
    """A file whose one name stands there as the given JSON text, quotes left out."""
    return put("t.json", '{"traceEvents":[\n' + json.dumps(span("NAME")).replace("NAME", text) +
               ",\n" + json.dumps(span("sound", 20)) + "\n]}")


def mended_names():
    check("t.json", "--repair", "out.json", "-f", status=1)
    return [event["name"] for event in json.loads(get("out.json"))["traceEvents"]]


# ---- Files that will not load ----

def test_a_name_with_a_double_quote_costs_its_event_only():
    found = check(name_of('{"device": "cpu"}(12): f'), status=1)
    assert set(found) == {"unreadable-event"} and found["unreadable-event"]["count"] == 1
    assert mended_names() == ["sound"]


def test_a_windows_path_is_mended_to_the_name_that_was_meant():
    for path in (r"torch\cuda\__init__.py(219)", r"a\u", r"C:\x\ud", r"a\u12"):
        assert "bad-escape" in check(name_of(path), status=1)
        if r"\n" not in path and r"\b" not in path:
            assert mended_names() == [path, "sound"], mended_names()
    # One that ends the name takes its quote along.
    found = check(name_of("ends with \\"), status=1)
    assert set(found) & {"unreadable-event", "syntax"}, found


def test_control_bytes_in_a_name_are_escaped():
    found = check(name_of("\x01<module>\t\n"), status=1)
    assert found["raw-control"]["count"] == 3
    assert mended_names() == ["\x01<module>\t\n", "sound"]
    assert "nul" in check(name_of("a\x00b\\u0000"), status=1)
    assert mended_names() == ["a\u2400b\u2400", "sound"]


def test_names_in_any_language_are_good():
    assert check(put("t.json", json.dumps([span("\u6ce8\u610f\u529b \u00e9 \U0001f680")],
                                          ensure_ascii=False)), status=0) == {}


def test_a_division_by_zero_in_the_args_is_mended_to_null():
    text = json.dumps([span(args={"memory bandwidth (GB/s)": "BW", "after": 1})])
    for word in ("inf", "-inf", "nan", "NaN", "Infinity", "-Infinity", "N/A"):
        put("t.json", text.replace('"BW"', word))
        assert set(check("t.json", "--repair", "out.json", "-f")) == {"non-finite"}, word
        assert json.loads(get("out.json"))[0]["args"] == {"memory bandwidth (GB/s)": None, "after": 1}


def test_extreme_numbers_that_are_json_are_good():
    args = {"a": -0.0, "b": 1e308, "c": 5e-324, "d": -(2 ** 53), "e": 0.1}
    assert check(put("t.json", [span(args=args)]), status=0) == {}
    assert set(check(put("t.json", [span(args={"a": -(2 ** 63), "b": 2 ** 64 - 1})]))) == {
        "big-number", "huge-integer"}


def test_metadata_without_quotes_or_without_a_value_is_told_with_its_place():
    for text, id, byte in (('{"stack": a;b, "traceEvents": []}', "odd-word", 10),
                           ('{"stack": , "traceEvents": []}', "syntax", 10),
                           ('{"text": "say "hi"", "traceEvents": []}', "syntax", 15)):
        place = check(put("t.json", text), status=1)[id]["examples"][0]
        assert (place["line"], place["byte"]) == (1, byte), (text, place)


def test_two_threads_that_interleave_cost_the_lines_they_spoil():
    lines = [json.dumps(span(str(i), i * 10)) for i in range(9)]
    spoilt = [lines[0], lines[1][:40] + lines[2][:30], lines[1][40:] + lines[2][30:], *lines[3:]]
    found = check(put("t.json", "[" + ",\n".join(spoilt) + "]"), "--repair", "out.json", status=1)
    assert "unreadable-event" in found
    names = [event["name"] for event in json.loads(get("out.json"))]
    assert names[0] == "0" and names[-6:] == ["3", "4", "5", "6", "7", "8"], names


def test_a_second_rank_that_wrote_over_the_end_is_found():
    one = json.dumps({"traceEvents": [span("long " * 9)]})
    other = json.dumps({"traceEvents": [span("short")]})
    found = check(put("t.json", other + one[len(other):]), status=1)
    assert set(found) == {"data-behind-end"} or set(found) == {"second-document"}, found
    assert set(check(put("t.json", one + other), status=1)) == {"second-document"}


def test_a_command_line_escaped_for_a_shell_is_mended():
    put("t.json", '{"command": "prog -c \\\'print(1)\\\'", "traceEvents": []}')
    assert set(check("t.json", "--repair", "out.json", status=1)) == {"text-outside"}
    assert json.loads(get("out.json"))["command"] == "prog -c \\'print(1)\\'"


def test_times_as_texts_on_the_epoch_and_ids_beyond_a_double_are_found():
    id = EPOCH_US * 1000 + 123
    put("t.json", [span(ts=f"{EPOCH_US}.123"), arrow("s", f"{EPOCH_US}.123", id=id), span(ts=EPOCH_US + 9, tid=2),
                   arrow("f", EPOCH_US + 9, tid=2, id=id)])
    found = check("t.json", "--repair", "out.json", status=1)
    assert set(found) == {"time-text", "time-rounded", "arrow-id-beyond-53"}, set(found)
    assert json.loads(get("out.json"))["traceEvents"][0]["ts"] == float(f"{EPOCH_US}.123")
    assert f'"ts": {EPOCH_US}.123' in get("out.json").decode()


def test_what_a_killed_program_has_left_is_closed_behind_its_last_event():
    whole = json.dumps({"schemaVersion": 1, "traceEvents": [span(str(i), i * 10) for i in range(5)]})
    for size in range(whole.index("[") + 1, len(whole)):
        found = check(put("t.json", whole[:size]), "--repair", "out.json", "-f", status=1)
        assert set(found) == {"cut-object"}, (size, found)
        assert check("out.json", status=0) == {}
        kept = json.loads(get("out.json"))["traceEvents"]
        assert len(kept) == whole[:size].count("}}"), (size, kept)


# ---- Ids and rows ----

def test_thread_ids_beyond_32_bits_are_found():
    found = check(put("t.json", [span(tid=140589156634432), span(tid=140588800255680), span(pid=7168000000)]))
    assert found["id-beyond-31"]["count"] == 3 and found["id-beyond-31"]["readers"] == {"perfetto": "wrong"}


def test_thread_0_is_found_where_it_is_merged_with_another():
    assert check(put("t.json", [span(tid=0), span(tid=1), span(tid=2)]))["tid-zero"]["count"] == 1
    assert check(put("t.json", [span(pid=0, tid=0)]), status=0) == {}


def test_a_device_number_used_as_a_pid_is_found():
    events = [dict(span("op", pid=0, tid=7), cat="cpu_op"), span("k", pid=0, tid=8)]
    assert set(check(put("t.json", events))) == {"shared-pid"}
    events[0]["pid"] = 100
    assert check(put("t.json", events), status=0) == {}


def test_streams_that_are_pointers_are_found():
    assert "id-beyond-31" in check(put("t.json", [span(tid=0x7F1234567890)]))


# ---- Overlap and nesting ----

def test_a_dependent_launch_that_overlaps_is_drawn_in_a_lane_with_true_times():
    put("t.json", [span("A", 3, 3.776), span("B", 5, 2)])
    assert check("t.json", "--repair", "out.json")["overlap"]["mended"] == 1
    a, b = json.loads(get("out.json"))["traceEvents"][:2]
    assert (a["ts"], a["dur"], b["ts"], b["dur"]) == (3, 3.776, 5, 2) and a["tid"] != b["tid"]


def test_ten_thousand_frames_without_a_return_are_nested_too_deep():
    events = [span(f"f{i}", i, 20000 - i) for i in range(10000)]
    assert check(put("t.json", events))["too-deep"]["count"] == 10000 - 512


def test_an_annotation_equal_to_its_kernel_is_good():
    assert check(put("t.json", [span("outer", 100, 100), span("inner", 100, 100)]), status=0) == {}


# ---- Wrong time ----

def test_records_without_times_are_found():
    found = check(put("t.json", [span("not collected", 0, 0), span("backwards", 10, -5)]))
    assert set(found) == {"time-zero", "negative-duration"}


def test_kernels_in_another_clock_start_before_their_launch():
    launch = dict(span("launch", 10 ** 11 + 50, tid=2, args={"correlation": 5}), cat="runtime")
    kernel = span("k", 50, pid=2, tid=3, args={"correlation": 5, "stream": 7})
    events = [launch, arrow("s", launch["ts"], tid=2), kernel, arrow("f", 50, tid=3, pid=2)]
    found = check(put("t.json", events), status=1)
    assert set(found) == {"kernel-before-launch", "arrow-backward"}, set(found)
    kernel["ts"] = events[3]["ts"] = launch["ts"] + 1
    assert check(put("t.json", events), status=0) == {}


def test_nanoseconds_cut_to_microseconds_overlap():
    exact = [("a", 10.1, 0.8), ("b", 10.9, 1.2)]
    assert check(put("t.json", [span(*event) for event in exact]), status=0) == {}
    cut = [span(name, int(ts), int(dur) + 1) for name, ts, dur in exact]
    cut[0]["ts"], cut[0]["dur"] = 9, 2
    assert "overlap" in check(put("t.json", cut))


def test_times_on_the_epoch_are_found_and_small_ones_are_good():
    assert "time-rounded" in check(put("t.json", json.dumps([span(ts="T")]).replace('"T"', f"{EPOCH_US}.001")))
    assert "time-coarse" in check(put("t.json", [span(ts=5120425044023.798)]))
    assert check(put("t.json", [span(ts=86399999999.999)]), status=0) == {}


def test_a_command_that_begins_before_it_was_enqueued_is_found():
    events = [dict(span("enqueue", 100, tid=2, args={"correlation": 1}), cat="runtime"),
              span("k", 99.999, 50, tid=3, args={"correlation": 1, "stream": 1})]
    example = check(put("t.json", events))["kernel-before-launch"]["examples"][0]
    assert example["event"] == 1 and "99.999" in example["text"] and "100.000" in example["text"]


def test_orders_closer_than_the_stated_error_are_undecided():
    events = [dict(span("launch", 100, tid=2, args={"correlation": 1}), cat="runtime"),
              span("k", 99.9, 50, pid=2, tid=3, args={"correlation": 1, "stream": 1})]
    own = {"clocks": [{"name": "a", "uncertainty (ns)": 20}, {"name": "b", "uncertainty (ns)": 0}]}
    for error, id in ((99, "kernel-before-launch"), (100, "order-undecided")):
        own["clocks"][1]["uncertainty (ns)"] = error
        found = check(put("t.json", json.dumps({"traceEvents": events, "kymo": own})), minor=True)
        assert set(found) - {"no-operator"} == {id}


# ---- Correlation and arrows ----

def test_equal_numbers_of_two_counters_are_no_finding():
    events = [dict(span("op", tid=2, args={"External id": 23}), cat="cpu_op"),
              dict(span("launch", 20, tid=2, args={"correlation": 23}), cat="runtime"),
              span("k", 30, tid=3, pid=2, args={"correlation": 23, "stream": 1})]
    assert check(put("t.json", events), status=0) == {}


def test_reused_arrow_ids_are_found():
    events = []
    for ts in (0, 100):
        events += [span("l", ts, tid=2), arrow("s", ts, 2), span("k", ts + 50, tid=3), arrow("f", ts + 50, 3)]
    assert check(put("t.json", events))["arrow-id-reused"]["count"] == 1
    for event in events[4:]:
        event["id"] = 2
    assert not check(put("t.json", events), status=0).keys() - {"arrow-id"}


def test_equal_ids_of_two_files_have_nothing_to_do_with_one_another():
    for name in ("a.json", "b.json"):
        put(name, [span("l", tid=2), arrow("s", 10, 2), span("k", 30, tid=3), arrow("f", 30, 3)])
    status, out, _ = run("a.json", "b.json")
    assert status == 0 and out.count("; good") == 2, out


def test_arrows_of_ids_beyond_a_double_are_found():
    events = [span(tid=2), arrow("s", 10, 2, 2 ** 53 + 1), span("k", 30, tid=3), arrow("f", 30, 3, 2 ** 53 + 1)]
    assert check(put("t.json", events))["arrow-id-beyond-53"]["count"] == 2


if __name__ == "__main__":
    main(globals())
