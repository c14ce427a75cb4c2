#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of a part of a program's life: by time, by order, by ranges. Prints TAP."""
import collections
import json
import os
import re
import signal
import subprocess

from record_test import (INJECTED, KYMO, MARKS, check, children, keeper_of, main, name_of,
                         until)


LATE = os.EX_TEMPFAIL  # of a program that was too slow for what it is recorded for


def record(place, *arguments):
    return place.record("-f", *arguments, output="t.json")


def in_time(run, is_late=lambda result: result.status == LATE):
    """Calls run(seconds), with more of them where the machine is busy."""
    for seconds in (1, 4):
        result = run(seconds)
        if not is_late(result):
            return result
    return run(16)


def record_in_time(place, options, words):
    """`options` of a number of seconds."""
    return in_time(lambda seconds: record(place, *options(seconds), words))


def start_in_time(place, options, words):
    """The process, when its program is ready; or it has ended, since that was too slow."""
    for name in ("ready", "go", "t.json"):
        if os.path.exists(place.file(name)):
            os.unlink(place.file(name))
    process = place.start(*options, words, output="t.json")
    until(lambda: os.path.exists(place.file("ready")) or process.poll() is not None, "the program")
    return process


def trace_of(place):
    """Names of spans, gaps by their reason, and the whole trace. Only gaps are of that category."""
    with open(place.file("t.json"), encoding="utf-8") as f:
        trace = json.load(f)
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [e["name"] == "not recorded" for e in spans] == [e["cat"] == "gap" for e in spans], spans
    gaps = collections.Counter(e["args"]["what"] for e in spans if e["name"] == "not recorded")
    names = dict(collections.Counter(e["name"] for e in spans if e["name"] != "not recorded"))
    return names, dict(gaps), trace


def gaps_to_the_end(trace):
    """Begin and end (us) of those that nobody has seen the end of."""
    return [(e["ts"], e["ts"] + e["dur"]) for e in trace["traceEvents"]
            if e["name"] == "not recorded" and e["args"].get("finished") is False]


PAUSED = "paused by the recorder"
OUTSIDE = "outside of the capture range"


def what_comes_before_the_delay_is_not_recorded(place):
    result = record_in_time(place, lambda s: ["-y", f"{s}s"],
                            ["mark", "3", "still", "off", "until", "on", "mark", "5"])
    check(result, 0, 5, says=r"; recorded: from \d+ s to the program's end$")
    names, gaps, trace = trace_of(place)
    assert names == {"span": 5} and gaps == {PAUSED: 1}, (names, gaps)
    assert re.fullmatch(r"from \d+ s after the program's start", trace["window"]), trace["window"]
    ledger = trace["kymo"]["ledger"]
    assert (ledger["offered"], ledger["begins"]) == (7, 1), "the gap takes two records"


def a_gap_is_no_activity_to_info(place):
    for name in ("t.json", "t.kymo"):
        in_time(lambda s, output=name: place.record(
            "-f", "-y", f"{s}s", ["mark", "3", "still", "off", "until", "on", "mark", "5"], output=output))
        told = json.loads(subprocess.run([KYMO, "info", "--json", place.file(name)], check=True,
                                         stdout=subprocess.PIPE, timeout=60).stdout)
        assert (told["spans"], told["others"]) == (5, 1), told
        annotations = [c for c in told["types"] if c["name"] == "user_annotation"]
        assert [c["spans"] for c in annotations] == [5], told


