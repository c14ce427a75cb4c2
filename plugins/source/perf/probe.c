/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe opens all that a recording could, in its own process, and closes it again. */
#include "probe.h"

#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "filter.h"
#include "missing.h"
#include "source.h"
#include "tracer.h"

int32_t perf_probe(struct kymo_probe *out, struct kymo_error *error)
{
	(void)error;
	memset(perf_source.wants, 1, sizeof(perf_source.wants));
	perf_source.options = (struct perf_options){.stacks_hz = 99, .has_switches = 1};
	perf_missing_reset();
	perf_filter_look();
	perf_counters_open();
	perf_tracer_open();
	snprintf(out->what, sizeof(out->what),
		 "CPU time, faults, switches, memory, pressure%s",
		 perf_tracer_is_open() ? "; stacks and times off the CPU" : "");
	perf_tracer_close();
	perf_counters_close();
	out->state = perf_missing_tell(out->why, sizeof(out->why), out->remedy,
				       sizeof(out->remedy))
			     ? KYMO_STATE_PARTLY
			     : KYMO_STATE_READY;
	return KYMO_OK;
}
