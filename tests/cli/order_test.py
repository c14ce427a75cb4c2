#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Orders to a recording that goes on: rest, and go on. Prints TAP."""
import collections
import json
import os
import signal
import struct
import subprocess

from record_test import (HEAD, INJECTED, MAGIC, MARKS, PROGRAMS, Caller, check, children,
                         keeper_of, main, name_of, session_of, until)

CONTROLLED = os.path.join(PROGRAMS, "controlled")
ORDER, ANSWER = 4, 5
RECORD, REST = 1, 2
UNSUPPORTED, BUSY = -6, -10


def order(place, command):
    """Status and message of the answer."""
    caller = Caller(session_of(place))
    caller.socket.send(HEAD.pack(MAGIC, 1, 0, ORDER, 1, 0) + struct.pack("<II", command, 0))
    data = caller.socket.recv(4096)
    caller.socket.close()
    assert HEAD.unpack_from(data)[3] == ANSWER, data
    return struct.unpack_from("<i", data, HEAD.size)[0], data[24:].split(b"\0")[0].decode()


def obey(place, command):
    """The order, until all processes have obeyed: a busy machine may need longer than is waited."""
    answer = order(place, command)
    while answer[0] == BUSY:
        answer = order(place, command)
    assert answer == (0, ""), answer


def start(place, *words):
    return place.run([CONTROLLED, place.file("t.json"), INJECTED, MARKS, *words])


def wait_for(place, name):
    until(lambda: os.path.exists(place.file(name)), name)


def finish(place, process):
    """Spans by name, pauses, and the ledger."""
    result = place.finish(process)
    check(result, 0)
    with open(place.file("t.json"), encoding="utf-8") as f:
        trace = json.load(f)
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    names = dict(collections.Counter(e["name"] for e in spans))
    pauses = [e for e in spans if "paused by the recorder" in e.get("args", {}).values()]
    assert len(pauses) == names.pop("not recorded", 0), pauses
    return names, len(pauses), trace["kymo"]["ledger"]


def nothing_is_recorded_between_rest_and_record(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "until", "off", "mark", "5",
                    "ready", place.file("two"), "until", "on", "mark", "7", "wait",
                    place.file("go"))
    wait_for(place, "one")
    obey(place, REST)
    wait_for(place, "two")
    obey(place, RECORD)
    place.touch("go")
    spans, pauses, ledger = finish(place, process)
    assert spans == {"span": 10} and pauses == 1, (spans, pauses)
    assert ledger["offered"] == ledger["written"], ledger


def what_a_source_hands_in_meanwhile_is_filtered(place):
    process = start(place, "load", INJECTED, "work", "3", "ready", place.file("one"), "wait",
                    place.file("go"), "emit", "5", "ready", place.file("two"), "until", "on",
                    "work", "7", "wait", place.file("end"))
    wait_for(place, "one")
    obey(place, REST)
    place.touch("go")
    wait_for(place, "two")
    obey(place, RECORD)
    place.touch("end")
    spans, pauses, ledger = finish(place, process)
    assert spans == {"kernel": 10} and pauses == 1, (spans, pauses)
    assert ledger["filtered"] == 5 and ledger["late"] == 0, ledger


def a_process_that_comes_meanwhile_begins_at_rest(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "wait", place.file("go"),
                    "fork", "mark", "5", "exec", "mark", "5", "ready", place.file("two"),
                    "until", "on", "mark", "2", "ready", place.file("three"), "until", "off")
    wait_for(place, "one")
    obey(place, REST)
    place.touch("go")
    wait_for(place, "two")
    obey(place, RECORD)
    wait_for(place, "three")
    obey(place, REST)
    spans, pauses, _ = finish(place, process)
    # Of the program two, up to its end; of the child one, and of what it has called exec for two.
    assert spans == {"span": 5} and pauses == 5, (spans, pauses)


def orders_may_repeat_and_end_with_rest(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "wait", place.file("go"),
                    "mark", "4")
    wait_for(place, "one")
    for command in (RECORD, REST, REST, RECORD, RECORD, REST):
        obey(place, command)
    place.touch("go")
    spans, pauses, _ = finish(place, process)
    assert spans == {"span": 3} and pauses == 2, (spans, pauses)


def another_keeper_knows_the_order(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "wait", place.file("go"),
                    "fork", "mark", "4", "ready", place.file("two"), "until", "on", "mark", "2")
    wait_for(place, "one")
    obey(place, REST)
    first = keeper_of(process.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: keeper_of(process.pid) != first, "another keeper")
    place.touch("go")
    wait_for(place, "two")
    obey(place, RECORD)
    assert finish(place, process)[0] == {"span": 5}


def who_does_not_obey_is_told(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "wait", place.file("go"))
    wait_for(place, "one")
    program = next(p for p in children(process.pid) if name_of(p) == "marks")
    os.kill(program, signal.SIGSTOP)
    status, message = order(place, REST)
    assert status == BUSY and message.startswith("1 of the processes"), (status, message)
    os.kill(program, signal.SIGCONT)
    obey(place, RECORD)
    place.touch("go")
    assert finish(place, process)[0] == {"span": 3}


def who_has_left_by_exec_for_what_records_nothing_is_not_waited_for(place):
    process = start(place, "mark", "3", "exec", "ready", place.file("one"), "wait", place.file("go"))
    wait_for(place, "one")
    for command in (REST, RECORD):
        assert order(place, command) == (0, ""), command
    place.touch("go")
    assert finish(place, process)[0] == {"span": 3}


def an_order_is_answered_though_the_keeper_stands_still(place):
    process = start(place, "mark", "3", "ready", place.file("one"), "wait", place.file("go"))
    wait_for(place, "one")
    keeper = keeper_of(process.pid)
    os.kill(keeper, signal.SIGSTOP)
    status, message = order(place, REST)
    os.kill(keeper, signal.SIGCONT)
    assert status == BUSY and message.startswith("it is not known"), (status, message)
    obey(place, RECORD)
    place.touch("go")
    assert finish(place, process)[0] == {"span": 3}


def orders_that_cannot_be_are_refused(place):
    process = start(place, "ready", place.file("one"), "wait", place.file("go"))
    assert order(place, 7) == (UNSUPPORTED, "no such command: 7")
    place.touch("go")
    finish(place, process)
    os.unlink(place.file("go"))
    process = place.start("-f", ["wait", place.file("go")], output="t.json")
    assert order(place, REST) == (UNSUPPORTED, "this recording takes no orders")
    place.touch("go")
    finish(place, process)
    place.check_tidy()


def only_a_process_that_takes_orders_has_a_thread_for_them(place):
    words = ["mark", "1", "descriptors"]
    alone = subprocess.run([MARKS, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=True).stdout.decode()
    result = place.finish(start(place, *words))
    descriptors, threads = alone.split(", ")
    assert result.out == f"{descriptors}, {int(threads.split()[0]) + 1} threads\n", result


if __name__ == "__main__":
    main(globals())
