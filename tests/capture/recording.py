# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: running the producer under `kymo record`, reading its
tallies and the trace, and TAP. KYMO_LONG=1: the full measure."""
import collections
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Skip, cases_of, run_cases

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PRODUCER = os.path.join(BUILD, "tests", "capture", "producer")
IS_LONG = os.environ.get("KYMO_LONG", "") not in ("", "0")
LIMIT_S = 120

Tally = collections.namedtuple("Tally", "tid offered taken refused unrecorded slowest_ns")
TALLY = struct.Struct("<QQQQQQ16x")
LOST = ("full", "too_big", "nested", "overwritten", "late", "out_of_window", "cut")


def until(condition, what, limit_s=20):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.002)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def child_named(pid, name):
    return next((child for child in children(pid) if name_of(child) == name), None)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def memory_kib(pid, field="VmRSS"):
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            return next((int(line.split()[1]) for line in f if line.startswith(field + ":")), 0)
    except OSError:
        return 0


class Ledger(dict):
    """The sums of a trace, whose equations hold."""

    def check(self):
        lost = sum(self[reason] for reason in LOST)
        assert self["offered"] == self["filtered"] + self["accepted"], dict(self)
        assert self["accepted"] == self["written"] + lost, dict(self)


class Trace:
    """The numbered spans of a trace, by thread, and its ledger."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        self.numbers = collections.defaultdict(list)
        for event in data["traceEvents"]:
            if event["ph"] == "X" and event["name"] == "numbered":
                self.numbers[event["tid"]].append(event["args"]["number"])
        self.kymo = data["kymo"]
        self.ledger = Ledger(self.kymo["ledger"])
        self.ledger.check()
        for name in ("written", "filtered", "overwritten", "late"):
            by_source = sum(source[name] for source in self.kymo["sources"])
            assert by_source == self.ledger[name], (name, by_source, dict(self.ledger))
        self.count = sum(map(len, self.numbers.values()))

    def check_doubles(self):
        for tid, numbers in self.numbers.items():
            assert len(set(numbers)) == len(numbers), f"thread {tid}: records are doubled"


class Recording:
    """A folder and what runs in it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="kc-")
        self.environment = dict(os.environ, TMPDIR=self.path)
        self.environment.pop("XDG_RUNTIME_DIR", None)
        self.front = None
        self.err = ""

    def file(self, name):
        return os.path.join(self.path, name)

    def start(self, *options, threads=4, output="t.json", program=None, **more):
        """`more`: of the producer, as ms=500."""
        words = [PRODUCER, self.file("tally"), str(threads)]
        words += [f"{name}={value}" for name, value in more.items()]
        command = [KYMO, "record", *options, "-o", self.file(output), "--"]
        self.front = subprocess.Popen(command + (program or words), cwd=self.path,
                                      env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      start_new_session=True)
        return self.front

    def finish(self):
        self.err = self.front.communicate(timeout=LIMIT_S)[1].decode(errors="replace")
        return self.front.returncode

    def record(self, *options, **more):
        self.start(*options, **more)
        return self.finish()

    def keeper(self):
        return child_named(self.front.pid, "kymo-keeper")

    def program(self):
        return child_named(self.front.pid, "producer")

    def tallies(self):
        try:
            with open(self.file("tally"), "rb") as f:
                data = f.read()
        except FileNotFoundError:
            return []
        return [Tally(*fields) for fields in TALLY.iter_unpack(data)]

    def taken(self):
        return {tally.tid: tally.taken for tally in self.tallies() if tally.tid}

    def streamed(self):
        """The capture file beside the output, or None."""
        names = [name for name in os.listdir(self.path) if ".kymo-" in name]
        assert len(names) <= 1, names
        return self.file(names[0]) if names else None

    def export(self, capture, name="exported.json"):
        process = subprocess.run([KYMO, "export", capture, "-f", "-o", self.file(name)],
                                 capture_output=True, check=False, timeout=LIMIT_S)
        assert process.returncode == 0, process.stderr.decode(errors="replace")
        return Trace(self.file(name))

    def check_tidy(self):
        left = [name for name in os.listdir(self.path) if name.startswith((".", "kymo-"))]
        assert not left, f"left behind: {left}"

    def remove(self):
        if self.front:
            for child in children(self.front.pid):
                kill(child)
            kill(self.front.pid)
            self.front.wait()
            self.front.stderr.close()
        shutil.rmtree(self.path, ignore_errors=True)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def with_recording(case):
    recording = Recording()
    try:
        case(recording)
    except Skip:
        raise
    except Exception:
        print("# " + recording.err.replace("\n", "\n# "))
        raise
    finally:
        recording.remove()


def main(names, *helpers):
    """Runs the functions that take a recording alone, but for helpers."""
    run_cases([case for case in cases_of(names, "recording") if case not in helpers], with_recording)
