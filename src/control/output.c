/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"
#include "session/sinks.h"
#include "sink/memory.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int32_t folder_of(const char *path, char *out, size_t size,
			 struct kymo_error *error)
{
	int length = (int)(base_name(path) - path);
	int written;

	if (length == 0)
		written = snprintf(out, size, ".");
	else
		written = snprintf(out, size, "%.*s", length, path);
	if ((size_t)written >= size)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the output's name is too long");
	return KYMO_OK;
}

/* Whether what is at `path`, if there is anything, can be replaced. */
static int32_t check_existing(const char *path, const struct stat *found,
			      uint32_t overwrite, struct kymo_error *error)
{
	if (!S_ISREG(found->st_mode))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "\"%s\" is no file: name one that can be written",
				    path);
	return overwrite ? KYMO_OK : ky_error_exists(error, path);
}

/* Follows links, so that what they point to is replaced and not they. */
static int32_t find_target(const char *path, uint32_t overwrite, char *target,
			   struct kymo_error *error)
{
	struct stat found;
	int32_t status;

	snprintf(target, PATH_MAX, "%s", path);
	if (stat(path, &found) == 0) {
		status = check_existing(path, &found, overwrite, error);
		if (!status && lstat(path, &found) == 0 && S_ISLNK(found.st_mode) &&
		    !realpath(path, target))
			status = ky_error_set_errno(error, errno, "cannot find \"%s\"",
						    path);
		return status;
	}
	if (errno != ENOENT)
		return ky_error_set_errno(error, errno, "cannot make \"%s\"", path);
	if (lstat(path, &found) == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "\"%s\" is a link to what does not exist: name "
				    "another file",
				    path);
	return KYMO_OK;
}

/* What would be another thing in the keeper, which writes. */
static int is_descriptor(const char *path)
{
	static const char *const names[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

int32_t ky_output_check(const char *path, uint32_t overwrite, char *target,
			struct kymo_error *error)
{
	char folder[PATH_MAX];
	int32_t status;

	if (is_descriptor(ky_sink_path(path)))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "\"%s\" is the program's, not the recording's: name "
				    "a file or a pipe, or make the trace of a .kymo with "
				    "kymo export",
				    path);
	/* Whether that is a file at all, only its sink knows. */
	if (ky_sink_path(path) != path) {
		snprintf(target, PATH_MAX, "%s", path);
		return KYMO_OK;
	}
	status = find_target(path, overwrite, target, error);

	if (!status)
		status = folder_of(target, folder, sizeof(folder), error);
	if (status)
		return status;
	if (access(folder, W_OK | X_OK) != 0)
		return ky_error_set_errno(error, errno,
					  "cannot write to the folder \"%s\"", folder);
	return KYMO_OK;
}

/*
 * Whether a sink writes for that reader only the sink knows: it is opened, for nothing.
 */
static int32_t check_compat(const struct ky_sink_choice *choice, uint32_t overwrite,
			    const char *compat, struct kymo_error *error)
{
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.overwrite = overwrite,
		.compat = {compat, strlen(compat)},
	};
	void *sink = NULL;
	int32_t status = choice->desc->ops->open(choice->path, &options, &sink, error);

	if (!status)
		choice->desc->ops->close(sink);
	return status;
}

int32_t ky_output_check_sink(const char *path, uint32_t overwrite, const char *compat,
			     struct kymo_error *error)
{
	const int has_reader = compat && compat[0];
	struct ky_sink_choice choice;
	int32_t status;

	if (!ky_is_capture_path(path)) {
		status = ky_sink_choose(path, KY_CAPTURE_SUFFIX, &choice, error);
		if (!status && choice.desc == &ky_memory_sink)
			return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
					    "%s is of no use here: it would be kept in a "
					    "process of the recorder, which ends; name a "
					    "file",
					    path);
		return status || !has_reader
			       ? status
			       : check_compat(&choice, overwrite, compat, error);
	}
	if (has_reader)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "a capture is for no certain reader: use --compat "
				    "with kymo export");
	return KYMO_OK;
}

int32_t ky_output_capture_path(const char *path, pid_t recorder, char *out, size_t size,
			       struct kymo_error *error)
{
	char tail[48];

	snprintf(tail, sizeof(tail), KY_CAPTURE_SUFFIX "-%ld", (long)recorder);
	if (ky_sink_path(path) != path)
		path = base_name(path);
	if (!ky_path_beside(path, tail, out, size))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the output's name is too long");
	return KYMO_OK;
}