def the_trace_is_written_at_the_end_of_the_duration_and_the_program_goes_on(place):
    def run(seconds):
        process = start_in_time(
            place, ["-d", f"{seconds}s"],
            ["mark", "3", "still", "on", "ready", place.file("ready"), "until", "off", "mark", "5",
             "wait", place.file("go"), "print", "done", "exit", "7"])
        if process.poll() is None:
            until(lambda: os.path.exists(place.file("t.json")), "the trace")
            names, gaps, _ = trace_of(place)
            assert names == {"span": 3} and gaps == {}, (names, gaps)
            assert process.poll() is None
            until(lambda: not [n for n in os.listdir(place.path) if n.startswith(".")], "a tidy end")
            assert os.listdir(place.tmp) == [], os.listdir(place.tmp)
            place.touch("go")
        return place.finish(process)
    result = in_time(run)
    check(result, 7, 3, says=r"nothing lost; recorded: from 0 s to [\d.]+ s after the program's start$")
    assert result.out == "done\n", result


def delay_and_duration_come_from_the_configuration_too(place):
    """An option goes first; of what else says what is recorded they are no part."""
    words = ["mark", "3", "still", "off", "until", "on", "mark", "5"]

    def with_variable(seconds):
        place.environment["KYMO_DELAY"] = f"{seconds}.5s"
        return record(place, words)
    check(in_time(with_variable), 0, 5, says=r"; recorded: from \d+\.5 s to the program's end$")
    place.environment["KYMO_DELAY"] = "1h"
    check(record_in_time(place, lambda s: ["-y", f"{s}.5s"], words), 0, 5)
    check(record(place, "--capture-range", "mark:epoch", ["ranges", "3"]), 0, 2)
    del place.environment["KYMO_DELAY"]
    place.environment["KYMO_CONFIG"] = place.file("kymo.conf")

    def with_file(seconds):
        with open(place.file("kymo.conf"), "w", encoding="ascii") as f:
            f.write(f"KYMO_DELAY = {seconds}500ms\nKYMO_DURATION = {seconds}s\n"
                    "ACTIVITIES_DURATION_MSECS = 1\n")
        return record(place, words + ["still", "on", "until", "off", "mark", "7"])
    check(in_time(with_file), 0, 5, says=r"; recorded: from \d+\.5 s to [\d.]+ s after")


def a_process_that_comes_after_the_end_is_not_recorded_and_no_loss(place):
    result = record_in_time(place, lambda s: ["-d", f"{s}s", "--strict"],
                            ["mark", "3", "still", "on", "until", "off", "fork", "mark", "5", "exec",
                             "mark", "4"])
    check(result, 0, 3, says=r"3 events, [^;]*, nothing lost; recorded: [^;]*$")


def a_child_that_never_marked_before_the_delay_is_in_the_window(place):
    result = record_in_time(place, lambda s: ["-y", f"{s}s", "-d", f"{s}s"],
                            ["fork", "mark", "2", "still", "off", "until", "on", "mark", "5", "still",
                             "on", "until", "off", "mark", "7"])
    check(result, 0, 5)


def forks_in_the_window_are_recorded(place):
    result = record_in_time(place, lambda s: ["-y", f"{s}.5s", "-d", "60s"],
                            ["mark", "1", "still", "off", "until", "on", "mark", "2", "fork", "mark",
                             "4"])
    check(result, 0, 6, says="in 2 processes")


def a_program_that_ends_before_the_delay_leaves_an_empty_trace_that_says_so(place):
    for words in (["mark", "3"], ["print", "no mark"]):
        result = record(place, "-y", "1m", "-d", "1h", "--strict", words)
        check(result, 0, 0, says="the program ended before the recording was to begin, 60 s")
        names, gaps, trace = trace_of(place)
        assert not names and trace["window"] == \
            "from 60 s to 3660 s after the program's start", (names, trace["window"])
        assert gaps == ({PAUSED: 1} if "mark" in words else {}), gaps
    place.check_tidy()


