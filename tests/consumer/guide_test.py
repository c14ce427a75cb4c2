#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kymo as it is installed, used by somebody who has nothing else: docs/plugin-guide.md is worked
through with what `meson install` installs, each block of code written to the file that it names,
each command run in a folder of its own, each output held against what the guide shows. Prints TAP.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import given_time, in_folder, run_cases

SOURCE = os.environ["KYMO_SOURCE"]
BUILD = os.environ["KYMO_BUILD"]
GUIDE = os.path.join(SOURCE, "docs", "plugin-guide.md")
EXAMPLE = os.path.join(SOURCE, "examples", "03-source-plugin", "source.c")
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"\d[\d,.]*")
LIMIT_S = 120


def blocks():
    with open(GUIDE, encoding="utf-8") as f:
        return [(m[1], m[2], m[3]) for m in FENCE.finditer(f.read())]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False, **more)


class Installed:
    """The stage that this build was installed into, and an environment that finds it."""

    def __init__(self, folder):
        self.stage = os.path.join(folder, "stage")
        meson = os.environ.get("MESON") or shutil.which("meson") or "meson"
        done = run([meson, "install", "-C", BUILD, "--no-rebuild", "--destdir", self.stage])
        assert done.returncode == 0, done.stdout
        files = [os.path.join(d, n) for d, _, names in os.walk(self.stage) for n in names]
        self.files = {os.path.relpath(f, self.stage) for f in files}
        self.kymo = next(f for f in files if f.endswith("bin/kymo"))
        pkg_config = next(f for f in files if f.endswith("pkgconfig/kymo.pc"))
        self.environment = dict(
            os.environ, KYMO=SOURCE, PKG_CONFIG_SYSROOT_DIR=self.stage,
            PKG_CONFIG_PATH=os.path.dirname(pkg_config),
            PATH=os.path.dirname(self.kymo) + os.pathsep + os.environ["PATH"])
        for name in ("MAKEFLAGS", "CFLAGS", "LD_LIBRARY_PATH"):
            self.environment.pop(name, None)

    def shell(self, folder, command):
        return run(["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=self.environment)


def commands(text):
    """(command, lines that it prints) of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def matches(line, expected):
    """Equal but for numbers, for what "..." stands for, and for units of time."""
    parts = [re.escape(NUMBER.sub("0", part)) for part in expected.split("...")]
    pattern = ".*".join(parts).replace("0\\ ms", r"0\ [mun]?s")
    return re.fullmatch(pattern, NUMBER.sub("0", line)) is not None


def check_output(command, output, expected):
    lines = [line for line in output.splitlines() if line]
    wanted = [line for line in expected if line]
    assert not wanted or len(lines) == len(wanted), f"{command}:\n{output}"
    # Of two processes' output the order is not certain, so each line is looked for.
    for line in wanted:
        assert any(matches(l, line) for l in lines), f"{command}: no {line!r} in\n{output}"


def the_guide_has_the_whole_example_in_its_order(_installed, _folder):
    with open(EXAMPLE, encoding="utf-8") as f:
        example = f.read()
    told = [text for language, name, text in blocks() if language == "c" and name == "source.c"]
    assert len(told) > 5
    assert "\n".join(told) == example, "docs/plugin-guide.md and the example differ"


def every_block_and_command_of_the_guide_works(installed, folder):
    names = set()
    for language, name, text in blocks():
        if language == "console":
            for command, expected in commands(text):
                done = installed.shell(folder, command)
                assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
                assert "warning" not in done.stdout, done.stdout
                check_output(command, done.stdout, expected)
            continue
        assert language == "c" and name, f"a block without the name of a file: {text[:60]}"
        with open(os.path.join(folder, name), "a", encoding="utf-8") as f:
            f.write(("\n" if name in names else "") + text)
        names.add(name)
    assert names == {"first.c", "source.c"}, names
    check_trace(installed, folder)


def check_counters(installed, folder):
    """The guide's program may be over before they have been read once."""
    from trace import Trace

    def read(factor):
        done = installed.shell(folder, "kymo record -f -t $PWD/npu_source.so:sample_us=500 -o long.json "
                                       f"-- ./program {1000 * factor}")
        assert done.returncode == 0, done.stdout
        trace = Trace(os.path.join(folder, "long.json"))
        counters = [e for e in trace.events if e["cat"] == "npu.power" and e["ph"] == "C"]
        assert {(e["name"], *e["args"]) for e in counters} == {
            ("sensors (W)", "power"), ("sensors (C)", "temperature")}, counters
        assert trace.data["metadata"]["units"] == "power W, temperature C", trace.data["metadata"]
    given_time(read)


def check_trace(installed, folder):
    """What the guide promises of the trace: own types, clock, counters, links."""
    sys.path.insert(0, os.path.join(SOURCE, "tests", "e2e"))
    from trace import Trace
    trace = Trace(os.path.join(folder, "npu.json"))
    assert len(trace.kernels) == 20 and trace.lost() == 0
    cats = {}
    for event in trace.events:
        cats.setdefault(event["cat"], []).append(event)
    assert {"kernel", "npu.dma", "npu.sync", "npu.queue_wait", "runtime"} <= set(cats)
    assert len(cats["npu.dma"]) == 20 and all(e["args"]["bytes"] == 1 << 20 for e in cats["npu.dma"])
    launches = {e["args"]["correlation"]: e for e in cats["runtime"]}
    for kernel in trace.kernels:
        assert launches[kernel["args"]["correlation"]]["ts"] <= kernel["ts"], kernel
        assert 299 <= kernel["dur"] <= 301, kernel
    names = [start["name"] for start, _ in trace.arrows]
    assert names.count("ac2g") == 40 and names.count("after") == 20, names
    own = {t["name"] for t in trace.data["kymo"]["activity types"] if t["source"] == "npu"}
    assert own == {"job", "dma", "sync", "queue_wait", "power"}, own
    shown = installed.shell(folder, "kymo info npu.json").stdout
    assert "npu.queue_wait" in shown and "NPU One" in shown, shown
    check_counters(installed, folder)


def what_is_installed_is_all_there(installed, _folder):
    with open(os.path.join(SOURCE, "include", "kymo", "meson.build"), encoding="utf-8") as f:
        listed = set(re.findall(r"'([a-z_]+)'", f.read()))
    headers = {os.path.basename(f)[:-2] for f in installed.files if "/include/kymo/" in f}
    there = {n[:-2] for n in os.listdir(os.path.join(SOURCE, "include", "kymo")) if n[-2:] == ".h"}
    assert headers == there <= listed, headers ^ there
    for ending in ("kymo/plugins/source/fake.so", "kymo/plugins/sink/chrome.so", "/libkymo.so"):
        assert any(f.endswith(ending) for f in installed.files), installed.files
    pages = {os.path.basename(f).split(".")[0] for f in installed.files if "/man/man1/" in f}
    commands_there = re.findall(r"^  (\w+)  ", run([installed.kymo, "help"]).stdout, re.M)
    for command in set(commands_there) - {"help", "version", "kymo"}:
        assert f"kymo-{command}" in pages, f"no page of kymo {command} among {sorted(pages)}"
    assert any(f.endswith("bash-completion/completions/kymo") for f in installed.files)


def the_smallest_program_is_built_through_pkg_config(installed, folder):
    done = installed.shell(folder, "gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -o consumer "
                           "$KYMO/tests/consumer/main.c $(pkg-config --cflags --libs kymo) && "
                           "LD_LIBRARY_PATH=$(dirname $PKG_CONFIG_PATH) ./consumer")
    assert done.returncode == 0, done.stdout
    done = installed.shell(folder, "test -d $(pkg-config --variable=plugindir kymo)/source && "
                           "kymo record -f -t app -o t.json -- true")
    assert done.returncode == 0, done.stdout


def the_example_of_marks_is_recorded(installed, folder):
    done = installed.shell(folder, "cc -o marks $KYMO/examples/02-marks/marks.c -D_GNU_SOURCE "
                           "$(pkg-config --cflags --libs kymo) && export LD_LIBRARY_PATH=$(dirname "
                           "$PKG_CONFIG_PATH) && kymo record -o t.json -- ./marks && kymo info t.json")
    assert done.returncode == 0, done.stdout
    assert re.search(r"t\.json: 7 events, .*nothing lost", done.stdout), done.stdout


def the_example_of_a_sink_is_built_from_headers_only(installed, folder):
    done = installed.shell(folder, "cc -o marks $KYMO/examples/02-marks/marks.c -D_GNU_SOURCE "
                           "$(pkg-config --cflags --libs kymo) && cc -shared -fPIC "
                           "$KYMO/examples/04-sink-plugin/csv.c $(pkg-config --cflags kymo) -o csv.so "
                           "&& export LD_LIBRARY_PATH=$(dirname $PKG_CONFIG_PATH) "
                           "&& kymo record --sink $PWD/csv.so -o t.csv -- ./marks && wc -l < t.csv "
                           "&& ! readelf -d csv.so | grep -q 'NEEDED.*kymo'")
    assert done.returncode == 0, done.stdout
    assert "t.csv: 7 events" in done.stdout and done.stdout.rstrip().endswith("8"), done.stdout


def the_example_of_a_session_records_itself(installed, folder):
    done = installed.shell(folder, "cc -Wall -Wextra -Werror -o session $KYMO/examples/01-session/session.c "
                           "$(pkg-config --cflags --libs kymo) && export LD_LIBRARY_PATH=$(dirname "
                           "$PKG_CONFIG_PATH) && for end in json json.gz kymo; do ./session t.$end && "
                           "kymo info t.$end | grep -c '6 spans' || exit 1; done; ! ./session t.json; ! ./session t.txt")
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^t\.[a-z.]*: 6 events in [\d.]+ ms$", done.stdout, re.M)) == 3, done.stdout
    assert re.search(r'^session: .*: nothing can write "t.txt"; known are: .json, .json.gz, .kymo$', done.stdout,
                     re.M), done.stdout
    assert re.search(r'^session: cannot save the session to "t.json": "t.json" exists already: name another '
                     r'file, or set overwrite$', done.stdout, re.M), done.stdout


def a_sink_that_is_installed_is_known_by_name_and_suffix(installed, folder):
    done = installed.shell(folder, "cc -shared -fPIC $KYMO/examples/04-sink-plugin/csv.c "
                           "$(pkg-config --cflags kymo) -o $(pkg-config --variable=plugindir kymo)/sink/csv.so && "
                           "kymo record -o t.kymo -- true && kymo export t.kymo -o T.CSV -o csv://u -o CSV://v.txt "
                           "&& ls && kymo record --sink csv -o w.csv -o w.Json.GZ -- true && kymo doctor csv; "
                           "! kymo export t.kymo -o x.unknown && ! kymo export t.kymo -o no://x; "
                           "rm $(pkg-config --variable=plugindir kymo)/sink/csv.so; ! kymo export t.kymo -o y.csv")
    assert done.returncode == 0, done.stdout
    for name in ("T.CSV", "u", "v.txt", "w.csv", "w.Json.GZ"):
        assert os.path.exists(os.path.join(folder, name)), done.stdout
    assert re.search(r'nothing can write "x.unknown"; known are: .json, .json.gz, .csv', done.stdout), done.stdout
    assert re.search(r'nothing can write "no://x"; known are: .*csv://', done.stdout), done.stdout
    assert re.search(r'nothing can write "y\.csv"; known are: ', done.stdout), done.stdout
    assert open(os.path.join(folder, "w.Json.GZ"), "rb").read(2) == b"\x1f\x8b"


def the_example_of_a_source_records_in_a_programs_own_session(installed, folder):
    """Whether the runtime loads it before the session or within, and in programs that want none of it."""
    done = installed.shell(folder, "cp $KYMO/examples/03-source-plugin/* . && make && cc -o embedded "
                           "$KYMO/tests/consumer/embedded.c -I. $(pkg-config --cflags --libs kymo) -L. -lnpu && "
                           "export LD_LIBRARY_PATH=$(dirname $PKG_CONFIG_PATH):$PWD NPU_TOOL=$PWD/npu_source.so && "
                           "./embedded $NPU_TOOL within.json && ./embedded $NPU_TOOL before.json before && "
                           "KYMO_AGENT=$(echo ${LD_LIBRARY_PATH%%:*}/libkymo.so.0) ./program && "
                           "kymo record -f -t $NPU_TOOL --types cpu_op -o t.json -- ./program && kymo info *n.json; "
                           "kymo info before.json")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("; 10 kernels") == 2 and done.stdout.count("20 jobs") == 2, done.stdout


README_BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
STUBS = """
static void load_batch(void) {}
static void work(void)
{
	static uint32_t name;

	kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "work"));
	load_batch();
}
"""


def the_blocks_of_the_readme_are_programs(installed, folder):
    """What they call is theirs to imagine; the rest is taken as it stands there."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as f:
        told = README_BLOCK.findall(f.read())
    assert len(told) == 2, told
    for number, text in enumerate(told):
        includes = re.findall(r"^#include .*\n", text, re.M)
        body = re.sub(r"^#include .*\n", "", text, flags=re.M)
        with open(os.path.join(folder, f"readme{number}.c"), "w", encoding="utf-8") as f:
            f.write("".join(includes) or "#include <kymo/kymo.h>\n#include <stdio.h>\n")
            f.write(STUBS + "int main(void)\n{\n(void)work;\n" + body + "return 0;\n}\n")
    done = installed.shell(folder, "for i in 0 1; do cc -Wall -Wextra -Werror -Wno-declaration-after-statement "
                           "readme$i.c -o readme$i $(pkg-config --cflags --libs kymo) || exit 1; done; "
                           "export LD_LIBRARY_PATH=$(dirname $PKG_CONFIG_PATH); ./readme1 && kymo info trace.json && "
                           "kymo record -f -o trace.json -- ./readme0 && kymo info --json trace.json")
    assert done.returncode == 0, done.stdout
    assert "events    1 span\n" in done.stdout and '"load batch"' in open(
        os.path.join(folder, "trace.json"), encoding="utf-8").read(), done.stdout
    assert "trace.json: 1 event, " in done.stdout, done.stdout


CASES = [what_is_installed_is_all_there, the_smallest_program_is_built_through_pkg_config,
         the_example_of_marks_is_recorded, the_example_of_a_sink_is_built_from_headers_only,
         the_example_of_a_session_records_itself,
         the_example_of_a_source_records_in_a_programs_own_session,
         a_sink_that_is_installed_is_known_by_name_and_suffix, the_blocks_of_the_readme_are_programs,
         the_guide_has_the_whole_example_in_its_order,
         every_block_and_command_of_the_guide_works]


def main():
    with tempfile.TemporaryDirectory(prefix="kt-") as place:
        installed = Installed(place)
        run_cases(CASES, lambda case: in_folder(lambda folder: case(installed, folder)))


if __name__ == "__main__":
    main()
