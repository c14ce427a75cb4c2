#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a program says of its own session, also where `kymo record` has the recording, and
where `kymo info` shows it. Prints TAP."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
EMBEDDED = os.path.join(BUILD, "tests", "cli", "embedded")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    return done.stdout


def record(*words, options=()):
    """Records the program; what it printed and the trace."""
    out = run(KYMO, "record", "-f", *options, "-o", "t.json", "--", EMBEDDED, *words)
    return out.split(), load("t.json")


def remarks(trace):
    """What the recorder has to say of processes."""
    return [(s["state"], s["reason"]) for s in trace["kymo"]["sources"] if s["name"] == "kymo record"]


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def test_what_is_said_of_a_session_is_in_the_recorders_trace():
    out, trace = record("session", "say", "model", 'a "b"\n', "number", "batch", "-7", "mark",
                        "start", "shape", "Input Dims", "number", "rank", "5")
    assert out == ["busy"], out
    assert trace["model"] == 'a "b"\n' and trace["batch"] == -7, trace
    assert trace["Input Dims"] == [[2, 3], {"depth": 4}], trace["Input Dims"]
    assert trace["distributedInfo"]["rank"] == 5, trace["distributedInfo"]


def test_a_session_that_is_refused_stands_in_the_recorders_trace():
    out, trace = record("session", "mark", "start", "start", "session", "start", "mark")
    assert out == 3 * ["busy"], out
    assert remarks(trace) == [("recording", "a session that it wanted to begin itself was refused")]
    assert remarks(record("mark")[1]) == []


def start_refused(output, *words):
    """Records a program that is refused a session of its own after `words`."""
    return subprocess.Popen([KYMO, "record", "-o", output, "--", EMBEDDED, "session", "mark", *words,
                             "start"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def said_first(process):
    """The program's own line; what is not UTF-8 in it fails here."""
    return process.communicate(timeout=60)[1].decode("utf-8").splitlines()[0]


def test_a_session_that_is_refused_says_who_records():
    recorder = start_refused("a\nö.json")
    said = said_first(recorder)
    assert said == (f"this program is being recorded from outside by process {recorder.pid} ({KYMO} "
                    f"record -o a?ö.json -- {EMBEDDED} session mark start), until it ends or the "
                    "recording does"), said
    # A long command loses its end, and no half character is left of it.
    for odd in "x", "xx":
        said = said_first(start_refused(odd + ".kymo", "say", "k", odd + "ö" * 400))
        assert said.endswith("ö...), until it ends or the recording does"), said


def test_a_session_that_is_refused_says_that_its_recorder_has_ended():
    recorder = subprocess.Popen([KYMO, "record", "-o", "t.json", "--", EMBEDDED, "session", "mark", "start",
                                 "wait", "go", "start"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    recorder.stderr.readline()  # it has attached
    recorder.kill()
    recorder.wait()
    with open("go", "w", encoding="ascii"):
        pass
    said = recorder.stderr.readline().decode("utf-8")
    assert said.startswith("this program is being recorded from outside by process "
                           f"{recorder.pid}, which has ended, until it ends"), said
    recorder.stderr.close()
    while not os.path.exists("t.json"):  # the keeper's, after the program
        time.sleep(0.01)


def test_of_several_sessions_the_last_value_of_a_key_holds():
    _, trace = record("session", "say", "model", "a", "number", "only", "1",
                      "session", "say", "model", "b", "session", "say", "model", "a", "mark")
    assert (trace["model"], trace["only"]) == ("a", 1), trace


def test_a_child_has_what_it_says_itself_in_the_recording():
    _, trace = record("session", "number", "parent", "1", "mark", "fork", "session", "number", "child", "2",
                      "start", "mark")
    assert (trace["parent"], trace["child"]) == (1, 2), trace
    assert len(trace["kymo"]["processes"]) == 2, trace["kymo"]["processes"]


def test_a_session_that_comes_after_the_window_has_all_that_was_said_of_it():
    _, trace = record("mark", "session", "number", "early", "1", "await", "mark", "number", "late", "2",
                      "save", "own.json", options=("-d", "1ms"))
    assert "window" in trace, trace.keys()
    own = load("own.json")
    assert (own["early"], own["late"]) == (1, 2), own


def test_the_job_that_the_environment_names_is_in_the_trace():
    job = {"PT_PROFILER_JOB_NAME": 'my "job"', "PT_PROFILER_JOB_VERSION": "3", "PT_PROFILER_JOB_ATTEMPT_INDEX": "0"}
    os.environ.update(job)
    try:
        _, trace = record("mark")
        run(EMBEDDED, "session", "start", "mark", "save", "own2.json")
    finally:
        for name in job:
            del os.environ[name]
    for found in (trace, load("own2.json")):
        assert job.items() <= found.items(), found.keys()
    assert "PT_PROFILER_JOB_NAME" not in record("mark")[1]


def test_info_shows_it_of_the_capture_and_of_the_trace():
    run(KYMO, "record", "-f", "-o", "t.kymo", "--", EMBEDDED, "session", "say", "model", "a \"\u00e9\"\n",
        "number", "big", "9223372036854775807", "number", "batch", "-7", "shape", "Input Dims", "mark")
    run(KYMO, "export", "t.kymo", "-f", "-o", "t.json")
    for path in ("t.kymo", "t.json"):
        assert json.loads(run(KYMO, "info", "--json", path))["metadata"] == {
            "model": "a \"\u00e9\"\n", "big": "9223372036854775807", "batch": -7,
            "Input Dims": [[2, 3], {"depth": 4}]}, path
        lines = run(KYMO, "info", path).splitlines()
        at = lines.index("METADATA (4)")
        assert lines[at + 1:at + 5] == [
            '  model       "a \\"\u00e9\\"\\u000a"', '  big         "9223372036854775807"',
            '  batch       -7', '  Input Dims  [[2, 3], {"depth": 4}]'], lines[at:]


if __name__ == "__main__":
    main(globals())
