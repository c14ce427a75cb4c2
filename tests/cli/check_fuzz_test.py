#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kymo check and info on broken files: every case is cut, spoilt and mixed with others, the same
way in every run. Whatever comes, the commands end by themselves, with a status of their own, and
a mended copy is read as well. Prints TAP."""
import os
import random

from check_tool import CASES, KYMO, get, is_sanitized, main, put, run
import resource
import subprocess

MUTANTS = 1500
MUTANTS_MENDED = 250
BATCH = 100
PIECES = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\\u", b"\\ud83d", b"NaN", b"-", b"1e999", b"\x00",
          b"\xff", b"\n{", b"null", b"999999999999999999999", b"0.0000000000000000000001", b"\xef\xbb\xbf",
          b'"traceEvents":[', b'"ph":"B"', b'"args":', b'"kymo":{"ledger":{"full":1}}', b"\x1f\x8b"]


def cases():
    for kind in sorted(os.listdir(CASES)):
        folder = os.path.join(CASES, kind)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            with open(os.path.join(folder, name), "rb") as f:
                yield f.read()[:4000]


def mutants(count, seed):
    source = random.Random(seed)
    files = list(cases())
    for _ in range(count):
        data = bytearray(source.choice(files))
        for _ in range(source.randint(1, 4)):
            at = source.randrange(len(data) + 1)
            what = source.randrange(6)
            if what == 0:
                del data[at:]
            elif what == 1:
                del data[at:at + source.randint(1, 30)]
            elif what == 2 and at < len(data):
                data[at] ^= 1 << source.randrange(8)
            elif what == 3:
                data[at:at] = source.choice(PIECES)
            elif what == 4:
                data[at:at] = data[source.randrange(len(data) + 1):][:200]
            else:
                other = source.choice(files)
                data[at:] = other[source.randrange(len(other) + 1):]
        yield bytes(data)


def limit():
    # A sanitizer takes address space of its own.
    if not is_sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))


def sound(*arguments):
    done = subprocess.run([KYMO, *arguments], capture_output=True, timeout=120, preexec_fn=limit)
    assert done.returncode in (0, 1, 2), (arguments, done.returncode, done.stderr[-3000:])
    assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, done.stderr[-3000:]
    return done


def test_spoilt_files_are_checked_to_their_end():
    names = []
    for number, data in enumerate(mutants(MUTANTS, 1)):
        names.append(put(f"{number}.json", data))
        if len(names) == BATCH or number == MUTANTS - 1:
            sound("check", "--json" if number % 200 < 100 else "-n2", *names)
            names = []


def test_spoilt_files_are_mended_or_not_but_never_harmed():
    for number, data in enumerate(mutants(MUTANTS_MENDED, 2)):
        put("t.json", data)
        sound("check", "t.json", "--repair", "out.json", "-f")
        with open("t.json", "rb") as f:
            assert f.read() == data
        left = sorted(os.listdir("."))
        assert left in (["t.json"], ["out.json", "t.json"]), left
        if "out.json" in left:
            sound("check", "out.json")
            os.unlink("out.json")


def test_spoilt_files_are_shown_or_refused_by_info():
    for data in mutants(MUTANTS_MENDED, 3):
        sound("info", put("t.json", data))


def test_deep_brackets_and_endless_texts_take_bounded_memory():
    for data in (b"[" * 100000, b'{"a":' * 100000, b'[{"args":' + b"[" * 600 + b"]" * 600 + b"}]",
                 b'[{"name":"' + b"x" * (20 << 20) + b'"}]', b'[{"ts":' + b"1" * (8 << 20) + b"}]",
                 b'[{"args":{' + b",".join(b'"%d":%d' % (i, i) for i in range(100000)) + b"}}]"):
        for command in ("check", "info"):
            sound(command, put("t.json", data))


if __name__ == "__main__":
    main(globals())
