#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Feeds hostile traces to the sink and reads them back with a reader of its own.

    trace_test.py CHROME_SO

The reader refuses what json.load lets pass: duplicate keys, NaN, numbers that some readers of
traces misread, escapes that they do not know. What comes back is compared with what went in.
"""
import ctypes as c
import gzip
import math
import os
import random
import re
import struct
import sys
import tempfile

SIZE, I64, U64, U32 = c.c_size_t, c.c_int64, c.c_uint64, c.c_uint32
MAX = 1 << 53
FIRST = 5_000_000_000
MIDNIGHT = 1795910400_000000000


# ---- The sink's ABI ----

class Str(c.Structure):
    _fields_ = [("data", c.c_char_p), ("size", SIZE)]


class ValueUnion(c.Union):
    _fields_ = [("i", I64), ("u", U64), ("d", c.c_double), ("text", Str), ("array", c.c_void_p)]


class Value(c.Structure):
    _fields_ = [("key", Str), ("unit", Str), ("type", U32), ("count", U32), ("u", ValueUnion)]


class Process(c.Structure):
    _fields_ = [("struct_size", U32), ("index", U32), ("pid", U64), ("start_ns", I64), ("name", Str),
                ("exe", Str), ("command_line", Str), ("host", Str), ("boot_id", Str), ("rank", I64),
                ("world_size", I64)]


class Device(c.Structure):
    _fields_ = [("struct_size", U32), ("index", U32), ("process", c.POINTER(Process)),
                ("native", U64), ("name", Str), ("kind", Str), ("uuid", Str), ("source", Str),
                ("order", U32), ("value_count", U32), ("values", c.POINTER(Value))]


class Track(c.Structure):
    _fields_ = [("struct_size", U32), ("index", U32), ("kind", U32), ("lane", U32), ("native", U64),
                ("number", U32), ("order", U32), ("process", c.POINTER(Process)),
                ("device", c.POINTER(Device)), ("name", Str), ("base", c.c_void_p)]


class Type(c.Structure):
    _fields_ = [("struct_size", U32), ("index", U32), ("activity_type", U32), ("shapes", U32),
                ("side", U32), ("is_static", U32), ("source", Str), ("name", Str), ("category", Str)]


class Event(c.Structure):
    _fields_ = [("struct_size", U32), ("kind", U32), ("flags", U32), ("reserved0", U32),
                ("track", c.POINTER(Track)), ("type", c.POINTER(Type)), ("name", Str),
                ("begin_ns", I64), ("end_ns", I64),
                ("correlation", U64), ("launch_correlation", U64), ("domain", Str),
                ("native_correlation", U64), ("values", c.POINTER(Value)), ("value_count", SIZE),
                ("arrow_id", U64), ("from_track", c.POINTER(Track)), ("from_ns", I64)]


class Header(c.Structure):
    _fields_ = [("struct_size", U32), ("process_count", U32),
                ("processes", c.POINTER(c.POINTER(Process))),
                ("devices", c.POINTER(c.POINTER(Device))), ("device_count", SIZE),
                ("types", c.POINTER(c.POINTER(Type))), ("type_count", SIZE),
                ("metadata", c.POINTER(Value)), ("metadata_count", SIZE),
                ("realtime_offset_ns", I64), ("first_ns", I64), ("last_ns", I64),
                ("command_line", Str)]


class End(c.Structure):
    _fields_ = [("struct_size", U32), ("source_count", U32), ("ledger", c.c_void_p),
                ("sources", c.c_void_p), ("clocks", c.c_void_p), ("clock_count", SIZE)]


class Result(c.Structure):
    _fields_ = [("struct_size", U32), ("reserved0", U32), ("bytes", U64), ("events", U64),
                ("invalid_utf8", U64), ("nul", U64)]


class Options(c.Structure):
    _fields_ = [("struct_size", U32), ("overwrite", U32), ("compat", Str)]


class Error(c.Structure):
    _fields_ = [("status", c.c_int32), ("message", c.c_char * 508)]


ERROR = c.POINTER(Error)


class Ops(c.Structure):
    _fields_ = [
        ("struct_size", U32), ("reserved0", U32),
        ("open", c.CFUNCTYPE(c.c_int32, Str, c.POINTER(Options), c.POINTER(c.c_void_p), ERROR)),
        ("begin", c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(Header), ERROR)),
        ("batch", c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(c.POINTER(Event)), SIZE, ERROR)),
        ("end", c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(End), c.POINTER(Result), ERROR)),
        ("abort", c.CFUNCTYPE(None, c.c_void_p)), ("close", c.CFUNCTYPE(None, c.c_void_p))]


class SinkDesc(c.Structure):
    _fields_ = [("struct_size", U32), ("reserved0", U32), ("protocol", c.c_char_p),
                ("description", c.c_char_p), ("suffixes", c.POINTER(c.c_char_p)),
                ("ops", c.POINTER(Ops))]


class Plugin(c.Structure):
    _fields_ = [("struct_size", U32), ("abi_major", c.c_uint16), ("abi_minor", c.c_uint16),
                ("name", c.c_char_p), ("version", c.c_char_p), ("license", c.c_char_p),
                ("sources", c.c_void_p), ("sinks", c.POINTER(c.POINTER(SinkDesc)))]


INT, UINT, DOUBLE, BOOL, STRING, TIME, ARRAY = 1, 2, 3, 4, 5, 7, 0x100
SPAN, INSTANT, COUNTER, GAP, ARROW, TRACK = range(1, 7)
THREAD, QUEUE = 1, 2


# ---- The reader ----

NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-][0-9]+)?")
ESCAPES = {b'"': '"', b"\\": "\\", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def fail(self, why):
        raise ValueError(f"byte {self.at}: {why}: {self.data[self.at:self.at + 40]!r}")

    def blanks(self):
        while self.data[self.at:self.at + 1] in (b" ", b"\n"):
            self.at += 1

    def take(self, expected):
        self.blanks()
        if not self.data.startswith(expected, self.at):
            self.fail(f"no {expected!r}")
        self.at += len(expected)

    def peek(self):
        self.blanks()
        return self.data[self.at:self.at + 1]

    def string(self):
        self.take(b'"')
        parts = []
        while True:
            end = self.at
            while self.data[end] >= 0x20 and self.data[end] not in b'"\\':
                end += 1
            parts.append(self.data[self.at:end].decode("utf-8"))  # strict
            self.at = end
            if self.data[end] < 0x20:
                self.fail("a control character in a string")
            self.at += 1
            if self.data[end] == ord('"'):
                return "".join(parts)
            escape = self.data[self.at:self.at + 1]
            if escape in ESCAPES:
                parts.append(ESCAPES[escape])
                self.at += 1
            elif re.match(rb"u00[01][0-9a-f]", self.data[self.at:self.at + 5]):
                parts.append(chr(int(self.data[self.at + 1:self.at + 5], 16)))
                self.at += 5
            else:
                self.fail("an escape that not every reader knows")

    def number(self):
        match = NUMBER.match(self.data, self.at)
        if not match:
            self.fail("no value")
        text = match[0].decode()
        self.at = match.end()
        mantissa = text.lstrip("-").split("e")[0].split(".")
        if match[3] and not match[2]:
            self.fail("an exponent without a point")
        if match[2] and (len(mantissa[0]) > 18 or len(mantissa[1]) > 17):
            self.fail("too many digits")
        if not match[2]:
            return int(text)
        return Decimal(text)

    def value(self):
        byte = self.peek()
        if byte == b"{":
            return self.object()
        if byte == b"[":
            return self.array()
        if byte == b'"':
            return self.string()
        for word, value in ((b"true", True), (b"false", False), (b"null", None)):
            if self.data.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def object(self):
        self.take(b"{")
        result = {}
        while self.peek() != b"}":
            if result:
                self.take(b",")
            key = self.string() if self.peek() == b'"' else self.fail("no key")
            if key in result:
                self.fail(f"duplicate key {key!r}")
            self.take(b":")
            result[key] = self.value()
        self.take(b"}")
        return result

    def array(self):
        self.take(b"[")
        result = []
        while self.peek() != b"]":
            if result:
                self.take(b",")
            result.append(self.value())
        self.take(b"]")
        return result


class Decimal(float):
    """A float that remembers how it stood there."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self


