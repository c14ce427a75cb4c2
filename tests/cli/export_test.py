#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo export: how far it is, and what it refuses. Prints TAP."""
import contextlib
import json
import os
import pty
import re
import select
import subprocess
import tempfile
import time

from record_test import (KYMO, LIMIT_S, PROGRAMS, Skip, check, main,
                         need_limits_of_address_space, until)


def start_export(place, stderr):
    """One that cannot end before its output is read: that is more than a pipe holds."""
    check(place.finish(place.start([], ["mark", "5000"], output="t.kymo")), 0)
    return subprocess.Popen([KYMO, "export", place.file("t.kymo"), "-o", "chrome:///dev/stdout"],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)


def read_trace(process):
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, err
    spans = [e for e in json.loads(out)["traceEvents"] if e["ph"] == "X"]
    assert len(spans) == 5000, len(spans)
    return err


def read_terminal(terminal, until):
    """What is shown up to what matches, or to the end."""
    shown, deadline = b"", time.monotonic() + LIMIT_S
    while not re.search(until, shown):
        assert select.select([terminal], [], [], deadline - time.monotonic())[0], shown
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side has closed it
            break
        if not part:
            break
        shown += part
    return shown


def group_of_ours():
    """The control group for memory that this process is in, and the name of its limit's file."""
    with open("/proc/self/cgroup", encoding="ascii") as f:
        for line in f:
            _, controllers, path = line.strip().split(":", 2)
            if "memory" in controllers.split(","):
                return "/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes"
            if controllers == "" and os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
                return "/sys/fs/cgroup" + path, "memory.max"
    raise Skip("there are no control groups for memory")


def try_to_remove(group):
    try:
        os.rmdir(group)
    except OSError:  # who was in it has not quite gone
        return False
    return True


@contextlib.contextmanager
def small_group(size):
    """A control group of so much memory; not where groups have either processes or groups."""
    ours, limit = group_of_ours()
    try:
        group = tempfile.mkdtemp(prefix="kymo-test-", dir=ours)
    except OSError as why:
        raise Skip(f"no control group can be made: {why}") from why
    try:
        if not os.path.exists(os.path.join(group, limit)):
            raise Skip("memory is not limited in the control groups that can be made")
        with open(os.path.join(group, limit), "w", encoding="ascii") as f:
            f.write(str(size))
        yield group
    finally:
        until(lambda: try_to_remove(group), "the end of the group")


def a_trace_is_made_within_the_memory_of_a_small_container(place):
    """What sorts 500,000 spans at once takes 42 MB."""
    need_limits_of_address_space()
    check(place.finish(place.start("--overflow", "drop", "--buffer", "64M", ["mark", "500000"],
                                   output="t.kymo")), 0, 500000)
    with small_group(24 << 20) as group:
        for output in "t.json", "t.json.gz":
            check(place.finish(place.run(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"',
                                          group, KYMO, "export", "t.kymo", "-o", output])), 0)


def what_takes_long_says_how_far_it_is_on_a_terminal(place):
    terminal, other_side = pty.openpty()
    process = start_export(place, other_side)
    os.close(other_side)
    shown = read_terminal(terminal, rb"\d+ %")
    assert 0 < int(re.search(rb"(\d+) %", shown)[1]) < 100, shown
    read_trace(process)
    shown += read_terminal(terminal, b"events")
    os.close(terminal)
    # The line is gone before the last one is said.
    assert re.search(rb"%\r\x1b\[K.*5,?000 events", shown), shown


def a_capture_that_is_named_twice_is_refused(place):
    check(place.finish(place.start([], ["mark", "3"], output="t.kymo")), 0)
    os.symlink(place.file("t.kymo"), place.file("again.kymo"))
    result = place.finish(place.run([KYMO, "export", "t.kymo", "again.kymo", "-o", "t.json"]))
    check(result, 1, says=r'"t\.kymo" and "again\.kymo" are one file')
    assert not os.path.exists(place.file("t.json"))


def nothing_is_said_to_a_file(place):
    process = start_export(place, subprocess.PIPE)
    time.sleep(1.5)
    assert process.poll() is None
    err = read_trace(process)
    assert b"%" not in err and b"\r" not in err, err


def a_sink_that_ends_the_process_is_told_and_is_no_success(place):
    check(place.finish(place.start([], ["mark", "3"], output="t.kymo")), 0)
    sink = os.path.join(PROGRAMS, "exiting_sink.so")
    for when in "open", "begin", "batch", "end":
        result = place.finish(place.run([KYMO, "export", "t.kymo", "--sink", sink,
                                         "-o", f"{when}.exit", "-o", "t.json.gz"]))
        check(result, 1, says=rf'a sink has ended this process .* "{when}\.exit", "t\.json\.gz"')
        assert len(result.lines) == 1 and result.out == "", result
        assert place.left() == ["t.kymo"], (when, place.left())
    # One that does not is none.
    result = place.finish(place.run([KYMO, "export", "t.kymo", "--sink", sink, "-o", "no.exit"]))
    check(result, 0)
    assert "3 events" in result.out, result


if __name__ == "__main__":
    main(globals())
