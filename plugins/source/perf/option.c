/* SPDX-License-Identifier: BSD-3-Clause */
#include "option.h"

#include <stdio.h>
#include <string.h>

#define INTERVAL_MIN_NS 1000000u /* 1 ms: a tick takes about a hundredth of that */
#define INTERVAL_MAX_NS 60000000000u
#define STACKS_MAX_HZ   10000u

static const struct kymo_option_desc interval_option = {
	.struct_size = sizeof(interval_option),
	.value_type = KYMO_VALUE_STRING,
	.name = "interval",
	.fallback = "10ms",
	.help = "of the counters, 1ms to 60s",
};

static const struct kymo_option_desc stacks_option = {
	.struct_size = sizeof(stacks_option),
	.value_type = KYMO_VALUE_UINT64,
	.name = "stacks",
	.fallback = "0",
	.help = "samples of the stack a second of each running thread; 0: none",
};

static const struct kymo_option_desc switches_option = {
	.struct_size = sizeof(switches_option),
	.value_type = KYMO_VALUE_UINT64,
	.name = "switches",
	.fallback = "0",
	.help = "1: spans where a thread is off the CPU",
};

const struct kymo_option_desc *const perf_option_descs[] = {
	&interval_option,
	&stacks_option,
	&switches_option,
	NULL,
};

/* Decimal digits at the beginning; how many they are, 0 also for what is too large. */
static size_t read_digits(struct kymo_str text, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++) {
		if (*out > UINT32_MAX)
			return 0;
		*out = *out * 10 + (uint64_t)(text.data[i] - '0');
	}
	return *out > UINT32_MAX ? 0 : i;
}

int perf_option_time(struct kymo_str text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	uint64_t number;
	const size_t digits = read_digits(text, &number);

	for (size_t i = 0; digits > 0 && i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t size = strlen(units[i].name);

		if (text.size - digits != size ||
		    memcmp(text.data + digits, units[i].name, size) != 0)
			continue;
		*ns = number * units[i].ns;
		return 0;
	}
	return -1;
}

/* A number up to `most`. In hexadecimal the host takes it as well, we do not. */
static int read_number(struct kymo_str text, uint64_t most, uint32_t *out)
{
	uint64_t number;

	if (text.size == 0 || read_digits(text, &number) != text.size || number > most)
		return -1;
	*out = (uint32_t)number;
	return 0;
}

static int32_t refuse(struct kymo_error *error, const char *name, struct kymo_str text,
		      const char *wanted)
{
	if (error) {
		error->status = KYMO_ERROR_CONFIG;
		snprintf(error->message, sizeof(error->message),
			 "%s=%.*s: it has to be %s", name,
			 (int)(text.size < 64 ? text.size : 64),
			 text.data ? text.data : "", wanted);
	}
	return KYMO_ERROR_CONFIG;
}

static struct kymo_str read_text(const struct kymo_host *host,
				 struct kymo_source_host *self, const char *name)
{
	struct kymo_str text;

	if (host->option(self, name, &text) != KYMO_OK)
		text = (struct kymo_str){NULL, 0};
	return text;
}

int32_t perf_options_read(const struct kymo_host *host, struct kymo_source_host *self,
			  struct perf_options *out, struct kymo_error *error)
{
	struct kymo_str text = read_text(host, self, "interval");

	if (perf_option_time(text, &out->interval_ns) != 0 ||
	    out->interval_ns < INTERVAL_MIN_NS || out->interval_ns > INTERVAL_MAX_NS)
		return refuse(error, "interval", text,
			      "a time with its unit, from 1ms to 60s");
	text = read_text(host, self, "stacks");
	if (read_number(text, STACKS_MAX_HZ, &out->stacks_hz) != 0)
		return refuse(error, "stacks", text, "samples a second, up to 10000");
	text = read_text(host, self, "switches");
	if (read_number(text, 1, &out->has_switches) != 0)
		return refuse(error, "switches", text, "0 or 1");
	return KYMO_OK;
}
