#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints a .kymo file as JSON, one object a line; written from docs/capture-format.md alone.

Order: session; then per capture: capture, entries of the dictionary (by kind, then id), anchors,
writers, sources, records (by chunk, then line, leases among them), end; at last file.

  [number, text]           what a number of the dictionary means; null: none, or unknown
  "at": [sequence, line]   the chunk and the line in it
  "track": [n, m, text]    n as recorded, m the one it means where n is 0
  "values": [key, name, type, value]...   a value is [bits, meaning], an array a list of such, and
                           what came as text just the text

Texts that are not UTF-8 keep their bytes as lone surrogates (Python's surrogateescape). A damaged
file is read as far as it goes; what was left out stands in end and file, where it was on stderr.
"""
import argparse
import json
import math
import os
import struct
import sys

MAJOR = 1
FILE_MAGIC, BLOCK_MAGIC, CAPTURE_MAGIC, CHUNK_MAGIC = (
    0x0A4F4D594B0A1A89, 0x4B4C424B, 0x4F4D594B, 0x4B4E4843)
SESSION, CAPTURE, DICTIONARY, CHUNK, ANCHORS, WRITERS, END, SOURCES = range(1, 9)
(STRING, SOURCE, TYPE, KEY, DOMAIN, LINK_KIND, CLOCK, DEVICE, TRACK, GROUP, ATTRIBUTES, CODE,
 METADATA, STATE) = range(1, 15)
SPAN, INSTANT, COUNTER, LINK, LEASE, GAP, OPEN = range(1, 8)
MORE, VALUES, BYTES, PAD = 64, 65, 66, 255
INT64, UINT64, DOUBLE, BOOL, STRING_VALUE, CODE_VALUE = range(1, 7)
ARRAY = 0x100
NESTED, LIST, DICT = 0x108, 9, 10
NESTED_DEPTH_MAX = 16
NAME_CODE = 0x80
U64 = (1 << 64) - 1

KIND_NAMES = ("", "span", "instant", "counter", "link", "lease", "gap", "open", "other")
FLAG_NAMES = ("origin", "target", "unfinished", "untimed", "host_clock", "error", "end_by_rule",
              "name_code")

FILE_HEADER = struct.Struct("<QHHIQ36xI")
BLOCK_HEADER = struct.Struct("<IIQQQ24xII")
CHUNK_HEADER = struct.Struct("<IIQII32xII")
ENTRY = struct.Struct("<IHHII")
ATTRIBUTE = struct.Struct("<HxxI")
RECORD = struct.Struct("<BBHIHHIQQQIHHQQ")
COUNTER_LINE = struct.Struct("<BBHIHHIQQ4Q")
LINK_LINE = struct.Struct("<BBHIHHHHQQQIHHQQ")
LEASE_LINE = struct.Struct("<BBHIIIQQ32x")
MORE_LINE = struct.Struct("<BBxx6H6Q")
VALUES_LINE = struct.Struct("<BB6x7Q")
BYTES_LINE = struct.Struct("<BBHI56s")
COUNTER_ENTRY = struct.Struct("<III4x")

SESSION_BLOCK = struct.Struct("<qqQIII4x")
END_BLOCK = struct.Struct("<I4xqq")
ANCHOR = struct.Struct("<IIQQQQQ16x")
WRITER = struct.Struct("<QQQQQQIIII")
SOURCE_COUNTS = struct.Struct("<8Q")

HEADER_NAMES = (
    "magic format_major format_minor header_size flags total_size anchors_offset writers_offset "
    "sources_offset states_offset order_offset dictionary_offset dictionary_size chunks_offset "
    "anchor_capacity writer_capacity source_capacity chunk_count chunk_size ticks overflow "
    "session capture pid parent_pid start_time attach_ticks attach_monotonic_ns "
    "attach_realtime_ns state command command_sequence writer_count lease_sequence "
    "dictionary_tail anchor_tail chunks_freed names_not_kept cold_chunks quarantined_chunks "
    "filtered_unowned lost_full_unowned lost_nested_unowned stream_stopped_ns stream_stopped "
    "command_line_size host boot_id library_version exe command_line "
    "pid_namespace command_done begin_ticks").split()
CAPTURE_HEADER = struct.Struct("<IHHII9QIIIII4xII6QqqIIII10QqII64s40s24s1024s2048sQI4xQ")

# Kind of entry: its name, and its members; a member is (name, what its number is of, or None).
ENTRIES = {
    SOURCE: ("source", "<IIII", (("name", STRING), ("plugin", STRING), ("version", STRING),
                                 ("description", STRING))),
    TYPE: ("type", "<IIIIIIII", (("source", SOURCE), ("name", STRING), ("category", STRING),
                                 ("plugin", STRING), ("shapes", None), ("side", None),
                                 ("flags", None), ("activity_type", None))),
    KEY: ("key", "<III4x", (("name", STRING), ("unit", STRING), ("value_type", None))),
    DOMAIN: ("domain", "<III4x", (("name", STRING), ("source", SOURCE), ("scope", None))),
    LINK_KIND: ("link_kind", "<I4x", (("name", STRING),)),
    CLOCK: ("clock", "<IIIIIIQQ", (("name", STRING), ("source", SOURCE), ("kind", None),
                                   ("bits", None), ("flags", None), ("device", DEVICE),
                                   ("ticks_num", None), ("ticks_den", None))),
    DEVICE: ("device", "<QIIIIIIII", (("native", None), ("source", SOURCE), ("index", None),
                                      ("name", STRING), ("kind", STRING), ("uuid", STRING),
                                      ("parent", DEVICE), ("order", None), ("attributes", None))),
    TRACK: ("track", "<QIIIIIII4x", (("native", None), ("kind", None), ("source", SOURCE),
                                     ("name", STRING), ("clock", CLOCK), ("device", DEVICE),
                                     ("order", None), ("attributes", None))),
    GROUP: ("group", "<IIII", (("track", TRACK), ("name", STRING), ("count", None),
                               ("source", SOURCE))),
    CODE: ("code", "<QIIQ", (("address", None), ("object", STRING), ("symbol", STRING),
                             ("offset", None))),
    STATE: ("state", "<IIIIQ", (("source", SOURCE), ("state", None), ("reason", STRING),
                                ("remedy", STRING), ("sequence", None))),
}
ENTRIES = {kind: (name, struct.Struct(form), members)
           for kind, (name, form, members) in ENTRIES.items()}

# Where the string that names an entry stands in its payload.
NAME_OFFSETS = {SOURCE: 0, TYPE: 4, KEY: 0, DOMAIN: 0, LINK_KIND: 0, CLOCK: 0, DEVICE: 16,
                TRACK: 16, GROUP: 4, CODE: 12}


class Refused(Exception):
    """The file is no capture, or one that this reader must not read."""


def quote(data):
    return json.dumps(data.decode("utf-8", "surrogateescape"))


def quote_all(parts):
    return "[" + ",".join(quote(part) for part in parts) + "]"


def arguments(data):
    """Splits what is ended by NUL; the last one may lack it."""
    parts = data.split(b"\0")
    return parts if parts[-1] else parts[:-1]


# ---- CRC32C, 16 bits a step ----

def make_table():
    small = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        small.append(crc)
    return [small[small[x & 255] & 255 ^ x >> 8] ^ small[x & 255] >> 8
            for x in range(65536)], small


WIDE_TABLE, TABLE = make_table()


def crc32c(data):
    table, crc = WIDE_TABLE, 0xFFFFFFFF
    for (word,) in struct.iter_unpack("<H", data[:len(data) & ~1]):
        crc = table[crc & 0xFFFF ^ word] ^ crc >> 16
    if len(data) & 1:
        crc = TABLE[crc & 255 ^ data[-1]] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# ---- Dictionary ----

class Cached(dict):
    """Makes what is asked for the first time."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, key):
        value = self[key] = self.make(key)
        return value


class Dictionary:
    def __init__(self, data):
        self.entries = {kind: [] for kind in range(STRING, STATE + 1)}
        self.left_out = len(data) - self.parse(data)
        self.strings = Cached(lambda number: self.number_and_name(STRING, number))
        self.names = {kind: Cached(lambda number, kind=kind: self.number_and_name(kind, number))
                      for kind in NAME_OFFSETS}
        self.names[STRING] = self.strings
        self.keys = Cached(self.describe_key)
        self.sets = Cached(self.describe_set)
        self.counters = Cached(self.describe_counters)
        self.group_tracks = Cached(self.group_track)

    def parse(self, data):
        """Fills in the entries; returns how far they are valid."""
        at = 0
        while at + ENTRY.size <= len(data):
            size, kind, _, number, crc = ENTRY.unpack_from(data, at)
            begin = at + ENTRY.size
            padded = size + 7 & ~7
            if kind == 0 or number == 0 or padded > len(data) - begin:
                break
            if crc32c(data[at:at + 12] + data[begin:begin + size]) != crc:
                break
            if kind in self.entries:
                if number != len(self.entries[kind]) + 1:
                    break
                self.entries[kind].append(data[begin:begin + size])
            at = begin + padded
        return at

    def payload(self, kind, number, least=0):
        entries = self.entries[kind]
        if 0 < number <= len(entries) and len(entries[number - 1]) >= least:
            return entries[number - 1]
        return None

    def text(self, number):
        """JSON of a string's text."""
        data = self.payload(STRING, number)
        return "null" if data is None else quote(data)

    def name(self, kind, number):
        """JSON of the name of an entry."""
        if kind == STRING:
            return self.text(number)
        payload = self.payload(kind, number, ENTRIES[kind][1].size)
        if payload is None:
            return "null"
        return self.text(struct.unpack_from("<I", payload, NAME_OFFSETS[kind])[0])

    def number_and_name(self, kind, number):
        return f"[{number},{self.name(kind, number)}]"

    def describe_key(self, number):
        """(JSON up to the value, type; None if the key is unknown)."""
        payload = self.payload(KEY, number, 16)
        if payload is None:
            return f"[{number},null,{UINT64},", None
        name, _, value_type = struct.unpack_from("<III", payload)
        return f"[{number},{self.text(name)},{value_type},", value_type

    def group_track(self, number):
        payload = self.payload(GROUP, number, 16)
        return 0 if payload is None else struct.unpack_from("<I", payload)[0]

    def describe_counters(self, number):
        """Of each known counter (JSON up to the value, type)."""
        payload = self.payload(GROUP, number, 16)
        if payload is None:
            return []
        count = struct.unpack_from("<I", payload, 8)[0]
        room = (len(payload) - 16) // 16
        described = []
        for i in range(min(count, room)):
            name, _, value_type = COUNTER_ENTRY.unpack_from(payload, 16 + 16 * i)
            described.append((f"[{i},{self.text(name)},{value_type},", value_type))
        return described

    # -- Values --

    def scalar(self, value_type, bits):
        """JSON of 64 bits: as they are, and what they mean."""
        if value_type == INT64:
            return f"[{bits},{bits - (1 << 64) if bits >> 63 else bits}]"
        if value_type == DOUBLE:
            number = struct.unpack("<d", struct.pack("<Q", bits))[0]
            if math.isfinite(number):
                return f"[{bits},{number:.17g}]"
            return f'[{bits},"{"nan" if math.isnan(number) else number}"]'
        if value_type == BOOL:
            return f"[{bits},{'true' if bits else 'false'}]"
        if value_type == STRING_VALUE:
            return self.strings[bits]
        if value_type == CODE_VALUE:
            return self.names[CODE][bits]
        return f"[{bits},{bits}]"

    def keyed(self, key, bits):
        head, value_type = self.keys[key]
        return head + self.scalar((value_type or UINT64) & ~ARRAY, bits) + "]"

    def item(self, words, at, depth):
        """JSON of the item of a nested value at a word, and the word behind it."""
        head, at = words[at], at + 1
        value_type, count = head & 0x1ff, head >> 32
        if head & 0xfffffe00:
            raise ValueError("bits that mean nothing")
        if value_type in (LIST, DICT):
            if depth == NESTED_DEPTH_MAX:
                raise ValueError("too deep")
            parts = []
            for _ in range(count):
                name = ""
                if value_type == DICT:
                    name, at = self.strings[words[at]] + ",", at + 1
                part, at = self.item(words, at, depth + 1)
                parts.append(f"[{name}{part}]" if name else part)
            return ('{"list":[' if value_type == LIST else '{"dict":[') + ",".join(parts) + "]}", at
        is_array, element = value_type & ARRAY, value_type & ~ARRAY
        if depth == 0 or not INT64 <= element <= CODE_VALUE or (count and not is_array):
            raise ValueError("no item")
        count = count if is_array else 1
        if count > len(words) - at:
            raise ValueError("too few words")
        text = ",".join(self.scalar(element, bits) for bits in words[at:at + count])
        return f"[{text}]" if is_array else text, at + count

    def nested(self, data):
        """JSON of the words of a nested value; None if they are none."""
        words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) & ~7])
        try:
            text, end = self.item(words, 0, 0)
        except (IndexError, ValueError):
            return None
        return text if end == len(words) else None

    def keyed_array(self, key, data):
        head, value_type = self.keys[key]
        if value_type == NESTED:
            text = self.nested(data)
            if text is not None:
                return f"{head}{text}]"
        element = (value_type or UINT64) & ~ARRAY
        items = struct.iter_unpack("<Q", data[:len(data) & ~7])
        return head + "[" + ",".join(self.scalar(element, bits) for (bits,) in items) + "]]"

    def keyed_bytes(self, key, data):
        head, value_type = self.keys[key]
        if value_type is not None and value_type & ARRAY:
            return self.keyed_array(key, data)
        if value_type is not None and value_type != STRING_VALUE and len(data) == 8:
            return self.keyed(key, struct.unpack("<Q", data)[0])
        return head + quote(data) + "]"

    def attributes(self, data):
        values, at = [], 0
        while len(data) - at >= 16:
            key, count = ATTRIBUTE.unpack_from(data, at)
            size = 8 * max(1, count)
            begin = at + ATTRIBUTE.size
            if size > len(data) - begin:
                break
            if key and count:
                values.append(self.keyed_array(key, data[begin:begin + size]))
            elif key:
                values.append(self.keyed(key, struct.unpack_from("<Q", data, begin)[0]))
            at = begin + size
        return "[" + ",".join(values) + "]"

    def describe_set(self, number):
        payload = self.payload(ATTRIBUTES, number)
        return f"[{number},{'null' if payload is None else self.attributes(payload)}]"

    # -- Entries as lines --

    def member(self, name, kind, number):
        if name == "attributes":
            return f'"{name}":{self.sets[number]}'
        return f'"{name}":{number if kind is None else self.names[kind][number]}'

    def line(self, kind, number, payload):
        if kind == STRING:
            return f'"kind":"string","id":{number},"text":{quote(payload)}'
        if kind in (ATTRIBUTES, METADATA):
            name = "attributes" if kind == ATTRIBUTES else "metadata"
            return f'"kind":"{name}","id":{number},"values":{self.attributes(payload)}'
        name, form, members = ENTRIES[kind]
        text = f'"kind":"{name}","id":{number}'
        if len(payload) < form.size:
            return f'{text},"size":{len(payload)}'
        for (member, of), value in zip(members, form.unpack_from(payload)):
            text += "," + self.member(member, of, value)
        if kind == GROUP:
            counters = [COUNTER_ENTRY.unpack_from(payload, 16 + 16 * i)
                        for i in range(len(self.counters[number]))]
            text += ',"counters":[' + ",".join(
                f"[{self.strings[name]},{self.strings[unit]},{value_type}]"
                for name, unit, value_type in counters) + "]"
        if kind == CODE:
            build_id = struct.unpack_from("<I", payload, 24)[0] if len(payload) >= 32 else 0
            text += f',"build_id":{self.strings[build_id]}'
        return text

    def lines(self):
        for kind, entries in self.entries.items():
            for number, payload in enumerate(entries, 1):
                yield f'{{"line":"entry",{self.line(kind, number, payload)}}}\n'


