#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo record on OpenCL programs of others, read by a reader of our own: tests/e2e/trace.py.
Prints TAP; `opencl_e2e.py WORD` runs the cases whose names have the word."""
import collections
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from tap import Skip, cases_of, run_cases
from trace import Trace

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
PROGRAMS = os.path.join(BUILD, "tests", "opencl")
PYTHON = "/usr/bin/python3"  # Debian's, which has pyopencl
CLPEAK = ["clpeak", "--kernel-latency"]
KERNELS = 20000  # clpeak launches at least as many

POOL = """
import multiprocessing, sys

def keep(barrier):
    global everybody
    everybody = barrier

def work(number):
    import numpy, pyopencl
    everybody.wait()  # so no worker takes two
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
    with multiprocessing.Pool(4, keep, [multiprocessing.Barrier(4)]) as pool:
        print(pool.map(work, [1, 2, 3, 4], chunksize=1))
        pool.close()
        pool.join()
"""


# Prints what the layer has changed and must not show.
ANSWERS = """
import numpy, pyopencl as cl, pyopencl.array

context = cl.create_some_context(interactive=False)
for properties in (0, cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE,
                   cl.command_queue_properties.PROFILING_ENABLE):
    queue = cl.CommandQueue(context, properties=properties)
    print(queue.properties, queue.reference_count, queue.context == context)
    a = cl.array.arange(queue, 1000, dtype=numpy.float32)
    print(cl.array.sum(a).get(), cl.array.dot(a, a).get(), (3 * a + a).get()[7])
    event = cl.enqueue_marker(queue)
    event.wait()
    print(event.command_type, event.command_execution_status, event.command_queue == queue)
    try:
        print("stamps in order:", event.profile.start <= event.profile.end)
    except cl.RuntimeError as error:
        print(error)
    try:
        cl.enqueue_copy(queue, numpy.empty(8, numpy.float32), a.data, src_offset=1 << 20)
    except cl.Error as error:
        print(error)
    queue.finish()
"""


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
    number = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?$")

    def words(text):
        return [[word for word in line.split() if not number.match(word)]
                for line in text.splitlines()]
    return words(a) == words(b)


def chains(scratch):
    """Commands that start a program with other layers around ours: none, inside, outside, both.
    The first one named is the innermost."""
    inner, outer = (shutil.copy(os.path.join(PROGRAMS, "cl_layer.so"), os.path.join(scratch, name))
                    for name in ("inner.so", "outer.so"))
    start = 'exec "$@"'
    for layers in ("$OPENCL_LAYERS", f"{inner}:$OPENCL_LAYERS", f"$OPENCL_LAYERS:{outer}",
                   f"{inner}:$OPENCL_LAYERS:{outer}"):
        yield ["sh", "-c", f"OPENCL_LAYERS={layers} {start}", "sh"]
    for path in (inner, outer):
        assert os.path.exists(path + ".seen"), f"{path} was never loaded"


def check_same(folder, command, same=str.__eq__):
    """The command says recorded, under any chain of layers, what it says plain."""
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    for chain in chains(folder):
        done, path = record(folder, [*chain, *command])
        assert done.returncode == plain.returncode, (chain, done.returncode, done.stderr)
        assert same(done.stdout, plain.stdout), (chain, *difflib.unified_diff(
            plain.stdout.splitlines(), done.stdout.splitlines(), "plain", "recorded", n=0))
        assert plain.stderr in done.stderr or same is same_but_numbers, done.stderr
        trace = Trace(path)
        assert trace.kernels and trace.lost() == 0, trace.ledger


def need_program(name):
    path = os.path.join(PROGRAMS, name)
    if not os.path.exists(path):
        raise Skip(f"{name} was not built: no OpenCL loader to link")
    return path


def launches_by_process(trace):
    devices = {event["pid"] for event in trace.kernels}
    return collections.Counter(start["pid"] for start, finish in trace.arrows
                               if finish["pid"] in devices)


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
    assert len(hosts) == len(devices) == 4, (hosts, devices)
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
    began = time.monotonic()
    _, path = record(folder, CLPEAK)
    length_s = time.monotonic() - began
    whole = len(Trace(path).spans)
    counts = []
    # 20 points; more where the machine has become so busy that all of them came early.
    while len(counts) < 20 or (max(counts) < whole / 20 and len(counts) < 100):
        number = len(counts)
        path = os.path.join(folder, f"killed{number}.json")
        process = subprocess.Popen([KYMO, "record", "-f", "-o", path, "--", "sh", "-c",
                                    "echo $$; exec clpeak --kernel-latency"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        pid = int(process.stdout.readline())
        time.sleep(points.uniform(0.05, max(length_s, 1)))
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
    assert max(counts) >= whole / 20 > 1000, (counts, whole)
    print(f"# spans at the kill: {sorted(counts)}")


def a_program_that_never_uses_a_device_gives_an_empty_trace(folder):
    done, path = record(folder, ["true"])
    assert done.returncode == 0, done.stderr
    trace = Trace(path)
    assert not trace.spans
    states = {source["name"]: source["state"] for source in trace.data["kymo"]["sources"]}
    assert states.get("opencl") == "absent", states


def clfft_says_what_it_says_plain(folder):
    need("clFFT-client")
    need_program("cl_layer.so")
    check_same(folder, ["clFFT-client", "-x", "1024", "-p", "5"], same_but_numbers)


def pyopencl_is_told_what_it_is_told_plain(folder):
    need_pyopencl()
    need_program("cl_layer.so")
    script = os.path.join(folder, "answers.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(ANSWERS)
    check_same(folder, [PYTHON, script])


def every_answer_is_the_plain_one(folder):
    check_same(folder, [need_program("cl_answers")])


def threads_that_launch_while_the_process_forks_spawns_and_execs_lose_nothing(folder):
    done, path = record(folder, [need_program("cl_storm"), "storm"])
    assert done.returncode == 0, (done.stdout, done.stderr)
    launched = {int(pid): int(count) for _, pid, count in
                (line.split() for line in done.stdout.splitlines())}
    assert sorted(launched.values()) == [10000] * 6 + [40000], launched
    trace = Trace(path)
    assert launches_by_process(trace) == launched, launches_by_process(trace)
    assert len(trace.kernels) == sum(launched.values())
    assert trace.lost() == 0, trace.ledger


def all_that_was_over_when_threads_were_killed_is_there(folder):
    for _ in range(5):
        done, path = record(folder, [need_program("cl_storm"), "kill"])
        assert done.returncode == 137, (done.returncode, done.stderr)
        finished = int(done.stdout.split()[1])
        trace = Trace(path)
        assert finished <= len(trace.kernels) <= 40000, (finished, len(trace.kernels))
        # One record per thread can have been counted and not yet committed.
        assert trace.ledger["cut"] <= 8, trace.ledger
        assert trace.ledger["accepted"] == trace.ledger["written"] + trace.ledger["cut"]


def valgrind_finds_nothing_in_a_recorded_program(folder):
    need("valgrind")
    # "Possible" are blocks that are pointed into only, as the layer does with its commands.
    done, path = record(folder, [
        "valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite", "--error-exitcode=99", "--num-callers=50",
        "--suppressions=" + os.path.join(HERE, "pocl.supp"),
        need_program("cl_demo")])
    assert done.returncode == 3 and "==" not in done.stderr, done.stderr
    assert len(Trace(path).kernels) > 600


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
