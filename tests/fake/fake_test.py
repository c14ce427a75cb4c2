#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every fault of the fake source, under `kymo record` and in a session of the program's own:
the recording must not be harmed, marks must be complete, and the ledger must say what the
source itself counted. Prints TAP; `fake_test.py WORD` runs the cases whose names have the
word."""
import collections
import concurrent.futures
import functools
import glob
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("e2e", "support")]
from tap import cases_of, given_time, run_cases
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PLUGIN = os.path.join(BUILD, "plugins", "source", "fake.so")
PROGRAM = os.environ["FAKE_PROGRAM"]

MARKS = 1000
WORK = ["mark", "500", "work", "1000", "7", "mark", "500"]
STOP_LIMIT_MS = 2000  # for all sources together
TWICE_MS = 2 * STOP_LIMIT_MS  # whoever waited for each of two has come to this


class Run:
    """One recorded run: its status, its trace, and what the source says that it did."""

    def __init__(self, folder, fault, words, options="", own_session=False, more=()):
        self.path = os.path.join(folder, "trace.json")
        report = os.path.join(folder, "report")
        environment = dict(os.environ, FAKE_REPORT=report)
        if own_session:
            environment["FAKE_FAULT"] = fault
            command = [PROGRAM, "session", PLUGIN, *words, "save", self.path]
        else:
            source = ",".join(["fake:fault=" + fault] + [f"fake:{o}" for o in options.split()])
            command = [KYMO, "record", "-f", "-t", source, "-o", self.path, *more, "--",
                       PROGRAM, *words]
        for old in [self.path, *glob.glob(report + ".*")]:
            if os.path.exists(old):
                os.remove(old)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              env=environment, check=False)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert os.path.exists(self.path), done.stderr
        self.trace = Trace(self.path)
        self.ledger = self.trace.ledger
        self.reports = [json.load(open(name, encoding="utf-8"))
                        for name in glob.glob(report + ".*")]
        self.report = self.reports[0] if self.reports else None
        self.check_equations()

    def check_equations(self):
        ledger = self.ledger
        losses = ("full", "too_big", "nested", "overwritten", "late", "out_of_window", "cut",
                  "invalid")
        assert ledger["offered"] == ledger["filtered"] + ledger["accepted"], ledger
        assert ledger["accepted"] == ledger["written"] + sum(ledger.get(l, 0) for l in losses), ledger
        # What is counted by source is as much as what the writers' counts make of it.
        for name in ("written", "filtered", "overwritten", "late", "invalid"):
            by_source = sum(s[name] for s in self.trace.data["kymo"]["sources"])
            assert by_source == ledger.get(name, 0), (name, by_source, ledger)

    def source(self):
        return next(s for s in self.trace.data["kymo"]["sources"] if s["name"] == "fake")

    def made(self, fault):
        count = self.report["faults"][fault]
        assert count > 0, f"the fault {fault} was not made"
        return count

    def check_marks(self, count=MARKS):
        marks = [event for event in self.trace.spans if event["name"] == "mark"]
        assert len(marks) == count, f"{len(marks)} of {count} marks"

    def check_ledger(self, marks=MARKS, **expected):
        """What the host took is in the ledger; beyond it only what is expected."""
        report, ledger = self.report, self.ledger
        self.check_marks(marks)
        assert self.status == 0, self.err
        assert report["no_memory"] == report["state"] == 0, report
        zero = dict.fromkeys(("filtered", "untimed", "late", "cut", "source_exact",
                              "source_at_least", "names_not_kept", "full", "invalid"), 0)
        for key, value in {**zero, **expected}.items():
            assert ledger.get(key, 0) == value, (key, value, ledger)
        refused = ledger["late"] + ledger.get("invalid", 0)
        assert ledger["offered"] == report["ok"] + marks + refused, (report, ledger)
        assert self.source()["written"] == report["ok"] - ledger["filtered"], (
            report, self.source())


def without_a_fault_all_is_as_the_source_says(folder):
    run = Run(folder, "", WORK)
    run.check_ledger()
    report, ledger = run.report, run.ledger
    assert ledger["spans"] == report["spans"] + MARKS, (report, ledger)
    assert ledger["instants"] == report["instants"] and ledger["begins"] == report["opens"]
    assert ledger["counters"] == report["counters"]
    cats = collections.Counter(event["cat"] for event in run.trace.events)
    assert {"kernel", "gpu_memcpy", "runtime", "fake.note", "fake.load", "fence"} <= set(cats)
    kernel = next(k for k in run.trace.kernels if k["name"] == "kernel_1")
    assert kernel["args"]["grid"] == [128, 2, 1], kernel
    names = {len(k["name"]) for k in run.trace.kernels}
    assert 1000 in names, names
    failed = [e for e in run.trace.spans if e.get("args", {}).get("error") is True]
    assert failed, "a failed call is marked"
    graph = collections.Counter(k["args"].get("launch correlation") for k in run.trace.kernels)
    assert any(launch for launch in graph), "one launch of many kernels"


def the_devices_properties_have_their_keys_and_types(folder):
    [device] = Run(folder, "", WORK).trace.data["deviceProperties"]
    assert device == {"id": 0, "name": "Fake One", "kind": "pretend", "source": "fake", "process": 0,
                      "firmware": "none at all", "totalGlobalMem": 16 << 30, "numSms": 2}, device
    assert list(device)[:2] == ["id", "name"], device


def the_same_seed_gives_the_same_calls(folder):
    def calls(seed):
        run = Run(folder, "", ["work", "500", str(seed)])
        return [e["name"] for e in run.trace.spans if e["cat"] == "runtime"]
    assert calls(3) == calls(3)
    assert calls(3) != calls(4)


def any_program_has_a_workload_if_asked(folder):
    run = Run(folder, "", ["exit", "3"], "workload=2000")
    assert run.status == 3, run.err
    assert run.ledger["written"] == run.report["ok"] > 2000


def a_clock_that_drifts_and_wraps_is_set_right(folder):
    """
    34 bits of 4 GHz wrap each 4 s, here after one; 500 millionths are 1 ms in the 2 s of this. A
    thread may be held up between its launch and the device, but not at all launches between two
    sleeps; and a clock that wraps within the time for which a machine stands still cannot be read.
    """
    words = sum((["work", "100", "1", "sleep", "500"] for _ in range(4)), []) + ["wait"]
    run = Run(folder, "", words, "ppm=500 bits=34 rate=4000000000 offset=13179869184")
    run.check_ledger(marks=0)
    launches = {e["args"]["correlation"]: e["ts"] for e in run.trace.spans
                if e["name"] == "fakeLaunch" and "correlation" in e["args"]}
    late, last = [], float("-inf")
    for launch, kernel in sorted((launches[k["args"]["correlation"]], k["ts"])
                                 for k in run.trace.kernels if k["args"]["correlation"] in launches):
        if launch > last + 400000:
            late.append([])
        late[-1].append(kernel - launch)
        last = launch
    error = sum(clock["uncertainty (ns)"] for clock in run.trace.data["kymo"]["clocks"]) / 1000
    assert len(late) >= 4 and error < 10000, (len(late), error)
    for batch in late:
        assert -50 - error < min(batch) < 200 + error and max(batch) < 500000, (batch, error)


# ---- Records ----

def times_that_cannot_be_are_kept_and_not_drawn(folder):
    for fault in ("zero", "backwards"):
        run = Run(folder, fault, WORK)
        run.check_ledger(untimed=run.made(fault))


def times_outside_of_the_recording_are_counted(folder):
    run = Run(folder, "window", WORK)
    made, ledger = run.made("window"), run.ledger
    run.check_marks()
    assert ledger["untimed"] == 0 and ledger["out_of_window"] == made, ledger


def spans_that_overlap_go_to_further_rows(folder):
    run = Run(folder, "overlap", WORK)
    run.made("overlap")
    run.check_ledger()
    rows = {(k["pid"], k["tid"]) for k in run.trace.kernels}
    assert len(rows) > 2, rows


def what_is_told_twice_is_there_twice(folder):
    run = Run(folder, "twice", WORK)
    run.made("twice")
    run.check_ledger()
    run = Run(folder, "same", WORK)
    run.made("same")
    run.check_ledger()


def numbers_that_nobody_gave_do_no_harm(folder):
    for fault in ("domain", "name", "attributes", "key"):
        run = Run(folder, fault, WORK)
        run.made(fault)
        run.check_ledger()
    run = Run(folder, "track", WORK)
    run.check_ledger(untimed=run.made("track"))


def types_that_nobody_wants_are_filtered(folder):
    run = Run(folder, "unwanted", WORK)
    run.check_ledger(filtered=run.made("unwanted"))


def what_is_no_record_is_refused_and_counted(folder):
    for fault in ("lines", "kind", "type"):
        run = Run(folder, fault, WORK)
        assert run.report["invalid"] == run.made(fault), run.report
        run.check_ledger(invalid=run.made(fault))


def losses_that_the_source_reports_are_in_the_ledger(folder):
    run = Run(folder, "losses", WORK)
    ledger, lost = run.ledger, run.report["lost"]
    run.check_marks()
    assert ledger["source_exact"] + ledger["source_at_least"] + ledger["late"] == lost > 0
    assert f"lost {lost} " in run.err, run.err


def what_the_device_dropped_or_had_not_begun_is_counted(folder):
    """4096 fit, and each takes a minute: the first runs and 904 fell out at the end."""
    run = Run(folder, "", ["launch", "5000", "60000000000"])
    assert run.ledger["source_exact"] == run.report["lost"] == 4999, run.ledger
    assert "not completed 4,095" in run.err, run.err
    kernel, = run.trace.kernels
    assert kernel["args"]["finished"] is False and kernel["dur"] > 0, kernel


def names_of_64_kib_of_every_byte_are_valid_json(folder):
    run = Run(folder, "names", WORK)
    assert run.made("names") == 8
    run.check_ledger()
    assert max(len(k["name"]) for k in run.trace.kernels) > 30000


def all_at_once(folder):
    run = Run(folder, "zero+track+twice+names+losses+key+attributes+domain+same", WORK,
              "every=2")
    run.check_marks()
    assert run.status == 0, run.err


def a_storm_loses_nothing(folder):
    run = Run(folder, "", ["storm", "64", "2000"])
    run.check_ledger(marks=0)
    seen = collections.defaultdict(list)
    for event in run.trace.spans:
        if event["name"] == "fakeTouch":
            seen[event["args"]["storm thread"]].append(event["args"]["sequence"])
    assert len(seen) == 64
    assert all(calls == list(range(2000)) for calls in seen.values())


def check_storm(run, spans):
    report, ledger = run.report, run.ledger
    assert ledger["offered"] == report["spans"] == spans, (report, ledger)
    assert ledger["full"] == report["no_memory"], (report, ledger)
    assert ledger["written"] == report["ok"], (report, ledger)
    assert len(run.trace.spans) == report["ok"], (report, ledger)


def a_storm_larger_than_the_memory_is_written_or_counted(folder):
    check_storm(Run(folder, "", ["storm", "16", "100000"]), 1600000)


def what_does_not_fit_into_a_programs_own_session_is_counted(folder):
    run = Run(folder, "", ["storm", "16", "100000", "stop"], own_session=True)
    check_storm(run, 1600000)
    assert run.ledger["full"] > 0, run.ledger


def each_forked_child_records_its_own(folder):
    run = Run(folder, "", ["mark", "10", "work", "200", "1", "wait", "fork", "mark", "10",
                           "work", "200", "2", "wait"])
    assert run.status == 0, run.err
    run.check_marks(20)
    assert len(run.reports) == 2
    assert run.ledger["written"] == 20 + sum(r["ok"] for r in run.reports), run.reports


def sixteen_processes_that_attach_at_once_lose_nothing(folder):
    run = Run(folder, "", ["exit", "0"])  # for its folder
    report = os.path.join(folder, "report")
    one = f"{PROGRAM} mark 100 work 500 1 wait"
    subprocess.run([KYMO, "record", "-f", "-t", "fake", "-o", run.path, "--", "sh", "-c",
                    f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do {one} & done; wait"],
                   check=True, timeout=60, env=dict(os.environ, FAKE_REPORT=report))
    run.trace = Trace(run.path)
    run.check_marks(1600)
    counts = [json.load(open(name, encoding="utf-8"))["ok"]
              for name in glob.glob(report + ".*")]
    assert run.trace.ledger["written"] == 1600 + sum(counts), (counts, run.trace.ledger)


# ---- The process ----

def a_process_that_dies_at_a_record_leaves_all_before_it(folder):
    for fault, number in (("kill", signal.SIGKILL), ("crash", signal.SIGSEGV)):
        for at in (0, 1, 333):
            run = Run(folder, fault, WORK, f"at={at}")
            assert run.status == 128 + number, run.err
            run.check_marks(500)
            assert run.ledger["written"] == 500 + at, (at, run.ledger)
            assert run.ledger["cut"] == 0, run.ledger


def a_process_that_dies_in_a_storm_has_no_holes(folder):
    for at in (1, 777, 20000):
        run = Run(folder, "kill", ["storm", "8", "100000"], f"at={at}")
        assert run.status == 128 + signal.SIGKILL, run.err
        seen = collections.defaultdict(list)
        for event in run.trace.spans:
            seen[event["args"]["storm thread"]].append(event["args"]["sequence"])
        for calls in seen.values():
            assert calls == list(range(len(calls))), "a hole"
        assert run.ledger["written"] == sum(map(len, seen.values())), run.ledger
        # Each thread can have counted one that it had not committed.
        assert run.ledger["cut"] <= 8, run.ledger


# ---- Operations ----

STATES = {-3: "absent", -10: "busy", -9: "denied", -8: "failed"}


def failing_to_begin_leaves_the_source_out_with_its_reason(folder):
    for fault in ("create", "prepare", "start"):
        for status, state in STATES.items():
            run = Run(folder, fault, ["mark", "1000"], f"status={status}")
            run.check_marks()
            assert run.status == 0, run.err
            source = run.source()
            assert source["state"] == state, (fault, source)
            assert f'the fault "{fault}" was asked for' in source["reason"], source


def what_a_source_hands_in_that_could_not_start_is_not_wanted(folder):
    """It has a callback running all the same, as a vendor's may."""
    run = Run(folder, "start", WORK)
    run.check_marks()
    ledger = run.ledger
    assert ledger["filtered"] == run.report["state"] > 0, (run.report, ledger)
    assert ledger["late"] == 0 and ledger["written"] == MARKS, ledger
    assert "not recorded: fake: failed" in run.err and "nothing lost" in run.err, run.err


