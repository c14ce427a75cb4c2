#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions and lines of code addresses: found after the run, in the files that ran, or not at all."""
import json
import os
import re
import shutil
import subprocess
import sys

BUILD, SOURCE = os.environ["KYMO_BUILD"], os.environ["KYMO_SOURCE"]
HERE = os.path.join(SOURCE, "tests", "symbols")
KYMO = os.path.join(BUILD, "kymo")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import tap  # noqa: E402

COMPILER = os.environ.get("KYMO_CC", "cc")


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build(*options, only_program=()):
    """The program and its library, in this folder."""
    options = "-Wl,--build-id=sha1", *options
    run(COMPILER, "-shared", "-fPIC", *options, f"{HERE}/library.c", "-o", "libcoded.so")
    run(COMPILER, f"-I{SOURCE}/include", *options, *only_program, f"{HERE}/coder.c", "-o", "coder",
        "-L.", "-lcoded", "-ldl", "-pthread", "-rdynamic", f"-Wl,-rpath,{os.getcwd()}")


def record(output="run.kymo"):
    run(KYMO, "record", "-f", "-o", output, "--", "./coder",
        env={**os.environ, "LD_PRELOAD": f"{BUILD}/libkymo.so.0"})


def read_trace(path="trace.json"):
    """Names by order, the stack, and what the trace says was not found."""
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    calls = [event for event in trace["traceEvents"] if event.get("cat") == "coder.call"]
    names = [event["name"] for event in calls if event["name"] != "sample"]
    stack = next(event["args"]["stack"] for event in calls if event["name"] == "sample")
    assert stack == names, (stack, names)
    return names, trace.get("symbols missing", [])


def export(capture="run.kymo"):
    run(KYMO, "export", "-f", capture, "-o", "trace.json")
    return read_trace()


def line_of(file, mark):
    with open(os.path.join(HERE, file), encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if f"LINE {mark}" in line)


def near(name, pattern, file, line):
    """Whether it is that function, at that line or the one of its brace above."""
    match = re.fullmatch(pattern + rf" \({file}:(\d+)\)", name)
    return match and line - 2 <= int(match[1]) <= line


def check_all(names):
    local, mangled, library, libc, nowhere = names[:5]
    assert near(local, r"local_function\+0x1", "coder.c", line_of("coder.c", "local")), local
    assert re.fullmatch(r"npu::step\(int\)\+0x0 \(coder\.c:\d+\)", mangled), mangled
    assert near(library, r"hidden_function\+0x0", "library.c", line_of("library.c", "library")), library
    assert re.match(r"qsort\w*\+0x0 \(", libc), libc
    assert nowhere == "0x10", nowhere
    for vdso in names[5:]:
        assert re.match(r"\w*clock_gettime\+0x0 \(linux-vdso\.so\.1\)$", vdso), vdso


def test_functions_and_lines_are_found():
    build("-g")
    record("trace.json")
    names, missing = read_trace()
    check_all(names)
    assert missing == [], missing
    record()
    assert export() == (names, [])


def test_a_program_of_fixed_addresses_is_as_good():
    build("-g", only_program=("-fno-pie", "-no-pie"))
    record("trace.json")
    check_all(read_trace()[0])


def test_without_debug_information_there_are_functions():
    build()
    record("trace.json")
    names, _ = read_trace()
    assert names[0] == "local_function+0x1 (coder)", names
    assert names[2] == "hidden_function+0x0 (libcoded.so)", names


def test_a_stripped_file_has_its_object_and_offset():
    build("-g")
    run("strip", "--strip-all", "coder", "libcoded.so")
    record("trace.json")
    names, _ = read_trace()
    assert re.fullmatch(r"coder\+0x[0-9a-f]+", names[0]), names
    assert re.fullmatch(r"libcoded\.so\+0x[0-9a-f]+", names[2]), names


