/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of a request. The schedule says what is to be done; it is done by whoever
 * brought the schedule there: the thread of the request when a time has come, the
 * program's own thread in kymo_session_step(), so that exactly the iterations asked for
 * are recorded. What takes long, stopping the sources and saving, is the thread's, and
 * only the thread ends a request that is being saved.
 */
#include "session/request.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fork_guard.h"
#include "base/lock.h"
#include "base/thread.h"
#include "session/kept_capture.h"
#include "session/page.h"
#include "session/save.h"
#include "session/session.h"
#include "session/source.h"

#define ENDED_MAX 64u /* that can still be asked for */
#define NS_PER_MS 1000000
/* For all that the exit of the program waits for. */
#define EXIT_LIMIT_NS 5000000000u
#define PREEMPTED     "pre-empted by a session that the program began itself"
#define CANCELLED     "cancelled by the program"
#define EXITED        "the program has ended"

/* Under request_lock; a forked child finds its parent's, and forgets it. */
static struct {
	pid_t pid;
	uint64_t last_id;
	struct ky_request current;
	struct kymo_request_status ended[ENDED_MAX]; /* by their number, modulo */
} requests;

void ky_requests_lock(void)
{
	ky_lock(&ky_session_page()->request_lock);
	ky_stages_hold(1);
	if (requests.pid == getpid())
		return;
	requests.pid = getpid();
	requests.last_id = 0;
	memset(&requests.current, 0, sizeof(requests.current));
	ky_kept_capture_forget();
}

void ky_requests_unlock(void)
{
	ky_stages_hold(0);
	ky_unlock(&ky_session_page()->request_lock);
}

void ky_request_tell(const struct ky_ending *ending)
{
	ky_stages_tell();
	if (ending->ended)
		ending->ended(ending->context, &ending->status);
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* ---- The end of a request; request_lock held ---- */

void ky_request_free(struct ky_request *request)
{
	kymo_session_destroy(request->session);
	free(request->path);
	memset(request, 0, sizeof(*request));
}

/* `path` is what was saved or kept, or "". */
static void end(uint32_t state, const char *path, const char *reason,
		const struct kymo_summary *summary, struct ky_ending *ending)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_request *request = &requests.current;
	struct kymo_request_status *status = &requests.ended[request->id % ENDED_MAX];

	*status = (struct kymo_request_status){
		.struct_size = sizeof(*status),
		.state = state,
		.id = request->id,
		.late_ns = request->late_ns,
	};
	if (summary) {
		status->events = summary->events;
		status->lost = summary->lost;
		status->duration_ns = summary->duration_ns;
		status->percent = 100;
	}
	snprintf(status->path, sizeof(status->path), "%s", path);
	snprintf(status->reason, sizeof(status->reason), "%s", reason);
	*ending = (struct ky_ending){*status, request->ended, request->context};
	if (state == KYMO_REQUEST_CANCELLED)
		ky_stages_cancel(&request->session->stages, KYMO_OK, reason, path);
	ky_request_free(request);
	__atomic_store_n(&page->request_steps, 0, __ATOMIC_RELAXED);
	ky_tell_change(&page->request_change);
}

static void fail(const struct kymo_error *error, const char *kept,
		 struct ky_ending *ending)
{
	ky_schedule_handle(&requests.current.schedule, KY_TRIGGER_FAIL);
	ky_stages_cancel(&requests.current.session->stages, error->status, error->message,
			 "");
	end(KYMO_REQUEST_FAILED, kept, error->message, NULL, ending);
}

/* It goes no further, for that reason; what it has recorded its thread saves. */
static void cut_short(const char *reason, struct ky_ending *ending)
{
	struct ky_request *request = &requests.current;

	switch (ky_schedule_handle(&request->schedule, KY_TRIGGER_PREEMPT)) {
	case KY_ACTION_END:
	case KY_ACTION_DISCARD:
		end(KYMO_REQUEST_CANCELLED, "", reason, NULL, ending);
		break;
	case KY_ACTION_STOP:
		request->preempted = reason;
		ky_tell_change(&ky_session_page()->request_change);
		break;
	default:
		break;
	}
}