# ---- The file ----

class Capture:
    """The parts of one capture, as far as they were found."""

    def __init__(self):
        self.header = None
        self.dictionary = bytearray()
        self.parts = []  # of chunks: (sequence, first, -head, offset of the first line)
        self.anchors = []
        self.writers = self.sources = b""
        self.end = (0, 0, 0)

    def size(self):
        return len(self.dictionary) + sum(64 * (-head - first) for _, first, head, _ in self.parts)

    def take_header(self, payload):
        payload = payload.ljust(CAPTURE_HEADER.size, b"\0")
        header = dict(zip(HEADER_NAMES, CAPTURE_HEADER.unpack_from(payload)))
        if header["magic"] != CAPTURE_MAGIC:
            return "no capture header"
        if header["format_major"] != MAJOR:
            return f"a capture of format {header['format_major']}; this reads {MAJOR}.x"
        for name in ("host", "boot_id", "library_version", "exe"):
            header[name] = header[name][:-1].split(b"\0")[0]
        header["command_line"] = header["command_line"][:header["command_line_size"]]
        self.header = header
        return None

    def take_dictionary(self, offset, payload):
        known = len(self.dictionary)
        if offset > known:
            return "dictionary part behind a gap"
        self.dictionary += payload[known - offset:]
        return None

    def take_chunk(self, offset, payload):
        if len(payload) < CHUNK_HEADER.size:
            return "no chunk header"
        magic, _, sequence, _, first, _, head = CHUNK_HEADER.unpack_from(payload)
        if magic != CHUNK_MAGIC or not first <= head <= 1023:
            return "no chunk header"
        if len(payload) < 64 + 64 * (head - first):
            return "no chunk header"
        self.parts.append((sequence, first, -head, offset + 64))
        return None

    def take(self, kind, sequence, offset, payload):
        """Takes a block; says what is wrong with it, or None."""
        if kind == CAPTURE:
            return self.take_header(payload)
        if kind == DICTIONARY:
            return self.take_dictionary(sequence, payload)
        if kind == CHUNK:
            return self.take_chunk(offset, payload)
        if kind == ANCHORS:
            self.anchors += ANCHOR.iter_unpack(payload[:len(payload) & ~63])
        if kind == WRITERS:
            self.writers = payload[:len(payload) & ~63]
        if kind == SOURCES:
            self.sources = payload[:len(payload) & ~63]
        if kind == END:
            if len(payload) < END_BLOCK.size:
                return "no end block"
            self.end = END_BLOCK.unpack_from(payload)
        return None

    def finish(self):
        """Orders parts and anchors and drops what is doubled."""
        parts, known, last = [], 0, None
        for sequence, first, head, offset in sorted(self.parts):
            if sequence != last:
                last, known = sequence, 0
            doubled = max(0, known - first)
            if first + doubled < -head:
                known = -head
                parts.append((sequence, first + doubled, known, offset + 64 * doubled))
        self.parts = parts  # (sequence, first, head, offset)
        anchors = {}
        for anchor in self.anchors:
            if anchor[6]:
                anchors.setdefault(anchor[6], anchor)
        self.anchors = [anchors[sequence] for sequence in sorted(anchors)]
        self.writers = list(WRITER.iter_unpack(self.writers))
        self.sources = list(SOURCE_COUNTS.iter_unpack(self.sources))


