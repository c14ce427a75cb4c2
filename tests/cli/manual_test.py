#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual and the shell's completion against the commands themselves: each command has a page,
each option stands in it and the other way round, and can be completed. Prints TAP."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import run_cases

SOURCE = os.environ["KYMO_SOURCE"]
KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
PAGES = os.path.join(SOURCE, "docs", "man")
COMPLETION = os.path.join(SOURCE, "completion", "kymo.bash")


def output_of(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL, **more).stdout


def commands():
    """Those that do something: all but those that speak of the others."""
    found = re.findall(r"^  ([a-z]+)  ", output_of(KYMO, "help"), re.M)
    return [name for name in found if name not in ("help", "version", "kymo")]


def options_of_help(command):
    text = output_of(KYMO, command, "--help")
    found = set()
    for line in text.splitlines():
        match = re.match(r"\s+(?:(-\w), )?(--[a-z-]+)", line) or re.match(r"\s+(-\w)()\b", line)
        if match:
            found |= {word for word in match.groups() if word}
    assert found, f"kymo {command} --help shows no option"
    return found


def page_of(command):
    path = os.path.join(PAGES, f"kymo-{command}.1")
    assert os.path.exists(path), f"kymo {command} has no page {path}"
    with open(path, encoding="utf-8") as f:
        return f.read()


def options_of_page(text):
    found = set()
    for line in re.findall(r"^\.It Fl (.*)$", text, re.M):
        flags = re.match(r"(-?[\w-]+)(?: , (-[\w-]+))?", line)
        found |= {"-" + word for word in flags.groups() if word}
    return found


def complete(words, folder=SOURCE):
    """What the shell offers for the last word."""
    script = (f"source {COMPLETION}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _kymo; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    text = output_of("bash", "--norc", "-c", script, "bash", KYMO, *words, cwd=folder)
    return [line for line in text.splitlines() if line]


def every_page_is_clean():
    if not shutil.which("mandoc"):
        raise AssertionError("mandoc is missing: tools/setup installs it")
    pages = sorted(name for name in os.listdir(PAGES) if name.endswith(".1"))
    for name in pages:
        found = output_of("mandoc", "-Tlint", os.path.join(PAGES, name)).splitlines()
        # Looked for where the system's pages are; the next case looks where ours are.
        found = [line for line in found if "referenced manual not found" not in line]
        assert not found, "\n".join(found)
    with open(os.path.join(PAGES, "meson.build"), encoding="utf-8") as f:
        assert re.findall(r"'(.*\.1)'", f.read()) == pages, "docs/man/meson.build lists others"


def every_reference_leads_to_a_page():
    for name in os.listdir(PAGES):
        with open(os.path.join(PAGES, name), encoding="utf-8") as f:
            for target in re.findall(r"\.(?:It )?Xr (kymo\S*) 1", f.read()):
                assert os.path.exists(os.path.join(PAGES, target + ".1")), f"{name}: {target}"


def every_command_has_a_page_that_the_first_one_names():
    with open(os.path.join(PAGES, "kymo.1"), encoding="utf-8") as f:
        first = f.read()
    for command in commands():
        page_of(command)
        assert f".It Xr kymo-{command} 1" in first, f"kymo.1 does not name kymo-{command}"


def every_option_stands_in_the_page_and_the_other_way_round():
    for command in commands():
        shown, told = options_of_help(command), options_of_page(page_of(command))
        assert shown == told, f"kymo {command}: in one of --help and page only: {shown ^ told}"


def commands_and_options_are_completed():
    assert set(commands()) | {"help", "version"} == set(complete([""]))
    assert complete(["rec"]) == ["record"]
    for command in commands():
        offered = set(complete([command, "-"]))
        assert options_of_help(command) == offered, (command, options_of_help(command) ^ offered)


def values_are_completed():
    assert "app" in complete(["record", "-t", ""])
    assert complete(["record", "-t", "x,ap"]) == ["x,app"]
    assert set(complete(["record", "--overflow", ""])) == {"stream", "drop", "overwrite"}
    assert complete(["record", "--wait", "p"]) == ["primary"]
    if "types" in commands():
        assert "kernel" in complete(["record", "--types", "default,ker"])[0]
        assert set(complete(["record", "--types", "gpu_mem"])) >= {"gpu_memcpy", "gpu_memset"}
    installed = [n[:-3] for n in os.listdir(os.path.join(os.path.dirname(KYMO), "plugins", "source"))
                 if n.endswith(".so")]
    assert set(complete(["record", "--trace", ""])) == {*installed, "app"}
    assert set(installed) <= set(complete(["doctor", ""]))


def files_and_programs_are_completed():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("run.kymo", "with blank.kymo"):
            with open(os.path.join(folder, name), "w", encoding="ascii"):
                pass
        assert set(complete(["info", ""], folder)) == {"run.kymo", "with blank.kymo"}
        assert complete(["export", "run"], folder) == ["run.kymo"]
        assert complete(["record", "-o", "run"], folder) == ["run.kymo"]
        # Behind the program's name its arguments are files, whatever they look like.
        assert complete(["record", "-t", "app", "cat", "run"], folder) == ["run.kymo"]
        assert complete(["record", "-f", "--", "cat", "run"], folder) == ["run.kymo"]
        assert "true" in complete(["record", "-f", "tru"], folder)
        assert "true" in complete(["record", "-o", "x.json", "--", "tru"], folder)


CASES = [every_page_is_clean, every_reference_leads_to_a_page,
         every_command_has_a_page_that_the_first_one_names,
         every_option_stands_in_the_page_and_the_other_way_round,
         commands_and_options_are_completed, values_are_completed, files_and_programs_are_completed]


if __name__ == "__main__":
    run_cases(CASES, lambda case: case())
