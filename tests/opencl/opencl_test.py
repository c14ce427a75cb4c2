#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of this folder plain and under the layer with the stub agent, and checks
two things: that a program cannot tell the difference, and that every command was recorded.

usage: opencl_test.py CL_DEMO CL_ANSWERS CL_CASES CL_LOADERS CL_PLATFORMS OPENCL_SO STUB_SO
       OTHER_LAYER_SO DRIVER_SO
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter

SPAN, OPEN = 1, 7
ORIGIN, TARGET, UNFINISHED, UNTIMED, ERROR = 0x1, 0x2, 0x4, 0x8, 0x20
LOST_PENDING = 5
SKIP = 77

# Attempts of the demo that fail at once, by queue kind three times.
FAILED_ENQUEUES = {"clEnqueueReadBufferRect": 3, "clEnqueueMapBuffer": 6,
                   "clEnqueueReadBuffer": 3, "clEnqueueNDRangeKernel": 9}
KERNELS = {"add", "slow", "hipMemcpyLike", "Native kernel",
           "a_kernel_with_a_name_that_is_longer_than_sixty_four_characters_as_such_"}

# What the demo's commands are, by name and bytes, other than kernels: each on three queues.
COMMANDS = Counter({
    ("Memcpy HtoD (Host -> Device)", 4096): 3,
    ("Memcpy HtoD (Host -> Device)", 1024): 3,
    ("Memcpy HtoD (Host -> Device)", 128): 3,
    ("Memcpy DtoH (Device -> Host)", 4096): 3,
    ("Memcpy DtoH (Device -> Host)", 128): 3,
    ("Memcpy DtoD (Device -> Device)", 4096): 3,
    ("Memcpy DtoD (Device -> Device)", 128): 3,
    ("Memcpy DtoH (Map)", 4096): 3,
    ("Memcpy HtoD (Unmap)", None): 6,
    ("Memcpy HtoD (Migrate)", 4096): 3,
    ("Memcpy DtoH (Migrate)", 4096): 3,
    ("Memcpy HtoD (Migrate)", None): 3,
    ("Memcpy HtoA (Host -> Image)", 512): 3,
    ("Memcpy AtoH (Image -> Host)", 512): 3,
    ("Memcpy AtoA (Image -> Image)", 512): 3,
    ("Memcpy AtoD (Image -> Device)", 512): 3,
    ("Memcpy DtoA (Device -> Image)", 512): 3,
    ("Memcpy AtoH (Map)", 512): 3,
    ("Memcpy SVM (SVM -> SVM)", 4096): 3,
    ("Memcpy DtoH (SVM Map)", 4096): 3,
    ("Memcpy HtoD (SVM Unmap)", None): 3,
    ("Memcpy HtoD (SVM Migrate)", 1024): 3,
    ("Memcpy DtoH (SVM Migrate)", None): 3,
    ("Memset (Device)", 4096): 3,
    ("Memset (Image)", 512): 3,
    ("Memset (SVM)", 4096): 3,
    ("Marker", None): 6,
    ("Barrier", None): 3,
    ("SVM free", None): 3,
})

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def run(program, environment, **more):
    env = {**os.environ, **environment}
    for name in ("KYMO_AGENT", "OPENCL_LAYERS"):
        if name not in environment:
            env.pop(name, None)
    return subprocess.run(program, env=env, stdout=subprocess.PIPE, timeout=300, **more)


class Dump:
    """What the stub wrote, with numbers replaced by what they stand for."""

    def __init__(self, path):
        self.entries, self.records, self.anchors, self.lost = {}, [], [], {}
        self.complete = False
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                self.add(json.loads(line))

    def add(self, item):
        if "entry" in item:
            self.entries[item["entry"], item["number"]] = item
            if item["entry"] == "anchor":
                self.anchors.append(item)
        elif "lost" in item:
            self.lost[item["lost"]] = item["count"]
        elif "record" not in item:
            self.complete = True
        else:
            item["name"] = self.entries["string", item["name"]]["text"]
            item["type"] = self.entries["type", item["type"]]["name"]
            item["keys"] = self.values(item["keys"])
            attributes = self.entries.get(("attributes", item["attributes"]))
            item["attributes"] = self.values(attributes["values"] if attributes else {})
            self.records.append(item)

    def values(self, keys):
        out = {}
        for number, value in keys.items():
            key = self.entries["key", int(number)]
            if key["type"] == 1 and value >= 1 << 63:
                value -= 1 << 64
            elif key["type"] == 3:
                value = struct.unpack("<d", struct.pack("<Q", value))[0]
            out[key["name"]] = value
        return out


