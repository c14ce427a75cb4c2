#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo record on OpenCL programs of others, read by a reader of our own: tests/e2e/trace.py.
Prints TAP; `opencl_e2e.py WORD` runs the cases whose names have the word."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace import Trace

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
PYTHON = "/usr/bin/python3"  # Debian's, which has pyopencl
CLPEAK = ["clpeak", "--kernel-latency"]
KERNELS = 20000  # clpeak launches at least as many

POOL = """
import multiprocessing, sys

def work(number):
    import numpy, pyopencl
    context = pyopencl.create_some_context(interactive=False)
    queue = pyopencl.CommandQueue(context)
    program = pyopencl.Program(context, '''
        __kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }''').build()
    array = numpy.full(1024, number, dtype=numpy.float32)
    flags = pyopencl.mem_flags
    buffer = pyopencl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)
    for _ in range(10):
        program.twice(queue, array.shape, None, buffer)
    pyopencl.enqueue_copy(queue, array, buffer)
    queue.finish()
    return float(array[0])

if __name__ == '__main__':
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(4) as pool:
        print(pool.map(work, [1, 2, 3, 4], chunksize=1))
        pool.close()
        pool.join()
"""


class Skip(Exception):
    """This case cannot be run here; says why."""


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")


def record(folder, command, *options, output="trace.json"):
    """(finished process, path of the trace)"""
    path = os.path.join(folder, output)
    done = subprocess.run([KYMO, "record", "-f", "-o", path, *options, "--", *command],
                          capture_output=True, text=True, timeout=240)
    return done, path


