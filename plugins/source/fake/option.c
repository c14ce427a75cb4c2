/* SPDX-License-Identifier: BSD-3-Clause */
#include "option.h"

#include <stdio.h>
#include <stdlib.h>

#include "source.h"

#define OPTION(symbol, option_type, option_name, option_fallback, option_help) \
	static const struct kymo_option_desc symbol##_option = {               \
		.struct_size = sizeof(symbol##_option),                        \
		.value_type = (option_type),                                   \
		.name = (option_name),                                         \
		.fallback = (option_fallback),                                 \
		.help = (option_help),                                         \
	}
#define NUMBER(symbol, option_fallback, option_help) \
	OPTION(symbol, KYMO_VALUE_INT64, #symbol, option_fallback, option_help)
#define TEXT(symbol, option_help) \
	OPTION(symbol, KYMO_VALUE_STRING, #symbol, NULL, option_help)

NUMBER(rate, "1000000000", "ticks a second that the device's clock claims to make");
NUMBER(ppm, "0", "by how many millionths that is wrong");
NUMBER(offset, "0", "the tick from which it counts");
NUMBER(bits, "64", "after how many bits it wraps");
NUMBER(workload, "0", "calls to make when a session starts");
NUMBER(seed, "1", "of the workload");
NUMBER(sample_us, "0", "period of the counters; 0: when the program asks");

TEXT(fault, "faults to make, separated by '+'; see the README");
NUMBER(every, "10", "make them at every N-th span of the device");
NUMBER(at, "100", "crash or kill: at this record");
NUMBER(status, "-8", "what a failing operation returns");
TEXT(report, "file for its own counts; the pid is appended");

const struct kymo_option_desc *const fake_options[] = {
	&rate_option,
	&ppm_option,
	&offset_option,
	&bits_option,
	&workload_option,
	&seed_option,
	&sample_us_option,
	&fault_option,
	&every_option,
	&at_option,
	&status_option,
	&report_option,
	NULL,
};

void fake_option_text(const struct kymo_host *host, struct kymo_source_host *self,
		      const char *name, const char *variable, char *out, size_t size)
{
	const char *set = variable ? secure_getenv(variable) : NULL;
	struct kymo_str text = kymo_text(set);

	if (!set && host->option(self, name, &text) != KYMO_OK)
		text = (struct kymo_str){NULL, 0};
	snprintf(out, size, "%.*s", (int)text.size, text.data ? text.data : "");
}

int64_t fake_option_number(const char *name)
{
	char text[32];

	fake_option_text(fake_source.host, fake_source.self, name, NULL, text,
			 sizeof(text));
	return (int64_t)strtoll(text, NULL, 0);
}
