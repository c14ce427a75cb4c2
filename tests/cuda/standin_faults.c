/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the scenario's lines for CUPTI, and writes what went over the border to the file
 * that $CUPTI_REPORT names, with the number of the process behind it. README.md lists the
 * lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenario.h"
#include "standin.h"

/* error FUNCTION CODE [ARGUMENT], hang FUNCTION MILLISECONDS */
static void take_call(char **words, int count)
{
	struct standin_faults *faults = &standin.faults;
	struct standin_fault *fault = &faults->calls[faults->call_count];
	int32_t number = (int32_t)strtol(words[2], NULL, 0);

	if (faults->call_count == sizeof(faults->calls) / sizeof(faults->calls[0]))
		return;
	faults->call_count++;
	snprintf(fault->function, sizeof(fault->function), "%s", words[1]);
	fault->only = count > 3 ? (int32_t)strtol(words[3], NULL, 0) : -1;
	if (strcmp(words[0], "hang") == 0)
		fault->hangs_ms = number;
	else
		fault->code = number;
}

static void take_line(char **words, int count)
{
	struct standin_faults *faults = &standin.faults;
	const struct {
		const char *name;
		uint32_t *value;
	} numbers[] = {
		{"zero", &faults->zero},       {"reversed", &faults->reversed},
		{"endless", &faults->endless}, {"nameless", &faults->nameless},
		{"drop", &faults->drop},       {"cut", &faults->cut},
		{"hold", &faults->hold},       {"disorder", &faults->disorder},
		{"late", &faults->late_ms},
	};

	if (count > 2 &&
	    (strcmp(words[0], "error") == 0 || strcmp(words[0], "hang") == 0)) {
		take_call(words, count);
		return;
	}
	if (count > 1 && strcmp(words[0], "skew") == 0)
		faults->skew_ns = strtoll(words[1], NULL, 0);
	if (count > 1 && strcmp(words[0], "nested") == 0)
		faults->nested = strcmp(words[1], "own") == 0 ? STANDIN_NESTED_OWN
							      : STANDIN_NESTED_SAME;
	if (count > 1 && strcmp(words[0], "subscriber") == 0)
		snprintf(faults->subscriber, sizeof(faults->subscriber), "%s", words[1]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(words[0], numbers[i].name) == 0)
			*numbers[i].value =
				count > 1 ? (uint32_t)strtoul(words[1], NULL, 0) : 1;
}

void standin_read_faults(void)
{
	scenario_read("cupti", take_line);
}

void standin_write_report(void)
{
	const struct standin_counts *counts = &standin.counts;
	const char *name = getenv("CUPTI_REPORT");
	uint32_t enabled = 0;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d", name ? name : "", (int)getpid());
	file = name ? fopen(path, "we") : NULL;
	if (!file)
		return;
	for (int i = 0; i < STANDIN_KINDS; i++)
		enabled += standin.enabled[i];
	fprintf(file,
		"{\"version\": %d, \"enabled\": %u, \"subscribed\": %d, \"dropped\": "
		"%llu, "
		"\"requested\": %llu, \"refused\": %llu, \"delivered\": %llu, \"late\": "
		"%llu, "
		"\"misaligned\": %llu, \"cut_off\": %llu, \"unknown\": %llu, "
		"\"written\": {",
		CUPTI_API_VERSION, enabled, standin.callback != NULL,
		(unsigned long long)counts->dropped,
		(unsigned long long)counts->requested,
		(unsigned long long)counts->refused,
		(unsigned long long)counts->delivered, (unsigned long long)counts->late,
		(unsigned long long)counts->misaligned,
		(unsigned long long)counts->cut_off, (unsigned long long)counts->unknown);
	for (int i = 0, first = 1; i < STANDIN_KINDS; i++) {
		if (!counts->written[i])
			continue;
		fprintf(file, "%s\"%d\": %llu", first ? "" : ", ", i,
			(unsigned long long)counts->written[i]);
		first = 0;
	}
	fputs("}}\n", file);
	fclose(file);
}
