#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schema is libkineto's: each event of a trace that libkineto wrote, kineto_sample.json, goes
through the sink and comes back with the same keys in the same order and the same values, but for
the differences that are listed here. schema_test.py CHROME_SO"""
import ctypes as c
import json
import os

from sink import (ARRAY, ARROW, BOOL, COUNTER, DICT, DOUBLE, INSTANT, INT, LIST, QUEUE, SPAN, STRING,
                  THREAD, Device, Process, Scene, Type, run_tests)
from strict import Decimal, check_rules, read_trace

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kineto_sample.json")
DEVICES = {0: 0, 1: 1, 3: 2, "GPU 0 Counters": 0}  # the sample's pids, by our indices
DEVICE_PID = 1 << 30
OURS = ("External id", "device", "stream", "correlation")  # in libkineto's order, too

# ---- The differences, all of them. Each changes a sample event to what is to be, if it applies ----

DIFFERENCES = {}
used = set()


def difference(words):
    def note(change):
        DIFFERENCES[words] = change
        return change
    return note


@difference("one order of keys for all M: libkineto has another for its sync rows")
def order_meta(event):
    keys = ("ph", "name", "ts", "pid", "tid", "args")
    return {key: event[key] for key in keys} if event["ph"] == "M" else event


@difference("cat also on M and on marks of the whole trace")
def give_category(event):
    if "cat" in event:
        return event
    category = "__metadata" if event["ph"] == "M" else "Trace"
    return {"ph": event["ph"], "cat": category, **event}


@difference("numeric pid and tid everywhere")
def number_rows(event):
    return event | {key: 4242 for key in ("pid", "tid") if isinstance(event[key], str)}


@difference("counters by their names, not under an empty key")
def name_series(event):
    if event["ph"] != "C" or "" not in event["args"]:
        return event
    return event | {"args": {event["name"]: event["args"][""]}}


@difference("null for what is not finite")
def null_infinity(event):
    args = event.get("args", {})
    return event | {"args": {k: None if v == "inf" else v for k, v in args.items()}} if args else event


@difference("names keep their bytes: none is called unknown, no kernel is renamed")
def keep_name(event):
    return event | {"name": {"unknown": "\u00e9", "Kernel": "kernel"}.get(event["name"], event["name"])}


@difference("device events always have device and stream")
def give_device(event):
    if event["ph"] != "X" or event["pid"] not in DEVICES:
        return event
    return event | {"args": {"device": DEVICES[event["pid"]], "stream": event["tid"]} | event.get("args", {})}


@difference("External id and correlation are one number, that of the launch")
def join_numbers(event):
    args = event.get("args", {})
    if event["ph"] != "X" or "External id" not in args:
        return event
    number = args.get("correlation", args["External id"])
    return event | {"args": args | {"External id": number, "correlation": number}}


def changed(event):
    for words, change in DIFFERENCES.items():
        after = change(event)
        if list(after.items()) != list(event.items()):
            used.add(words)
        event = after
    return event


# ---- The sample, through the sink ----

def load_sample():
    with open(SAMPLE, encoding="utf-8") as f:
        return json.load(f, parse_float=Decimal)


def ns(number):
    return int(number.text.replace(".", ""))


class Replay(Scene):
    """The sample's events as a timeline hands them to the sink."""

    def __init__(self, writer, sample):
        super().__init__(writer)
        self.events = sample["traceEvents"]
        self.tracks, self.rows = [], {}
        self.process = Process(struct_size=c.sizeof(Process), pid=4242, name=writer.text("python"),
                               rank=0, world_size=8)
        self.devices = [Device(struct_size=c.sizeof(Device), index=i, kind=writer.text("GPU"),
                               name=writer.text("dev"), process=c.pointer(self.process))
                        for i in range(3)]
        self.kinds = {}
        for name in dict.fromkeys(event["cat"] for event in self.events if "cat" in event):
            self.kinds[name] = Type(struct_size=c.sizeof(Type), index=len(self.kinds), is_static=1,
                                    name=writer.text(name), category=writer.text(name))
        header = self.header
        header.processes, header.process_count = writer.pointers(Process, [self.process]), 1
        header.devices, header.device_count = writer.pointers(Device, self.devices), 3
        kinds = list(self.kinds.values())
        header.types, header.type_count = writer.pointers(Type, kinds), len(kinds)
        values = [(key, STRING if isinstance(sample[key], str) else INT, sample[key])
                  for key in ("trace_id", "with_stack", "path", "host_name")]
        values.append(self.value("distributedInfo", sample["distributedInfo"]))
        header.metadata, header.metadata_count = writer.values(values), len(values)
        header.realtime_offset_ns = sample["baseTimeNanoseconds"]
        header.first_ns = min(ns(event["ts"]) for event in self.events)
        header.last_ns = ns(self.events[-1]["ts"])

    def row(self, event):
        """The index of the track that an event of the sample is on."""
        pid, tid = event["pid"], event["tid"]
        if (pid, tid) not in self.rows:
            self.rows[pid, tid] = len(self.tracks)
            place = {"process": c.pointer(self.process)}
            if pid in DEVICES:
                place["device"] = c.pointer(self.devices[DEVICES[pid]])
            number = tid if isinstance(tid, int) else 1
            self.track(kind=QUEUE if pid in DEVICES else THREAD, native=number,
                       number=number if pid in DEVICES else 0, **place)
            self.tracks[-1].name = self.writer.text("python3" if pid not in DEVICES else "")
        return self.rows[pid, tid]

    def value(self, key, data):
        if data is None:
            return key, DOUBLE, float("inf")
        if isinstance(data, dict):
            return key, DICT, [self.value(k, v) for k, v in data.items()]
        if isinstance(data, list) and not (data and isinstance(data[0], (int, str))):
            return key, LIST, [self.value("", v) for v in data]
        if isinstance(data, list):
            return key, (STRING if isinstance(data[0], str) else INT) | ARRAY, data
        kind = {bool: BOOL, int: INT, str: STRING, Decimal: DOUBLE}[type(data)]
        return key, kind, float(data) if kind == DOUBLE else data

    def replay(self, sample_event):
        event = changed(sample_event)
        kind = {"X": SPAN, "i": INSTANT, "C": COUNTER}[event["ph"]]
        args = event.get("args", {})
        own = {}
        if kind == SPAN and "External id" in args:
            own = {"correlation": args["correlation"]}
        taken = OURS if kind == SPAN else ()
        made = self.event(kind=kind, track=self.row(sample_event), name=event["name"],
                          values=[self.value(k, v) for k, v in args.items() if k not in taken], **own)
        made.type = c.pointer(self.kinds[event["cat"]])
        made.begin_ns = made.end_ns = ns(event["ts"])
        made.end_ns += ns(event["dur"]) if kind == SPAN else 0
        return made

    def arrow(self, start, finish):
        made = self.event(kind=ARROW, track=self.row(finish), name=start["name"], arrow_id=start["id"],
                          from_track=c.pointer(self.tracks[self.row(start)]))
        made.from_ns, made.begin_ns = ns(start["ts"]), ns(finish["ts"])
        return made


