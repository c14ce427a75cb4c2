#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The CUDA source through its whole chain, with the CUPTI of one major that stands in:
`kymo record`, the driver's injection, CUPTI's buffers, the trace. The major is in CUDA_MAJOR.
Each fault of CUPTI's ends in the state that the source's README documents, with exact counts."""
import os
import subprocess
import sys

MAJOR = os.environ["CUDA_MAJOR"]
if f"{MAJOR}=" not in os.environ.get("CUDA_STANDINS", ""):
    print(f"skip: there are no headers of CUDA {MAJOR}: run tools/setup")
    sys.exit(77)

import recorded
import tap

NORMAL = """
launch saxpy 3
copy htod 4096
copy dtoh 2048 2
use driver
copy dtod 1024
launch driver_kernel 2 1
peer 8192
set 4096
event
wait
wait 3
graph 3 2 4
threads 3
launch in_a_thread 5
end
sync 2
sync
record overhead 500
"""


def record(scenario, *arguments, **more):
    return recorded.Run(MAJOR, scenario, *arguments, **more)


def names(run, category="kernel"):
    return sorted(event["name"] for event in run.of(category))


# ---- What is recorded ----

def test_all_that_the_program_did_is_in_the_trace():
    run = record(NORMAL)
    run.check_counts()
    run.check_all_is_there()
    run.check_state("recording")
    assert len(run.of("overhead")) == 1 and run.of("overhead")[0]["dur"] == 0.5
    assert run.report["subscribed"] == 1, run.report


def test_a_kernel_has_what_its_launch_had():
    run = record("launch saxpy 1 2\nsync")
    kernel, = run.of("kernel")
    args = kernel["args"]
    assert kernel["name"] == "saxpy" and kernel["dur"] == 10, kernel
    assert args["grid"] == [64, 2, 1] and args["block"] == [128, 1, 1], args
    assert args["registers per thread"] == 32 and args["shared memory"] == 1024 + 256, args
    assert args["context"] == 1 and args["device"] == 0, args
    assert args["channel"] == 5 and args["channel_type"] == "COMPUTE", args
    assert args["cluster"] == [2, 1, 1], args
    assert abs(args["blocks per SM"] - 128 / 132) < 1e-9, args
    assert abs(args["warps per SM"] - 512 / 132) < 1e-9, args
    assert args["est. achieved occupancy %"] == 6, args
    assert "queued" not in args and "submitted" not in args, args
    device = run.trace.data["deviceProperties"][0]
    assert device["name"] == "Stand-in 0" and device["numSms"] == 132, device
    assert device["totalGlobalMem"] == 80 << 30 and device["computeMajor"] == 9, device


def test_each_kernel_follows_the_call_that_launched_it():
    run = record("launch one 20\nuse driver\nlaunch two 20\nsync")
    calls = {e["args"]["correlation"]: e for e in run.events
             if e["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    for kernel in run.of("kernel"):
        call = calls[kernel["args"]["correlation"]]
        wanted = "cudaLaunchKernel" if kernel["name"] == "one" else "cuLaunchKernel"
        assert call["name"] == wanted, (call, kernel)
        assert kernel["ts"] >= call["ts"], (call, kernel)
    assert len(run.trace.arrows) >= 40, len(run.trace.arrows)


def test_a_call_inside_a_call_launches_a_kernel_once():
    for nested in ("same", "own"):
        run = record(f"cupti nested {nested}\nlaunch one 10\ncopy htod 64\nsync")
        done = run.counts
        assert len(run.of("cuda_driver")) == done["driver"] + done["nested"], done
        assert len(run.of("cuda_runtime")) == done["runtime"], done
        kernels = [e["args"]["correlation"] for e in run.of("kernel")]
        assert len(set(kernels)) == 10, kernels
        calls = [e for e in run.events if e["cat"] in ("cuda_runtime", "cuda_driver")]
        for correlation in kernels:
            launch, = [c for c in calls if c.get("args", {}).get("correlation") == correlation]
            assert "LaunchKernel" in launch["name"], launch


def test_copies_say_from_where_to_where_and_how_much():
    run = record("copy htod 4096\ncopy dtoh 2048\ncopy dtod 1024\npeer 8192\nset 512\nsync")
    copies = {e["name"]: e["args"] for e in run.of("gpu_memcpy")}
    assert copies["Memcpy HtoD (Pinned -> Device)"]["bytes"] == 4096, copies
    assert copies["Memcpy DtoH (Device -> Pageable)"]["bytes"] == 2048, copies
    assert copies["Memcpy DtoD (Device -> Device)"]["bytes"] == 1024, copies
    peer = copies["Memcpy PtoP (Device -> Device)"]
    assert peer["bytes"] == 8192 and peer["fromDevice"] == 0 and peer["toDevice"] == 1, peer
    assert peer["fromContext"] == 1 and peer["toContext"] == 2, peer
    memset, = run.of("gpu_memset")
    assert memset["args"]["bytes"] == 512, memset
    assert memset["args"]["memory bandwidth (GB/s)"] == 0.0512, memset


def test_nodes_of_a_graph_name_the_graph_and_its_launch():
    run = record("graph 3 2 4\nsync")
    nodes = [e["args"] for e in run.of("kernel")]
    assert len(nodes) == 6 and len({n["graph id"] for n in nodes}) == 1, nodes
    by_node = sorted(n["graph node id"] for n in nodes)
    assert by_node == sorted(by_node[::2] * 2), by_node
    launches = {e["args"]["correlation"] for e in run.of("cuda_runtime")
                if e["name"].startswith("cudaGraphLaunch")}
    assert {n.get("launch correlation", n["correlation"]) for n in nodes} == launches, nodes
    run.check_all_is_there()


def test_whole_graphs_stand_in_the_place_of_their_kernels_if_asked_for():
    run = record("graph 3 2 4\nsync", more=["--types", "default,cuda.graph"])
    assert len(run.of("cuda.graph")) == 2 and not run.of("kernel"), run.of("kernel")
    run.check_all_is_there()


def test_unified_memory_is_recorded_if_asked_for():
    run = record("record uvm 65536\nsync", more=["--types", "default,cuda.unified_memory"])
    moved, = run.of("cuda.unified_memory")
    assert moved["args"]["value"] == 65536, moved
    assert moved["args"]["address"] in (0x7f0000000000, "0x7f0000000000"), moved


def test_waits_say_what_for():
    run = record("launch one 1 1\nevent 1\nwait\nwait 2\nsync 1\nsync")
    kinds = [e["args"]["cuda_sync_kind"] for e in run.of("cuda_sync")]
    assert sorted(kinds) == ["Context Sync", "Event Sync", "Stream Sync", "Stream Wait Event"], kinds
    event, = run.of("cuda_event")
    kernel, = run.of("kernel")
    streams = {wait["args"]["cuda_sync_kind"]: wait["args"]["stream"] for wait in run.of("cuda_sync")}
    # A row of their own, by the number of their stream.
    assert streams["Stream Sync"] == kernel["args"]["stream"] != streams["Stream Wait Event"], streams
    assert kernel["tid"] not in {wait["tid"] for wait in run.of("cuda_sync")}
    calls = {e["args"]["correlation"]: e["name"]
             for e in run.of("cuda_driver") + run.of("cuda_runtime")}
    for wait in run.of("cuda_sync"):
        name = calls[wait["args"]["correlation"]]
        assert wait["args"]["cuda_sync_kind"].split()[0] in name.replace("Device", "Context"), wait
        if "Event" in wait["args"]["cuda_sync_kind"]:
            assert wait["args"]["wait_on_cuda_event_id"] == event["args"]["event_id"], wait
            # By the numbers of the trace, which readers join by.
            made = calls[wait["args"]["wait_on_cuda_event_record_corr_id"]]
            assert made.endswith("EventRecord"), made
            assert wait["args"]["wait_on_stream"] == event["args"]["stream"], wait


def test_times_of_the_queue_are_recorded_if_asked_for():
    kernel, = record("launch one\nsync", "latency=true").of("kernel")
    assert kernel["args"]["queued"] < kernel["args"]["submitted"], kernel


def test_a_call_that_fails_is_marked_with_its_code():
    run = record("launch one 1 0 2000\nuse driver\nlaunch two 1 0 2000")
    failed = [e for e in run.events if e.get("args", {}).get("error") is True]
    assert sorted(e["name"] for e in failed) == ["cuLaunchKernel", "cudaLaunchKernel"], failed
    assert not run.of("kernel")


def test_names_of_any_bytes_are_kept():
    names = [r"\"quoted\"\n\\", "x" * 3000, r"\x01\x7f", "operator<<(a, b)", "ünïcode"]
    run = record("".join(f'launch "{name}"\n' for name in names) + "sync")
    got = {e["name"] for e in run.of("kernel")}
    assert '"quoted"\n\\' in got and "ünïcode" in got and "operator<<(a, b)" in got, got
    assert len(got) == 5 and max(map(len, got)) == 3000, got


def test_many_threads_lose_nothing():
    run = record("duration 100\nthreads 16\nlaunch storm 500\ncopy htod 64 100\nend\nsync")
    assert run.counts["kernels"] == 8000 and len(run.of("kernel")) == 8000
    run.check_counts()
    run.check_all_is_there()


def test_threads_that_end_lose_nothing():
    run = record("duration 100\nrepeat 20\nthreads 50\nlaunch short 3\nend\nend\nsync")
    assert run.counts["kernels"] == 3000 and len(run.of("kernel")) == 3000
    run.check_counts()
    # Each has a row of its own, or its number had been free again.
    assert len({e["tid"] for e in run.of("cuda_runtime")}) > 50


def test_the_library_is_found_where_the_loader_finds_it():
    """The newest that is there: that of an older major only where no newer one is installed."""
    run = record("launch one\nsync", "cupti=")
    if MAJOR == "13":
        assert len(run.of("kernel")) == 1 and run.report["version"] >= 130000, run.report


def test_a_kernel_is_tied_to_the_operation_that_launched_it():
    run = record("operation 18446744073709551615 aten::mm\nlaunch inner 2\nend\n"
                 "operation 7 aten::add\nuse driver\nlaunch other\nend\nlaunch none\nsync")
    operations = {e["name"]: e for e in run.of("cpu_op")}
    assert set(operations) == {"aten::mm", "aten::add"}, operations
    tied = set(run.arrows())
    assert ("aten::mm", "cudaLaunchKernel") in tied and ("cudaLaunchKernel", "inner") in tied, tied
    assert ("aten::add", "cuLaunchKernel") in tied and ("cuLaunchKernel", "other") in tied, tied
    assert operations["aten::mm"]["args"]["op id"] == str(2**64 - 1), operations


def test_a_framework_of_its_own_keeps_its_correlation():
    """Kymo uses kinds of CUPTI's external correlation that the framework may use as well."""
    run = record("correlate 1 77\ncorrelate 3 78\nlaunch one 5\ncorrelate 3\ncorrelate 1\nsync")
    run.check_counts()
    assert len(run.trace.arrows) == 5, run.arrows()


