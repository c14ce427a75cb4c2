#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo record -t openmp on programs of clang, of GCC, and of others. Builds them with the
compilers that there are. Prints TAP; `openmp_e2e.py WORD` runs the cases with the word."""
import collections
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("e2e", "support")]
from tap import Skip, cases_of, run_cases
from trace import Trace, ns

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
LLVM_19 = os.path.join(HERE, "..", "..", ".deps", "llvm-19", "root", "usr", "lib", "llvm-19")
RULE = "end by rule"

# What omp_demo.c goes through: regions of 4, 2, 2 and 2 threads.
DEMO = {"parallel": 4, "implicit_task": 10, "worksharing": 12, "task": 10, "task_create": 10,
        "mutex": 8, "sync_region": 27, "sync_wait": 27}

# What kymo check still notes, all of it minor: labels, which chrome://tracing shows and Perfetto does
# not; no operators, which a framework has and --compat tensorboard adds; spans of which the clock
# saw no length, or whose end is their parent's until a reader adds up doubles.
REMAINING = {"labels-ignored", "no-operator", "zero-duration", "end-rounded"}

TORCH = """
import torch
torch.set_num_threads(2)
a = torch.ones(512, 512)
for _ in range(3):
    a = (a @ a).clamp(max=2.0)
print(float(a.sum()))
"""


def need(program):
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")


def libomp():
    """LLVM's runtime, as GCC's programs are given it."""
    found = sorted(glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"))
    if not found:
        raise Skip("no libomp is installed")
    return found[-1]


def build(folder, compiler, source, *options):
    need(compiler)
    if compiler == "clang":
        libomp()
    program = os.path.join(folder, f"{compiler}_{source[:-2]}")
    subprocess.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", "-fopenmp", *options,
                    os.path.join(HERE, source), "-o", program], check=True)
    return program


def record(folder, command, *options, source="openmp", name="trace.json", timeout=240,
           env=None):
    """(finished process, path of the trace)"""
    path = os.path.join(folder, name)
    done = subprocess.run([KYMO, "record", "-f", "-t", source, "-o", path, *options, "--",
                           *command], capture_output=True, text=True, timeout=timeout,
                          check=False, env=env)
    return done, path


def counts(trace):
    return dict(collections.Counter(
        event["cat"].removeprefix("openmp.") for event in trace.spans))


def of_type(trace, name):
    return [event for event in trace.spans if event["cat"] == name]


def lies_in(inner, outer):
    return (ns(outer["ts"]) <= ns(inner["ts"]) and
            ns(inner["ts"]) + ns(inner["dur"]) <= ns(outer["ts"]) + ns(outer["dur"]))


def check_enclosed(trace):
    """Each thread's part lies in its region, and what a thread does in one of its parts."""
    regions = {(event["pid"], event["args"]["region"]): event
               for event in of_type(trace, "openmp.parallel")}
    parts = collections.defaultdict(list)
    for part in of_type(trace, "openmp.implicit_task"):
        assert lies_in(part, regions[part["pid"], part["args"]["region"]]), part
        parts[part["pid"], part["tid"]].append(part)
    for event in trace.spans:
        if event["cat"] in ("openmp.worksharing", "openmp.sync_region", "openmp.sync_wait",
                            "openmp.mutex", "openmp.task"):
            around = parts[event["pid"], event["tid"]]
            assert any(lies_in(event, part) for part in around), event


def check_demo(folder, program, source):
    plain = subprocess.run([program], capture_output=True, text=True, check=False)
    done, path = record(folder, [program], "--strict", "--require", "openmp", source=source)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (3, "28\n"), done
    trace = Trace(path)
    assert counts(trace) == DEMO, counts(trace)
    check_enclosed(trace)
    assert len(trace.arrows) == 10 and trace.lost() == 0
    roles = collections.Counter(event["args"]["name"].rsplit(", ", 1)[1] for event in trace.events
                                if event["ph"] == "M" and event["name"] == "thread_name")
    assert roles["OpenMP initial thread)"] == 1 and roles["OpenMP worker)"] >= 3, roles
    return trace


def every_construct_of_a_program_of_clang_is_there(folder):
    trace = check_demo(folder, build(folder, "clang", "omp_demo.c"), "openmp")
    assert not [event for event in of_type(trace, "openmp.worksharing") if RULE in event["args"]]