def is_mark(event):
    return event["ph"] == "i" and event["s"] == "g"


def replay_all(writer, path):
    sample = load_sample()
    scene = Replay(writer, sample)
    happened = [e for e in scene.events if e["ph"] in "XiC" and not is_mark(e)]
    events = [scene.replay(event) for event in happened]
    starts = {e["id"]: e for e in scene.events if e["ph"] == "s"}
    events += [scene.arrow(starts[e["id"]], e) for e in scene.events
               if e["ph"] == "f" and e["id"] in starts]
    writer.write(path, scene.header, [scene.announce(), events])
    return sample, happened, read_trace(path)


# ---- Cases ----

def same_value(got, wanted):
    if isinstance(wanted, float):
        return float(got) == float(wanted)
    return type(got) is type(wanted) and got == wanted


def compare(got, sample_event):
    """One event: keys, their order, the types, and what the sample has as values."""
    wanted = changed(sample_event)
    assert list(got) == list(wanted), (got, wanted)
    for key in wanted:
        if key == "args":
            continue
        same = type(got[key]) is type(wanted[key]) if key in ("pid", "tid", "ts", "dur", "id") else \
            same_value(got[key], wanted[key])
        assert same, (key, got, wanted)
    args, expected = got.get("args", {}), wanted.get("args", {})
    assert set(args) == set(expected), (args, expected)
    for key, value in expected.items():
        assert same_value(args[key], value), (key, args, expected)
    own, others = [k for k in args if k in OURS], [k for k in args if k not in OURS]
    assert own == [k for k in OURS if k in expected], (args, expected)
    assert others == [k for k in expected if k not in OURS], (args, expected)


def test_what_happened_has_the_keys_of_libkineto(writer, path, r):
    sample, happened, trace = replay_all(writer, path)
    found = [e for e in trace["traceEvents"] if e["ph"] in "XiC" and not is_mark(e)]
    for got, wanted in zip(found, happened, strict=True):
        compare(got, wanted)
        assert trace["baseTimeNanoseconds"] + ns(got["ts"]) == \
            sample["baseTimeNanoseconds"] + ns(wanted["ts"])


