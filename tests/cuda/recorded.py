# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program of a scenario plain and under `kymo record` with a CUPTI that stands in, and
holds what every such pair of runs must keep: the program's output and status, a trace that every
reader takes, and a ledger that adds up with what went over CUPTI's border."""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PROGRAM = os.environ.get("CUDA_PROGRAM")  # not where there are no headers
SONAMES = {"11": "libcupti.so.11.8", "12": "libcupti.so.12", "13": "libcupti.so.13"}
# major=path, by spaces: the libraries that were built
STANDINS = dict(word.split("=", 1) for word in os.environ["CUDA_STANDINS"].split())

# Kinds of CUPTI's records that become one event each, by the kind's number.
EVENTS = {1: "gpu_memcpy", 22: "gpu_memcpy", 2: "gpu_memset", 4: "cuda_driver", 5: "cuda_runtime",
          10: "kernel", 17: "overhead", 36: "cuda_event", 38: "cuda_sync", 51: "cuda.graph",
          25: "cuda.unified_memory"}


def library_folder(major):
    """A folder with the driver and this CUPTI alone, as a toolkit's."""
    folder = os.path.abspath("lib" + major)
    if not os.path.exists(folder):
        os.mkdir(folder)
        os.symlink(STANDINS[major], os.path.join(folder, SONAMES[major]))
        os.symlink(os.path.join(os.path.dirname(PROGRAM), "libcuda.so.1"),
                   os.path.join(folder, "libcuda.so.1"))
    return folder


def library(major):
    return os.path.join(library_folder(major), SONAMES[major])


def environment(major, scenario):
    """Of a process that uses CUDA; nothing of a toolkit that is installed here is found."""
    with open("scenario", "w", encoding="utf-8") as file:
        file.write(scenario)
    env = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    return dict(env, CUDA_SCENARIO=os.path.abspath("scenario"),
                CUPTI_REPORT=os.path.abspath("report"), LD_LIBRARY_PATH=library_folder(major))


def count_line(text):
    """What the program says at its end, as {"kernels": 3, ...}."""
    lines = [line.split() for line in text.splitlines() if line.startswith("runtime ")]
    return dict(zip(lines[-1][::2], map(int, lines[-1][1::2]))) if lines else {}


def read_reports():
    return [json.load(open(name, encoding="utf-8")) for name in glob.glob("report.*")]


class Saved:
    """A trace, by what the tests ask of it."""

    def __init__(self, path):
        self.trace = Trace(path)
        self.events = [event for event in self.trace.events
                       if event["ph"] in "Xi" and event["cat"] != "Trace"]
        self.ledger = self.trace.ledger

    def of(self, category):
        return [event for event in self.events if event["cat"] == category]

    def arrows(self):
        """(name, name) of the spans at both ends of each arrow."""
        at = {(e["pid"], e["tid"], e["ts"]): e["name"] for e in reversed(self.trace.spans)}
        return [tuple(at[end["pid"], end["tid"], end["ts"]] for end in arrow)
                for arrow in self.trace.arrows]

    def source(self):
        return next(s for s in self.trace.data["kymo"]["sources"] if s["name"] == "cuda")

    def check_state(self, state, *words):
        source = self.source()
        text = source.get("reason", "") + " " + source.get("remedy", "")
        assert source["state"] == state, source
        for word in words:
            assert word in text, (word, source)


def doctor(major, scenario, without=()):
    """What `kymo doctor` says of it, where the files of these names are not there."""
    env = environment(major, scenario)
    for name in without:
        os.remove(os.path.join(library_folder(major), name))
    done = subprocess.run([KYMO, "doctor", "--json", "cuda"], capture_output=True, timeout=60,
                          env=env, check=False)
    return json.loads(done.stdout)["sources"][0]


