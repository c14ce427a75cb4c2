/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/libdw.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libdw.so.1" /* of all versions since 2005; its symbols have versions */

/* No cast: an object's address is no function's in C. */
#define LOAD(name)                                   \
	symbol = dlsym(library, #name);              \
	memcpy(&out->name, &symbol, sizeof(symbol)); \
	if (!symbol)                                 \
		return 0;

int ky_libdw_load(struct ky_libdw *out)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *symbol;

	if (!library)
		return 0;
	KY_LIBDW_FUNCTIONS(LOAD)
	/* Before any other call; fails if it is older than the format. */
	return out->elf_version(EV_CURRENT) != EV_NONE;
}
