/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/instance.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "capture/gate.h"
#include "session/host.h"
#include "session/source.h"
#include "session/wanted.h"

#define POLL_NS       500000      /* of a late stop, and of guests */
#define STOP_LIMIT_NS 2000000000u /* where nobody has said a deadline */

static void pause_shortly(void)
{
	const struct timespec step = {0, POLL_NS};

	nanosleep(&step, NULL);
}

static uint32_t session_epoch(void)
{
	return __atomic_load_n(&ky_session_page()->sources_epoch, __ATOMIC_RELAXED);
}

static int has_told(const struct ky_instance *instance)
{
	return (int)__atomic_load_n(&instance->host->has_told, __ATOMIC_RELAXED);
}

/* Says which operation comes now. */
static void enter(struct ky_instance *instance, const char *operation)
{
	__atomic_store_n(&instance->operation, operation, __ATOMIC_RELAXED);
}

/*
 * After an operation: whether it came back too late. It has been told then that the
 * source has failed, and the session it was for may be over: nothing is heard any more.
 */
static int is_late(const struct ky_instance *instance)
{
	return (int)__atomic_load_n(&instance->host->is_abandoned, __ATOMIC_RELAXED);
}

/* What a step's error says is anything: it becomes a text that ends, and is there. */
static void complete(struct kymo_error *error, const char *step, int32_t status)
{
	error->message[sizeof(error->message) - 1] = '\0';
	if (!error->message[0])
		snprintf(error->message, sizeof(error->message), "%s failed: %s", step,
			 kymo_status_text(status));
}

/* The source is not part of this session; what it said about that itself holds. */
static void leave_out(struct ky_instance *instance, const char *step, int32_t status,
		      struct kymo_error *error)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int has_failed_before;

	complete(error, step, status);
	ky_lock(lock);
	has_failed_before = is_late(instance);
	if (!has_failed_before) {
		instance->failed_epoch = session_epoch();
		if (status == KYMO_ERROR_CONFIG) {
			instance->refused_epoch = session_epoch();
			instance->refusal = *error;
		}
	}
	ky_unlock(lock);
	if (!has_failed_before && !has_told(instance))
		ky_host_set_state(instance->host, ky_instance_state_of(status),
				  error->message, NULL);
}

/* Anchors every clock that only the source can read. */
static void sample_clocks(struct ky_instance *instance)
{
	uint32_t clocks[KY_HOST_CLOCKS_MAX];
	size_t count = ky_host_clocks(instance->host, clocks);

	if (!KYMO_HAS_FUNCTION(instance->ops, sample_clock))
		return;
	enter(instance, "sample_clock");
	for (size_t i = 0; i < count && !is_late(instance); i++) {
		struct kymo_clock_pair pair;

		if (instance->ops->sample_clock(instance->source, clocks[i], &pair) ==
			    KYMO_OK &&
		    !is_late(instance))
			ky_host_table()->anchor(instance->host, clocks[i], &pair);
	}
}

static void create(struct ky_instance *instance)
{
	struct kymo_source_host *host = instance->host;
	struct kymo_error error = {0};
	int32_t status;

	__atomic_store_n(&host->has_told, 0, __ATOMIC_RELAXED);
	status = ky_host_declare(host, &error);
	enter(instance, "create");
	if (status == KYMO_OK)
		status = instance->ops->create(ky_host_table(), host, &host->numbers,
					       &instance->source, &error);
	if (status == KYMO_OK)
		instance->state = KY_IDLE;
	else
		leave_out(instance, "create", status, &error);
}

static int32_t prepare(struct ky_instance *instance, uint32_t epoch,
		       struct kymo_error *error)
{
	struct kymo_source_host *host = instance->host;
	struct kymo_source_session session = {
		.struct_size = sizeof(session),
		.epoch = epoch,
		.types = host->wanted_types,
		.type_count = ky_host_wanted_types(host),
		.memory_limit = KY_HOST_MEMORY_MAX,
		.start_ns = ky_monotonic_ns(),
	};
	int32_t status = KYMO_OK;