def what_the_source_told_itself_holds(folder):
    run = Run(folder, "prepare+told", ["mark", "1000"])
    assert run.source()["state"] == "busy", run.source()
    assert run.source()["reason"] == '"somebody else"\nhas it', run.source()


def an_unknown_fault_is_no_test(folder):
    path = os.path.join(folder, "trace.json")
    done = subprocess.run([KYMO, "record", "-t", "fake:fault=nonsense", "-o", path, "--", PROGRAM],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 125 and "no fault is called so: nonsense" in done.stderr, done
    assert not os.path.exists(path)


def in_own_session(folder, fault, *more):
    run = Run(folder, fault, [*WORK, "stop", *more], own_session=True)
    assert run.status == 0, run.err
    run.check_marks()
    return run, int(run.out)


def a_session_of_the_program_records_it_as_well(folder):
    def stop(_factor):
        run, took_ms = in_own_session(folder, "")
        run.check_ledger()
        assert took_ms < STOP_LIMIT_MS, took_ms
    given_time(stop)


def failing_to_end_shows_as_partly(folder):
    for fault in ("stop", "flush"):
        run, _ = in_own_session(folder, fault)
        assert run.source()["state"] == "partly", run.source()
        assert run.source()["reason"], run.source()
        run.check_ledger()


def a_stop_that_takes_its_time_has_it(folder):
    def stop(_factor):
        run, took_ms = in_own_session(folder, "slow")
        run.check_ledger()
        assert run.made("slow") == 1 and took_ms >= STOP_LIMIT_MS / 3, took_ms
        assert run.source()["state"] == "recording", run.source()
    given_time(stop)


def a_stop_that_comes_back_too_late_is_not_waited_for(folder):
    """What it hands in then is late; it is in its operation when the trace is written."""
    def stop(_factor):
        run, took_ms = in_own_session(folder, "hang")
        assert STOP_LIMIT_MS <= took_ms < TWICE_MS, took_ms
        assert run.source()["state"] == "failed", run.source()
        assert "its stop has not returned" in run.source()["reason"], run.source()
        assert run.ledger["written"] == run.report["ok"] + MARKS, (run.report, run.ledger)
    given_time(stop)


def an_end_that_never_returns_is_given_up_and_loses_nothing_of_before(folder):
    def end(fault, _factor):
        run, took_ms = in_own_session(folder, fault + "+stuck")
        assert STOP_LIMIT_MS <= took_ms < TWICE_MS, took_ms
        assert run.source()["state"] == "failed", run.source()
        assert f"its {fault} has not returned" in run.source()["reason"], run.source()
        assert run.ledger["written"] == run.report["ok"] + MARKS, (run.report, run.ledger)
        assert run.made(fault) == 1, run.report

    for fault in ("stop", "flush"):
        given_time(functools.partial(end, fault))


def a_beginning_that_never_returns_leaves_the_source_out(folder):
    """Side by side, since each is waited for ten seconds."""
    def begin(fault):
        own = os.path.join(folder, fault)
        os.mkdir(own)
        return fault, in_own_session(own, fault + "+stuck")[0]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        for fault, run in pool.map(begin, ("create", "prepare", "start")):
            assert run.source()["state"] == "failed", run.source()
            assert f"its {fault} has not returned" in run.source()["reason"], run.source()
            assert run.ledger["written"] == MARKS + run.report["ok"], (run.report, run.ledger)


def a_source_that_hangs_while_it_is_to_rest_is_given_up(folder):
    def pause(_factor):
        run = Run(folder, "pause+stuck", ["mark", "500", "pause", "mark", "9", "resume", "mark",
                                          "500", "stop"], own_session=True)
        run.check_marks()
        assert run.status == 0 and int(run.out) < STOP_LIMIT_MS, run.out
        assert run.source()["state"] == "failed", run.source()
        assert "its set_paused has not returned" in run.source()["reason"], run.source()
    given_time(pause)


def a_window_ends_without_a_source_that_hangs(folder):
    """The marks go on behind it, and are nobody's."""
    def end_in(fault, factor):
        run = Run(folder, fault + "+stuck", ["mark", "500", "work", "100", "7", "sleep",
                                             str(4000 + 2000 * factor), "mark", "9", "exit", "3"],
                  more=["-d", f"{factor}s"])
        run.check_marks(500)
        assert run.status == 3, run.err
        assert run.source()["state"] == "failed", run.source()
        assert f"its {fault} has not returned" in run.source()["reason"], run.source()
        assert f"not recorded: fake, since it failed: its {fault} has not" in run.err, run.err

    for fault in ("stop", "flush"):
        given_time(functools.partial(end_in, fault))


def a_drain_that_never_returns_does_not_keep_the_program_from_its_end(folder):
    before = time.monotonic()
    run = Run(folder, "drain+stuck", [*WORK, "exit", "3"])
    assert time.monotonic() - before >= 2, time.monotonic() - before
    assert run.status == 3, run.err
    run.check_marks()
    assert run.source()["state"] == "failed", run.source()
    assert "its drain at exit has not returned" in run.source()["reason"], run.source()


def a_stop_that_says_again_is_waited_for(folder):
    def stop(_factor):
        run, took_ms = in_own_session(folder, "again")
        run.check_ledger()
        assert 100 <= took_ms < STOP_LIMIT_MS, took_ms
        assert run.source()["state"] == "recording", run.source()
    given_time(stop)


def a_stop_that_never_answers_shows_as_failed(folder):
    def stop(_factor):
        run, took_ms = in_own_session(folder, "never")
        assert STOP_LIMIT_MS - 100 <= took_ms < TWICE_MS, took_ms
        assert run.source()["state"] == "failed", run.source()
    given_time(stop)


def what_comes_after_the_session_is_refused(folder):
    def give_late(factor):
        run, _ = in_own_session(folder, "late", "sleep", str(1000 * factor))
        report, ledger = run.report, run.ledger
        assert report["state"] == run.made("late"), report
        assert ledger["written"] == report["ok"] + MARKS, (report, ledger)
        assert ledger["late"] == report["state"], (report, ledger)
    given_time(give_late)


def a_source_that_never_stops_is_refused_and_counted(folder):
    def go_on(factor):
        run, _ = in_own_session(folder, "restless", "sleep", str(300 * factor))
        report, ledger = run.report, run.ledger
        assert report["state"] > 10 and report["ok"] > 0, report
        assert ledger["written"] == report["ok"] + MARKS, (report, ledger)
        # It went on while the ledger was written.
        assert 10 < ledger["late"] <= report["state"], (report, ledger)
    given_time(go_on)


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
