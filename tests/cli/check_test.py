#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo check: every file in cases/ is found good or bad as its readers take it, and mended where
that takes no guess. Prints TAP; `check_test.py WORD` runs the tests whose names have the word."""
import gzip
import json
import os
import re
import resource
import signal
import stat
import subprocess

from check_tool import CASES, KYMO, arrow, check, get, is_sanitized, main, put, run, span

MARKS = os.path.join(os.environ["KYMO_BUILD"], "tests", "cli", "marks")
WORSE = ["wrong", "drops", "refuses", "hangs"]


def table():
    """(path, verdict, ids, worst effect by reader) of each line of cases/findings.txt."""
    with open(os.path.join(CASES, "findings.txt")) as f:
        lines = [line.split() for line in f if not line.startswith("#")]
    for path, verdict, *rest in lines:
        ids = set() if not rest or rest[0] == "-" else set(rest[0].split(","))
        yield path, verdict, ids, dict(word.split(":") for word in rest[1:])


def worst_of(found):
    worst = {}
    for finding in found.values():
        for reader, effect in finding["readers"].items():
            if finding["severity"] not in ("note", "minor") and (
                    reader not in worst or WORSE.index(effect) > WORSE.index(worst[reader])):
                worst[reader] = effect
    return worst


def readable():
    return [line for line in table() if line[1] != "unread"]


def test_every_case_stands_in_the_table():
    listed = {path for path, *_ in table()}
    there = {os.path.join(kind, name) for kind in ("perfetto", "viewers")
             for name in os.listdir(os.path.join(CASES, kind))}
    assert listed == there and len(listed) > 200, listed ^ there


def test_each_case_is_found_good_or_bad_with_the_reader_that_suffers():
    wrong = []
    for path, verdict, ids, readers in readable():
        found = check(os.path.join(CASES, path), status=int(verdict == "bad"), minor=True)
        if set(found) - {"no-args"} != ids or worst_of(found) != readers:
            wrong.append((path, sorted(found), worst_of(found)))
    assert not wrong, wrong


def test_other_formats_and_archives_are_refused_by_name():
    words = {".zip": "an archive (zip)", "tar.gz": "an archive (tar)", "pftrace": "a Perfetto trace",
             ".json": "the file is empty"}
    for path, verdict, *_ in table():
        if verdict != "unread":
            continue
        status, out, err = run(os.path.join(CASES, path))
        expected = next(text for end, text in words.items() if path.endswith(end))
        assert status == 2 and out == "" and err.count("\n") == 1 and expected in err, (path, err)


def test_what_is_no_trace_is_no_finding():
    for data in (b"#include <stdio.h>\n", b"import json\n", b"\x7fELF\x02\x01", b"<html>[{]</html>"):
        status, out, err = run(put("t.json", data))
        assert status == 2 and out == "" and "no JSON" in err and err.count("\n") == 1, (data, out, err)
    put("t.json.gz", gzip.compress(b'{"traceEvents":[]}'))
    assert run("t.json.gz")[0] == 0


def test_what_is_mended_is_not_found_again():
    mended = 0
    for path, _, ids, _ in readable():
        source = os.path.join(CASES, path)
        before = get(source) if "_gz_" not in path and "member" not in path else None
        out = "out" + ".json.gz" * path.endswith(".gz")
        found = check(source, "--repair", out, "-f")
        whole = {id for id, finding in found.items() if finding["mended"]}
        assert before is None or get(source) == before
        assert os.listdir(".") == [out], os.listdir(".")
        if not whole:
            # What unpacks has no bytes beyond its damage to be copied.
            assert before is None or get(out) == before, path
            os.unlink(out)
            continue
        mended += 1
        for id in whole:
            assert found[id]["mended"] == found[id]["count"], (path, id, found[id])
        again = check(out)
        # A length that is no number costs the file; left out, it costs its span.
        news = {"no-duration"} if "bad-duration" in whole else set()
        # Of events on lines of their own a bare list comes.
        news |= {"first-event"} if "ndjson" in whole else set()
        assert set(again) <= (ids - whole) | news, (path, sorted(again), whole)
        json.loads(get(out))  # strict, but for NaN
        os.unlink(out)
    assert mended > 60, mended


def test_a_mend_changes_nothing_else():
    text = '{"traceEvents":[\n {"ph":"X","name":"a\\q\tb","cat":"c","pid":1,"tid":1,"ts":1,"dur":NaN,' \
           '"args":{"x":Infinity,"y":[ 1, 2,],"z":"\\ud83d\\ude00\\ud83d"}},\n' \
           ' {"ph":"C","name":"c","pid":1,"ts":1,"args":{"a":NaN,"b":1,"c":-inf}}\n]'
    check(put("t.json", text), "--repair", "out.json", status=1)
    expected = '{"traceEvents":[\n {"ph":"X","name":"a\\\\q\\tb","cat":"c","pid":1,"tid":1,"ts":1,' \
               '"args":{"x":null,"y":[ 1, 2],"z":"\U0001f600\ufffd"}},\n' \
               ' {"ph":"C","name":"c","pid":1,"ts":1,"args":{"b":1}}\n]}'
    found = get("out.json").decode().replace('"dur":null,', "")
    assert found == expected, found
    assert get("t.json").decode() == text


def test_overlaps_go_to_named_lanes_with_their_arrows_and_true_times():
    events = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 7, "args": {"name": 'the "row" \u00e9'}},
              span("launch", 0, 2, tid=3), arrow("s", 0, tid=3),
              span("a", 10, 10, tid=7), span("b", 15, 10, tid=7), arrow("f", 15, tid=7),
              span("in b", 21, 1, tid=7), span("c", 17, 30, tid=7), span("after", 50, 1, tid=7)]
    found = check(put("t.json", events), "--repair", "out.json", status=1)
    assert found["overlap"]["count"] == found["overlap"]["mended"] == 2
    assert check("out.json", status=0).keys() <= {"out-of-order"}
    out = json.loads(get("out.json"))["traceEvents"]
    rows = {event["name"]: event["tid"] for event in out if event["ph"] in "Xf"}
    assert rows["a"] == rows["in b"] == rows["after"] == 7
    assert rows["b"] == rows["ac2g"] != 7 and rows["c"] not in (7, rows["b"])
    names = {event["tid"]: event["args"]["name"] for event in out if event["ph"] == "M"}
    assert names[rows["b"]] == 'the "row" \u00e9, lane 2' and names[rows["c"]].endswith("lane 3")
    times = lambda events: [(e["name"], e["ts"], e.get("dur")) for e in events if e["ph"] != "M"]
    assert times(out) == times(events)


def test_more_lanes_than_anybody_can_read_are_left_as_they_are():
    found = check(put("t.json", [span(str(i), i, 1000) for i in range(300)]), "--repair", "out.json")
    assert found["overlap"]["count"] == 299 and found["overlap"]["mended"] == 255
    assert check("out.json")["overlap"]["count"] == 44


def test_an_error_has_its_line_and_byte():
    place = check(put("t.json", '[\n\n {"ph":"X",\n"name":"\\u00e9", "x" 5}]'))["syntax"]["examples"][0]
    assert (place["line"], place["byte"]) == (4, 36) and "a colon" in place["text"], place
    text = json.dumps([span(), span(ts=100, args={"v": 1})]).replace('"v": 1', '"v": NaN')
    place = check(put("t.json", text))["non-finite"]["examples"][0]
    assert place == {"line": 1, "byte": text.index("NaN"), "event": 1, "text": "NaN"}, place


def test_reading_goes_on_behind_an_event_that_is_no_json():
    lines = ["[", json.dumps(span("a")) + ",", '{"ph":"X","name":"{"device": "cpu"}(12): f"},',
             json.dumps(span("b", 20)) + ",", '{"ph" broken', json.dumps(span("c", 30, -1)), "]"]
    found = check(put("t.json", "\n".join(lines)), "--repair", "out.json", status=1)
    assert found["unreadable-event"]["count"] == 2 and "negative-duration" in found
    assert [event["name"] for event in json.loads(get("out.json"))] == ["a", "b", "c"]


def test_a_list_is_joined_before_what_came_whole_only():
    one, other, bad = json.dumps(span("a")), json.dumps(span("b", 20)), '{"ph" broken'
    for end in ('{"ph":"X", "na', f'{bad}\n{{"ph":"X", "na', f'{bad}\n{bad}\n{{"ph"'):
        for text in (f"{one}\n{other}\n{end}", f"\ufeff{one}\n{bad}\n{other}\n{end}",
                     f"[\n{one}\n{other}{end}", f"[{bad}\n{one},\n{bad}\n{bad}\n{other},\n{end}"):
            check(put("t.json", text.encode()), "--repair", "out.json", "-f", status=1)
            names = [event["name"] for event in json.loads(get("out.json"))]
            assert names == ["a", "b"], (text, get("out.json"))


def test_the_first_of_one_event_a_line_loses_no_more_than_others():
    line = '{"name":"a","dur":NaN,"cat":"c","ph":"X","pid":1,"tid":1,"ts":1,"tdur":"x"}'
    for text in (line, line.replace('"name":"a","dur":NaN', '"dur":NaN,"name":"a"')):
        check(put("t.json", f"{text}\n{text}\n"), "--repair", "out.json", "-f", status=1)
        first, second = json.loads(get("out.json"))
        assert first == second == {"name": "a", "cat": "c", "ph": "X", "pid": 1, "tid": 1, "ts": 1}, first


def test_a_mark_without_a_trace_is_not_mended():
    status, out, _ = run(put("t.json", b"\xef\xbb\xbf"), "--repair", "out.json")
    assert status == 1 and "out.json: nothing mended, so it is the same, 2 left" in out, out
    assert get("out.json") == get("t.json")


def test_examples_are_the_first_of_the_file_and_as_many_as_asked_for():
    events = [span(str(i), 1000 - i * 10, -1, tid=i % 3 + 1) for i in range(20)]
    for count in (0, 1, 5, 100):
        finding = check(put("t.json", events), "-n", str(count))["negative-duration"]
        assert finding["count"] == 20
        assert [place["event"] for place in finding["examples"]] == list(range(min(count, 20)))
    # Overlaps are found row by row, but shown in the order of the file.
    events = [span(str(i), i * 10, 15, tid=1 + i % 2) for i in range(40)]
    events = [dict(event, dur=25) for event in events]
    places = check(put("t.json", events), "--examples=4")["overlap"]["examples"]
    assert [place["event"] for place in places] == sorted(place["event"] for place in places)
    assert places[0]["event"] == 2, places


def test_one_reader_sees_its_own_findings_only():
    put("t.json", [span(), span(ts=12, pid="GPU 0"), arrow("s", 12)])
    assert set(check("t.json", "--reader", "speedscope")) == {"text-id"}
    assert set(check("t.json", "--reader=perfetto")) == {"text-id", "arrow-no-end"}
    assert check("t.json", "--reader=firefox", status=0) == {}


def test_people_get_the_worst_first_and_what_helps():
    status, out, err = run(put("t.json", json.dumps([
        span("no time", ts=None), span("o", 10, 5), span("verlap", 12, 5),
        {"ph": "C", "name": "c\n", "pid": 1, "ts": 1, "args": {}}]).replace("{}", '{"v": NaN}')))
    lines = out.splitlines()
    assert status == 1 and err == "" and lines[0].endswith(": 4 errors, 1 minor finding"), out
    order = [line.split()[1] for line in lines if line.startswith("error")]
    assert order == ["hanging-value", "non-finite", "no-time", "overlap"], order
    assert "         perfetto hangs" in lines and "         remedy: --repair OUT" in lines
    assert "         chrome, speedscope and firefox refuse the file; perfetto drops it" in lines
    assert not [line for line in lines if len(line) > 100 or line != line.rstrip()], out


def test_a_good_file_is_one_line():
    size = len(get(put("t.json", [span(cat="c")])))
    line = f"t.json: Chrome trace, {size} bytes, 1 event: nothing found\n"
    assert run("t.json") == (0, line, ""), line


def test_several_files_are_checked_and_the_worst_counts():
    put("good.json", [span()])
    put("bad.json", [span(dur=-1)])
    assert run("good.json", "bad.json")[0] == 1
    status, out, err = run("good.json", "none.json", "bad.json")
    assert status == 2 and "No such file" in err and "bad.json" in out


def test_the_written_copy_is_safe():
    put("t.json", '[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":1},]')
    put("there.json", b"old")
    for target, words in (("there.json", "exists already"), ("t.json", "exists already"),
                          ("no/where.json", "No such file")):
        status, out, err = run("t.json", "--repair", target)
        assert status == 2 and words in err.replace("would replace what it reads", words), err
        assert "mended" not in out, out
    assert run("t.json", "--repair", "t.json", "-f")[0] == 2
    os.link("t.json", "same.json")
    assert run("t.json", "--repair", "same.json", "-f")[0] == 2
    assert get("there.json") == b"old" and get("t.json").endswith(b",]")
    assert run("t.json", "--repair", "there.json", "-f")[0] == 1
    assert get("there.json").endswith(b"}]")
    assert sorted(os.listdir(".")) == ["same.json", "t.json", "there.json"]
    status, out, _ = run("there.json", "--repair", "new.json")
    assert status == 1 and "new.json: nothing mended, so it is the same" in out, out
    assert get("new.json") == get("there.json")
    for target in ("new.json", "no/where.json", "there.json"):
        status, out, err = run("there.json", "--repair", target)
        assert status == 2 and out == "" and err.count("\n") == 1, (target, out, err)
    assert json.loads(run("new.json", "--json", "--repair", "new.json.gz")[1])["repaired"] == "new.json.gz"
    assert gzip.open("new.json.gz").read() == get("new.json")


def test_what_can_be_read_once_only_is_refused_by_name():
    os.mkfifo("fifo")
    for command in (["check"], ["info"], ["info", "--quick"]):
        for path in ("fifo", "/dev/stdin"):
            done = subprocess.run([KYMO, *command, path], input=b"[]", capture_output=True, timeout=60)
            assert done.returncode in (1, 2) and done.stderr.count(b"\n") == 1, (path, done)
            assert b"no regular file" in done.stderr, (path, done)
    put("t.json", [span()])
    with open("t.json") as f:
        assert subprocess.run([KYMO, "check", "/dev/stdin"], stdin=f, stdout=subprocess.DEVNULL,
                              timeout=60).returncode == 0


def test_only_files_are_replaced_and_links_followed():
    broken = '{"traceEvents":[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":1},]}'
    put("t.json", broken)
    os.mkfifo("fifo")
    os.mkdir("folder")
    put("real.json", b"old")
    os.chmod("real.json", 0o640)
    os.symlink("real.json", "link.json")
    os.symlink("t.json", "input.json")
    os.symlink("nowhere.json", "dangling.json")
    for out, why in (("fifo", "regular"), ("folder", "directory"), ("input.json", "replace what it reads")):
        status, _, err = run("t.json", "--repair", out, "-f")
        assert status == 2 and err.count("\n") == 1 and why in err, (out, err)
    assert stat.S_ISFIFO(os.lstat("fifo").st_mode)
    for out in ("link.json", "dangling.json"):
        status, _, err = run("t.json", "--repair", out)
        assert status == 2 and "exists already" in err, (out, err)
    check("t.json", "--repair", "link.json", "-f", status=1)
    assert os.path.islink("link.json") and stat.S_IMODE(os.stat("real.json").st_mode) == 0o640
    assert get("real.json").startswith(b'{"traceEvents"') and get("t.json").decode() == broken


def test_a_copy_that_is_cut_short_leaves_nothing():
    with open("t.json", "w") as f:
        f.write("[" + "".join(json.dumps(span(str(i), i * 10)) + ",\n" for i in range(1000)))
        for i in range(100):
            f.write("".join(json.dumps(span(str(i), i * 10000 + j * 10, tid=2)) + ",\n" for j in range(1000)))
        f.write("]")
    for seconds in range(1, 40):
        child = subprocess.Popen([KYMO, "check", "t.json", "--repair", "out.json"], stdout=subprocess.DEVNULL)
        try:
            child.wait(seconds / 40)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGTERM if seconds % 2 else signal.SIGKILL)
            child.wait()
        assert set(os.listdir(".")) <= {"t.json", "out.json"}, os.listdir(".")
        if os.path.exists("out.json"):
            assert run("out.json")[0] == 0
            break


def test_a_full_disk_leaves_no_half_a_copy():
    put("t.json", json.dumps([span(str(i), 10 * i) for i in range(3000)])[:-1])
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    done = subprocess.run(["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh", KYMO, "check", "t.json",
                           "--repair", "out.json"], capture_output=True, preexec_fn=limit)
    assert done.returncode == 2 and b'cannot write "out.json": File too large' in done.stderr, done
    assert os.listdir(".") == ["t.json"]


def test_each_change_is_listed_with_its_place():
    put("t.json", '[{"ph":"X","name":"a\tb\tc","cat":"c","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":NaN,}}]')
    status, out, _ = run("t.json", "--repair", "out.json", "-n1")
    listed = out[out.index("\nmended\n"):].splitlines()
    assert listed[2:] == [
        "  line 1, byte 20: raw-control: 1 byte is replaced by \\t",
        "  line 1, byte 79: non-finite: 3 bytes are replaced by null",
        "  line 1, byte 82: trailing-comma: 1 byte is left out",
        "  and 1 more: raw-control", "", "out.json: 4 findings mended"], listed


def test_no_reader_suffers_from_what_is_no_error():
    for path, *_ in readable():
        for finding in check(os.path.join(CASES, path), minor=True).values():
            suffers = finding["severity"] in ("minor", "error")
            assert suffers == bool(finding["readers"]), (path, finding)


def test_minor_findings_count_where_their_reader_is_asked_for():
    put("t.json", [span(cat="c", dur=0)])
    assert check("t.json", status=0, minor=True)["zero-duration"]["severity"] == "minor"
    assert "1 minor finding; good, but for a trifle to the readers" in run("t.json")[1]
    found = check("t.json", "--reader", "speedscope", status=1)["zero-duration"]
    assert found["severity"] == "error"
    assert check("t.json", "--reader", "perfetto", status=0) == {}


def test_losses_of_our_own_traces_are_told():
    ledger = {"offered": 9, "written": 5, "full": 3, "cut": 1, "untimed": 2, "cut_captures": 1,
              "arrows_backward": 4, "arrows": 7}
    put("t.json", json.dumps({"traceEvents": [span()], "kymo": {"version": "1", "ledger": ledger}}))
    found = check("t.json", status=1)
    assert {id: (finding["severity"], finding["count"]) for id, finding in found.items()} == {
        "lost-records": ("warning", 3), "incomplete": ("error", 2), "untimed-records": ("note", 2),
        "lost-arrows": ("note", 4)}


def test_what_a_flight_recorder_did_not_keep_is_no_defect():
    for name in ("f.json", "f.kymo"):
        subprocess.run([KYMO, "record", "-f", "--overflow", "overwrite", "--buffer", "10M", "-o", name, "--", MARKS,
                        "mark", "100000"], check=True, capture_output=True)
        left = check(name, status=0)["left-out"]
        assert left["severity"] == "note" and left["count"] > 50000 and not left["readers"], left
        assert "; good" in run(name)[1].splitlines()[0], run(name)[1]
        assert check(name, "--reader", "perfetto", status=0) == {}


def test_captures_are_checked_through_their_ledger():
    subprocess.run([KYMO, "record", "-o", "t.kymo", "--", MARKS, "mark", "10"], check=True, capture_output=True)
    status, out, _ = run("t.kymo")
    assert status == 0 and out.startswith("t.kymo: capture, "), out
    os.truncate("t.kymo", os.path.getsize("t.kymo") - 100)
    assert check("t.kymo", status=1)["incomplete"]["count"] <= 2  # reasons, not bytes
    out = run("t.kymo")[1]
    assert re.search(r"bad_bytes: \d+\n +remedy", out) and "more" not in out, out
    status, _, err = run("t.kymo", "--repair", "x.json")
    assert status == 2 and "kymo export makes one" in err


def test_the_trace_of_a_capture_is_clean():
    subprocess.run([KYMO, "record", "-o", "t.json.gz", "--", MARKS, "mark", "10"], check=True, capture_output=True)
    found = check("t.json.gz", status=0)
    assert {finding["severity"] for finding in found.values()} <= {"note"}, found


def test_bad_usage_is_one_line_and_status_2():
    for arguments, words in (((), "no file"), (("--reader", "vi", "x"), 'no reader "vi"'),
                             (("-n", "x", "y"), "wants a number"), (("--frob", "x"), "--frob"),
                             (("--repair",), "wants a value"), (("none",), "No such file"),
                             ((".",), "Is a directory"), (("a", "b", "--repair", "c"), "one FILE")):
        status, out, err = run(*arguments)
        assert status == 2 and out == "" and err.count("\n") == 1 and words in err, (arguments, err)


def test_help_is_short():
    status, out, err = run("--help")
    assert status == 0 and err == "" and not [line for line in out.splitlines() if len(line) > 80], out


def write_large(path, size):
    with open(path, "w") as f:
        f.write('{"traceEvents": [\n')
        i = 0
        while f.tell() < size:
            f.write("".join(
                json.dumps(span(f"kernel {n % 99}", n * 10, 15 if n % 1000 == 0 else 5, tid=n % 64 + 1,
                                args={"correlation": n + 1, "stream": 1})) + ",\n" +
                json.dumps(arrow("s", n * 10, n % 64 + 1, n + 1)) + ",\n" +
                json.dumps(arrow("f", n * 10, n % 64 + 1, n + 1)) + ",\n"
                for n in range(i, i + 10000)))
            i += 10000
        f.write(json.dumps({"ph": "M", "name": "x", "pid": 1, "tid": 0, "args": {}}) + "\n]}")


def test_where_nothing_can_be_sorted_is_told():
    write_large("t.json", 25 << 20)
    done = subprocess.run([KYMO, "check", "t.json"], capture_output=True, env={"TMPDIR": "/none"})
    assert done.returncode == 2 and b'in "/none": No such file' in done.stderr, done


def peak_kib(*arguments):
    child = subprocess.Popen([KYMO, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    assert os.waitstatus_to_exitcode(status) in (0, 1)
    return usage.ru_maxrss


def test_want_of_memory_is_no_finding():
    if is_sanitized():
        return  # they want terabytes of addresses
    put("t.json", [span("a" * 100000)])
    seen = set()
    for size in range(4 << 20, 48 << 20, 512 << 10):
        done = subprocess.run([KYMO, "check", "t.json"], capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
        loaded = b"shared" not in done.stderr and done.returncode >= 0
        assert not loaded or done.returncode in (0, 2), (size, done)
        seen |= {done.returncode} if loaded else set()
    assert seen == {0, 2}, seen


def test_memory_does_not_grow_with_the_file():
    write_large("small.json", 20 << 20)
    write_large("large.json", 60 << 20)
    for command in (["check"], ["check", "--json"], ["info"]):
        small, large = peak_kib(*command, "small.json"), peak_kib(*command, "large.json")
        if not is_sanitized():
            assert large < 40 << 10 and large < small + (4 << 10), (command, small, large)
    put("out.json", b"")
    large = peak_kib("check", "large.json", "--repair", "out.json", "-f")
    assert large < 64 << 10 or is_sanitized(), large


if __name__ == "__main__":
    main(globals())
