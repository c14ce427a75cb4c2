#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What recording adds to short parallel regions of one thread, and of two: runs of
bench/ompt_program.c with no tool, with a tool that does nothing, and under kymo record, in turn.
Prints a JSON line for each: medians in microseconds a region, and of what each recorded run takes to
what the plain one before it took."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ["KYMO_BUILD"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ompt_program.c")
NULL_TOOL = os.path.join(BUILD, "bench", "ompt_null.so")
ROUNDS = 2 if os.environ.get("KYMO_BENCH_QUICK") else 7


def run(command, **variables):
    return float(subprocess.run(command, capture_output=True, text=True, check=True,
                                env=dict(os.environ, **variables)).stdout)


def measure(threads, program, record):
    command = [program, str(threads)]
    rows = [(run(command), run(command, OMP_TOOL_LIBRARIES=NULL_TOOL), run([*record, *command]))
            for _ in range(ROUNDS)]
    plain, null, recorded = (statistics.median(column) for column in zip(*rows))
    print(json.dumps({
        "bench": "ompt_program",
        "threads": threads,
        "plain_us": round(plain, 3),
        "null_tool_us": round(null, 3),
        "recorded_us": round(recorded, 3),
        "added_us": round(statistics.median(row[2] - row[0] for row in rows), 3),
        "ratio": round(statistics.median(row[2] / row[0] for row in rows), 2),
        "rounds": ROUNDS,
    }))


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-bench-") as folder:
        program = os.path.join(folder, "program")
        built = subprocess.run(["clang", "-O2", "-fopenmp", SOURCE, "-o", program],
                               capture_output=True, text=True, check=False)
        if built.returncode:
            print(f"skip: clang -fopenmp does not work here: {built.stderr.strip()}")
            sys.exit(77)
        record = [os.path.join(BUILD, "kymo"), "record", "-f", "-t", "openmp", "-o",
                  os.path.join(folder, "trace.json"), "--"]
        for threads in 1, 2:
            measure(threads, program, record)


if __name__ == "__main__":
    main()