def what_ends_at_rest_is_a_gap_up_to_its_end_however_it_ends(place):
    for end, status in ((["exit", "3"], 3), (["kill", "9"], 128 + 9)):
        for options, words, why in (
                (["-y", "1h"], ["mark", "3"], PAUSED),
                (["--start-paused"], ["mark", "3", "order", "record", "mark", "5", "order", "rest"],
                 PAUSED),
                (["--capture-range", "mark:epoch"], ["ranges", "2"], OUTSIDE)):
            check(record(place, *options, words + ["sleep", "300"] + end), status)
            names, gaps, trace = trace_of(place)
            ends = gaps_to_the_end(trace)
            assert gaps == {why: 2 if names else 1} and len(ends) == 1, (gaps, ends)
            assert ends[0][1] - ends[0][0] > 0.29e6, ends
            ledger = trace["kymo"]["ledger"]
            assert ledger["unfinished"] == 0 and ledger["cut"] == 0, ledger


def what_has_called_exec_at_rest_has_a_gap_for_each_image(place):
    check(record(place, "--start-paused",
                 ["mark", "1", "sleep", "200", "exec", "mark", "1", "order", "record", "mark", "5",
                  "sleep", "200"]), 0, 5)
    trace = trace_of(place)[2]
    gaps = sorted((e["ts"], e["ts"] + e["dur"]) for e in trace["traceEvents"]
                  if e["name"] == "not recorded")
    spans = [e["ts"] for e in trace["traceEvents"] if e["ph"] == "X" and e["name"] == "span"]
    assert len(gaps) == 2 and len(gaps_to_the_end(trace)) == 1, gaps
    assert gaps[0][1] <= gaps[1][0] and gaps[1][1] <= min(spans), (gaps, spans)


def a_signal_before_and_after_the_window_is_the_programs(place):
    words = ["mark", "3", "ready", place.file("ready"), "wait", place.file("never")]

    def after(seconds):
        process = start_in_time(place, ["-d", f"{seconds}s"], words[:2] + ["still", "on"] + words[2:])
        until(lambda: os.path.exists(place.file("t.json")), "the trace")
        process.send_signal(signal.SIGTERM)
        return place.finish(process)
    check(in_time(after), 128 + signal.SIGTERM, 3)
    process = start_in_time(place, ["-y", "1h"], words)
    process.send_signal(signal.SIGTERM)
    check(place.finish(process), 128 + signal.SIGTERM, 0)


def who_does_not_stop_in_time_is_told_and_what_it_had_is_kept(place):
    says = "; 1 of the processes did not stop in time$"

    def run(seconds):
        process = start_in_time(place, ["-d", f"{seconds}s"],
                                ["mark", "3", "still", "on", "ready", place.file("ready"), "wait",
                                 place.file("go")])
        if process.poll() is None:
            program = next(p for p in children(process.pid) if name_of(p) == "marks")
            os.kill(program, signal.SIGSTOP)
            until(lambda: os.path.exists(place.file("t.json")), "the trace")
            os.kill(program, signal.SIGCONT)
        place.touch("go")
        return place.finish(process)
    # It may have stopped before it stood still.
    check(in_time(run, lambda result: result.status == LATE or not re.search(says, result.err)), 0, 3,
          says=says)


def another_keeper_goes_on_with_the_window(place):
    def run(seconds):
        process = start_in_time(place, ["-y", f"{seconds}s", "-d", f"{seconds}s"],
                                ["mark", "3", "still", "off", "ready", place.file("ready"), "until",
                                 "on", "mark", "5", "still", "on", "until", "off", "mark", "7"])
        if process.poll() is None:
            os.kill(keeper_of(process.pid), signal.SIGKILL)
        return place.finish(process)
    check(in_time(run), 0, 5)


def sources_stop_at_the_end_of_the_duration(place):
    result = record_in_time(place, lambda s: ["-t", INJECTED, "-d", f"{s}s"],
                            ["load", INJECTED, "work", "3", "still", "on", "until", "off", "work", "5"])
    check(result, 0, 3)
    ledger = trace_of(place)[2]["kymo"]["ledger"]
    assert ledger["written"] == 3 == ledger["accepted"] and ledger["late"] == 0, ledger


