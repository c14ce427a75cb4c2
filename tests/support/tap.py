# SPDX-License-Identifier: BSD-3-Clause
"""Runs the functions of a test that are called test_..., and prints TAP."""
import os
import sys
import tempfile


def main(names):
    """`names` are the test's globals(). Each runs in an empty folder; a word of argv picks some."""
    tests = [(name, test) for name, test in names.items()
             if name.startswith("test_") and (not sys.argv[1:] or sys.argv[1] in name)]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        words = name[len("test_"):].replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="kymo-test-") as folder:
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
