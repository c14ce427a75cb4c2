# SPDX-License-Identifier: BSD-3-Clause
"""A reader of Chrome traces for the tests, written from the format's rules and not from Kymo:
strict JSON, and what every viewer needs to hold."""
import collections
import gzip
import json
import os
import subprocess

# What a trace says is missing: tests that lose something on purpose look at it themselves.
TOLD_LOSSES = {"lost-records", "incomplete"}


class Broken(Exception):
    """The trace breaks a rule."""


def refuse_constant(token):
    raise Broken(f"bare {token}")


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise Broken(f"a key stands twice: {keys}")
    return dict(pairs)


def load(path):
    data = open(path, "rb").read()
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    text = data.decode("utf-8", errors="strict")
    if not text.endswith("}"):
        raise Broken("the last byte is no '}'")
    return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_keys)


def check(path):
    """Holds the trace against every reader that kymo check knows."""
    done = subprocess.run([os.path.join(os.environ["KYMO_BUILD"], "kymo"), "check", "--json", path],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise Broken(f"kymo check: status {done.returncode}: {done.stderr}")
    found = [finding for finding in json.loads(done.stdout)["findings"]
             if finding["severity"] not in ("note", "minor") and finding["id"] not in TOLD_LOSSES]
    if found:
        raise Broken(f"kymo check: {found}")


def ns(microseconds):
    """Exact, where the number has at most three decimals and is read as a double below 2^43."""
    return round(microseconds * 1000)


class Trace:
    """A loaded trace with its events by kind; raises Broken where a rule is broken."""

    def __init__(self, path):
        check(path)
        self.data = load(path)
        self.events = self.data["traceEvents"]
        self.spans = [event for event in self.events if event["ph"] == "X"]
        self.kernels = [event for event in self.spans if event["cat"] == "kernel"]
        self.ledger = self.data["kymo"]["ledger"]
        self.check_counts()
        self.check_events()
        self.check_nesting()
        self.check_correlations()
        self.arrows = self.pair_arrows()

    def check_counts(self):
        """Whoever tells of events tells the same number."""
        sink = self.data["kymo"]["sink"]
        events = sum(self.ledger[shape] for shape in ("spans", "instants", "counters"))
        of_sources = sum(source["events"] for source in self.data["kymo"]["sources"])
        counts = (events, self.data["metadata"]["events"] + sink["not drawn"], sink["events"] + sink["not drawn"],
                  of_sources - self.ledger["untimed"])
        if len(set(counts)) != 1:
            raise Broken(f"events by ledger, metadata, sink and sources: {counts}")

    def check_events(self):
        for event in self.events:
            for key in ("ph", "cat", "name"):
                if not isinstance(event.get(key), str):
                    raise Broken(f"no {key}: {event}")
            for key in ("pid", "tid"):
                if not isinstance(event.get(key), int) or not 0 <= event[key] < 1 << 31:
                    raise Broken(f"{key} is no number of 31 bits: {event}")
            if not isinstance(event["ts"], (int, float)) or event["ts"] < 0:
                raise Broken(f"a bad ts: {event}")
            if event["ph"] == "X" and event["dur"] < 0:
                raise Broken(f"a bad dur: {event}")

    def check_nesting(self):
        open_ends = collections.defaultdict(list)
        last = {}
        for event in self.spans:
            row = event["pid"], event["tid"]
            begin = ns(event["ts"])
            end = begin + ns(event["dur"])
            if (begin, -end) < last.get(row, (0, -(1 << 63))):
                raise Broken(f"out of order on its row: {event}")
            last[row] = begin, -end
            ends = open_ends[row]
            while ends and ends[-1] <= begin:
                ends.pop()
            if ends and ends[-1] < end:
                raise Broken(f"overlaps the span around it: {event}")
            ends.append(end)

    def check_correlations(self):
        """Numbers from 1, none left out; at most one event of the host and one of a device share
        one, and further ones of the same launch name it."""
        on_host, on_device = set(), set()
        for event in self.events:
            args = event.get("args", {})
            number = args.get("correlation")
            if event["ph"] not in "Xi" or number is None:
                continue
            is_device = "stream" in args
            if is_device != ("device" in args) or is_device != (event["pid"] >= 1 << 30):
                raise Broken(f"stream and device do not tell the device: {event}")
            side = on_device if is_device else on_host
            if number in side:
                raise Broken(f"a correlation that another has: {event}")
            side.add(number)
            if args["External id"] != args.get("launch correlation", number):
                raise Broken(f"External id is not the launch's: {event}")
        numbers = on_host | on_device
        if numbers and numbers != set(range(1, max(numbers) + 1)):
            raise Broken(f"{max(numbers) - len(numbers)} correlations left out")

    def pair_arrows(self):
        """(start, finish) of every arrow; each begins inside a span of its row."""
        starts, arrows = {}, []
        begins = {(event["pid"], event["tid"], event["ts"]) for event in self.spans}
        for event in self.events:
            if event["ph"] not in "sf":
                continue
            if (event["pid"], event["tid"], event["ts"]) not in begins:
                raise Broken(f"an arrow's end at no span's begin: {event}")
            key = event["id"], event["cat"], event["name"]
            if event["ph"] == "s":
                if key in starts:
                    raise Broken(f"an id stands twice: {event}")
                starts[key] = event
                continue
            start = starts.pop(key, None)
            if start is None or event.get("bp") != "e" or event["ts"] < start["ts"]:
                raise Broken(f"an arrow that does not bind: {event}")
            arrows.append((start, event))
        if starts:
            raise Broken(f"{len(starts)} arrows without an end")
        return arrows

    def process_names(self):
        return {event["pid"]: event["args"]["name"] for event in self.events
                if event["ph"] == "M" and event["name"] == "process_name"}

    def lost(self):
        return sum(self.ledger[reason] for reason in (
            "full", "too_big", "nested", "overwritten", "late", "out_of_window", "cut",
            "source_exact", "source_at_least", "names_not_kept"))