def info(path):
    done = subprocess.run([KYMO, "info", "--json", path], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def same_but_numbers(a, b):
    """Output lines without what is measured."""
    def words(text):
        return [[word for word in line.split() if not word.replace(".", "").isdigit()]
                for line in text.splitlines()]
    return words(a) == words(b)


def every_kernel_of_clpeak_has_its_launch_and_its_arrow(folder):
    need("clpeak")
    plain = subprocess.run(CLPEAK, capture_output=True, text=True, check=False)
    done, path = record(folder, CLPEAK)
    assert done.returncode == plain.returncode == 0, done.stderr
    assert same_but_numbers(done.stdout, plain.stdout), done.stdout
    assert "nothing lost" in done.stderr.splitlines()[-1], done.stderr
    trace = Trace(path)
    assert len(trace.kernels) >= KERNELS, len(trace.kernels)
    assert len(trace.arrows) == len(trace.kernels)
    assert trace.lost() == 0, trace.ledger
    launches = {event["args"]["correlation"]: event for event in trace.spans
                if event["cat"] == "runtime" and "correlation" in event.get("args", {})}
    for kernel in trace.kernels:
        launch = launches[kernel["args"]["correlation"]]
        assert launch["name"] == "clEnqueueNDRangeKernel"
        assert launch["ts"] <= kernel["ts"]
        assert "stream" not in launch["args"] and kernel["args"]["stream"] >= 1
    said = info(path)
    kernels = next(row for row in said["types"] if row["name"] == "kernel")
    assert kernels["spans"] == len(trace.kernels), said
    assert said["spans"] == len(trace.spans), said
    assert said["arrows"] == len(trace.arrows), said


def the_compressed_trace_is_the_same(folder):
    need("clpeak")
    done, path = record(folder, CLPEAK, output="trace.json.gz")
    assert done.returncode == 0, done.stderr
    assert len(Trace(path).kernels) >= KERNELS


def check_workers(folder, method):
    script = os.path.join(folder, "pool.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(POOL)
    done, path = record(folder, [PYTHON, script, method])
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[1024.0, 2048.0, 3072.0, 4096.0]", done.stdout
    trace = Trace(path)
    devices = {event["pid"] for event in trace.kernels}
    hosts = {start["pid"] for start, finish in trace.arrows if finish["pid"] in devices}
    assert len(trace.kernels) == 40, len(trace.kernels)
    assert 1 <= len(hosts) <= 4 and len(devices) == len(hosts), (hosts, devices)
    assert len(hosts) > 1, "one worker took all the work"
    assert trace.lost() == 0, trace.ledger
    # One group per process that used the device, with a name each.
    assert hosts | devices <= set(trace.process_names())


def need_pyopencl():
    if subprocess.run([PYTHON, "-c", "import pyopencl, numpy"],
                      capture_output=True, check=False).returncode:
        raise Skip("pyopencl is not installed")


def four_forked_workers_are_four_groups_of_one_trace(folder):
    need_pyopencl()
    check_workers(folder, "fork")


def four_spawned_workers_are_four_groups_of_one_trace(folder):
    need_pyopencl()
    check_workers(folder, "spawn")


def a_shell_around_the_program_makes_no_difference(folder):
    need("clpeak")
    done, path = record(folder, ["sh", "-c", "clpeak --kernel-latency; echo over; exit 3"])
    assert done.returncode == 3, done.stderr
    assert done.stdout.endswith("over\n"), done.stdout
    trace = Trace(path)
    assert len(trace.kernels) >= KERNELS
    assert len(trace.data["kymo"]["processes"]) == 1


def two_ranks_under_mpirun_are_one_trace(folder):
    need("clpeak")
    need("mpirun")
    done, path = record(folder, ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2",
                                 *CLPEAK])
    assert done.returncode == 0, done.stderr
    trace = Trace(path)
    assert len({event["pid"] for event in trace.kernels}) == 2
    assert len(trace.kernels) >= 2 * KERNELS
    assert len(trace.arrows) == len(trace.kernels)


def a_program_killed_at_any_point_leaves_what_it_committed(folder):
    need("clpeak")
    points = random.Random(7)
    counts = []
    for number in range(20):
        path = os.path.join(folder, f"killed{number}.json")
        process = subprocess.Popen([KYMO, "record", "-f", "-o", path, "--", "sh", "-c",
                                    "echo $$; exec clpeak --kernel-latency"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(process.stdout.readline())
        time.sleep(points.uniform(0.05, 1.2))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, errors = process.communicate(timeout=60)
        assert process.returncode in (137, 0), (process.returncode, errors)
        trace = Trace(path)
        ledger = trace.ledger
        # One record can have been counted and not yet committed.
        assert ledger["cut"] <= 1, ledger
        assert ledger["accepted"] == ledger["written"] + ledger["cut"], ledger
        counts.append(len(trace.spans))
    assert max(counts) > 1000, counts
    print(f"# spans at the kill: {sorted(counts)}")


def a_program_that_never_uses_a_device_gives_an_empty_trace(folder):
    done, path = record(folder, ["true"])
    assert done.returncode == 0, done.stderr
    trace = Trace(path)
    assert not trace.spans
    states = {source["name"]: source["state"] for source in trace.data["kymo"]["sources"]}
    assert states.get("opencl") == "absent", states


CASES = [
    every_kernel_of_clpeak_has_its_launch_and_its_arrow,
    the_compressed_trace_is_the_same,
    four_forked_workers_are_four_groups_of_one_trace,
    four_spawned_workers_are_four_groups_of_one_trace,
    a_shell_around_the_program_makes_no_difference,
    two_ranks_under_mpirun_are_one_trace,
    a_program_killed_at_any_point_leaves_what_it_committed,
    a_program_that_never_uses_a_device_gives_an_empty_trace,
]


def main():
    cases = [case for case in CASES if not sys.argv[1:] or sys.argv[1] in case.__name__]
    failed = 0
    print(f"1..{len(cases)}")
    for number, case in enumerate(cases, 1):
        with tempfile.TemporaryDirectory(prefix="kymo-e2e-") as folder:
            try:
                case(folder)
                print(f"ok {number} - {case.__name__}", flush=True)
            except Skip as skip:
                print(f"ok {number} - {case.__name__} # SKIP {skip}", flush=True)
            except Exception:  # a test runner reports whatever comes
                failed += 1
                print("# " + traceback.format_exc().replace("\n", "\n# "))
                print(f"not ok {number} - {case.__name__}", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
