#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/read_capture.py, written from docs/capture-format.md alone, against Kymo's own reader.

    compare_test.py GENERATE DUMP

Both must print the same bytes for any file: whole, cut, damaged, damaged with right checksums, with
blocks doubled, missing and in another order. Prints TAP. KYMO_TEST_QUICK: fewer records and files.
"""
import importlib.util
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import main

GENERATE, DUMP = map(os.path.abspath, (sys.argv.pop(1), sys.argv.pop(1)))
SCRIPT = os.path.join(os.environ["KYMO_SOURCE"], "tools/read_capture.py")
QUICK = bool(os.environ.get("KYMO_TEST_QUICK"))
RECORDS = 50_000 if QUICK else 1_000_000
SMALL_RECORDS = 200
FILES = 30 if QUICK else 200
CUTS = 20

CHUNK, DICTIONARY = 4, 3


def load_script():
    spec = importlib.util.spec_from_file_location("read_capture", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


read_capture = load_script()


def put(name, data):
    with open(name, "wb") as f:
        f.write(data)
    return name


def generate(name, count):
    """Writes a capture file; (captures' records by kind)."""
    if os.path.exists(name):
        os.unlink(name)
    done = subprocess.run([GENERATE, name, str(count)], check=True, stdout=subprocess.PIPE)
    return [json.loads(line)["counts"] for line in done.stdout.splitlines()]


def small_file():
    if not os.path.exists("small.kymo"):
        generate("small.kymo", SMALL_RECORDS)
    with open("small.kymo", "rb") as f:
        return f.read()


# ---- Comparing ----

def first_difference(ours, theirs):
    for number, (one, other) in enumerate(zip(ours.splitlines(), theirs.splitlines())):
        if one != other:
            at = next((i for i, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), 0)
            return f"line {number}: {one[:60]} ... {one[max(0, at - 80):at + 80]!r} is not " \
                   f"{other[max(0, at - 80):at + 80]!r}"
    return f"{len(ours)} bytes are not {len(theirs)}"


def compare(name, what):
    """Compares both dumps of a file; the script runs in this process, which is quick."""
    lines = []
    try:
        with open(name, "rb") as f:
            read_capture.print_file(f, "all", lines.append)
        status = 0
    except read_capture.Refused:
        lines, status = [], 1
    done = subprocess.run([DUMP, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    ours, theirs = "".join(lines).encode(), done.stdout
    assert (done.returncode, theirs) == (status, ours), \
        f"{what}: status {status} and {done.returncode}: {first_difference(ours, theirs)}; " \
        f"{done.stderr.decode()}"
    return ours


def compare_streams(name):
    """The same for a large file: both run as programs, nothing is kept."""
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE)
                for command in ([sys.executable, SCRIPT, name], [DUMP, name])]
    offset = 0
    try:
        while True:
            ours, theirs = (program.stdout.read(1 << 20) for program in programs)
            assert ours == theirs, f"at {offset}: {first_difference(ours, theirs)}"
            if not ours:
                break
            offset += len(ours)
    finally:
        for program in programs:
            program.stdout.close()
    assert [program.wait() for program in programs] == [0, 0]
    return offset


# ---- Changing a file ----

def find_blocks(data):
    """[(offset, kind, payload's size)] of a whole file."""
    blocks, at = [], 64
    while at < len(data):
        _, kind, size, *_ = read_capture.BLOCK_HEADER.unpack_from(data, at)
        blocks.append((at, kind, size))
        at += 64 + (size + 63 & ~63)
    return blocks


def put_crc(data, at, crc):
    data[at:at + 4] = crc.to_bytes(4, "little")


def repair_entries(data, begin, end):
    while begin + 16 <= end:
        size = int.from_bytes(data[begin:begin + 4], "little")
        if size > end - begin - 16:
            return
        entry = bytes(data[begin:begin + 12] + data[begin + 16:begin + 16 + size])
        put_crc(data, begin + 12, read_capture.crc32c(entry))
        begin += 16 + (size + 7 & ~7)


def repair(data, at, kind, size):
    """Makes the checksums of one block right."""
    if kind == DICTIONARY:
        repair_entries(data, at + 64, at + 64 + size)
    put_crc(data, at + 56, read_capture.crc32c(bytes(data[at + 64:at + 64 + size])))
    put_crc(data, at + 60, read_capture.crc32c(bytes(data[at:at + 60])))


def take_apart(data):
    blocks = find_blocks(data)
    return data[:64], [data[at:at + 64 + (size + 63 & ~63)] for at, _, size in blocks]


def chunk_range(block):
    """(first, head) of a CHUNK block."""
    _, _, _, _, first, _, head = read_capture.CHUNK_HEADER.unpack_from(block, 64)
    return first, head


def split_chunk(block, line):
    """Two blocks with the lines of a CHUNK block up to `line` and from it on."""
    begin, end = chunk_range(block)
    parts = []
    for first, head in ((begin, line), (line, end)):
        part = bytearray(block[:128] + block[128 + 64 * (first - begin):128 + 64 * (head - begin)])
        part[8:16] = (64 + 64 * (head - first)).to_bytes(8, "little")
        part[64 + 20:64 + 24] = first.to_bytes(4, "little")
        part[64 + 60:64 + 64] = head.to_bytes(4, "little")
        repair(part, 0, CHUNK, len(part) - 64)
        parts.append(bytes(part))
    return parts


# ---- Tests ----

def test_all_records_of_a_large_capture_are_dumped_alike():
    counts = generate("large.kymo", RECORDS)
    assert sum(map(sum, counts)) == RECORDS
    compare_streams("large.kymo")
    summary = subprocess.run([sys.executable, SCRIPT, "--summary", "large.kymo"], check=True,
                             stdout=subprocess.PIPE).stdout
    ends = [line for line in map(json.loads, summary.splitlines()) if line["line"] == "end"]
    assert len(ends) == len(counts) == 2
    for end, made in zip(ends, counts):
        found, ledger = end["records"], end["ledger"]
        assert found["lease"] > 0
        assert made[1:] == [0 if kind == "lease" else count for kind, count in found.items()]
        assert ledger["found"] == ledger["written"] == sum(made)
        assert ledger["handed_in"] == ledger["written"] + ledger["full"] + ledger["too_big"]
        assert ledger["full"] > 0 or QUICK or end["capture"] == 2
        assert ledger["offered"] == ledger["handed_in"] + ledger["filtered"]
    os.unlink("large.kymo")


def test_every_line_is_json_of_a_known_sort_and_in_order():
    small_file()
    lines = compare("small.kymo", "whole")
    sorts = [json.loads(line)["line"] for line in lines.splitlines()]
    assert all(lines.count(nested) > 10 for nested in (b'{"list":[', b'{"dict":[[')), "no nested"
    assert sorts[0] == "session" and sorts[-1] == "file"
    assert sorts.count("capture") == sorts.count("end") == 2
    for sort in ("entry", "anchor", "writer", "source", "lease", "span", "instant", "counter",
                 "link", "gap", "open", "other"):
        assert sorts.count(sort) > 1, sort


def test_a_file_that_was_cut_anywhere():
    data, chance = small_file(), random.Random(1)
    cuts = [chance.randrange(len(data)) for _ in range(CUTS)]
    for cut in cuts + [0, 63, 64, 65, 127, 128, len(data) - 1, len(data) - 64]:
        compare(put("cut.kymo", data[:cut]), f"cut at {cut}")


def test_a_file_with_flipped_bytes():
    data, chance = small_file(), random.Random(2)
    for number in range(FILES):
        changed = bytearray(data)
        # Some hit the file header, which is the only part without a checksum.
        places = [chance.randrange(64 if number % 10 == 0 else len(data))
                  for _ in range(chance.choice((1, 1, 2, 30)))]
        for place in places:
            changed[place] ^= 1 << chance.randrange(8)
        compare(put("flipped.kymo", changed), f"flipped at {places}")


def change_block(changed, block, chance):
    """Changes a few bytes of a block and makes its checksums right; where it did."""
    at, kind, size = block
    places = []
    for _ in range(chance.choice((1, 2, 5, 20))):
        # As many changes of headers as of what follows: the first bytes of each structure.
        place = chance.choice((chance.randrange(64 + size), 64 + chance.randrange(min(size, 64)),
                               chance.randrange(8, 48), 64 + chance.randrange(size) // 64 * 64,
                               65 + chance.randrange(size) // 64 * 64))
        if place >= 64 + size or place in range(4) or 8 <= place < 16:
            continue  # magic and size: flipped bytes do those
        changed[at + place] = chance.choice((0, 1, 2, 3, 7, 64, 65, 66, 255, chance.randrange(256)))
        places.append(at + place)
    repair(changed, at, kind, size)
    return places


def test_a_file_with_wrong_bytes_and_right_checksums():
    data, chance = small_file(), random.Random(3)
    by_kind = {}
    for block in find_blocks(data):
        if block[2] > 0:
            by_kind.setdefault(block[1], []).append(block)
    for _ in range(FILES):
        changed, places = bytearray(data), []
        for _ in range(chance.choice((1, 1, 4))):
            kind = chance.choice(sorted(by_kind) + [CHUNK] * 4 + [DICTIONARY] * 4)
            places += change_block(changed, chance.choice(by_kind[kind]), chance)
        compare(put("wrong.kymo", changed), f"changed at {places}")


def test_blocks_doubled_missing_in_parts_and_in_another_order():
    data, chance = small_file(), random.Random(4)
    header, blocks = take_apart(data)
    chunks = [block for block in blocks if block[4] == CHUNK]
    for number in range(FILES // 2):
        changed = list(blocks)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(changed))
            if number % 4 == 0:
                changed.insert(place, chance.choice(blocks))
            elif number % 4 == 1:
                del changed[place]
            elif number % 4 == 2:
                chance.shuffle(changed)
            else:
                # Doubled in parts, some of which are missing; not always between records.
                chunk = chance.choice(chunks)
                parts = split_chunk(chunk, chance.randint(*chunk_range(chunk)))
                changed.insert(place, chance.choice(parts))
                if chunk in changed and chance.randrange(2):
                    changed.remove(chunk)
        compare(put("blocks.kymo", header + b"".join(changed)), f"blocks changed, number {number}")


def test_parts_of_chunks_are_one_chunk_again():
    header, blocks = take_apart(small_file())
    whole = compare("small.kymo", "whole").splitlines()
    begins, capture = {}, 0  # (capture, sequence): where the chunk's records begin
    for line in map(json.loads, whole):
        if line["line"] == "capture":
            capture = line["capture"]
        elif "at" in line:
            begins.setdefault((capture, line["at"][0]), []).append(line["at"][1])
    parts = []
    for block in blocks:
        if block[4] != CHUNK:
            parts.append(block)
            continue
        first, head = chunk_range(block)
        lines = [line for line in begins[struct.unpack_from("<QQ", block, 16)]
                 if first <= line < head]
        parts += reversed(split_chunk(block, lines[len(lines) // 2]))
    got = compare(put("parts.kymo", header + b"".join(parts)), "in parts").splitlines()
    assert got[:-1] == whole[:-1]


def test_what_is_no_capture_and_another_major_are_refused():
    data = small_file()
    other = data[:8] + b"\2\0" + data[10:60]
    other += struct.pack("<I", read_capture.crc32c(other)) + data[64:]
    for changed, words in ((b"", "not a capture"), (b"x" * 4096, "not a capture"),
                           (other, "capture format 2.0")):
        compare(put("other.kymo", changed), words)
        done = subprocess.run([sys.executable, SCRIPT, "other.kymo"], capture_output=True)
        assert done.returncode == 1 and done.stdout == b"" and words in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1


def test_what_was_left_out_is_said():
    data = bytearray(small_file())
    at, _, size = next(block for block in find_blocks(data) if block[1] == CHUNK)
    data[at + 100] ^= 1
    done = subprocess.run([sys.executable, SCRIPT, "--records", put("hurt.kymo", data)],
                          capture_output=True, check=True)
    whole = 64 + (size + 63 & ~63)
    assert f"left out {whole} bytes at {at}: wrong checksum" in done.stderr.decode(), done.stderr
    assert all(b'"at":[' in line for line in done.stdout.splitlines())


def test_a_reader_that_goes_away_ends_it_quietly():
    small_file()
    done = subprocess.run(["sh", "-c", '"$0" "$1" "$2" | head -1', sys.executable, SCRIPT,
                           "small.kymo"], capture_output=True, check=True)
    assert done.stdout.startswith(b'{"line":"session"') and done.stderr == b""


if __name__ == "__main__":
    main(globals())
