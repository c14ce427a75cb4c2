/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/remark.h"

#include <kymo/version.h>

#include "base/clock.h"
#include "record/dictionary.h"

static void say(uint32_t state, const char *reason, uint64_t sequence)
{
	const struct ky_source_entry source = {
		.name = ky_dictionary_text(KY_REMARK_SOURCE),
		.plugin = ky_dictionary_text("kymo"),
		.version = ky_dictionary_text(kymo_version()),
		.description = ky_dictionary_text("what a recorder says of the process"),
	};
	struct ky_state_entry entry = {
		.state = state,
		.reason = ky_dictionary_text(reason),
		.sequence = sequence,
	};
	uint32_t id;

	/* Where there is no room for it, nobody will know. */
	if (ky_dictionary_intern(KY_ENTRY_SOURCE, &source, sizeof(source),
				 &entry.source) == KYMO_OK)
		ky_dictionary_intern(KY_ENTRY_STATE, &entry, sizeof(entry), &id);
}

void ky_remark(uint32_t state, const char *reason)
{
	say(state, reason, ky_monotonic_ns());
}

void ky_remark_once(uint32_t state, const char *reason)
{
	say(state, reason, 0);
}
