/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saving a session, stopped or not: its memory is written to a capture file beside the
 * target, `.NAME.kymo-PID`, which then is renamed (for .kymo) or exported from and
 * removed. So the target appears whole or not at all, and an export is the same whoever
 * recorded.
 */
#include "session/save.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/gate_page.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "capture/snapshot.h"
#include "session/export.h"
#include "session/session.h"
#include "session/sinks.h"
#include "session/source.h"

/*
 * Captures beside one target of processes with one number: saves at one moment, and what
 * was kept by those before it in a container, where a program has the same number always.
 */
#define NAMES_MAX      10000
#define PERCENT_COPIED 10 /* of the work is done when the capture file is written */

static const char *name_of(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash ? slash + 1 : target;
}

static const char *temporary_folder(void)
{
	const char *folder = ky_env_get("TMPDIR");

	return folder && folder[0] == '/' ? folder : "/tmp";
}

/* Of the same name among the temporary files. */
static const char *temporary_place(const char *path, const char *folder, char *buffer,
				   size_t size)
{
	const char *name = name_of(ky_sink_path(path));

	snprintf(buffer, size, "%s/%s", folder, name[0] ? name : "trace");
	return buffer;
}

/*
 * What the capture lies beside meanwhile: the file; or, if what is behind a protocol is
 * in no folder, something among the temporary files.
 */
static const char *choose_place(const char *path, char *buffer, size_t size)
{
	const char *target = ky_sink_path(path);
	const char *name = name_of(target);

	snprintf(buffer, size, "%.*s.", (int)(name - target), target);
	if (target == path || (name[0] && access(buffer, W_OK) == 0))
		return target;
	return temporary_place(path, temporary_folder(), buffer, size);
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

int32_t ky_save_stopped(struct ky_capture *capture, struct ky_spool *spool,
			struct kymo_error *error)
{
	struct ky_spool_capture *part = NULL;
	int32_t status = ky_spool_add(spool, capture, 1, &part, error);

	return status == KYMO_OK ? ky_spool_finish(part, KY_END_STOPPED, error) : status;
}

/* The capture file beside `place`; `path` is "" where there is none. */
static int32_t capture_beside(const char *place, struct ky_capture *capture,
			      ky_save_fill_fn fill, char *path, struct kymo_error *error)
{
	struct ky_spool *spool = NULL;
	int32_t status =
		create_spool(place, capture->header, path, PATH_MAX, &spool, error);

	if (status == KYMO_OK) {
		status = fill(capture, spool, error);
		if (status == KYMO_OK)
			status = ky_spool_sync(spool, error);
		ky_spool_close(spool);
		if (status != KYMO_OK)
			unlink(path);
	}
	if (status != KYMO_OK)
		path[0] = '\0';
	return status;
}

int32_t ky_save_capture(struct ky_capture *capture, ky_save_fill_fn fill,
			const char *target, char *path, struct kymo_error *error)
{
	char place[PATH_MAX];

	return capture_beside(choose_place(target, place, sizeof(place)), capture, fill,
			      path, error);
}

static int32_t put_in_place(const char *from, const char *to, uint32_t overwrite,
			    struct kymo_error *error)
{
	int number = ky_move_file(from, to, (int)overwrite);

	if (number == 0)
		return KYMO_OK;
	if (number == EEXIST)
		return ky_error_exists(error, to);
	return ky_error_set_errno(error, number, "cannot put \"%s\" in place", to);
}

/* The capture file becomes what was asked for; it is gone then. */
static int32_t turn_into(const char *capture, const struct ky_save *save,
			 struct kymo_summary *summary, struct kymo_error *error)
{
	struct kymo_output output = {.struct_size = sizeof(output), .path = save->path};
	const struct ky_export export = {
		.captures = &capture,
		.count = 1,
		.outputs = (struct kymo_output *[]){&output, NULL},
		.options = &save->options,
		.progress = save->progress,
		.since_ns = save->since_ns,
	};
	int32_t status = KYMO_OK;

	if (!ky_is_capture_path(save->path)) {
		status = ky_export_run(&export, summary, error);
		if (status == KYMO_OK)
			unlink(capture);
		return status;
	}
	if (summary)
		status = ky_export_count(capture, save->progress, summary, error);
	if (status == KYMO_OK)
		status =
			put_in_place(capture, save->path, save->options.overwrite, error);
	return status;
}

int32_t ky_save_prepare(struct ky_save *save, const char *path,
			const struct kymo_sink_options *options,
			const struct kymo_summary *summary, struct kymo_error *error)
{
	int32_t status;

	*save = (struct ky_save){.path = path, .fill = ky_save_stopped};
	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no path to save to");
	status = ky_sink_options_read(options, &save->options, error);
	return status == KYMO_OK ? ky_result_check(summary, error) : status;
}

/* That a file can be made beside `path`; else the recording would be for nothing. */
static int32_t check_folder(const char *path, struct kymo_error *error)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
	if (access(folder, W_OK | X_OK) == 0)
		return KYMO_OK;
	return ky_error_set_errno(error, errno, "cannot write to \"%s\"", folder);
}

