/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/wanted_types.h"

#include <stdio.h>

#include "base/error.h"
#include "base/lock.h"
#include "registry/static_types.h"
#include "session/mark_types.h"
#include "session/page.h"
#include "session/source.h"

static char wanted[KY_TYPE_LIST_MAX]; /* under types_lock */

int32_t ky_wanted_types_make(char *out, const char *list, const char *sources,
			     struct kymo_error *error)
{
	struct ky_type_source known[KY_SOURCES_MAX + 1];
	size_t count;

	if (!ky_types())
		return ky_error_no_memory(error);
	ky_type_aliases_forget();
	count = ky_sources_describe(sources, known);
	known[count++] = (struct ky_type_source){
		.name = "app",
		.plugin = "app",
		.is_open = 1,
	};
	return ky_type_filter_make(out, list, ky_types(), known, count, error);
}

void ky_wanted_types_set(const char *list)
{
	uint32_t *lock = &ky_session_page()->types_lock;

	ky_lock(lock);
	snprintf(wanted, sizeof(wanted), "%s", list);
	ky_unlock(lock);
	ky_mark_choose_types();
}

/* Without a table there are no custom types, and nothing is wanted. */
int ky_wanted_types_has(const char *source, uint32_t number, uint32_t flags)
{
	uint32_t *lock = &ky_session_page()->types_lock;
	struct ky_type_table *table = ky_types();
	int has;

	ky_lock(lock);
	has = table && ky_type_filter_wants(wanted, table, source, number, flags);
	ky_unlock(lock);
	return has;
}

int ky_wanted_types_has_any(const struct ky_type_source *source)
{
	uint32_t *lock = &ky_session_page()->types_lock;
	struct ky_type_table *table = ky_types();
	int has;

	ky_lock(lock);
	has = table && ky_type_filter_wants_any(wanted, table, source);
	ky_unlock(lock);
	return has;
}
