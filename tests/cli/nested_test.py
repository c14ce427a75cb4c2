#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A recorder within a recording keeps what it starts for itself, and the recording around it says
so. Prints TAP."""
import json
import os
import re

from record_test import KYMO, MARKS, check, main, until


def inner(output, script):
    """A command of a shell: a recorder that starts another shell, in which $0 has marks."""
    return f"{KYMO} record -o '{output}' -- sh -c '{script}' {MARKS} >/dev/null 2>&1"


def recorders(place):
    """State and reason of the recorders that the trace has, and how many processes that has."""
    with open(place.file("t.json"), encoding="utf-8") as f:
        ours = json.load(f)["kymo"]
    found = [s for s in ours["sources"] if s["name"] == "kymo record"]
    for source in found:
        process = ours["processes"][source["process"]]
        assert os.path.basename(process["exe"]) == "kymo", process
    return [(s["state"], s["reason"]) for s in found], len(ours["processes"])


def record(place, script, *options):
    return place.finish(place.run_shell(script, *options, output="t.json"))


def what_a_recorder_within_has_kept_is_told(place):
    result = record(place, '"$0" mark 2; ' + inner("in.json", '"$0" mark 3; "$0" mark 4'))
    reason = 'what it started (2 processes) was recorded to "in.json" instead'
    check(result, 0, 2, says=r"nothing lost; process \d+ \(kymo record\): " + re.escape(reason) + "$")
    # Nobody but the two took part: not the processes that a recorder has for itself.
    assert recorders(place) == ([("busy", reason)], 2), recorders(place)
    place.check_tidy()


def each_of_several_is_counted(place):
    result = record(place, "; ".join(inner(f"in{i}.json", '"$0" mark 1') for i in range(3)))
    check(result, 0, 0, says=r'\(1 process\) was recorded to "in0.json" instead; and 2 more$')
    check(result, says="^kymo: nothing was recorded$")
    assert len(recorders(place)[0]) == 3, recorders(place)


def one_of_one_is_told_to_the_one_around_it(place):
    script = f'{KYMO} record -o middle.json -- {KYMO} record -o in.json -- "$0" mark 1'
    result = record(place, script)
    check(result, says=r'"in.json" instead\n(kymo: .*\n)*.*"middle.json" instead$')
    assert [r for _, r in recorders(place)[0]] == [
        'what it started (1 process) was recorded to "middle.json" instead'], recorders(place)


def its_name_is_shown_as_text(place):
    result = record(place, inner('"\x1b[2J\n.json', '"$0" mark 1'))
    check(result, 0, says=r'recorded to ""\?\[2J\?\.json" instead$')
    assert recorders(place)[0][0][1].endswith('to ""\x1b[2J\n.json" instead'), recorders(place)


def nothing_is_missing_where_there_was_nothing(place):
    check(record(place, '"$0" mark 2; ' + inner("in.json", "true")), 0, 2, says="nothing lost$")
    assert recorders(place)[0] == [("ready", "what it started had nothing to record")]


def nothing_is_missing_of_what_never_ran(place):
    script = f'"$0" mark 2; {KYMO} record -o in.json -- {place.file("nobody")} 2>/dev/null'
    check(record(place, script), 127, 2, says="nothing lost$")
    assert [state for state, _ in recorders(place)[0]] == ["ready"], recorders(place)


def what_could_not_be_written_is_told_too(place):
    script = f'"$0" mark 2; {KYMO} record -o sub/in.json -- sh -c \'"$0" mark 1; rm -r sub\' "$0"'
    os.mkdir(place.file("sub"))
    result = record(place, script)
    check(result, 125, 2, says=r': what it starts is recorded to "sub/in.json" instead$')


def strict_is_not_content(place):
    check(record(place, '"$0" mark 2; ' + inner("in.json", '"$0" mark 1'), "--strict"), 125, 2)


def one_that_is_killed_has_said_where_it_all_goes(place):
    script = inner("in.json", f'"$0" mark 1 ready {place.file("ready")} wait {place.file("go")}') + \
        f' & "$0" wait {place.file("ready")}; kill -KILL $!; wait'
    process = place.run_shell(script, output="t.json")
    check(place.finish(process), says=': what it starts is recorded to "in.json" instead; .*keeper')
    assert ("busy", 'what it starts is recorded to "in.json" instead') in recorders(place)[0]
    place.touch("go")
    until(lambda: os.path.exists(place.file("in.json")), "what its keeper writes")


if __name__ == "__main__":
    main(globals(), recorders)
