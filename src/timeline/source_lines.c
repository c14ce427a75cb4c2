/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdw finds the unit of an address by .debug_aranges, which not all compilers write; so
 * a table of all units' ranges is made here, once.
 */
#include "timeline/source_lines.h"

#include <stdlib.h>
#include <string.h>

#define RANGES_MAX (4u << 20) /* no program comes near it */

struct range {
	uint64_t begin, end;
	Dwarf_Off unit; /* where its first entry is */
};

struct ky_source_lines {
	const struct ky_libdw *dw;
	Dwarf *dwarf;
	struct range *ranges;
	size_t count, capacity;
};

static int add_range(struct ky_source_lines *lines, struct range range)
{
	if (range.begin >= range.end)
		return 1;
	if (lines->count == lines->capacity) {
		size_t capacity = lines->capacity * 2 + 64;
		struct range *ranges;

		if (capacity > RANGES_MAX)
			return 0;
		ranges = realloc(lines->ranges, capacity * sizeof(*ranges));
		if (!ranges)
			return 0;
		lines->ranges = ranges;
		lines->capacity = capacity;
	}
	lines->ranges[lines->count++] = range;
	return 1;
}

static int add_unit(struct ky_source_lines *lines, Dwarf_Off unit)
{
	Dwarf_Addr base = 0, begin, end;
	ptrdiff_t at = 0;
	Dwarf_Die die;

	if (!lines->dw->dwarf_offdie(lines->dwarf, unit, &die))
		return 1;
	while ((at = lines->dw->dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
		if (!add_range(lines, (struct range){begin, end, unit}))
			return 0;
	return 1;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* What comes behind a unit that makes no sense is not looked for. */
static void add_units(struct ky_source_lines *lines)
{
	Dwarf_Off at = 0, next;
	size_t header;

	while (lines->dw->dwarf_nextcu(lines->dwarf, at, &next, &header, NULL, NULL,
				       NULL) == 0) {
		if (!add_unit(lines, at + header) || next <= at)
			break;
		at = next;
	}
	if (lines->count > 0)
		qsort(lines->ranges, lines->count, sizeof(*lines->ranges),
		      compare_ranges);
}

/* .debug_str, .debug_line_str and the like; not .debug_str_offsets, which are numbers. */
static int has_texts(const char *name)
{
	return strstr(name, "debug_") && strstr(name, "str") && !strstr(name, "_offsets");
}

/*
 * libdw takes texts of these sections for terminated, so a section that is cut would have
 * it read on behind its memory. By now they are as it sees them, uncompressed.
 */
static int do_texts_end(const struct ky_libdw *dw, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (dw->elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while ((section = dw->elf_nextscn(elf, section))) {
		const char *name;
		const Elf_Data *data;

		if (!dw->gelf_getshdr(section, &header))
			return 0;
		name = dw->elf_strptr(elf, names, header.sh_name);
		if (!name || !has_texts(name))
			continue;
		data = dw->elf_rawdata(section, NULL);
		if (data && data->d_size > 0 &&
		    ((const char *)data->d_buf)[data->d_size - 1] != '\0')
			return 0;
	}
	return 1;
}

void ky_source_lines_destroy(struct ky_source_lines *lines)
{
	if (!lines)
		return;
	if (lines->dwarf)
		lines->dw->dwarf_end(lines->dwarf);
	free(lines->ranges);
	free(lines);
}

struct ky_source_lines *ky_source_lines_create(const struct ky_libdw *dw, Elf *elf)
{
	struct ky_source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->dw = dw;
	lines->dwarf = dw->dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (lines->dwarf && do_texts_end(dw, elf))
		add_units(lines);
	if (lines->count > 0)
		return lines;
	ky_source_lines_destroy(lines);
	return NULL;
}

/* The last range that begins at the address or before. */
static const struct range *find_range(const struct ky_source_lines *lines,
				      uint64_t address)
{
	size_t from = 0, to = lines->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (lines->ranges[middle].begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from > 0 && address < lines->ranges[from - 1].end
		       ? &lines->ranges[from - 1]
		       : NULL;
}

const char *ky_source_lines_find(struct ky_source_lines *lines, uint64_t address,
				 int *line)
{
	const struct range *range = find_range(lines, address);
	Dwarf_Line *found;
	Dwarf_Die unit;

	if (!range || !lines->dw->dwarf_offdie(lines->dwarf, range->unit, &unit))
		return NULL;
	found = lines->dw->dwarf_getsrc_die(&unit, address);
	if (!found || lines->dw->dwarf_lineno(found, line) != 0 || *line <= 0)
		return NULL;
	return lines->dw->dwarf_linesrc(found, NULL, NULL);
}
