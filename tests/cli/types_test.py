#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo types, and the lists of types that kymo record takes or refuses. Prints TAP."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
TYPED = os.path.join(os.environ["KYMO_BUILD"], "tests", "cli", "typed")
MARKS = os.path.join(os.environ["KYMO_BUILD"], "tests", "cli", "marks")

# Numbers and names that traces have had from the beginning, and must keep.
NAMES = """cpu_op user_annotation gpu_user_annotation gpu_memcpy gpu_memset kernel
    external_correlation runtime driver cpu_instant_event python_function overhead mtia_runtime
    mtia_ccp_events mtia_insight cuda_sync cuda_event mtia_counters glow_runtime
    cuda_profiler_range hpu_op xpu_runtime xpu_driver collective_comm privateuse1_runtime
    privateuse1_driver xpu_scope_profiler xpu_sync gpu_pm_counter""".split()


def run(*arguments):
    done = subprocess.run([KYMO, *arguments], capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def record(types, *words):
    status, _, err = run("record", "-f", "-t", "app", "--types", types, "-o", "t.json", "--", MARKS,
                         *words)
    ledger = None
    if status == 0:
        with open("t.json", encoding="utf-8") as file:
            ledger = json.load(file)["kymo"]["ledger"]
    return status, err, ledger


def test_static_types_and_aliases_are_listed_with_their_numbers():
    status, out, err = run("types", "--json")
    assert status == 0 and err == "", err
    found = json.loads(out)
    assert [entry["name"] for entry in found["static"]] == NAMES
    assert [entry["number"] for entry in found["static"]] == list(range(29))
    default = [e["number"] for e in found["static"] if e["default"] and "stands_for" not in e]
    assert default == [*range(12), 14, 15, 16], default
    assert found["aliases"]["cuda_runtime"] == 7 and found["aliases"]["concurrent_kernel"] == 5
    assert found["static"][17]["stands_for"] == 28


def test_the_list_fits_a_terminal():
    status, out, err = run("types")
    assert status == 0 and err == "", err
    assert not [line for line in out.splitlines() if len(line) > 80], out
    lines = [line.split() for line in out.splitlines()]
    assert ["28", "gpu_pm_counter", "when", "named"] in lines
    assert ["12", "mtia_runtime", "runtime"] in lines and ["cuda_runtime", "runtime"] in lines


def test_a_plugin_that_is_named_is_shown_alone_with_its_options():
    status, out, err = run("types", "fake", "opencl")
    assert status == 0 and err == "", err
    assert out.startswith("Source fake, recorded when named by -t:\n") and "cpu_op" not in out, out
    options = out.partition("\nOptions of kymo record -t fake:OPTION=VALUE, with their defaults:\n\n")[2]
    assert "\n  bits=64               after how many bits it wraps\n" in options, out
    assert "  report=               file for its own counts; the pid is appended\n\nSource opencl" in options, out
    found = {o["name"]: o for o in json.loads(run("types", "--json", "fake")[1])["sources"][0]["options"]}
    assert found["bits"] == {"name": "bits", "default": "64", "help": "after how many bits it wraps"}, found


def test_a_plugin_that_is_not_there_is_an_error():
    status, out, err = run("types", "no-such-plugin")
    assert status == 1 and out == "" and err.count("\n") == 1 and "no-such-plugin" in err, err
    status, out, err = run("types", "--jsno")
    assert status == 2 and out == "", err


def test_marks_of_other_types_than_wanted_are_not_called_none():
    status, err, _ = record("kernel", "mark", "3")
    assert status == 0 and "the program made no mark of the types that are wanted, and" in err, err


def test_marks_that_are_not_wanted_are_counted_as_filtered():
    status, err, ledger = record("kernel", "mark", "20", "instants", "3")
    assert status == 0, err
    assert (ledger["offered"], ledger["filtered"], ledger["written"]) == (23, 23, 0), ledger
    status, err, ledger = record("kernel,app:USER_ANNOTATION", "mark", "20", "thread", "2")
    assert status == 0 and ledger["filtered"] == 0 and ledger["written"] == 220, (err, ledger)
    status, err, ledger = record("-user_annotation", "fork", "mark", "5")
    assert status == 0 and ledger["filtered"] == 5, (err, ledger)


def test_types_that_a_recorded_program_registers_are_recorded_by_its_list():
    for types, expected in ((None, {"user_annotation": 1, "a.x": 11}),
                            ("app:x", {"a.x": 11}),
                            ("app:b.y,app:user_annotation", {"user_annotation": 1, "b.y": 11}),
                            ("app:all", {"user_annotation": 1, "a.x": 11, "b.y": 11}),
                            ("app:-a.*", {"user_annotation": 1}), ("kernel", {})):
        arguments = ["--types", types] if types else []
        status, out, err = run("record", "-f", "-t", "app", *arguments, "-o", "t.json", "--",
                               TYPED, "a.x", "!b.y")
        assert status == 0, err
        with open("t.json", encoding="utf-8") as file:
            trace = json.load(file)
        found = {}
        for event in trace["traceEvents"]:
            if event["ph"] in "Xi" and event["cat"] not in ("kymo", "Trace"):
                found[event["cat"]] = found.get(event["cat"], 0) + 1
        assert found == expected, (types, found)
        ledger = trace["kymo"]["ledger"]
        assert ledger["offered"] == 23 and ledger["written"] == sum(expected.values()), ledger
        assert ledger["filtered"] == 23 - ledger["written"], ledger
        numbers = {t["full name"]: t["number"] for t in trace["kymo"]["activity types"]}
        assert out.split() == [str(numbers["a.x"]), str(numbers["b.y"])], (out, numbers)


def test_numbers_name_types_as_well():
    status, err, ledger = record("1,5", "mark", "20")
    assert status == 0 and ledger["written"] == 20 and "deprecated" not in err, (err, ledger)
    status, err, ledger = record("13", "mark", "20")
    assert status == 0 and ledger["filtered"] == 20, (err, ledger)
    assert '"mtia_ccp_events" is deprecated: use "kernel"' in err, err
    status, out, err = run("record", "-f", "-t", "app", "--types", "app:a.x", "-o", "t.json", "--",
                           TYPED, "a.x")
    assert status == 0, err
    status, _, err = run("record", "-f", "-t", "app", "--types", f"app:{out.strip()}", "-o",
                         "t.json", "--", TYPED, "a.x", "b.y")
    with open("t.json", encoding="utf-8") as file:
        ledger = json.load(file)["kymo"]["ledger"]
    assert status == 0 and ledger["written"] == 11 and ledger["filtered"] == 12, (err, ledger)


def test_a_list_of_hundreds_of_names_is_taken_whole():
    names = [f"app:plugin-of-a-vendor.a_type_of_theirs_{i:03}" for i in range(350)]
    types = ",".join([*names, "app:b.y"])
    assert len(types) > 14000, len(types)
    status, _, err = run("record", "-f", "-t", "app", "--types", types, "-o", "t.json", "--",
                         TYPED, "a.x", "b.y")
    assert status == 0, err
    with open("t.json", encoding="utf-8") as file:
        trace = json.load(file)
    assert {e["cat"] for e in trace["traceEvents"] if e["ph"] == "X"} == {"b.y"}
    assert trace["kymo"]["ledger"]["written"] == 11, trace["kymo"]["ledger"]


def test_a_deprecated_name_is_told_once():
    status, err, _ = record("cuda_runtime,CUDA_RUNTIME,user_annotation", "mark", "1")
    assert status == 0 and err.count("deprecated") == 1, err
    assert '"cuda_runtime" is deprecated: use "runtime"' in err, err


def test_a_bad_list_is_refused_before_the_program_starts():
    for types, words in (
            ("kernle", "Unknown or non-member activity type name: 'kernle' (did you mean "
                       "\"kernel\"?)"),
            ("nobody:kernel", 'no source "nobody" is to be recorded: there are "app"'),
            ("a b", 'Invalid activity type: "a b"'),
            ("", None), ("ap:all", '(did you mean "app"?)'),
            ("nobody.*", "'nobody.*': no such plug-in"),
            ("40", "'40'"), ("99999", "see kymo types"),
            (",".join(["kernel"] * 4000), "too many activity types")):
        status, err, _ = record(types, "ready", "started")
        if words is None:
            assert status == 0 and os.path.exists("started")
            os.remove("started")
            continue
        assert status == 125 and words in err and err.count("\n") == 1, err
        assert not os.path.exists("started") and not os.path.exists(".t.json")


def test_a_type_of_a_source_that_has_to_be_named_is_refused_without_its_name():
    command = ["record", "-f", "--types", "default,fake.load", "-o", "t.json"]
    status, _, err = run(*command, "--", "touch", "started")
    assert status == 125 and not os.path.exists("started"), err
    assert 'nothing of the plug-in "fake" is to be recorded: name it by -t' in err, err
    # A program of this build: a source with a sanitizer cannot be loaded into others.
    assert run(*command, "-t", "fake", "--", KYMO, "--version")[0] == 0


if __name__ == "__main__":
    main(globals())
