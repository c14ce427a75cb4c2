# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases of a test, which are functions, and prints TAP."""
import inspect
import os
import sys
import tempfile
import traceback


class Skip(Exception):
    """A case cannot be run here; says why."""


def given_time(part):
    """
    Calls `part` of a case with how many times as long it may take as on an idle machine. For what
    cannot be waited for: that something is over before a time is.
    """
    for factor in (1, 2):
        try:
            return part(factor)
        except AssertionError:
            pass
    return part(5)


def cases_of(names, argument):
    """The functions of a test, whose globals() are `names`, that take this argument alone."""
    return [value for value in names.values()
            if inspect.isfunction(value) and value.__module__ == names["__name__"]
            and [name.lstrip("_") for name in inspect.signature(value).parameters] == [argument]]


def in_folder(case):
    """What a case has left running may still write when the folder is removed."""
    with tempfile.TemporaryDirectory(prefix="kymo-test-", ignore_cleanup_errors=True) as folder:
        case(folder)


def run_cases(cases, call=in_folder):
    """Ends the program; a word of argv picks the cases that have it in their names. `call` gives a
    case what it needs, and takes it away after it."""
    cases = [case for case in cases if not sys.argv[1:] or sys.argv[1] in case.__name__]
    if not cases:
        sys.exit("there is no such case")
    failed = 0
    print(f"1..{len(cases)}", flush=True)
    for number, case in enumerate(cases, 1):
        point = f"{number} - {case.__name__.removeprefix('test_')}"
        try:
            call(case)
            print(f"ok {point}", flush=True)
        except Skip as why:
            print(f"ok {point} # SKIP {why}", flush=True)
        except Exception:  # each case reports, whatever happened in it
            failed += 1
            print("# " + traceback.format_exc().strip()[:8000].replace("\n", "\n# "))
            print(f"not ok {point}", flush=True)
    sys.exit(failed > 0)


def in_folder_entered(case):
    """A case that takes no argument works where it is."""
    def enter(folder):
        os.chdir(folder)
        try:
            case()
        finally:
            os.chdir("/")
    in_folder(enter)


def main(names):
    """`names` are the test's globals(): runs the functions that are called test_..."""
    run_cases([value for name, value in names.items() if name.startswith("test_")], in_folder_entered)
