# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of kymo check share: running it, making small traces, and TAP."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
CASES = os.path.join(os.environ["KYMO_SOURCE"], "tests", "cli", "cases")


def run(*arguments, timeout=60):
    done = subprocess.run([KYMO, "check", *arguments], capture_output=True, timeout=timeout)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(path, *arguments, status=None):
    """The findings by id."""
    got, out, err = run("--json", path, *arguments)
    assert got in (0, 1) and err == "", (got, err)
    found = json.loads(out)
    assert found["clean"] == (got == 0)
    assert status is None or got == status, out
    return {finding["id"]: finding for finding in found["findings"]}


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
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


def arrow(phase, ts, tid=1, id=1, **more):
    bound = {"bp": "e"} if phase == "f" else {}
    return {"ph": phase, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": tid, "ts": ts, "id": id,
            **bound, **more}


def is_sanitized():
    with open(KYMO, "rb") as f:
        data = f.read()
    return b"__tsan_init" in data or b"__asan_init" in data


def main(names):
    tests = [(name, test) for name, test in names.items()
             if name.startswith("test_") and (not sys.argv[1:] or sys.argv[1] in name)]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        words = name[len("test_"):].replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="kymo-check-") as folder:
            os.chdir(folder)
            try:
                test()
                print(f"ok {number} - {words}", flush=True)
            except Exception as error:  # each case reports, whatever happened in it
                failed += 1
                print(f"not ok {number} - {words}\n# {type(error).__name__}: {str(error)[:2000]}",
                      flush=True)
            os.chdir("/")
    sys.exit(failed > 0)