def read_trace(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        data = f.read()
    if not re.match(rb'\{\n  "schemaVersion": 1,', data) or not data.endswith(b"}"):
        raise ValueError("begins or ends as no trace does")
    reader = Reader(data)
    trace = reader.value()
    if reader.at != len(data):
        reader.fail("something behind the end")
    return trace


def check_rules(trace):
    """What holds for any trace of this sink."""
    keys = list(trace)
    order = ["schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit",
             "baseTimeNanoseconds", "traceEvents", "metadata", "kymo", "traceName"]
    known = [key for key in keys if key in order]
    assert known == [key for key in order if key in keys], keys
    assert trace["displayTimeUnit"] == "ms" and trace["baseTimeNanoseconds"] % 86400_000000000 == 0
    last, started = {}, set()
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str) and isinstance(event["cat"], str), event
        for key in ("pid", "tid"):
            assert type(event[key]) is int and 0 <= event[key] < 1 << 31, event
        for key in ("ts", "dur"):
            if key in event:
                assert re.fullmatch(r"[0-9]+\.[0-9]{3}", event[key].text), event
        assert event.get("args", 1), event
        assert ("args" in event) >= (event["ph"] in "MC"), event
        row = (event["pid"], event["tid"])
        if event["ph"] == "X":
            assert (event["ts"], -event["dur"]) >= last.get(row, (0, 0)), event
            last[row] = (event["ts"], -event["dur"])
        if event["ph"] == "s":
            started.add((event["id"], event["cat"], event["name"]))
        if event["ph"] == "f":
            assert event["bp"] == "e" and (event["id"], event["cat"], event["name"]) in started
        if event["ph"] == "C":
            assert all(type(v) in (int, Decimal) for v in event["args"].values()), event
        assert ("stream" in event.get("args", {})) <= (event["pid"] >= 1 << 30), event