# ---- What CUPTI may do ----

def test_a_kind_that_nobody_knows_is_stepped_over():
    run = record("launch one 2\nrecord unknown 72\nrecord unknown 8\nlaunch one 2\nsync")
    run.check_counts()
    run.check_all_is_there()
    assert run.report["unknown"] == 2, run.report


def test_a_buffer_that_ends_within_a_record_is_counted_at_least():
    run = record("cupti cut 1\nlaunch one 5\nsync", losses=True)
    assert run.ledger["source_at_least"] == run.report["cut_off"] == 1, run.ledger
    assert run.ledger["written"] == sum(
        n for kind, n in run.report["written"].items() if int(kind) in recorded.EVENTS), run.ledger


def test_what_cupti_drops_is_counted():
    run = record("cupti drop 7\nlaunch one 20\nsync", losses=True)
    assert len(run.of("kernel")) == 13, len(run.of("kernel"))
    assert run.ledger["source_exact"] == run.report["dropped"] == 7, (run.ledger, run.report)


def test_when_all_buffers_are_out_what_finds_none_is_counted():
    """Each record that nobody knows fills a buffer, and none comes back."""
    run = record("cupti hold\nlaunch one 20\nrepeat 80\nrecord unknown 1000000\nend\n"
                 "launch two 20\ncopy htod 64 1\nsync", losses=True)
    report = run.report
    assert report["refused"] > 0 and report["dropped"] > 20, report
    assert run.ledger["source_exact"] == report["dropped"], (run.ledger, report)
    assert len(run.of("kernel")) == report["written"]["10"] >= 20, report
    assert run.status == 0 and "lost" in run.err, run.err


