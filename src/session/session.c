/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program's own session: the state machine.
 *
 *     NEW --prepare--> PREPARED --start--> RECORDING --stop--> STOPPED --save--> ...
 *                                           |     ^
 *                                         pause resume
 *                                           v     |
 *                                           PAUSED
 *
 * session_lock protects the state of every session, and is held through prepare, start
 * and stop: two threads that do different things at once get one order or the other. It
 * is not held while a file is written. Which session has the gate stands on the wiped
 * page, so a forked child is free to make its own; one that it inherited while it was
 * recording is the parent's, and can only be destroyed.
 */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/lock.h"
#include "capture/lease.h"
#include "config/config.h"
#include "record/dictionary.h"
#include "session/client.h"
#include "session/identity.h"
#include "session/mark.h"
#include "session/page.h"
#include "session/range.h"
#include "session/recorder.h"
#include "session/remark.h"
#include "session/request.h"
#include "session/session_options.h"
#include "session/source.h"
#include "session/source_load.h"
#include "session/wanted_types.h"

/* For all sources together. A driver's first call may take seconds. */
#define START_LIMIT_NS 10000000000u
#define STOP_LIMIT_NS  2000000000u

#define PAUSED "paused by the program"

static const char *const state_names[] = {
	[KY_SESSION_NEW] = "not prepared",    [KY_SESSION_PREPARED] = "prepared",
	[KY_SESSION_RECORDING] = "recording", [KY_SESSION_STOPPED] = "stopped",
	[KY_SESSION_PAUSED] = "paused",
};

static uint64_t random_number(void)
{
	uint64_t number = 0;
	const uint64_t moment[] = {ky_monotonic_ns(), (uint64_t)getpid()};

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = ky_hash(moment, sizeof(moment), ky_realtime_ns());
	return number ? number : 1;
}

static void lock_sessions(void)
{
	ky_lock(&ky_gate()->session_lock);
}

static void unlock_sessions(void)
{
	ky_unlock(&ky_gate()->session_lock);
}

int32_t ky_session_check(const struct kymo_session *session, uint32_t state,
			 const char *what, struct kymo_error *error)
{
	if (!session)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no session");
	if (session->pid != getpid() && session->state != KY_SESSION_STOPPED)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "cannot %s: the session is the parent process's, "
				    "which forked this one",
				    what);
	if (session->state != state)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "cannot %s: the session is %s, it has to be %s", what,
				    state_names[session->state], state_names[state]);
	return KYMO_OK;
}

/* ---- Create and destroy ---- */

/* Which one has begun; while one has, the program adds no activity types. */
static void set_session(struct kymo_session *session)
{
	ky_session_page()->session = session;
	__atomic_store_n(&ky_gate()->types_frozen, session != NULL, __ATOMIC_RELAXED);
}

/* Ends what the session still is to the process; session_lock held. */
static void let_go(struct kymo_session *session)
{
	struct ky_session_page *page = ky_session_page();

	if (page->session == session)
		set_session(NULL);
	if (page->mirrored == session) {
		ky_dictionary_mirror(NULL, 0, NULL, NULL);
		page->mirrored = NULL;
	}
}

static void rest(struct kymo_session *session)
{
	session->paused_ticks = ky_mark_rest(PAUSED, ky_monotonic_ns() + STOP_LIMIT_NS);
	session->state = KY_SESSION_PAUSED;
}

static void go_on(struct kymo_session *session)
{
	ky_mark_resume(session->paused_ticks, PAUSED, ky_monotonic_ns() + STOP_LIMIT_NS);
	session->state = KY_SESSION_RECORDING;
}

static void close_gate(struct kymo_session *session)
{
	/* Before the end: what it has collected it hands in now. */
	if (session->state == KY_SESSION_RECORDING)
		ky_client_stop();
	ky_gate_shut();
	if (session->range)
		ky_range_disarm();
}

/* One that is only prepared ends the same way, with nothing in it. */
static void stop_recording(struct kymo_session *session)
{
	if (session->state == KY_SESSION_PAUSED)
		go_on(session);
	close_gate(session);
	ky_sources_end(ky_monotonic_ns() + STOP_LIMIT_NS);
	ky_capture_cut(&session->embedded->capture);
	session->state = KY_SESSION_STOPPED;
	/* Nothing changes it any more, names of what comes later neither. */
	let_go(session);
}

/* What a prepare that is refused has made goes: the session is as it was. */
static void undo_prepare(struct kymo_session *session)
{
	if (session->state == KY_SESSION_PREPARED)
		stop_recording(session);
	let_go(session);
	ky_gate_forget(&session->embedded->capture);
	ky_embedded_retire(session->embedded);
	session->embedded = NULL;
	free(session->wanted);
	session->wanted = NULL;
	session->state = KY_SESSION_NEW;
}

static int is_going_on(const struct kymo_session *session)
{
	return session->state == KY_SESSION_PREPARED ||
	       session->state == KY_SESSION_RECORDING ||
	       session->state == KY_SESSION_PAUSED;
}

