#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who is who in a recording: several copies and versions of libkymo in one program, one plug-in
that comes several times, images that exec puts in place of others, namespaces. Prints TAP."""
import collections
import json
import os
import re
import shutil
import subprocess

from record_test import BUILD, INJECTED, PROGRAMS, Skip, check, main, need_forks_of_threads

LIBRARY = os.path.join(BUILD, "libkymo.so")
OTHER_MAJOR = os.path.join(PROGRAMS, "kymo_other_major.so")
OTHER_MINOR = os.path.join(PROGRAMS, "kymo_other_minor.so")
STATIC = os.path.join(PROGRAMS, "marks_static")


def copy_of(place, path):
    """A file that the loader takes for another library."""
    to = place.file("copy-" + os.path.basename(path))
    shutil.copy(os.path.realpath(path), to)
    return to


class Trace:
    """Spans by process and name, in the order of the processes' pids; sources by name."""

    def __init__(self, place, name="t.json"):
        with open(place.file(name), encoding="utf-8") as f:
            trace = json.load(f)
        spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        pids = sorted({e["pid"] for e in spans})
        counts = collections.Counter((e["pid"], e["name"]) for e in spans)
        self.spans = [{n: c for (p, n), c in counts.items() if p == pid} for pid in pids]
        self.threads = {(e["pid"], e["tid"]) for e in spans}
        self.written = collections.Counter()
        for source in trace["kymo"]["sources"]:
            self.written[source["name"]] += source["written"]
        self.processes = trace["kymo"]["processes"]


def record(place, *arguments, **more):
    """Records to JSON and reads it."""
    result = place.record("-f", *arguments, output="t.json", **more)
    check(result, 0)
    return result, Trace(place)


# ---- Copies ----

def a_second_copy_of_the_library_records_beside_the_first(place):
    copy = copy_of(place, LIBRARY)
    for how in ("load", "apart"):
        result, trace = record(place, ["mark", "3", how, copy, "there", "4", "mark", "2"])
        assert trace.spans == [{"span": 5, "there": 4}], (how, trace.spans)
        assert len(trace.threads) == 1, "one thread is several"
        check(result, says="9 events, .*nothing lost$")


def a_forked_child_goes_on_with_both_copies(place):
    copy = copy_of(place, LIBRARY)
    for how in ("load", "apart"):
        for first in (["mark", "3"], ["there", "4"]):
            _, trace = record(place, [how, copy, *first, "fork", "there", "2", "mark", "1"])
            assert {"span": 1, "there": 2} in trace.spans and len(trace.spans) == 2, trace.spans


def the_first_copy_is_not_taken_for_the_second(place):
    """Neither by names: each copy numbers them by itself; nor where the second comes first."""
    copy = copy_of(place, LIBRARY)
    _, trace = record(place, ["load", copy, "there", "4", "mark", "2", "there", "1"])
    assert trace.spans == [{"span": 2, "there": 5}], trace.spans


def a_copy_within_the_program_records_beside_that_of_a_plugin(place):
    result, trace = record(place, "-t", INJECTED,
                           ["mark", "3", "load", INJECTED, "work", "4", "fork", "mark", "1",
                            "work", "2"], program=STATIC)
    assert trace.spans == [{"span": 3, "kernel": 4}, {"span": 1, "kernel": 2}], trace.spans
    check(result, says="10 events, 6 kernels in 2 processes, .*nothing lost$")


def a_copy_of_another_version_is_recorded_if_it_speaks_the_same(place):
    result, trace = record(place, ["mark", "3", "load", OTHER_MINOR, "there", "4"])
    assert trace.spans == [{"span": 3, "there": 4}], trace.spans
    check(result, says="nothing lost$")


def a_copy_that_speaks_another_protocol_is_refused_and_its_process_named(place):
    for how in ("load", "apart"):
        result, trace = record(place, ["mark", "3", how, OTHER_MAJOR, "there", "4", "mark", "2"])
        assert trace.spans == [{"span": 5}], trace.spans
        pid = trace.processes[0]["pid"]
        assert re.search(rf"process {pid} \(marks\) was not recorded: the other side speaks "
                         r"attach protocol 9\.0, this one 1\.0$", result.last), result


# ---- Plug-ins ----

def a_plugin_that_is_loaded_twice_attaches_once(place):
    result, trace = record(place, "-t", INJECTED,
                           ["load", INJECTED, "work", "4", "load", INJECTED, "work", "3"])
    assert trace.written == {"injected": 7}, trace.written
    check(result, says="7 events, 7 kernels, .*nothing lost$")


def a_second_copy_of_a_plugin_is_a_source_of_its_own(place):
    copy = copy_of(place, INJECTED)
    _, trace = record(place, "-t", INJECTED,
                      ["load", INJECTED, "work", "4", "load", copy, "work", "3", "fork", "work",
                       "2"])
    assert trace.written == {"injected": 4, "injected#2": 5}, trace.written
    assert trace.spans == [{"kernel": 7}, {"kernel": 2}], trace.spans


def a_plugin_that_two_namespaces_load_records_in_both(place):
    _, trace = record(place, "-t", INJECTED,
                      ["load", INJECTED, "work", "4", "apart", INJECTED, "work", "3"])
    assert trace.spans == [{"kernel": 7}], trace.spans
    assert sum(trace.written.values()) == 7, trace.written


# ---- Images ----

def what_was_recorded_before_and_after_exec_is_one_process(place):
    result, trace = record(place, "-t", "app," + INJECTED,
                           ["mark", "3", "load", INJECTED, "work", "4", "exec", "mark", "2",
                            "load", INJECTED, "work", "1", "exec", "exec", "mark", "1"])
    assert trace.spans == [{"span": 6, "kernel": 5}], trace.spans
    assert len(trace.processes) == 1, trace.processes
    check(result, says="11 events, 5 kernels, .*nothing lost$")


def exec_in_the_midst_of_other_threads_loses_nothing(place):
    need_forks_of_threads()
    _, trace = record(place, ["thread", "8", "fork", "thread", "8", "exec", "thread", "8"])
    assert trace.spans == [{"span": 800}, {"span": 1600}], trace.spans


# ---- Namespaces ----

def unshare(*options):
    command = ["unshare", "-p", "-f", "-m", *options]
    if subprocess.run(command + ["true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no namespaces of one's own here")
    return " ".join(command)


def processes_of_two_pid_namespaces_are_told_apart(place):
    """Each has a process 1 that forks a process 2; they begin at about the same time."""
    for options in ([], ["--mount-proc"]):
        apart = unshare(*options)
        script = "".join(f'{apart} "$0" mark {n} fork mark {10 * n} & ' for n in (1, 2, 3, 4))
        result = place.finish(place.run_shell(script + "wait", "-f", output="t.json"))
        check(result, 0, 110, says="in 8 processes")
        trace = Trace(place)
        assert sorted(s["span"] for s in trace.spans) == [1, 2, 3, 4, 10, 20, 30, 40], trace.spans
        assert [p["pid"] for p in trace.processes].count(1) == 4, trace.processes
        assert len({p["pid in trace"] for p in trace.processes}) == 8, trace.processes
    place.check_tidy()


if __name__ == "__main__":
    main(globals())
