/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of elfutils that are used, loaded; the types are of its headers. */
#ifndef KYMO_TIMELINE_LIBDW_H
#define KYMO_TIMELINE_LIBDW_H

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#define KY_LIBDW_FUNCTIONS(X)      \
	X(dwarf_begin_elf)         \
	X(dwarf_end)               \
	X(dwarf_getsrc_die)        \
	X(dwarf_lineno)            \
	X(dwarf_linesrc)           \
	X(dwarf_nextcu)            \
	X(dwarf_offdie)            \
	X(dwarf_ranges)            \
	X(dwelf_elf_gnu_build_id)  \
	X(dwelf_elf_gnu_debuglink) \
	X(elf_begin)               \
	X(elf_end)                 \
	X(elf_getdata)             \
	X(elf_getshdrstrndx)       \
	X(elf_kind)                \
	X(elf_memory)              \
	X(elf_nextscn)             \
	X(elf_rawdata)             \
	X(elf_strptr)              \
	X(elf_version)             \
	X(gelf_getshdr)            \
	X(gelf_getsym)

struct ky_libdw {
#define MEMBER(name) __typeof__(&(name)) name;
	KY_LIBDW_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* False where it is missing. */
int ky_libdw_load(struct ky_libdw *out);

#endif