	enter(instance, "prepare");
	__atomic_store_n(&host->epoch, epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&host->is_frozen, 0, __ATOMIC_RELAXED);
	if (KYMO_HAS_FUNCTION(instance->ops, prepare))
		status = instance->ops->prepare(instance->source, &session, error);
	__atomic_store_n(&host->is_frozen, 1, __ATOMIC_RELAXED);
	return status;
}

/* Lets in those that may come beside its operations: guests and ticks. */
static void let_in(struct ky_instance *instance)
{
	if (ky_host_open_timer(instance->host) != KYMO_OK)
		ky_host_set_state(instance->host, KYMO_STATE_PARTLY,
				  "the thread of its timer cannot be started", NULL);
	__atomic_store_n(&instance->is_recording, 1, __ATOMIC_SEQ_CST);
}

/* Waits until none of them is inside; false if a tick still is at the deadline. */
static int shut_out(struct ky_instance *instance, uint64_t deadline_ns)
{
	/* The order of guests is the other way round: one of the two sees the other. */
	__atomic_store_n(&instance->is_recording, 0, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&instance->guests, __ATOMIC_SEQ_CST) != 0 &&
	       ky_monotonic_ns() < deadline_ns)
		pause_shortly();
	return ky_host_close_timer(instance->host, deadline_ns);
}

/* What has begun too late for its session ends at once; what that says is not heard. */
static void end_late(struct ky_instance *instance)
{
	const uint64_t deadline_ns = ky_monotonic_ns() + STOP_LIMIT_NS;

	ky_host_close(instance->host);
	if (__atomic_load_n(&ky_session_page()->sources_left, __ATOMIC_RELAXED))
		return;
	if (instance->ops->stop(instance->source, deadline_ns) >= 0 &&
	    KYMO_HAS_FUNCTION(instance->ops, flush))
		instance->ops->flush(instance->source, deadline_ns);
}

static int32_t start(struct ky_instance *instance, struct kymo_error *error)
{
	int32_t status;

	ky_host_publish_metadata(instance->host);
	/* Before start: its first record may come from another thread at once. */
	ky_host_open(instance->host);
	enter(instance, "start");
	status = instance->ops->start(instance->source, error);
	if (status != KYMO_OK)
		ky_host_close(instance->host);
	return status;
}

static void begin(struct ky_instance *instance)
{
	uint32_t epoch = session_epoch();
	struct kymo_error error = {0};
	int32_t status;

	__atomic_store_n(&instance->host->has_told, 0, __ATOMIC_RELAXED);
	status = prepare(instance, epoch, &error);
	if (status != KYMO_OK || is_late(instance)) {
		leave_out(instance, "prepare", status, &error);
		return;
	}
	status = start(instance, &error);
	if (status != KYMO_OK) {
		leave_out(instance, "start", status, &error);
		return;
	}
	if (is_late(instance)) {
		end_late(instance);
		return;
	}
	instance->state = KY_RUNNING;
	instance->is_paused = 0;
	if (!has_told(instance))
		ky_host_set_state(instance->host, KYMO_STATE_RECORDING, NULL, NULL);
	sample_clocks(instance);
	let_in(instance);
}

/* Waits for the late end of a stop; false if it has not come by the deadline. */
static int wait_until_stopped(struct ky_instance *instance, uint64_t deadline_ns)
{
	struct kymo_source_host *host = instance->host;

	/* Pairs with the release of the host's `stopped`. */
	while (__atomic_load_n(&host->stopped, __ATOMIC_ACQUIRE) != host->epoch) {
		if (ky_monotonic_ns() >= deadline_ns)
			return 0;
		pause_shortly();
	}
	return 1;
}