def test_times_of_0_are_kept_and_not_drawn():
    run = record("cupti zero 3\nlaunch one 10\nsync", losses=True)
    assert run.ledger["untimed"] == 3 and run.ledger["written"] >= 10, run.ledger
    assert run.ledger["kernels"] == 10 or len(run.of("kernel")) == 7, run.ledger


def test_an_end_before_the_begin_is_no_time():
    run = record("cupti reversed 3\nlaunch one 10\nsync", losses=True)
    assert run.ledger["untimed"] == 3, run.ledger
    assert all(e["dur"] >= 0 for e in run.of("kernel"))


def test_a_kernel_that_has_not_ended_runs_until_it_was_handed_over():
    run = record("cupti endless 1\nlaunch one 2\nsync")
    endless, ended = sorted(run.of("kernel"), key=lambda event: -event["dur"])
    assert endless["args"]["finished"] is False and "finished" not in ended["args"], endless
    end = run.trace.data["baseTimeNanoseconds"] + (endless["ts"] + endless["dur"]) * 1000
    # Files have the time of the kernel's last tick.
    assert end < os.stat("trace.json").st_mtime_ns + 100e6, (endless, end)


def test_a_kernel_without_a_name_is_a_kernel():
    run = record("cupti nameless 2\nlaunch one 4\nsync")
    assert len(run.of("kernel")) == 4
    assert sum(e["name"] != "one" for e in run.of("kernel")) == 2, run.of("kernel")