def check_pairs(dump, host, device):
    origins = {r["correlation"]: r for r in host if r["flags"] & ORIGIN}
    targets = {r["correlation"]: r for r in device}
    check(len(origins) == sum(1 for r in host if r["flags"] & ORIGIN),
          "each origin has a correlation of its own")
    check(len(targets) == len(device), "each target has a correlation of its own")
    check(set(origins) == set(targets), "origins and targets are paired 1:1")
    check(all(r["flags"] & TARGET for r in device), "device spans are targets")
    check(all(r["track"] == 0 for r in host), "host spans are on the calling thread")
    return [(origins[c], targets[c]) for c in origins if c in targets]


def check_times(dump, pairs):
    """The stub's ticks and PoCL's stamps are one clock, so they can be compared."""
    timed = [(o, t) for o, t in pairs if not t["flags"] & UNTIMED]
    outside = sum(1 for o, t in timed
                  if not o["begin"] <= t["keys"]["queued"] <= o["end"])
    check(outside == 0, f"the host call encloses the queued stamp ({outside} do not)")
    check(all(t["keys"]["queued"] <= t["keys"]["submitted"] <= t["begin"] <= t["end"]
              for _, t in timed), "stamps are in order")
    check(all(not r["keys"].get("submitted") for _, r in pairs if r["flags"] & UNTIMED),
          "untimed records have no times")
    least = len(timed) // 64
    check(len(dump.anchors) >= least, f"at least {least} anchors ({len(dump.anchors)})")
    low = max(a["device"] - a["host_hi"] for a in dump.anchors)
    high = min(a["device"] - a["host_lo"] for a in dump.anchors)
    check(low <= 0 <= high, f"anchors agree with the true offset 0 ({low}..{high})")
    check(high - low < 100000, f"anchors bound the offset to 100 us ({high - low} ns)")
    print(f"  offset bound {high - low} ns of {len(dump.anchors)} anchors, "
          f"{len(timed)} timed commands")


def check_commands(dump, device, expected):
    unfinished = [r for r in device if r["flags"] & UNFINISHED]
    failed = [r for r in device if r["flags"] & ERROR]
    odd = [r for r in device if r["flags"] & UNTIMED and r not in unfinished + failed]
    check(len(device) == expected, f"{expected} commands are recorded ({len(device)})")
    check(not dump.lost, f"nothing is lost ({dump.lost})")
    check(1 <= len(unfinished) <= 2, f"one or two never end ({len(unfinished)})")
    check(len(failed) == 3, f"three commands fail ({len(failed)})")
    check(all(r["keys"]["error"] < 0 for r in failed), "failures carry the error code")
    check(not odd, f"no other command is untimed ({len(odd)})")
    names = Counter(r["name"] for r in device if r["type"] == "kernel")
    check(set(names) == KERNELS, f"kernels have their names ({names})")
    check(names["hipMemcpyLike"] == 9, "recycled handles are told apart")
    said = Counter((r["name"], r["keys"].get("bytes")) for r in device if r["type"] != "kernel")
    check(said == COMMANDS, f"commands have their names and bytes ({said - COMMANDS}, "
                            f"missing {COMMANDS - said})")
    for kind, prefix in (("gpu_memcpy", "Memcpy "), ("gpu_memset", "Memset ")):
        check(all(r["name"].startswith(prefix) == (r["type"] == kind) for r in device),
              f"{kind} is named {prefix}*")
    check_values(device)


