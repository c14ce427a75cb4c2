/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the source, and reading them. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_OPTION_H
#define KYMO_PLUGINS_SOURCE_PERF_OPTION_H

#include <kymo/plugin.h>

struct perf_options {
	uint64_t interval_ns;  /* of the counters */
	uint32_t stacks_hz;    /* samples a second of a running thread; 0: none */
	uint32_t has_switches; /* spans where a thread is off the CPU */
};

extern const struct kymo_option_desc *const perf_option_descs[];

/* "5ms", "500us", "1s"; 0, or -1 for what is no time. */
int perf_option_time(struct kymo_str text, uint64_t *ns);

/* KYMO_ERROR_CONFIG with the reason if one of them makes no sense. */
int32_t perf_options_read(const struct kymo_host *host, struct kymo_source_host *self,
			  struct perf_options *out, struct kymo_error *error);

#endif
