/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/identity.h"

#include <errno.h>
#include <stdlib.h>

#include <kymo/mark.h>

#include "base/env.h"
#include "config/rank.h"
#include "record/dictionary.h"
#include "record/layout.h"
#include "session/host.h"

static void publish_number(const char *name, const char *digits)
{
	struct kymo_value value = {.type = KYMO_VALUE_INT64};
	uint32_t id;

	if (!digits)
		return;
	errno = 0;
	value.i64 = strtoll(digits, NULL, 10);
	if (errno != 0)
		return;
	value.key = kymo_mark_key(name, KYMO_VALUE_INT64, NULL);
	/* Where there is no room for it the dictionary is full of names anyway. */
	if (value.key != 0)
		ky_host_intern_values(KY_ENTRY_METADATA, &value, 1, &id);
}

/* A variable of the launcher's, under its own name as in libkineto. */
static void publish_variable(const char *name)
{
	const char *text = ky_env_get(name);
	struct kymo_value value = {.type = KYMO_VALUE_STRING};
	uint32_t id;

	if (!text || !text[0])
		return;
	value.key = kymo_mark_key(name, KYMO_VALUE_STRING, NULL);
	value.u64 = ky_dictionary_text(text);
	if (value.key != 0)
		ky_host_intern_values(KY_ENTRY_METADATA, &value, 1, &id);
}

void ky_identity_publish(void)
{
	publish_number("rank", ky_rank());
	publish_number("world_size", ky_world_size());
	publish_variable("PT_PROFILER_JOB_NAME");
	publish_variable("PT_PROFILER_JOB_VERSION");
	publish_variable("PT_PROFILER_JOB_ATTEMPT_INDEX");
}
