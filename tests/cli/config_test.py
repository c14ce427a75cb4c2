#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo config, and that kymo record does as it is configured. Prints TAP."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import cases_of, in_folder, run_cases

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
MARKS = os.path.join(BUILD, "tests", "cli", "marks")


class Place:
    """A folder of its own for each case, with an environment that nobody has configured."""

    def __init__(self, path):
        self.path = path
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("KYMO_", "KINETO_"))}
        self.environment.update(KINETO_CONFIG="", KYMO_CONFIG="", TMPDIR=path)

    def write(self, text, name="a.conf"):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def run(self, *words, text=None, **environment):
        done = subprocess.run([KYMO, *words], cwd=self.path, text=True, capture_output=True,
                              input=text, env={**self.environment, **environment}, timeout=60,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def record(self, *options, **environment):
        return self.run("record", *options, "--", MARKS, "mark", "3", **environment)

    def left(self):
        return sorted(n for n in os.listdir(self.path) if n != "a.conf")


def keys(place, *words, **environment):
    status, out, err = place.run("config", "--json", *words, **environment)
    assert status == 0, err
    return {k["key"]: k for k in json.loads(out)["keys"]}


def each_value_is_shown_with_its_unit_and_where_it_comes_from(place):
    path = place.write("KYMO_BUFFER_SIZE = 20MiB\n\nACTIVITIES_DURATION_SECS = 3\n")
    found = keys(place, path, KYMO_OVERFLOW="drop")
    size = found["KYMO_BUFFER_SIZE"]
    assert (size["value"], size["unit"], size["origin"]) == ("20971520", "bytes", path + ":1"), size
    duration = found["ACTIVITIES_DURATION_MSECS"]
    assert (duration["value"], duration["unit"]) == ("3000", "ms"), duration
    assert duration["origin"] == path + ":3" and duration["use"], duration
    assert found["KYMO_OVERFLOW"]["origin"] == "environment", found["KYMO_OVERFLOW"]
    assert found["KYMO_COMPAT"] == {"key": "KYMO_COMPAT", "value": "", "unit": "", "set": False,
                                    "origin": "default", "use": found["KYMO_COMPAT"]["use"], "unused": None}


def what_does_nothing_is_said_so_with_the_reason(place):
    path = place.write("CUSTOM_CONFIG = a\nENABLE_IPC_FABRIC = yes\n"
                       "CUPTI_PM_SAMPLING_METRICS = sm__cycles_active.avg\n")
    status, out, err = place.run("config", path)
    assert status == 0, err
    assert re.search(r"^CUSTOM_CONFIG = a  # .*/a.conf:1; not used: a source has options of its own, "
                     r"by KYMO_SOURCES$", out, re.M), out
    assert re.search(r"^CUPTI_PM_SAMPLING_METRICS = .*; not used: .*KYMO_SOURCES = cuda:pm=A\+B, ", out,
                     re.M), out
    assert re.search(r"^ENABLE_IPC_FABRIC = true  # .*; not used: nothing comes from a daemon$", out,
                     re.M), out
    for key in keys(place, path).values():
        assert (key["use"] is None) != (key["unused"] is None), key


def what_is_printed_is_the_same_configuration(place):
    path = place.write("KYMO_BUFFER_SIZE=1G\nKYMO_DELAY=2s\nKYMO_SOURCES = fake:a=b\n"
                       "PROFILE_WITH_STACK = y\n")
    _, out, _ = place.run("config", "--all", path)
    again = place.write(out, "b.conf")
    first, second = keys(place, path), keys(place, again)
    for key, value in first.items():
        same = {k: v for k, v in second[key].items() if k != "origin"}
        assert same == {k: v for k, v in value.items() if k != "origin"}, (value, same)


def a_bad_text_is_refused_with_file_line_and_reason(place):
    path = place.write("KYMO_OVERFLOW = drop\nKYMO_BUFFER_SIZE = 5MiB\n")
    status, out, err = place.run("config", path)
    assert status == 1 and out == "", (status, out)
    assert err == f'kymo: {path}:2: KYMO_BUFFER_SIZE "5MiB": from 10 MiB to 1 TiB ' \
                  "is allowed\n", err
    status, _, err = place.run("config", "nowhere.conf")
    assert status == 1 and "nowhere.conf: No such file" in err, err
    assert place.run("config", "a", "b")[0] == 2
    assert place.run("config", "/dev/stdin", text="NO_SUCH_KEY = 1\n")[0] == 0


def a_bad_configuration_stops_a_recording_before_the_program_runs(place):
    path = place.write("KYMO_OUTPUT = t-%x.json\n")
    status, _, err = place.record(KYMO_CONFIG=path)
    assert status == 125 and "a.conf:1: KYMO_OUTPUT" in err, (status, err)
    status, _, err = place.record(KYMO_OUTPUT="t-%q{NOT_SET_HERE}.json")
    assert status == 125 and "no variable NOT_SET_HERE" in err, (status, err)
    status, _, err = place.record(KYMO_OUTPUT="t-%r.json", RANK="", SLURM_PROCID="")
    assert status == 125 and "no rank" in err, (status, err)
    assert place.left() == [], place.left()


def a_recording_does_as_it_is_configured(place):
    path = place.write("KYMO_OUTPUT = t-%r-%n.kymo\nKYMO_OVERFLOW = drop\n"
                       "KYMO_BUFFER_SIZE = 12MiB\n")
    for number in (1, 2):
        status, _, err = place.record(KYMO_CONFIG=path, RANK="7")
        assert status == 0 and f"t-7-{number}.kymo: 3 events" in err, (status, err)
    status, _, err = place.record("-o", "t.json", KYMO_CONFIG=path)
    assert status == 0 and "t.json: 3 events" in err, "the command line comes last: " + err
    assert place.left() == ["t-7-1.kymo", "t-7-2.kymo", "t.json"], place.left()
    status, _, err = place.record(KYMO_CONFIG=path, KYMO_OUTPUT="t.json")
    assert status == 125 and "exists already" in err, (status, err)
    status, _, err = place.record(KYMO_CONFIG=path, KYMO_OUTPUT="t.json", KYMO_OVERWRITE="yes")
    assert status == 0, err
    status, _, err = place.record(KYMO_SOURCES="no_such_source", KYMO_OUTPUT="u.json")
    assert status == 125 and "no_such_source" in err, (status, err)


def libkinetos_log_file_gets_the_pid(place):
    path = place.write("ACTIVITIES_LOG_FILE = trace.pt.trace.json\n")
    status, _, err = place.record(KINETO_CONFIG=path)
    assert status == 0, err
    assert re.fullmatch(r"trace_\d+\.pt\.trace\.json", place.left()[0]), place.left()


def warnings_are_said_before_the_program_runs(place):
    path = place.write("KYMO_OVERFLOV = drop\n")
    status, _, err = place.record("-o", "t.json", KYMO_CONFIG=path)
    assert status == 0, err
    assert err.startswith(f'kymo: {path}:1: no key "KYMO_OVERFLOV"; did you mean '
                          "KYMO_OVERFLOW?\n"), err
    status, _, err = place.run("config", KINETO_CONFIG="/no/file")
    assert status == 0 and err == ("kymo: KINETO_CONFIG: cannot read the configuration /no/file: No such file "
                                   "or directory: it is passed over\n"), err


def what_no_source_or_type_is_says_who_has_configured_it(place):
    path = place.write("\nACTIVITY_TYPES = kernl\nKYMO_SOURCES = nosuch\n")
    status, _, err = place.record("-o", "t.json", KYMO_CONFIG=path)
    assert status == 125 and err.startswith(f"kymo: {path}:3: KYMO_SOURCES: there is no source "), err
    status, _, err = place.record("-o", "t.json", "-t", "app", KYMO_CONFIG=path)
    assert status == 125 and err.startswith(f"kymo: {path}:2: ACTIVITY_TYPES: "), err
    status, _, err = place.record("-o", "t.json", "-t", "nosuch", KYMO_CONFIG=path)
    assert status == 125 and err.startswith("kymo: there is no source "), err


def a_key_of_files_in_the_environment_is_told(place):
    status, _, err = place.record("-o", "t.json", ACTIVITY_TYPES="kernl")
    assert status == 0, err
    assert err.startswith("kymo: environment: ACTIVITY_TYPES is not read from here: it is a key "
                          "of the files that KYMO_CONFIG and KINETO_CONFIG name\n"), err
    _, _, err = place.run("config", PROFILE_MEMORY="1")  # of no use in a file either
    assert err == "", err


if __name__ == "__main__":
    run_cases(cases_of(globals(), "place"), lambda case: in_folder(lambda folder: case(Place(folder))))