def a_program_orders_what_is_recorded(place):
    result = record(place, "--start-paused", ["mark", "3", "order", "record", "mark", "5", "order",
                                              "rest", "mark", "7", "order", "record", "mark", "1"])
    check(result, 0, 6, says="recorded: from when it is ordered, at rest before$")
    names, gaps, _ = trace_of(place)
    assert names == {"span": 6} and gaps == {PAUSED: 2} and result.out == "", (names, gaps, result)


def orders_without_a_recorder_and_to_one_that_takes_none_are_refused(place):
    result = place.finish(place.run([MARKS, "order", "rest"]))
    assert "nobody records this program" in result.out, result
    result = record(place, ["order", "rest"])
    check(result, 0)
    assert result.out == "this recording takes no orders\n", result
    result = record_in_time(place, lambda s: ["-d", f"{s}s"],
                            ["mark", "1", "still", "on", "until", "off", "order", "rest"])
    assert "over" in result.out, result


def one_range_is_recorded_and_nothing_around_it(place):
    result = record(place, "--capture-range", "mark:epoch", ["mark", "3", "ranges", "3", "mark", "2"])
    check(result, 0, 2, says="recorded: mark:epoch of each process$")
    names, gaps, trace = trace_of(place)
    assert names == {"epoch": 1, "inside": 1} and gaps == {OUTSIDE: 2}, (names, gaps)
    assert trace["window"] == "mark:epoch of each process", trace["window"]


def ranges_repeat_and_end_in_other_threads_and_processes(place):
    for words, epochs, ends in ((["ranges", "5"], 3, 1), (["across", "5"], 3, 1),
                                (["across", "1", "fork", "ranges", "2"], 3, 2)):
        result = record(place, "--capture-range", "mark:epoch,repeat:3", words)
        names, gaps, _ = trace_of(place)
        check(result, 0, 2 * epochs)
        assert names == {"epoch": epochs, "inside": epochs} and gaps == {OUTSIDE: epochs + ends}, \
            (names, gaps)


def ranges_of_other_names_are_marks_as_others(place):
    check(record(place, "--capture-range", "mark:epoc", ["ranges", "3"]), 0, 0,
          says=r"0 events, .*; no process began a range of that name \(mark:epoc\)$")
    check(record(place, "--capture-range", "mark:epoch", "--types", "-user_annotation",
                 ["ranges", "3"]), 0, says="recorded: mark:epoch of each process$")
    check(record(place, ["ranges", "3"]), 0, 9)


def sources_rest_outside_of_the_range(place):
    result = record(place, "-t", INJECTED, "--capture-range", "mark:epoch",
                    ["load", INJECTED, "work", "1", "emit", "4", "ranges", "1", "emit", "5"])
    check(result, 0, 2)
    ledger = trace_of(place)[2]["kymo"]["ledger"]
    assert ledger["filtered"] == 9 and ledger["late"] == 0, ledger


def what_makes_no_sense_is_refused_in_one_line_before_anything_runs(place):
    for options, says in (
            (["-y", "1x"], 'a time is wanted'), (["-d", "0"], 'a time is wanted'),
            (["-d", "1.5.5s"], 'a time is wanted'), (["-y", "99999999999h"], 'a time is wanted'),
            (["-y", "400000h"], 'more than thirty years'),
            (["-y", "1", "--start-paused"], "only one can say"),
            (["-d", "1", "--capture-range", "mark:a"], "only one can say"),
            (["--capture-range", "a"], "mark:NAME or mark:NAME,repeat:N is wanted"),
            (["--capture-range", "mark:"], "is wanted"),
            (["--capture-range", "mark:a,repeat:0"], "a number from 1"),
            (["--capture-range", "mark:a,repeat:x"], "a number from 1"),
            (["--capture-range", "mark:" + 300 * "a"], "longer than 255 bytes")):
        result = record(place, *options, ["print", "it ran"])
        check(result, 125, says=says)
        assert result.out == "" and len(result.lines) == 1, result
    assert place.left() == [], place.left()


if __name__ == "__main__":
    main(globals(), trace_of)