def what_a_program_without_target_constructs_cannot_miss_is_no_lack(folder):
    """Of a runtime without callbacks for them, as of LLVM 14; with one that has them nothing."""
    program = build(folder, "clang", "omp_demo.c")
    done, path = record(folder, [program])
    source, = [s for s in Trace(path).data["kymo"]["sources"] if s["name"] == "openmp"]
    assert done.returncode == 3 and source["state"] == "recording", source
    assert "recorded in part" not in done.stderr, done.stderr
    if "never reports" not in source.get("reason", ""):
        return
    # The library is what tells that a program has some.
    library = build(folder, "clang", "omp_library.c", "-shared", "-fPIC")
    target = os.path.join(os.path.dirname(library), "libomptarget.so")
    os.rename(library, target)
    done, path = record(folder, ["env", f"LD_PRELOAD={target}", program])
    assert done.returncode == 3 and "recorded in part: openmp" in done.stderr, done


def names_are_places_in_the_source(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c")])
    names = {event["name"] for event in of_type(Trace(path), "openmp.parallel")}
    assert done.returncode == 3 and any("omp_demo.c:" in name or name.startswith("main")
                                        for name in names), names


def a_program_of_gcc_reports_the_same_with_llvms_runtime_in_front(folder):
    trace = check_demo(folder, build(folder, "gcc", "omp_demo.c"), f"openmp:preload={libomp()}")
    # GCC has no call at the end of single.
    ruled = [event["name"] for event in of_type(trace, "openmp.worksharing") if RULE in event["args"]]
    assert ruled == ["single"], ruled


def a_program_of_gcc_alone_is_told_what_helps(folder):
    done, path = record(folder, [build(folder, "gcc", "omp_demo.c")])
    assert done.returncode == 3 and done.stdout == "28\n", done
    assert not Trace(path).spans
    # By name, among others, and as one of those that are recorded by default.
    several, _ = record(folder, [done.args[-1]], source="openmp,opencl")
    default = subprocess.run([KYMO, "record", "-f", "-o", path, "--", done.args[-1]],
                             capture_output=True, text=True, timeout=60, check=False)
    assert "openmp: never loaded by the program\n" in done.stderr, done.stderr
    assert "openmp, opencl: never loaded by the program\n" in several.stderr, several.stderr
    assert "nothing was recorded" in default.stderr, default.stderr
    for told in (done, several, default):
        line, = re.findall(r"^kymo: openmp: programs built with GCC .*$", told.stderr, re.M)
        assert "-t openmp:preload=" in line, told.stderr


def a_runtime_that_is_not_there_is_told_before_the_program_runs(folder):
    done, _ = record(folder, ["touch", os.path.join(folder, "ran")],
                     source="openmp:preload=/nowhere/libomp.so")
    assert done.returncode == 125 and "/nowhere/libomp.so" in done.stderr, done
    assert not os.path.exists(os.path.join(folder, "ran"))


def tools_that_are_switched_off_are_left_so(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c")],
                        env=dict(os.environ, OMP_TOOL="disabled"))
    assert done.returncode == 3 and "never loaded" in done.stderr, done
    assert not Trace(path).spans


def a_tool_that_the_program_has_been_given_is_left_to_it(folder):
    program = build(folder, "clang", "omp_demo.c")
    tool = build(folder, "clang", "omp_tool.c", "-shared", "-fPIC")
    done, _ = record(folder, [program], "--require", "openmp",
                     env=dict(os.environ, OMP_TOOL_LIBRARIES=f":{tool}"))
    assert done.stdout == "another tool\n28\n", done
    assert done.returncode == 125, done
    assert f"busy: OMP_TOOL_LIBRARIES names another tool: {tool}" in done.stderr, done.stderr
    # A recorder within a recorder has put ours there twice.
    done, path = record(folder, [KYMO, "record", "-t", "openmp", "-o",
                                 os.path.join(folder, "inner.json"), "--", program])
    assert done.returncode == 3 and "inner.json: 108 events" in done.stderr, done


def a_program_with_the_thread_sanitizer_keeps_its_tool(folder):
    """Without it there would be races, and another status."""
    program = build(folder, "clang", "omp_sum.c", "-fsanitize=thread")
    environment = dict(os.environ, OMP_NUM_THREADS="2",
                       TSAN_OPTIONS="ignore_noninstrumented_modules=1")
    plain = subprocess.run([program], capture_output=True, text=True, env=environment, check=False)
    assert plain.returncode == 5, plain
    done, _ = record(folder, [program], env=environment)
    assert (done.returncode, done.stdout) == (5, plain.stdout), done
    assert "openmp: busy: the thread sanitizer has a tool of its own" in done.stderr, done.stderr


def graphicsmagick_writes_the_same_image(folder):
    need("gm")
    images = [os.path.join(folder, name) for name in ("plain.ppm", "recorded.ppm")]
    command = ["gm", "convert", "-size", "600x450", "gradient:red-blue", "-blur", "0x6", "-rotate",
               "17"]
    subprocess.run([*command, images[0]], check=True)
    done, path = record(folder, [*command, images[1]], "--strict",
                        source=f"openmp:preload={libomp()}")
    assert done.returncode == 0, done
    plain, recorded = (hashlib.sha256(open(image, "rb").read()).digest() for image in images)
    assert plain == recorded
    trace = Trace(path)
    assert len(of_type(trace, "openmp.parallel")) >= 3, counts(trace)
    check_enclosed(trace)


def pytorch_computes_the_same(folder):
    python = "/usr/bin/python3"  # Debian's, which has torch
    if subprocess.run([python, "-c", "import torch"], capture_output=True,
                      check=False).returncode:
        raise Skip("python3-torch is not installed")
    plain = subprocess.run([python, "-c", TORCH], capture_output=True, text=True, check=True)
    done, path = record(folder, [python, "-c", TORCH], "--strict",
                        source=f"openmp:preload={libomp()}")
    assert done.returncode == 0 and done.stdout == plain.stdout, (plain, done)
    trace = Trace(path)
    assert of_type(trace, "openmp.parallel"), counts(trace)
    check_enclosed(trace)


def a_forked_child_is_a_process_of_its_own(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c"), "fork"])
    assert done.returncode == 0, done
    trace = Trace(path)
    regions = collections.Counter(event["pid"] for event in of_type(trace, "openmp.parallel"))
    assert sorted(regions.values()) == [3, 3], regions
    check_enclosed(trace)


def exit_within_a_region_leaves_it_unfinished(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c"), "exit"])
    assert done.returncode == 5, done
    trace = Trace(path)
    assert counts(trace) == {"parallel": 1, "implicit_task": 2}, counts(trace)
    assert all(event["args"]["finished"] is False for event in trace.spans)


def a_killed_program_leaves_the_region_that_it_was_in(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c"), "kill"])
    assert done.returncode == 128 + signal.SIGKILL, done
    region = of_type(Trace(path), "openmp.parallel")
    assert len(region) == 1 and region[0]["args"]["finished"] is False, region


def a_thousand_short_regions_lose_nothing(folder):
    done, path = record(folder, [build(folder, "clang", "omp_demo.c"), "short"], "--strict")
    assert done.returncode == 0, done
    trace = Trace(path)
    assert counts(trace) == {"parallel": 1000, "implicit_task": 4000, "sync_region": 4000,
                             "sync_wait": 4000}, counts(trace)
    check_enclosed(trace)


def a_region_in_a_librarys_constructor_does_not_hang(folder):
    library = build(folder, "clang", "omp_library.c", "-shared", "-fPIC")
    done, path = record(folder, [build(folder, "clang", "omp_demo.c"), "library", library],
                        timeout=60)
    assert done.returncode == 0, done
    assert len(of_type(Trace(path), "openmp.parallel")) == 3


def check_counters(trace, region):
    """The intervals of perf's counters cover the spans, and those of the region have its work."""
    samples = [event for event in trace.events
               if event["ph"] == "C" and "task clock" in event["args"]]
    end = next(event for event in trace.events if event["name"] == "Record Window End")
    bounds = [ns(event["ts"]) for event in [*samples, end]]
    assert bounds == sorted(bounds), bounds
    begins = [ns(event["ts"]) for event in trace.spans]
    ends = [ns(event["ts"]) + ns(event["dur"]) for event in trace.spans]
    assert bounds[0] <= min(begins) and max(ends) <= bounds[-1], bounds
    used = [(event["args"]["task clock"], bounds[number + 1] - begin)
            for number, (event, begin) in enumerate(zip(samples, bounds))
            if begin < ns(region["ts"]) + ns(region["dur"]) and bounds[number + 1] > ns(region["ts"])]
    # Who reads may be held up between the clock and the counters, and the kernel be a tick behind.
    cpus = os.cpu_count()
    assert sum(time for time, _ in used) > 0, used
    assert all(time <= cpus * (length + 100000000) for time, length in used), used


def opencl_openmp_and_perf_are_one_timeline(folder):
    program = build(folder, "clang", "omp_opencl.c", "-lOpenCL")
    done, path = record(folder, [program], source="opencl,openmp,perf", name="t.json.gz")
    if done.returncode == 77:
        raise Skip("no OpenCL device")
    assert done.returncode == 0 and done.stdout == "0 differ\n", done
    trace = Trace(path)
    assert {source["name"] for source in trace.data["kymo"]["sources"]
            if source["state"] in ("recording", "partly")} == {"opencl", "openmp", "perf"}
    assert len(trace.kernels) == 10 and len(of_type(trace, "openmp.parallel")) == 1
    check_enclosed(trace)
    region = of_type(trace, "openmp.parallel")[0]
    own = {part["tid"]: part for part in of_type(trace, "openmp.implicit_task")}
    launches = [event for event in of_type(trace, "runtime")
                if event["name"] == "clEnqueueNDRangeKernel"]
    assert len(launches) == 10 and all(lies_in(event, own[event["tid"]]) for event in launches)
    # Kernels begin and end within the region that waits for them: clocks agree to that.
    assert all(lies_in(kernel, region) for kernel in trace.kernels)
    check_counters(trace, region)
    said = subprocess.run([KYMO, "doctor", "opencl"], capture_output=True, text=True, check=True)
    # The platform with its vendor's version; none of Khronos' standard, which says little.
    assert re.search(r"usable +\d+ devices?: .+ \(\S.*\d.*\)$", said.stdout, re.M), said.stdout
    done = subprocess.run([KYMO, "check", "--json", path], capture_output=True, text=True,
                          check=False)
    findings = {finding["id"]: finding["severity"]
                for finding in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0, findings
    assert findings.keys() <= REMAINING and set(findings.values()) <= {"minor"}, findings


def target_constructs_of_clang_19_are_activities_of_a_device(folder):
    clang = os.path.join(LLVM_19, "bin", "clang")
    if not os.path.exists(clang):
        raise Skip("clang 19 is not unpacked: tests/openmp/get-llvm-19")
    libraries = [os.path.join(LLVM_19, "lib"), os.path.join(LLVM_19, "..", "x86_64-linux-gnu")]
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(libraries),
               PATH=f"{LLVM_19}/bin:{os.environ['PATH']}")
    program = os.path.join(folder, "target")
    subprocess.run([clang, "-g", "-O1", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu",
                    f"-L{LLVM_19}/lib", os.path.join(HERE, "omp_target.c"), "-o", program],
                   check=True, env=env)
    done, path = record(folder, [program], "--strict", env=env)
    assert done.returncode == 0 and done.stdout == "1 599994\n", done
    trace = Trace(path)
    sources = trace.data["kymo"]["sources"]
    assert [source["state"] for source in sources] == ["recording"], sources
    assert len(trace.kernels) == 4 and len(of_type(trace, "openmp.target")) == 7, counts(trace)
    copies = collections.Counter((event["name"][:11], event["args"]["bytes"])
                                 for event in of_type(trace, "gpu_memcpy"))
    size = 8 * 100000
    assert copies == {("Memcpy HtoD", size): 3, ("Memcpy DtoH", size): 2,
                      ("Memcpy DtoH", 80): 1}, copies
    memory = collections.Counter(event["name"] for event in of_type(trace, "openmp.target_memory"))
    assert memory == {"Alloc": 3, "Delete": 3}, memory
    assert len(trace.arrows) == 4 + 6 + 6
    names = [name for pid, name in trace.process_names().items() if pid >= 1 << 30]
    assert any("OpenMP device 0 (generic-64bit)" in name for name in names), names


def doctor_finds_the_runtime(_folder):
    runtime = libomp()
    done = subprocess.run([KYMO, "doctor", "openmp"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "openmp     usable   libomp" in done.stdout, done
    assert os.path.basename(os.path.dirname(os.path.dirname(runtime))).split("-")[1] in done.stdout


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