def check_major(what, major, minor):
    if major != MAJOR:
        raise Refused(f"{what} {major}.{minor}; this reads {MAJOR}.x")


class Reader:
    def __init__(self, file):
        self.file = file
        self.size = os.fstat(file.fileno()).st_size
        self.session = None
        self.left_out = []  # (offset, size, why)
        captures = {}
        header = self.read(0, 64)
        if len(header) < 64:
            raise Refused("not a capture of Kymo")
        magic, major, minor, begin, number, crc = FILE_HEADER.unpack(header)
        if magic != FILE_MAGIC:
            raise Refused("not a capture of Kymo")
        if crc != crc32c(header[:60]):
            major, minor, begin, number = MAJOR, 0, 64, 0
            self.leave_out(0, 64, "damaged file header")
        check_major("capture format", major, minor)
        if not 64 <= begin <= self.size:
            raise Refused("not a capture of Kymo")
        self.format, self.number = (major, minor), number
        self.walk(begin, captures)
        self.captures = []
        for _, capture in sorted(captures.items()):
            if capture.header is None:
                self.leave_out(None, capture.size(), "capture without a header")
                continue
            capture.finish()
            self.captures.append(capture)

    def read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def leave_out(self, offset, size, why):
        if self.left_out and self.left_out[-1][2] == why and offset is not None:
            begin, known, _ = self.left_out[-1]
            if begin is not None and begin + known == offset:
                self.left_out[-1] = (begin, known + size, why)
                return
        if size:
            self.left_out.append((offset, size, why))

    def read_block_header(self, at):
        """(kind, size, capture, sequence, crc), or None if none is here."""
        data = self.read(at, 64)
        magic, kind, size, number, sequence, payload_crc, crc = BLOCK_HEADER.unpack(data)
        if magic != BLOCK_MAGIC or size > self.size - at - 64 or crc != crc32c(data[:60]):
            return None
        return kind, size, number, sequence, payload_crc

    def walk(self, at, captures):
        while self.size - at >= 64:
            block = self.read_block_header(at)
            if block is None:
                self.leave_out(at, 64, "no block")
                at += 64
                continue
            kind, size, number, sequence, crc = block
            payload = self.read(at + 64, size)
            begin, at = at, min(self.size, at + 64 + (size + 63 & ~63))
            if crc32c(payload) != crc:
                wrong = "wrong checksum"
            elif kind == SESSION:
                wrong = self.take_session(payload)
            elif CAPTURE <= kind <= SOURCES:
                wrong = captures.setdefault(number, Capture()).take(kind, sequence, begin + 64,
                                                                    payload)
            else:
                wrong = None
            if wrong:
                self.leave_out(begin, at - begin, wrong)
        self.leave_out(at, self.size - at, "no block")

    def take_session(self, payload):
        if len(payload) < SESSION_BLOCK.size:
            return "no session block"
        if self.session is None:
            *numbers, command, sources = SESSION_BLOCK.unpack_from(payload)
            rest = payload[SESSION_BLOCK.size:]
            self.session = (*numbers, rest[:command], rest[command:command + sources])
        return None


