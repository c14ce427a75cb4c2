#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The perf source under `kymo record`: what it counts against what the program says it has used,
and each right or file that may be missing. Prints TAP; `perf_test.py WORD` runs the cases whose
names have the word."""
import collections
import functools
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("e2e", "support")]
from tap import Skip, cases_of, given_time, run_cases
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PROGRAM = os.environ["PERF_PROGRAM"]
SESSION = os.environ["PERF_SESSION"]
FORBID = os.environ["PERF_FORBID"]
PMU = os.environ["PERF_PMU"]
PLUGIN = os.path.join(BUILD, "plugins", "source", "perf.so")
OPENCL_DEMO = os.path.join(BUILD, "tests", "opencl", "cl_demo")
NOBODY = 65534
RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
NO_PMU = "cycles, instructions, cache misses: no PMU"


@functools.cache
def why_no_events():
    done = subprocess.run([KYMO, "doctor", "--json", "perf"], capture_output=True, text=True,
                          check=False)
    source, = json.loads(done.stdout)["sources"]
    return source["why"] if "stacks, switches" in source["why"] else None


def need_events():
    if why_no_events():
        raise Skip(why_no_events())


def need_root():
    if os.geteuid() != 0:
        raise Skip("it is not run by root")


class Run:
    """One recorded run: its status, what it printed, its trace."""

    def __init__(self, folder, words, options="", program=(PROGRAM,), record=(), by=(),
                 others=(), **more):
        self.path = os.path.join(folder, "trace.json")
        source = ",".join(["perf", *others] + [f"perf:{o}" for o in options.split()])
        command = [*by, KYMO, "record", "-f", "-t", source, "-o", self.path, *record, "--",
                   *program, *words.split()]
        self.run(command, **more)

    def run(self, command, **more):
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False,
                              **more)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert os.path.exists(self.path), done.stderr
        self.trace = Trace(self.path)

    def reports(self):
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def sources(self):
        return [s for s in self.trace.data["kymo"]["sources"] if s["name"] == "perf"]

    def reason(self):
        source, = self.sources()
        return f"{source.get('reason', '')}; {source.get('remedy', '')}"

    def is_missing(self, what, why):
        """What shares a reason is named in the order in which it was missed."""
        return re.search(rf"\b{what}(, [^:;]*)?: {why}", self.reason()) is not None

    def samples_of(self, name, pid=None):
        return [e for e in self.trace.events if e["ph"] == "C" and e["name"] == name
                and pid in (None, e["pid"])]

    def sum_of(self, name, series, pid=None):
        return sum(e["args"][series] for e in self.samples_of(name, pid))

    def check_cpu_time(self, report, pid=None):
        """What the program says of its threads, and what it does before and after that."""
        total, used = self.sum_of("cpu (ns)", "task clock", pid), report["cpu_ns"]
        assert 0.98 * used <= total < 1.05 * used + 30e6, (total, report)

    def stacks(self):
        return [e for e in self.trace.events if e["cat"] == "perf.sample"]

    def off_cpu(self):
        return [e for e in self.trace.spans if e["cat"] == "perf.off_cpu"]

    def pids(self):
        return {e["pid"] for e in self.samples_of("cpu (ns)")}


@functools.cache
def symbol_range(name):
    out = subprocess.run(["nm", "-S", PROGRAM], check=True, capture_output=True,
                         text=True).stdout
    begin, size = re.search(rf"^(\w+) (\w+) [tT] {name}$", out, re.M).groups()
    return int(begin, 16), int(begin, 16) + int(size, 16)


def is_in(text, symbol):
    """`text` is how a trace shows a code address: with its symbol, or only with its file."""
    if text.startswith(symbol):
        return True
    found = re.match(r"perf_program\+0x([0-9a-f]+)", text)
    begin, end = symbol_range(symbol)
    return found is not None and begin <= int(found[1], 16) < end


# ---- Counters ----

def faults_and_switches_are_as_many_as_the_program_says(folder):
    run = Run(folder, "faults 5000 switches 300 report")
    assert run.status == 0, run.err
    report, = run.reports()
    assert report["minor"] >= 5000 and report["voluntary"] > 200, report
    # What comes before main and after the report is counted as well: a few.
    for mine, name, series in (("minor", "page faults", "minor"),
                               ("voluntary", "context switches", "voluntary")):
        total = run.sum_of(name, series)
        assert report[mine] - 5 <= total <= report[mine] + 300, (total, report)


def the_samplers_own_switches_are_not_the_programs(folder):
    """It wakes up for each of some 200 ticks, where the program sleeps."""
    run = Run(folder, "sleep 1000 report", "interval=5ms")
    report, = run.reports()
    ticks = len(run.samples_of("context switches"))
    total = run.sum_of("context switches", "voluntary")
    assert ticks > 20, ticks
    assert total <= report["voluntary"] + 10, (total, report, ticks)


def cpu_time_is_that_of_all_threads_whenever_they_came(folder):
    run = Run(folder, "spin 50 threads 4 100 report")
    report, = run.reports()
    assert report["cpu_ns"] > 450e6, report
    run.check_cpu_time(report)
    # busy is the same by the length of its window; of a short one the clocks know less.
    samples = run.samples_of("cpu (ns)")
    shares = {e["ts"]: e["args"]["busy"] for e in run.samples_of("cpu (%)")}
    windows = [(this, following["ts"] - this["ts"]) for this, following in zip(samples, samples[1:])]
    assert max(length for _, length in windows) > 1000, windows
    for this, length in windows:
        share = this["args"]["task clock"] / length / 10
        assert abs(shares[this["ts"]] - share) < 1 + 0.05 * share or length < 1000, (this, share)


def windows_follow_each_other_at_the_interval(folder):
    def follow(interval_ms, factor):
        run = Run(folder, f"sleep {300 * factor}", f"interval={interval_ms}ms")
        for name in ("cpu (ns)", "page faults", "context switches", "memory"):
            times = [e["ts"] for e in run.samples_of(name)]
            assert times == sorted(set(times)), name
            # A machine that is busy has fewer, and the last ends with the program.
            intervals = (times[-1] - times[0]) / 1000 / interval_ms
            assert intervals / 8 < len(times) < intervals + 3, (interval_ms, name, times)
            assert times[-1] - times[0] > 150000, (interval_ms, name, times)

    for interval in (2, 50):
        given_time(functools.partial(follow, interval))


def memory_is_what_is_resident(folder):
    def look(factor):
        run = Run(folder, f"sleep {50 * factor} faults 8192 sleep {50 * factor}")
        sizes = [e["args"]["resident"] for e in run.samples_of("memory")]
        assert min(sizes) < 20 << 20 and 30 << 20 < max(sizes) - min(sizes) < 40 << 20, sizes
        assert all(e["args"]["shared"] <= e["args"]["resident"] for e in run.samples_of("memory"))
    given_time(look)


def pressure_is_a_share_of_the_time(folder):
    if not os.path.exists("/proc/pressure/io"):
        raise Skip("there is no PSI")
    # On one CPU, however many there are.
    cpu = min(os.sched_getaffinity(0))
    run = Run(folder, "threads 8 50", preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    samples = run.samples_of("pressure")
    assert samples and set(samples[0]["args"]) == {"cpu some", "memory some", "memory full",
                                                   "io some", "io full"}, samples[:1]
    # The kernel weighs it by the CPUs that are busy.
    assert max(e["args"]["cpu some"] for e in samples) > 1, "8 threads want more than one CPU"
    # Those that read may have to wait as well: not more than there was, for all that.
    assert all(0 <= share <= 100 for e in samples for share in e["args"].values()), samples


def the_types_that_are_not_wanted_are_not_opened(folder):
    run = Run(folder, "spin 50", "stacks=999", record=["--types", "perf.memory"])
    cats = {e["cat"] for e in run.trace.events if e["ph"] != "M"} - {"Trace"}
    assert cats == {"perf.memory"}, cats
    assert run.sources()[0]["state"] == "recording", run.sources()
    assert run.sources()[0]["filtered"] == 0, run.sources()


def a_pmu_is_counted_in_a_group(folder):
    """Preloaded, it counts ns on the CPU as cycles and faults as instructions."""
    need_events()
    run = Run(folder, "faults 3000 spin 50 faults 3000 threads 4 50 report",
              env=dict(os.environ, LD_PRELOAD=PMU))
    report, = run.reports()
    cycles = run.sum_of("cpu events", "cycles")
    faults = run.sum_of("cpu events", "instructions")
    # The sampler's own are in them.
    assert 0.95 * report["cpu_ns"] < cycles < 1.3 * report["cpu_ns"], (cycles, report)
    assert report["minor"] - 5 <= faults <= report["minor"] + 600, (faults, report)
    assert run.is_missing("cache misses", "no PMU"), run.reason()
    assert "cycles" not in run.reason(), run.reason()


# ---- Stacks and switches ----

def samples_are_where_the_program_spins(folder):
    need_events()
    run = Run(folder, "spin 400", "stacks=999")
    stacks = run.stacks()
    # 400 if no moment of the machine's is stolen; of 99 a second there would be 40.
    assert len(stacks) > 100, len(stacks)
    hot = [e for e in stacks if is_in(e["name"], "spin_hot")]
    assert len(hot) > len(stacks) / 2, collections.Counter(e["name"] for e in stacks)
    for event in hot:
        assert event["args"]["stack"][0] == event["name"], event
    called = [e for e in hot if any(is_in(text, "main") for text in e["args"]["stack"])]
    assert len(called) > len(hot) * 0.9, hot[:3]


def code_that_takes_the_place_of_what_was_unloaded_has_its_own_name(folder):
    need_events()
    words = [f"call {os.path.join(os.path.dirname(PROGRAM), name)}.so {name} 200"
             for name in ("perf_alpha", "perf_beta", "perf_alpha", "perf_beta")]
    run = Run(folder, " ".join(words), "stacks=999")
    seen = collections.Counter(name for name in ("perf_alpha", "perf_beta")
                               for event in run.stacks() if name in event["name"])
    assert min(seen["perf_alpha"], seen["perf_beta"]) > 20, seen


def threads_that_come_later_are_sampled_too(folder):
    need_events()
    run = Run(folder, "sleep 30 threads 5 150", "stacks=999")
    rows = collections.Counter(e["tid"] for e in run.stacks() if is_in(e["name"], "spin_hot"))
    assert len(rows) == 5 and min(rows.values()) > 20, rows


def a_sleep_is_a_span_off_the_cpu(folder):
    need_events()
    run = Run(folder, "sleep 60 spin 5 sleep 70 spin 5 sleep 80", "switches=1")
    long = sorted(e["dur"] / 1000 for e in run.off_cpu() if e["name"] == "off CPU")[-3:]
    assert all(dur >= ms for dur, ms in zip(long, (60, 70, 80))) and len(long) == 3, run.off_cpu()


def switches_are_as_many_as_the_program_says(folder):
    need_events()
    run = Run(folder, "switches 500 threads 4 50 report", "switches=1")
    report, = run.reports()
    by_name = collections.Counter(e["name"] for e in run.off_cpu())
    assert by_name["off CPU"] >= report["voluntary"] - 5, (by_name, report)
    assert by_name["off CPU (preempted)"] >= report["involuntary"] - 15, (by_name, report)
    # Those before main and after the report are not in it.
    assert sum(by_name.values()) <= report["voluntary"] + report["involuntary"] + 200, by_name


def a_thread_that_changes_its_cpu_is_followed_across_rings(folder):
    need_events()
    if len(os.sched_getaffinity(0)) < 2 or not {0, 1} <= os.sched_getaffinity(0):
        raise Skip("there is one CPU only")
    run = Run(folder, "hop 400", "switches=1")
    assert run.status == 0, run.err
    spans = sorted((e["ts"], e["dur"]) for e in run.off_cpu() if e["tid"] == e["pid"])
    assert len(spans) >= 400, len(spans)
    for this, following in zip(spans, spans[1:]):
        assert this[0] + this[1] <= following[0], (this, following)


def who_waits_when_the_program_ends_is_unfinished(folder):
    need_events()
    run = Run(folder, "waiting 3 sleep 50", "switches=1")
    open_ends = [e for e in run.off_cpu() if e.get("args", {}).get("finished") is False]
    assert len({e["tid"] for e in open_ends}) >= 3, run.off_cpu()


# ---- The process ----

def the_program_is_as_it_would_be_without(folder):
    words = "next spin 20 next exit 3"
    alone = subprocess.run([PROGRAM, *words.split()], capture_output=True, text=True, check=False)
    run = Run(folder, words, "stacks=99 switches=1")
    assert (run.status, run.out) == (alone.returncode, alone.stdout) == (3, "next 3\nnext 3\n")
    notes = [line for line in run.err.splitlines() if "recorded in part: perf: " not in line]
    assert len(notes) == 1, run.err


def a_forked_child_counts_for_itself(folder):
    run = Run(folder, "spin 100 fork spin 200 report", "stacks=99")
    assert run.status == 0, run.err
    child, = run.reports()
    assert len(run.pids()) == 2, run.pids()
    times = sorted((run.sum_of("cpu (ns)", "task clock", pid), pid) for pid in run.pids())
    assert 95e6 < times[0][0] < 190e6, times
    run.check_cpu_time(child, times[1][1])


def events_do_not_count_a_child_for_its_parent(folder):
    need_events()
    run = Run(folder, "spin 50 fork spin 200", env=dict(os.environ, LD_PRELOAD=PMU))
    cycles = sorted(run.sum_of("cpu events", "cycles", pid) for pid in run.pids())
    assert len(cycles) == 2 and 45e6 < cycles[0] < 190e6, cycles


def what_is_executed_begins_anew(folder):
    need_events()
    run = Run(folder, "spin 60 exec threads 1 60 next exit 4", "stacks=999 switches=1")
    assert run.status == 4 and run.out == "next 3\n", (run.status, run.out, run.err)
    assert run.sum_of("cpu (ns)", "task clock") > 100e6
    # What is executed spins in another thread.
    hot = collections.Counter(e["tid"] == e["pid"] for e in run.stacks()
                              if is_in(e["name"], "spin_hot"))
    assert hot[True] > 6 and hot[False] > 6, run.stacks()


def a_process_that_is_killed_has_all_but_its_last_window(folder):
    need_events()
    told = os.path.join(folder, "told")

    def kill_in(factor):
        run = Run(folder, "", "interval=5ms stacks=999",
                  program=["sh", "-c", f"{PROGRAM} spin 200 report sleep 50000 > {told} & "
                           f"until test -s {told}; do sleep 0.1; done; "
                           f"sleep {0.3 * factor}; kill -9 $!; wait $!"])
        assert run.status == 128 + signal.SIGKILL, run.err
        total = run.sum_of("cpu (ns)", "task clock")
        assert total > 190e6, total
        assert len(run.stacks()) > 50, len(run.stacks())
    given_time(kill_in)


def a_thousand_threads_come_and_go(folder):
    need_events()
    run = Run(folder, "crowd 1000 report", "stacks=99 switches=1")
    assert run.status == 0, run.err
    assert len({e["tid"] for e in run.off_cpu()}) > 990, len({e["tid"] for e in run.off_cpu()})
    run = Run(folder, "crowd 1000", "interval=1ms")
    assert run.trace.lost() == 0, run.trace.ledger


def another_user_is_counted_as_before(folder):
    need_events()
    need_root()
    run = Run(folder, f"spin 50 user {NOBODY} spin 100 threads 2 50 report", "stacks=999")
    assert run.status == 0, run.err
    report, = run.reports()
    run.check_cpu_time(report)
    assert len(run.stacks()) > 60, len(run.stacks())


def descriptors_that_the_program_closes_are_left_alone(folder):
    """It puts others where they were; nothing is read from those, and nothing closed."""
    run = Run(folder, "spin 30 files pipe spin 60 unstolen", "interval=1ms stacks=99")
    assert run.out == "4096 bytes\n" and run.status == 0, (run.out, run.err)
    assert run.is_missing("memory", "the program has closed the descriptor"), run.reason()
    assert run.sum_of("cpu (ns)", "task clock") > 85e6

    def look(factor):
        run = Run(folder, f"spin {30 * factor} files text spin 60", "interval=1ms")
        assert run.is_missing("memory", "the program has closed the descriptor"), run.reason()
        assert run.samples_of("memory"), run.reason()
        assert max(e["args"]["resident"] for e in run.samples_of("memory")) < 100 << 20
    given_time(look)


def only_the_window_is_recorded(folder):
    def in_window(factor):
        run = Run(folder, f"spin {1000 * factor}", "interval=5ms stacks=999 switches=1",
                  record=["-y", f"{200 * factor}ms", "-d", f"{300 * factor}ms"])
        assert run.status == 0, run.err
        total = run.sum_of("cpu (ns)", "task clock")
        assert run.samples_of("cpu (ns)"), run.err
        begin = min(e["ts"] for e in run.samples_of("cpu (ns)"))
        end, = (e["ts"] for e in run.trace.events if e["name"] == "Record Window End")
        assert total < 1000 * 1.01 * (end - begin) and total < 900e6 * factor, (total, begin, end)
        assert all(e["ts"] >= begin - 5000 for e in run.stacks()), begin
        assert run.trace.lost() == 0, run.trace.ledger
    given_time(in_window)


class OwnSession(Run):
    """A program that records itself when so many of its threads run already."""

    def __init__(self, folder, early, late, by=()):
        self.path = os.path.join(folder, "trace.json")
        self.run([*by, SESSION, PLUGIN, self.path, str(early), str(late)])
        assert self.status == 0, self.err

    def check_time(self):
        """Between what it used from start to stop, and with these two."""
        total, (least, most) = self.sum_of("cpu (ns)", "task clock"), map(int, self.out.split())
        # The source's own thread is in those.
        assert 0.97 * least - 20e6 < total <= most, (total, least, most)

    def rows(self):
        """Threads other than the first, which sleeps, and the library's that start and stop it."""
        ours = {e["tid"] for e in self.trace.events
                if e["name"] == "thread_name" and e["args"]["name"].split()[0] == "kymo"}
        return {e["tid"] for e in self.stacks() if e["tid"] != e["pid"]} - ours