def test_records_in_any_order_are_the_same_trace():
    run = record("cupti disorder\nlaunch one 50\ncopy htod 64 20\nsync")
    run.check_counts()
    run.check_all_is_there()


def test_a_clock_that_is_not_the_systems_is_set_right():
    """Without CUPTI's callback for times its own clock is compared with the host's."""
    run = record("cupti error cuptiActivityRegisterTimestampCallback 27\n"
                 "cupti skew 123456789012\nlaunch one 20\nsync")
    calls = {e["args"]["correlation"]: e for e in run.of("cuda_runtime")
             if "correlation" in e.get("args", {})}
    for kernel in run.of("kernel"):
        late = kernel["ts"] - calls[kernel["args"]["correlation"]]["ts"]
        assert -50 < late < 20000, (late, kernel)
    run.check_counts()


def test_what_runs_when_the_program_ends_is_counted():
    run = record("duration 60000000000\nlaunch long 3\nexit 5", losses=True)
    assert run.status == 5
    ledger = run.ledger
    assert ledger["untimed"] + ledger["unfinished"] + ledger["source_exact"] == 3, ledger


def test_a_buffer_that_comes_after_the_recording_is_refused():
    def late(factor):
        run = record(f"cupti late 300\nlaunch one 10\nsync\nsleep {2000 * factor}",
                     more=["--duration", str(factor)], losses=True)
        assert run.report["late"] == 1 and run.status == 0, run.report
        assert not run.of("kernel") and len(run.of("cuda_runtime")) == 11, run.ledger
        assert run.ledger["launches_without_result"] == 10, run.ledger
    tap.given_time(late)


def test_a_flush_that_hangs_does_not_hang_the_program():
    run = record("cupti hang cuptiActivityFlushAll 60000\nlaunch one 10\nsync", losses=True)
    run.check_state("partly", "flush did not return")
    assert run.err.startswith("kymo: recorded in part: cuda: CUPTI's flush did not"), run.err


def test_a_flush_that_fails_is_told():
    run = record("cupti error cuptiActivityFlushAll 8\nlaunch one 10\nsync", losses=True)
    run.check_state("partly", "cuptiActivityFlushAll")


def test_after_the_recording_nothing_is_told_any_more():
    def end(factor):
        run = record(f"launch one 5\nsync\nsleep {2000 * factor}\nlaunch after 50\nsync",
                     "finalize=true", more=["--duration", str(factor)])
        assert {e["name"] for e in run.of("kernel")} == {"one"}, run.of("kernel")
        assert run.report["enabled"] == 0 and run.report["subscribed"] == 0, run.report
    tap.given_time(end)


def test_what_begins_to_record_after_the_end_lets_go():
    run = record("cupti hang cuptiSubscribe 2500\nlaunch one 5\nsync\nsleep 500\nlaunch two\nsync",
                 more=["--duration", "1"], losses=True)
    assert not run.of("kernel"), run.of("kernel")
    assert run.report["enabled"] == 0 and run.report["subscribed"] == 0, run.report


# ---- Sessions of the program's own, without the driver's injection ----

def sessions(scenario, count):
    recorded.run_alone(MAJOR, scenario)
    return [recorded.Saved(f"{number}.json") for number in range(1, count + 1)]


def test_each_session_of_a_program_has_what_happened_in_it():
    first, second = sessions("launch before\nsession start\nlaunch one 5\nsync\nsession stop\n"
                             "session save 1.json\nlaunch between 5\nsync\nsession start\n"
                             "launch two 3\nsync\nsession stop\nsession save 2.json\nlaunch after",
                             2)
    assert names(first) == ["one"] * 5 and names(second) == ["two"] * 3, names(second)
    for run in (first, second):
        run.check_state("recording")
        assert run.trace.lost() == 0, run.ledger
        assert len(run.trace.data["deviceProperties"]) == 2


