#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where a trace goes, from outside: it appears whole or not at all, and what was there or was
recorded is never lost. Prints TAP; `output_test.py WORD` runs the cases with the word."""
import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Skip, cases_of, run_cases
from trace import check

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
MARKS = os.path.join(BUILD, "tests", "cli", "marks")
LIMIT_S = 60
SPANS = 200000


class Place:
    """A folder with a capture, small or large, in which exports write."""

    def __init__(self, captures):
        self.path = tempfile.mkdtemp(prefix="ko-")
        self.captures = captures

    def file(self, name):
        return os.path.join(self.path, name)

    def command(self, output, *options, capture="small"):
        return [KYMO, "export", self.captures[capture], "-o", output, *options]

    def export(self, output, *options, capture="small", **more):
        return subprocess.run(self.command(output, *options, capture=capture), cwd=self.path,
                              capture_output=True, timeout=LIMIT_S, check=False, **more)

    def start(self, output, *options, **more):
        return subprocess.Popen(self.command(output, *options, capture="large"), cwd=self.path,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def put(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as f:
            f.write(text)

    def get(self, name):
        with open(self.file(name), encoding="utf-8") as f:
            return f.read()

    def names(self):
        return sorted(os.listdir(self.path))


def count_spans(path):
    check(path)
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return sum(event["ph"] == "X" for event in json.load(f)["traceEvents"])


def refused(done, *words):
    """One line that says all of these words."""
    err = done.stderr.decode()
    assert done.returncode == 1 and err.startswith("kymo: ") and err.count("\n") == 1, done
    assert all(word in err for word in words), err


def until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.001)


# ---- What is there ----

def an_existing_file_is_kept_unless_forced(place):
    place.put("t.json", "old")
    refused(place.export("t.json"), '"t.json" exists already', "-f")
    assert place.get("t.json") == "old" and place.names() == ["t.json"]
    assert place.export("t.json", "-f").returncode == 0
    assert count_spans(place.file("t.json")) == 10 and place.names() == ["t.json"]


def a_folder_of_that_name_is_kept(place):
    os.mkdir(place.file("t.json"))
    refused(place.export("t.json", "-f"), '"t.json"', "Is a directory")
    assert place.names() == ["t.json"]


def links_are_followed_and_dangling_ones_are_names_that_are_taken(place):
    place.put("real.json", "old")
    os.symlink("real.json", place.file("link.json"))
    os.symlink("nowhere.json", place.file("dangling.json"))
    refused(place.export("dangling.json"), "exists already")
    assert place.export("link.json", "-f").returncode == 0
    assert os.path.islink(place.file("link.json"))
    assert count_spans(place.file("real.json")) == 10
    assert place.names() == ["dangling.json", "link.json", "real.json"]


def a_pipe_gets_the_trace(place):
    os.mkfifo(place.file("t.json"))
    reader = subprocess.Popen(["cat", place.file("t.json")], stdout=subprocess.PIPE)
    assert place.export("t.json").returncode == 0
    assert json.loads(reader.communicate(timeout=LIMIT_S)[0])["traceName"] == "t.json"


def a_pipe_whose_reader_leaves_is_an_error_with_a_line(place):
    os.mkfifo(place.file("t.json"))
    writer = place.start("t.json", "-f")
    with open(place.file("t.json"), "rb") as f:
        f.read(1)
    err = writer.communicate(timeout=LIMIT_S)[1]
    assert writer.returncode == 1 and b'cannot write "t.json": Broken pipe' in err, err


def standard_output_and_null_are_written_to(place):
    done = place.export("chrome:///dev/stdout")
    assert done.returncode == 0 and b"10 events" in done.stderr, done
    assert json.loads(done.stdout)["traceName"] == "/dev/stdout"
    assert place.export("chrome:///dev/null").returncode == 0
    assert not os.path.isfile("/dev/null")


def a_name_of_255_bytes_is_a_name(place):
    for suffix in (".json", ".json.gz"):
        name = "n" * (255 - len(suffix)) + suffix
        assert place.export(name).returncode == 0
        assert count_spans(place.file(name)) == 10
        refused(place.export("n" + name), "File name too long")
    assert len(place.names()) == 2


def a_folder_that_is_not_there_or_not_ours_is_told(place):
    refused(place.export("no/t.json"), "No such file or directory", "name a folder that exists")
    if os.geteuid() != 0:
        raise Skip("only root can become somebody else")
    os.mkdir(place.file("ours"))
    os.chmod(place.path, 0o755)
    with open(place.captures["small"], "rb") as f:
        done = subprocess.run([KYMO, "export", "/dev/stdin", "-o", "ours/t.json"], stdin=f,
                              capture_output=True, cwd=place.path, timeout=LIMIT_S, user=65534,
                              extra_groups=[], check=False)
    refused(done, "Permission denied")
    assert os.listdir(place.file("ours")) == []


# ---- Two at once ----

def of_two_exports_to_one_name_one_wins_and_both_are_whole(place):
    for options, wanted in (((), [0, 1]), (("-f",), [0, 0])):
        for suffix in (".json", ".json.gz"):
            name = "t" + suffix
            two = [place.start(name, *options) for _ in range(2)]
            said = [process.communicate(timeout=LIMIT_S)[1] for process in two]
            assert sorted(process.returncode for process in two) == wanted, said
            assert wanted == [0, 0] or any(b"exists already" in err for err in said), said
            assert count_spans(place.file(name)) == SPANS
            assert place.names() == [name]
            os.remove(place.file(name))


# ---- The end of it in the middle ----

def is_writing(pid):
    """True once the export has written something to a file that has no name yet."""
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{fd}"
            if "(deleted)" in os.readlink(path) and "ko-" in os.readlink(path) and \
                    os.stat(path).st_size > 0:
                return True
    except OSError:
        pass
    return False


def kill_in_the_middle(place, name, number):
    """Where it is at its end before it has been stopped there, once more."""
    for _ in range(20):
        place.put(name, "old")
        process = place.start(name, "-f")
        until(lambda: is_writing(process.pid) or process.poll() is not None, "the first block")
        process.send_signal(signal.SIGSTOP)
        if process.returncode is None:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        is_in_the_middle = is_writing(process.pid)
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=LIMIT_S)
        if is_in_the_middle:
            return process.returncode
    raise AssertionError("it always was too quick")


def an_export_that_is_killed_leaves_nothing(place):
    try:
        os.close(os.open(place.path, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        raise Skip("this file system has no files without a name") from None
    place.put("t.json", "old")
    place.put("t.json.gz", "old")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for name in ("t.json", "t.json.gz"):
            status = kill_in_the_middle(place, name, number)
            assert status == -number, (number, status)
            assert place.names() == ["t.json", "t.json.gz"], place.names()
            assert place.get(name) == "old"


def a_limit_of_file_sizes_keeps_what_was_there(place):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    for name in ("t.json", "t.json.gz"):
        place.put(name, "old")
        done = place.export(name, "-f", capture="large", preexec_fn=limit)
        refused(done, f'cannot write "{name}": File too large', "ulimit -f")
        assert place.get(name) == "old"
    assert place.names() == ["t.json", "t.json.gz"]


def on_a_small_disk(place, size, script, *arguments):
    """Runs `script` where $1 is a folder with so much room; its output."""
    small = place.file("small")
    os.mkdir(small)
    mount = f'mount -t tmpfs -o size={size} none "$1" || exit 77; {script}'
    done = subprocess.run(["unshare", "-r", "-m", "sh", "-c", mount, "sh", small, *arguments],
                          capture_output=True, timeout=LIMIT_S, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        raise Skip("no private mount here")
    return done


def a_full_disk_keeps_what_was_there(place):
    for suffix, size in ((".json", "1m"), (".json.gz", "64k")):
        done = on_a_small_disk(
            place, size, f'cd "$1" && echo old >t{suffix} && "$2" export "$3" -f -o t{suffix}; '
                   f'echo "status $?"; cat t{suffix}; ls -A', KYMO, place.captures["large"])
        assert done.stdout == f"status 1\nold\nt{suffix}\n", done
        assert "No space left on device; make room there, or write elsewhere" in done.stderr, done
        os.rmdir(place.file("small"))


def a_recording_that_cannot_be_written_is_kept_and_named(place):
    done = on_a_small_disk(
        place, "1m", 'cd "$1" && "$2" record --overflow drop --buffer 64M -o t.json -- "$3" mark 8000; '
               'echo "status $?"; ls -A; cp .t.json.kymo-* "$4"', KYMO, MARKS, place.path)
    lines = done.stdout.splitlines()
    assert lines[0] == "status 125" and len(lines) == 2, done
    assert lines[1].startswith(".t.json.kymo-"), done
    assert "No space left on device" in done.stderr and lines[1] in done.stderr, done
    assert subprocess.run([KYMO, "export", place.file(lines[1]), "-o", place.file("later.json")],
                          capture_output=True, timeout=LIMIT_S, check=False).returncode == 0
    assert count_spans(place.file("later.json")) == 8000


# ---- TAP ----

def record(folder, name, spans):
    path = os.path.join(folder, name + ".kymo")
    subprocess.run([KYMO, "record", "-o", path, "--", MARKS, "mark", str(spans)], check=True,
                   capture_output=True, timeout=LIMIT_S)
    os.chmod(path, 0o644)
    return path


def main():
    with tempfile.TemporaryDirectory(prefix="kc-") as folder:
        captures = {name: record(folder, name, n) for name, n in (("small", 10), ("large", SPANS))}

        def call(case):
            place = Place(captures)
            try:
                case(place)
            finally:
                shutil.rmtree(place.path, ignore_errors=True)
        run_cases(cases_of(globals(), "place"), call)


if __name__ == "__main__":
    main()