static void stop(struct ky_instance *instance, uint64_t deadline_ns)
{
	struct kymo_source_host *host = instance->host;
	char reason[64];
	int32_t status;
	int has_answered;

	enter(instance, "stop");
	status = instance->ops->stop(instance->source, deadline_ns);
	has_answered = status != KYMO_AGAIN || wait_until_stopped(instance, deadline_ns);
	sample_clocks(instance);
	enter(instance, "flush");
	if (KYMO_HAS_FUNCTION(instance->ops, flush) && status >= 0)
		status = instance->ops->flush(instance->source, deadline_ns);
	if (is_late(instance))
		return;
	if (!has_answered) {
		ky_host_set_state(host, KYMO_STATE_FAILED,
				  "it was told to stop and had not answered when time "
				  "was up; what came later is counted as late",
				  NULL);
	} else if (status < 0) {
		snprintf(reason, sizeof(reason), "it ended with: %s",
			 kymo_status_text(status));
		ky_host_set_state(host, KYMO_STATE_PARTLY, reason, NULL);
	} else if (ky_monotonic_ns() > deadline_ns && !has_told(instance)) {
		ky_host_set_state(host, KYMO_STATE_PARTLY,
				  "it needed more time to end than it was given", NULL);
	}
}

static void end(struct ky_instance *instance)
{
	uint64_t deadline_ns = __atomic_load_n(&ky_session_page()->sources_deadline_ns,
					       __ATOMIC_RELAXED);
	struct kymo_source_host *host = instance->host;

	if (deadline_ns == 0)
		deadline_ns = ky_monotonic_ns() + STOP_LIMIT_NS;
	instance->state = KY_IDLE;
	if (shut_out(instance, deadline_ns)) {
		stop(instance, deadline_ns);
	} else {
		instance->state = KY_HUNG;
		ky_host_set_state(host, KYMO_STATE_PARTLY,
				  "a tick of its timer had not ended when time was up",
				  NULL);
	}
	ky_host_close(host);
	__atomic_store_n(&host->is_frozen, 0, __ATOMIC_RELAXED);
}

static void refuse(struct ky_instance *instance)
{
	struct kymo_error hung = {
		.message = "a tick of its timer has not ended since an earlier session"};
	struct kymo_error torn = {
		.message = "this process was forked while its create ran in the parent"};

	__atomic_store_n(&instance->host->has_told, 0, __ATOMIC_RELAXED);
	if (instance->state == KY_HUNG)
		leave_out(instance, "start", KYMO_ERROR_BUSY, &hung);
	else
		leave_out(instance, "create", KYMO_ERROR_STATE, &torn);
}

static void say_stuck(struct ky_instance *instance, const char *since)
{
	const char *operation = __atomic_load_n(&instance->operation, __ATOMIC_RELAXED);
	char reason[128];

	ky_host_close(instance->host);
	snprintf(reason, sizeof(reason), "its %s has not returned %s", operation, since);
	ky_host_abandon(instance->host, reason);
}

void ky_instance_give_up(struct ky_instance *instance)
{
	say_stuck(instance, "when time was up; what came later is counted as late");
}

void ky_instance_refuse(struct ky_instance *instance)
{
	say_stuck(instance, "since an earlier session");
}

/* One that cannot rest goes on, and what it hands in is counted as filtered. */
static void change_pause(struct ky_instance *instance)
{
	uint32_t paused =
		__atomic_load_n(&ky_session_page()->sources_paused, __ATOMIC_RELAXED);

	instance->is_paused = paused;
	enter(instance, "set_paused");
	instance->ops->set_paused(instance->source, paused);
}

/* The driver may be gone after it, so neither regions nor ticks come any more. */
static void drain(struct ky_instance *instance)
{
	const struct ky_drain drain = instance->drain;
	const uint64_t deadline_ns = instance->drain_deadline_ns;

	instance->drain.drain = NULL;
	enter(instance, "drain at exit");
	if (instance->state == KY_RUNNING && shut_out(instance, deadline_ns))
		drain.drain(drain.source, deadline_ns);
}