# ---- Records ----

class Records:
    """The records of one capture as lines of JSON, and their counts."""

    def __init__(self, dictionary):
        self.dictionary = dictionary
        self.counts = [0] * len(KIND_NAMES)
        self.stray_lines = 0
        self.lease = 0
        self.lease_track = 0
        self.behind = None  # (sequence, line) behind the last part
        self.flags = Cached(lambda flags: f"[{flags}," + json.dumps(
            [name for bit, name in enumerate(FLAG_NAMES) if flags >> bit & 1],
            separators=(",", ":")) + "]")
        self.tracks = Cached(self.describe_track)

    def describe_track(self, pair):
        track, meant = pair
        return f"[{track},{meant},{self.dictionary.name(TRACK, meant)}]"

    def beginning(self, kind, at, lines, flags, track, group_track=0):
        meant = track or group_track or self.lease_track
        return (f'{{"line":"{KIND_NAMES[kind]}","at":[{at}],"lease":{self.lease},"lines":{lines},'
                f'"flags":{self.flags[flags]},"track":{self.tracks[track, meant]},')

    def bytes_value(self, data, at, end):
        """Joins the pieces of a value; (key, its bytes, the line behind them)."""
        key, total = struct.unpack_from("<HI", data, 64 * at + 2)
        parts, size, first = [], 0, at
        while at < end:
            kind, used, piece_key, _, piece = BYTES_LINE.unpack_from(data, 64 * at)
            if kind != BYTES or piece_key != key or (at > first and size == total):
                break
            part = piece[:min(used, 56, total - size)]
            parts.append(part)
            size += len(part)
            at += 1
        return key, b"".join(parts), at

    def further(self, data, at, end):
        """Values of MORE and BYTES lines; (list of JSON, JSON of a name or None)."""
        values, name = [], None
        while at < end:
            kind = data[64 * at]
            if kind == BYTES:
                key, joined, at = self.bytes_value(data, at, end)
                if key:
                    values.append(self.dictionary.keyed_bytes(key, joined))
                elif name is None:
                    name = joined
                continue
            if kind == MORE:
                _, used, *both = MORE_LINE.unpack_from(data, 64 * at)
                values += [self.dictionary.keyed(key, bits)
                           for key, bits in zip(both[:min(used, 6)], both[6:]) if key]
            at += 1
        return values, quote(name) if name else None

    def values(self, data, at, lines, keys, bits):
        """JSON of a record's own values, and of a name that came as bytes or None."""
        values = [self.dictionary.keyed(key, value) for key, value in zip(keys, bits) if key]
        name = None
        if lines > 1:
            more, name = self.further(data, at + 1, at + lines)
            values += more
        return "[" + ",".join(values) + "]", name

    def activity(self, line, data, at, place):
        (kind, lines, flags, track, type_, domain, name, begin, end, correlation, attributes,
         key0, key1, value0, value1) = line
        words = self.dictionary
        names = words.names
        values, own_name = "[]", None
        if lines > 1 or key0 or key1:
            values, own_name = self.values(data, at, lines, (key0, key1), (value0, value1))
        if own_name:
            shown = f"[{name},{own_name}]"
        else:
            shown = names[CODE][name] if flags & NAME_CODE else words.strings[name]
        return (f'{self.beginning(kind, place, lines, flags, track)}"type":{names[TYPE][type_]},'
                f'"domain":{names[DOMAIN][domain]},"name":{shown},"begin":{begin},"end":{end},'
                f'"correlation":{correlation},"values":{values},'
                f'"attributes":{words.sets[attributes]}}}\n')

    def counter(self, data, at, place):
        (kind, lines, flags, track, type_, count, group, begin, end,
         *bits) = COUNTER_LINE.unpack_from(data, 64 * at)
        words = self.dictionary
        for i in range(at + 1, at + lines):
            if data[64 * i] == VALUES:
                _, used, *more = VALUES_LINE.unpack_from(data, 64 * i)
                bits += more[:min(used, 7)]
        known = words.counters[group]
        counters = []
        for i, value in enumerate(bits[:count]):
            head, value_type = known[i] if i < len(known) else (f"[{i},null,{UINT64},", UINT64)
            counters.append(head + words.scalar(value_type, value) + "]")
        values, name = self.values(data, at, lines, (), ())
        return (f'{self.beginning(kind, place, lines, flags, track, words.group_tracks[group])}'
                f'"type":{words.names[TYPE][type_]},"group":{words.names[GROUP][group]},'
                f'"name":{name or "null"},"begin":{begin},"end":{end},"count":{count},'
                f'"counters":[{",".join(counters)}],"values":{values}}}\n')

    def link(self, data, at, place):
        (kind, lines, flags, track, link_kind, from_domain, to_domain, source, time, from_, to,
         attributes, key0, key1, value0, value1) = LINK_LINE.unpack_from(data, 64 * at)
        words = self.dictionary
        domains = words.names[DOMAIN]
        values, name = self.values(data, at, lines, (key0, key1), (value0, value1))
        return (f'{self.beginning(kind, place, lines, flags, track)}'
                f'"source":{words.names[SOURCE][source]},'
                f'"link_kind":{words.names[LINK_KIND][link_kind]},"name":{name or "null"},'
                f'"time":{time},"from":[{domains[from_domain]},{from_}],'
                f'"to":[{domains[to_domain]},{to}],"values":{values},'
                f'"attributes":{words.sets[attributes]}}}\n')

    def take_lease(self, data, at, place):
        (_, lines, flags, track, writer, tid, begin,
         sequence) = LEASE_LINE.unpack_from(data, 64 * at)
        self.lease, self.lease_track = sequence, track
        return (f'{{"line":"lease","at":[{place}],"lines":{lines},"flags":{flags},'
                f'"track":{self.dictionary.names[TRACK][track]},"writer":{writer},"tid":{tid},'
                f'"begin":{begin},"sequence":{sequence}}}\n')

    def part(self, sequence, first, data):
        """The lines of one part of a chunk; yields JSON."""
        lines = list(RECORD.iter_unpack(data))
        at = 0
        if self.behind != (sequence, first):
            self.lease = self.lease_track = 0
        self.behind = sequence, first + len(lines)
        while at < len(lines):
            kind, count = lines[at][:2]
            if kind == 0 or kind >= MORE or count == 0 or at + count > len(lines):
                self.stray_lines += kind != PAD
                at += 1
                continue
            place = f"{sequence},{first + at}"
            self.counts[min(kind, 8)] += 1
            if kind == COUNTER:
                yield self.counter(data, at, place)
            elif kind == LINK:
                yield self.link(data, at, place)
            elif kind == LEASE:
                yield self.take_lease(data, at, place)
            elif kind <= OPEN:
                yield self.activity(lines[at], data, at, place)
            else:
                yield (f'{{"line":"other","at":[{place}],"lease":{self.lease},"lines":{count},'
                       f'"kind":{kind}}}\n')
            at += count


