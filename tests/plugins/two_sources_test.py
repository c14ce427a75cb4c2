#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two sources in one recording, of which one fails: the other's data is complete, the trace has the
state of each with its reason, and --require says 125. Prints TAP."""
import functools
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("e2e", "support")]
from tap import cases_of, given_time, run_cases
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
FAKE = os.path.join(BUILD, "plugins", "source", "fake.so")
EXAMPLE = os.path.join(BUILD, "examples", "03-source-plugin")
NPU = os.path.join(EXAMPLE, "npu_source.so")
PROGRAM = os.path.join(EXAMPLE, "example_npu")
TWO_SOURCES = os.environ["KYMO_TWO_SOURCES"]
JOBS = 40


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, **more)


def record(folder, fault, *options):
    """Both sources in one program, the fake one with a fault and work of its own."""
    path = os.path.join(folder, "t.json")
    faulty = "fake:workload=500" + (f",fake:fault={fault}" if fault else "")
    done = run(KYMO, "record", "-f", "-t", f"{faulty},{NPU}", *options, "-o", path, "--",
               PROGRAM, str(JOBS))
    assert f"{JOBS} jobs\n" == done.stdout, done
    return done, Trace(path)


def sources_of(trace):
    return {s["name"]: s for s in trace.data["kymo"]["sources"]}


def check_npu(trace, jobs):
    """All that the program has had done, and the calls that launched it."""
    npu = [e for e in trace.kernels if e["name"] in ("matmul", "softmax", "job")]
    assert len(npu) == jobs, len(npu)
    calls = [e for e in trace.spans if e["name"] == "npu_run"]
    assert len(calls) == jobs, len(calls)
    source = sources_of(trace)["npu"]
    assert source["state"] == "recording" and source["lost"] == 0, source
    # A LINK is written, and no event but an arrow.
    links = source["written"] - source["events"]
    arrows = sum(e["ph"] == "s" and e["name"] == "after" for e in trace.events)
    assert source["events"] > 2 * jobs and links == arrows, (source, arrows)


def without_a_fault_both_record(folder):
    done, trace = record(folder, "", "--require", "fake,npu", "--strict")
    assert done.returncode == 0, done
    check_npu(trace, JOBS)
    fake = sources_of(trace)["fake"]
    assert fake["state"] == "recording" and fake["written"] > 500, fake
    assert len(trace.data["deviceProperties"]) == 2, trace.data["deviceProperties"]


def one_that_fails_to_begin_leaves_the_other_complete(folder):
    for fault in ("create", "prepare", "start"):
        done, trace = record(folder, fault, "--strict")
        assert done.returncode == 0, done
        assert f'not recorded: fake: failed: the fault "{fault}" was asked for' in done.stderr, done
        check_npu(trace, JOBS)
        fake = sources_of(trace)["fake"]
        assert fake["state"] == "failed" and fault in fake["reason"], fake


def what_is_required_and_fails_gives_125_and_the_trace_all_the_same(folder):
    for fault in ("create", "prepare", "start"):
        done, trace = record(folder, fault, "--require", "fake")
        assert done.returncode == 125, done
        assert f'did not record: fake: failed: the fault "{fault}"' in done.stderr, done
        check_npu(trace, JOBS)
        done, _ = record(folder, fault, "--require", "npu")
        assert done.returncode == 0, done


def one_that_fails_to_end_is_partly_and_the_other_complete(folder):
    path = os.path.join(folder, "own.json")
    for fault in ("stop", "flush"):
        done = run(TWO_SOURCES, FAKE, NPU, path,
                   env=dict(os.environ, FAKE_FAULT=fault, NPU_TOOL=NPU))
        assert done.returncode == 0 and done.stderr == "", done
        trace = Trace(path)
        os.remove(path)
        check_npu(trace, 20)
        fake = sources_of(trace)["fake"]
        assert fake["state"] == "partly" and fake["reason"], fake
        assert fake["written"] > 100, fake


def one_that_fails_to_end_in_a_recording_of_a_part_is_partly_as_well(folder):
    """The program goes on, so it is the recorder that has the sources stop."""
    path = os.path.join(folder, "t.json")
    def end_in(fault, factor):
        jobs = 8000 * factor
        done = run(KYMO, "record", "-f", "-d", f"{factor}s", "-t",
                   f"fake:workload=500,fake:fault={fault},{NPU}", "-o", path, "--", PROGRAM, str(jobs))
        assert done.returncode == 0 and done.stdout == f"{jobs} jobs\n", done
        trace = Trace(path)
        sources = sources_of(trace)
        assert sources["fake"]["state"] == "partly" and sources["fake"]["reason"], sources
        assert sources["fake"]["written"] > 100, sources
        assert sources["npu"]["state"] == "recording", sources
        calls = [e for e in trace.spans if e["name"] == "npu_run"]
        assert 0 < len(calls) < jobs, len(calls)

    for fault in ("stop", "flush"):
        given_time(functools.partial(end_in, fault))


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
