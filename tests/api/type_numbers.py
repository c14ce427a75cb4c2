#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the numbers of activity types from the rules in docs/activity-types.md alone, and
prints them as the rows of tests/api/type_vectors.inc:

    python3 tests/api/type_numbers.py > tests/api/type_vectors.inc

With --check FILE it compares instead, which is what the test does.
"""
import sys

NAMES = [
    ("npu", "dma"), ("npu", "kernel"), ("npu", "KERNEL"), ("npu", "sync"), ("np", "u-dma"),
    ("a", "b"), ("fake", "note"), ("fake", "load"), ("fake", "poll"), ("My-Plugin_2", "Queue-Wait"),
    ("x" * 64, "y" * 64), ("a" * 40, "z" * 32), ("b" * 40, "z" * 32), ("0", "_"),
]


def fnv1a(data):
    value = 2166136261
    for byte in data:
        value = (value ^ byte) * 16777619 % 2**32
    return value


def id_of(name):
    return 65536 + fnv1a(name) % (2**31 - 65536)


def kineto_id_of(name):
    value = 216512456
    for byte in name:
        value = (value ^ byte) * 1234 % 2**32
    return 50 + value % 205


def rows():
    yield "/* SPDX-License-Identifier: BSD-3-Clause */"
    yield "/* Written by tests/api/type_numbers.py: plug-in, type, number, 8-bit number. */"
    for plugin, name in NAMES:
        full = f"{plugin}.{name}".encode()
        yield f'{{"{plugin}", "{name}", {id_of(full)}u, {kineto_id_of(full)}u}},'


def main():
    text = "\n".join(rows()) + "\n"
    if sys.argv[1:2] != ["--check"]:
        sys.stdout.write(text)
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        if file.read() == text:
            return 0
    print(f"{sys.argv[2]} is not what {sys.argv[0]} computes")
    return 1


if __name__ == "__main__":
    sys.exit(main())
