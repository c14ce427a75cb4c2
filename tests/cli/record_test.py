#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo record from outside: what it gives back, what it leaves behind, and what happens when
somebody dies. Prints TAP; `record_test.py WORD` runs the cases whose names have the word."""
import json
import os
import pty
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Skip, cases_of, run_cases

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
MARKS = os.environ.get("KYMO_MARKS", os.path.join(BUILD, "tests", "cli", "marks"))
PROGRAMS = os.path.dirname(MARKS)
BARE = os.path.join(PROGRAMS, "bare")
INJECTED = os.path.join(PROGRAMS, "injected.so")
LIMIT_S = 60
ANSWER_S = 2  # so long a program waits for a recorder's answer

# src/control/protocol.h: magic, major, minor, kind, format major, format minor.
HEAD = struct.Struct("<IHHIHH")
MAGIC = 0x5441594B
HELLO, WELCOME = 1, 2
HELLO_SIZE, WELCOME_SIZE, WELCOME_MESSAGE = 1160, 18224, 1072


class Result:
    """What one run of `kymo record` came to."""

    def __init__(self, process, out, err):
        self.status = process.returncode
        self.out = out.decode(errors="replace")
        self.err = err.decode(errors="replace")
        self.lines = self.err.splitlines()
        self.last = self.lines[-1] if self.lines else ""
        count = re.search(r": ([\d,]+) events?\b", self.err)
        self.events = int(count[1].replace(",", "")) if count else None

    def __str__(self):
        return f"status {self.status}\nstdout: {self.out}\nstderr: {self.err}"


class Place:
    """A folder of its own for each case, where temporary files go as well."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="kt-")
        self.tmp = os.path.join(self.path, "tmp")
        os.mkdir(self.tmp)
        self.started = []
        self.environment = dict(os.environ, TMPDIR=self.tmp)
        self.environment.pop("XDG_RUNTIME_DIR", None)

    def file(self, name):
        return os.path.join(self.path, name)

    def touch(self, name):
        with open(self.file(name), "w", encoding="ascii"):
            pass

    def start(self, *arguments, output="t.kymo", program=MARKS, **more):
        command = [KYMO, "record"]
        if output:
            command += ["-o", self.file(output)]
        options = [a for a in arguments if not isinstance(a, list)]
        words = [w for a in arguments if isinstance(a, list) for w in a]
        return self.run(command + options + ["--", program] + words, **more)

    def run(self, command, **more):
        """Starts any command, as the leader of a group that ends with the case."""
        process = subprocess.Popen(command, cwd=self.path, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **more)
        self.started.append(process)
        return process

    def run_shell(self, script, *options, output="t.kymo"):
        """Records a shell with a script in which $0 is the program with marks."""
        return self.run([KYMO, "record", *options, "-o", self.file(output), "--", "sh", "-c",
                         script, MARKS])

    def finish(self, process):
        out, err = process.communicate(timeout=LIMIT_S)
        return Result(process, out, err)

    def record(self, *arguments, **more):
        return self.finish(self.start(*arguments, **more))

    def left(self):
        """Names of what lies here, without what the cases put here themselves."""
        return sorted(n for n in os.listdir(self.path) if n not in ("tmp", "ready", "go"))

    def check_tidy(self):
        assert os.listdir(self.tmp) == [], f"left in TMPDIR: {os.listdir(self.tmp)}"
        hidden = [n for n in os.listdir(self.path) if n.startswith(".")]
        assert not hidden, f"left behind: {hidden}"

    def remove(self):
        for process in self.started:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        shutil.rmtree(self.path, ignore_errors=True)


def has_sanitizer(function):
    with open(MARKS, "rb") as f:
        return function in f.read()


def need_forks_of_threads():
    if has_sanitizer(b"__tsan_init"):
        raise Skip("the thread sanitizer knows no forks of processes with threads")


def need_limits_of_address_space():
    if has_sanitizer(b"__asan_init") or has_sanitizer(b"__tsan_init"):
        raise Skip("a sanitizer takes more address space than any limit leaves")


def until(condition, what, limit_s=20):
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.01)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def name_of(pid):
    """ "" where it has just ended."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def keeper_of(front):
    """The keeper's pid, once it has its name."""
    found = []

    def look():
        found[:] = [p for p in children(front) if name_of(p) == "kymo-keeper"]
        return bool(found)
    until(look, "a keeper")
    return found[0]


def check(result, status=0, events=None, says=None):
    assert result.status == status, f"expected status {status}, got {result}"
    if events is not None:
        assert result.events == events, f"expected {events} events, got {result}"
    if says is not None:
        assert re.search(says, result.err, re.M), f"expected /{says}/ in {result}"


# ---- What it gives back ----

def the_programs_own_status_is_given_back(place):
    for status in (0, 1, 3, 125, 126, 127, 255):
        check(place.record("-f", ["mark", "1", "exit", str(status)]), status, 1)
    place.check_tidy()


def writing_that_takes_long_says_how_far_it_is_on_a_terminal(place):
    """The keeper stands still for a while, as on a slow disk."""
    terminal, other_side = pty.openpty()
    process = subprocess.Popen(
        [KYMO, "record", "-o", place.file("t.json"), "--", MARKS, "mark", "5", "ready",
         place.file("ready"), "wait", place.file("go")], cwd=place.path, env=place.environment, stdin=subprocess.DEVNULL,
        stderr=other_side, start_new_session=True)
    place.started.append(process)
    os.close(other_side)
    keeper = keeper_of(process.pid)
    until(lambda: os.path.exists(place.file("ready")), "the program")
    os.kill(keeper, signal.SIGSTOP)
    place.touch("go")
    shown = b""
    while b" %" not in shown:
        shown += os.read(terminal, 4096)
    os.kill(keeper, signal.SIGCONT)
    while b"events" not in shown:
        shown += os.read(terminal, 4096)
    assert process.wait() == 0
    os.close(terminal)
    assert re.search(rb'^kymo: writing "\S*t\.json"\r\n(\r +\d+ %)+\r\x1b\[Kkymo: \S*: 5 events',
                     shown), shown


