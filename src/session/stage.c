/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue under stage_lock, which is the last lock that anybody takes. Who finds another
 * thread telling leaves what it has noted to that one.
 */
#include "session/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kymo/mark.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "config/config.h"
#include "record/dictionary.h"
#include "session/host.h"
#include "session/page.h"

struct note {
	struct note *next;
	struct kymo_stage stage;
	char trace_id[256], group_trace_id[256];
	char destination[1024];
	char reason[512];
};

/* Under stage_lock; a child forgets what its parent was telling. */
static struct {
	pid_t pid;
	struct note *first, **last;
	int is_telling;
} queue;

static uint32_t *lock_queue(void)
{
	uint32_t *lock = &ky_session_page()->stage_lock;

	ky_lock(lock);
	if (queue.pid != getpid()) {
		queue.pid = getpid();
		queue.first = NULL;
		queue.last = &queue.first;
		queue.is_telling = 0;
	}
	return lock;
}

/* ---- Trace ids ---- */

static int32_t copy_key(const struct kymo_config *config, enum ky_key_id key, char **out)
{
	const char *text = ky_config_value(config, key)->text;

	*out = text && text[0] ? strdup(text) : NULL;
	return text && text[0] && !*out ? KYMO_ERROR_NO_MEMORY : KYMO_OK;
}

int32_t ky_stages_open(struct ky_stages *stages, const struct kymo_config *config,
		       struct kymo_error *error)
{
	if (copy_key(config, KY_KEY_TRACE_ID, &stages->trace_id) != KYMO_OK ||
	    copy_key(config, KY_KEY_GROUP_TRACE_ID, &stages->group_trace_id) != KYMO_OK)
		return ky_error_no_memory(error);
	return KYMO_OK;
}

void ky_stages_close(struct ky_stages *stages)
{
	free(stages->trace_id);
	free(stages->group_trace_id);
	stages->trace_id = stages->group_trace_id = NULL;
}

static void publish(const char *name, const char *text)
{
	const struct kymo_value value = {
		.key = kymo_mark_key(name, KYMO_VALUE_STRING, NULL),
		.type = KYMO_VALUE_STRING,
		.u64 = ky_dictionary_text(text),
	};
	uint32_t id;

	/* Where there is no room for it the dictionary is full of names anyway. */
	if (text && value.key != 0)
		ky_host_intern_values(KY_ENTRY_METADATA, &value, 1, &id);
}

void ky_stages_publish(const struct ky_stages *stages)
{
	publish("trace_id", stages->trace_id);
	publish("group_trace_id", stages->group_trace_id);
}

/* ---- Noting ---- */

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text ? text : "");
}

/* `stage` has what the session does not know. Without memory an observer misses it. */
static void note(struct ky_stages *stages, const struct kymo_stage *stage)
{
	struct note *note;
	uint32_t *lock;

	stages->ordinal++;
	if (!ky_is_observed())
		return;
	note = malloc(sizeof(*note));
	if (!note)
		return;
	*note = (struct note){.stage = *stage};
	copy(note->trace_id, sizeof(note->trace_id), stages->trace_id);
	copy(note->group_trace_id, sizeof(note->group_trace_id), stages->group_trace_id);
	copy(note->destination, sizeof(note->destination), stage->destination);
	copy(note->reason, sizeof(note->reason), stage->reason);
	note->stage.struct_size = sizeof(note->stage);
	note->stage.ordinal = stages->ordinal;
	note->stage.request = stages->request;
	note->stage.trace_id = note->trace_id;
	note->stage.group_trace_id = note->group_trace_id;
	note->stage.destination = note->destination;
	note->stage.reason = note->reason;
	lock = lock_queue();
	*queue.last = note;
	queue.last = &note->next;
	ky_unlock(lock);
}

void ky_stages_begin(struct ky_stages *stages)
{
	stages->begun_ns = ky_monotonic_ns();
}

void ky_stages_next(struct ky_stages *stages, uint32_t stage)
{
	const uint64_t now = ky_monotonic_ns();
	const struct kymo_stage ended = {
		.stage = stage,
		.duration_ns = now - stages->begun_ns,
	};

	stages->begun_ns = now;
	note(stages, &ended);
}

void ky_stages_saved(struct ky_stages *stages, uint64_t begun_ns, const char *path,
		     const struct kymo_summary *summary, const struct kymo_error *error)
{
	const struct kymo_stage ended = {
		.stage = KYMO_STAGE_POST_PROCESSING,
		.status = error ? error->status : KYMO_OK,
		.duration_ns = ky_monotonic_ns() - begun_ns,
		.events = summary->events,
		.lost = summary->lost,
		.destination = path,
		.reason = error ? error->message : "",
	};

	/* A request whose trace cannot be written ends with this. */
	stages->is_over = error && stages->request != 0;
	note(stages, &ended);
}

void ky_stages_cancel(struct ky_stages *stages, int32_t status, const char *reason,
		      const char *path)
{
	const struct kymo_stage ended = {
		.stage = KYMO_STAGE_CANCELLATION,
		.status = status,
		.duration_ns =
			stages->begun_ns ? ky_monotonic_ns() - stages->begun_ns : 0,
		.destination = path,
		.reason = reason,
	};

	if (!stages->is_over)
		note(stages, &ended);
	stages->is_over = 1;
}

/* ---- Telling ---- */

/* The first that was noted; NULL: that is all, and nobody is telling any more. */
static struct note *take_note(int is_first)
{
	uint32_t *lock = lock_queue();
	struct note *taken = is_first && queue.is_telling ? NULL : queue.first;

	if (taken) {
		queue.first = taken->next;
		if (!queue.first)
			queue.last = &queue.first;
		queue.is_telling = 1;
	} else if (!is_first) {
		queue.is_telling = 0;
	}
	ky_unlock(lock);
	return taken;
}

static void tell(const struct kymo_stage *stage)
{
	struct ky_observer observers[KY_OBSERVERS_MAX];
	const size_t count = ky_observers(observers);

	for (size_t i = 0; i < count; i++)
		if (KYMO_HAS_FUNCTION(observers[i].ops, stage))
			observers[i].ops->stage(observers[i].context, stage);
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

void ky_stages_hold(int is_held)
{
	__atomic_store_n(&ky_session_page()->stage_holder, is_held ? own_tid() : 0,
			 __ATOMIC_RELAXED);
}

int ky_stages_are_held(void)
{
	return __atomic_load_n(&ky_session_page()->stage_holder, __ATOMIC_RELAXED) ==
	       own_tid();
}

void ky_stages_tell(void)
{
	struct note *taken;

	if (ky_stages_are_held())
		return;
	for (taken = take_note(1); taken; taken = take_note(0)) {
		tell(&taken->stage);
		free(taken);
	}
}
