#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plug-ins from outside that are bad, as `kymo doctor` and `kymo record` see them: each is told
with its reason, none does harm. Prints TAP; `outside_test.py WORD` runs the cases whose names
have the word."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import cases_of, run_cases

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PLUGINS = os.environ["KYMO_TEST_PLUGINS"]
LIMIT_S = 60


def plugin(name):
    return os.path.join(PLUGINS, f"bad_{name}.so")


def run(*words, kymo=KYMO, cwd=None):
    # The library is the one beside the command, whatever the build system says.
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    return subprocess.run([kymo, *words], capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, check=False, env=environment, cwd=cwd)


def doctor(*names):
    """What doctor says of plug-ins, as people and as programs get it; both must agree."""
    paths = [n if n.startswith("/") else plugin(n) for n in names]
    told, text = run("doctor", "--json", *paths), run("doctor", *paths)
    assert told.stderr == text.stderr == "", told.stderr + text.stderr
    sources = json.loads(told.stdout)["sources"]
    assert told.returncode == text.returncode
    assert told.returncode == (0 if any(s["state"] in ("usable", "partly") for s in sources) else 1)
    assert len(sources) == len(names), told.stdout
    for source in sources:
        assert source["state"] in text.stdout
        # Of itself it says what helps; of what is broken we do.
        assert source["state"] != "failed" or source["remedy"], source
        for key in ("name", "what", "why", "remedy"):
            assert source.get(key, "") in text.stdout, (source, text.stdout)
    return sources if len(names) > 1 else sources[0]


def record(folder, name, *options):
    """Records nothing, with a plug-in that is named; the program leaves a file if it runs."""
    ran = os.path.join(folder, "ran")
    path = name if name.startswith("/") else plugin(name)
    result = run("record", "-f", "-t", path, *options, "-o", os.path.join(folder, "t.json"),
                 "--", "touch", ran)
    has_run = os.path.exists(ran)
    if has_run:
        os.remove(ran)
    return result, has_run


def check_refused(folder, name, says):
    """Doctor tells it, and record refuses it before the program is started, in the same words."""
    source = doctor(name)
    assert source["state"] == "failed" and "name" not in source, source
    assert says in source["why"] and name in source["why"], source
    result, has_run = record(folder, name)
    assert result.returncode == 125 and not has_run, result
    assert result.stderr.count("\n") == 1 and says in result.stderr, result.stderr


# ---- Files that cannot be used ----

def what_is_not_for_this_kymo_is_refused_with_both_numbers(folder):
    for name, says in (
            ("no_entry", "does not export kymo_plugin_entry_v1"),
            ("newer_entry", "built for plug-in ABI 2, this Kymo has 1.0"),
            ("other_major", "built for plug-in ABI 7.3, this Kymo has 1.0"),
            ("no_table", "the entry gave no table"),
            ("no_stop", 'the operation "stop" is missing'),
            ("bad_name", 'the name "bad name"'),
            ("missing_symbol", "undefined symbol: bad_symbol_of_nobody"),
            ("short_plugin", "struct_size is 16, but kymo_plugin has at least 48 bytes"),
            ("short_source", "struct_size is 24, but kymo_source_desc has at least 80 bytes"),
            ("short_type", "struct_size is 8, but kymo_type_desc has at least 40 bytes")):
        check_refused(folder, name, says)