/* ---- What the schedule says; request_lock held ---- */

static void perform(enum ky_schedule_action action, struct ky_ending *ending)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_request *request = &requests.current;
	struct kymo_error error = {0};
	int32_t status = KYMO_OK;

	if (action == KY_ACTION_PREPARE)
		status = ky_session_prepare(request->session, &error);
	else if (action == KY_ACTION_START)
		status = kymo_session_start(request->session, &error);
	else if (action == KY_ACTION_STOP) {
		__atomic_store_n(&page->request_steps, 0, __ATOMIC_RELAXED);
		ky_session_close(request->session);
	}
	if (status != KYMO_OK)
		fail(&error, "", ending);
	else
		ky_tell_change(&page->request_change);
}

/* One step, if it is due at `now`, of the plan's own kind; false if none was. */
static int advance(int64_t now, struct ky_ending *ending)
{
	struct ky_request *request = &requests.current;
	const struct ky_schedule_plan plan = request->schedule.plan;
	const enum ky_schedule_action action =
		ky_schedule_advance(&request->schedule, now);

	if (action == KY_ACTION_NONE)
		return 0;
	if (action == KY_ACTION_START && !plan.by_iteration)
		request->late_ns = (uint64_t)(now - plan.start);
	perform(action, ending);
	return 1;
}

void kymo_session_step(void)
{
	struct ky_session_page *page = ky_session_page();
	/* In one order with ky_request_accept: one of the two sees the other. */
	const uint64_t iteration =
		__atomic_fetch_add(&page->iterations, 1, __ATOMIC_SEQ_CST);
	struct ky_ending ending = {.ended = NULL};

	if (!KYMO_UNLIKELY(__atomic_load_n(&page->request_steps, __ATOMIC_SEQ_CST)))
		return;
	ky_requests_lock();
	while (requests.current.session && requests.current.schedule.plan.by_iteration &&
	       advance((int64_t)iteration, &ending))
		;
	ky_requests_unlock();
	ky_request_tell(&ending);
}

/* ---- The thread ---- */

/* Stops and saves, with the lock open meanwhile; the request has ended then. */
static void process(struct ky_ending *ending)
{
	struct ky_request *request = &requests.current;
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.overwrite = request->overwrite,
	};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};
	char kept[PATH_MAX] = "";
	struct ky_save save;
	int32_t status;

	ky_requests_unlock();
	/* It may be stopped already, by a session that wanted the gate at once. */
	kymo_session_stop(request->session, NULL);
	status = ky_save_prepare(&save, request->path, &options, &summary, &error);
	save.progress = &request->progress;
	save.kept = kept;
	if (status == KYMO_OK)
		status = ky_session_save(request->session, &save, &summary, &error);
	ky_requests_lock();
	if (status == KYMO_ERROR_CANCELLED) {
		ky_schedule_handle(&request->schedule, KY_TRIGGER_CANCEL);
		end(KYMO_REQUEST_CANCELLED, "", CANCELLED, NULL, ending);
	} else if (status != KYMO_OK) {
		if (kept[0])
			ky_kept_capture_replace(kept);
		fail(&error, kept, ending);
	} else {
		ky_schedule_handle(&request->schedule, KY_TRIGGER_SAVED);
		end(request->preempted ? KYMO_REQUEST_CANCELLED : KYMO_REQUEST_DONE,
		    request->path, request->preempted ? request->preempted : "", &summary,
		    ending);
	}
}

/* What is due, or false if there is nothing but to wait until `*due_ns`. */
static int serve_once(uint64_t *due_ns, struct ky_ending *ending)
{
	const struct ky_schedule *schedule = &requests.current.schedule;
	int64_t point;

	*due_ns = UINT64_MAX;
	if (schedule->state == KY_SCHEDULE_PROCESSING) {
		process(ending);
		return 1;
	}
	if (schedule->plan.by_iteration)
		return 0;
	if (advance((int64_t)ky_monotonic_ns(), ending))
		return 1;
	if (ky_schedule_next(schedule, &point))
		*due_ns = (uint64_t)point;
	return 0;
}

