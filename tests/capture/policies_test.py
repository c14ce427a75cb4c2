#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""More than a recording can take: what was offered, taken and lost is what the producers counted
themselves, memory keeps its bound, and the program is never held up. KYMO_LONG=1: ten seconds of
each instead of one."""
import json
import os
import signal
import subprocess
import time

from recording import (BUILD, IS_LONG, KYMO, LIMIT_S, PRODUCER, TALLY, Ledger, Skip, Tally, kill,
                       main, memory_kib, until)

SECONDS = 10 if IS_LONG else 1
PRODUCERS = 64
BUFFER_KIB = 64 << 10
CAPACITY = (BUFFER_KIB << 10) // 64
OTHER_KIB = 32 << 10  # of a process, beside its buffer
STORM = os.path.join(BUILD, "tests", "capture", "storm")


def ledger_of(recording, output="t.kymo"):
    process = subprocess.run([KYMO, "info", "--json", recording.file(output)],
                             capture_output=True, check=True, timeout=LIMIT_S)
    ledger = json.loads(process.stdout)["ledger"]
    found = Ledger({name: int(value) for name, value in ledger.items()})
    for reason in ("filtered", "full", "too_big", "nested", "overwritten", "late",
                   "out_of_window", "cut"):
        found.setdefault(reason, 0)
    found.check()
    return found


def total(recording, field):
    return sum(getattr(tally, field) for tally in recording.tallies())


def is_sanitized():
    with open(PRODUCER, "rb") as f:
        data = f.read()
    return b"__tsan_init" in data or b"__asan_init" in data


def flood(recording, policy):
    """Records with all producers; (ledger, most KiB of program, most KiB of keeper)."""
    recording.start("--overflow", policy, threads=PRODUCERS, output="t.kymo",
                    ms=SECONDS * 1000)
    until(recording.program, "the program")
    most = [0, 0]
    while recording.program():
        for i, pid in enumerate((recording.program(), recording.keeper())):
            most[i] = max(most[i], memory_kib(pid or 0))
        time.sleep(0.02)
    assert recording.finish() == 0, recording.err
    ledger = ledger_of(recording)
    print(f"# {policy}: offered {ledger['offered']:,} written {ledger['written']:,} "
          f"full {ledger['full']:,} overwritten {ledger['overwritten']:,}, "
          f"program {most[0]:,} KiB, keeper {most[1]:,} KiB")
    assert ledger["offered"] == total(recording, "offered"), (ledger, recording.err)
    assert ledger["full"] == total(recording, "refused"), (ledger, recording.err)
    assert total(recording, "unrecorded") == 0
    assert ledger["written"] + ledger["overwritten"] == total(recording, "taken"), ledger
    assert ledger["nested"] == ledger["cut"] == ledger["too_big"] == 0, ledger
    if not is_sanitized():
        assert max(most) < BUFFER_KIB + OTHER_KIB, most
    recording.check_tidy()
    return ledger


def at_length(recording, *options, is_enough, **more):
    """Records with two producers, longer where the keeper of a busy machine is not let run."""
    for ms in (1000, 4000, 16000):
        if os.path.exists(recording.file("tally")):
            os.unlink(recording.file("tally"))
        assert recording.record("-f", "--buffer", "10MiB", *options, threads=2, ms=ms,
                                **more) == 0, recording.err
        if is_enough():
            return


def a_flood_is_streamed(recording):
    ledger = flood(recording, "stream")
    assert ledger["overwritten"] == 0


def what_is_streamed_is_more_than_the_memory_holds(recording):
    def written():
        return ledger_of(recording)["written"]
    capacity = (10 << 20) // 64
    at_length(recording, output="t.kymo", is_enough=lambda: written() > 2 * capacity)
    assert written() > 2 * capacity, written()


def a_flood_is_dropped(recording):
    ledger = flood(recording, "drop")
    assert ledger["overwritten"] == 0
    assert ledger["written"] <= CAPACITY
    assert ledger["full"] > 0 or ledger["offered"] <= CAPACITY


def a_flood_overwrites_the_oldest(recording):
    ledger = flood(recording, "overwrite")
    assert ledger["full"] == 0
    assert ledger["written"] <= CAPACITY
    assert ledger["overwritten"] > 0 or ledger["offered"] <= CAPACITY


# ---- Threads ----

def ten_thousand_threads_in_one_buffer_lose_nothing(recording):
    count = 10000
    assert recording.record("--overflow", "drop", threads=0, output="t.kymo", each=count,
                            count=5) == 0, recording.err
    ledger = ledger_of(recording)
    assert ledger["written"] == 5 * count == total(recording, "taken"), ledger
    assert ledger["offered"] == ledger["written"], ledger


def two_thousand_idle_threads_do_not_starve_one_that_works(recording):
    status = recording.record("--overflow", "drop", threads=1, output="t.kymo", idle=2000,
                              count=200000)
    assert status == 0, recording.err
    ledger = ledger_of(recording)
    assert ledger["written"] == 202000 == total(recording, "taken"), (ledger, recording.err)


def sixteen_processes_attach_at_once_and_lose_nothing(recording):
    script = " & ".join(f"{PRODUCER} tally-{i} 2 count=2000" for i in range(16)) + " & wait"
    assert recording.record(output="t.kymo", program=["sh", "-c", script]) == 0, recording.err
    taken = []
    for i in range(16):
        with open(recording.file(f"tally-{i}"), "rb") as f:
            taken += [Tally(*fields).taken for fields in TALLY.iter_unpack(f.read())]
    assert taken == [2000] * 32, taken
    assert ledger_of(recording)["written"] == 64000, recording.err
    assert "in 16 processes" in recording.err, recording.err


def storm(recording, *words):
    program = [STORM, recording.file("tally"), str(SECONDS * 500), *words]
    assert recording.record("--overflow", "overwrite", output="t.kymo",
                            program=program) == 0, recording.err
    ledger = ledger_of(recording)
    print(f"# {dict(ledger)}")
    assert total(recording, "unrecorded") == 0, recording.tallies()
    assert ledger["offered"] == total(recording, "offered"), (ledger, recording.tallies())
    assert ledger["written"] + ledger["overwritten"] == total(recording, "taken"), ledger
    assert ledger["full"] + ledger["nested"] == total(recording, "refused"), ledger
    assert ledger["cut"] == 0, ledger


def marks_in_signal_handlers_are_taken_or_counted(recording):
    storm(recording)


def marks_across_fork_clone_and_vfork_are_taken_or_counted(recording):
    with open(PRODUCER, "rb") as f:
        if b"__tsan_init" in f.read():
            raise Skip("the thread sanitizer knows no forks of processes with threads")
    storm(recording, "forks")


# ---- The disk ----

def a_keeper_that_is_held_up_does_not_hold_up_the_program(recording):
    """As where the disk is slow: the keeper stands still in a write, and the program ends."""
    count = 2 * (10 << 20) // 64
    begun, go, ended = (recording.file(name) for name in ("begun", "go", "ended"))
    script = f"touch {begun}; until [ -e {go} ]; do sleep 0.01; done; " \
             f"{PRODUCER} {recording.file('tally')} 2 count={count}; touch {ended}"
    recording.start("--buffer", "10MiB", output="t.kymo", program=["sh", "-c", script])
    until(lambda: os.path.exists(begun), "the program")
    keeper = recording.keeper()
    kill(keeper, signal.SIGSTOP)
    with open(go, "w", encoding="ascii"):
        pass
    until(lambda: os.path.exists(ended), "the end of the program", LIMIT_S)
    kill(keeper, signal.SIGCONT)
    assert recording.finish() == 0, recording.err
    ledger = ledger_of(recording)
    slowest_ms = max(tally.slowest_ns for tally in recording.tallies()) / 1e6
    print(f"# full {ledger['full']:,}, slowest call {slowest_ms:.1f} ms")
    assert ledger["full"] == total(recording, "refused") > 0, ledger
    assert ledger["offered"] == total(recording, "offered") == 2 * count, ledger


def check_stopped(recording, why):
    assert f"streaming stopped: {why}" in recording.err, recording.err
    ledger = ledger_of(recording)
    assert ledger["full"] == total(recording, "refused"), ledger
    assert ledger["written"] == total(recording, "taken"), ledger


def streaming_ends_at_its_limit_and_says_so(recording):
    limit = 40 << 20
    at_length(recording, "--limit", str(limit), output="t.kymo",
              is_enough=lambda: "streaming stopped" in recording.err)
    check_stopped(recording, "the capture file reached its limit")
    size = os.path.getsize(recording.file("t.kymo"))
    assert limit <= size < limit + (20 << 20), size
    recording.export(recording.file("t.kymo"))
    with open(recording.file("exported.json"), encoding="utf-8") as f:
        assert '"streaming stopped": "the capture file reached its limit"' in f.read()


def streaming_ends_before_the_disk_is_full(recording):
    disk = recording.file("disk")
    os.mkdir(disk)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "kymo-test", disk],
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise Skip("a small file system cannot be mounted here")
    try:
        at_length(recording, "--limit", "1G", output="disk/t.kymo",
                  is_enough=lambda: "streaming stopped" in recording.err)
        assert "streaming stopped: the disk is nearly full" in recording.err, recording.err
        ledger = ledger_of(recording, "disk/t.kymo")
        assert ledger["written"] == total(recording, "taken"), ledger
        assert ledger["full"] == total(recording, "refused"), ledger
        assert os.statvfs(disk).f_bavail > 0
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


if __name__ == "__main__":
    main(globals())
