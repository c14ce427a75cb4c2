#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Types of a source of a plug-in through all stages: listed, filtered, counted, shown by tools
that have no plug-in. Prints TAP."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PLUGIN = os.path.join(BUILD, "plugins", "source", "fake.so")
PROGRAM = os.environ["FAKE_PROGRAM"]
WORK = ["mark", "50", "work", "500", "7"]

KERNEL, RUNTIME, COPY = "kernel", "runtime", "gpu_memcpy"
DEFAULT = {KERNEL, RUNTIME, COPY, "fake.note", "fake.load"}


def run(*arguments):
    return subprocess.run([KYMO, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)


def record(types, output="t.json", words=WORK):
    arguments = ["--types", types] if types is not None else []
    done = run("record", "-f", "-t", PLUGIN, *arguments, "-o", output, "--", PROGRAM, *words)
    assert done.returncode == 0, done.stderr
    return Trace(output) if output.endswith(".json") else None


def categories(trace):
    return {event["cat"] for event in trace.events
            if event["ph"] in "XiC" and event["cat"] not in ("kymo", "Trace")}


def test_a_list_says_what_is_recorded_and_the_rest_is_filtered():
    for types, expected in (
            (None, DEFAULT | {"user_annotation"}),
            ("fake:kernel,fake:poll", {KERNEL, "fake.poll", "user_annotation"}),
            ("kernel", {KERNEL}),
            ("KERNEL,fake:note", {KERNEL, "fake.note"}),
            ("all,-fake.poll", DEFAULT | {"user_annotation"}),
            ("default,fake.poll", DEFAULT | {"fake.poll", "user_annotation"}),
            ("-kernel,-fake.*", {RUNTIME, COPY, "user_annotation"}),
            ("fake.*", {"fake.note", "fake.load", "fake.poll"}),
            ("cuda_runtime", {RUNTIME})):
        trace = record(types)
        assert categories(trace) == expected, (types, categories(trace))
        ledger = trace.ledger
        assert ledger["offered"] == ledger["filtered"] + ledger["accepted"], ledger
        assert ledger["filtered"] > 0 or KERNEL in expected and RUNTIME in expected, ledger


def test_a_source_with_nothing_wanted_is_not_brought_in():
    trace = record("user_annotation", words=["mark", "5"])
    assert [s["name"] for s in trace.data["kymo"]["sources"]] == ["app"], trace.data["kymo"]


def test_the_program_does_not_start_for_a_name_that_is_none():
    for types, words in (("fake:krenel", '(did you mean "kernel"?); the source "fake" has '),
                         ("fake.pol", '(did you mean "fake.poll"?)'),
                         ("fake:gpu_memset", "non-member")):
        done = run("record", "-f", "-t", PLUGIN, "--types", types, "-o", "none.json", "--",
                   PROGRAM, *WORK)
        assert done.returncode == 125 and words in done.stderr, done.stderr
        assert not os.path.exists("none.json")


def test_capture_and_trace_carry_the_table_of_the_plugin():
    record("default,fake.poll", "t.kymo")
    info = json.loads(run("info", "--json", "t.kymo").stdout)
    assert {"fake.note", "fake.load", "fake.poll"} <= {t["name"] for t in info["types"]}
    # No tool loads a plug-in for a capture: all names are in it.
    done = run("export", "t.kymo", "-f", "-o", "e.json")
    assert done.returncode == 0, done.stderr
    table = {t["full name"]: t for t in Trace("e.json").data["kymo"]["activity types"]}
    listed = json.loads(run("types", "--json", PLUGIN).stdout)["sources"][0]["types"]
    for entry in (t for t in listed if "." in t["name"]):
        found = table[entry["name"]]
        assert found["number"] == entry["number"], (found, entry)
        assert found["8-bit number"] == entry["kineto_id"], (found, entry)
        assert found["plugin"] == "fake" and found["category"] == entry["name"], found
        assert found["opt-in"] == (entry["name"] == "fake.poll"), found


def test_counters_are_series_on_the_device_with_their_units():
    trace = record("fake:load")
    samples = [event for event in trace.events if event["ph"] == "C"]
    assert samples, "no counters"
    shown = collections.Counter((event["name"], *event["args"]) for event in samples)
    assert set(shown) == {("load (%)", "busy 0", "busy 1"), ("load (bytes)", "memory"),
                          ("load", "launches"), ("load (C)", "temperature")}, shown
    assert len(set(shown.values())) == 1 and trace.ledger["counters"] * 4 == len(samples), shown
    assert all(isinstance(value, (int, float)) for event in samples
               for value in event["args"].values())
    units = trace.data["kymo"]["units"]
    assert units == units | {"busy 0": "%", "memory": "bytes", "temperature": "C"}, units
    short = trace.data["metadata"]["units"]
    assert short == "busy 0 %, busy 1 %, memory bytes, temperature C", short


if __name__ == "__main__":
    main(globals())