# ---- Lines ----

def session_line(reader):
    text = (f'{{"line":"session","format":[{reader.format[0]},{reader.format[1]}],'
            f'"session":{reader.number}')
    if reader.session:
        monotonic, realtime, pid, overflow, command, sources = reader.session
        text += (f',"start_monotonic_ns":{monotonic},"start_realtime_ns":{realtime},'
                 f'"recorder_pid":{pid},"overflow":{overflow},'
                 f'"command_line":{quote_all(arguments(command))},'
                 f'"sources":{quote_all(sources.split(b",") if sources else [])}')
    return text + "}\n"


def capture_line(capture):
    text = '{"line":"capture"'
    for name in HEADER_NAMES[1:]:
        value = capture.header[name]
        if name == "command_line":
            value = quote_all(arguments(value))
        elif isinstance(value, bytes):
            value = quote(value)
        text += f',"{name}":{value}'
    lines = sum(head - first for _, first, head, _ in capture.parts)
    return f'{text},"lines":{lines}}}\n'


def anchor_lines(capture, words):
    for clock, flags, device, lo, hi, realtime, sequence in capture.anchors:
        yield (f'{{"line":"anchor","sequence":{sequence},"clock":{words.names[CLOCK][clock]},'
               f'"flags":{flags},"device":{device},"host_lo":{lo},"host_hi":{hi},'
               f'"realtime":{realtime}}}\n')