def check_values(device):
    copies = [r for r in device if r["name"] in ("Memcpy HtoD (Host -> Device)",
                                                 "Memcpy DtoH (Device -> Host)")]
    check(all(r["keys"]["bytes"] in (4096, 1024, 128) for r in copies), "copies say bytes")
    for record in copies:
        duration = record["end"] - record["begin"]
        rate = record["keys"].get("memory bandwidth (GB/s)")
        if duration and rate != record["keys"]["bytes"] / duration:
            check(False, f"bandwidth is bytes by time ({record})")
    check(all("context" in r["attributes"] for r in device), "all say their context")
    sizes = [r["attributes"] for r in device if "global work size" in r["attributes"]]
    check(any(s["global work size"] == [64, 4, 2] and s.get("local work size") == [8, 2, 1]
              for s in sizes), "work sizes are recorded")
    check(any(s.get("global work offset") == [8] for s in sizes), "and an offset")


def check_host(host, opened):
    failed = Counter(r["name"] for r in host if r["flags"] & ERROR and
                     r["name"].startswith("clEnqueue"))
    check(failed == FAILED_ENQUEUES, f"failed enqueues are host errors ({failed})")
    check(all(r["keys"]["error"] < 0 for r in host if r["flags"] & ERROR),
          "host errors carry the code")
    names = Counter(r["name"] for r in host)
    for name in ("clFinish", "clFlush", "clWaitForEvents", "clReleaseCommandQueue",
                 "clBuildProgram", "clSetUserEventStatus", "clEnqueueBarrier"):
        check(names[name] > 0, f"{name} is recorded")
    begins = Counter((r["name"], r["tid"], r["begin"]) for r in opened)
    spans = Counter((r["name"], r["tid"], r["begin"]) for r in host)
    check(begins == begins & spans, "each open span is closed by one that begins so")
    check(len({r["tid"] for r in host}) == 4, "four threads call")


def check_tracks(dump, device):
    used = {r["track"] for r in device}
    tracks = {n: e for (kind, n), e in dump.entries.items() if kind == "track"}
    check(used <= set(tracks) and len(used) == 7, f"seven queues are used ({len(used)})")
    check(all(e["native"] and e["device"] == 1 and e["clock"] == 1
              for e in tracks.values()), "tracks have handle, device and clock")


def test_recording(demo, layer, stub, folder):
    plain = run([demo], {})
    if plain.returncode == SKIP:
        print("no OpenCL device: skipped")
        sys.exit(SKIP)
    out = os.path.join(folder, "demo.json")
    under = run([demo], {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer, "STUB_OUT": out})
    check(under.returncode == plain.returncode == 3,
          f"the exit status stays ({plain.returncode}, {under.returncode})")
    check(under.stdout == plain.stdout, "the program's output is the same, byte for byte")

    dump = Dump(out)
    check(dump.complete, "the dump is complete")
    spans = [r for r in dump.records if r["record"] == SPAN]
    host = [r for r in spans if r["type"] == "runtime"]
    device = [r for r in spans if r["type"] != "runtime"]
    expected = int(plain.stdout.split()[-1])
    pairs = check_pairs(dump, host, device)
    check_times(dump, pairs)
    check_commands(dump, device, expected)
    check_host(host, [r for r in dump.records if r["record"] == OPEN])
    check_tracks(dump, device)


def test_pass_through(demo, layer, stub):
    """No agent, a closed gate, a shell in between: the program is as it was."""
    plain = run([demo], {"DEMO_NO_ORPHAN": "1"})
    for environment in ({"OPENCL_LAYERS": layer},
                        {"OPENCL_LAYERS": layer, "KYMO_AGENT": "/nonexistent.so"},
                        {"OPENCL_LAYERS": layer, "KYMO_AGENT": stub, "STUB_GATE": "off"}):
        under = run([demo], {"DEMO_NO_ORPHAN": "1", **environment})
        check((under.stdout, under.returncode) == (plain.stdout, plain.returncode),
              f"a pass-through changes nothing ({environment})")


def differences(plain, under):
    """The first lines that a layer has changed."""
    pairs = zip(plain.stdout.splitlines(), under.stdout.splitlines())
    return [pair for pair in pairs if pair[0] != pair[1]][:4]