uint32_t ky_instance_state_of(int32_t status)
{
	switch (status) {
	case KYMO_ERROR_NOT_FOUND:
		return KYMO_STATE_ABSENT;
	case KYMO_ERROR_BUSY:
		return KYMO_STATE_BUSY;
	case KYMO_ERROR_PERMISSION:
		return KYMO_STATE_DENIED;
	default:
		return KYMO_STATE_FAILED;
	}
}

static int has_option(const struct kymo_source_desc *desc, const char *wanted)
{
	for (size_t i = 0; desc->options && desc->options[i]; i++)
		if (ky_wanted_option(wanted, desc->name, desc->options[i]->name).data)
			return 1;
	return 0;
}

int32_t ky_instance_refusal(const struct ky_instance *instance, const char *wanted,
			    struct kymo_error *error)
{
	const struct kymo_source_desc *desc = instance->host->desc;

	if (instance->refused_epoch != session_epoch() || !has_option(desc, wanted))
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_CONFIG, "source \"%s\": %s", desc->name,
			    instance->refusal.message);
}

ky_step_fn ky_instance_next(const struct ky_instance *instance, int is_wanted)
{
	const struct ky_session_page *page = ky_session_page();

	if (instance->drain.drain)
		return drain;
	/* Its driver may be gone. */
	if (__atomic_load_n(&page->sources_left, __ATOMIC_RELAXED))
		return NULL;
	switch (instance->state) {
	case KY_NEW:
		return is_wanted ? create : NULL;
	case KY_IDLE:
		return is_wanted ? begin : NULL;
	case KY_RUNNING:
		if (!is_wanted || instance->host->epoch != page->sources_epoch)
			return end;
		return instance->is_paused != page->sources_paused &&
				       KYMO_HAS_FUNCTION(instance->ops, set_paused)
			       ? change_pause
			       : NULL;
	case KY_HUNG:
	case KY_TORN:
		return is_wanted ? refuse : NULL;
	}
	return NULL;
}

void ky_instance_reset(struct ky_instance *instance)
{
	/* What it had half made, and locked, is there: it must not be entered again. */
	if (instance->state == KY_NEW && instance->is_claimed)
		instance->state = KY_TORN;
	instance->is_claimed = instance->state != KY_NEW && instance->state != KY_TORN;
	instance->host->is_abandoned = 0;
	instance->drain.drain = NULL;
	instance->failed_epoch = 0;
	instance->refused_epoch = 0;
	instance->is_recording = 0;
	instance->guests = 0;
	if (instance->is_claimed)
		instance->state = KY_IDLE;
	ky_host_forked(instance->host);
}

void ky_instance_tell_forked(struct ky_instance *instance)
{
	if (KYMO_HAS_FUNCTION(instance->ops, forked))
		instance->ops->forked(instance->source);
}

/* The source will not be stopped before leave_as_guest; false if it does not record. */
static int enter_as_guest(struct ky_instance *instance)
{
	__atomic_add_fetch(&instance->guests, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&instance->is_recording, __ATOMIC_SEQ_CST))
		return 1;
	__atomic_sub_fetch(&instance->guests, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static void leave_as_guest(struct ky_instance *instance)
{
	__atomic_sub_fetch(&instance->guests, 1, __ATOMIC_SEQ_CST);
}

void ky_instance_push(struct ky_instance *instance, uint16_t domain, uint64_t value)
{
	if (!KYMO_HAS_FUNCTION(instance->ops, push_correlation) ||
	    !enter_as_guest(instance))
		return;
	instance->ops->push_correlation(instance->source, domain, value);
	leave_as_guest(instance);
}

void ky_instance_pop(struct ky_instance *instance, uint16_t domain)
{
	if (!KYMO_HAS_FUNCTION(instance->ops, pop_correlation) ||
	    !enter_as_guest(instance))
		return;
	instance->ops->pop_correlation(instance->source, domain);
	leave_as_guest(instance);
}
