/* SPDX-License-Identifier: BSD-3-Clause */
/* All outputs of a recording: their names, and that each can be written. */
#ifndef KYMO_CONTROL_OUTPUTS_H
#define KYMO_CONTROL_OUTPUTS_H

#include <kymo/control.h>

#include "config/pattern.h"

#define KY_OUTPUTS_MAX 16

struct ky_outputs {
	size_t count;
	int is_open;                       /* 0: there are no claims */
	char *names[KY_OUTPUTS_MAX + 1];   /* as patterns give them; ends with NULL */
	char *targets[KY_OUTPUTS_MAX + 1]; /* the same with links followed */
	int claims[KY_OUTPUTS_MAX]; /* descriptor that holds the number of %n, or -1 */
};

void ky_outputs_destroy(struct ky_outputs *outputs);

/*
 * Expands the patterns of the options and checks each output, and that no two are the
 * same file or both captures. What has been made by then is there on failure, too.
 */
int32_t ky_outputs_make(struct ky_outputs *out,
			const struct kymo_recorder_options *options,
			const struct ky_pattern_facts *facts, struct kymo_error *error);

/* The names of those whose bit is set: "a.json, b.kymo". */
void ky_outputs_list(const struct ky_outputs *outputs, uint32_t bits, char *out,
		     size_t size);

#endif
