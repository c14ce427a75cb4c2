/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as the program makes and follows them. */
#include "session/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "session/page.h"
#include "session/plan.h"
#include "session/save.h"
#include "session/session.h"

#define SIZE_LEAST offsetof(struct kymo_request_options, context)

int32_t ky_request_plan(const struct kymo_request_options *options,
			struct ky_schedule_plan *out, struct kymo_error *error)
{
	const struct ky_moment now = {
		.monotonic_ns = ky_monotonic_ns(),
		.realtime_ns = ky_realtime_ns(),
		.iteration = (int64_t)__atomic_load_n(&ky_session_page()->iterations,
						      __ATOMIC_SEQ_CST) -
			     1,
	};

	return ky_plan_make(options, &now, out, error);
}

/* Whatever can be known of a request before its time. */
static int32_t make_request(const struct kymo_request_options *options,
			    struct ky_request *out, struct kymo_error *error)
{
	struct ky_schedule_plan plan;
	int32_t status = ky_save_check_path(options->path, options->overwrite, error);

	/* It will be made again: the program goes on meanwhile. */
	if (status == KYMO_OK)
		status = ky_request_plan(options, &plan, error);
	if (status == KYMO_OK)
		status = ky_session_check_free(error);
	if (status == KYMO_OK)
		status = kymo_session_create(&out->session, options->session, error);
	if (status == KYMO_OK)
		status = ky_session_check_sources(out->session, error);
	if (status != KYMO_OK)
		return status;
	out->path = strdup(options->path);
	out->overwrite = options->overwrite;
	out->ended = options->ended;
	out->context = options->context;
	return out->path ? KYMO_OK : ky_error_no_memory(error);
}

int32_t kymo_request_submit(const struct kymo_request_options *options, uint64_t *id,
			    struct kymo_error *error)
{
	struct kymo_request_options known;
	struct ky_request request = {.session = NULL};
	uint64_t number;
	int32_t status =
		ky_options_read(options, sizeof(known), SIZE_LEAST, &known, error);

	/* First, for the session of the other is no reason that helps. */
	if (status == KYMO_OK)
		status = ky_request_check_idle(error);
	/* Not under the lock: it may load sinks, and plug-ins. */
	if (status == KYMO_OK)
		status = make_request(&known, &request, error);
	if (status == KYMO_OK)
		status = ky_request_accept(&request, &known, &number, error);
	if (status != KYMO_OK)
		ky_request_free(&request);
	else if (id)
		*id = number;
	return status;
}

/* `seen` is the word that changes when there is news. */
static int32_t look(uint64_t id, struct kymo_request_status *out, uint32_t *seen)
{
	int32_t status;

	ky_requests_lock();
	*seen = __atomic_load_n(&ky_session_page()->request_change, __ATOMIC_RELAXED);
	status = ky_request_find(id, out);
	ky_requests_unlock();
	return status;
}

int32_t kymo_request_poll(uint64_t id, struct kymo_request_status *status)
{
	struct kymo_request_status found;
	uint32_t seen;
	int32_t result = ky_result_check(status, NULL);

	if (result == KYMO_OK)
		result = look(id, &found, &seen);
	if (result == KYMO_OK)
		ky_result_write(status, &found, sizeof(found));
	return result;
}

/* In `ended` or an observer: nothing would come, since this is who has to bring it. */
static int is_its_thread(void)
{
	const struct ky_session_page *page = ky_session_page();
	int result;

	ky_requests_lock();
	result = page->request_runs && page->request_tid == (uint32_t)syscall(SYS_gettid);
	ky_requests_unlock();
	return result;
}

int32_t kymo_request_wait(uint64_t id, int64_t timeout_ms,
			  struct kymo_request_status *status)
{
	const uint64_t due_ns = ky_deadline_ns(timeout_ms);
	int32_t result = ky_result_check(status, NULL);
	struct kymo_request_status found;
	uint32_t seen;

	while (result == KYMO_OK) {
		result = look(id, &found, &seen);
		if (result != KYMO_OK || found.state >= KYMO_REQUEST_DONE)
			break;
		if (ky_monotonic_ns() >= due_ns)
			result = KYMO_AGAIN;
		else if (is_its_thread())
			result = KYMO_ERROR_STATE;
		else
			ky_wait_for_change(&ky_session_page()->request_change, seen,
					   due_ns);
	}
	if (result >= KYMO_OK)
		ky_result_write(status, &found, sizeof(found));
	return result;
}

int32_t kymo_request_cancel(uint64_t id, struct kymo_error *error)
{
	struct ky_ending ending = {.ended = NULL};
	struct kymo_request_status found;
	int32_t status;

	ky_requests_lock();
	status = ky_request_find(id, &found);
	if (status != KYMO_OK)
		ky_error_set(error, status, "there is no request %" PRIu64, id);
	else if (found.state >= KYMO_REQUEST_DONE)
		status = ky_error_set(error, KYMO_ERROR_STATE,
				      "request %" PRIu64 " has ended already", id);
	else
		ky_request_cancel(&ending);
	ky_requests_unlock();
	ky_request_tell(&ending);
	return status;
}
