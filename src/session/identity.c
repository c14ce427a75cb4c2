/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/identity.h"

#include <errno.h>
#include <stdlib.h>

#include <kymo/mark.h>

#include "config/rank.h"
#include "record/layout.h"
#include "session/host.h"

static void publish(const char *name, const char *digits)
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

void ky_identity_publish(void)
{
	publish("rank", ky_rank());
	publish("world_size", ky_world_size());
}
