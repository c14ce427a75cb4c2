#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What recording adds to an OpenCL launch: pairs of runs of bench/opencl_launch.c, plain and
under kymo record, in turn. Prints one JSON line: medians in microseconds per launch, and of what
each recorded run takes to what the plain one before it took."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ["KYMO_BUILD"]
PROGRAM = os.path.join(BUILD, "bench", "opencl_launch")
PAIRS = 2 if os.environ.get("KYMO_BENCH_QUICK") else 7


def run(*front):
    done = subprocess.run([*front, PROGRAM], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"skip: no OpenCL device here: {done.stderr.strip()}")
        sys.exit(77)
    return float(done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-bench-") as folder:
        record = [os.path.join(BUILD, "kymo"), "record", "-f", "-o",
                  os.path.join(folder, "trace.json.gz"), "--"]
        run()  # the driver's kernel cache
        pairs = [(run(), run(*record)) for _ in range(PAIRS)]
    ratio = statistics.median(recorded / plain for plain, recorded in pairs)
    print(json.dumps({
        "bench": "opencl_launch",
        "plain_us": round(statistics.median(plain for plain, _ in pairs), 3),
        "recorded_us": round(statistics.median(recorded for _, recorded in pairs), 3),
        "added_us": round(statistics.median(recorded - plain for plain, recorded in pairs), 3),
        "ratio": round(ratio, 2),
        "pairs": PAIRS,
    }))


if __name__ == "__main__":
    main()