/* What is there already: nothing, a file to be replaced, or a pipe, written as it is. */
static int32_t check_existing(const char *path, uint32_t overwrite,
			      struct kymo_error *error)
{
	struct stat found;

	if (stat(path, &found) != 0 || S_ISFIFO(found.st_mode))
		return KYMO_OK;
	if (S_ISDIR(found.st_mode))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "\"%s\" is a folder: name a file in it", path);
	return overwrite ? KYMO_OK : ky_error_exists(error, path);
}

int32_t ky_save_check_path(const char *path, uint32_t overwrite, struct kymo_error *error)
{
	struct ky_sink_choice choice;
	int32_t status;
	int is_file;

	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no path to save to");
	if (strlen(path) >= PATH_MAX)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the path is too long: \"%s\"", path);
	/* What another protocol's path is, only its sink knows. */
	is_file = ky_sink_path(path) == path;
	status = is_file ? check_existing(path, overwrite, error) : KYMO_OK;
	if (status == KYMO_OK && !ky_is_capture_path(path))
		status = ky_sink_choose(path, KY_CAPTURE_SUFFIX, &choice, error);
	return status == KYMO_OK && is_file ? check_folder(path, error) : status;
}

int32_t ky_save_check_place(const struct ky_save *save, struct kymo_error *error)
{
	int32_t status = ky_save_check_path(save->path, save->options.overwrite, error);

	if (status != KYMO_OK)
		ky_error_wrap(error, "cannot save the session to \"%s\"", save->path);
	return status;
}

/* `path` is the capture file that is there all the same if it fails, or "". */
static int32_t write_target(const struct ky_save *save, struct ky_capture *capture,
			    char *path, struct kymo_summary *summary,
			    struct kymo_error *error)
{
	int32_t status = ky_save_check_path(save->path, save->options.overwrite, error);

	path[0] = '\0';
	ky_progress_step(save->progress, PERCENT_COPIED, 1);
	if (status == KYMO_OK)
		status = ky_save_capture(capture, save->fill, save->path, path, error);
	if (status == KYMO_OK)
		status = ky_progress_add(save->progress, 1, error);
	if (status == KYMO_OK)
		status = turn_into(path, save, summary, error);
	return status;
}

static int is_last_save(struct kymo_session *session)
{
	int result;

	ky_lock(&ky_gate()->session_lock);
	result = session->is_leaving || session->stages.request != 0;
	ky_unlock(&ky_gate()->session_lock);
	return result;
}

/*
 * The capture file of a save that has failed: where it is, if it is whole already, beside
 * the target, if only that cannot be written, or among the temporary files, in /tmp too
 * if TMPDIR names another folder, which may be the one that is full. The error tells
 * where, and for that loses its own end where both do not fit.
 */
static void keep(const struct ky_save *save, struct ky_capture *capture, int32_t status,
		 char *path, struct kymo_error *error)
{
	const char *const folders[] = {temporary_folder(), "/tmp"};
	const struct kymo_error failure = *error;
	struct kymo_error why = {0};
	char place[PATH_MAX], where[400];

	if (!path[0])
		ky_save_capture(capture, save->fill, save->path, path, NULL);
	for (size_t i = 0; i < 2 && !path[0]; i++) {
		temporary_place(save->path, folders[i], place, sizeof(place));
		capture_beside(place, capture, save->fill, path, &why);
	}
	if (path[0])
		snprintf(where, sizeof(where),
			 "; the capture is kept: kymo export %s -o FILE", path);
	else
		snprintf(where, sizeof(where), "; nor can the capture be kept: %.360s",
			 why.message);
	ky_error_set(error, status, "%.*s%s",
		     (int)(sizeof(failure.message) - 1 - strlen(where)), failure.message,
		     where);
}

