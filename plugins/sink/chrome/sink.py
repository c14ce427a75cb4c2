# SPDX-License-Identifier: BSD-3-Clause
"""The sink as its host sees it, through ctypes: structs of kymo/sink.h, a writer of traces, and
how a script of tests runs."""
import ctypes as c
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "tests", "support"))
from tap import in_folder, run_cases

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


class Source(c.Structure):
    _fields_ = [("struct_size", U32), ("state", U32), ("process", c.POINTER(Process)),
                ("name", Str), ("reason", Str), ("remedy", Str), ("written", U64), ("lost", U64),
                ("events", U64), ("late", U64), ("overwritten", U64)]


class Clock(c.Structure):
    _fields_ = [("struct_size", U32), ("kind", U32), ("process", c.POINTER(Process)),
                ("source", Str), ("name", Str), ("anchor_count", U64), ("uncertainty_ns", U64)]


class End(c.Structure):
    _fields_ = [("struct_size", U32), ("source_count", U32), ("ledger", c.c_void_p),
                ("sources", c.POINTER(c.POINTER(Source))),
                ("clocks", c.POINTER(c.POINTER(Clock))), ("clock_count", SIZE)]


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
LIST, DICT = 9, 10
SPAN, INSTANT, COUNTER, GAP, ARROW, TRACK = range(1, 7)
UNFINISHED = 0x4
THREAD, QUEUE = 1, 2


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
        if kind in (LIST, DICT):  # of triples
            value.count, value.u.array = len(data), c.cast(self.values(data), c.c_void_p)
        elif kind & ARRAY:
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

    def write(self, path, header, batches, end=None, compat=""):
        error, sink = Error(), c.c_void_p()
        result = Result(struct_size=c.sizeof(Result))
        options = Options(struct_size=c.sizeof(Options), overwrite=1, compat=self.text(compat))
        end = end or End(struct_size=c.sizeof(End))

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


def run_tests(names):
    """Each gets a writer, a path to write to and numbers that are random, but always the same."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} CHROME_SO [WORD]")
    chrome = sys.argv.pop(1)

    def call(case):
        def write_in(folder):
            case(Writer(chrome), os.path.join(folder, "t.json"), random.Random(case.__name__))
            left = [name for name in os.listdir(folder) if name.startswith(".")]
            assert not left, left
        in_folder(write_in)
    run_cases([test for name, test in names.items() if name.startswith("test_")], call)