def writer_lines(capture, words):
    for slot, (accepted, written, full, too_big, nested, filtered, tid, track, chunk,
               state) in enumerate(capture.writers):
        yield (f'{{"line":"writer","slot":{slot},"accepted":{accepted},"written":{written},'
               f'"lost_full":{full},"lost_too_big":{too_big},"lost_nested":{nested},'
               f'"filtered":{filtered},"tid":{tid},"track":{words.names[TRACK][track]},'
               f'"chunk":{chunk},"state":{state}}}\n')


def source_lines(capture, words):
    for number, (overwritten, invalid, filtered, *lost) in enumerate(capture.sources):
        yield (f'{{"line":"source","source":{words.names[SOURCE][number]},'
               f'"overwritten":{overwritten},"invalid":{invalid},"filtered":{filtered},'
               f'"lost":[{",".join(map(str, lost))}]}}\n')


def ledger(capture, found):
    """The sums of the format's chapter 5."""
    accepted, written, full, too_big, nested, filtered = (
        sum(slot[i] for slot in capture.writers) for i in range(6))
    header = capture.header
    full += header["lost_full_unowned"]
    nested += header["lost_nested_unowned"]
    filtered += header["filtered_unowned"]
    handed_in = accepted + nested + header["lost_full_unowned"]
    sums = {"offered": handed_in + filtered, "handed_in": handed_in, "written": written,
            "found": found, "full": full, "too_big": too_big, "nested": nested,
            "filtered": filtered}
    return ",".join(f'"{name}":{value & U64}' for name, value in sums.items())