def a_signal_gives_128_and_the_trace_is_there(place):
    for number in (signal.SIGKILL, signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
        result = place.record("-f", ["mark", "7", "kill", str(int(number))])
        check(result, 128 + number, 7)
    place.check_tidy()


def a_program_that_cannot_run_gives_126_or_127_and_leaves_nothing(place):
    place.touch("plain")
    for program, status in (("no-such-program", 127), (place.file("no/such"), 127),
                            (place.file("plain"), 126), (place.path, 126)):
        check(place.record(program=program), status, says="cannot run")
        assert place.left() == ["plain"], place.left()
    place.check_tidy()


def a_script_without_a_first_line_is_run_by_the_shell(place):
    with open(place.file("script"), "w", encoding="ascii") as f:
        f.write("exit 5\n")
    os.chmod(place.file("script"), 0o755)
    check(place.record(program=place.file("script")), 5, 0)


def standard_output_belongs_to_the_program(place):
    result = place.record(["print", "only this"])
    check(result, 0, 0)
    assert result.out == "only this\n", result


def the_last_line_says_file_events_and_losses(place):
    result = place.record(["mark", "1234"])
    check(result, 0, 1234, says=r"^kymo: \S*t\.kymo: 1,234 events, [\d.]+ \w+, nothing lost$")


def the_rank_that_a_launcher_says_is_in_the_trace(place):
    place.environment.update(OMPI_COMM_WORLD_RANK="3", OMPI_COMM_WORLD_SIZE="8")
    check(place.record(["mark", "2"], output="t.json"), 0)
    with open(place.file("t.json"), encoding="utf-8") as f:
        text = f.read()
    trace = json.loads(text)
    assert trace["distributedInfo"]["rank"] == 3, trace["distributedInfo"]
    assert trace["distributedInfo"]["world_size"] == 8, trace["distributedInfo"]
    assert '"rank": 3' in text.partition('"traceEvents"')[0], text[:300]
    assert trace["kymo"]["processes"][0]["rank"] == 3, trace["kymo"]["processes"]


def losses_are_told_by_reason_and_strict_fails_on_them(place):
    result = place.record("--overflow", "drop", "--buffer", "10MiB", ["mark", "200000"])
    check(result, 0, says=r"lost ([\d,]+) \(buffer full \1\)$")
    lost = int(re.search(r"lost ([\d,]+)", result.err)[1].replace(",", ""))
    assert result.events + lost == 200000, result
    check(place.record("-f", "--strict", "--overflow", "drop", "--buffer", "10MiB", ["mark", "200000"]), 125)
    check(place.record("-f", "--strict", ["mark", "10"]), 0, 10)


def each_thread_that_lost_something_is_in_the_trace(place):
    check(place.record("--overflow", "drop", "--buffer", "10MiB", ["mark", "200000"],
                       output="t.json"), 0)
    with open(place.file("t.json"), encoding="utf-8") as f:
        kymo = json.load(f)["kymo"]
    [writer], ledger = kymo["writers"], kymo["ledger"]
    assert writer["full"] == ledger["full"] > 0, (writer, ledger)
    assert writer["accepted"] == writer["written"] + writer["full"], writer
    check(place.record("-f", ["mark", "10"], output="t.json"), 0)
    with open(place.file("t.json"), encoding="utf-8") as f:
        assert json.load(f)["kymo"]["writers"] == []


def a_buffer_that_the_disk_has_no_room_for_is_refused_before_the_program_runs(place):
    disk = os.statvfs(place.file("."))
    size = disk.f_bavail * disk.f_frsize >> 20
    if size > 1 << 20:
        return  # the largest buffer fits
    result = place.record("--buffer", f"{size}M", ["ready", place.file("ran")])
    check(result, 125, says="than the disk of the output has room for .*: ask for a smaller one")
    assert not os.path.exists(place.file("ran"))
    place.check_tidy()


def a_program_that_records_nothing_gives_an_empty_recording_and_a_hint(place):
    result = place.record(program="true")
    check(result, 0, 0, says="^kymo: nothing was recorded: the program made no mark")
    assert os.path.exists(place.file("t.kymo"))
    place.check_tidy()


def bad_usage_gives_125_and_runs_nothing(place):
    ready = ["ready", place.file("ran")]
    for options, says in ((["--no-such-option"], "unknown option --no-such-option"),
                          (["-Q"], "unknown option -Q"),
                          (["--buffer", "many"], "a size is wanted"),
                          (["--buffer", "0"], "a size is wanted"),
                          (["--buffer", "99999999999G"], "a size is wanted"),
                          (["--buffer", "9MiB"], "10 MiB to 1048576 MiB"),
                          (["--buffer", "2TiB"], "10 MiB to 1048576 MiB"),
                          (["--wait", "some"], '"all" or "primary"'),
                          (["--outptu", "x"], "did you mean --output"),
                          (["--compat", "none", "-o", place.file("x.json")], '"none".*not known'),
                          (["--compat", "tensorboard"], "kymo export"),
                          (["--require", "no-such-source"], '"no-such-source" is none of those'),
                          (["-t", "app", "--require", "fake"], '"fake" is none of those.*: app'),
                          (["-t", "app:x=1"], '"app" has no option'),
                          (["-t", "fake:sed=1"], r'has no option "sed" \(did you mean "seed"\?\); it has'),
                          (["-t", "opncl"], r'no source plug-in "opncl" \(did you mean "opencl"\?\) in'),
                          (["-t", ","], "names are wanted"),
                          (["-t", "no-such-source"], "no-such-source"),
                          (["-t", "/no/such.so"], "/no/such.so"),
                          (["--types", "kernle"], "did you mean \"kernel\""),
                          (["--overflow", "some"], '"stream", "drop" or'),
                          (["-o", place.file("x.txt")], r"x\.txt.*\.kymo"),
                          (["-o", place.file("x-%z.kymo")], "%z"),
                          (["-o", place.file("x-%q{NO_SUCH}.kymo")], "NO_SUCH"),
                          (["-o", place.file("no/folder/x.kymo")], "no/folder"),
                          (["-o", ""], "no name")):
        check(place.record(*options, ready), 125, says=says)
        assert place.left() == [], (options, place.left())
    process = subprocess.run([KYMO, "record"], capture_output=True, check=False)
    assert process.returncode == 125 and b"no program" in process.stderr, process
    process = subprocess.run([KYMO, "record", "-o"], capture_output=True, check=False)
    assert process.returncode == 125 and b"wants a value" in process.stderr, process
    place.check_tidy()


def an_existing_output_is_kept_unless_forced(place):
    with open(place.file("t.kymo"), "w", encoding="ascii") as f:
        f.write("precious")
    check(place.record(["ready", place.file("ran")]), 125, says="exists already")
    assert place.left() == ["t.kymo"], place.left()
    with open(place.file("t.kymo"), encoding="ascii") as f:
        assert f.read() == "precious"
    check(place.record("-f", ["mark", "2"]), 0, 2)
    check(place.record("-f", output="tmp"), 125, says="no file")
    place.check_tidy()


def of_a_link_the_target_is_replaced(place):
    for name in ("t.kymo", "t.json"):
        link = "link-" + name
        os.symlink(name, place.file(link))
        dangling = place.record("-f", ["ready", place.file("ran")], output=link)
        check(dangling, 125, says="link to what does not exist")
        assert not os.path.exists(place.file("ran")), "the program ran"
        place.touch(name)
        check(place.record(["mark", "2"], output=link), 125, says="exists already")
        check(place.record("-f", ["mark", "2"], output=link), 0, 2)
        assert os.path.islink(place.file(link)), "the link was replaced"
        assert os.path.getsize(place.file(name)) > 0, "its target was not"
    place.check_tidy()


def a_name_that_no_file_can_have_is_refused_at_once(place):
    result = place.record(["ready", place.file("ran")], output="x" * 260 + ".json")
    check(result, 125, says="File name too long")
    assert place.left() == [], place.left()


def several_outputs_are_of_one_recording(place):
    more = ["-o", place.file("b.json.gz"), "-o", place.file("c-%p.kymo")]
    result = place.record(*more, ["mark", "4"], output="a.json")
    check(result, 0, 4, says=r"a\.json, \S*b\.json\.gz, \S*c-\d+\.kymo: 4 events")
    left = place.left()
    assert left[:2] == ["a.json", "b.json.gz"] and len(left) == 3, left
    place.check_tidy()


def outputs_that_cannot_be_are_refused_before_the_program_runs(place):
    for more, says in ((["-o", place.file("t.json")], "named twice"),
                       (["-o", place.file("b.kymo"), "-o", place.file("c.kymo")], "both captures"),
                       (["-o", "memory://x"], "of no use here"),
                       (["-o", "tape://x"], "known are: memory://, chrome://"),
                       (["--sink", "/no/such.so"], "--sink: .*cannot find it")):
        check(place.record(*more, ["ready", place.file("ran")], output="t.json"), 125, says=says)
    assert place.left() == [], place.left()


def an_output_that_fails_does_no_harm_to_the_others(place):
    # Somebody else takes the name while the program runs.
    for taken, other in (("a.json", "b.json"), ("c.kymo", "d.json")):
        result = place.finish(place.run(
            [KYMO, "record", "-o", place.file(taken), "-o", place.file(other), "--", "sh", "-c",
             f"{MARKS} mark 3; echo mine > {place.file(taken)}"]))
        check(result, 125, says=rf"^kymo: \S*{other}: 3 events")
        why = rf"{taken}.* exists.*the capture is kept: kymo export (\S+)"
        kept = re.search(why, result.err)
        assert kept and os.path.getsize(kept[1]) > 0, result
        with open(place.file(taken), encoding="ascii") as f:
            assert f.read() == "mine\n"
        with open(place.file(other), encoding="utf-8") as f:
            json.load(f)


def the_default_name_has_program_and_pid(place):
    result = place.record(["mark", "1"], output=None)
    check(result, 0, 1)
    assert re.fullmatch(r"kymo-marks-.+-\d+-\d{19}\.json\.gz", place.left()[0]), place.left()
    place.check_tidy()


def names_are_made_from_patterns(place):
    place.environment["RANK"] = "3/4"
    check(place.record(["mark", "1"], output="a-%p-%h-%t-%q{RANK}-%%.kymo"), 0, 1)
    host = re.escape(socket.gethostname().replace("/", "_"))
    assert re.fullmatch(rf"a-\d+-{host}-\d{{8}}-\d{{6}}-3_4-%\.kymo", place.left()[0]), \
        place.left()


def recorders_of_one_time_have_numbers_of_their_own(place):
    place.environment["KYMO_OUTPUT"] = "t-%n.kymo"
    for _ in range(2):
        at_once = [place.start(["mark", str(1 + i), "sleep", "300"], output=None) for i in range(4)]
        results = [place.finish(process) for process in at_once]
        for i, result in enumerate(results):
            check(result, 0, 1 + i)
        assert len({result.last.split(":")[1] for result in results}) == 4, [r.last for r in results]
    assert place.left() == [f"t-{n}.kymo" for n in range(1, 9)], place.left()
    # One that was killed holds no number.
    killed = place.start(["sleep", "60000"], output=None)
    until(lambda: os.path.exists(place.file(f".t-9.kymo.kymo-{killed.pid}")), "its capture")
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    until(lambda: place.left()[-1] == "t-9.kymo" and place.left()[0] == "t-1.kymo", "the keeper's end")
    os.remove(place.file("t-9.kymo"))
    check(place.record(["mark", "1"], output=None), 0, 1, says=r"^kymo: t-9\.kymo: ")


def the_longest_name_is_no_problem(place):
    check(place.record(["mark", "1"], output="x" * 250 + ".kymo"), 0, 1)
    place.check_tidy()


# ---- Processes ----

def forked_children_are_recorded(place):
    check(place.record(["mark", "10", "fork", "mark", "5", "fork", "mark", "2", "exit", "4"]),
          4, 17, says="in 3 processes")


def forking_while_threads_record_loses_nothing(place):
    need_forks_of_threads()
    check(place.record(["storm", "50"]), 0, 8000 + 500, says="in 51 processes.*nothing lost")


def a_child_whose_parent_had_no_mark_is_recorded(place):
    check(place.record(["fork", "mark", "5"]), 0, 5)


def forked_children_are_left_out_if_that_is_wanted(place):
    check(place.record("--no-follow-fork", ["mark", "10", "fork", "mark", "5"]), 0, 10)
    check(place.record("-f", "--no-follow-fork", ["fork", "mark", "5"]), 0, 0)
    check(place.record("-f", "--no-follow-fork", ["mark", "1", "exec", "mark", "5"]), 0, 6)


def an_image_replaced_by_exec_keeps_what_it_recorded(place):
    check(place.record(["mark", "10", "exec", "mark", "5"]), 0, 15)


def a_daemon_is_waited_for(place):
    # The daemon lets its starter end once it has attached itself.
    script = f'"$0" mark 1 daemon mark 5 ready {place.file("ready")} sleep 500 mark 7; ' \
             f'"$0" wait {place.file("ready")}'
    result = place.finish(place.run_shell(script))
    check(result, 0, 13)


def what_goes_on_without_having_recorded_is_named(place):
    """A daemon that reaches its first point after the recording, as many servers do."""
    begun, ended = place.file("ready"), place.file("ended")
    script = f'"$0" mark 1; ("$0" ready {begun} wait {place.file("go")} mark 5 ready {ended} ' \
             f'</dev/null >/dev/null 2>&1 &); "$0" wait {begun}'
    check(place.finish(place.run_shell(script, output="t.json")), 0, 1,
          says=r"; process [0-9]+ \(\S+\) goes on and is not recorded$")
    with open(place.file("t.json"), encoding="utf-8") as f:
        ours = json.load(f)["kymo"]
    said = [s for s in ours["sources"] if s["name"] == "kymo record"]
    assert [(s["state"], s["reason"]) for s in said] == [
        ("ready", "it goes on, and had reached nothing to record by the end")], said
    process = ours["processes"][said[0]["process"]]
    assert os.path.samefile(f"/proc/{process['pid']}/exe", process["exe"]), process
    assert begun in process["command line"], process
    place.touch("go")
    until(lambda: os.path.exists(ended), "the daemon, which goes on")
    check(place.finish(place.run_shell('"$0" mark 1', "-f")), 0, 1, says="nothing lost$")


def only_the_program_is_waited_for_if_that_is_wanted(place):
    script = f'"$0" mark 5 ready {place.file("ready")} wait {place.file("go")} mark 7 ' \
             f'>/dev/null 2>&1 & "$0" wait {place.file("ready")}'
    check(place.finish(place.run_shell(script, "--wait", "primary")), 0, 5)
    place.touch("go")


def many_threads_lose_nothing(place):
    check(place.record(["thread", "64"]), 0, 6400, says="nothing lost")


def sixteen_processes_attach_at_once(place):
    script = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$0" mark 100 & done; wait'
    result = place.finish(place.run_shell(script))
    check(result, 0, 1600, says="in 16 processes")
    place.check_tidy()


def a_program_that_closes_all_descriptors_is_recorded(place):
    check(place.record(["close", "mark", "5", "close", "mark", "5"]), 0, 10)


def a_recording_within_a_recording_is_two(place):
    result = place.finish(place.run(
        [KYMO, "record", "-o", place.file("outer.kymo"), "--", KYMO, "record", "-o",
         place.file("inner.kymo"), "--", MARKS, "mark", "9"]))
    check(result, 0, says=r"inner\.kymo: 9 events")
    check(result, 0, says=r"outer\.kymo: 0 events")
    place.check_tidy()


# ---- Sources ----

def a_source_is_injected_into_a_program_that_knows_nothing(place):
    result = place.record("-t", INJECTED, ["1000"], program=BARE)
    check(result, 0, 1000, says=r"1,000 events, 1,000 kernels, .*nothing lost")
    assert result.out == "0\n", result
    place.check_tidy()


def what_a_source_has_lost_is_known_also_after_kill_9(place):
    result = place.record("-t", INJECTED + ":lose=1", ["10", "kill"], program=BARE)
    check(result, 128 + signal.SIGKILL, 10, says=r"lost 10 \(dropped by sources 10\)")
    place.check_tidy()


def a_list_that_is_there_already_is_added_to(place):
    place.environment["KYMO_TEST_RUNTIME"] = "/some/other.so"
    check(place.record("-t", INJECTED, ["5"], program=BARE), 0, 5)


def a_source_goes_on_in_a_forked_child(place):
    result = place.record("-t", INJECTED, ["10", "fork", "20"], program=BARE)
    check(result, 0, 30, says="in 2 processes")
    assert result.out == "0\n1\n", result
    result = place.record("-f", "--no-follow-fork", "-t", INJECTED, ["10", "fork", "20"],
                          program=BARE)
    check(result, 0, 10)


def a_source_that_never_came_is_told(place):
    result = place.record("-t", INJECTED, program="true")
    check(result, 0, 0, says="injected: never loaded by the program")


def a_plugin_that_finds_no_agent_says_why(place):
    """
    The program gets another environment than it was given, as from a script of its own. Nobody
    waits for an answer, so it may have ended when its name is looked for.
    """
    def bare(agent, *options):
        result = place.finish(place.run(
            [KYMO, "record", "-f", *options, "-o", place.file("t.kymo"), "--", "env", *agent,
             BARE, "7"]))
        check(result, 0, 0)
        assert result.out == "-1\n", result
        return result

    nowhere = bare(["KYMO_AGENT=/nowhere/libkymo.so"], "-t", INJECTED)
    assert re.search(r"^kymo: injected: never loaded by a process that was recorded$", nowhere.err,
                     re.M), nowhere
    assert re.search(r"process \d+ \((bare|unknown)\) was not recorded: the plug-in \"injected\" found no "
                     r"agent there: /nowhere/libkymo\.so: cannot open", nowhere.last), nowhere
    # The file of something else, and none.
    assert re.search(r"undefined symbol: kymo_agent_attach", bare([f"KYMO_AGENT={INJECTED}"], "-t",
                                                                  INJECTED).last)
    assert re.search(r"KYMO_AGENT is not set", bare(["-u", "KYMO_AGENT"], "-t", INJECTED).last)
    # Without a recorder there is nobody to tell.
    alone = bare(["-u", "KYMO_SESSION", "-u", "KYMO_AGENT"], "-t", INJECTED)
    assert "found no agent" not in alone.err and "never loaded by the program" in alone.err, alone


def a_program_with_marks_is_told_nothing_of_sources(place):
    result = place.record(["mark", "1"])
    check(result, 0, 1, says=r"^kymo: \S*t\.kymo: 1 event, ")
    assert len(result.lines) == 1, result


def app_is_the_programs_own_marks(place):
    result = place.record("-t", "app", "--require", "app", ["mark", "3"])
    check(result, 0, 3)
    assert len(result.lines) == 1, result
    check(place.record("-f", "--require", "app", ["mark", "3"]), 0, 3)
    check(place.record("-f", "-t", INJECTED + " , app", "--require", " app,injected ", ["5"],
                       program=BARE), 125, 5, says="did not record: app: the program made no mark")
    result = place.record("-f", "-t", "app", program="true")
    check(result, 0, 0, says="nothing was recorded")
    assert "never loaded" not in result.err, result


def a_compatible_trace_is_written_if_that_is_wanted(place):
    check(place.record("--compat", "tensorboard", ["mark", "2"], output="t.json"), 0, 2)
    with open(place.file("t.json"), encoding="utf-8") as f:
        assert '"synthetic": true' in f.read()
    place.check_tidy()


def a_source_that_refuses_is_told_with_reason_and_remedy(place):
    result = place.record("-t", INJECTED + ":refuse=1", ["10"], program=BARE)
    check(result, 0, 0, says="not recorded: injected: denied: it was told to refuse; "
                             "do not tell it")


def a_source_that_recorded_in_part_has_a_line_in_front_of_the_last(place):
    result = place.record("-t", INJECTED + ":lack=1", ["10"], program=BARE)
    check(result, 0, 10)
    assert result.lines[0] == "kymo: recorded in part: injected: there is no counter; " \
                              "name another" and len(result.lines) == 2, result
    result = place.record("-f", "-t", INJECTED + ":lack=1", ["0"], program=BARE)
    assert "nothing was recorded" not in result.err and len(result.lines) == 2, result
    result = place.record("-f", "-t", INJECTED + ":lack=0", ["10"], program=BARE)
    assert len(result.lines) == 1, result


def a_required_source_must_have_recorded(place):
    check(place.record("-t", INJECTED, "--require", "injected", ["1"], program=BARE), 0, 1)
    result = place.record("-f", "-t", INJECTED, "--require", "injected", program="true")
    check(result, 125, 0, says="a required source did not record: injected: never loaded")
    assert os.path.exists(place.file("t.kymo"))
    result = place.record("-f", "-t", INJECTED + ":refuse=1", "--require", "injected", ["1"],
                          program=BARE)
    check(result, 125, 0, says="injected: denied: it was told to refuse")
    result = place.record("-f", "-t", INJECTED, "--require", "other",
                          ["ready", place.file("ran")])
    check(result, 125, says='"other" is none of those to be recorded: injected')
    assert not os.path.exists(place.file("ran"))


def a_plugin_that_does_not_load_is_told_before_anything_runs(place):
    for name, text in (("text.so", b"no library"), ("broken.so", b"\x7fELF and no more")):
        with open(place.file(name), "wb") as f:
            f.write(text)
        result = place.record("-t", place.file(name), ["ready", place.file("ran")])
        check(result, 125, says=re.escape(name))
    shutil.copy(INJECTED, place.file("second.so"))
    result = place.record("-t", INJECTED + "," + place.file("second.so"),
                          ["ready", place.file("ran")])
    check(result, 125, says=r'"injected" of \S+second\.so: .* in \S+injected\.so; name only')
    assert not os.path.exists(place.file("ran"))
    place.check_tidy()


# ---- The program's world ----

def the_program_has_no_descriptor_and_no_thread_of_ours(place):
    words = ["descriptors", "mark", "5", "descriptors", "fork", "mark", "1", "descriptors"]
    alone = subprocess.run([MARKS] + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=True).stdout.decode()
    result = place.record(words)
    check(result, 0, 6)
    assert result.out == alone, (result.out, alone)


def the_environment_is_passed_on_intact(place):
    place.environment.update({"EMPTY": "", "QUOTES": "a 'b' \"c\" $d \\", "ODD": "x=y=z\n"})
    alone = subprocess.run([MARKS, "environment"], env=place.environment, check=True,
                           stdout=subprocess.PIPE).stdout.decode().splitlines()
    result = place.record(["environment"])
    check(result, 0)
    ours = [line for line in result.out.splitlines() if line not in alone]
    gone = [line for line in alone if line not in result.out.splitlines()]
    names = {line.split("=")[0] for line in ours}
    assert {"KYMO_SESSION", "KYMO_AGENT"} <= names, ours
    # A list that a plug-in is added to is another line than before.
    assert all(line.split("=")[0] in names for line in gone), gone


def signal_dispositions_are_passed_on(place):
    def show(prefix):
        command = prefix + ["sh", "-c", "grep -E '^Sig(Ign|Blk)' /proc/self/status"]
        return subprocess.run(command, env=place.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
                              ).stdout
    assert show([]) == show([KYMO, "record", "-f", "-o", place.file("t.kymo"), "--"])


def an_ignored_sigchld_does_not_cost_the_status(place):
    result = place.record(["mark", "1", "exit", "6"],
                          preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    check(result, 6, 1)


def never_waits(run):
    """Who waits for an answer does so each time; a machine is not busy each time."""
    def took():
        begin = time.monotonic()
        run()
        return time.monotonic() - begin
    return any(took() < ANSWER_S for _ in range(5))


def without_a_recorder_the_program_goes_on_at_once(place):
    for session in (None, "", "relative", "/no/such/socket", "/" + "x" * 300):
        environment = dict(place.environment)
        if session is not None:
            environment["KYMO_SESSION"] = session
        assert never_waits(lambda env=environment: subprocess.run(
            [MARKS, "mark", "10", "fork", "mark", "1"], env=env, check=True)), session


# ---- Signals ----

def sigterm_is_passed_on_and_sigint_left_to_the_program(place):
    process = place.start(["mark", "3", "ready", place.file("ready"), "sleep", "30000"])
    until(lambda: os.path.exists(place.file("ready")), "the program")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGQUIT)
    time.sleep(0.2)
    assert process.poll() is None, "SIGINT ended the recorder"
    process.send_signal(signal.SIGTERM)
    check(place.finish(process), 128 + signal.SIGTERM, 3)
    place.check_tidy()


def what_a_batch_system_warns_with_reaches_the_program(place):
    for number in signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU:
        ready = place.file(f"ready{number}")
        process = place.start("-f", ["mark", "3", "ready", ready, "sleep", "30000"])
        until(lambda: os.path.exists(ready), "the program")
        process.send_signal(number)
        check(place.finish(process), 128 + number, 3)
    place.check_tidy()


def interrupting_the_wait_for_others_writes_what_there_is(place):
    script = f'"$0" mark 5 ready {place.file("ready")} wait {place.file("go")} ' \
             f'>/dev/null 2>&1 & "$0" wait {place.file("ready")}'
    process = place.run_shell(script)
    until(lambda: os.path.exists(place.file("ready")), "the job")
    until(lambda: "sh" not in map(name_of, children(process.pid)), "the end of the program")
    process.send_signal(signal.SIGINT)
    result = place.finish(process)
    place.touch("go")
    check(result, 0, 5)


# ---- Deaths ----

def a_temporary_folder_that_is_tidied_up_is_told(place):
    result = place.finish(place.run_shell('"$0" mark 3; rm -r "${KYMO_SESSION%/s}"; "$0" mark 5'))
    check(result, 0, 3, says=r"the recorder's folder \S+ was removed while the program ran: ")
    place.check_tidy()


def an_output_folder_that_is_tidied_up_loses_nothing(place):
    process = place.start(["mark", "30000", "ready", place.file("ready"), "wait", place.file("go"),
                           "mark", "5000"], output="t.json")
    until(lambda: os.path.exists(place.file("ready")), "the program")
    hidden, = [n for n in os.listdir(place.path) if n.startswith(".t.json")]
    os.unlink(place.file(hidden))
    place.touch("go")
    check(place.finish(process), 0, 35000, says="nothing lost")
    place.check_tidy()


def a_killed_keeper_is_replaced_and_nothing_is_lost(place):
    process = place.start(["mark", "10", "fork", "mark", "20", "ready", place.file("ready"),
                           "wait", place.file("go"), "mark", "30"])
    until(lambda: os.path.exists(place.file("ready")), "the program")
    first = keeper_of(process.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: keeper_of(process.pid) != first, "another keeper")
    place.touch("go")
    check(place.finish(process), 0, 60)
    place.check_tidy()


def a_killed_keeper_keeps_the_captures_that_were_whole(place):
    # The first process is in the file when the keeper dies.
    script = f'"$0" mark 10; "$0" ready {place.file("ready")} wait {place.file("go")} mark 7'
    process = place.run_shell(script)
    until(lambda: os.path.exists(place.file("ready")), "the second process")
    time.sleep(0.2)
    first = keeper_of(process.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: keeper_of(process.pid) != first, "another keeper")
    place.touch("go")
    check(place.finish(process), 0, 17)
    place.check_tidy()


def two_killed_keepers_fail_but_not_the_program(place):
    process = place.start(["mark", "10", "ready", place.file("ready"), "wait",
                           place.file("go"), "ready", place.file("ran"), "exit", "3"])
    until(lambda: os.path.exists(place.file("ready")), "the program")
    first = keeper_of(process.pid)
    os.kill(first, signal.SIGKILL)
    until(lambda: keeper_of(process.pid) != first, "another keeper")
    os.kill(keeper_of(process.pid), signal.SIGKILL)
    time.sleep(0.2)
    place.touch("go")
    check(place.finish(process), 125, says="killed twice")
    assert os.path.exists(place.file("ran")), "the program did not go on"
    assert os.listdir(place.tmp) == [], os.listdir(place.tmp)


def a_killed_front_leaves_the_keeper_to_finish(place):
    process = place.start(["mark", "10", "ready", place.file("ready"), "wait",
                           place.file("go"), "mark", "20"])
    until(lambda: os.path.exists(place.file("ready")), "the program")
    keeper_of(process.pid)
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    place.touch("go")
    until(lambda: os.path.exists(place.file("t.kymo")), "the capture")
    again = place.record("-f", ["mark", "1"], output="other.kymo")
    check(again, 0, 1)
    until(lambda: not any(n.startswith(".") for n in os.listdir(place.path)), "tidiness")
    assert os.path.getsize(place.file("t.kymo")) > os.path.getsize(place.file("other.kymo"))
    until(lambda: os.listdir(place.tmp) == [], "the end of the socket's folder")


def a_program_that_is_killed_before_it_starts_has_ended(place):
    for _ in range(50):
        # "app": no plug-in is tried before, which would be a child too.
        process = place.start("-f", "-t", "app", ["mark", "1"])
        until(lambda: children(process.pid) or process.poll() is not None, "the program")
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.01)
        waiting = [p for p in children(process.pid) if name_of(p) == "kymo"]
        if waiting:
            os.kill(waiting[0], signal.SIGKILL)
        process.send_signal(signal.SIGCONT)
        result = place.finish(process)
        if waiting:
            check(result, 128 + signal.SIGKILL)
            place.check_tidy()
            return
    raise Skip("the program always was too quick")


