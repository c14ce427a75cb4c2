#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Values of all types and extremes, given to the sink: what a strict reader gets is compared with
what went in. values_test.py CHROME_SO"""
import math
import struct

from sink import (ARRAY, BOOL, COUNTER, DOUBLE, FIRST, INT, MAX, STRING, TIME, UINT, Scene, c,
                  run_tests, shown)
from strict import Decimal, check_rules, read_trace


def expected(kind, data):
    if kind & ARRAY:
        return [expected(kind & ~ARRAY, item) for item in data]
    if kind in (INT, UINT):
        return data if abs(data) <= MAX else str(data)
    if kind == DOUBLE:
        return data if math.isfinite(data) else None
    if kind == STRING:
        return shown(data)
    if kind == BOOL:
        return bool(data)
    return (data) / 1000  # TIME


def random_value(r):
    kind = r.choice([INT, UINT, DOUBLE, BOOL, STRING, TIME, INT | ARRAY, DOUBLE | ARRAY, STRING | ARRAY])

    def one(kind):
        if kind == INT:
            return r.choice([0, -1, 1 << 53, -(1 << 53) - 1, (1 << 63) - 1, -(1 << 63), r.randrange(-999, 999)])
        if kind == UINT:
            return r.choice([0, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 64) - 1, r.randrange(10**6)])
        if kind == DOUBLE:
            bits = struct.unpack("<d", struct.pack("<Q", r.randrange(1 << 64)))[0]
            return r.choice([bits, 0.0, -0.0, math.inf, -math.inf, math.nan, r.random(), 5e-324, 1e308])
        if kind == BOOL:
            return r.randrange(2)
        if kind == TIME:
            return r.randrange(10**12)
        return bytes(r.randrange(256) for _ in range(r.randrange(20)))

    if kind & ARRAY:
        return kind, [one(kind & ~ARRAY) for _ in range(r.randrange(4))]
    return kind, one(kind)


def same(kind, got, wanted):
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and \
            all(same(kind & ~ARRAY, g, w) for g, w in zip(got, wanted))
    if kind == DOUBLE and wanted is not None:
        return struct.pack("<d", float(got)) == struct.pack("<d", wanted)
    return type(got) in (type(wanted), Decimal) and got == wanted


def test_values_of_all_types(writer, path, r):
    scene = Scene(writer)
    values = [[(f"k{j}", *random_value(r)) for j in range(r.randrange(30))] for _ in range(300)]
    events = [scene.event(begin=i, values=[(k, t, d + FIRST if t == TIME else d) for k, t, d in v])
              for i, v in enumerate(values)]
    writer.write(path, scene.header, [scene.announce(), events[:100], events[100:]])
    trace = read_trace(path)
    check_rules(trace)
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    big = set()
    for span, triples in zip(spans, values, strict=True):
        args = span.get("args", {})
        assert list(args) == [k for k, _, _ in triples]
        for key, kind, data in triples:
            wanted = expected(kind, data + FIRST if kind == TIME else data)
            assert same(kind, args[key], wanted), (key, kind, args[key], wanted)
            if kind & ~ARRAY in (INT, UINT):
                big |= {key for x in (data if kind & ARRAY else [data]) if abs(x) > MAX}
    assert big <= set(trace["kymo"]["big number keys"])


def test_equal_keys_are_kept_apart(writer, path, r):
    scene = Scene(writer)
    keys = ["device", "stream", "correlation", "External id", "x", "x", "d id", "error", "x", ""]
    event = scene.event(track=len(scene.tracks) - 1, correlation=9, domain=writer.text("d"),
                        native_correlation=5, flags=0x20, values=[(k, INT, i) for i, k in enumerate(keys)])
    writer.write(path, scene.header, [scene.announce(), [event]])
    trace = read_trace(path)  # refuses duplicates
    check_rules(trace)
    args = [e for e in trace["traceEvents"] if e["ph"] == "X"][0]["args"]
    assert args["stream"] == 1 and args["d id"] == 5 and args["error"] is True
    assert [v for k, v in args.items() if type(v) is int][-len(keys):] == list(range(len(keys)))


def test_memory_of_a_key_may_hold_another_in_the_next_batch(writer, path, r):
    scene = Scene(writer)
    event = scene.event(values=[("key a", INT, 1)])
    event.values[0].unit = writer.text("unit a")
    batches = [scene.announce(), [event], [event]]

    def in_turn():
        for number, batch in enumerate(batches):
            if number == 2:
                for text in (event.values[0].key, event.values[0].unit):
                    address = c.c_void_p.from_buffer(text).value  # text.data is a copy
                    c.memset(address + text.size - 1, ord("b"), 1)
            yield batch

    writer.write(path, scene.header, in_turn())
    trace = read_trace(path)
    args = [e["args"] for e in trace["traceEvents"] if e["ph"] == "X"]
    assert args == [{"key a": 1}, {"key b": 1}], args
    assert trace["kymo"]["units"] == {"key a": "unit a", "key b": "unit b"}


def test_units_of_counters_are_listed_whole_or_split(writer, path, r):
    scene = Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    events = []
    for name, first in (("whole", 1.0), ("split", math.nan)):
        event = scene.event(kind=COUNTER, track=len(scene.tracks) - 1, name=name,
                            values=[(f"{name} a", DOUBLE, first), (f"{name} b", DOUBLE, 2.0)])
        for i in range(event.value_count):
            event.values[i].unit = writer.text("W")
        events.append(event)
    writer.write(path, scene.header, [scene.announce(), events])
    units = read_trace(path)["kymo"]["units"]
    assert units == {f"{name} {key}": "W" for name in ("whole", "split") for key in "ab"}


def test_counters_have_all_series_in_the_first_sample(writer, path, r):
    scene = Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    row = len(scene.tracks) - 1
    values = {"whole": [(1.0, 2.0), (math.nan, 3.0), (math.nan, math.inf)],
              "hole": [(math.nan, 2.0), (1.0, 3.0)], "none": [(math.nan, math.nan)]}
    events = [scene.event(kind=COUNTER, track=row, name=name, begin=i,
                          values=[("a", DOUBLE, a), ("b", DOUBLE, b)])
              for name, samples in values.items() for i, (a, b) in enumerate(samples)]
    writer.write(path, scene.header, [scene.announce(), events])
    trace = read_trace(path)
    check_rules(trace)
    got = [(e["name"], e["args"]) for e in trace["traceEvents"] if e["ph"] == "C"]
    assert got == [("whole", {"a": 1, "b": 2}), ("whole", {"b": 3}), ("hole b", {"value": 2}),
                   ("hole a", {"value": 1}), ("hole b", {"value": 3})], got
    assert trace["kymo"]["sink"]["counter values not finite"] == 6


def test_a_group_of_several_units_is_an_event_for_each(writer, path, r):
    scene = Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    inf = math.inf

    def sample(name, begin, *values):
        event = scene.event(kind=COUNTER, track=len(scene.tracks) - 1, name=name, begin=begin,
                            values=[(key, DOUBLE, value) for key, _, value in values])
        for i, (_, unit, _) in enumerate(values):
            event.values[i].unit = writer.text(unit)
        return event

    events = [
        sample("load", 0, ("busy", "%", 1.0), ("temp", "C", 2.0), ("idle", "%", 3.0), ("n", "", 4.0)),
        sample("load", 1, ("busy", "%", inf), ("temp", "C", 5.0), ("idle", "%", 6.0), ("n", "", inf)),
        sample("hole", 2, ("x", "W", inf), ("y", "W", 1.0), ("z", "C", 2.0)),
        sample("hole", 3, ("x", "W", 3.0), ("y", "W", 4.0), ("z", "C", inf)),
        sample("late", 4, ("v", "V", 1.0)),
        sample("late", 5, ("v", "V", 2.0), ("a", "A", 3.0)),
    ]
    writer.write(path, scene.header, [scene.announce(), events])
    trace = read_trace(path)
    check_rules(trace)
    got = [(e["name"], e["args"]) for e in trace["traceEvents"] if e["ph"] == "C"]
    assert got == [
        ("load (%)", {"busy": 1, "idle": 3}), ("load (C)", {"temp": 2}), ("load", {"n": 4}),
        ("load (%)", {"idle": 6}), ("load (C)", {"temp": 5}),
        ("hole (W) y", {"value": 1}), ("hole (C)", {"z": 2}),
        ("hole (W) x", {"value": 3}), ("hole (W) y", {"value": 4}),
        ("late", {"v": 1}), ("late", {"v": 2}), ("late (A)", {"a": 3})], got
    assert trace["kymo"]["sink"]["counter values not finite"] == 4
    assert trace["kymo"]["units"]["temp"] == "C"
    assert trace["metadata"]["units"] == "busy %, idle %, temp C, x W, y W, z C, v V, a A"


def test_units_beyond_what_a_person_reads_are_in_the_full_list_alone(writer, path, r):
    scene = Scene(writer)
    scene.track(kind=3, process=c.pointer(scene.processes[0]))
    event = scene.event(kind=COUNTER, track=len(scene.tracks) - 1, name='"g',
                        values=[(f"k\"{i}", DOUBLE, 1.0) for i in range(40)])
    for i in range(40):
        event.values[i].unit = writer.text(f"u\n{i}")
    plain = scene.event(values=[("size", UINT, 1)])
    plain.values[0].unit = writer.text("bytes")
    writer.write(path, scene.header, [scene.announce(), [plain, event]])
    trace = read_trace(path)
    assert len(trace["kymo"]["units"]) == 41
    assert trace["metadata"]["units"] == ", ".join(f"k\"{i} u\n{i}" for i in range(32)) + ", ..."


if __name__ == "__main__":
    run_tests(globals())
