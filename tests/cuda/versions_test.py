#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program under CUPTI 11, 12 and 13: the traces are equal in all that the oldest one has."""
import json
import os
import subprocess
import sys

import recorded
import tap

MAJORS = sorted(recorded.STANDINS)
if len(MAJORS) < 2:
    print("skip: there are headers of less than two majors of CUDA: run tools/setup")
    sys.exit(77)

# Everything that CUPTI 11 can tell of, in one thread.
SCENARIO = """
device 0
launch saxpy 3
launch "quo\\"ted" 1 2
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
device 1
launch on_the_other 4 1
sync
launch failing 1 0 2000
operation 9 aten::mm
launch inner 2
end
device 0
sync 2
sync
record overhead 500
record uvm 4096
record unknown 72
"""
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "cuda.unified_memory", "overhead")
# What a run alone decides.
OWN = {"address"}


def events_of(run):
    """What does not hang on when it happened, in an order of its own."""
    out = []
    for event in run.events:
        args = {key: value for key, value in event.get("args", {}).items() if key not in OWN}
        out.append((event["cat"], event["name"], args.get("correlation id", 0),
                    event["dur"] if event["cat"] in DEVICE and event["ph"] == "X" else 0, args))
    return sorted(out, key=lambda e: (e[:4], str(sorted(e[4].items()))))


def test_the_newer_have_all_that_the_oldest_has():
    runs = {major: recorded.Run(major, SCENARIO, more=["--types", "default,cuda.unified_memory"])
            for major in MAJORS}
    oldest = events_of(runs[MAJORS[0]])
    assert len(oldest) > 60, len(oldest)
    for major in MAJORS[1:]:
        newer = events_of(runs[major])
        assert [e[:4] for e in newer] == [e[:4] for e in oldest], major
        for old, new in zip(oldest, newer):
            both = {key: new[4].get(key) for key in old[4]}
            assert both == old[4], (major, old, new)


def test_devices_and_the_ledger_are_the_same():
    runs = [recorded.Run(major, SCENARIO) for major in MAJORS]
    for run in runs:
        run.check_counts()
        run.check_all_is_there()
    devices = [run.trace.data["deviceProperties"] for run in runs]
    strip = [[{k: v for k, v in d.items() if k != "process"} for d in some] for some in devices]
    assert strip[1:] == strip[:-1] and len(strip[0]) == 2, strip
    ledgers = [run.ledger for run in runs]
    assert all(ledger == ledgers[0] for ledger in ledgers), ledgers
    arrows = [sorted(run.arrows()) for run in runs]
    assert all(some == arrows[0] for some in arrows) and len(arrows[0]) > 20, arrows


def check_hardware(scenario):
    env = recorded.environment(MAJORS[-1], scenario)
    done = subprocess.run([os.environ["CUDA_HARDWARE_CHECK"]], capture_output=True, text=True,
                          timeout=120, env=env, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_check_for_real_hardware_passes_here_and_sees_a_loss():
    status, text = check_hardware("")
    assert status == 0 and "ok      kernels: 300" in text and "FAILED" not in text, text
    status, text = check_hardware("cupti nameless 1")
    assert status != 0 and "FAILED  kernels called saxpy: 299" in text, text
    status, text = check_hardware("cupti drop 3")
    assert status == 125 and "lost 3" in text, (status, text)
    assert check_hardware("driver devices 0")[0] == 77


def test_the_vendors_own_library_without_a_driver_is_told():
    """CUPTI 13 itself, which needs no driver to be loaded."""
    library = os.environ["CUDA_REAL_CUPTI"]
    if not os.path.exists(library):
        return  # the headers here are those of a toolkit that is installed
    os.mkdir("alone")
    os.symlink(library, "alone/libcupti.so.13")
    env = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath("alone"))
    done = subprocess.run([recorded.KYMO, "doctor", "--json", "cuda"], capture_output=True,
                          timeout=60, env=env, check=False)
    said = json.loads(done.stdout)["sources"][0]
    if said["state"] != "usable":  # nor where there is a GPU
        assert "CUPTI 13.0 found, no driver" in said["why"], said


if __name__ == "__main__":
    tap.main(globals())
