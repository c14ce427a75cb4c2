#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PM sampling through the whole chain: `kymo record`, the driver's injection, the vendor's own
library for what there is to count, the CUPTI of one major that stands in for the counting. The
major is in CUDA_MAJOR, the vendor's library is $CUPTI_REAL. Value i of sample n is 1000 n + i."""
import glob
import json
import os
import subprocess
import sys

MAJOR = os.environ["CUDA_MAJOR"]
if f"{MAJOR}=" not in os.environ["CUDA_STANDINS"]:
    print(f"skip: there are no headers of CUDA {MAJOR}: run tools/setup")
    sys.exit(77)
if MAJOR != "11" and not os.environ["CUPTI_REAL"]:
    print("skip: there is no CUPTI to ask for metrics: run tools/setup")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import recorded
import tap

COUNTERS = ("--types", "default,gpu_pm_counter")
# Long enough for 50 samples, a millisecond each, on a busy machine, and for the first of them.
PROGRAM = "cupti pm samples 50\nlaunch saxpy 3\nsleep 400\nlaunch saxpy 2\nsync\n"
BUSY = "sm__cycles_active.avg"
DRAM = "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


def record(scenario, *arguments, **more):
    """With the counts of what the library opened and closed, as `run.opened`."""
    os.environ["PM_REPORT"] = os.path.abspath("pm")
    for old in glob.glob("pm.*"):
        os.remove(old)
    run = recorded.Run(MAJOR, scenario, *arguments, more=more.pop("more", COUNTERS), **more)
    opened = [json.load(open(name, encoding="utf-8")) for name in glob.glob("pm.*")]
    # A forked child has the counts of its parent, up to the fork: it closes nothing.
    run.opened = max(opened, key=lambda counts: counts["disabled"], default=None)
    run.left = min(opened, key=lambda counts: counts["disabled"], default=None)
    run.document = json.load(open("trace.json", encoding="utf-8"))
    run.samples = [event for event in run.trace.events if event["ph"] == "C"]
    # Whatever happens to the counters, the activities are there, and nothing stays open.
    assert len(run.of("kernel")) == 5, run.of("kernel")
    if run.opened:
        assert run.opened["enabled"] == run.opened["disabled"], run.opened
        assert run.opened["hosts_opened"] == run.opened["hosts_closed"], run.opened
    return run


def values(run, counter):
    """Of the first device that has it, in the order of time."""
    pids = sorted({event["pid"] for event in run.samples if counter in event["args"]})
    return [event["args"][counter] for event in sorted(run.samples, key=lambda e: e["ts"])
            if event["pid"] == pids[0] and counter in event["args"]]


if MAJOR == "11":
    def test_a_cupti_without_pm_sampling_is_told_and_the_rest_is_recorded():
        run = record(PROGRAM)
        run.check_state("partly", "this CUPTI is older than 12.6", "install CUDA 12.6")
        assert not run.samples

    tap.main(globals())


