/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm_option.h"

#include <stdio.h>
#include <string.h>

/* Nobody could decode more often; and nobody waits longer for a sample. */
#define INTERVAL_MIN_NS     1000u
#define INTERVAL_MAX_NS     10000000000u
#define INTERVAL_MIN_CYCLES 1000u
#define INTERVAL_MAX_CYCLES 10000000000u
#define BUFFER_MIN          (1ull << 20)
#define BUFFER_MAX          (1ull << 30)
#define SHOWN_MAX           120u /* bytes of a value that is refused */

#define OPTION(symbol, option_name, option_fallback, option_help) \
	const struct kymo_option_desc symbol = {                  \
		.struct_size = sizeof(symbol),                    \
		.value_type = KYMO_VALUE_STRING,                  \
		.name = (option_name),                            \
		.fallback = (option_fallback),                    \
		.help = (option_help),                            \
	}

OPTION(pm_option_metrics, "pm", NULL,
       "metrics for gpu_pm_counter, joined by '+'; not set: a few that any GPU can count "
       "together");
OPTION(pm_option_interval, "pm_interval", NULL,
       "time from sample to sample, 1us to 10s, or in cycles (1000000cycles) where the "
       "GPU "
       "cannot go by time; not set: 1ms");
OPTION(pm_option_buffer, "pm_buffer", "64MiB",
       "memory that the GPU writes samples to, 1MiB to 1GiB");
OPTION(pm_option_devices, "pm_device", NULL,
       "GPUs to sample, joined by '+', as 0+2; not set: all that the program uses");

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit times[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
static const struct unit cycles[] = {{"cycles", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},          {"KiB", 1 << 10}, {"MiB", 1 << 20},
				    {"GiB", 1 << 30}, {"K", 1 << 10},   {"M", 1 << 20},
				    {"G", 1 << 30},   {NULL, 0}};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "NUMBERunit" from `min` to `max`. */
static int read_quantity(struct kymo_str text, const struct unit *units, uint64_t min,
			 uint64_t max, uint64_t *out)
{
	uint64_t number = 0;
	size_t i = 0;

	while (i < text.size && is_digit(text.data[i]) && number <= max)
		number = number * 10 + (uint64_t)(text.data[i++] - '0');
	if (i == 0)
		return 0;
	for (; units->name; units++) {
		const size_t size = strlen(units->name);

		if (size != text.size - i ||
		    memcmp(units->name, text.data + i, size) != 0)
			continue;
		*out = number * units->factor;
		return number <= max / units->factor && *out >= min;
	}
	return 0;
}

/* What is before the next '+', and the rest. */
static struct kymo_str next_part(struct kymo_str *rest)
{
	struct kymo_str part = *rest;
	const char *plus = memchr(part.data, '+', part.size);

	if (plus)
		part.size = (size_t)(plus - part.data);
	rest->data += part.size + (plus != NULL);
	rest->size -= part.size + (plus != NULL);
	return part;
}

static int refuse(struct pm_problem *problem, const char *option, struct kymo_str value,
		  const char *wanted)
{
	snprintf(problem->reason, sizeof(problem->reason), "%s=%.*s is not %s", option,
		 (int)(value.size < SHOWN_MAX ? value.size : SHOWN_MAX), value.data,
		 wanted);
	problem->remedy[0] = '\0';
	return 0;
}

static int is_named(const struct pm_options *options, const char *name)
{
	for (size_t i = 0; i < options->metric_count; i++)
		if (strcmp(options->metrics[i], name) == 0)
			return 1;
	return 0;
}

/* Names that stand there twice are one. */
static int read_metrics(struct pm_options *options, struct kymo_str text,
			struct pm_problem *problem)
{
	struct kymo_str rest = text;
	size_t used = 0;

	while (rest.size > 0) {
		const struct kymo_str part = next_part(&rest);
		char *name = options->text + used;

		if (part.size == 0 || used + part.size >= sizeof(options->text) ||
		    options->metric_count == PM_METRICS_MAX)
			return refuse(problem, "pm", text,
				      "1 to 64 names of metrics joined by '+'");
		memcpy(name, part.data, part.size);
		name[part.size] = '\0';
		if (is_named(options, name))
			continue;
		options->metrics[options->metric_count++] = name;
		used += part.size + 1;
	}
	return 1;
}

static int read_devices(struct pm_options *options, struct kymo_str text,
			struct pm_problem *problem)
{
	static const struct unit none[] = {{"", 1}, {NULL, 0}};
	struct kymo_str rest = text;
	uint64_t device;

	options->devices = text.size > 0 ? 0 : UINT64_MAX;
	while (rest.size > 0) {
		if (!read_quantity(next_part(&rest), none, 0, PM_DEVICES_MAX - 1,
				   &device))
			return refuse(problem, "pm_device", text,
				      "a list of numbers from 0 to 63, as 0+2");
		options->devices |= 1ull << device;
	}
	return 1;
}

static int read_interval(struct pm_options *options, struct kymo_str text,
			 struct pm_problem *problem)
{
	options->trigger = PM_TRIGGER_TIME;
	if (text.size == 0 || read_quantity(text, times, INTERVAL_MIN_NS, INTERVAL_MAX_NS,
					    &options->interval))
		return 1;
	options->trigger = PM_TRIGGER_CYCLES;
	return read_quantity(text, cycles, INTERVAL_MIN_CYCLES, INTERVAL_MAX_CYCLES,
			     &options->interval)
		       ? 1
		       : refuse(problem, "pm_interval", text,
				"a time from 1us to 10s, or from 1000cycles on");
}

int pm_options_read(struct pm_options *options, const struct kymo_host *host,
		    struct kymo_source_host *self, struct pm_problem *problem)
{
	const struct kymo_option_desc *const all[] = {
		&pm_option_metrics, &pm_option_interval, &pm_option_buffer,
		&pm_option_devices};
	struct kymo_str text[4];

	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < 4; i++) {
		if (host->option(self, all[i]->name, &text[i]) != KYMO_OK)
			return refuse(problem, all[i]->name, KYMO_STR("..."),
				      "as short as all options together must be");
		if (!text[i].data)
			text[i] = KYMO_STR("");
	}
	if (!read_quantity(text[2], sizes, BUFFER_MIN, BUFFER_MAX, &options->buffer_size))
		return refuse(problem, "pm_buffer", text[2], "a size from 1MiB to 1GiB");
	return read_metrics(options, text[0], problem) &&
	       read_interval(options, text[1], problem) &&
	       read_devices(options, text[3], problem);
}
