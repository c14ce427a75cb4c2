#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the CUDA source on a real GPU, in less than three minutes: what it records of a program
# whose work is known, PM sampling, and what recording costs. Prints what it found; fails if
# anything is not as it must be. Needs NVIDIA's driver and CUPTI, neither nvcc nor headers; where
# there is no GPU it says so and exits with 77.
#
#   tests/hw/cuda.sh [BUILD_DIR]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-${KYMO_BUILD:-$here/../../build}}
kymo=$build/kymo
work=$build/tests/hw/cuda_work
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

part() {
	printf '\n== %s\n' "$*"
}

# within SECONDS COMMAND...: what hangs is a failure, and is named
within() {
	seconds=$1
	shift
	timeout "$seconds" "$@" && return 0
	status=$?
	test "$status" != 124 || echo "FAILED: no end after $seconds s: $*" >&2
	return "$status"
}

status=0
within 20 "$work" >"$folder/plain" || status=$?
if [ "$status" != 0 ]; then
	cat "$folder/plain"
	exit "$status"
fi

part 'what can be recorded here'
"$kymo" doctor cuda || true

record() {
	within 30 "$kymo" record -f --strict --require cuda -t cuda "$@"
}

part 'a program of known work'
record -o "$folder/work.json" -- "$work" >"$folder/recorded"
cmp "$folder/plain" "$folder/recorded"
"$kymo" check "$folder/work.json"
record --types default,cuda.graph -o "$folder/graph.json" -- "$work" >/dev/null

python3 - "$folder" <<'END'
import collections
import json
import sys

folder = sys.argv[1]
done = json.load(open(folder + "/plain", encoding="utf-8"))
failed = 0


def hold(what, found, wanted):
    global failed
    good = found == wanted
    failed += not good
    print(f"{'ok    ' if good else 'FAILED'}  {what}: {found}" +
          ("" if good else f", must be {wanted}"))


def read(name):
    trace = json.load(open(f"{folder}/{name}.json", encoding="utf-8"))
    return trace, [event for event in trace["traceEvents"] if event["ph"] in "Xi"]


trace, events = read("work")
ledger = trace["kymo"]["ledger"]
by = collections.defaultdict(list)
for event in events:
    by[event["cat"]].append(event)
print("device: " + ", ".join(d["name"] for d in trace.get("deviceProperties", [])))
for source in trace["kymo"]["sources"]:
    print(f"source {source['name']}: {source['state']} {source.get('reason', '')}")

if not done["device"].startswith("Stand-in"):
    hold("the program's results are right", done["results"], 1)
kernels = by["kernel"]
hold("kernels", len(kernels), done["kernels"])
hold("kernels called saxpy", sum(k["name"] == "saxpy" for k in kernels), done["kernels"])
hold("kernels of graphs", sum("graph id" in k["args"] for k in kernels), done["graph_kernels"])
hold("grid and block", {(*k["args"]["grid"], *k["args"]["block"]) for k in kernels},
     {(4096, 1, 1, 256, 1, 1)})
copies = collections.Counter(c["name"].split()[1] for c in by["gpu_memcpy"])
hold("copies by direction", dict(copies),
     {**{way: done["copies"] // 3 for way in ("HtoD", "DtoH", "DtoD")},
      **({"PtoP": done["peers"]} if done["peers"] else {})})
hold("bytes of each copy", {c["args"]["bytes"] for c in by["gpu_memcpy"]}, {done["bytes"]})
hold("sets", [s["args"]["bytes"] for s in by["gpu_memset"]], [done["bytes"]] * done["sets"])

calls = {e["args"]["correlation"]: e for e in by["cuda_driver"] + by["cuda_runtime"]
         if "correlation" in e.get("args", {})}
names = collections.Counter(e["name"] for e in by["cuda_driver"])
hold("graph launches", names["cuGraphLaunch"], done["graph_launches"])
unknown, late = 0, []
for kernel in kernels:
    args = kernel["args"]
    call = calls.get(args.get("launch correlation", args.get("correlation")))
    if call is None or call["name"] not in ("cuLaunchKernel", "cuGraphLaunch"):
        unknown += 1
    else:
        late.append(kernel["ts"] - call["ts"])
hold("kernels whose launch is not known", unknown, 0)
hold("kernels that begin 1 us or more before their launch", sum(t < -1 for t in late), 0)
if late:
    late.sort()
    print(f"        from launch to begin: {late[0]:.1f} us at least, "
          f"{late[len(late) // 2]:.1f} us in the middle, {late[-1]:.1f} us at most")
hold("streams that kernels were launched to one by one",
     len({(k["pid"], k["tid"]) for k in kernels if "graph id" not in k["args"]}), 2)
hold("waits are recorded", len(by["cuda_sync"]) >= done["waits"], True)
hold("recorded events of streams", len(by["cuda_event"]), 2)
hold("calls that failed", sum(e.get("args", {}).get("error") is True for e in events), 0)
hold("lost", sum(ledger[k] for k in ("full", "late", "cut", "source_exact", "source_at_least")), 0)
hold("without times", ledger["untimed"], 0)
print("clocks: " + ", ".join(f"{c['name']} within {c['uncertainty (ns)']} ns"
                             for c in trace["kymo"]["clocks"]))

_, events = read("graph")
hold("whole graphs, if asked for", sum(e["cat"] == "cuda.graph" for e in events),
     done["graph_launches"])
hold("kernels beside them", sum(e["cat"] == "kernel" for e in events), done["launches"])
sys.exit(failed > 0)
END

part 'PM sampling'
if grep -q pm_interval "$build/plugins/source/cuda.so"; then
	within 30 "$kymo" record -f -t cuda:pm_interval=1ms --types default,gpu_pm_counter \
		-o "$folder/pm.json" -- "$work" launches 50000 >/dev/null
	python3 - "$folder/pm.json" <<'END'
import collections
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
values = collections.defaultdict(list)
for event in trace["traceEvents"]:
    if event["ph"] == "C":
        for name, value in event["args"].items():
            values[name].append(value)
for source in trace["kymo"]["sources"]:
    print(f"source {source['name']}: {source['state']} {source.get('reason', '')} "
          f"{source.get('remedy', '')}")
for name, some in sorted(values.items()):
    print(f"{name}: {len(some)} samples, {min(some):g} to {max(some):g}")
if not values:
    print("no samples: see the source's state")
    state = next(s["state"] for s in trace["kymo"]["sources"] if s["name"] == "cuda")
    sys.exit(state == "recording")  # else it has said why
END
else
	echo 'this build has none'
fi

part 'cost of a launch'
plain=$(within 20 "$work" launches 20000)
recorded=$(record -o "$folder/cost.json" -- "$work" launches 20000)
echo "plain $plain ns, recorded $recorded ns (least of batches of 500)"

part 'all is as it must be'