def test_what_happens_during_a_pause_is_not_recorded():
    run, = sessions("session start\nlaunch one 5\nsync\nsession pause\nlaunch paused 5\nsync\n"
                    "session resume\nlaunch two 5\nsync\nsession stop\nsession save 1.json", 1)
    assert names(run) == ["one"] * 5 + ["two"] * 5, names(run)
    assert run.trace.lost() == 0, run.ledger


def test_a_buffer_of_an_earlier_session_is_refused_and_counted():
    def late(factor):
        first, second = sessions(
            f"cupti late {200 * factor}\nsession start\nlaunch one 5\nsync\nsession stop\n"
            f"session save 1.json\nsession start\nlaunch two 3\nsleep {600 * factor}\nsync\n"
            "session stop\nsession save 2.json", 2)
        report, = recorded.read_reports()
        assert report["late"] == 1, report
        assert names(second) == ["two"] * 3, names(second)
        assert not first.of("kernel") and first.ledger["launches_without_result"] == 5, first.ledger
        assert second.ledger["late"] == 5 and second.trace.lost() == 5, second.ledger
    tap.given_time(late)


def test_the_last_call_before_a_pause_is_there_when_the_program_ends_in_it():
    """Calls of the driver wait for one of the runtime that they may be part of."""
    run = record("order record\nuse driver\nlaunch one 3\nevent\norder rest\nsleep 20",
                 more=["--start-paused"])
    assert len(run.of("cuda_driver")) == run.report["written"]["4"], run.of("cuda_driver")
    assert len(run.of("cuda_event")) == 1, run.events


# ---- Why nothing is recorded ----

def test_a_lack_of_rights_is_told_with_the_remedy():
    run = record("cupti error cuptiSubscribe 35\nlaunch one\nsync")
    run.check_state("denied", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
                    "NVreg_RestrictProfilingToAdminUsers=0")
    assert not run.of("kernel") and run.report["subscribed"] == 0, run.report


def test_rights_that_are_lacking_for_all_kinds_deny_it():
    run = record("cupti error cuptiActivityEnable 35\nlaunch one\nsync")
    run.check_state("denied", "NVreg_RestrictProfilingToAdminUsers=0")
    assert run.report["subscribed"] == 0, run.report


def test_a_kind_that_is_refused_leaves_the_rest():
    run = record("cupti error cuptiActivityEnable 27 38\nlaunch one\nsync")
    run.check_state("partly", "waits")
    assert len(run.of("kernel")) == 1 and not run.of("cuda_sync")


def test_whatever_call_of_cupti_fails_the_program_goes_on():
    without = ("cuptiGetVersion", "cuptiSubscribe", "cuptiActivityRegisterCallbacks",
               "cuptiActivityEnable")
    for function in without + (
            "cuptiGetTimestamp", "cuptiGetCallbackName", "cuptiSetThreadIdType",
            "cuptiActivityGetNumDroppedRecords", "cuptiActivityDisable", "cuptiUnsubscribe",
            "cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivityEnableAndDump",
            "cuptiActivityPushExternalCorrelationId"):
        run = record(f"cupti error {function} 8\noperation 5 op\nlaunch one 3\nend\nsync",
                     losses=True)
        assert run.counts["kernels"] == 3, function
        if function in without:
            assert run.source()["state"] in ("absent", "failed"), (function, run.source())
            assert run.source()["reason"], function


def test_another_tool_is_named_where_cupti_tells_it():
    run = record('cupti subscriber "Another Profiler"\nlaunch one\nsync')
    run.check_state("busy", "one tool at a time",
                    "Another Profiler" if MAJOR == "13" else "another one")


def test_a_tool_that_is_to_be_injected_already_stays():
    env = dict(recorded.environment(MAJOR, ""), CUDA_INJECTION64_PATH="/opt/another.so")
    done = subprocess.run([recorded.KYMO, "record", "-f", "-t", "cuda", "-o", "kept.json", "--",
                           "env"], capture_output=True, text=True, timeout=60, env=env, check=True)
    assert "\nCUDA_INJECTION64_PATH=/opt/another.so\n" in "\n" + done.stdout, done.stdout
    assert "names another tool already" in done.stderr, done.stderr