def test_a_separate_debug_file_is_found():
    build("-g")
    for name in "coder", "libcoded.so":
        run("objcopy", "--only-keep-debug", name, name + ".debug")
        run("strip", "--strip-all", name)
        run("objcopy", f"--add-gnu-debuglink={name}.debug", name)
    os.mkdir(".debug")
    shutil.move("libcoded.so.debug", ".debug")
    record()
    check_all(export()[0])
    # One that belongs to another build is not taken.
    run(COMPILER, "-shared", "-fPIC", "-g", "-DOTHER", "-O2", f"{HERE}/library.c", "-o", "other.so")
    run("objcopy", "--only-keep-debug", "other.so", ".debug/libcoded.so.debug")
    names, _ = export()
    assert re.fullmatch(r"libcoded\.so\+0x[0-9a-f]+", names[2]), names


def test_a_file_that_was_replaced_is_not_taken():
    build("-g")
    record()
    build("-g", "-O2")
    names, missing = export()
    assert re.fullmatch(r"coder\+0x[0-9a-f]+", names[0]), names
    assert re.fullmatch(r"libcoded\.so\+0x[0-9a-f]+", names[2]), names
    assert names[3].startswith("qsort"), names
    assert missing == [f"{os.getcwd()}/{name} is not the file that ran: its build id differs"
                       for name in ("coder", "libcoded.so")], missing


def test_without_a_build_id_the_file_may_not_have_changed():
    build("-g", "-Wl,--build-id=none")
    record()
    check_all(export()[0])
    shutil.copy("coder", "other")
    os.replace("other", "coder")
    names, missing = export()
    assert re.fullmatch(r"coder\+0x[0-9a-f]+", names[0]), names
    assert missing and "no build id, and was changed since" in missing[0], missing


def test_without_a_build_id_it_may_not_have_changed_since_the_first_of_several_runs():
    build("-g", "-Wl,--build-id=none")
    record("first.kymo")
    shutil.copy("coder", "other")
    os.replace("other", "coder")
    record("second.kymo")
    run(KYMO, "export", "-f", "second.kymo", "first.kymo", "-o", "trace.json")
    with open("trace.json", encoding="utf-8") as f:
        missing = json.load(f).get("symbols missing", [])
    assert missing and "coder may not be the file that ran" in missing[0], missing


def test_debug_information_that_is_numbers_need_not_end_like_texts():
    build("-g")
    record()
    with open("offsets", "wb") as f:
        f.write(b"\x0c\0\0\0\5\0\0\0" + b"\1\2\3\4" * 2)
    run("objcopy", "--add-section", ".debug_str_offsets=offsets", "coder")
    check_all(export()[0])


def test_a_file_that_is_gone_or_no_file_any_more_is_told():
    build("-g")
    record()
    os.remove("coder")
    os.remove("libcoded.so")
    os.mkfifo("libcoded.so")
    names, missing = export()
    assert re.fullmatch(r"coder\+0x[0-9a-f]+", names[0]), names
    assert missing == [f"{os.getcwd()}/coder is not here",
                       f"{os.getcwd()}/libcoded.so is no ELF file that can be read"], missing


def test_a_file_that_ends_early_does_no_harm():
    build("-g")
    whole = {name: open(name, "rb").read() for name in ("coder", "libcoded.so")}
    record()
    for part in range(1, 40):
        for name, data in whole.items():
            with open(name, "wb") as f:
                f.write(data[:len(data) * part // 40])
        export()


def test_without_libdw_there_are_objects_and_offsets():
    build("-g")
    record()
    with open("libdw.so.1", "w", encoding="ascii") as f:
        f.write("no library")
    run(KYMO, "export", "-f", "run.kymo", "-o", "trace.json",
        env={**os.environ, "LD_LIBRARY_PATH": os.getcwd()})
    names, missing = read_trace()
    assert re.fullmatch(r"coder\+0x[0-9a-f]+", names[0]), names
    assert missing == ["libdw.so.1 cannot be loaded: install elfutils' libdw (libdw1)"], missing


def test_a_code_address_does_not_wait_for_the_loader():
    build("-g")
    run(COMPILER, "-shared", "-fPIC", f"{HERE}/late.c", "-o", "late.so")
    record("trace.json")
    check_all(read_trace()[0])


if __name__ == "__main__":
    tap.main(globals())
