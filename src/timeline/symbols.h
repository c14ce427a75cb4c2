/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions and lines of one ELF file, by its symbols and by its debug information or
 * that of a separate file. The border to elfutils' libdw, which is loaded when it is
 * needed: so this library links libc alone, and where libdw is missing nothing is found.
 *
 * Files are read, never mapped: somebody may write over them, and a mapping would kill
 * who looks at it then. Nothing in them is trusted.
 */
#ifndef KYMO_TIMELINE_SYMBOLS_H
#define KYMO_TIMELINE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct ky_symbols; /* opaque: one file */

/* Which file is meant. */
struct ky_symbols_file {
	const char *path;
	const char *build_id; /* in hexadecimal digits; "": it has none */
	int64_t seen_ns;      /* CLOCK_REALTIME; one without build id may not be newer */
};

/* Borrowed until the file is closed. */
struct ky_symbols_place {
	const char *function; /* as in the file: mangled; NULL: not known */
	uint64_t into;        /* bytes from its beginning */
	const char *source;   /* without its folders; NULL: not known */
	int line;
};

/* Why nothing can be found in any file, and what to do; NULL: it can. Texts that stay. */
const char *ky_symbols_missing(const char **remedy);

void ky_symbols_close(struct ky_symbols *symbols);

/* NULL, or why nothing can be found in this file. The text stays. */
const char *ky_symbols_open(struct ky_symbols **out, const struct ky_symbols_file *file);

/* `address` as the file numbers it. */
void ky_symbols_find(struct ky_symbols *symbols, uint64_t address,
		     struct ky_symbols_place *out);

/*
 * The name as it was written, if it is one of C++ and the library that knows how is
 * there; else NULL. To be freed.
 */
char *ky_symbols_demangle(const char *name);

#endif
