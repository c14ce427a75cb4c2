#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hostile texts in every place where a text goes: a strict reader gets all of them, equal but for
the two replacements. names_test.py CHROME_SO"""
import ctypes as c
import os

from sink import (ARRAY, ARROW, COUNTER, DOUBLE, FIRST, INSTANT, STRING, UINT, Clock, End, Scene,
                  Source, run_tests, shown)
from strict import check_rules, read_trace

FIXED = [
    '', '"', '\\', '\\"', "a\nb", "\r\n\t", "\x00", "a\x00b", "\x01\x1f", "\x7f", "</script>",
    "\u2028\u2029", "\ufeff", "\U0001f600", "\u00e9" * 100, "x" * 65536, "'", "{}", "[", "NaN",
    '"rank": 7', "\\ud800", "%s%n", "kernel", "ends with \\", "\u0000" * 20, "null", "\u202eabc\u202c",
    "\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd", "x (2)", "args", "1e999", "/*", "//", "\b\f\v",
    'torch\\cuda\\__init__.py(219)', '{"device": "cpu"}(12): f', "\x01<module>", "\u6ce8\u610f\u529b", "\xa0",
    "\U0010ffff", "\ufffd", "\u2400", "e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467"]
RAW = [
    b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"ok\xe2\x82x",
    b"\x80" * 9, b"\xf0\x9f\x98", b"\xc3", b"1234567\xc3", b"12345678\xff", b"\xfe\xff\x00a",
    b"caf\xe9", b"\xed\xbf\xbf", b"\xf8\x88\x80\x80\x80", b"\xe0\x9f\x80"]


def hostile_texts(r):
    """120 different ones, of which no two are shown alike."""
    texts = [text.encode() for text in FIXED] + RAW
    while len(texts) < 120:
        alphabet = r.choice([b'ab"\\', bytes(range(256)), b"\x00\x01\n\xc3\xa9", b"xyz"])
        text = bytes(r.choice(alphabet) for _ in range(r.randrange(60)))
        if shown(text) not in map(shown, texts):
            texts.append(text)
    return texts


def write(writer, path, scene, *batches, end=None):
    result = writer.write(path, scene.header, [scene.announce(), *batches], end=end)
    trace = read_trace(path)
    check_rules(trace)
    sink = trace["kymo"]["sink"]
    assert sink["invalid utf-8 replaced"] == result.invalid_utf8
    assert sink["nul replaced"] == result.nul
    return trace


def of_phase(trace, phase):
    return [event for event in trace["traceEvents"] if event["ph"] == phase]


def test_names_of_events(writer, path, r):
    texts, scene = hostile_texts(r), Scene(writer)
    events = [[scene.event(name=t, begin=i), scene.event(name=t, kind=INSTANT, begin=i),
               scene.event(name=t, kind=COUNTER, begin=i, values=[("v", UINT, 1)]),
               scene.event(name=t, kind=ARROW, begin=i, arrow_id=i + 1, from_ns=FIRST,
                           from_track=c.pointer(scene.tracks[0]))] for i, t in enumerate(texts)]
    trace = write(writer, path, scene, *events)
    wanted = [shown(text) for text in texts]
    for phase in "XCsf":
        assert [event["name"] for event in of_phase(trace, phase)] == wanted, phase
    assert [event["name"] for event in of_phase(trace, "i")[:-1]] == wanted
    assert [event["cat"] for event in of_phase(trace, "f")] == wanted


def test_replacements_are_counted(writer, path, r):
    scene = Scene(writer)
    names = [b"\x00", b"a\x00\x00", b"\xff", b"\xe2\x82", b"\xff\xff", b"fine"]
    trace = write(writer, path, scene, [scene.event(name=n, begin=i) for i, n in enumerate(names)])
    assert trace["kymo"]["sink"]["nul replaced"] == 3
    assert trace["kymo"]["sink"]["invalid utf-8 replaced"] == 4


def test_keys_and_values_of_args(writer, path, r):
    texts, scene = hostile_texts(r), Scene(writer)
    trace = write(writer, path, scene, [
        scene.event(values=[(t, STRING, t) for t in texts]),
        scene.event(begin=1, values=[("all", STRING | ARRAY, texts)])])
    args, array = [span["args"] for span in of_phase(trace, "X")]
    assert list(args.values()) == array["all"] == [shown(text) for text in texts]
    for i, (text, key) in enumerate(zip(texts, args, strict=True), 1):
        assert key in (shown(text), f"{shown(text)} ({i})"), (text, key)


def test_keys_that_are_shown_alike_stay_apart(writer, path, r):
    scene = Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    alike = [b"\xff", b"\xfe", "\ufffd", b"\x00", "\u2400", "x", "x", "x (2)", "x (2)", "x (2) (8)", " (1)",
             b"\xff id", "\ufffd id", "\ufffd id (0)", "d" * 300 + " id"]
    values = [(key, UINT, i) for i, key in enumerate(alike)]
    units = writer.values(values)
    for value in units:
        value.unit = writer.text("unit")
    events = [scene.event(begin=i, domain=writer.text(domain), correlation=1, native_correlation=9)
              for i, domain in enumerate((b"\xff", "d" * 300))]
    for event in events:
        event.values, event.value_count = units, len(values)
    counter = scene.event(kind=COUNTER, track=len(scene.tracks) - 1, begin=9, values=values)
    scene.header.metadata = scene.device.values = units
    scene.header.metadata_count = scene.device.value_count = len(values)
    trace = write(writer, path, scene, events, [counter])  # the reader refuses equal keys
    for span in of_phase(trace, "X"):
        assert list(span["args"].values())[-len(values):] == list(range(len(values)))
    assert len(of_phase(trace, "C")[0]["args"]) == len(values)


def test_processes_devices_and_tracks(writer, path, r):
    for text in hostile_texts(r):
        scene = Scene(writer)
        s = writer.text(text)
        for process in scene.processes:
            process.name = process.exe = process.command_line = process.host = s
            process.boot_id = s
        scene.device.name = scene.device.kind = scene.device.uuid = scene.device.source = s
        for track in scene.tracks:
            track.name = s
        trace = write(writer, path, scene)
        names = {(e["name"], e["pid"], e["tid"]): e["args"] for e in of_phase(trace, "M")}
        word = shown(text)
        process, device = trace["kymo"]["processes"][0], trace["deviceProperties"][0]
        for key in ("name", "exe", "command line", "host", "boot id"):
            assert process.get(key, "") == word, key
        for key in ("name", "kind", "uuid", "source"):
            assert device.get(key, "") == word, key
        assert names["process_name", 77, 0]["name"] == (word or "process")
        assert names["thread_name", 77, 77]["name"] == (f"thread 77 ({word})" if word else "thread 77")
        assert names["process_labels", 1 << 30, 0]["labels"] == (word or "Device") + " 0"
        assert word in names["process_name", 1 << 30, 0]["name"]
        assert names["thread_name", 1 << 30, 1]["name"] == (f"stream 1 {word}" if word else "stream 1")


def test_the_recording_its_sources_types_and_clocks(writer, path, r):
    for text in hostile_texts(r):
        scene, word, s = Scene(writer), shown(text), writer.text(text)
        scene.header.command_line = s
        scene.header.metadata = writer.values([(text, STRING, text), ("array", STRING | ARRAY, [text])])
        scene.header.metadata_count = 2
        kind = scene.types[1]
        kind.is_static, kind.name, kind.category, kind.source = 0, s, s, s
        source = Source(struct_size=c.sizeof(Source), name=s, reason=s, remedy=s)
        clock = Clock(struct_size=c.sizeof(Clock), name=s, source=s)
        end = End(struct_size=c.sizeof(End), source_count=1, clock_count=1,
                  sources=writer.pointers(Source, [source]), clocks=writer.pointers(Clock, [clock]))
        event = scene.event()
        event.type = c.pointer(kind)
        trace = write(writer, path, scene, [event], end=end)
        kymo, short = trace["kymo"], trace["metadata"]
        assert trace["array"] == [word]
        assert [v for k, v in trace.items() if k in (word, f"{word} (1)")] == [word]
        assert kymo.get("command line", "") == short.get("command", "") == word
        assert of_phase(trace, "X")[0]["cat"] == word
        for found, keys in ((kymo["activity types"][0], ("name", "category", "source")),
                            (kymo["sources"][0], ("name", "reason", "remedy")),
                            (kymo["clocks"][0], ("name", "source"))):
            assert all(found.get(key, "") == word for key in keys), (found, word)
        assert short["source " + word].endswith(word)


def test_units_and_series(writer, path, r):
    texts, scene = hostile_texts(r), Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    row = len(scene.tracks) - 1
    values = [(f"k{i}", DOUBLE, float(i)) for i in range(len(texts))]
    event = scene.event(values=values)
    event.values = writer.values(values)
    for i, text in enumerate(texts):
        event.values[i].unit = writer.text(text)
    whole = scene.event(kind=COUNTER, track=row, begin=1, values=[(t, UINT, 1) for t in texts])
    split = scene.event(kind=COUNTER, name="split", track=row, begin=1,
                        values=[(t, UINT, 1) for t in texts] + [("hole", DOUBLE, float("inf"))])
    trace = write(writer, path, scene, [event, whole, split])
    wanted = [shown(text) for text in texts]
    units = trace["kymo"]["units"]
    assert [units.get(f"k{i}", "") for i in range(len(texts))] == wanted
    first, *series = of_phase(trace, "C")
    assert len(first["args"]) == len(texts)
    assert [event["name"] for event in series] == [f"split {word}" for word in wanted]


def test_the_name_of_the_file(writer, path, r):
    folder = path.rpartition("/")[0]
    for text in hostile_texts(r):
        text = text.replace(b"\0", b"").replace(b"/", b"")
        if not 0 < len(text) < 200:
            continue
        name = f"{folder}/".encode() + text + b".json"
        scene = Scene(writer)
        writer.write(name, scene.header, [])
        trace = read_trace(os.fsdecode(name))
        assert trace["traceName"] == shown(name)


if __name__ == "__main__":
    run_tests(globals())