def threads_that_ran_before_are_followed_too(folder):
    need_events()
    run = OwnSession(folder, 6, 4)
    assert len(run.rows()) == 10, run.rows()
    assert "threads" not in run.reason(), run.reason()
    run.check_time()


def how_many_threads_are_not_followed_is_told(folder):
    """Of 101 threads as many as 16 descriptors allow: a quarter of 64."""
    need_events()
    run = OwnSession(folder, 100, 2, by=["prlimit", "--nofile=64", "--"])
    cpus = os.sysconf("SC_NPROCESSORS_CONF")
    followed = min(64, 1 + 16 // cpus)
    if os.geteuid() == 0:
        assert f"migrations of {101 - 4} of 101 threads, " in run.reason(), run.reason()
    assert f"stacks, switches of {101 - followed} of 101 threads" in run.reason(), run.reason()
    # Besides, what the library starts to stop its sources is followed as all that comes later.
    tids = {e["tid"] for e in run.off_cpu()}
    assert len(tids) <= followed + 2 + 4, (followed, tids)


# ---- What may be missing ----

def without_a_pmu_it_says_so_and_goes_on(folder):
    need_events()
    run = Run(folder, "spin 20")
    source, = run.sources()
    if "cycles" not in run.reason():
        raise Skip("there is a PMU")
    assert source["state"] == "partly" and NO_PMU in source["reason"], source
    assert "hypervisor" in source["remedy"], source
    note, last = run.err.splitlines()
    assert note.startswith("kymo: recorded in part: perf: ") and NO_PMU in note and \
        note.endswith(source["remedy"]) and last.endswith("nothing lost"), run.err


def run_forbidden(folder, number, words="spin 50 faults 1000 switches 50 report"):
    run = Run(folder, words, "stacks=99 switches=1",
              program=[FORBID, "events", str(number), PROGRAM])
    assert run.status == 0, run.err
    report = run.reports()[-1]
    assert run.sum_of("page faults", "minor") >= report["minor"] - 5
    assert run.sum_of("context switches", "voluntary") >= report["voluntary"] - 5
    assert run.sum_of("cpu (ns)", "task clock") > 50e6
    assert "migrations" not in run.samples_of("context switches")[-1]["args"]
    assert not run.stacks() or len(run.sources()) > 1
    return run.sources()[-1]


def without_perf_event_open_the_rest_is_counted(folder):
    for number, word, remedy in ((0, "seccomp filter may kill", "seccomp filter that allows"),
                                 (1, "EPERM", "seccomp profile"),
                                 (22, "EINVAL", "Linux 5.13"),
                                 (38, "ENOSYS", "CONFIG_PERF_EVENTS"),
                                 (13, "EACCES", "kernel.perf_event_paranoid")):
        source = run_forbidden(folder, number)
        assert source["state"] == "partly", source
        for what in ("migrations", "cycles, instructions, cache misses", "stacks, switches"):
            assert what in source["reason"], source
        assert word in source["reason"] and remedy in source["remedy"], source


def need_nobody():
    need_root()
    if not shutil.which("setpriv"):
        raise Skip("setpriv is not installed")
    path = BUILD
    while path != "/":
        if not os.stat(path).st_mode & stat.S_IXOTH:
            raise Skip(f"nobody may not enter {path}")
        path = os.path.dirname(path)


def who_has_no_rights_is_told_which(folder):
    need_events()
    need_nobody()
    level = int(open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8").read())
    if level != 2:
        raise Skip(f"perf_event_paranoid is {level}, not 2")
    os.chown(folder, NOBODY, -1)
    run = Run(folder, "spin 200 switches 50 threads 2 50 report", "stacks=999 switches=1",
              by=["setpriv", "--reuid", str(NOBODY), "--clear-groups"])
    report, = run.reports()
    source, = run.sources()
    assert "migrations, stacks in the kernel: denied at perf_event_paranoid 2" in source["reason"], \
        source
    assert "CAP_PERFMON" in source["remedy"], source
    hot = [e for e in run.stacks() if is_in(e["name"], "spin_hot")]
    assert len(hot) > 50, len(hot)
    assert len(run.off_cpu()) >= report["voluntary"] - 5
    assert run.sum_of("context switches", "voluntary") >= report["voluntary"] - 5


def without_descriptors_it_goes_on_with_what_needs_none(folder):
    need_events()
    run = Run(folder, "spin 50 faults 1000 report", "stacks=99",
              program=[FORBID, "files", "7", PROGRAM])
    source = run.sources()[-1]
    assert source["state"] == "partly" and "no descriptor is left, of 7" in source["reason"], source
    assert "ulimit -n" in source["remedy"], source
    report, = run.reports()
    assert run.sum_of("page faults", "minor") >= report["minor"] - 5


def need_mounts():
    need_root()
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        raise Skip("no private mount here")


def without_proc_or_psi_the_rest_is_counted(folder):
    need_mounts()
    for folder_gone, reason in (("/proc/pressure", "CPU pressure, memory pressure, io pressure: "
                                 "there is no /proc/pressure"),
                                ("/proc", "memory: there is no /proc/self/statm")):
        run = Run(folder, "spin 50 threads 2 20 report", "stacks=99",
                  program=["unshare", "-m", "sh", "-c",
                           f'mount -t tmpfs none {folder_gone}; exec "$@"', "sh", PROGRAM])
        assert run.status == 0, run.err
        assert any(reason in source["reason"] for source in run.sources()), run.sources()
        report, = run.reports()
        total = run.sum_of("cpu (ns)", "task clock")
        assert total > 0.95 * report["cpu_ns"], (total, report)


def options_that_make_no_sense_are_refused_before_the_program_runs(folder):
    ran = os.path.join(folder, "ran")
    for option, why in (("interval=5", "interval=5: it has to be a time with its unit"),
                        ("interval=1us", "from 1ms to 60s"), ("switches=2", "0 or 1"),
                        ("stacks=20000", "up to 10000"), ("stacks=many", "needs a number")):
        done = subprocess.run([KYMO, "record", "-t", f"perf:{option}", "-o", ran + ".json", "--",
                               "touch", ran], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 125 and why in done.stderr, done
        assert done.stderr.count("\n") == 1 and not os.listdir(folder), (done, os.listdir(folder))


def a_program_of_another_c_library_runs_without_it(folder):
    compiler = shutil.which("musl-gcc")
    if not compiler:
        raise Skip("there is no musl-gcc")
    source, program = os.path.join(folder, "seven.c"), os.path.join(folder, "seven")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <stdio.h>\nint main(void) { puts(\"it ran\"); return 7; }\n")
    subprocess.run([compiler, "-o", program, source], check=True)
    environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
    for name in (program, "seven"):
        run = Run(folder, "", program=[name], env=environment)
        assert run.status == 7 and run.out == "it ran\n", (run.status, run.out, run.err)
        assert re.search("perf: it was not preloaded.*loader is .*/ld-musl", run.err), run.err
    # It is the program that decides.
    assert "not preloaded" not in Run(folder, "", program=["true"]).err


def more_samples_than_the_kernel_allows_are_cut(folder):
    need_events()
    need_mounts()
    most = os.path.join(folder, "most")
    with open(most, "w", encoding="utf-8") as file:
        file.write("500\n")
    run = Run(folder, "spin 200", "stacks=5000",
              program=["unshare", "-m", "sh", "-c", f"mount --bind {most} {RATE}; exec \"$@\"", "sh",
                       PROGRAM])
    assert any("some stacks: the kernel allows 500 samples a second" in source["reason"]
               for source in run.sources()), run.sources()
    # 100, or 1000 of those that were wanted.
    assert 20 < len(run.stacks()) < 400, len(run.stacks())


def the_doctor_says_what_is_missing(_folder):
    done = subprocess.run([KYMO, "doctor", "--json", "perf"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done
    source, = json.loads(done.stdout)["sources"]
    assert source["name"] == "perf" and source["state"] in ("usable", "partly"), source
    if source["state"] == "partly":
        assert source["why"] and source["remedy"], source
    done = subprocess.run([FORBID, "events", "1", KYMO, "doctor", "perf"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and "stacks, switches: perf_event_open is forbidden" in done.stdout \
        and "remedy   give the container CAP_PERFMON" in done.stdout, done


# ---- Programs of others ----

def gzip_packs_the_same_and_is_seen_at_work(folder):
    need_events()
    data = os.path.join(folder, "data")
    with open(data, "wb") as file:
        file.write(os.urandom(1 << 20) * 24)
    alone = subprocess.run(["gzip", "-nc", data], capture_output=True, check=True).stdout
    packed = os.path.join(folder, "packed")
    run = Run(folder, "", "stacks=499 switches=1",
              program=["sh", "-c", f"gzip -nc {data} > {packed}"])
    assert run.status == 0 and open(packed, "rb").read() == alone
    busiest = max(run.pids(), key=lambda pid: run.sum_of("cpu (ns)", "task clock", pid))
    assert "gzip" in run.trace.process_names()[busiest], run.trace.process_names()
    own = [e for e in run.stacks() if e["pid"] == busiest]
    assert sum("gzip" in e["name"] for e in own) > len(own) / 2, \
        collections.Counter(e["name"] for e in own)


def python_with_threads_and_children(folder):
    need_events()
    code = ("import threading, subprocess, hashlib\n"
            "def work():\n"
            "    for _ in range(150): hashlib.sha256(bytes(1 << 20)).digest()\n"
            "threads = [threading.Thread(target=work) for _ in range(6)]\n"
            "[t.start() for t in threads]; [t.join() for t in threads]\n"
            "print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n")
    run = Run(folder, "", "stacks=199 switches=1", program=["/usr/bin/python3", "-c", code])
    assert run.status == 0 and run.out == "b'child\\n'\n", (run.out, run.err)
    assert len({e["tid"] for e in run.stacks()}) >= 6, run.err
    assert len(run.sources()) >= 2


def spans_off_the_cpu_lie_within_the_calls_that_wait(folder):
    """Two clocks, two sources, one row: none of them crosses a span of the other."""
    need_events()
    if not os.path.exists(OPENCL_DEMO):
        raise Skip("there is no OpenCL loader to link")
    run = Run(folder, "", "switches=1 stacks=99", program=[OPENCL_DEMO], others=["opencl"])
    if not run.trace.kernels:
        raise Skip("there is no OpenCL device")
    calls = collections.defaultdict(list)
    for event in run.trace.spans:
        if event["cat"] == "runtime":
            calls[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    inside = 0
    for event in run.off_cpu():
        begin, end = event["ts"], event["ts"] + event["dur"]
        for left, right in calls[event["tid"]]:
            inside += left <= begin and end <= right
            assert end <= left or right <= begin or (left <= begin and end <= right), event
    assert inside > 20, inside


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