def test_chain(programs, layer, stub, other, folder):
    """Answers stay the same wherever in a chain of layers ours stands, and the others see all
    calls of the program: ours drops none and adds no launch. The last one is the outermost."""
    inner, outer = (shutil.copy(other, os.path.join(folder, name))
                    for name in ("inner.so", "outer.so"))
    for program in programs:
        plain = run([program], {}, stderr=subprocess.DEVNULL)
        count = int(plain.stdout.split()[-1])
        for chain in ([layer], [inner, layer], [layer, outer], [inner, layer, outer]):
            names = ":".join(os.path.basename(path) for path in chain)
            out = os.path.join(folder, "chain.json")
            under = run([program], {"KYMO_AGENT": stub, "OPENCL_LAYERS": ":".join(chain),
                                    "STUB_OUT": out}, stderr=subprocess.DEVNULL)
            check((under.stdout, under.returncode) == (plain.stdout, plain.returncode),
                  f"answers are the plain ones under {names} ({differences(plain, under)})")
            dump = Dump(out)
            device = sum(1 for r in dump.records if r["flags"] & TARGET)
            check(device == count and not dump.lost,
                  f"{count} commands are recorded under {names} ({device}, {dump.lost})")
        seen = [open(path + ".seen", encoding="ascii").read() for path in (inner, outer)]
        launches, queues = zip(*(map(int, line.split()) for line in seen))
        check(launches[0] == launches[1] > 0, f"both see all launches ({seen})")
        check(queues[0] >= queues[1] > 0, f"and all queues ({seen})")


def test_shell(demo, layer, stub, folder):
    out = os.path.join(folder, "shell.json")
    run(["sh", "-c", f"echo x >/dev/null; exec '{demo}'"],
        {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer, "STUB_OUT": out})
    check(Dump(out).complete, "a shell passes the layer on")


def find_loader(program):
    """The libOpenCL that a program is linked with."""
    text = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True).stdout
    return next(line.split()[2] for line in text.splitlines() if "libOpenCL" in line)


def test_cases(cases, layer, stub, folder):
    for case, more in (("stress", {}), ("fork", {}), ("fork", {"STUB_FORK": "follow"}),
                       ("buffer", {}), ("blocked", {}), ("errno", {}), ("released", {}),
                       ("devices", {"POCL_DEVICES": "pthread basic"})):
        out = os.path.join(folder, case + ".json")
        plain = run([cases, case], more)
        under = run([cases, case], {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer,
                                    "STUB_OUT": out, **more})
        check((under.stdout, under.returncode) == (plain.stdout, plain.returncode),
              f"{case} is the same program ({under.stdout}, {plain.stdout})")
        if plain.returncode == SKIP or "STUB_FORK" in more:
            continue
        dump = Dump(out)
        device = check_all(case, dump, int(plain.stdout.split()[-1]))
        if case == "devices":
            check_devices(dump, device, int(plain.stdout.split()[1]))


def check_all(case, dump, expected, unasked=0):
    device = [r for r in dump.records if r["flags"] & TARGET]
    host = [r for r in dump.records if r["flags"] & ORIGIN]
    check(len(device) == len(host) == expected and not dump.lost,
          f"{case} has {expected} commands ({len(device)}, {len(host)}, {dump.lost})")
    check(not any(r["flags"] & UNTIMED & ~unasked for r in device), f"{case} is timed")
    return device


def check_devices(dump, device, expected):
    """Two queues of ten commands on each, with a clock per device and a context each."""
    tracks = {n: e for (kind, n), e in dump.entries.items() if kind == "track"}
    by_device = Counter(tracks[r["track"]]["device"] for r in device)
    check(expected >= 3 and list(by_device.values()) == [20] * expected,
          f"each of {expected} devices has its commands ({by_device})")
    check(set(Counter(r["track"] for r in device).values()) == {10}, "two queues each")
    check(len({e["clock"] for e in tracks.values()}) == expected, "a clock each")
    check(len({r["attributes"]["context"] for r in device}) == expected, "a context each")