# ---- Writing ----

class Writer:
    """Keeps alive what the structs point to."""

    def __init__(self, library):
        entry = c.CDLL(library).kymo_plugin_entry_v1
        entry.restype = c.POINTER(Plugin)
        self.ops = entry().contents.sinks[0].contents.ops.contents
        self.kept = []

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def text(self, data):
        data = data.encode() if isinstance(data, str) else data
        return Str(self.keep(c.create_string_buffer(data, len(data) + 1)).raw and
                   c.cast(self.kept[-1], c.c_char_p), len(data))

    def value(self, key, kind, data):
        value = Value(key=self.text(key), type=kind)
        if kind & ARRAY:
            items = {INT: I64, UINT: U64, DOUBLE: c.c_double, STRING: Str, BOOL: U64, TIME: I64}
            data = [self.text(d) for d in data] if kind == STRING | ARRAY else data
            array = self.keep((items[kind & ~ARRAY] * max(len(data), 1))(*data))
            value.count, value.u.array = len(data), c.cast(array, c.c_void_p)
        elif kind == STRING:
            value.u.text = self.text(data)
        else:
            setattr(value.u, {INT: "i", UINT: "u", DOUBLE: "d", BOOL: "u", TIME: "i"}[kind], data)
        return value

    def values(self, triples):
        return self.keep((Value * max(len(triples), 1))(*[self.value(*t) for t in triples]))

    def pointers(self, kind, objects):
        return self.keep((c.POINTER(kind) * max(len(objects), 1))(*[c.pointer(o) for o in objects]))

    def write(self, path, header, batches):
        error, sink = Error(), c.c_void_p()
        result = Result(struct_size=c.sizeof(Result))
        options = Options(struct_size=c.sizeof(Options), overwrite=1)
        end = End(struct_size=c.sizeof(End))

        def check(status):
            if status != 0:
                raise RuntimeError(f"{status}: {error.message.decode()}")

        check(self.ops.open(self.text(path), options, c.byref(sink), error))
        check(self.ops.begin(sink, header, error))
        for batch in batches:
            pointers = [c.pointer(event) for event in batch]
            check(self.ops.batch(sink, (c.POINTER(Event) * len(batch))(*pointers), len(batch),
                                 error))
        check(self.ops.end(sink, end, result, error))
        self.ops.close(sink)
        return result