def test_arrows_have_the_keys_of_libkineto_and_s_is_before_f(writer, path, r):
    sample, _, trace = replay_all(writer, path)
    wanted = {(e["ph"], e["id"]): e for e in sample["traceEvents"] if e["ph"] in "sf"}
    found = [e for e in trace["traceEvents"] if e["ph"] in "sf"]
    for got in found:
        compare(got, wanted[got["ph"], got["id"]])
    assert [(e["ph"], e["id"]) for e in found] == [("s", 9), ("f", 9), ("s", 1), ("f", 1)]
    order = [(e["ph"], e["id"]) for e in sample["traceEvents"] if e["ph"] in "sf"]
    assert order.index(("f", 1)) < order.index(("s", 1)), "the sample has this difference no more"


def test_names_of_rows_have_the_keys_of_libkineto(writer, path, r):
    sample, _, trace = replay_all(writer, path)
    theirs = {json.dumps([changed(e)["name"], list(changed(e)), list(e["args"]),
                          [type(v).__name__ for v in e["args"].values()]])
              for e in sample["traceEvents"] if e["ph"] == "M"}
    ours = {json.dumps([e["name"], list(e), list(e["args"])[:1],
                        [type(v).__name__ for v in list(e["args"].values())[:1]]])
            for e in trace["traceEvents"] if e["ph"] == "M"}
    assert ours == theirs, ours ^ theirs
    more = {key for e in trace["traceEvents"] if e["ph"] == "M" for key in list(e["args"])[1:]}
    assert more <= {"native", "uuid", "source", "pid", "tid"}  # originals of what has a number here


def test_names_of_rows_read_as_those_of_libkineto(writer, path, r):
    def names(events):
        return {(e["name"], str(e["pid"]), str(e["tid"])): list(e["args"].values())[0]
                for e in events if e["ph"] == "M"}
    sample, _, trace = replay_all(writer, path)
    theirs, ours = names(sample["traceEvents"]), names(trace["traceEvents"])
    device = str(DEVICE_PID)
    assert ours["process_name", "4242", "0"] == theirs["process_name", "4242", "0"] == "python"
    assert ours["process_labels", "4242", "0"] == theirs["process_labels", "4242", "0"] == "CPU"
    assert ours["process_labels", device, "0"] == theirs["process_labels", "0", "0"] == "GPU 0"
    assert ours["process_sort_index", device, "0"] == theirs["process_sort_index", "0", "0"] == 5000000
    assert ours["process_sort_index", "4242", "0"] == theirs["process_sort_index", "4242", "0"]
    assert ours["thread_name", "4242", "4243"] == theirs["thread_name", "4242", "4243"]
    assert ours["thread_name", device, "7"] == theirs["thread_name", "0", "7"].rstrip() == "stream 7"
    # The one difference: a reader that shows no labels finds the device's in its name.
    assert theirs["process_name", "0", "0"] == "python"
    assert ours["process_name", device, "0"] == "GPU 0: dev (python 4242)"


def test_marks_of_the_whole_trace_have_the_keys_of_libkineto(writer, path, r):
    sample, _, trace = replay_all(writer, path)
    theirs = [changed(e) for e in sample["traceEvents"] if is_mark(e)]
    ours = [e for e in trace["traceEvents"] if is_mark(e)]
    assert len(ours) == 1 and ours[0] is trace["traceEvents"][-1]
    assert all(list(e) == list(ours[0]) for e in theirs), (theirs, ours)
    assert theirs[-1]["name"] == ours[0]["name"] == "Record Window End"


def test_the_top_level_is_that_of_libkineto_and_two_keys_more(writer, path, r):
    sample, _, trace = replay_all(writer, path)
    keys = list(sample)
    keys.remove("distributedInfo")  # before the events: some readers look no further
    keys.insert(keys.index("displayTimeUnit"), "distributedInfo")
    keys[keys.index("traceName"):keys.index("traceName")] = ["metadata", "kymo"]
    assert list(trace) == keys
    for key in keys:
        if key in sample and key not in ("baseTimeNanoseconds", "traceName"):
            assert type(trace[key]) is type(sample[key]), key
    for key in ("schemaVersion", "trace_id", "with_stack", "path", "host_name", "displayTimeUnit"):
        assert trace[key] == sample[key], key
    assert sample["deviceProperties"][0].items() <= trace["deviceProperties"][0].items()
    assert list(trace["distributedInfo"].items()) == list(sample["distributedInfo"].items())


def test_the_rules_hold_for_the_sample_too(writer, path, r):
    scene = Replay(writer, load_sample())
    spans = [scene.replay(e) for e in scene.events if e["ph"] == "X"]
    spans.sort(key=lambda event: (event.begin_ns, -event.end_ns))
    writer.write(path, scene.header, [scene.announce(), spans])
    check_rules(read_trace(path))


def test_no_difference_is_listed_in_vain(writer, path, r):
    for event in load_sample()["traceEvents"]:
        changed(event)
    assert used == set(DIFFERENCES), set(DIFFERENCES) - used


if __name__ == "__main__":
    run_tests(globals())
