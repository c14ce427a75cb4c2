/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of symbols.c where libdw's headers were missing. */
#include "timeline/symbols.h"

const char *ky_symbols_missing(const char **remedy)
{
	*remedy = "build it with the headers of elfutils (libdw-dev)";
	return "this build of Kymo reads no symbols";
}

void ky_symbols_close(struct ky_symbols *symbols)
{
	(void)symbols;
}

const char *ky_symbols_open(struct ky_symbols **out, const struct ky_symbols_file *file)
{
	(void)file;
	*out = NULL;
	return "cannot be read";
}

void ky_symbols_find(struct ky_symbols *symbols, uint64_t address,
		     struct ky_symbols_place *out)
{
	(void)symbols, (void)address;
	*out = (struct ky_symbols_place){.function = NULL};
}

char *ky_symbols_demangle(const char *name)
{
	(void)name;
	return NULL;
}