def shown(data):
    """What a reader is to see of these bytes."""
    data = data.encode() if isinstance(data, str) else data
    return data.decode("utf-8", "replace").replace("\0", "\u2400")


def hostile_names(random_source):
    fixed = ['', '"', '\\', '\\"', "a\nb", "\r\n\t", "\x00", "a\x00b", "\x01\x1f", "\x7f", "</script>",
             "\u2028\u2029", "\ufeff", "\U0001f600", "é" * 100, "x" * 70000, "'", "{}", "[", "NaN",
             '"rank": 7', "\\ud800", "%s%n", "kernel", "ends with \\", "\u0000" * 20]
    raw = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"ok\xe2\x82x",
           b"\x80" * 9, b"\xf0\x9f\x98", b"\xc3", b"1234567\xc3", b"12345678\xff"]
    names = [n.encode() for n in fixed] + raw
    while len(names) < 120:
        alphabet = random_source.choice([b'ab"\\', bytes(range(256)), b"\x00\x01\n\xc3\xa9", b"xyz"])
        names.append(bytes(random_source.choice(alphabet) for _ in range(random_source.randrange(60))))
    return names


class Scene:
    """Two programs of one pid, a device, threads and queues with colliding numbers."""

    def __init__(self, writer):
        self.writer = writer
        w = writer
        self.processes = [Process(struct_size=c.sizeof(Process), index=i, pid=77, name=w.text("p"),
                                  host=w.text(f"h{i}"), rank=-1, world_size=-1) for i in range(2)]
        self.device = Device(struct_size=c.sizeof(Device), index=0, kind=w.text("GPU"),
                             process=c.pointer(self.processes[0]), native=(1 << 64) - 1)
        self.types = [Type(struct_size=c.sizeof(Type), index=i, activity_type=5, is_static=1,
                           name=w.text(n), category=w.text(n)) for i, n in enumerate(["runtime", "kernel"])]
        self.tracks = []
        for process in self.processes:
            for tid in (77, 77, 78, 0, 1 << 31, (1 << 63) - 1):  # 77 twice: a number used again
                self.track(kind=THREAD, native=tid, process=c.pointer(process))
        for lane in range(3):
            self.track(kind=QUEUE, lane=lane, native=(1 << 64) - 1, number=1,
                       process=c.pointer(self.processes[0]), device=c.pointer(self.device))
        self.header = Header(struct_size=c.sizeof(Header), process_count=2,
                             processes=w.pointers(Process, self.processes),
                             devices=w.pointers(Device, [self.device]), device_count=1,
                             types=w.pointers(Type, self.types), type_count=2,
                             realtime_offset_ns=MIDNIGHT, first_ns=FIRST, last_ns=FIRST + 10**9)

    def track(self, **fields):
        self.tracks.append(Track(struct_size=c.sizeof(Track), index=len(self.tracks),
                                 name=self.writer.text("q"), **fields))

    def announce(self):
        return [Event(struct_size=c.sizeof(Event), kind=TRACK, track=c.pointer(t))
                for t in self.tracks]

    def event(self, kind=SPAN, track=0, name="e", begin=0, length=0, values=(), **fields):
        return Event(struct_size=c.sizeof(Event), kind=kind,
                     track=c.pointer(self.tracks[track]), type=c.pointer(self.types[0]),
                     name=self.writer.text(name), begin_ns=FIRST + begin, end_ns=FIRST + begin + length,
                     values=self.writer.values(values), value_count=len(values), **fields)


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