def end_line(capture, words, records):
    reason, monotonic, realtime = capture.end
    counts = ",".join(f'"{name}":{count}'
                      for name, count in zip(KIND_NAMES[1:], records.counts[1:]))
    found = sum(records.counts) - records.counts[LEASE]
    return (f'{{"line":"end","capture":{capture.header["capture"]},"reason":{reason},'
            f'"end_monotonic_ns":{monotonic},"end_realtime_ns":{realtime},'
            f'"records":{{{counts}}},"ledger":{{{ledger(capture, found)}}},'
            f'"left_out":{{"dictionary_bytes":{words.left_out},'
            f'"lines":{records.stray_lines}}}}}\n')


def print_capture(reader, capture, what, write):
    words = Dictionary(bytes(capture.dictionary))
    records = Records(words)
    if what != "records":
        write(capture_line(capture))
    if what == "all":
        for line in words.lines():
            write(line)
        write("".join(anchor_lines(capture, words)))
        write("".join(writer_lines(capture, words)))
        write("".join(source_lines(capture, words)))
    for sequence, first, head, offset in capture.parts:
        data = reader.read(offset, 64 * (head - first))
        if len(data) < 64 * (head - first):
            raise Refused("the capture shrank while it was read")
        text = "".join(records.part(sequence, first, data))
        if what != "summary":
            write(text)
    if what != "records":
        write(end_line(capture, words, records))