def run_alone(major, scenario):
    """The program without a recorder, but with sessions of its own; what it says on its way."""
    env = environment(major, scenario.replace("session start",
                                              f"session start cupti={library(major)}"))
    env["CUDA_SOURCE"] = os.path.join(BUILD, "plugins", "source", "cuda.so")
    done = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=60, env=env,
                          check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


class Run(Saved):
    """One scenario with one version of CUPTI."""

    def __init__(self, major, scenario, options="", more=(), losses=False, command=None):
        command = command or [PROGRAM]
        env = environment(major, scenario)
        plain = subprocess.run(command, capture_output=True, timeout=60, env=env, check=False)
        for old in glob.glob("report.*"):
            os.remove(old)
        # Said, so that a newer one that is installed here is not tried first.
        if "cupti=" not in options:
            options += f" cupti={library(major)}"
        source = ",".join(f"cuda:{option}" for option in options.split())
        done = subprocess.run([KYMO, "record", "-f", "-t", source, "-o", "trace.json", *more,
                               "--", *command], capture_output=True, timeout=60, env=env,
                              check=False)
        self.status, self.err = done.returncode, done.stderr.decode()
        self.out = done.stdout.decode(errors="replace")
        plain_status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        assert done.returncode == plain_status, (done.returncode, plain_status, self.err)
        assert done.stdout == plain.stdout, (done.stdout, plain.stdout)
        own = [line for line in self.err.splitlines() if not line.startswith("kymo: ")]
        assert own == plain.stderr.decode().splitlines(), self.err
        super().__init__("trace.json")
        self.counts = count_line(self.out)
        self.reports = read_reports()
        self.report = self.reports[0] if self.reports else None
        self.check_ledger(losses)
        self.check_info()

    def check_info(self):
        """`kymo info` says the same of it."""
        done = subprocess.run([KYMO, "info", "--json", "trace.json"], capture_output=True,
                              text=True, check=True)
        info = json.loads(done.stdout)
        own = {s.get("process"): s for s in self.trace.data["kymo"]["sources"] if s["name"] == "cuda"}
        for source in info["sources"]:
            if source["name"] == "cuda":
                for key in ("state", "written", "lost", "late"):
                    assert source[key] == own[source.get("process")][key], (source, own)

    def check_ledger(self, losses):
        ledger = self.ledger
        kept = ("full", "too_big", "nested", "overwritten", "late", "out_of_window", "cut",
                "invalid")
        assert ledger["offered"] == ledger["filtered"] + ledger["accepted"], ledger
        assert ledger["accepted"] == ledger["written"] + sum(ledger.get(k, 0) for k in kept), ledger
        if not losses:
            assert ledger["source_exact"] == ledger["source_at_least"] == 0, ledger
            assert "nothing lost" in self.err or self.status >= 128, self.err

    def check_all_is_there(self):
        """Each record that CUPTI handed over is one event of its category, and nothing else is."""
        report = self.report
        assert report["misaligned"] == 0 and report["dropped"] == 0, report
        wanted = {}
        for kind, count in report["written"].items():
            category = EVENTS.get(int(kind))
            if category:
                wanted[category] = wanted.get(category, 0) + count
        got = {category: len(self.of(category)) for category in set(EVENTS.values())}
        assert {c: n for c, n in got.items() if n} == wanted, (got, wanted)
        drawn = self.ledger["spans"] + self.ledger["instants"]
        assert drawn == len(self.events), (self.ledger, len(self.events))

    def check_counts(self):
        """What the program did is what was recorded."""
        done = self.counts
        assert len(self.of("cuda_runtime")) == done["runtime"], done
        assert len(self.of("cuda_driver")) == done["driver"], done
        assert len(self.of("kernel")) == done["kernels"], done
        assert len(self.of("gpu_memcpy")) == done["copies"] + done["peers"], done
        assert len(self.of("gpu_memset")) == done["sets"], done
        assert len(self.of("cuda_sync")) == done["syncs"], done
        assert len(self.of("cuda_event")) == done["events"], done
