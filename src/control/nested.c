/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/nested.h"

#include <limits.h>
#include <stdio.h>

#include <kymo/plugin.h>

#include "capture/gate.h"
#include "session/remark.h"

void ky_nested_begin(const char *output)
{
	char reason[PATH_MAX + 64];

	ky_gate_decide();
	if (!ky_gate_capture())
		return;
	snprintf(reason, sizeof(reason), "what it starts is recorded to \"%s\" instead",
		 output);
	ky_remark(KYMO_STATE_BUSY, reason);
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
		ky_remark(KYMO_STATE_BUSY, reason);
	else
		ky_remark(KYMO_STATE_READY, "what it started had nothing to record");
}

void ky_nested_tell(const struct ky_report *report, struct kymo_recorder_result *result)
{
	if (report->nested_count > 0 && result->refused_count == 0)
		snprintf(result->refused, sizeof(result->refused), "%s", report->nested);
	result->refused_count += report->nested_count;
}
