#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one row may hold, from a program's marks to the trace: spans that are nested or disjoint,
in order, at most 512 deep; what is not goes to lanes of its own. Prints TAP."""
import collections
import ctypes
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import cases_of, run_cases
from trace import Trace, ns

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
LIBRARY = os.path.join(BUILD, "libkymo.so.0")
DEPTH, DEEP = 512, 1300  # what a row may hold; how deep the program nests
LANES = (1 << 30) + (1 << 24)


# ---- The program that is recorded: this script, with marks ----

def mark(what):
    library = ctypes.CDLL(LIBRARY)
    library.kymo_mark_ticks.restype = ctypes.c_uint64
    library.kymo_mark_record.argtypes = [ctypes.c_uint64, ctypes.c_uint32]

    def record(begin, name):
        library.kymo_mark_record(begin, library.kymo_mark_intern(name, len(name)))

    begins = [library.kymo_mark_ticks() for _ in range(DEEP if what == "deep" else 4)]
    if what == "equal":
        begins = begins[:1] * 4
    order = reversed(begins) if what == "deep" else begins
    for number, begin in enumerate(order):
        record(begin, b"%d" % number)


if sys.argv[1:2] == ["mark"]:
    mark(sys.argv[2])
    sys.exit()


def record(folder, what):
    path = os.path.join(folder, what + ".json")
    subprocess.run([KYMO, "record", "-o", path, "--", sys.executable, os.path.abspath(__file__),
                    "mark", what], check=True, capture_output=True, timeout=60)
    return Trace(path)  # which refuses what is out of order or overlaps on its row


def rows(trace):
    found = collections.defaultdict(list)
    for span in trace.spans:
        found[span["tid"]].append(span)
    return found


def depth(spans):
    ends, deepest = [], 0
    for span in spans:
        begin = ns(span["ts"])
        while ends and ends[-1] <= begin:
            ends.pop()
        ends.append(begin + ns(span["dur"]))
        deepest = max(deepest, len(ends))
    return deepest


# ---- Cases ----

def overlaps_go_to_lanes_of_their_own(folder):
    trace = record(folder, "overlapping")
    found = rows(trace)
    assert len(trace.spans) == 4 and len(found) == 4, found
    assert sorted(tid >= LANES for tid in found) == [False, True, True, True], list(found)
    names = [e["args"]["name"] for e in trace.events if e["name"] == "thread_name"]
    assert sorted("(lane" in name for name in names) == [False, True, True, True], names


def spans_that_begin_together_are_written_longest_first(folder):
    trace = record(folder, "equal")
    assert [span["name"] for span in trace.spans] == ["3", "2", "1", "0"]
    assert len(rows(trace)) == 1


def what_is_deeper_than_512_goes_to_further_lanes(folder):
    trace = record(folder, "deep")
    found = rows(trace)
    assert len(trace.spans) == DEEP
    assert max(depth(spans) for spans in found.values()) == DEPTH
    assert len(found) == -(-DEEP // DEPTH), {tid: len(spans) for tid, spans in found.items()}


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
