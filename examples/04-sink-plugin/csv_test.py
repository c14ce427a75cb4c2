#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records a program through the example's sink, beside another one, and reads the table."""
import csv
import os
import subprocess
import sys
import tempfile

KYMO, SINK, MARKS = (os.path.abspath(path) for path in sys.argv[1:4])


def run(place, *words):
    done = subprocess.run([KYMO, *words], cwd=place, capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def main():
    with tempfile.TemporaryDirectory(prefix="kymo-csv-") as place:
        status, said = run(place, "record", "--sink", SINK, "-o", "t.csv", "-o", "t.json",
                           "-o", "t.kymo", "--", MARKS, "mark", "5")
        assert status == 0 and "t.csv, t.json, t.kymo: 5 events" in said, (status, said)
        table = rows(os.path.join(place, "t.csv"))
        assert len(table) == 5, table
        assert all(int(row["duration_ns"]) >= 0 and int(row["pid"]) > 0 for row in table), table
        assert len({row["name"] for row in table}) >= 1 and table[0]["category"], table

        # What is there is kept, and the other output does not suffer.
        status, said = run(place, "export", "t.kymo", "--sink", SINK, "-o", "t.csv", "-o", "u-%n.json")
        assert status == 1 and "t.csv" in said and "u-1.json: 5 events" in said, (status, said)
        assert len(rows(os.path.join(place, "t.csv"))) == 5
        status, said = run(place, "export", "t.kymo", "-f", "--sink", SINK, "-o", "CSV://t.csv")
        assert status == 0, said
        left = sorted(os.listdir(place))
        assert left == ["t.csv", "t.json", "t.kymo", "u-1.json"], left

        # As it is configured for a whole job.
        os.environ["KYMO_SINKS"] = SINK
        status, said = run(place, "record", "-o", "w-%n.csv", "--", MARKS, "mark", "2")
        assert status == 0 and "w-1.csv: 2 events" in said, (status, said)

        # By nobody loaded, it is not known, and those that are are named.
        status, said = run(place, "export", "t.kymo", "-o", "v.csv")
        assert status == 1 and 'nothing can write "v.csv"; known are: .json' in said, said
        status, said = run(place, "export", "t.kymo", "--sink", KYMO, "-o", "v.csv")
        assert status == 1 and "not a plug-in" in said or "cannot use" in said, said

        # Who asks of it is told; to record, there is nothing in it.
        status, said = run(place, "doctor", SINK)
        assert status == 0 and said.startswith("sinks\n  csv        ok       .csv\n"), said
        status, said = run(place, "record", "-t", SINK, "-o", "x.json", "--", "touch", "ran")
        assert status == 125 and f"the plug-in {SINK} has no source" in said, said
        assert not os.path.exists(os.path.join(place, "ran"))
    print("ok")


if __name__ == "__main__":
    main()
