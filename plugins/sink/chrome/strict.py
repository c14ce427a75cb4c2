# SPDX-License-Identifier: BSD-3-Clause
"""A reader of traces that refuses what json.load lets pass and some readers of traces do not:
duplicate keys, NaN, numbers that are misread, escapes that are not known everywhere."""
import gzip
import re

NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-][0-9]+)?")
ESCAPES = {b'"': '"', b"\\": "\\", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def fail(self, why):
        raise ValueError(f"byte {self.at}: {why}: {self.data[self.at:self.at + 40]!r}")

    def blanks(self):
        while self.data[self.at:self.at + 1] in (b" ", b"\n"):
            self.at += 1

    def take(self, expected):
        self.blanks()
        if not self.data.startswith(expected, self.at):
            self.fail(f"no {expected!r}")
        self.at += len(expected)

    def peek(self):
        self.blanks()
        return self.data[self.at:self.at + 1]

    def string(self):
        self.take(b'"')
        parts = []
        while True:
            end = self.at
            while self.data[end] >= 0x20 and self.data[end] not in b'"\\':
                end += 1
            parts.append(self.data[self.at:end].decode("utf-8"))  # strict
            self.at = end
            if self.data[end] < 0x20:
                self.fail("a control character in a string")
            self.at += 1
            if self.data[end] == ord('"'):
                return "".join(parts)
            escape = self.data[self.at:self.at + 1]
            if escape in ESCAPES:
                parts.append(ESCAPES[escape])
                self.at += 1
            elif re.match(rb"u00[01][0-9a-f]", self.data[self.at:self.at + 5]):
                parts.append(chr(int(self.data[self.at + 1:self.at + 5], 16)))
                self.at += 5
            else:
                self.fail("an escape that not every reader knows")

    def number(self):
        match = NUMBER.match(self.data, self.at)
        if not match:
            self.fail("no value")
        text = match[0].decode()
        self.at = match.end()
        mantissa = text.lstrip("-").split("e")[0].split(".")
        if match[3] and not match[2]:
            self.fail("an exponent without a point")
        if match[2] and (len(mantissa[0]) > 18 or len(mantissa[1]) > 17):
            self.fail("too many digits")
        if not match[2]:
            return int(text)
        return Decimal(text)

    def value(self):
        byte = self.peek()
        if byte == b"{":
            return self.object()
        if byte == b"[":
            return self.array()
        if byte == b'"':
            return self.string()
        for word, value in ((b"true", True), (b"false", False), (b"null", None)):
            if self.data.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def object(self):
        self.take(b"{")
        result = {}
        while self.peek() != b"}":
            if result:
                self.take(b",")
            key = self.string() if self.peek() == b'"' else self.fail("no key")
            if key in result:
                self.fail(f"duplicate key {key!r}")
            self.take(b":")
            result[key] = self.value()
        self.take(b"}")
        return result

    def array(self):
        self.take(b"[")
        result = []
        while self.peek() != b"]":
            if result:
                self.take(b",")
            result.append(self.value())
        self.take(b"]")
        return result


class Decimal(float):
    """A float that remembers how it stood there."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self


def read_trace(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        data = f.read()
    if not re.match(rb'\{\n  "schemaVersion": 1,', data) or not data.endswith(b"}"):
        raise ValueError("begins or ends as no trace does")
    reader = Reader(data)
    trace = reader.value()
    if reader.at != len(data):
        reader.fail("something behind the end")
    return trace


def check_rules(trace):
    """What holds for any trace of this sink."""
    keys = list(trace)
    order = ["schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit",
             "baseTimeNanoseconds", "traceEvents", "metadata", "kymo", "traceName"]
    known = [key for key in keys if key in order]
    assert known == [key for key in order if key in keys], keys
    assert trace["displayTimeUnit"] == "ms" and trace["baseTimeNanoseconds"] % 86400_000000000 == 0
    last, started = {}, set()
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str) and isinstance(event["cat"], str), event
        for key in ("pid", "tid"):
            assert type(event[key]) is int and 0 <= event[key] < 1 << 31, event
        for key in ("ts", "dur"):
            if key in event:
                assert re.fullmatch(r"[0-9]+\.[0-9]{3}", event[key].text), event
        assert event.get("args", 1), event
        assert ("args" in event) >= (event["ph"] in "MC"), event
        row = (event["pid"], event["tid"])
        if event["ph"] == "X":
            assert (event["ts"], -event["dur"]) >= last.get(row, (0, 0)), event
            last[row] = (event["ts"], -event["dur"])
        if event["ph"] == "s":
            started.add((event["id"], event["cat"], event["name"]))
        if event["ph"] == "f":
            assert event["bp"] == "e" and (event["id"], event["cat"], event["name"]) in started
        if event["ph"] == "C":
            assert all(type(v) in (int, Decimal) for v in event["args"].values()), event
        assert ("stream" in event.get("args", {})) <= (event["pid"] >= 1 << 30), event
