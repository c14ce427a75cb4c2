/* SPDX-License-Identifier: BSD-3-Clause */
#include "proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int perf_parse_statm(const char *text, uint64_t out[3])
{
	char *end;

	for (int i = 0; i < 3; i++) {
		errno = 0;
		out[i] = strtoull(text, &end, 10);
		if (end == text || errno != 0)
			return -1;
		text = end;
	}
	return 0;
}

/* "some avg10=0.92 avg60=2.45 avg300=6.87 total=9801047375", and a line of "full". */
uint32_t perf_parse_pressure(const char *text, uint64_t out[2])
{
	static const char mark[] = " total=";
	uint32_t count = 0;

	while (count < 2 && (text = strstr(text, mark)) != NULL) {
		text += sizeof(mark) - 1;
		out[count++] = strtoull(text, NULL, 10);
	}
	return count;
}