def few_descriptors_do_or_are_named_as_the_reason(place):
    for limit in range(8, 24):
        result = place.finish(place.run(
            [KYMO, "record", "-f", "-o", place.file("t.kymo"), "--", "true"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))))
        if result.status != 0:
            check(result, 125, says="Too many open files|too many descriptors")
    # The socket is the fourth, the memory the fifth.
    result = place.finish(place.run_shell("ulimit -n 4; exec $0 mark 5", "-f"))
    check(result, 0, 0, says=r"it may have as many descriptors open as it is allowed \(ulimit -n")
    place.check_tidy()


def a_capture_of_killed_recorders_says_that_it_ends_early(place):
    process = place.start(["mark", "10", "ready", place.file("ready"), "wait",
                           place.file("go")], output="t.json")
    until(lambda: os.path.exists(place.file("ready")), "the program")
    kept = [n for n in os.listdir(place.path) if n.startswith(".t.json.kymo-")]
    assert len(kept) == 1, os.listdir(place.path)
    capture, trace = place.file(kept[0]), place.file("late.json")

    def is_streamed():
        done = place.finish(place.run([KYMO, "info", "--json", capture]))
        return done.status == 0 and json.loads(done.out)["ledger"]["written"] == 10
    until(is_streamed, "what streams to the file, once a second")
    keeper = keeper_of(process.pid)
    process.kill()
    os.kill(keeper, signal.SIGKILL)
    process.wait()
    place.touch("go")
    words = "the capture ends early (recorder killed or file cut): what follows is missing"
    done = place.finish(place.run([KYMO, "export", capture, "-o", trace]))
    assert done.status == 0 and done.out.rstrip().endswith("; " + words), done
    assert "10 events" in done.out and "nothing lost" not in done.out, done
    for path in (capture, trace):
        assert f"note      {words}" in place.finish(place.run([KYMO, "info", path])).out, path
        said = json.loads(place.finish(place.run([KYMO, "info", "--json", path])).out)
        assert said["incomplete"] is True and said["ledger"]["cut_captures"] == 1, said
    with open(trace, encoding="utf-8") as f:
        assert json.load(f)["metadata"]["incomplete"] == words


