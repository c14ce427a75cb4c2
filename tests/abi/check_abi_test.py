#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/check-abi lets the ABI grow and nothing else: small objects are built with changed headers."""
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.environ["KYMO_SOURCE"]
CHECK = os.path.join(SOURCE, "tools", "check-abi")
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import tap  # noqa: E402

SURFACE = """
#include <kymo/kymo.h>
#include <kymo/plugin.h>
#include <kymo/sink.h>

KYMO_API int32_t kymo_one(const struct kymo_session_options *options, uint64_t count);
KYMO_API void kymo_two(struct kymo_session *session);
int32_t kymo_one(const struct kymo_session_options *options, uint64_t count)
{
	return !options && !count;
}
void kymo_two(struct kymo_session *session)
{
	(void)session;
}
const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return NULL;
}
"""
INTERNAL = "struct kymo_session { int inside; };\n"


MAP = "%s { global: *; };"


def compile_with(edits=(), surface=SURFACE, node="NODE_1"):
    """object.so, of headers in which each (header, old, new) of `edits` was replaced once."""
    shutil.rmtree("include", ignore_errors=True)
    shutil.copytree(os.path.join(SOURCE, "include"), "include")
    for header, old, new in edits:
        path = os.path.join("include", "kymo", header)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        changed = re.sub(old, new, text, count=1, flags=re.S)
        assert changed != text, f"{header} has no {old}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(changed)
    with open("surface.c", "w", encoding="utf-8") as f:
        f.write(surface)
    with open("surface.map", "w", encoding="utf-8") as f:
        f.write(MAP % node)
    done = subprocess.run(["cc", "-std=c11", "-g", "-shared", "-fPIC", "-Iinclude", "surface.c",
                           "-Wl,--version-script=surface.map", "-o", "object.so"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check(*words):
    return subprocess.run([CHECK, *words], capture_output=True, text=True, check=False)


def is_kept(edits=(), surface=SURFACE, node="NODE_1"):
    """Whether the object of these is held to keep what one of today's headers promises."""
    if not os.path.exists("promised.abi"):
        compile_with()
        done = check("--record", "object.so", "promised.abi")
        assert done.returncode == 0, done.stdout + done.stderr
    compile_with(edits, surface, node)
    done = check("--hold", "object.so", "promised.abi")
    assert done.returncode in (0, 1) and (done.returncode == 0) == (done.stdout == ""), done
    return done.returncode == 0


def at_end_of(struct, line):
    """Appends a member to the struct."""
    return rf"(\nstruct {struct} \{{.*?)\n\}};", rf"\1\n\t{line}\n}};"


def test_nothing_changed():
    assert is_kept()


def test_what_is_not_public_may_change():
    assert is_kept(surface=INTERNAL + SURFACE)
    assert is_kept(surface=INTERNAL.replace("int", "long") + SURFACE)


def test_a_member_may_be_appended_to_what_says_its_size():
    assert is_kept([("plugin.h", *at_end_of("kymo_source_ops", "void (*fresh)(void *source);"))])
    assert is_kept([("host.h", *at_end_of("kymo_host", "uint64_t (*fresh)(void);"))])
    assert is_kept([("sink.h", *at_end_of("kymo_trace_ledger", "uint64_t fresh;"))])
    assert is_kept([("session.h", *at_end_of("kymo_session_options", "uint64_t fresh, more;"))])


def test_a_function_may_be_added():
    assert is_kept(surface=SURFACE + "KYMO_API int kymo_new(void); int kymo_new(void) { return 0; }")


def test_a_member_may_not_be_inserted():
    assert not is_kept([("plugin.h", r"\n\t(void \(\*set_paused\))", r"\n\tvoid (*fresh)(void);\n\t\1")])
    assert not is_kept([("host.h", r"\n\t(uint64_t native;)", r"\n\tuint64_t fresh;\n\t\1")])
    assert not is_kept([("sink.h", r"\n\t(uint64_t untimed,)", r"\n\tuint64_t fresh;\n\t\1")])


def test_a_member_may_not_be_removed():
    assert not is_kept([("host.h", r"\tvoid \(\*pop_correlation\)[^;]*;", "")])
    assert not is_kept([("host.h", r"\tuint64_t \(\*now\)\(void\);", "")])


def test_members_may_not_change_places():
    assert not is_kept([("host.h", r"struct kymo_str name, kind, uuid", r"struct kymo_str kind, name, uuid")])
    assert not is_kept([("sink.h", r"uint64_t offered, filtered", r"uint64_t filtered, offered")])


def test_a_member_may_not_change_its_type():
    assert not is_kept([("host.h", r"uint64_t native", r"int64_t native")])
    assert not is_kept([("host.h", r"void \(\*stopped\)\(struct kymo_source_host \*self, uint32_t",
                         r"void (*stopped)(struct kymo_source_host *self, uint64_t")])
    assert not is_kept([("host.h", r"int32_t \(\*emit\)", r"int64_t (*emit)")])


def test_one_that_is_appended_hides_no_other_change():
    appended = ("host.h", *at_end_of("kymo_device_desc", "uint64_t fresh;"))
    assert is_kept([appended])
    assert not is_kept([appended, ("host.h", r"uint64_t native", r"int64_t native")])
    assert not is_kept([appended, ("host.h", r"uint32_t order;  /\* among", r"uint32_t rank;  /* among"),
                        ("host.h", r"uint64_t native", r"double native")])
    assert not is_kept([("host.h", *at_end_of("kymo_host", "uint64_t (*fresh)(void);")),
                        ("host.h", r"int32_t \(\*emit\)", r"int64_t (*emit)")])
    assert not is_kept([("host.h", *at_end_of("kymo_host", "uint64_t (*fresh)(void);")),
                        ("host.h", r"\tuint64_t \(\*now\)\(void\);", "")])


def test_what_is_frozen_may_not_grow():
    assert not is_kept([("sink.h", *at_end_of("kymo_trace_value", "uint64_t fresh;"))])
    assert not is_kept([("base.h", *at_end_of("kymo_str", "size_t fresh;"))])


def test_a_function_may_not_be_removed_or_changed():
    assert not is_kept(surface=re.sub(r"\nvoid kymo_two.*?\n}", "", SURFACE, flags=re.S))
    assert not is_kept(surface=SURFACE.replace("uint64_t count", "int64_t count"))
    assert not is_kept(surface=SURFACE.replace("void kymo_two(struct kymo_session *", "void kymo_two(struct kymo_config *"))


def test_what_programs_have_linked_stays_what_it_is_called():
    assert not is_kept(node="NODE_2")
    table = "KYMO_API extern int kymo_table[%d]; int kymo_table[%d];"
    compile_with(surface=SURFACE + table % (4, 4))
    assert check("--record", "object.so", "promised.abi").returncode == 0
    assert is_kept(surface=SURFACE + table % (4, 4))
    assert not is_kept(surface=SURFACE + table % (8, 8))


if __name__ == "__main__":
    probe = check("--hold", "/nowhere", "/nowhere")
    if probe.returncode == 77:
        print(probe.stdout, end="")
        sys.exit(77)
    tap.main(globals())
