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

static int load_functions(void *library, struct ky_libdw *out)
{
	void *symbol;

	KY_LIBDW_FUNCTIONS(LOAD)
	return 1;
}

/* It stays: a library that it loads may have begun something. */
int ky_libdw_load(struct ky_libdw *out)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	int is_whole = library && load_functions(library, out);

	if (library)
		dlclose(library);
	/* Before any other call; fails if the library is older than the format. */
	return is_whole && out->elf_version(EV_CURRENT) != EV_NONE;
}
