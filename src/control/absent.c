/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/absent.h"

#include <stdio.h>
#include <string.h>

void ky_absent_remedies(const struct ky_selection *selection, const char *absent,
			char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < selection->brought_count; i++) {
		const struct kymo_source_desc *source = selection->brought[i];
		const size_t used = strlen(out);

		if (KYMO_HAS_FIELD(source, unloaded_remedy) && source->unloaded_remedy &&
		    ky_selection_has(absent, source->name))
			snprintf(out + used, size - used, "%s%s", used ? "; " : "",
				 source->unloaded_remedy);
	}
}
