/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/outputs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/output.h"

/* Against the outputs that there are already. */
static int32_t check_others(const struct ky_outputs *outputs, const char *name,
			    const char *target, struct kymo_error *error)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (strcmp(outputs->targets[i], target) == 0)
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "the output \"%s\" is named twice", name);
		if (ky_output_is_capture(outputs->targets[i]) &&
		    ky_output_is_capture(target))
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "\"%s\" and \"%s\" are both captures: there "
					    "is one of a recording",
					    outputs->names[i], name);
	}
	return KYMO_OK;
}

static int32_t add(struct ky_outputs *outputs, const char *pattern,
		   const struct kymo_recorder_options *options,
		   const struct ky_pattern_facts *facts, struct kymo_error *error)
{
	char name[PATH_MAX], target[PATH_MAX];
	const char *compat = options->compat;
	int32_t status;

	if (outputs->count == KY_OUTPUTS_MAX)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "too many outputs: %d are allowed", KY_OUTPUTS_MAX);
	status = ky_pattern_expand(pattern, facts, name, sizeof(name), error);
	/* What is for a certain reader is the other output then. */
	if (!status && options->more_outputs && ky_output_is_capture(name))
		compat = NULL;
	if (!status)
		status = ky_output_check(name, options->overwrite, target, error);
	if (!status)
		status = ky_output_check_sink(name, options->overwrite, compat, error);
	if (!status)
		status = check_others(outputs, name, target, error);
	if (status)
		return status;
	outputs->names[outputs->count] = strdup(name);
	outputs->targets[outputs->count] = strdup(target);
	outputs->count++;
	if (outputs->names[outputs->count - 1] && outputs->targets[outputs->count - 1])
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
}

void ky_outputs_destroy(struct ky_outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++) {
		free(outputs->names[i]);
		free(outputs->targets[i]);
	}
	*outputs = (struct ky_outputs){0};
}

int32_t ky_outputs_make(struct ky_outputs *out,
			const struct kymo_recorder_options *options,
			const struct ky_pattern_facts *facts, struct kymo_error *error)
{
	int32_t status = add(out, options->output, options, facts, error);

	for (size_t i = 0; options->more_outputs && options->more_outputs[i]; i++)
		if (!status)
			status =
				add(out, options->more_outputs[i], options, facts, error);
	return status;
}

void ky_outputs_list(const struct ky_outputs *outputs, uint32_t bits, char *out,
		     size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < outputs->count && used < size; i++)
		if (bits & 1u << i)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used ? ", " : "", outputs->names[i]);
}
