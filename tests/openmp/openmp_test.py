#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The OpenMP source in a runtime that plays any order of callbacks (scenarios.c), read by the
reader of tests/e2e. Prints TAP; `openmp_test.py WORD` runs the cases whose names have the word."""
import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", name) for name in ("e2e", "support")]
from tap import cases_of, run_cases
from trace import Trace, ns

BUILD = os.environ["KYMO_BUILD"]
SCRIPT = os.path.join(BUILD, "tests", "openmp", "script")
PLUGIN = os.path.join(BUILD, "plugins", "source", "openmp.so")
RULE = "end by rule"


class Played:
    """The trace of a scenario, its spans by type and in order of time."""

    def __init__(self, folder, scenario):
        path = os.path.join(folder, "trace.json")
        done = subprocess.run([SCRIPT, scenario, PLUGIN, path], capture_output=True, text=True,
                              timeout=250, check=False)
        assert done.returncode == 0 and done.stdout == "" and done.stderr == "", done
        self.trace = Trace(path)
        self.by_type = collections.defaultdict(list)
        for event in self.trace.spans:
            self.by_type[event["cat"].removeprefix("openmp.")].append(event)
        self.source = next(source for source in self.trace.data["kymo"]["sources"]
                           if source["name"] == "openmp")

    def counts(self):
        return {name: len(events) for name, events in self.by_type.items()}

    def all(self, flag):
        return [event for event in self.trace.spans if flag in event.get("args", {})]


def begin_of(event):
    return ns(event["ts"])


def end_of(event):
    return ns(event["ts"]) + ns(event["dur"])


def lies_in(inner, outer):
    return begin_of(outer) <= begin_of(inner) and end_of(inner) <= end_of(outer)


def thread_names(trace):
    return sorted(event["args"]["name"].split(" (", 1)[1] for event in trace.events
                  if event["ph"] == "M" and event["name"] == "thread_name" and
                  " (" in event["args"]["name"])


def a_region_has_a_part_in_each_thread_and_all_that_is_in_it(folder):
    played = Played(folder, "region")
    assert played.counts() == {"parallel": 1, "implicit_task": 4, "worksharing": 8, "mutex": 4,
                               "sync_region": 8, "sync_wait": 8}, played.counts()
    region = played.by_type["parallel"][0]
    assert region["args"]["threads"] == 4, region
    # Of the call, not of what stands behind it.
    assert region["name"].startswith("code_of_region+0x0"), region
    parts = played.by_type["implicit_task"]
    assert sorted(part["args"]["thread"] for part in parts) == [0, 1, 2, 3]
    assert all(lies_in(part, region) for part in parts), parts
    assert {part["args"]["region"] for part in parts} == {region["args"]["region"]}
    assert {part["name"] for part in parts} == {region["name"]}
    own = {part["tid"]: part for part in parts}
    for name in ("worksharing", "mutex", "sync_region", "sync_wait"):
        assert all(lies_in(event, own[event["tid"]]) for event in played.by_type[name])
    loop = played.by_type["worksharing"][0]
    assert loop["name"] == "loop" and loop["args"]["iterations"] == 100, loop
    assert loop["args"]["code"] == region["name"], (loop, region)
    lock = played.by_type["mutex"][0]
    assert lock["name"] == "critical" and int(lock["args"]["lock"]) == 0xfedcba9876543210, lock
    assert not played.all(RULE) and played.trace.lost() == 0
    assert played.source["state"] == "recording", played.source


def threads_are_named_by_their_roles(folder):
    names = thread_names(Played(folder, "region").trace)
    assert names == ["script, OpenMP initial thread)"] + 3 * ["script, OpenMP worker)"], names


def a_missing_end_is_made_where_what_is_around_it_ends_and_flagged(folder):
    played = Played(folder, "missing_ends")
    assert played.counts() == {"parallel": 3, "implicit_task": 2, "worksharing": 3, "sync_region": 1,
                               "sync_wait": 1}, played.counts()
    ruled = [(event["cat"], event["name"]) for event in played.all(RULE)]
    regions = {event["name"] for event in played.by_type["parallel"]}
    assert sorted(ruled) == sorted([
        ("openmp.worksharing", "single"), ("openmp.worksharing", "sections"),
        ("openmp.sync_region", "barrier"), ("openmp.sync_wait", "barrier"),
        ("openmp.implicit_task", regions.pop()),
        ("openmp.parallel", played.by_type["parallel"][2]["name"])]), ruled
    single, loop, sections = played.by_type["worksharing"]
    assert end_of(single) <= begin_of(loop), "single goes on in the next construct"
    assert end_of(sections) <= begin_of(played.by_type["sync_region"][0])


def a_worker_that_is_told_late_ends_with_its_region(folder):
    played = Played(folder, "late_ends")
    regions = {event["args"]["region"]: event for event in played.by_type["parallel"]}
    assert len(regions) == 3
    for part in played.by_type["implicit_task"]:
        assert lies_in(part, regions[part["args"]["region"]]), part
        assert (RULE in part["args"]) == (part["args"]["thread"] == 1), part
    assert len(played.all(RULE)) == 9, played.all(RULE)
    assert played.trace.ledger["unfinished"] == 0, played.trace.ledger


def what_is_open_when_the_recording_ends_is_unfinished(folder):
    played = Played(folder, "open_at_stop")
    assert played.counts() == {"parallel": 1, "implicit_task": 3, "sync_wait": 3}, played.counts()
    assert all(event["args"]["finished"] is False for event in played.trace.spans)
    assert played.trace.ledger["unfinished"] == 7, played.trace.ledger


def what_began_before_the_recording_is_not_in_it(folder):
    played = Played(folder, "middle")
    assert len(played.by_type["task"]) == len(played.by_type["task_create"]) == 1
    assert len(played.trace.arrows) == 1
    # One region begins before the pause, one within it, one after.
    finished = [event["args"].get("finished", True) for event in played.by_type["parallel"]]
    assert finished == [False, True], played.by_type["parallel"]
    assert "worksharing" not in played.by_type and "mutex" not in played.by_type


def a_task_that_changes_threads_has_a_part_in_each(folder):
    played = Played(folder, "stolen_tasks")
    tasks = played.by_type["task"]
    assert [task["args"]["ended"] for task in tasks] == ["switch", "complete", "complete"], tasks
    first, stolen, second = tasks
    assert first["args"]["task id"] == second["args"]["task id"] != stolen["args"]["task id"]
    assert first["tid"] != second["tid"] == stolen["tid"]
    creations = {event["ts"] for event in played.by_type["task_create"]}
    arrows = played.trace.arrows
    assert len(arrows) == 2 and {start["ts"] for start, _ in arrows} == creations, arrows
    assert {finish["ts"] for _, finish in arrows} == {first["ts"], stolen["ts"]}, arrows


def a_task_that_waits_holds_those_that_run_within_it(folder):
    played = Played(folder, "nested_tasks")
    outer, inner, cancelled, detached = played.by_type["task"]
    ended = [task["args"]["ended"] for task in played.by_type["task"]]
    assert ended == ["complete", "complete", "cancel", "detach"], ended
    wait = played.by_type["sync_wait"][0]
    assert lies_in(inner, wait) and lies_in(wait, outer) and lies_in(cancelled, outer)
    assert not lies_in(detached, outer) and not played.all(RULE)
    assert len(played.trace.arrows) == 4


def tasks_outside_of_regions_return_to_no_span(folder):
    played = Played(folder, "serial_tasks")
    assert [task["args"]["ended"] for task in played.by_type["task"]] == ["complete", "switch"]
    assert played.counts() == {"task": 2, "task_create": 2}, played.counts()


def nonsense_harms_nobody_and_what_is_too_deep_is_counted(folder):
    played = Played(folder, "hostile")
    assert len(played.by_type["task_create"]) == 9000
    kept = len(played.by_type["task"])
    lost = played.trace.ledger["source_exact"]
    # Behind what the nonsense has left open, which is some three constructs.
    assert 8000 < kept <= 8192 and 9000 - kept <= lost <= 9003 - kept, (kept, lost)
    assert all(RULE in task["args"] for task in played.by_type["task"])


def target_constructs_are_activities_of_their_devices(folder):
    played = Played(folder, "target")
    trace = played.trace
    copies = played.by_type["gpu_memcpy"]
    assert [copy["name"][:11] for copy in copies] == ["Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoD"]
    assert [copy["args"]["bytes"] for copy in copies] == [1 << 40, 0, 5], copies
    assert int(copies[0]["args"]["destination"]) == 0xffff800000001000, copies[0]
    assert copies[0]["args"]["source"] == 0x1000, copies[0]
    assert "fromDevice" not in copies[0]["args"] and copies[2]["args"]["fromDevice"] == 0
    kernel = trace.kernels[0]
    construct = played.by_type["target"][0]
    assert len(trace.kernels) == 1 and kernel["args"]["teams"] == 17
    assert kernel["name"] == construct["args"]["code"] and lies_in(kernel, construct)
    names = [event["name"] for event in played.by_type["target_memory"]]
    assert names == ["Alloc", "Delete"] and len(trace.arrows) == 6
    devices = [name for pid, name in trace.process_names().items() if pid >= 1 << 30]
    assert any('OpenMP device 0 (a "quoted"\n\ufffd name)' in name for name in devices), devices
    assert any("OpenMP device 2" in name for name in devices), devices
    assert [event["name"] for event in played.all(RULE)] == ["target transfer to device"]


def without_emi_operations_have_no_length_and_the_state_says_so(folder):
    played = Played(folder, "target_plain")
    for event in played.by_type["gpu_memcpy"] + played.by_type["kernel"]:
        assert event["dur"] == 0 and event["args"][RULE] is True, event
    assert played.by_type["gpu_memcpy"][0]["args"]["bytes"] == 99
    assert played.source["state"] == "partly", played.source
    assert "without times" in played.source["reason"], played.source
    assert "target_data_op_emi" in played.source["reason"], played.source


def callbacks_that_a_runtime_lacks_are_told(folder):
    source = Played(folder, "old_runtime").source
    assert source["state"] == "partly", source
    assert source["reason"] == ("a fake runtime never reports masked, device_initialize, "
                                "target_emi, target_data_op_emi, target_submit_emi"), source
    assert "LLVM" in source["remedy"], source


def many_threads_with_short_regions_lose_nothing(folder):
    played = Played(folder, "storm")
    assert played.counts() == {name: 64000 for name in (
        "parallel", "implicit_task", "task", "task_create")}, played.counts()
    assert played.trace.lost() == 0 and len(played.trace.arrows) == 64000
    assert not played.all(RULE)


def pauses_and_the_end_come_at_any_moment(folder):
    played = Played(folder, "restless_storm")
    assert played.trace.lost() == 0, played.trace.ledger
    # No span twice: those of one type begin at different times in a thread.
    seen = collections.Counter((event["tid"], event["cat"], event["ts"], event["dur"])
                               for event in played.by_type["parallel"] if event["dur"] > 0)
    assert max(seen.values(), default=1) == 1, seen.most_common(3)


def a_forked_child_goes_on_unrecorded(folder):
    played = Played(folder, "forked")
    assert played.counts() == {"parallel": 1, "implicit_task": 1}, played.counts()


def a_child_does_not_wait_for_threads_that_it_has_not(folder):
    Played(folder, "forked_in_storm")
    for child in range(10):
        trace = Trace(os.path.join(folder, f"trace.json.{child}.json"))
        assert [event["cat"] for event in trace.spans] == ["openmp.parallel"], trace.spans
        assert [(source["state"], source.get("reason")) for source in trace.data["kymo"]["sources"]
                if source["name"] == "openmp"] == [("recording", None)], trace.data["kymo"]["sources"]


if __name__ == "__main__":
    run_cases(cases_of(globals(), "folder"))
