/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "config/pattern.h"

/* Of default names, so that two of one nanosecond differ; no order is needed. */
static uint32_t sequence;

int32_t kymo_output_name(const char *pattern, const struct kymo_config *config, char *out,
			 size_t size, struct kymo_error *error)
{
	struct ky_pattern_facts facts = {
		.program = program_invocation_short_name,
		.pid = getpid(),
		.start_realtime_ns = (int64_t)ky_realtime_ns(),
	};

	if (!out || size == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the name");
	if (!pattern && config)
		pattern = ky_config_output(config);
	if (!pattern)
		facts.sequence = __atomic_fetch_add(&sequence, 1, __ATOMIC_RELAXED);
	return ky_pattern_expand(pattern, &facts, out, size, error);
}