void kymo_session_destroy(struct kymo_session *session)
{
	if (!session)
		return;
	lock_sessions();
	if (is_going_on(session) && session->pid == getpid()) {
		ky_stages_cancel(&session->stages, KYMO_OK, "not stopped and saved", "");
		stop_recording(session);
	}
	let_go(session);
	ky_session_wait_for_users(session);
	if (session->embedded)
		ky_gate_forget(&session->embedded->capture);
	ky_embedded_retire(session->embedded);
	unlock_sessions();
	ky_stages_tell();
	ky_stages_close(&session->stages);
	ky_session_options_free(session);
	ky_session_metadata_free(session);
	free(session->wanted);
	free(session);
}

int32_t kymo_session_create(struct kymo_session **out,
			    const struct kymo_session_options *options,
			    struct kymo_error *error)
{
	struct kymo_session_options known;
	struct kymo_config *own = NULL;
	struct kymo_session *session = NULL;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no place for the session");
	*out = NULL;
	status = ky_session_options_read(options, &known, &own, error);
	if (status != KYMO_OK)
		goto out;
	session = calloc(1, sizeof(*session));
	if (!session) {
		status = ky_error_no_memory(error);
		goto out;
	}
	session->pid = getpid();
	status = ky_session_options_keep(session, &known, own, error);
	if (status != KYMO_OK)
		kymo_session_destroy(session);
	else
		*out = session;
out:
	kymo_config_destroy(own);
	return status;
}

/* ---- Prepare ---- */

/* Whether nobody records in this process; says who does. session_lock held. */
static int32_t check_nobody_else(struct kymo_error *error)
{
	char recorder[400];

	if (ky_session_page()->session)
		return ky_error_set(error, KYMO_ERROR_BUSY,
				    "another session of this program (process %d) has "
				    "begun: stop or destroy it first",
				    (int)getpid());
	if (!ky_gate_capture())
		return KYMO_OK;
	ky_remark_once(KYMO_STATE_RECORDING,
		       "a session that it wanted to begin itself was refused");
	ky_recorder_describe(recorder, sizeof(recorder));
	return ky_error_set(error, KYMO_ERROR_BUSY,
			    "this program is being recorded from outside by %s, until "
			    "it ends or the recording does",
			    recorder);
}

static int32_t make_types(struct kymo_session *session, const char *wanted,
			  struct kymo_error *error)
{
	int32_t status = ky_wanted_types_make(session->wanted_types, session->types,
					      wanted, error);

	return ky_config_blame(status, session->types_origin, KY_KEY_ACTIVITY_TYPES,
			       error);
}

static int32_t refuse_names(int32_t status, size_t room, struct kymo_error *error)
{
	const size_t used = ky_dictionary_size();

	if (used <= room)
		return ky_error_set(error, status,
				    "no memory left for the names of this program: 80 "
				    "MiB of addresses, which ulimit -v or -d may limit");
	return ky_error_set(error, status,
			    "the names that this program has used so far (%zu bytes) do "
			    "not fit: a larger buffer_size is needed",
			    used);
}

/* session_lock held. */
static int32_t make_capture(struct kymo_session *session, struct kymo_error *error)
{
	struct ky_capture *capture;
	int32_t status = ky_embedded_create(&session->embedded, session->buffer_size,
					    session->overflow, random_number(), error);

	if (status != KYMO_OK)
		return status;
	capture = &session->embedded->capture;
	ky_capture_identify(capture, 0);
	status = ky_dictionary_mirror(capture->dictionary, capture->dictionary_size,
				      &capture->header->dictionary_tail,
				      &capture->header->names_not_kept);
	if (status != KYMO_OK) {
		const size_t room = capture->dictionary_size;

		ky_embedded_retire(session->embedded);
		session->embedded = NULL;
		return refuse_names(status, room, error);
	}
	ky_session_page()->mirrored = session;
	return KYMO_OK;
}

/* From here on the sources run, and what they hand in is filtered. session_lock held. */
static int32_t warm_up(struct kymo_session *session, struct kymo_error *error)
{
	int32_t status;

	ky_wanted_types_set(session->wanted_types);
	status = ky_gate_prepare(&session->embedded->capture);
	if (status != KYMO_OK)
		return ky_error_set(error, status,
				    "this system cannot keep forked children out of the "
				    "recording (MADV_WIPEONFORK, Linux 4.14)");
	ky_capture_host_anchor(&session->embedded->capture);
	/* Of a key that is said twice the last holds: what the program says itself. */
	ky_identity_publish();
	ky_stages_publish(&session->stages);
	ky_session_metadata_publish(session);
	ky_stages_begin(&session->stages);
	session->state = KY_SESSION_PREPARED;
	set_session(session);
	ky_sources_begin(session->wanted ? session->wanted : "", ky_gate()->paused_epoch,
			 ky_monotonic_ns() + START_LIMIT_NS);
	status = ky_config_blame(ky_sources_refusal(error), session->sources_origin,
				 KY_KEY_SOURCES, error);
	if (status == KYMO_OK)
		ky_client_prepare(session->client_flags);
	return status;
}