static void serve(void *context)
{
	struct ky_session_page *page = ky_session_page();

	(void)context;
	ky_requests_lock();
	page->request_tid = own_tid();
	while (requests.current.session) {
		const uint32_t seen =
			__atomic_load_n(&page->request_change, __ATOMIC_RELAXED);
		struct ky_ending ending = {.ended = NULL};
		uint64_t due_ns;
		const int is_busy = serve_once(&due_ns, &ending);

		ky_requests_unlock();
		ky_request_tell(&ending);
		if (!is_busy)
			ky_wait_for_change(&page->request_change, seen, due_ns);
		ky_requests_lock();
	}
	page->request_runs = 0;
	ky_requests_unlock();
	ky_tell_change(&page->request_change);
}

/* ---- The exit of the program ---- */

/* False if somebody still has it then, as who exits in the middle of a call of ours. */
static int lock_until(uint64_t due_ns)
{
	const struct timespec shortly = {0, NS_PER_MS};

	while (!ky_try_lock(&ky_session_page()->request_lock)) {
		if (ky_monotonic_ns() >= due_ns)
			return 0;
		nanosleep(&shortly, NULL);
	}
	return 1;
}

/*
 * What is recorded by now is saved, as far as there is time; the capture file stays where
 * there is not. A driver that came after the handler is gone by now, and its source has
 * been drained: sources are not stopped.
 */
static void end_at_exit(void)
{
	struct ky_session_page *page = ky_session_page();
	const uint64_t due_ns = ky_monotonic_ns() + EXIT_LIMIT_NS;
	struct ky_ending ending = {.ended = NULL};
	uint32_t seen = 0;

	/* In a forked child it is its parent's. */
	if (page->request_exits != 1)
		return;
	/* In a handler of signals, in the middle of a call of ours. */
	if (ky_stages_are_held() || !lock_until(due_ns))
		return;
	page->request_exits = 2;
	if (requests.current.session && page->request_tid != own_tid()) {
		ky_sources_leave();
		ky_stages_hold(1);
		cut_short(EXITED, &ending);
		ky_stages_hold(0);
	}
	while (page->request_runs && page->request_tid != own_tid() &&
	       ky_monotonic_ns() < due_ns) {
		seen = __atomic_load_n(&page->request_change, __ATOMIC_RELAXED);
		ky_unlock(&page->request_lock);
		ky_request_tell(&ending);
		ending.ended = NULL;
		ky_wait_for_change(&page->request_change, seen, due_ns);
		if (!lock_until(due_ns))
			return;
	}
	ky_unlock(&page->request_lock);
	ky_request_tell(&ending);
}

/* ---- What the program asks for ---- */

static int32_t refuse_second(struct kymo_error *error)
{
	const struct ky_request *request = &requests.current;
	const struct ky_schedule_plan *plan = &request->schedule.plan;
	const int64_t left_ns = plan->end - (int64_t)ky_monotonic_ns();
	char until[64];

	if (request->schedule.state == KY_SCHEDULE_PROCESSING)
		snprintf(until, sizeof(until), "until its trace is written");
	else if (plan->by_iteration)
		snprintf(until, sizeof(until), "until iteration %" PRId64, plan->end);
	else
		snprintf(until, sizeof(until), "for another %" PRId64 " ms",
			 left_ns > 0 ? left_ns / NS_PER_MS + 1 : 0);
	return ky_error_set(error, KYMO_ERROR_BUSY,
			    "request %" PRIu64 " is under way (%s) %s", request->id,
			    ky_schedule_state_name(request->schedule.state), until);
}

int32_t ky_request_check_idle(struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	ky_requests_lock();
	if (requests.current.session)
		status = refuse_second(error);
	ky_requests_unlock();
	return status;
}

/* Starts the thread of requests, if there is none. */
static int32_t have_thread(struct ky_session_page *page, struct kymo_error *error)
{
	if (page->request_runs)
		return KYMO_OK;
	if (ky_thread_start(serve, NULL) != KYMO_OK)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "the thread of the request cannot be started");
	page->request_runs = 1;
	page->request_tid = 0;
	return KYMO_OK;
}

