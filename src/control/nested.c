/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/nested.h"

#include <limits.h>
#include <stdio.h>

#include <kymo/kymo.h>

#include "base/clock.h"
#include "capture/gate.h"
#include "record/dictionary.h"

/* Where the dictionary has no room for it, the outer trace does not know. */
static void tell(uint32_t state, const char *reason)
{
	const struct ky_source_entry source = {
		.name = ky_dictionary_text(KY_NESTED_SOURCE),
		.plugin = ky_dictionary_text("kymo"),
		.version = ky_dictionary_text(kymo_version()),
		.description = ky_dictionary_text("a recorder of its own"),
	};
	struct ky_state_entry entry = {
		.state = state,
		.reason = ky_dictionary_text(reason),
		.sequence = ky_monotonic_ns(),
	};
	uint32_t id;

	if (ky_dictionary_intern(KY_ENTRY_SOURCE, &source, sizeof(source),
				 &entry.source) == KYMO_OK)
		ky_dictionary_intern(KY_ENTRY_STATE, &entry, sizeof(entry), &id);
}

void ky_nested_begin(const char *output)
{
	char reason[PATH_MAX + 64];

	ky_gate_decide();
	if (!ky_gate_capture())
		return;
	snprintf(reason, sizeof(reason), "what it starts is recorded to \"%s\" instead",
		 output);
	tell(KYMO_STATE_BUSY, reason);
}

void ky_nested_end(const char *output, uint32_t process_count)
{
	char reason[PATH_MAX + 64];

	if (!ky_gate_capture())
		return;
	snprintf(reason, sizeof(reason),
		 "what it started (%u process%s) was recorded to \"%s\" instead",
		 process_count, process_count == 1 ? "" : "es", output);
	if (process_count > 0)
		tell(KYMO_STATE_BUSY, reason);
	else
		tell(KYMO_STATE_READY, "what it started had nothing to record");
}

void ky_nested_tell(const struct ky_report *report, struct kymo_recorder_result *result)
{
	if (report->nested_count > 0 && result->refused_count == 0)
		snprintf(result->refused, sizeof(result->refused), "%s", report->nested);
	result->refused_count += report->nested_count;
}
