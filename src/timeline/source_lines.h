/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of source by address, of the debug information in one ELF file. */
#ifndef KYMO_TIMELINE_SOURCE_LINES_H
#define KYMO_TIMELINE_SOURCE_LINES_H

#include <stdint.h>

#include "timeline/libdw.h"

struct ky_source_lines; /* opaque */

void ky_source_lines_destroy(struct ky_source_lines *lines);

/* Borrows both. NULL: there is none that could be read. */
struct ky_source_lines *ky_source_lines_create(const struct ky_libdw *dw, Elf *elf);

/* The file, as the compiler was told, borrowed, and the line; NULL: not known. */
const char *ky_source_lines_find(struct ky_source_lines *lines, uint64_t address,
				 int *line);

#endif