def a_read_only_tmp_is_no_obstacle(place):
    script = f"""mount --bind /tmp /tmp && mount --bind {place.path} {place.path} &&
                 mount -o remount,bind,ro /tmp && cd {place.path} && exec "$@" """
    command = ["unshare", "-r", "-m", "sh", "-c", script, "sh"]
    if not place.path.startswith("/tmp/") or not os.access("/dev/shm", os.W_OK) or \
            subprocess.run(command + ["true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no private mount here")
    del place.environment["TMPDIR"]
    before = os.listdir("/dev/shm")
    check(place.finish(place.run(command + [KYMO, "record", "-o", place.file("t.kymo"), "--",
                                            MARKS, "mark", "5"])), 0, 5)
    assert not [n for n in set(os.listdir("/dev/shm")) - set(before) if n.startswith("kymo-")]


def a_full_disk_is_told_and_the_program_goes_on(place):
    small = place.file("small")
    os.mkdir(small)
    script = f'mount -t tmpfs -o size=100k none {small} && shift && exec "$@"'
    command = ["unshare", "-r", "-m", "sh", "-c", script, "sh", "x"]
    if subprocess.run(command + ["true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no private mount here")
    result = place.finish(place.run(
        command + [KYMO, "record", "-o", os.path.join(small, "t.kymo"), "--", MARKS, "mark",
                   "100000", "ready", place.file("ran"), "exit", "3"]))
    check(result, 125, says="No space left on device")
    assert "lost 100,000" in result.err and "made no mark" not in result.err, result
    assert os.path.exists(place.file("ran")), "the program did not go on"
    assert os.listdir(place.tmp) == [], os.listdir(place.tmp)


def a_limit_of_file_sizes_is_no_obstacle_or_told(place):
    def limit(soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    unlimited = resource.RLIM_INFINITY
    check(place.record(["mark", "5000"], preexec_fn=limit(1000, unlimited)), 0, 5000)
    check(place.record("-f", ["mark", "5"], preexec_fn=limit(1000, 1000)), 125,
          says="File too large")
    place.check_tidy()


def a_sandbox_that_kills_is_named_with_what_helps(place):
    result = place.record(["forbid", "mark", "5"])
    check(result, 128 + signal.SIGSYS, 0, says=r"its sandbox forbids \(SIGSYS\); if it is not "
                                               r"without kymo, let socket, .* munlock, ")
    check(place.record("-f", ["mark", "3", "forbid", "mark", "5"]), 0, 8)
    place.check_tidy()


def closed_standard_descriptors_do_no_harm(place):
    command = f'exec "$0" record -o {place.file("t.kymo")} -- "$1" mark 5000 exit 4 <&- >&- 2>&-'
    process = subprocess.run(["sh", "-c", command, KYMO, MARKS], env=place.environment,
                             timeout=LIMIT_S, check=False)
    assert process.returncode == 4, process
    assert os.path.getsize(place.file("t.kymo")) > 5000 * 64
    place.check_tidy()


# ---- Odd callers ----

class Caller:
    """Speaks the attach protocol from Python, as well or badly as a case wants."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(LIMIT_S)
        until(lambda: self.socket.connect_ex(path) == 0, "the recorder to listen")

    def hello(self, major=1, minor=0, kind=HELLO, format_major=1, size=HELLO_SIZE):
        head = HEAD.pack(MAGIC, major, minor, kind, format_major, 0)
        self.socket.send((head + bytes(HELLO_SIZE))[:size])

    def answer(self):
        """Status and message of the welcome, None if the recorder hung up."""
        data = self.socket.recv(2 * WELCOME_SIZE)
        if not data:
            return None
        assert len(data) == WELCOME_SIZE and HEAD.unpack_from(data)[3] == WELCOME
        message = data[WELCOME_MESSAGE:].split(b"\0")[0].decode()
        return struct.unpack_from("<i", data, HEAD.size)[0], message


def session_of(place):
    """The socket of the recorder that runs here."""
    found = []

    def look():
        found[:] = [os.path.join(place.tmp, n, "s") for n in os.listdir(place.tmp)
                    if n.startswith("kymo-")]
        return found and os.path.exists(found[0])
    until(look, "the recorder's socket")
    return found[0]


def another_protocol_is_refused_with_both_numbers(place):
    for odd, says in (({"major": 7, "minor": 3}, r"attach protocol 7\.3, this one 1\.0"),
                      ({"format_major": 9}, r"capture format 9\.0, this one 1\.0")):
        process = place.start("-f", ["mark", "5", "wait", place.file("go")])
        caller = Caller(session_of(place))
        caller.hello(**odd)
        status, message = caller.answer()
        assert status == -7 and re.search(says, message), (status, message)
        place.touch("go")
        result = place.finish(process)
        check(result, 0, 5)
        assert re.search(rf"process {os.getpid()} \(.*\) was not recorded: .*{says}",
                         result.last), result
        os.unlink(place.file("go"))
    place.check_tidy()


def a_program_keeps_the_memory_that_it_is_limited_to(place):
    """What a recording maps would be most of it, and so would be what a source is given."""
    need_limits_of_address_space()
    place.environment["KYMO_TEST_RUNTIME"] = INJECTED
    for option, what in ("-v", "address space"), ("-d", "private memory"):
        little = f"ulimit {option} 100000; exec $0 load {INJECTED} work 1 room 75"
        result = place.finish(place.run_shell(little, "-f", "-t", "openmp"))
        check(result, 0, 0)
        assert result.lines[:-1] == ["kymo: openmp: never loaded by a process that was recorded"]
        assert result.out == "room\n", result
        assert re.search(
            rf"was not recorded: its {what} is limited to 97 MiB \(ulimit {option}\), and "
            r"recording takes \d+ MiB, but no more than a quarter of what is left: a limit of "
            r"\d+ MiB would do$", result.last), result
        roomy = f"ulimit {option} 4000000; exec $0 mark 5"
        check(place.finish(place.run_shell(roomy, "-f")), 0, 5, says="nothing lost")
    place.check_tidy()


def garbage_and_silence_do_no_harm(place):
    process = place.start(["mark", "5", "wait", place.file("go"), "fork", "mark", "3"])
    path = session_of(place)
    for size in (1, 15, 16, 1159):
        caller = Caller(path)
        caller.hello(size=size)
        assert caller.answer()[0] == -1
    caller = Caller(path)
    caller.socket.send(b"x" * 100000)
    assert caller.answer()[0] == -1
    silent = Caller(path)
    greeted = Caller(path)
    greeted.hello()
    assert greeted.answer()[0] == 0
    greeted.socket.close()  # without a word whether the capture is used
    place.touch("go")
    check(place.finish(process), 0, 8)
    silent.socket.close()
    place.check_tidy()


def who_is_slow_to_attach_keeps_its_capture(place):
    process = place.start(["mark", "5"])
    caller = Caller(session_of(place))
    caller.hello()
    assert caller.answer()[0] == 0
    time.sleep(ANSWER_S + 0.5)
    assert process.poll() is None
    caller.socket.setblocking(False)
    try:
        assert caller.socket.recv(1) is None, "it was given up"
    except BlockingIOError:
        caller.socket.close()
    check(place.finish(process), 0, 5)
    place.check_tidy()


def listen(place):
    path = os.path.join(place.tmp, "fake")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(path)
    server.listen(4)
    place.environment["KYMO_SESSION"] = path
    return server


def a_recorder_that_does_not_answer_costs_two_seconds_once(place):
    server = listen(place)
    begin = time.monotonic()
    subprocess.run([MARKS, "mark", "5", "fork", "mark", "5"], env=place.environment, check=True)
    took = time.monotonic() - begin
    assert ANSWER_S - 0.1 < took, took
    # The child has not come to ask as well.
    server.setblocking(False)
    server.accept()[0].close()
    try:
        server.accept()
    except BlockingIOError:
        server.close()
        return
    raise AssertionError("it asked twice")


def a_child_forked_in_the_middle_of_attaching_is_not_stuck(place):
    need_forks_of_threads()
    words = ["fork", "mark", "1", "descriptors"]
    alone = subprocess.run([MARKS] + words, stdout=subprocess.PIPE, check=True).stdout
    server = listen(place)
    process = subprocess.run([MARKS, "aside"] + words, env=place.environment, check=True,
                             stdout=subprocess.PIPE, timeout=LIMIT_S)
    # Nor does it keep what its parent had open in that moment.
    assert process.stdout == alone, (process.stdout, alone)
    server.close()


def a_recorder_that_says_no_or_nonsense_costs_nothing(place):
    ok = HEAD.pack(MAGIC, 1, 0, WELCOME, 1, 0) + struct.pack("<i", 0)
    no = HEAD.pack(MAGIC, 1, 0, WELCOME, 1, 0) + struct.pack("<i", -5)
    other = HEAD.pack(MAGIC, 2, 0, WELCOME, 1, 0)

    def attach_to_one_that_says(answer):
        server = listen(place)
        process = subprocess.Popen([MARKS, "mark", "5"], env=place.environment)
        connection, _ = server.accept()
        assert len(connection.recv(4096)) == HELLO_SIZE
        if answer:
            connection.send(answer)
        else:
            connection.close()
        assert process.wait(timeout=LIMIT_S) == 0
        connection.close()
        server.close()
        os.unlink(place.environment["KYMO_SESSION"])
    for answer in (no.ljust(WELCOME_SIZE, b"\0"), other, b"nonsense", b"",
                   ok.ljust(WELCOME_SIZE, b"\0")):
        assert never_waits(lambda said=answer: attach_to_one_that_says(said)), answer[:16]


def threads_of_a_plug_in_take_no_signal_away(place):
    """The sink has one in the front, as it is loaded there, and in the keeper."""
    sink = os.path.join(PROGRAMS, "exiting_sink.so")
    process = place.start("--sink", sink, ["mark", "3", "ready", place.file("ready"), "wait",
                                           place.file("never")], output="t.json")
    until(lambda: os.path.exists(place.file("ready")), "the program")
    process.send_signal(signal.SIGTERM)
    check(place.finish(process), 128 + signal.SIGTERM, 3)
    check(place.record("--sink", sink, ["mark", "3"], output="signal.exit"), 0, 3)
    place.check_tidy()


def memory_that_could_shrink_is_not_mapped(place):
    server = listen(place)
    memory = os.memfd_create("unsealed")
    os.ftruncate(memory, 64 << 20)
    ok = HEAD.pack(MAGIC, 1, 0, WELCOME, 1, 0) + struct.pack("<i", 0)
    said = b""
    while not said:  # it does not wait for long
        process = subprocess.Popen([MARKS, "mark", "5"], env=place.environment)
        connection, _ = server.accept()
        connection.recv(4096)
        try:
            socket.send_fds(connection, [ok.ljust(WELCOME_SIZE, b"\0")], [memory])
            said = connection.recv(4096)
        except BrokenPipeError:
            pass
        if not said:
            assert process.wait(timeout=LIMIT_S) == 0
    status, message = struct.unpack_from("<i", said, HEAD.size)[0], said[24:].split(b"\0")[0]
    assert status != 0 and b"sealed" in message, (status, message)
    assert process.wait(timeout=LIMIT_S) == 0
    os.close(memory)
    server.close()


def in_place(case):
    place = Place()
    try:
        case(place)
    finally:
        place.remove()


def main(names, *helpers):
    """Runs the functions that take a place alone, but for helpers."""
    run_cases([case for case in cases_of(names, "place") if case not in helpers], in_place)


if __name__ == "__main__":
    main(globals(), session_of, listen)
