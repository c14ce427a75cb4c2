#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is public is recorded in mirror_*.c to the last member and constant, and keeps the rules for
structs that can be read from their text."""
import glob
import os
import re
import sys

SOURCE = os.environ["KYMO_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import tap  # noqa: E402

COMMENT = re.compile(r"/\*.*?\*/", re.S)
END_OF_1_0 = "/* End of ABI 1.0 */"
# Counts and sizes that a compiler or a human checks elsewhere: versions (meson.build), and names.
NO_NUMBER = re.compile(r"KYMO_VERSION_\w+|KYMO_(PLUGIN_ABI|CAPTURE_FORMAT)_\w+|KYMO_GATE_SIZE")


def read(*parts):
    with open(os.path.join(SOURCE, *parts), encoding="utf-8") as f:
        return f.read()


def headers():
    for path in sorted(glob.glob(os.path.join(SOURCE, "include", "kymo", "*.h"))):
        yield os.path.basename(path), read("include", "kymo", path)


def structs():
    """(header, name, text between the braces) of every public struct and union."""
    for header, text in headers():
        for match in re.finditer(r"^(?:struct|union) (\w+) \{\n(.*?)^\};", text, re.S | re.M):
            yield header, match[1], match[2]


def members(body):
    """Names, also those of unions without one."""
    text = re.sub(r"union \{|\};|\}", "", COMMENT.sub("", body))
    for declaration in text.split(";"):
        pointer = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        if pointer:
            yield pointer[1]
            continue
        for part in declaration.split(","):
            name = re.search(r"(\w+)\s*(\[[^]]*\])?\s*$", part)
            if name:
                yield name[1]


def is_growing(body):
    return re.match(r"\s*uint32_t struct_size;", COMMENT.sub("", body)) is not None


def mirrors():
    return "".join(read("tests", "abi", f"mirror_{name}.c") for name in ("plugin", "trace", "test"))


def test_every_member_is_recorded():
    recorded = set(re.findall(r"MEMBER\((?:struct|union) (\w+),\s*(\w+)", mirrors()))
    missing = [f"{name}.{member}" for _, name, body in structs() for member in members(body)
               if (name, member) not in recorded and not name == "kymo_line"]
    assert len(recorded) > 400 and not missing, missing


def test_every_constant_is_recorded():
    recorded = set(re.findall(r"\bKYMO_\w+", mirrors()))
    missing = [f"{header}: {name}" for header, text in headers()
               for name in re.findall(r"^#define (KYMO_\w+)[ \t]+[(\d]", text, re.M)
               if name not in recorded and not NO_NUMBER.fullmatch(name)]
    assert len(recorded) > 100 and not missing, missing


def test_what_grows_says_where_1_0_ends():
    wrong = [name for _, name, body in structs() if body.count(END_OF_1_0) != is_growing(body)]
    assert not wrong, wrong


def test_no_struct_has_a_type_whose_size_or_meaning_depends():
    wrong = [(name, match[0].strip()) for _, name, body in structs()
             for match in re.finditer(r"\b(bool|_Bool|long|short|unsigned|enum|int|float|va_list|FILE)\b[^;]*;|\w+ : \d+;",
                                      COMMENT.sub("", body))]
    assert not wrong, wrong


def test_no_function_hides_a_struct():
    """In C++ a struct is called by its name alone, unless a function has that name."""
    names = {name for _, name, _ in structs()}
    hiding = [(header, name) for header, text in headers()
              for name in re.findall(r"\b(kymo_\w+)\(", COMMENT.sub("", text)) if name in names]
    assert not hiding, hiding


def test_what_does_not_grow_says_that_it_is_frozen():
    wrong = []
    for header, text in headers():
        if header == "record.h":  # all of it, as it says at its top
            assert "FROZEN" in text
            continue
        for match in re.finditer(r"(/\*(?:(?!\*/).)*\*/)?\n(?:struct|union) (\w+) \{\n(.*?)^\};", text, re.S | re.M):
            if not is_growing(match[3]) and "Frozen" not in (match[1] or "") and match[2] != "kymo_str":
                wrong.append(match[2])
    assert not wrong, wrong


if __name__ == "__main__":
    tap.main(globals())
