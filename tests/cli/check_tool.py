# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of kymo check share: running it, making small traces, and TAP."""
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
CASES = os.path.join(os.environ["KYMO_SOURCE"], "tests", "cli", "cases")


def run(*arguments, timeout=60):
    done = subprocess.run([KYMO, "check", *arguments], capture_output=True, timeout=timeout)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(path, *arguments, status=None, minor=False):
    """The findings by id; without those that matter to a reader only that is asked for."""
    got, out, err = run("--json", path, *arguments)
    assert got in (0, 1) and err == "", (got, err)
    found = json.loads(out)
    assert found["clean"] == (got == 0)
    assert status is None or got == status, out
    return {finding["id"]: finding for finding in found["findings"]
            if minor or finding["severity"] != "minor"}


def put(name, data):
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps({"traceEvents": data})).encode()
    with open(name, "wb") as f:
        f.write(data)
    return name


def get(name):
    with open(name, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def span(name="k", ts=10, dur=5, **more):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
            "args": {"a": 1}, **more}


def arrow(phase, ts, tid=1, id=1, **more):
    bound = {"bp": "e"} if phase == "f" else {}
    return {"ph": phase, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": tid, "ts": ts, "id": id,
            **bound, **more}


def is_sanitized():
    with open(KYMO, "rb") as f:
        data = f.read()
    return b"__tsan_init" in data or b"__asan_init" in data
