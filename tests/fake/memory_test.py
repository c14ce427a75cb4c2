#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of an export does not grow with the number of records, also where each thread
has a span that lasts as long as the run. Prints TAP. KYMO_LONG=1: 1 and 10 million."""
import os
import re
import subprocess
import sys
import tempfile

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
CROWD = os.environ["CROWD"]
MILLIONS = (1, 10) if os.environ.get("KYMO_LONG") else (1, 3)
GROWTH_KIB = 8 << 10


def peak_kib(command):
    """Runs it; the peak of its memory and what it said."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return usage.ru_maxrss, said


def measure(folder, millions):
    capture = os.path.join(folder, "t.kymo")
    trace = os.path.join(folder, "t.json")
    done = subprocess.run([KYMO, "record", "-f", "--buffer", "512M", "-t", "fake", "-o", capture,
                           "--", CROWD, str(millions * 500000)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    peak, said = peak_kib([KYMO, "export", capture, "-f", "-o", trace])
    events = int(re.search(r"([\d,]+) events", said).group(1).replace(",", ""))
    assert events > millions * 900000, f"most were lost: {said}"
    return peak


def main():
    print("1..1")
    with tempfile.TemporaryDirectory(prefix="kymo-memory-") as folder:
        small, large = (measure(folder, millions) for millions in MILLIONS)
    print(f"# {small} KiB for {MILLIONS[0]} million records, {large} KiB for {MILLIONS[1]}")
    good = large - small < GROWTH_KIB
    print(("ok" if good else "not ok") + " 1 memory does not grow with the number of records")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
