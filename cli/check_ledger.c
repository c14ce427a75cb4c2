/* SPDX-License-Identifier: BSD-3-Clause */
/* What Kymo's own files say of what is missing in them: captures, and traces of them. */
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "info.h"
#include "say.h"

void ky_check_ledger(struct ky_check *check, struct ky_check_place place,
		     const char *name, uint64_t value)
{
	static const struct {
		const char *name;
		enum ky_check_kind kind;
	} losses[] = {
		{"full", KY_LOST_RECORDS},
		{"too_big", KY_LOST_RECORDS},
		{"nested", KY_LOST_RECORDS},
		{"overwritten", KY_LEFT_OUT},
		{"late", KY_LOST_RECORDS},
		{"out_of_window", KY_LEFT_OUT},
		{"cut", KY_INCOMPLETE},
		{"invalid", KY_LOST_RECORDS},
		{"source_exact", KY_LOST_RECORDS},
		{"source_at_least", KY_LOST_RECORDS},
		{"names_not_kept", KY_LOST_RECORDS},
		{"cut_captures", KY_INCOMPLETE},
		{"bad_bytes", KY_INCOMPLETE},
		{"untimed", KY_UNTIMED_RECORDS},
		{"arrows_backward", KY_LOST_ARROWS},
		{"arrows_no_launch", KY_LOST_ARROWS},
		{"arrows_untimed", KY_LOST_ARROWS},
		{"before_launch", KY_KERNEL_BEFORE_LAUNCH},
	};
	size_t i;

	for (i = 0; value > 0 && i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (strcmp(losses[i].name, name) != 0)
			continue;
		/* In a trace the events themselves are found. */
		if (losses[i].kind == KY_KERNEL_BEFORE_LAUNCH && !check->is_capture)
			continue;
		ky_check_find(check, losses[i].kind, place, "%s: %llu", name,
			      (unsigned long long)value);
		/* As many as were lost, not as many reasons; bytes are none of these. */
		if (strcmp(name, "bad_bytes") != 0)
			check->findings[losses[i].kind].count += value - 1;
	}
}

int ky_check_read_capture(struct ky_check *check)
{
	static struct ky_info info; /* its tables live as long as the command */
	const struct ky_check_place nowhere = {0, 0, KY_CHECK_NO_EVENT};
	size_t i;

	memset(&info, 0, sizeof(info));
	info.path = check->path;
	if (ky_info_read_capture(&info) != 0)
		return KY_EXIT_USAGE;
	check->format = info.format;
	check->bytes = info.bytes;
	check->events = info.spans + info.instants + info.counters;
	for (i = 0; i < info.ledger_count; i++)
		ky_check_ledger(check, nowhere, info.ledger[i].name,
				info.ledger[i].value);
	return 0;
}
