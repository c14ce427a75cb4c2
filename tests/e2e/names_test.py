#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hostile names from a program's marks to the trace: byte for byte in the capture, and in the
trace equal to Python's reader but for two replacements: U+0000 becomes U+2400, and what is not
UTF-8 becomes U+FFFD. Prints TAP."""
import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import cases_of, run_cases
from trace import check

BUILD = os.environ["KYMO_BUILD"]
KYMO = os.path.join(BUILD, "kymo")
READ_CAPTURE = os.path.join(os.environ["KYMO_SOURCE"], "tools", "read_capture.py")
LIBRARY = os.path.join(BUILD, "libkymo.so.0")
LIMIT_S = 60
STRING, STRING_ARRAY = 5, 0x105

TEXTS = [
    b"", b'"', b"\\", b'\\"', b"a\nb", b"\r\n\t", b"\0", b"a\0b", b"\x01\x1f", b"\x7f", b"'",
    b"ends with \\", b"\\ud83d\\ude00", b"\\u0000", b"C:\\torch\\cuda\\__init__.py(219)",
    b'{"device": "cpu"}(12): f', b"\x01<module>", b"<script>alert(1)</script>", b"NaN", b"null", b"%s%n",
    b"x" * 65536, b"{", b"]", b"//", b"\b\f\v", b'"rank": 7', b"trailing blank ", b" ", b"\n" * 500,
    *(text.encode() for text in (
        "\u6ce8\u610f\u529b", "\u00e9", "e\u0301", "\U0001f600", "\U0001f468\u200d\U0001f469",
        "\u0645\u0631\u062d\u0628\u0627", "\u202eright to left\u202c", "\u2028\u2029", "\ufeff", "\ufffd",
        "\u2400", "\xa0", "\u0080", "\uffff", "\U0010ffff")),
    b"\xff", b"\xfe\xff", b"\xc0\x80", b"\xc3", b"caf\xe9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\xe2\x82", b"ok\xe2\x82x", b"\x80" * 9, b"\xf0\x9f\x98", b"1234567\xc3", b"12345678\xff",
]


def hostile_texts():
    """100 and some, all different, also once their bytes are replaced."""
    r, texts = random.Random(4), list(TEXTS)
    while len(texts) < 110:
        text = bytes(r.randrange(256) for _ in range(r.randrange(40)))
        if shown(text) not in map(shown, texts):
            texts.append(text)
    return texts


def shown(data):
    return data.decode("utf-8", "replace").replace("\0", "\u2400")


def replacements(texts):
    """(not UTF-8, NUL): how often each stands in the texts."""
    bad = sum(text.decode("utf-8", "replace").count("\ufffd") - text.count("\ufffd".encode())
              for text in texts)
    return bad, sum(text.count(b"\0") for text in texts)


# ---- The program that is recorded: this script, with marks ----

class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


THREAD = b'th"\\\x01\xff'


def mark_all():
    with open("/proc/self/comm", "wb") as f:  # before the first mark, which takes it
        f.write(THREAD)
    library = ctypes.CDLL(LIBRARY)
    library.kymo_mark_intern.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.kymo_mark_intern.restype = ctypes.c_uint32
    library.kymo_mark_ticks.restype = ctypes.c_uint64
    library.kymo_mark_key.argtypes = [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p]
    library.kymo_mark_key.restype = ctypes.c_uint16
    library.kymo_mark_record_instant.argtypes = [ctypes.c_uint32]
    library.kymo_mark_record2.argtypes = [
        ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint16, ctypes.c_uint64, ctypes.c_uint16,
        ctypes.c_uint64]
    for text in hostile_texts():
        name = library.kymo_mark_intern(text, len(text))
        key = library.kymo_mark_key(key_of(text), STRING, unit_of(text))
        assert name and key, text[:80]
        library.kymo_mark_record2(library.kymo_mark_ticks(), name, key, name, 0, 0)
        library.kymo_mark_record_instant(name)


def key_of(text):
    """Keys and units are C strings, so without NUL, and a key has a name."""
    return text.replace(b"\0", b"")[:200] or b"empty"


def unit_of(text):
    return b'"\\u\n\xff'


if sys.argv[1:2] == ["marks"]:
    mark_all()
    sys.exit()


# ---- Cases ----

class Recorded:
    def __init__(self, folder):
        self.folder = folder
        self.capture = os.path.join(folder, "t.kymo")
        # The command line is hostile, too; arguments are C strings.
        self.argv = [text.replace(b"\0", b"")[:1000] for text in hostile_texts()]
        self.program = os.path.join(os.fsencode(folder), b'py"\\\n\xff\xe6\xb3\xa8')
        shutil.copy(os.path.realpath(sys.executable), self.program)
        command = [KYMO, "record", "-o", self.capture, "--", self.program, os.path.abspath(__file__),
                   "marks", *self.argv]
        done = subprocess.run(command, check=False, capture_output=True, timeout=LIMIT_S,
                              env=dict(os.environ, PYTHONHOME=sys.base_prefix))
        assert done.returncode == 0, done.stderr[-2000:]
        self.trace = self.export("t.json")

    def export(self, name):
        path = os.path.join(self.folder, name)
        subprocess.run([KYMO, "export", "-f", self.capture, "-o", path], check=True,
                       capture_output=True, timeout=LIMIT_S)
        check(path)
        with open(path, "rb") as f:
            return json.loads(f.read().decode("utf-8", "strict"), parse_constant=refuse)

    def events(self, phase):
        return [e for e in self.trace["traceEvents"] if e["ph"] == phase and e["cat"] != "Trace"]


def refuse(word):
    raise ValueError(f"bare {word}")


def the_capture_has_every_byte(recorded):
    done = subprocess.run([sys.executable, READ_CAPTURE, recorded.capture], check=True,
                          capture_output=True, timeout=LIMIT_S)
    wanted, found = hostile_texts(), set()
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        entry = json.loads(line)
        if entry["line"] == "entry" and entry["kind"] == "string":
            found.add(os.fsencode(entry["text"]))
    missing = [text[:80] for text in wanted if text not in found]
    assert not missing, missing


def names_of_spans_and_instants_are_equal(recorded):
    wanted = [shown(text) for text in hostile_texts()]
    assert [event["name"] for event in recorded.events("X")] == wanted
    assert [event["name"] for event in recorded.events("i")] == wanted


def keys_values_and_units_are_equal(recorded):
    units = recorded.trace["kymo"]["units"]
    for event, text in zip(recorded.events("X"), hostile_texts(), strict=True):
        (key, value), = event["args"].items()
        assert value == shown(text)
        assert key in (shown(key_of(text)), shown(key_of(text)) + " (1)"), (key, text)
    assert set(units.values()) == {shown(unit_of(b""))}
    assert len(units) == len({key_of(text) for text in hostile_texts()})


def process_thread_and_command_line_are_equal(recorded):
    process = recorded.trace["kymo"]["processes"][0]
    for line in (recorded.trace["kymo"]["command line"], recorded.trace["metadata"]["command"],
                 process["command line"]):
        assert shown(recorded.program) in line
    named = {e["name"]: e["args"]["name"] for e in recorded.events("M") if "name" in e["args"]}
    assert process["exe"] == shown(recorded.program)
    assert named["process_name"] == process["name"] == os.path.basename(shown(recorded.program))
    assert shown(THREAD) in named["thread_name"], named


def replacements_are_counted(recorded):
    bad, nul = replacements(hostile_texts())
    sink = recorded.trace["kymo"]["sink"]
    assert sink["nul replaced"] == 3 * nul  # the names of span and instant, and the value
    assert sink["invalid utf-8 replaced"] >= 3 * bad > 0


def main():
    with tempfile.TemporaryDirectory(prefix="kn-") as folder:
        recorded = Recorded(folder)
        run_cases(cases_of(globals(), "recorded"), lambda case: case(recorded))


if __name__ == "__main__":
    main()