def test_samples_of_a_default_that_fits_are_in_the_trace():
    run = record(PROGRAM)
    run.check_state("recording")
    busy = values(run, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed")
    # All but the first, which covers the time of switching on.
    assert busy == [1000 * n for n in range(1, 50)], busy
    assert values(run, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed")[0] == 1001
    assert values(run, "dram__bytes_read.sum.per_second")[0] == 1004
    units = run.document["kymo"]["units"]
    assert units["dram__bytes_read.sum.per_second"] == "byte/second", units
    assert run.document["PM interval (ns)"] == 1000000
    assert run.document["PM memory (bytes)"] == 64 << 20
    assert run.document["PM samples"] == run.ledger["counters"], run.ledger
    assert run.document["PM memory overflows"] == 0


def test_samples_are_where_they_belong():
    run = record(PROGRAM)
    first = min(run.samples, key=lambda event: event["ts"])["pid"]
    times = sorted({event["ts"] for event in run.samples if event["pid"] == first})
    steps = {round(after - before, 3) for before, after in zip(times, times[1:])}
    assert steps == {1000.0}, steps  # microseconds
    kernels = sorted(event["ts"] for event in run.of("kernel"))
    assert kernels[0] - 1e5 < times[0] and times[-1] < kernels[-1] + 1e5, (times, kernels)
    names = [event["args"]["name"] for event in run.trace.events
             if event["ph"] == "M" and event["name"] == "process_name" and event["pid"] == first]
    assert names and "Stand-in" in names[0], names  # not one without a name


def test_metrics_and_the_interval_are_those_that_are_named():
    run = record(PROGRAM, f"pm={BUSY}+{DRAM} pm_interval=500us pm_buffer=8MiB")
    run.check_state("recording")
    assert {name for event in run.samples for name in event["args"]} == {BUSY, DRAM}
    assert values(run, DRAM) == [1000 * n + 1 for n in range(1, 50)]
    assert run.document["PM interval (ns)"] == 500000
    assert run.document["PM memory (bytes)"] == 8 << 20


def test_one_device_is_sampled_where_one_is_named():
    run = record(PROGRAM + "device 1\nset 4096\nsync\n", "pm_device=1")
    assert len({event["pid"] for event in run.samples}) == 1
    assert run.opened["enabled"] == 1, run.opened


def test_a_name_that_does_not_exist_is_told_with_the_nearest():
    run = record(PROGRAM, f"pm={BUSY}+sm__cycles_actve.avg")
    run.check_state("partly", "GH100 has no metric sm__cycles_actve.avg",
                    "nearest: sm__cycles_active.avg, ")
    assert "recorded in part: cuda: no PM sampling" in run.err, run.err
    assert not run.samples and run.opened["enabled"] == 0, run.opened


def test_what_is_proposed_for_a_set_of_many_passes_is_taken():
    run = record(PROGRAM, f"pm={BUSY}+{SM}+{DRAM}")
    run.check_state("partly", "GH100 needs 19 passes for these metrics", SM)
    assert not run.samples and run.opened["enabled"] == 0, run.opened
    run = record(PROGRAM, run.source()["remedy"])
    run.check_state("recording")
    assert len(values(run, DRAM)) == 49


def test_an_option_that_cannot_be_meant_is_refused_before_the_program_runs():
    for option, why in (("pm_interval=10parsecs", "pm_interval=10parsecs is not a time from 1us"),
                        ("latency=maybe", '"latency" must be true or false')):
        done = subprocess.run([recorded.KYMO, "record", "-f", "-t", f"cuda:{option}", "-o",
                               "refused.json", "--", "touch", "ran"], capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == 125 and why in done.stderr, done
        assert not os.path.exists("ran") and not os.path.exists("refused.json"), os.listdir()


def test_without_rights_the_activities_go_on():
    for function in ("cuptiPmSamplingGetCounterAvailability", "cuptiPmSamplingEnable"):
        run = record(PROGRAM + f"cupti error {function} 35\n")
        run.check_state("partly", "only administrators", "NVreg_RestrictProfilingToAdminUsers=0")
        assert not run.samples


def test_a_chip_of_another_kind_goes_by_cycles():
    run = record(PROGRAM + "cupti pm chip GA100\n")
    assert run.document["PM interval (cycles)"] == 1000000
    run = record(PROGRAM + "cupti pm chip GA100\n", "pm_interval=1ms")
    run.check_state("partly", "GA100 cannot sample by time", "pm_interval=1000000cycles")
    run = record(PROGRAM + "cupti pm chip GV100\n")
    run.check_state("partly", "GV100 has no PM sampling")


def test_what_overflows_and_what_has_no_time_is_counted():
    run = record(PROGRAM + "cupti pm overflow 20 7\ncupti pm zero 30\n", "pm_device=0", losses=True)
    run.check_state("partly", "at least 7 of 49 samples are lost", "1 overflows",
                    "a longer pm_interval or a larger pm_buffer")
    assert run.ledger["source_at_least"] == 7 and run.ledger["untimed"] == 1, run.ledger
    assert run.document["PM samples"] == 42 and run.document["PM memory overflows"] == 1
    busy = values(run, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed")
    assert busy == [1000 * n for n in range(1, 50) if not 20 <= n < 27 and n != 30], busy


def test_decodes_that_end_early_are_gone_on_with_and_counted():
    run = record(PROGRAM + "cupti pm early 3\n", "pm_device=0")
    run.check_state("recording")
    assert run.document["PM samples"] == 49 and run.document["PM decodes that ended early"] == 3


def test_a_decode_that_fails_ends_the_counters_alone():
    run = record(PROGRAM + "cupti error cuptiPmSamplingDecodeData 999\n", "pm_device=0",
                 losses=True)
    run.check_state("partly", "GPU 0: cuptiPmSamplingDecodeData failed with 999")
    assert run.ledger["source_at_least"] == 1 and not run.samples, run.ledger


def test_metrics_without_their_type_are_told():
    run = record(PROGRAM, f"pm={BUSY}", more=())
    run.check_state("partly", "gpu_pm_counter is not among", "--types default,gpu_pm_counter")
    assert run.opened is None


def test_nobody_who_did_not_ask_for_counters_gets_any():
    run = record(PROGRAM, more=())
    run.check_state("recording")
    assert run.opened is None and not run.samples


def test_samples_by_the_clock_of_the_driver_lie_on_the_timeline():
    run = record(PROGRAM + "cupti pm realtime\n", "pm_device=0")
    assert run.ledger["untimed"] == 0 and len(run.samples) > 90, run.ledger
    kernels = sorted(event["ts"] for event in run.of("kernel"))
    times = sorted(event["ts"] for event in run.samples)
    assert kernels[0] - 1e5 < times[0] and times[-1] < kernels[-1] + 1e5, (times, kernels)


def test_a_session_of_a_program_samples_what_it_uses_already():
    """The context was there first, so that no callback tells of it."""
    with open("kymo.conf", "w", encoding="utf-8") as file:
        file.write("ACTIVITY_TYPES = default,gpu_pm_counter\n")
    os.environ["KYMO_CONFIG"] = os.path.abspath("kymo.conf")

    def sample(factor):
        wait = f"sleep {150 * factor}\n"
        recorded.run_alone(MAJOR, f"cupti pm samples {200 * factor}\nlaunch before\nsync\n"
                           f"session start\n{wait}launch one 2\nsync\nsession stop\n"
                           f"session save 1.json\nsession start\n{wait}sync\nsession stop\n"
                           "session save 2.json\n")
        for name in ("1.json", "2.json"):
            run = recorded.Saved(name)
            os.unlink(name)
            run.check_state("recording")
            run.samples = [event for event in run.trace.events if event["ph"] == "C"]
            busy = values(run, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed")
            assert len(busy) > 20 and busy == [1000 * n for n in range(1, len(busy) + 1)], busy
    try:
        tap.given_time(sample)
    finally:
        del os.environ["KYMO_CONFIG"]


def test_a_rest_has_no_samples():
    os.environ["PM_REPORT"] = os.path.abspath("pm")

    def rest(factor):
        for old in glob.glob("pm.*"):
            os.unlink(old)
        run = recorded.Run(MAJOR, f"cupti pm samples 100000\nlaunch before\nsync\nsleep {500 * factor}\n"
                           f"order record\nsleep {150 * factor}\norder rest\nsleep {200 * factor}\n",
                           "pm_device=0", more=COUNTERS + ("--start-paused",))
        report, = (json.load(open(name, encoding="utf-8")) for name in glob.glob("pm.*"))
        run.samples = [event for event in run.trace.events if event["ph"] == "C"]
        busy = [int(value) // 1000
                for value in values(run, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed")]
        # From the first of the recording to the last, and none of before or after, where there were
        # some: a millisecond each, and the very first is always left out.
        assert len(busy) > 20 and busy == list(range(busy[0], busy[0] + len(busy))), busy
        assert busy[0] > 1 and report["decoded"] > busy[-1] + 50, (busy, report)
    tap.given_time(rest)


def test_a_forked_child_samples_nothing_and_ends_as_it_would():
    run = record("cupti pm samples 50\nlaunch saxpy 3\nsleep 100\nfork\nprint child\nsleep 50\n"
                 "end\nsleep 500\nlaunch saxpy 2\nsync\n", "pm_device=0")
    assert run.status == 0 and run.out.startswith("child\n"), run.out
    assert len(values(run, "dram__bytes_read.sum.per_second")) == 49
    assert run.left["disabled"] == 0, run.left
    run.check_state("recording")


def test_a_program_that_ends_while_a_device_is_opened_ends_as_it_would():
    for pause in (8, 12, 16, 20, 30):
        record(f"launch saxpy 5\nsleep {pause}\nsync\n")


if __name__ == "__main__":
    tap.main(globals())