def test_a_driver_that_is_too_old_is_told():
    for code in (15, 999, 14):
        run = record(f"cupti error cuptiSubscribe {code}\ndriver version 10000\nlaunch one\nsync")
        run.check_state("failed", "does not go with the driver", "update the driver")
        assert run.counts["kernels"] == 1 and not run.events, run.events


def test_a_library_that_is_not_there_is_told():
    run = record("launch one\nsync", "cupti=/nonexistent/libcupti.so")
    run.check_state("absent", "/nonexistent/libcupti.so")


def test_a_program_without_a_device_is_left_alone():
    run = record("driver devices 0\nlaunch one")
    assert run.status == 3 and not run.events, run.events
    run = record("driver fails 804\nlaunch one")
    assert run.status == 3, run.err


def test_doctor_says_what_can_be_recorded_and_why_not():
    version = {"11": "11.8", "12": "12.", "13": "13."}[MAJOR]
    said = recorded.doctor(MAJOR, "")
    if version not in said.get("what", ""):
        return  # a newer one is installed here, which comes first
    assert said["state"] == "usable", said
    said = recorded.doctor(MAJOR, "cupti error cuptiActivityEnable 35")
    assert said["state"] == "denied" and "NVreg_" in said["remedy"], said
    said = recorded.doctor(MAJOR, "cupti subscriber Somebody")
    assert said["state"] == "busy" and "one tool at a time" in said["why"], said
    said = recorded.doctor(MAJOR, "", without=["libcuda.so.1"])
    assert said["state"] == "absent" and "found, no driver" in said["why"], said


# ---- The process ----

def test_a_program_that_is_killed_leaves_what_was_handed_over():
    def die_in(factor):
        run = record(f"duration 10\nlaunch one 30000\nsync\nsleep {200 * factor}\ndie 9", losses=True)
        assert run.status == 137
        # One megabyte of kernels has come back at least.
        assert len(run.of("kernel")) > 4000, len(run.of("kernel"))
    tap.given_time(die_in)


def test_a_program_that_is_killed_leaves_the_last_call_of_each_thread():
    def die_in(factor):
        run = record(f"use driver\nlaunch one 3\nevent\nsleep {1000 * factor}\ndie 9", "flush_ms=50",
                     losses=True)
        assert run.of("cuda_driver"), run.events
        assert run.of("cuda_driver")[-1]["name"] == "cuEventRecord", run.of("cuda_driver")
        assert len(run.of("cuda_event")) == 1, run.events
    tap.given_time(die_in)


def test_a_child_that_does_not_use_cuda_is_undisturbed():
    run = record("launch one 10\nfork\nprint child\nlaunch no_device\nend\nlaunch one 10\nsync")
    assert run.status == 0 and run.out.startswith("child\nlaunch: 3\n"), run.out
    assert len(run.of("kernel")) == 20, len(run.of("kernel"))


def test_a_child_that_is_the_first_to_use_cuda_is_recorded():
    run = record("fork-first\nlaunch one 10\nsync\nexit 4")
    assert run.status == 4 and len(run.of("kernel")) == 10, run.err
    run.check_all_is_there()


def test_processes_at_the_same_time_have_each_their_own():
    both = f"'{recorded.PROGRAM}' & '{recorded.PROGRAM}'; wait"
    run = record("launch one 100\ncopy htod 64 10\nsync", command=["sh", "-c", both])
    assert len(run.of("kernel")) == 200 and len(run.of("gpu_memcpy")) == 20, run.ledger
    sources = [s for s in run.trace.data["kymo"]["sources"] if s["name"] == "cuda"]
    assert [s["state"] for s in sources] == ["recording"] * 2, sources
    assert sources[0]["written"] == sources[1]["written"], sources


def test_a_recording_that_begins_late_has_what_came_then():
    run = record("launch before 5\nsync\norder record\nlaunch while 5\nsync\norder rest\n"
                 "launch after 5\nsync", more=["--start-paused"])
    assert names(run) == ["while"] * 5, names(run)
    assert run.trace.data["deviceProperties"][0]["name"] == "Stand-in 0"


def test_leaving_without_exit_handlers_keeps_what_was_handed_over():
    def leave_in(factor):
        run = record(f"duration 10\nlaunch one 30000\nsync\nsleep {200 * factor}\n_exit 7", losses=True)
        assert run.status == 7 and len(run.of("kernel")) > 4000, len(run.of("kernel"))
    tap.given_time(leave_in)


if __name__ == "__main__":
    tap.main(globals())