# ---- Cases ----

def test_hostile_names(writer, path, r):
    names, scene = hostile_names(r), Scene(writer)
    events = [scene.event(name=n, begin=i, length=0) for i, n in enumerate(names)]
    keyed = scene.event(begin=10**6, values=[(n, STRING, n) for n in names])
    result = writer.write(path, scene.header, [scene.announce(), events, [keyed]])
    trace = read_trace(path)
    check_rules(trace)
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [s["name"] for s in spans[:-1]] == [shown(n) for n in names]
    assert list(spans[-1]["args"].values()) == [shown(n) for n in names]
    sink = trace["kymo"]["sink"]
    assert sink["invalid utf-8 replaced"] == result.invalid_utf8 > 0
    assert sink["nul replaced"] == result.nul > 0


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


def test_rows_never_share_numbers(writer, path, r):
    scene = Scene(writer)
    events = [scene.event(track=i, name=str(i), begin=i, correlation=i + 1, arrow_id=0)
              for i in range(len(scene.tracks))]
    writer.write(path, scene.header, [scene.announce(), events])
    trace = read_trace(path)
    check_rules(trace)
    rows = [(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(set(rows)) == len(scene.tracks)
    names = [e for e in trace["traceEvents"] if e["name"] == "process_name"]
    assert len({e["pid"] for e in names}) == len(names) == 3
    assert any(e["args"].get("pid") == 77 for e in names)
    assert all(pid != tid or pid == 77 for pid, tid in rows)
    assert not any(tid == 0 for _, tid in rows)


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


def test_events_outside_of_time_are_counted(writer, path, r):
    scene = Scene(writer)
    far = [scene.event(begin=b, length=n, flags=f) for b, n, f in (
        (-FIRST - 1, 0, 0), (0, -1, 0), (10**18, 0, 0), (0, 10**18, 0), (0, 0, 8))]
    writer.write(path, scene.header, [scene.announce(), far, [scene.event()]])
    trace = read_trace(path)
    check_rules(trace)
    assert len([e for e in trace["traceEvents"] if e["ph"] == "X"]) == 1
    assert trace["kymo"]["sink"]["not drawn"] == len(far)


def test_arrows_come_in_pairs(writer, path, r):
    scene = Scene(writer)
    events = [scene.event(track=0, length=5), scene.event(track=2, begin=2, length=5)]
    events += [scene.event(kind=ARROW, name='a"b', track=2, begin=b, arrow_id=i + 1, from_ns=FIRST + 1,
                           from_track=c.pointer(scene.tracks[0])) for i, b in enumerate((2, 1, 0))]
    writer.write(path, scene.header, [scene.announce(), events])
    trace = read_trace(path)
    check_rules(trace)
    ends = [(e["ph"], e["id"], e["cat"], e["name"]) for e in trace["traceEvents"] if e["ph"] in "sf"]
    assert ends == [(p, i, 'a"b', 'a"b') for i in (1, 2) for p in "sf"]
    assert trace["kymo"]["sink"]["not drawn"] == 1


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


def test_gzip_is_one_member(writer, path, r):
    scene = Scene(writer)
    path += ".gz"
    writer.write(path, scene.header, [scene.announce(), [scene.event()] * 1000])
    check_rules(read_trace(path))
    with open(path, "rb") as f:
        data = f.read()
    import zlib
    inflate = zlib.decompressobj(31)
    inflate.decompress(data)
    assert inflate.eof and not inflate.unused_data


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, test) in enumerate(tests, 1):
            words = name[len("test_"):].replace("_", " ")
            try:
                test(Writer(sys.argv[1]), os.path.join(folder, f"{number}.json"), random.Random(number))
                print(f"ok {number} - {words}")
            except Exception as error:  # each case reports, whatever happened in it
                failed += 1
                print(f"not ok {number} - {words}\n# {type(error).__name__}: {str(error)[:2000]}")
        left = [name for name in os.listdir(folder) if name.startswith(".")]
        assert not left, left
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
