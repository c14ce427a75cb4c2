/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/absent.h"

#include <stdio.h>
#include <string.h>

/* What does not fit is left out as a whole. */
static void add_line(char *out, size_t size, const char *name, const char *text)
{
	const size_t used = strlen(out);
	const int added = snprintf(out + used, size - used, "%s%s: %s", used ? "\n" : "",
				   name, text);

	if ((size_t)added >= size - used)
		out[used] = '\0';
}

static int is_preloaded(const struct kymo_source_desc *source)
{
	for (size_t i = 0; source->injections && source->injections[i]; i++)
		if (ky_environment_is_preload(source->injections[i]))
			return 1;
	return 0;
}

void ky_absent_remedies(const struct ky_selection *selection, const char *absent,
			char *out, size_t size)
{
	char foreign[256];

	out[0] = '\0';
	snprintf(foreign, sizeof(foreign),
		 "it was not preloaded, for that needs a program of the GNU C library, "
		 "and "
		 "this one's loader is %s: build the program with glibc",
		 selection->foreign_loader);
	for (size_t i = 0; i < selection->brought_count; i++) {
		const struct kymo_source_desc *source = selection->brought[i];

		if (!ky_selection_has(absent, source->name))
			continue;
		if (selection->foreign_loader[0] && is_preloaded(source))
			add_line(out, size, source->name, foreign);
		else if (KYMO_HAS_FIELD(source, unloaded_remedy) &&
			 source->unloaded_remedy)
			add_line(out, size, source->name, source->unloaded_remedy);
	}
}
