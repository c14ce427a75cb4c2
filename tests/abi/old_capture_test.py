#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A capture that was made when its format was frozen is read as it was then.

baseline/fake.kymo is a recording of the fake source, fake.kymo.json what a trace of it said when
tools/check-abi --freeze made both. Later traces may say more.
"""
import json
import os
import subprocess
import sys

SOURCE, BUILD = os.environ["KYMO_SOURCE"], os.environ["KYMO_BUILD"]
CAPTURE = os.path.join(SOURCE, "tests", "abi", "baseline", "fake.kymo")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import tap  # noqa: E402

RECORDS = ("span", "instant", "counter", "link", "open", "gap")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def says(new, old):
    """Whether it says what the old one did; what is a dictionary may have more."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and says(new[key], old[key]) for key in old)
    return new == old


def activities(events):
    """Those that were recorded: not what a trace says of rows, nor arrows."""
    return [event for event in events if event["ph"] in "XiC"]


def test_its_trace_says_what_it_said():
    run(os.path.join(BUILD, "kymo"), "export", CAPTURE, "-o", "trace.json")
    trace, then = load("trace.json"), load(CAPTURE + ".json")
    assert then["ledger"]["written"] > 100 and len(then["events"]) > 100
    assert says(trace["kymo"]["ledger"], then["ledger"]), (trace["kymo"]["ledger"], then["ledger"])
    events = activities(trace["traceEvents"])
    assert len(events) == len(then["events"])
    for new, old in zip(events, then["events"]):
        assert says(new, old), (new, old)


def test_the_reader_that_was_written_from_the_document_finds_as_many():
    lines = run(os.path.join(SOURCE, "tools", "read_capture.py"), CAPTURE).splitlines()
    found = sum(json.loads(line)["line"] in RECORDS for line in lines)
    assert found == load(CAPTURE + ".json")["ledger"]["written"], found


if __name__ == "__main__":
    tap.main(globals())
