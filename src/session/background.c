/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saves in the background, each by a thread of its own. What it ends with is written
 * before `state`, and after that the thread does not look at the save any more; whoever
 * waits does so on a word of the page, which outlives both.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/save.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "session/export.h"
#include "session/page.h"
#include "session/save.h"
#include "session/session.h"

struct kymo_save {
	pid_t pid;        /* of the process whose thread does it */
	uint32_t is_over; /* release: what follows is final */
	int32_t status;
	struct kymo_summary summary;
	struct kymo_error error;
	/* What the thread works with. */
	struct ky_progress progress;
	struct kymo_session *session; /* NULL: it is an export */
	struct ky_save work;
	char *path, *compat;
	struct ky_export export;
};

static int is_over(const struct kymo_save *save)
{
	return (int)__atomic_load_n(&save->is_over, __ATOMIC_ACQUIRE);
}

/* Its thread is not in a forked child. */
static int is_lost(const struct kymo_save *save)
{
	return save->pid != getpid() && !is_over(save);
}

static void run(void *context)
{
	struct kymo_save *save = context;
	/* Who knows that it is over need not wait for the session any more. */
	if (save->session)
		save->status = ky_session_save_used(save->session, &save->work,
						    &save->summary, &save->error);
	else
		save->status = ky_export_run(&save->export, &save->summary, &save->error);
	__atomic_store_n(&save->is_over, 1, __ATOMIC_RELEASE);
	ky_tell_change(&ky_session_page()->save_change);
	/* Now, for an observer may wait for the save. */
	ky_stages_tell();
}

static void free_save(struct kymo_save *save)
{
	free(save->path);
	free(save->compat);
	free(save);
}

void kymo_save_destroy(struct kymo_save *save)
{
	if (!save)
		return;
	ky_progress_cancel(&save->progress);
	kymo_save_wait(save, -1, NULL, NULL);
	free_save(save);
}

static struct kymo_save *make_save(void)
{
	struct kymo_save *save = calloc(1, sizeof(*save));

	if (!save)
		return NULL;
	save->pid = getpid();
	save->summary.struct_size = sizeof(save->summary);
	return save;
}

static int32_t start(struct kymo_save *save, struct kymo_error *error)
{
	if (ky_thread_start(run, save) == KYMO_OK)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no thread can be started");
}

/* Copies what the program may change as soon as we return. */
static int32_t make_session_save(const struct ky_save *work, struct kymo_save **out,
				 struct kymo_error *error)
{
	const struct kymo_str compat = work->options.compat;
	struct kymo_save *save = make_save();

	if (!save)
		return ky_error_no_memory(error);
	save->path = strdup(work->path);
	save->compat = strndup(compat.size ? compat.data : "", compat.size);
	if (!save->path || !save->compat) {
		free_save(save);
		return ky_error_no_memory(error);
	}
	save->work = *work;
	save->work.path = save->path;
	save->work.options.compat.data = save->compat;
	save->work.progress = &save->progress;
	*out = save;
	return KYMO_OK;
}

int32_t kymo_save_start(struct kymo_session *session, const char *path,
			const struct kymo_sink_options *options, struct kymo_save **out,
			struct kymo_error *error)
{
	struct kymo_save *save = NULL;
	struct ky_save work;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the save");
	*out = NULL;
	status = ky_save_prepare(&work, path, options, NULL, error);
	if (status == KYMO_OK)
		status = ky_save_check_place(&work, error);
	if (status == KYMO_OK)
		status = make_session_save(&work, &save, error);
	if (status == KYMO_OK)
		status = ky_session_use(session, "save", error);
	if (status != KYMO_OK)
		goto fail;
	save->session = session;
	status = start(save, error);
	if (status != KYMO_OK) {
		ky_session_unuse(session);
		goto fail;
	}
	*out = save;
	return KYMO_OK;
fail:
	if (save)
		free_save(save);
	return status;
}

int32_t kymo_timeline_export_start(const char *const *captures, size_t count,
				   struct kymo_output *const *outputs,
				   const struct kymo_sink_options *options,
				   struct kymo_save **out, struct kymo_error *error)
{
	struct kymo_save *save;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the export");
	*out = NULL;
	save = make_save();
	if (!save)
		return ky_error_no_memory(error);
	save->export = (struct ky_export){
		.captures = captures,
		.count = count,
		.outputs = outputs,
		.options = &save->work.options,
		.progress = &save->progress,
	};
	status = ky_sink_options_read(options, &save->work.options, error);
	if (status == KYMO_OK)
		status = start(save, error);
	if (status == KYMO_OK)
		*out = save;
	else
		free_save(save);
	return status;
}

int32_t kymo_save_poll(const struct kymo_save *save, uint32_t *percent)
{
	if (!save)
		return KYMO_ERROR_INVALID;
	if (percent)
		*percent = ky_progress_percent(&save->progress);
	if (is_lost(save))
		return KYMO_ERROR_STATE;
	return is_over(save) ? save->status : KYMO_AGAIN;
}

int32_t kymo_save_wait(const struct kymo_save *save, int64_t timeout_ms,
		       struct kymo_summary *summary, struct kymo_error *error)
{
	uint32_t *change = &ky_session_page()->save_change;
	const uint64_t due_ns = ky_deadline_ns(timeout_ms);
	int32_t status = ky_result_check(summary, error);

	if (!save)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no save to wait for");
	if (status != KYMO_OK)
		return status;
	if (is_lost(save))
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "the save is the parent process's, which forked "
				    "this one");
	for (;;) {
		const uint32_t seen = __atomic_load_n(change, __ATOMIC_RELAXED);

		if (is_over(save))
			break;
		if (ky_monotonic_ns() >= due_ns)
			return KYMO_AGAIN;
		ky_wait_for_change(change, seen, due_ns);
	}
	/* Of several outputs some may be written where others are not. */
	ky_result_write(summary, &save->summary, sizeof(save->summary));
	if (save->status != KYMO_OK)
		return ky_error_set(error, save->status, "%s", save->error.message);
	return KYMO_OK;
}

int32_t kymo_save_cancel(struct kymo_save *save, struct kymo_error *error)
{
	if (!save)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no save to cancel");
	if (is_over(save) || is_lost(save))
		return ky_error_set(error, KYMO_ERROR_STATE, "it has ended already");
	ky_progress_cancel(&save->progress);
	return KYMO_OK;
}
