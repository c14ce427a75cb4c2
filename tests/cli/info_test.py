#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo info and export on traces: what they say, and how they refuse. Prints TAP."""
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

KYMO = os.path.join(os.environ["KYMO_BUILD"], "kymo")
GOLDEN = os.path.join(os.environ["KYMO_SOURCE"], "plugins/sink/chrome/golden.json")

# What a process has taken at most is no less than its parent had when it began: a small one.
PEAK = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)"""

EVENTS = [
    {"args": {"name": "first \u0001"}, "ph": "M", "name": "process_name", "pid": 7, "tid": 0},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": "GPU 0", "args": {"name": "queue"}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 7, "tid": "GPU 0", "ts": 1.5, "dur": 2.25},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 7, "tid": "GPU 0", "ts": "10", "dur": 1e1},
    {"ph": "B", "name": "open", "pid": 7, "tid": 8, "ts": 0},
    {"ph": "E", "pid": 7, "tid": 8, "ts": 30},
    {"ph": "i", "cat": "note", "name": "\ud83d\ude00", "pid": 7, "tid": 8, "ts": 5, "args": None},
    {"ph": "C", "cat": "c", "name": "n", "pid": 7, "ts": 6, "args": {"v": [1, {"x": [2]}]}},
    {"ph": "s", "id": 1, "pid": 7, "tid": 8, "ts": 2, "cat": "f", "name": "f"},
    {"ph": "f", "id": 1, "pid": 7, "tid": 8, "ts": 3, "cat": "f", "name": "f", "bp": "e"},
]


def run(*arguments):
    done = subprocess.run([KYMO, *arguments], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def info(path):
    status, out, err = run("info", "--json", path)
    assert status == 0 and err == "", (status, err)
    return json.loads(out)


def put(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else json.dumps(data).encode())
    return name


def refused(words, *arguments, status=1):
    got, out, err = run(*arguments)
    assert got == status and out == "", (got, out)
    assert err.startswith("kymo: ") and err.count("\n") == 1 and words in err, err


def check_events(found):
    assert (found["spans"], found["instants"], found["counters"], found["arrows"]) == (3, 1, 1, 1)
    assert (found["first_ns"], found["last_ns"]) == (0, 30000)
    kernel = next(t for t in found["types"] if t["name"] == "kernel")
    assert kernel["spans"] == 2 and kernel["busy_ns"] == 12250
    assert {"name": "queue", "events": 2} in found["rows"]
    assert found["processes"] == [{"pid": "7", "name": "first \u0001"}]


def test_a_trace_of_another_tool_is_counted():
    check_events(info(put("t.json", {"traceEvents": EVENTS, "other": [1, {}]})))


def test_the_array_form_is_counted():
    check_events(info(put("t.json", EVENTS)))


def test_gzip_is_read_in_any_number_of_members():
    data = json.dumps(EVENTS).encode()
    path = put("t.json.gz", gzip.compress(data[:100]) + gzip.compress(data[100:]) + bytes(10))
    found = info(path)
    check_events(found)
    assert found["gzip"] and found["bytes"] == len(data)


def test_a_trace_of_ours_says_all_of_itself():
    found = info(GOLDEN)
    assert found["kymo_version"] and found["command_line"] == "./vector-add"
    assert found["spans"] == 3 and found["arrows"] == 1 and found["instants"] == 1
    assert found["others"] == 2, "the gaps"
    assert [p["name"] for p in found["processes"]] == ["vector-add", "child"]
    assert found["processes"][0]["rank"] == "3"
    assert [s["state"] for s in found["sources"]] == ["recording", "busy"]
    assert found["sources"][1]["remedy"] == "end it" and "process" not in found["sources"][1]
    assert found["metadata"]["distributedInfo"]["rank"] == 3, found["metadata"]
    assert found["devices"][0]["kind"] == "GPU" and found["clocks"][0]["uncertainty_ns"] == 800
    assert found["ledger"]["full"] == 2
    assert found["activity_types"] == [{"number": 70001, "name": "vendor.power", "category": "vendor.power",
                                        "side": "accelerator", "shapes": "counter"}]
    out = run("info", GOLDEN)[1]
    assert "  70001  vendor.power  vendor.power  accelerator  counter\n" in out, out


def test_a_gap_and_what_is_projected_are_no_events():
    span = {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 7, "tid": 1, "ts": 0, "dur": 1}
    shown = {**span, "cat": "gpu_user_annotation", "tid": 9}
    trace = {"schemaVersion": 1, "traceEvents": [span, shown, {**span, "cat": "gap", "name": "not recorded"}]}
    ours = {**trace, "kymo": {"ledger": {"spans": 1, "instants": 0, "counters": 0, "projected": 1}}}
    found = info(put("t.json", ours))
    assert (found["spans"], found["others"]) == (1, 1), found
    assert [row["events"] for row in found["rows"]] == [1, 1], "what is drawn"
    assert "  events    1 span, 1 other, 1 projected span\n" in run("info", "t.json")[1]
    # Another tool's has nothing that was made of the rest, and a ledger may say anything.
    assert info(put("t.json", trace))["spans"] == 2
    ours["kymo"]["ledger"]["projected"] = 1000
    assert info(put("t.json", ours))["spans"] == 0


def test_what_is_said_of_the_whole_trace_is_shown_whatever_it_is():
    said = {"text": "a \"b\"\n\u0000\U0001f600", "list": [], "none": {}, "deep": [[{"a": [1.5, True, None]}, {}], -0],
            "otherData": {"k": {"l": "m"}}}
    found = info(put("t.json", {"schemaVersion": 1, **said, "traceEvents": EVENTS, "traceName": "t", "last": 3}))
    assert found["metadata"] == {**said, "last": 3}, found["metadata"]
    out = run("info", "t.json")[1]
    assert '  deep       [[{"a": [1.5, true, null]}, {}], 0]\n' in out, out
    assert info(put("t.json", EVENTS))["metadata"] == {} and "METADATA" not in run("info", "t.json")[1]
    # A long one is cut for people, between two characters, and whole for programs.
    long = {"k": "x" * 98 + "\u20ac" + "y" * 100}
    assert info(put("t.json", {**long, "traceEvents": []}))["metadata"] == long
    assert '  k  "' + "x" * 98 + "...\n" in run("info", "t.json")[1]


def test_of_what_is_said_only_so_much_is_kept():
    large = "x" * (1 << 19)
    found = info(put("t.json", {"a": [large], "b": [large, large], "c": [[1, 2]] * 400000, "d": "kept",
                                "e": large[:-100], "f": large, "traceEvents": EVENTS}))
    assert list(found["metadata"]) == ["a", "d", "e"] and found["left_out"] == 3, found["left_out"]
    check_events(found)
    found = info(put("t.json", {**{str(i): i for i in range(10002)}, "traceEvents": EVENTS}))
    assert len(found["metadata"]) == 10000 and found["left_out"] == 2
    assert "  and 9,980 more\n" in run("info", "t.json")[1]


def test_samples_are_counted_on_the_row_that_they_name():
    row = {"ph": "M", "name": "thread_name", "pid": 7, "tid": 9, "args": {"name": "power"}}
    sample = {"ph": "C", "cat": "c", "name": "n", "pid": 7, "ts": 6, "args": {"v": 1}}
    found = info(put("t.json", [row, sample, {**sample, "tid": 9}, {**sample, "tid": 9}]))
    assert found["counters"] == 3 and found["rows"] == [{"name": "power", "events": 2}], found


def test_the_ends_of_a_trace_of_ours_say_all_but_what_takes_its_events():
    status, out, err = run("info", "--json", "--quick", GOLDEN)
    assert status == 0 and err == "", err
    quick, whole = json.loads(out), info(GOLDEN)
    for key in ("kymo_version", "command_line", "processes", "metadata", "sources", "devices", "activity_types",
                "clocks", "ledger", "base_ns", "bytes", "file_bytes"):
        assert quick[key] == whole[key], key
    assert quick["spans"] == quick["ledger"]["spans"]
    assert quick["rows"] == quick["types"] == [] and "first_ns" not in quick
    # What lies between is not looked at, however much it is.
    data = open(GOLDEN, "rb").read()
    at = data.index(b'"traceEvents": [') + len(b'"traceEvents": [')
    put("t.json", data[:at] + b"\xff" * (20 << 20) + data[at:])
    status, out, err = run("info", "--quick", "t.json")
    assert status == 0 and "4 spans" in out and "LEDGER" in out, (out, err)


def test_what_has_no_such_ends_is_not_quick():
    words = "leave --quick away"
    data = open(GOLDEN, "rb").read()
    refused(words, "info", "--quick", put("t.json", EVENTS))
    refused(words, "info", "--quick", put("t.json", data[:-1]))
    refused(words, "info", "--quick", put("t.json.gz", gzip.compress(data)))
    refused(words, "info", "--quick", put("t.json", data.replace(b"{", b"", 1)))


def test_each_source_tells_what_became_of_its_records():
    counts = {"events": 9, "written": 10, "lost": 3, "late": 1, "overwritten": 5000000, "out of window": 4,
              "filtered": 7, "invalid": 2}
    put("t.json", {"traceEvents": [], "kymo": {"sources": [
        {"name": "app", "state": "recording", **counts}, {"name": "quiet", "state": "recording", "events": 0}]}})
    found = info("t.json")["sources"][0]
    assert found.pop("out_of_window") == counts.pop("out of window")
    assert found == {"name": "app", "state": "recording", **counts}
    lines = run("info", "t.json")[1].splitlines()
    line = next(line for line in lines if "  app " in line)
    assert line.endswith("9 events  10 written  3 lost (1 late), 5,000,000 overwritten, 4 out of window, "
                         "7 filtered, 2 invalid"), line
    assert next(line for line in lines if "  quiet " in line).endswith(" 0 lost")


def test_what_was_overwritten_stands_beside_its_source():
    marks = os.path.join(os.environ["KYMO_BUILD"], "tests", "cli", "marks")
    done = subprocess.run([KYMO, "record", "--buffer", "10M", "--overflow", "overwrite", "-o", "over.kymo", "--",
                           marks, "mark", "600000"], capture_output=True)
    assert done.returncode == 0, done
    for path in ("over.kymo", "over.json"):
        if path == "over.json":
            assert run("export", "over.kymo", "-o", path)[0] == 0
        found = info(path)
        source = next(s for s in found["sources"] if s["overwritten"])
        assert source["overwritten"] == found["ledger"]["overwritten"] > 0, source
        assert f"{source['overwritten']:,} overwritten" in run("info", path)[1]


def test_memory_is_bounded_whatever_the_file_names():
    count = 150000
    with open("t.json", "w") as f:
        f.write("[\n")
        for i in range(count):
            f.write(json.dumps({"ph": "X", "cat": f"category {i}", "name": "n", "pid": i, "tid": f"row {i}",
                                "ts": i, "dur": 1}) + ",\n")
            for name in ("thread_name", "process_name"):
                f.write(json.dumps({"ph": "M", "name": name, "pid": i, "tid": f"row {i}",
                                    "args": {"name": f"a name that is long {i} " * 40}}) + ",\n")
        f.write('{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"ts":1,"dur":2}]')
    done = subprocess.run([sys.executable, "-c", PEAK, KYMO, "info", "--json", "t.json"], capture_output=True)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["spans"] == count + 1
    assert int(done.stderr) < 24 << 10 or is_sanitized(), done.stderr
    rows, types = found["rows"], found["types"]
    assert len(rows) == 10000 and rows[7]["name"].startswith("a name that is long 7 ")
    assert sum(row["events"] for row in rows) + found["other_rows"]["events"] == count + 1
    assert sum(kind["spans"] for kind in types) + found["other_types"]["spans"] == count + 1
    assert sum(kind["busy_ns"] for kind in types) + found["other_types"]["busy_ns"] == 1000 * (count + 2)
    assert found["left_out"] == count - 10000 == count - len(found["processes"])
    out = run("info", "t.json")[1]
    assert "; 1 kernel, 0 copies" in out and " events of other rows\n" in out, out[:500]
    assert " events of other types\n" in out and "140,000 processes, sources or the like are left out\n" in out


def is_sanitized():
    with open(KYMO, "rb") as f:
        data = f.read()
    return b"__tsan_init" in data or b"__asan_init" in data


def test_people_get_lines_without_control_characters():
    status, out, err = run("info", put("t.json", EVENTS))
    assert status == 0 and err == ""
    assert all(c >= " " or c == "\n" for c in out) and "first ?" in out
    assert not any(line != line.rstrip() for line in out.splitlines()), out


def test_what_is_no_trace_is_refused_with_the_place():
    refused("line 1, byte 5: ends early", "info", put("t.json", b'{"a":'))
    refused("it has no list \"traceEvents\"", "info", put("t.json", b'{"a":1}'))
    refused("line 2, byte 2: 'N' where a value", "info", put("t.json", b"[\nNaN]"))
    refused("half a surrogate", "info", put("t.json", b'[{"name":"\\ud800"}]'))
    refused("the gzip data ends early", "info", put("t.gz", gzip.compress(b"[" * 100)[:-9]))
    refused("No such file", "info", "none.json")
    refused("Is a directory", "info", ".")
    refused('"no?ne\u00e9.json"', "info", "no\nne\u00e9.json")


def test_bad_usage_is_status_2():
    refused("did you mean \"kymo info\"", "inof", status=2)
    refused("kymo help lists them", "frobnicate", status=2)
    refused("one FILE is wanted", "info", status=2)
    refused("one FILE is wanted", "info", "a", "b", status=2)
    refused("unknown option --frob", "info", "--frob", status=2)
    refused("say -o FILE", "export", "a.kymo", status=2)
    refused("-o wants a value", "export", "a.kymo", "-o", status=2)


def test_export_tells_why_it_cannot():
    refused("none.kymo", "export", "none.kymo", "-o", "a.json")
    assert not os.path.exists("a.json")


def test_a_slip_in_an_option_is_pointed_out():
    refused("unknown option --outptu=x; did you mean --output?", "export", "--outptu=x", status=2)
    refused("did you mean --json?", "info", "--jsn", status=2)
    refused("--json takes no value", "info", "--json=1", status=2)
    refused("unknown option -x", "info", "-x", status=2)


def test_an_empty_file_is_told_as_what_it_is():
    for name in ("e.kymo", "e.json"):
        refused("the file is empty", "info", put(name, b""))
    refused("the file is empty", "export", "e.kymo", "-o", "a.json")


def test_an_existing_file_is_told_in_the_words_of_record():
    put("there.json", b"old")
    recorded = subprocess.run([KYMO, "record", "-o", "t.kymo", "--", "true"], capture_output=True)
    assert recorded.returncode == 0, recorded
    words = '"there.json" exists already: name another file, or set overwrite (-f)'
    refused(words, "export", "t.kymo", "-o", "there.json")
    again = subprocess.run([KYMO, "record", "-o", "there.json", "--", "true"], capture_output=True)
    assert words in again.stderr.decode(), again


def test_rows_of_several_processes_say_whose_they_are():
    def rows_of(*processes):
        events = [event for pid, name in processes for event in (
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}},
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": 3, "args": {"name": "queue"}},
            {"ph": "X", "name": "k", "pid": pid, "tid": 3, "ts": 1, "dur": 1})]
        out = run("info", put("t.json", events))[1]
        return [line.split() for line in out[out.index("ROWS"):].split("\n\n")[0].splitlines()[1:]]
    assert rows_of((7, "job"), (8, "job")) == [["1", "queue", "job", "7"], ["1", "queue", "job", "8"]]
    assert rows_of((7, "job")) == [["1", "queue"]]


def test_one_is_singular():
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    status, out, err = run("info", put("t.json", [event]))
    assert status == 0 and "1 span; 1 kernel, 0 copies" in out, out


def test_no_line_of_help_is_longer_than_80():
    for command in ("record", "export", "info", "help", None):
        status, out, err = run(*filter(None, (command, "--help")))
        assert status == 0
        assert not [line for line in out.splitlines() if len(line) > 80], out


def test_help_and_version_go_to_the_output():
    for arguments in (["help"], ["--help"], ["--version"], ["version"], ["help", "record"],
                      ["help", "export"], ["info", "--help"]):
        status, out, err = run(*arguments)
        assert status == 0 and out and err == "", arguments


def test_an_output_that_is_full_is_a_failure():
    with open("/dev/full", "w") as full:
        done = subprocess.run([KYMO, "info", put("t.json", EVENTS)], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"No space left" in done.stderr


if __name__ == "__main__":
    main(globals())