def what_is_no_object_of_this_machine_is_refused(folder):
    with open(plugin("nothing"), "rb") as f:
        good = f.read()

    def variant(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path
    other = good[:18] + bytes([243, 0]) + good[20:]  # RISC-V
    check_refused(folder, variant("other.so", other), "built for another kind of machine: 64-bit, "
                  "number 243, where this one is 64-bit, number ")
    narrow = good[:4] + b"\1" + good[5:18] + b"\3\0" + good[20:]
    check_refused(folder, variant("narrow.so", narrow), "32-bit, number 3, where")
    check_refused(folder, variant("head.so", good[:12]), "it is cut off after 12 bytes")
    check_refused(folder, variant("half.so", good[:600]), "half.so")
    check_refused(folder, variant("text.so", b"#!/bin/sh\n"), "it is no shared object")
    check_refused(folder, os.path.join(folder, "none.so"), "No such file")


def a_path_that_is_not_absolute_begins_in_the_working_directory(folder):
    source, trace = os.path.join(BUILD, "plugins", "source"), os.path.join(folder, "relative.json")
    for path, cwd in (("./fake.so", source), ("source/fake.so", os.path.dirname(source))):
        told = run("doctor", path, cwd=cwd)
        assert told.returncode == 0 and told.stdout.startswith("sources\n  fake"), told
        told = run("types", path, cwd=cwd)
        assert told.returncode == 0 and "Source fake" in told.stdout, told
        # A program of this build: a source with a sanitizer cannot be loaded into others.
        told = run("record", "-f", "-t", path + ":seed=1", "-o", trace, "--", KYMO, "--version",
                   cwd=cwd)
        assert told.returncode == 0, told
    told = run("record", "-t", "./none.so", "-o", trace, "--", "true", cwd=folder)
    assert told.returncode == 125, told
    assert f"cannot use the plug-in {folder}/none.so: cannot find it" in told.stderr, told.stderr


def of_a_file_that_is_not_there_nobody_is_told_to_take_it_away(folder):
    source = doctor(os.path.join(folder, "none.so"))
    assert "cannot find it" in source["why"], source
    assert source["remedy"].startswith("name a file that is there"), source


def what_crashes_while_it_is_loaded_is_told_and_the_program_is_not_started(folder):
    check_refused(folder, "load_crashes", "it crashed (SIGSEGV) when it was loaded")


def what_hangs_while_it_is_loaded_is_told_and_the_program_is_not_started(folder):
    result, has_run = record(folder, "load_hangs")
    assert result.returncode == 125 and not has_run, result
    assert "it did not come to an end when it was loaded" in result.stderr, result.stderr


def what_closes_descriptors_while_it_is_loaded_is_told_and_the_program_is_not_started(folder):
    for name in "load_closes", "entry_closes":
        check_refused(folder, name, "it closed descriptors that are not its own when it was loaded")


def what_prints_while_it_is_loaded_does_not_spoil_what_doctor_prints(_folder):
    source = doctor("load_prints")
    assert source["state"] == "usable" and "hello from the constructor" in source["said"], source


def an_injected_file_that_cannot_be_loaded_is_told_before_the_program_starts(folder):
    path = os.path.join(folder, "p.so")
    shutil.copy(plugin("injects_bad"), path)
    assert doctor(path)["state"] == "usable"  # there is no such file: not ours to judge
    os.mkdir(path + ".helper")
    assert doctor(path)["state"] == "usable"  # nor is a folder
    os.rmdir(path + ".helper")
    with open(path + ".helper", "wb") as f:
        f.write(b"\x7fELF, as it were")
    check_refused(folder, path, "injects by BAD_TOOL: it cannot be loaded: ")
    result, _ = record(folder, path)
    assert "p.so.helper: file too short" in result.stderr or "invalid ELF" in result.stderr, result


# ---- Probes ----

def a_probe_that_crashes_hangs_or_exits_is_told(_folder):
    crashes, hangs, exits, good = doctor("probe_crashes", "probe_hangs", "probe_exits", "nothing")
    for source in (crashes, hangs, exits):
        assert source["name"] == "bad" and source["state"] == "failed", source
    assert crashes["why"] == "its probe crashed (SIGSEGV)", crashes
    assert hangs["why"] == "its probe did not come to an end", hangs
    assert exits["why"] == "its probe ended its process with status 7", exits
    assert good["state"] == "usable" and good["what"] == "a device of nobody", good


def what_a_probe_prints_is_shown_without_what_a_terminal_would_obey(_folder):
    source = doctor("probe_prints")
    assert "driver 1.2" in source["said"], source
    shown = run("doctor", plugin("probe_prints")).stdout
    assert "\033" not in shown and shown.count(" said ") == source["said"].rstrip("\n").count("\n") + 1, shown


def processes_that_a_probe_leaves_behind_are_ended_and_told(_folder):
    source = doctor("probe_forks")
    assert source["state"] == "usable", source
    assert source["why"] == "its probe left 1 process behind, which was ended", source


def states_come_with_reason_and_remedy(_folder):
    busy, denied, absent, partly, nonsense = doctor(
        "probe_busy", "probe_denied", "probe_absent", "probe_partly", "probe_nonsense")
    assert (busy["state"], busy["why"]) == ("busy", "held by othertool (pid 17)"), busy
    assert denied["state"] == "denied" and denied["remedy"] == "chmod o+r /dev/nobody", denied
    assert (absent["state"], absent["why"]) == ("absent", "there is no libnobody.so"), absent
    assert partly["state"] == "partly" and partly["remedy"] == "load the module", partly
    assert nonsense["state"] == "failed" and "nothing can have" in nonsense["why"], nonsense
    assert run("doctor", plugin("probe_busy")).returncode == 1
    assert run("doctor", plugin("probe_partly")).returncode == 0


def what_a_program_would_be_given_is_told(_folder):
    assert doctor("nothing")["variables"] == {"BAD_TOOL": plugin("nothing")}


# ---- What is installed ----

class Tree:
    """A build folder of our own, with what is wanted in it."""

    def __init__(self, folder, *sources):
        self.kymo = os.path.join(folder, "kymo")
        shutil.copy(KYMO, self.kymo)
        shutil.copy(os.path.join(BUILD, "libkymo.so.0"), folder)
        shutil.copytree(os.path.join(BUILD, "plugins", "sink"),
                        os.path.join(folder, "plugins", "sink"),
                        ignore=lambda d, names: [n for n in names if not n.endswith(".so")])
        os.makedirs(os.path.join(folder, "plugins", "source"))
        for name in sources:
            shutil.copy(plugin(name), os.path.join(folder, "plugins", "source"))

    def run(self, *words):
        return run(*words, kymo=self.kymo)


def a_bad_plugin_that_is_installed_is_told_before_the_program_starts(folder):
    tree = Tree(folder, "load_crashes", "no_stop", "no_entry", "nothing")
    result = tree.run("record", "-o", os.path.join(folder, "t.json"), "--", "sh", "-c",
                      "echo program >&2")
    lines = result.stderr.splitlines()
    assert result.returncode == 0, result
    assert "bad_load_crashes.so: it crashed (SIGSEGV) when it was loaded" in lines[0], lines
    assert 'bad_no_stop.so: source 1: "bad": the operation "stop" is missing' in lines[1], lines
    assert lines[2] == "program", lines
    assert "no_entry" not in result.stderr and "crashed" not in "".join(lines[2:]), lines


def an_installed_source_that_closes_descriptors_is_left_out(folder):
    tree = Tree(folder, "load_closes", "nothing")
    result = tree.run("record", "-o", os.path.join(folder, "t.json"), "--", "true")
    assert result.returncode == 0 and os.path.exists(os.path.join(folder, "t.json")), result
    assert "bad_load_closes.so: it closed descriptors" in result.stderr, result.stderr


def an_installed_sink_that_closes_descriptors_is_named_by_who_fails_because_of_it(folder):
    tree = Tree(folder)
    capture, ran = os.path.join(folder, "c.kymo"), os.path.join(folder, "ran")
    assert tree.run("record", "-o", capture, "--", "true").returncode == 0
    shutil.copy(plugin("load_closes"), os.path.join(folder, "plugins", "sink"))
    output = ["-o", os.path.join(folder, "t.json")]
    for result in (tree.run("record", *output, "--", "touch", ran),
                   tree.run("export", capture, *output)):
        assert result.returncode in (1, 125), result
        assert result.stderr.count("\n") == 1, result.stderr
        assert "bad_load_closes.so: it closed descriptors" in result.stderr, result.stderr
    assert not os.path.exists(ran) and not os.path.exists(output[1])
    assert not [n for n in os.listdir(folder) if n.startswith(".")], os.listdir(folder)


def doctor_tells_all_that_is_installed(folder):
    tree = Tree(folder, "load_crashes", "no_entry", "nothing")
    result = tree.run("doctor", "--json")
    report = json.loads(result.stdout)
    assert result.returncode == 0, result
    assert [s["state"] for s in report["sources"]] == ["failed", "usable"], report
    assert [s["name"] for s in report["sinks"]] == ["chrome"], report
    assert {m["name"] for m in report["machine"]} >= {"clock", "memory", "folder"}, report
    text = tree.run("doctor").stdout
    assert "1 of 2 sources can record here" in text, text
    # By the name of the source, which is not that of a file.
    assert json.loads(tree.run("doctor", "--json", "bad").stdout)["sources"][0]["name"] == "bad"


def without_a_usable_source_the_status_is_1(folder):
    tree = Tree(folder)
    result = tree.run("doctor")
    assert result.returncode == 1 and "no source is installed" in result.stdout, result
    assert json.loads(tree.run("doctor", "--json").stdout)["sources"] == []


def bad_usage_is_told(_folder):
    assert run("doctor", "--jsn").returncode == 2
    result = run("doctor", "--json", plugin("nothing"), "nosuch")
    assert len(json.loads(result.stdout)["sources"]) == 1, result
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result
    assert 'no source plug-in "nosuch"' in result.stderr, result.stderr


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