def print_file(file, what, write):
    """what: all, summary or records. Returns what was left out: (offset, size, why)."""
    reader = Reader(file)
    if what != "records":
        write(session_line(reader))
    for capture in reader.captures:
        print_capture(reader, capture, what, write)
    if what != "records":
        write(f'{{"line":"file","size":{reader.size},"captures":{len(reader.captures)},'
              f'"left_out_bytes":{sum(size for _, size, _ in reader.left_out)}}}\n')
    return reader.left_out


def main():
    parser = argparse.ArgumentParser(description="Prints a .kymo file as JSON, one object a line.")
    parser.add_argument("file")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--summary", dest="what", action="store_const", const="summary",
                      help="session, captures and ends with their counts only")
    only.add_argument("--records", dest="what", action="store_const", const="records",
                      help="records only")
    arguments_ = parser.parse_args()
    try:
        with open(arguments_.file, "rb") as file:
            left_out = print_file(file, arguments_.what or "all", sys.stdout.write)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 1
    except (Refused, OSError) as error:
        print(f"read_capture.py: {arguments_.file}: {error}", file=sys.stderr)
        return 1
    for offset, size, why in left_out:
        where = "" if offset is None else f" at {offset}"
        print(f"read_capture.py: {arguments_.file}: left out {size} bytes{where}: {why}",
              file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