/* `kept` is the capture file that is left if it fails, or "". */
static int32_t run(struct kymo_session *session, const struct ky_save *save, char *kept,
		   struct kymo_summary *summary, struct kymo_error *error)
{
	struct ky_capture *capture = &session->embedded->capture;
	const int32_t status = write_target(save, capture, kept, summary, error);

	if (status == KYMO_OK) {
		ky_progress_finish(save->progress);
		return status;
	}
	ky_error_wrap(error, "cannot save the session to \"%s\"", save->path);
	if (status != KYMO_ERROR_CANCELLED && is_last_save(session)) {
		keep(save, capture, status, kept, error);
	} else if (kept[0]) {
		unlink(kept);
		kept[0] = '\0';
	}
	return status;
}

static int32_t fill_live(struct ky_capture *capture, struct ky_spool *spool,
			 struct kymo_error *error)
{
	struct ky_snapshot *snapshot;
	int32_t status = ky_snapshot_take(&snapshot, capture, error);

	if (status == KYMO_OK)
		status = ky_snapshot_write(snapshot, spool, error);
	ky_snapshot_destroy(snapshot);
	return status;
}

int32_t ky_session_save_used(struct kymo_session *session, const struct ky_save *save,
			     struct kymo_summary *summary, struct kymo_error *error)
{
	/* Observers are told of what was written, also where nobody asked for it here. */
	struct kymo_summary own = {.struct_size = sizeof(own)};
	struct kymo_summary *counted = summary || ky_is_observed() ? &own : NULL;
	struct kymo_error failure = {0};
	const uint64_t begun_ns = ky_monotonic_ns();
	char kept[PATH_MAX];
	const int32_t status = run(session, save, kept, counted, &failure);

	ky_result_write(summary, &own, sizeof(own));
	if (status != KYMO_OK && error)
		*error = failure;
	if (status != KYMO_OK && save->kept)
		memcpy(save->kept, kept, sizeof(kept));
	ky_lock(&ky_gate()->session_lock);
	ky_stages_saved(&session->stages, begun_ns, status == KYMO_OK ? save->path : kept,
			&own, status != KYMO_OK ? &failure : NULL);
	ky_unlock(&ky_gate()->session_lock);
	ky_session_unuse(session);
	return status;
}

int32_t ky_session_save(struct kymo_session *session, const struct ky_save *save,
			struct kymo_summary *summary, struct kymo_error *error)
{
	int32_t status = ky_session_use(session, "save", error);

	if (status != KYMO_OK)
		return status;
	status = ky_session_save_used(session, save, summary, error);
	ky_stages_tell();
	return status;
}

int32_t kymo_session_save(struct kymo_session *session, const char *path,
			  const struct kymo_sink_options *options,
			  struct kymo_summary *summary, struct kymo_error *error)
{
	struct ky_save save;
	int32_t status = ky_save_prepare(&save, path, options, summary, error);

	return status == KYMO_OK ? ky_session_save(session, &save, summary, error)
				 : status;
}

int32_t kymo_session_snapshot(struct kymo_session *session, const char *path,
			      uint64_t last_ns, const struct kymo_sink_options *options,
			      struct kymo_summary *summary, struct kymo_error *error)
{
	const uint64_t now_ns = ky_monotonic_ns();
	struct ky_save save;
	int32_t status = ky_save_prepare(&save, path, options, summary, error);

	if (status == KYMO_OK)
		status = ky_session_use_live(session, "take a snapshot", error);
	if (status != KYMO_OK)
		return status;
	save.fill = fill_live;
	if (last_ns > 0 && last_ns < now_ns)
		save.since_ns = (int64_t)(now_ns - last_ns);
	status = ky_session_save_used(session, &save, summary, error);
	ky_stages_tell();
	return status;
}
