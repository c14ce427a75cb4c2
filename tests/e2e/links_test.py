#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links and annotations of a framework around a real device's work, under kymo record. Prints TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace import Trace

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
LINKED = os.path.join(os.environ["KYMO_BUILD"], "tests", "e2e", "linked")


def spans(trace, category):
    return [e for e in trace.spans if e["cat"] == category]


def row(event):
    return event["pid"], event["tid"]


def covers(outer, inner):
    return row(outer) == row(inner) and outer["ts"] <= inner["ts"] and \
        inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.001


def check(trace):
    kernels, shown = trace.kernels, spans(trace, "gpu_user_annotation")
    assert len(kernels) == 9, kernels
    # On both queues, though another thread launched what is on the second; not over what is no part of it.
    assert [e["name"] for e in shown] == ["step"] * 2 and len({row(e) for e in shown}) == 2, shown
    within = [k for k in kernels if any(covers(s, k) for s in shown)]
    assert sorted([row(k) for k in within].count(r) for r in {row(k) for k in within}) == [3, 4], within
    ops = {e["name"]: e for e in spans(trace, "cpu_op")}
    assert set(ops) == {"aten::mm", "handed on", "MmBackward0"}, ops
    names = [start["name"] for start, _ in trace.arrows]
    counts = {name: names.count(name) for name in set(names)}
    assert counts == {"ac2g": 9, "op": 9, "user": 7, "fwdbwd": 1}, counts
    start, finish = next(a for a in trace.arrows if a[0]["name"] == "fwdbwd")
    assert (row(start), row(finish)) == (row(ops["aten::mm"]), row(ops["MmBackward0"])), (start, finish)
    assert trace.ledger["arrows_twice"] == 2 and trace.ledger["projected"] == 2, trace.ledger


def main():
    print("1..1")
    with tempfile.TemporaryDirectory(prefix="kymo-links-") as folder:
        path = os.path.join(folder, "t.json")
        done = subprocess.run([KYMO, "record", "-t", "opencl", "-o", path, "--", LINKED], capture_output=True,
                              text=True, timeout=120, check=False)
        if done.returncode == 77:
            print(done.stdout, end="")
            sys.exit(77)
        assert done.returncode == 0, done
        try:
            check(Trace(path))
        except Exception:
            print("not ok 1 - annotations and operations are linked to what was launched in them")
            print(json.dumps(json.load(open(path, encoding="utf-8"))["kymo"]["ledger"]))
            raise
    print("ok 1 - annotations and operations are linked to what was launched in them")


if __name__ == "__main__":
    main()