/* So that the program's exit finds it. */
static int32_t have_exit(struct ky_session_page *page, struct kymo_error *error)
{
	if (page->request_exits == 2)
		return ky_error_set(error, KYMO_ERROR_STATE, EXITED);
	if (page->request_exits == 0 && ky_at_exit(end_at_exit) != 0)
		return ky_error_no_memory(error);
	page->request_exits = 1;
	return KYMO_OK;
}

/*
 * The plan as of now. An iteration that begins from here on waits for the lock, so none
 * that it asks for can be over before the request is there.
 */
static int32_t plan_anew(struct ky_session_page *page,
			 const struct kymo_request_options *options,
			 struct ky_schedule_plan *plan, struct kymo_error *error)
{
	int32_t status;

	__atomic_store_n(&page->request_steps, 1, __ATOMIC_SEQ_CST);
	status = ky_request_plan(options, plan, error);
	if (status != KYMO_OK || !plan->by_iteration)
		__atomic_store_n(&page->request_steps, 0, __ATOMIC_RELAXED);
	return status;
}

int32_t ky_request_accept(const struct ky_request *request,
			  const struct kymo_request_options *options, uint64_t *id,
			  struct kymo_error *error)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_schedule_plan plan;
	int32_t status;

	ky_requests_lock();
	status = requests.current.session ? refuse_second(error) : have_exit(page, error);
	if (status == KYMO_OK)
		status = have_thread(page, error);
	if (status == KYMO_OK)
		status = plan_anew(page, options, &plan, error);
	if (status == KYMO_OK) {
		*id = ++requests.last_id;
		requests.current = *request;
		requests.current.id = *id;
		requests.current.session->stages.request = *id;
		ky_schedule_submit(&requests.current.schedule, &plan);
		ky_tell_change(&page->request_change);
	}
	ky_requests_unlock();
	return status;
}

static const uint32_t public_states[KY_SCHEDULE_STATES] = {
	[KY_SCHEDULE_WAITING] = KYMO_REQUEST_WAITING,
	[KY_SCHEDULE_WARMING_UP] = KYMO_REQUEST_WARM_UP,
	[KY_SCHEDULE_RECORDING] = KYMO_REQUEST_RECORDING,
	[KY_SCHEDULE_PROCESSING] = KYMO_REQUEST_PROCESSING,
};

int32_t ky_request_find(uint64_t id, struct kymo_request_status *out)
{
	const struct ky_request *request = &requests.current;
	const struct kymo_request_status *ended = &requests.ended[id % ENDED_MAX];

	if (id == 0 || id > requests.last_id)
		return KYMO_ERROR_NOT_FOUND;
	if (request->session && request->id == id) {
		*out = (struct kymo_request_status){
			.struct_size = sizeof(*out),
			.state = public_states[request->schedule.state],
			.id = id,
			.late_ns = request->late_ns,
			.percent = ky_progress_percent(&request->progress),
		};
		return KYMO_OK;
	}
	if (ended->id != id)
		return KYMO_ERROR_NOT_FOUND;
	*out = *ended;
	return KYMO_OK;
}

/* Ends it, or has the thread that saves it do so. */
void ky_request_cancel(struct ky_ending *ending)
{
	struct ky_request *request = &requests.current;

	if (request->schedule.state == KY_SCHEDULE_PROCESSING) {
		ky_progress_cancel(&request->progress);
		return;
	}
	ky_schedule_handle(&request->schedule, KY_TRIGGER_CANCEL);
	end(KYMO_REQUEST_CANCELLED, "", CANCELLED, NULL, ending);
}

void ky_request_preempt(void)
{
	struct ky_ending ending = {.ended = NULL};

	ky_requests_lock();
	cut_short(PREEMPTED, &ending);
	/* Its thread saves it; the gate has to be free now. */
	if (requests.current.session)
		kymo_session_stop(requests.current.session, NULL);
	ky_requests_unlock();
	ky_request_tell(&ending);
}
