/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saving a stopped session: its memory is written to a capture file beside the target,
 * `.NAME.kymo-PID`, which then is renamed (for .kymo) or exported from and removed. So
 * the target appears whole or not at all, and an export is the same whoever recorded.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/timeline.h>

#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/options.h"
#include "capture/spool.h"
#include "session/export.h"
#include "session/page.h"
#include "session/session.h"
#include "session/sinks.h"
#include "session/source.h"

#define NAMES_MAX 64 /* saves of one process to one target at one moment */

int ky_is_capture_path(const char *path)
{
	static const char suffix[] = KY_CAPTURE_SUFFIX;
	const size_t size = strlen(path), wanted = sizeof(suffix) - 1;

	return size > wanted && strcmp(path + size - wanted, suffix) == 0;
}

/* Creates the capture file; a name that is taken (another thread saves) gets a number. */
static int32_t create_spool(const char *target, const struct ky_capture_header *header,
			    char *path, size_t size, struct ky_spool **out,
			    struct kymo_error *error)
{
	const struct ky_spool_session session = {
		.session = header->session,
		.overflow = header->overflow,
		.command_line = {header->command_line, header->command_line_size},
	};
	int32_t status = KYMO_ERROR_EXISTS;

	for (int i = 1; i <= NAMES_MAX && status == KYMO_ERROR_EXISTS; i++) {
		char tail[48];

		if (i == 1)
			snprintf(tail, sizeof(tail), ".kymo-%d", (int)getpid());
		else
			snprintf(tail, sizeof(tail), ".kymo-%d-%d", (int)getpid(), i);
		if (!ky_path_beside(target, tail, path, size))
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "the path is too long: \"%s\"", target);
		status = ky_spool_create(out, path, &session, error);
	}
	return status;
}

/* Writes all of the capture; the file is whole and on disk, or it is removed. */
static int32_t write_capture(struct ky_capture *capture, const char *target, char *path,
			     size_t size, struct kymo_error *error)
{
	struct ky_spool_capture *part = NULL;
	struct ky_spool *spool = NULL;
	int32_t status = create_spool(target, capture->header, path, size, &spool, error);

	if (status != KYMO_OK)
		return status;
	status = ky_spool_add(spool, capture, 1, &part, error);
	if (status == KYMO_OK)
		status = ky_spool_finish(part, KY_END_STOPPED, error);
	if (status == KYMO_OK)
		status = ky_spool_sync(spool, error);
	ky_spool_close(spool);
	if (status != KYMO_OK)
		unlink(path);
	return status;
}

static int32_t put_in_place(const char *from, const char *to, uint32_t overwrite,
			    struct kymo_error *error)
{
	int number = ky_move_file(from, to, (int)overwrite);

	if (number == 0)
		return KYMO_OK;
	if (number == EEXIST)
		return ky_error_set(error, KYMO_ERROR_EXISTS,
				    "\"%s\" exists already: name another file, or allow "
				    "overwriting",
				    to);
	return ky_error_set_errno(error, number, "cannot put \"%s\" in place", to);
}

/* The capture file becomes what was asked for; it is gone afterwards in any case. */
static int32_t turn_into(const char *capture, const char *target,
			 const struct kymo_sink_options *options,
			 struct kymo_summary *summary, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	if (!ky_is_capture_path(target)) {
		status = kymo_timeline_export(&capture, 1, target, options, summary,
					      error);
		unlink(capture);
		return status;
	}
	if (summary)
		status = ky_export_count(capture, summary, error);
	if (status == KYMO_OK)
		status = put_in_place(capture, target, options->overwrite, error);
	if (status != KYMO_OK)
		unlink(capture);
	return status;
}

/*
 * What the capture lies beside meanwhile: the file; or, if what is behind a protocol is
 * in no folder, something among the temporary files.
 */
static const char *choose_place(const char *path, char *buffer, size_t size)
{
	const char *target = ky_sink_path(path);
	const char *slash = strrchr(target, '/');
	const char *name = slash ? slash + 1 : target;
	const char *temporary = ky_env_get("TMPDIR");

	snprintf(buffer, size, "%.*s.", (int)(name - target), target);
	if (target == path || (name[0] && access(buffer, W_OK) == 0))
		return target;
	snprintf(buffer, size, "%s/%s",
		 temporary && temporary[0] == '/' ? temporary : "/tmp",
		 name[0] ? name : "trace");
	return buffer;
}

int32_t kymo_session_save(struct kymo_session *session, const char *path,
			  const struct kymo_sink_options *options,
			  struct kymo_summary *summary, struct kymo_error *error)
{
	struct kymo_sink_options known;
	char capture[PATH_MAX], place[PATH_MAX];
	int32_t status;

	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no path to save to");
	status = ky_sink_options_read(options, &known, error);
	if (status == KYMO_OK)
		status = ky_result_check(summary, error);
	if (status != KYMO_OK)
		return status;
	ky_lock(&ky_gate()->session_lock);
	status = ky_session_check(session, KY_SESSION_STOPPED, "save", error);
	ky_unlock(&ky_gate()->session_lock);
	if (status != KYMO_OK)
		return status;
	status = write_capture(&session->embedded->capture,
			       choose_place(path, place, sizeof(place)), capture,
			       sizeof(capture), error);
	if (status == KYMO_OK)
		status = turn_into(capture, path, &known, summary, error);
	if (status != KYMO_OK)
		ky_error_wrap(error, "cannot save the session to \"%s\"", path);
	return status;
}
