#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9, at random points, of the program, of the front, of the keeper, and of both: what was
committed is in the trace, or, with both dead, in the streamed file but for its last second."""
import os
import random
import signal
import time

from recording import IS_LONG, LIMIT_S, Recording, Trace, is_alive, kill, main, until

POINTS = int(os.environ.get("KYMO_POINTS", "50" if IS_LONG else "4"))
SEED = int(os.environ.get("KYMO_SEED", str(os.getpid())))
LENGTH_MS = 700
LASTING_MS = 120000  # it does not end by itself
RATE = 20000
SMALL = ["--buffer", "10MiB"]


def lacking(trace, taken):
    """{tid: numbers that were committed and are not in the trace}."""
    trace.check_doubles()
    found = {}
    for tid, count in taken.items():
        missing = set(range(1, count + 1)).difference(trace.numbers.get(tid, ()))
        if missing:
            found[tid] = (len(missing), min(missing), max(missing), count)
    return found


def check_all(recording, trace):
    taken = recording.taken()
    missing = lacking(trace, taken)
    assert not missing, f"(count, first, last, committed) by thread: {missing}"
    extra = trace.count - sum(taken.values())
    assert 0 <= extra <= len(taken), f"{extra} more than were committed"
    assert trace.ledger["written"] == trace.count, trace.ledger
    return sum(taken.values())


def at_points(recording, fault):
    """Calls fault(recording, seconds into the run) with a fresh recording for each point; it
    returns how many records it has found that had to be there."""
    print(f"# seed {SEED}, {POINTS} points")
    chance = random.Random(f"{SEED} {fault.__name__}")
    committed = point = 0
    # More where the machine was so busy that the program had not begun at any of them.
    while point < POINTS or (committed == 0 and point < 20 * POINTS):
        after_s = chance.uniform(0, LENGTH_MS / 1000)
        inner = Recording()
        try:
            committed += fault(inner, after_s)
        except BaseException as error:
            error.add_note(f"at point {point}, {after_s:.4f} s into the run\n{inner.err}")
            raise
        finally:
            inner.remove()
        point += 1
    print(f"# {committed:,} records that had to be there were there")
    assert committed > 0


def start(recording, ms=LENGTH_MS):
    recording.start(*SMALL, threads=4, ms=ms, rate=RATE)
    until(recording.keeper, "the keeper")


def kill_program(recording, after_s):
    start(recording)
    time.sleep(after_s)
    program = recording.program()
    if program:
        kill(program)
    status = recording.finish()
    assert status in (0, 128 + signal.SIGKILL), status
    recording.check_tidy()
    return check_all(recording, Trace(recording.file("t.json")))


def kill_keeper(recording, after_s):
    start(recording)
    time.sleep(after_s)
    keeper = recording.keeper()
    if keeper:
        kill(keeper)
    assert recording.finish() == 0, recording.err
    recording.check_tidy()
    return check_all(recording, Trace(recording.file("t.json")))


def kill_front(recording, after_s):
    start(recording)
    keeper, program = recording.keeper(), recording.program()
    time.sleep(after_s)
    kill(recording.front.pid)
    recording.finish()
    until(lambda: not is_alive(keeper) and not (program and is_alive(program)),
          "the end of the keeper", LIMIT_S)
    if not recording.taken():
        return 0  # the program was never let go, or found nobody
    assert recording.streamed() is None
    return check_all(recording, Trace(recording.file("t.json")))


def wait_until_streamed(recording):
    """What is committed now; comes back when it is in the file, which it is in a second or so."""
    due = recording.taken()
    until(lambda: not lacking(recording.export(recording.streamed()), due), "what is streamed")
    return due


def kill_both(recording, after_s):
    start(recording, ms=LASTING_MS)
    until(recording.program, "the program")
    keeper, program = recording.keeper(), recording.program()
    time.sleep(after_s)
    due = wait_until_streamed(recording)
    kill(recording.front.pid, signal.SIGSTOP)  # or it would make another keeper
    kill(keeper)
    kill(recording.front.pid)
    kill(program)
    recording.finish()
    trace = recording.export(recording.streamed())
    missing = lacking(trace, due)
    assert not missing, f"(count, first, last, committed) by thread: {missing}"
    return sum(due.values())


def nothing_is_lost_when_the_program_is_killed(recording):
    at_points(recording, kill_program)


def nothing_is_lost_when_the_keeper_is_killed(recording):
    at_points(recording, kill_keeper)


def nothing_is_lost_when_the_front_is_killed(recording):
    at_points(recording, kill_front)


def what_was_streamed_is_there_when_both_are_killed(recording):
    at_points(recording, kill_both)


def a_second_dead_keeper_leaves_the_streamed_file(recording):
    start(recording, ms=LASTING_MS)
    until(recording.taken, "the program")
    first = recording.keeper()
    kill(first)
    until(lambda: recording.keeper() not in (None, first), "another keeper", LIMIT_S)
    due = wait_until_streamed(recording)
    kill(recording.keeper())
    kill(recording.program())
    assert recording.finish() == 125
    assert "killed twice" in recording.err and "kymo export" in recording.err
    missing = lacking(recording.export(recording.streamed()), due)
    assert not missing, missing


if __name__ == "__main__":
    main(globals(), wait_until_streamed)
