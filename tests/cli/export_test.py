#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo export: how far it is, and what it refuses. Prints TAP."""
import json
import os
import pty
import re
import select
import subprocess
import time

from record_test import KYMO, LIMIT_S, PROGRAMS, check, main


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