/* session_lock held; `*wanted` is taken if that succeeds. */
static int32_t prepare(struct kymo_session *session, char **wanted,
		       struct kymo_error *error)
{
	int32_t status = ky_session_check(session, KY_SESSION_NEW, "prepare", error);

	if (status == KYMO_OK)
		status = check_nobody_else(error);
	if (status == KYMO_OK)
		status = make_types(session, *wanted ? *wanted : "", error);
	if (status == KYMO_OK)
		status = make_capture(session, error);
	if (status != KYMO_OK)
		return status;
	session->wanted = *wanted;
	*wanted = NULL;
	status = warm_up(session, error);
	if (status != KYMO_OK)
		undo_prepare(session);
	return status;
}

int32_t ky_session_check_sources(const struct kymo_session *session,
				 struct kymo_error *error)
{
	return ky_config_blame(ky_sources_check(session->sources, error),
			       session->sources_origin, KY_KEY_SOURCES, error);
}

int32_t ky_session_prepare(struct kymo_session *session, struct kymo_error *error)
{
	char *wanted = NULL;
	int32_t status;

	/* Before the lock: it may attach to a recorder, which then has the gate. */
	ky_gate_decide();
	status = ky_sources_load(session->sources, &wanted, error);
	if (status != KYMO_OK)
		return ky_config_blame(status, session->sources_origin, KY_KEY_SOURCES,
				       error);
	lock_sessions();
	status = prepare(session, &wanted, error);
	unlock_sessions();
	free(wanted);
	return status;
}

int32_t kymo_session_prepare(struct kymo_session *session, struct kymo_error *error)
{
	int32_t status;

	/* A wrong call must not end the request that is under way. */
	lock_sessions();
	status = ky_session_check(session, KY_SESSION_NEW, "prepare", error);
	unlock_sessions();
	if (status == KYMO_OK)
		status = ky_session_check_sources(session, error);
	if (status != KYMO_OK)
		return status;
	ky_request_preempt();
	return ky_session_prepare(session, error);
}

int32_t ky_session_check_free(struct kymo_error *error)
{
	int32_t status;

	ky_gate_decide();
	lock_sessions();
	status = check_nobody_else(error);
	unlock_sessions();
	return status;
}

/* ---- Start and stop ---- */

/* session_lock held. */
static int32_t start(struct kymo_session *session, struct kymo_error *error)
{
	int32_t status = ky_session_check(session, KY_SESSION_PREPARED, "start", error);

	if (status == KYMO_OK && session->range)
		status = ky_range_arm(session->range, error);
	if (status != KYMO_OK)
		return status;
	ky_capture_host_anchor(&session->embedded->capture);
	ky_capture_begin(&session->embedded->capture);
	session->state = KY_SESSION_RECORDING;
	if (session->start_paused) {
		ky_gate_shut();
		rest(session);
	} else if (!session->range) {
		ky_gate_resume();
	}
	ky_client_start();
	ky_stages_next(&session->stages, KYMO_STAGE_WARM_UP);
	return KYMO_OK;
}

static int is_new(struct kymo_session *session)
{
	int result;

	lock_sessions();
	result = session->state == KY_SESSION_NEW;
	unlock_sessions();
	return result;
}

int32_t kymo_session_start(struct kymo_session *session, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	if (!session)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no session");
	/* A thread that prepares it at the same time is told apart by prepare itself. */
	if (is_new(session))
		status = kymo_session_prepare(session, error);
	if (status != KYMO_OK)
		return status;
	lock_sessions();
	status = start(session, error);
	unlock_sessions();
	ky_stages_tell();
	return status;
}

/* Changes the state by `step`; session NULL is refused by the check. */
static int32_t change(struct kymo_session *session, uint32_t state, const char *what,
		      void (*step)(struct kymo_session *), struct kymo_error *error)
{
	int32_t status;

	lock_sessions();
	status = ky_session_check(session, state, what, error);
	if (status == KYMO_OK)
		step(session);
	unlock_sessions();
	return status;
}

int32_t kymo_session_pause(struct kymo_session *session, struct kymo_error *error)
{
	if (session && session->range)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "cannot pause: the capture range \"%s\" decides what "
				    "is recorded",
				    session->range);
	return change(session, KY_SESSION_RECORDING, "pause", rest, error);
}

int32_t kymo_session_resume(struct kymo_session *session, struct kymo_error *error)
{
	return change(session, KY_SESSION_PAUSED, "resume", go_on, error);
}

void ky_session_close(struct kymo_session *session)
{
	lock_sessions();
	close_gate(session);
	unlock_sessions();
}

int32_t kymo_session_stop(struct kymo_session *session, struct kymo_error *error)
{
	int32_t status;

	lock_sessions();
	status = ky_session_check(session,
				  session && session->state == KY_SESSION_PAUSED
					  ? KY_SESSION_PAUSED
					  : KY_SESSION_RECORDING,
				  "stop", error);
	if (session && status == KYMO_OK) {
		stop_recording(session);
		ky_stages_next(&session->stages, KYMO_STAGE_COLLECTION);
	}
	unlock_sessions();
	ky_stages_tell();
	return status;
}
