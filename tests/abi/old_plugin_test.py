#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in that was built when the ABI was frozen is loaded and recorded as it was then.

baseline/fake-x86_64.so is the fake source as tools/check-abi --freeze found it built; the text
beside it says from what. It makes the same calls each time, and keeps counts of its own.
"""
import glob
import json
import os
import platform
import subprocess
import sys

SOURCE, BUILD = os.environ["KYMO_SOURCE"], os.environ["KYMO_BUILD"]
PLUGIN = os.path.join(SOURCE, "tests", "abi", "baseline", "fake-x86_64.so")
KYMO = os.path.join(BUILD, "kymo")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import tap  # noqa: E402


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def record(options, program):
    """The trace and what the source itself counted."""
    words = ",".join(f"{PLUGIN}:{name}={value}" for name, value in options.items())
    run(KYMO, "record", "-f", "--require", "fake", "-t", words, "-o", "trace.json",
        "--", *program)
    with open("trace.json", encoding="utf-8") as f:
        trace = json.load(f)
    reports = glob.glob("report.*")
    assert len(reports) == 1, reports
    with open(reports[0], encoding="utf-8") as f:
        return trace, json.load(f)


def test_its_tables_are_read():
    said = run(KYMO, "doctor", PLUGIN)
    assert "fake " in said and "usable" in said, said


def test_all_that_it_records_is_in_the_trace():
    trace, report = record({"workload": 500, "seed": 3, "report": os.path.abspath("report")},
                           ["sleep", "0.1"])
    ledger, source = trace["kymo"]["ledger"], trace["kymo"]["sources"][0]
    assert report["ok"] > 900 and report["no_memory"] == report["state"] == report["invalid"] == 0, report
    assert ledger["written"] == ledger["accepted"] == report["ok"], (ledger, report)
    assert ledger["source_exact"] == report["lost"], (ledger, report)
    for count in "spans", "instants", "counters":
        assert ledger[count] == report[count], (count, ledger, report)
    assert ledger["begins"] == report["opens"] and ledger["arrows"] >= report["links"] > 0, (ledger, report)
    assert source["state"] == "recording" and source["written"] == report["ok"], source
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    assert len(kernels) == ledger["kernels"] > 300
    for kernel in kernels:
        assert kernel["args"]["grid"] and kernel["args"]["block"] and kernel["args"]["stream"] > 0, kernel
        assert kernel["dur"] > 0 and kernel["args"]["queued"] <= kernel["ts"], kernel
    assert ledger["untimed"] == 0 and trace["kymo"]["clocks"], trace["kymo"]


def test_its_timer_ticks_and_its_clock_is_sampled():
    trace, report = record({"sample_us": 500, "ppm": 50, "report": os.path.abspath("report")},
                           ["sleep", "0.1"])
    assert trace["kymo"]["ledger"]["counters"] == report["counters"] > 10, report
    device = [clock for clock in trace["kymo"]["clocks"] if clock.get("source") == "fake"]
    assert device and device[0]["anchors"] > 1, trace["kymo"]["clocks"]


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        print("skip: the plug-in is one for x86_64")
        sys.exit(77)
    tap.main(globals())
