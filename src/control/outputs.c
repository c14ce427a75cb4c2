/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "control/output.h"
#include "session/sinks.h"

/* Against the outputs that there are already. */
static int32_t check_others(const struct ky_outputs *outputs, const char *name,
			    const char *target, struct kymo_error *error)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (strcmp(outputs->targets[i], target) == 0)
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "the output \"%s\" is named twice", name);
		if (ky_is_capture_path(outputs->targets[i]) && ky_is_capture_path(target))
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "\"%s\" and \"%s\" are both captures: there "
					    "is one of a recording",
					    outputs->names[i], name);
	}
	return KYMO_OK;
}

static void release(int *claim)
{
	if (*claim >= 0)
		close(*claim);
	*claim = -1;
}

/*
 * Holds a name against other recorders of this machine, until the file is there or we
 * have ended, however: an address of the kernel's alone leaves nothing behind. Where it
 * has none, and on other machines, the one that ends first has the name.
 */
static int claim_name(void *owner, const char *name)
{
	struct ky_outputs *outputs = owner;
	int *claim = &outputs->claims[outputs->count];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = ky_sink_path(name), *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char folder[PATH_MAX] = ".";
	struct stat info;
	int size;

	release(claim);
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(base - path), path);
	if (stat(folder, &info) != 0)
		return 1; /* which is an error soon */
	size = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			"kymo-output-%llx-%llx-%llx", (unsigned long long)info.st_dev,
			(unsigned long long)info.st_ino,
			(unsigned long long)ky_hash(base, strlen(base), 0));
	*claim = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return *claim < 0 ||
	       bind(*claim, (const struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				(size_t)size)) == 0 ||
	       errno != EADDRINUSE;
}

static int32_t add(struct ky_outputs *outputs, const char *pattern,
		   const struct kymo_recorder_options *options,
		   const struct ky_pattern_facts *facts, struct kymo_error *error)
{
	struct ky_pattern_facts own = *facts;
	char name[PATH_MAX], target[PATH_MAX];
	const char *compat = options->compat;
	int32_t status;

	if (outputs->count == KY_OUTPUTS_MAX)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "too many outputs: %d are allowed", KY_OUTPUTS_MAX);
	own.claim = claim_name;
	own.owner = outputs;
	status = ky_pattern_expand(pattern, &own, name, sizeof(name), error);
	/* What is for a certain reader is the other output then. */
	if (!status && options->more_outputs && ky_is_capture_path(name))
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
	return ky_error_no_memory(error);
}

void ky_outputs_destroy(struct ky_outputs *outputs)
{
	for (size_t i = 0; i < outputs->count; i++) {
		free(outputs->names[i]);
		free(outputs->targets[i]);
	}
	for (size_t i = 0; i < KY_OUTPUTS_MAX && outputs->is_open; i++)
		release(&outputs->claims[i]);
	*outputs = (struct ky_outputs){0};
}

int32_t ky_outputs_make(struct ky_outputs *out,
			const struct kymo_recorder_options *options,
			const struct ky_pattern_facts *facts, struct kymo_error *error)
{
	int32_t status;

	for (size_t i = 0; i < KY_OUTPUTS_MAX; i++)
		out->claims[i] = -1;
	out->is_open = 1;
	status = add(out, options->output, options, facts, error);
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
