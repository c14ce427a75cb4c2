/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI as numbers, written down apart from the headers, for x86-64 and aarch64 (LP64,
 * little endian). A row never changes and never goes: a frozen struct stays as it is, a
 * growing one only gets longer, and gets rows for its new members.
 */
#ifndef KYMO_TESTS_ABI_MIRROR_H
#define KYMO_TESTS_ABI_MIRROR_H

#include <stddef.h>

struct mirror_member {
	const char *type, *name;
	size_t offset, recorded_offset, size, recorded_size;
};

#define MEMBER(type, member, offset, size)                      \
	{                                                       \
#type, #member, offsetof(type, member), offset, \
			sizeof(((type *)0)->member), size       \
	}

/* Those of one half of the headers; the last one has no type. */
extern const struct mirror_member mirror_plugin[]; /* base, error, record, plugin */
extern const struct mirror_member mirror_trace[];  /* sink, session, control */

#endif