def test_loaders(program, loader, layer, stub, folder):
    """libOpenCL opened by name and for itself alone; a second one beside it; a third, which
    is passed through."""
    paths = [loader] + [shutil.copy(loader, os.path.join(folder, f"libOther{number}.so"))
                        for number in (2, 3)]
    out = os.path.join(folder, "loaders.json")
    for count in (1, 2, 3):
        plain = run([program, *paths[:count]], {})
        under = run([program, *paths[:count]],
                    {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer, "STUB_OUT": out})
        check((under.stdout, under.returncode) == (plain.stdout, plain.returncode) and
              plain.stdout == b"commands %d\n" % (10 * count),
              f"{count} loaders are the same program ({under.stdout}, {plain.stdout})")
        check_all(f"{count} loaders", Dump(out), 10 * min(count, 2), UNTIMED)


USM = Counter({
    ("gpu_memcpy", "Memcpy USM (USM -> USM)", 4096): 1,
    ("gpu_memset", "Memset (USM)", 4096): 1,
    ("gpu_memcpy", "Memcpy HtoD (USM Migrate)", 4096): 1,
    ("marker", "USM advice", None): 1,
    ("marker", "Acquire GL objects", None): 1,
    ("marker", "Release GL objects", None): 1,
    ("marker", "Marker", None): 6,
})


def test_platforms(program, layer, stub, driver, folder):
    """A driver of our own beside a real one: functions by address, queues that change, stamps
    that make no sense, and a refusal to time anything."""
    vendors = os.path.join(folder, "vendors")
    os.mkdir(vendors)
    for name, path in (("none", driver), ("pocl", "libpocl.so.2")):
        with open(os.path.join(vendors, name + ".icd"), "w", encoding="utf-8") as file:
            file.write(path + "\n")
    out = os.path.join(folder, "platforms.json")
    # Where profiling is refused, the program's own wish for it makes the last three timed.
    for more, expected in (({}, 0), ({"DRIVER_STAMPS": "zero"}, 11),
                           ({"DRIVER_STAMPS": "backwards"}, 11),
                           ({"DRIVER_STAMPS": "early"}, 11), ({"DRIVER_REFUSES": "1"}, 8)):
        more["OCL_ICD_VENDORS"] = vendors
        plain = run([program], more)
        under = run([program], {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer, "STUB_OUT": out,
                                **more})
        if plain.returncode == SKIP:
            print("  no second platform: its cases are left out")
            return
        check((under.stdout, under.returncode) == (plain.stdout, plain.returncode),
              f"two platforms are the same ({more}, {differences(plain, under)})")
        dump = Dump(out)
        device = check_all(f"two platforms {more}", dump, 12, UNTIMED)
        said = Counter((r["type"], r["name"], r["keys"].get("bytes")) for r in device)
        check(said == USM, f"commands have type, name and bytes ({said})")
        untimed = sum(1 for r in device if r["flags"] & UNTIMED)
        check(untimed == expected,
              f"what cannot be believed has no times ({more}, {untimed})")
        clocks = {e["clock"] for (kind, _), e in dump.entries.items() if kind == "track"}
        check(len(clocks) == 2, f"each platform's device has a clock ({clocks})")


def test_bound(cases, layer, stub, folder):
    """What does not fit is counted, and the rest goes on."""
    out = os.path.join(folder, "bound.json")
    run([cases, "blocked"], {"KYMO_AGENT": stub, "OPENCL_LAYERS": layer, "STUB_OUT": out,
                             "STUB_MEMORY": str(2048 * 80)})
    dump = Dump(out)
    kept = sum(1 for r in dump.records if r["flags"] & TARGET)
    lost = dump.lost.get(LOST_PENDING, 0)
    check(kept + lost == 5000 and 1024 <= kept <= 2275,
          f"a bound is kept and what is beyond it counted ({kept}, {dump.lost})")


def main():
    demo, answers, cases, loaders, platforms, layer, stub, other, driver = (
        os.path.abspath(path) for path in sys.argv[1:10])
    with tempfile.TemporaryDirectory() as folder:
        test_recording(demo, layer, stub, folder)
        test_pass_through(demo, layer, stub)
        test_chain([demo, answers], layer, stub, other, folder)
        test_shell(demo, layer, stub, folder)
        test_cases(cases, layer, stub, folder)
        test_loaders(loaders, find_loader(cases), layer, stub, folder)
        test_platforms(platforms, layer, stub, driver, folder)
        test_bound(cases, layer, stub, folder)
    print("FAILED" if failures else "ok")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
