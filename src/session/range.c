/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * range_lock is held while sources go on and rest, so that the begin of another thread's
 * range waits for the end of the one before. Nobody who holds it asks for another lock
 * than those of gate and sources.
 */
#include "session/range.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/mark.h>

#include "base/error.h"
#include "base/lock.h"
#include "capture/gate.h"
#include "record/dictionary.h"
#include "session/mark.h"
#include "session/page.h"
#include "session/source.h"

#define PREFIX "mark:"
#define REPEAT ",repeat:"
#define WHY    "outside of the capture range"

/* Under range_lock, but the two that are looked at without it; a child forgets it. */
static struct {
	pid_t pid;
	uint32_t name;  /* what is awaited, or 0; atomic */
	uint64_t begin; /* of the range that is recorded, or 0; atomic */
	uint64_t left;  /* ranges, the one that is recorded excepted */
	uint64_t resting_ticks;
} range;

static uint32_t *lock_range(void)
{
	uint32_t *lock = &ky_session_page()->range_lock;

	ky_lock(lock);
	if (range.pid != getpid()) {
		range.pid = getpid();
		__atomic_store_n(&range.name, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&range.begin, 0, __ATOMIC_RELAXED);
	}
	return lock;
}

/* ---- The text ---- */

/* What stands behind the last ",repeat:", or NULL: that may be a part of a name. */
static const char *find_repeat(const char *name)
{
	const char *found = NULL;

	for (const char *at = strstr(name, REPEAT); at; at = strstr(at + 1, REPEAT))
		found = at + sizeof(REPEAT) - 1;
	return found;
}

static int32_t read_range(const char *text, struct kymo_str *name, uint64_t *count,
			  struct kymo_error *error)
{
	const size_t prefix = sizeof(PREFIX) - 1;
	const char *repeat;
	char *end;

	*count = 1;
	if (strncmp(text, PREFIX, prefix) != 0 || text[prefix] == '\0')
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the capture range \"%.100s\": mark:NAME or "
				    "mark:NAME,repeat:N is wanted",
				    text);
	if (strlen(text) >= KY_RANGE_MAX)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the capture range is longer than %u bytes",
				    KY_RANGE_MAX - 1);
	repeat = find_repeat(text + prefix);
	*name = kymo_text(text + prefix);
	if (!repeat)
		return KYMO_OK;
	name->size = (size_t)(repeat - name->data) - (sizeof(REPEAT) - 1);
	*count = strtoull(repeat, &end, 10);
	if (repeat[0] < '0' || repeat[0] > '9' || *end || *count == 0 ||
	    *count > UINT32_MAX || name->size == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the capture range \"%.100s\": a name, and behind "
				    "repeat: a number from 1 to %u is wanted",
				    text, UINT32_MAX);
	return KYMO_OK;
}

int32_t ky_range_check(const char *text, struct kymo_error *error)
{
	struct kymo_str name;
	uint64_t count;

	return read_range(text, &name, &count, error);
}

/* ---- Resting and going on; range_lock held ---- */

static void rest(void)
{
	ky_gate_shut(); /* for marks at once; sources are to hear of it in the recording
			 */
	range.resting_ticks = ky_mark_rest(WHY, 0);
}

static void go_on(void)
{
	ky_mark_resume(range.resting_ticks, WHY, 0);
}

int32_t ky_range_arm(const char *text, struct kymo_error *error)
{
	struct kymo_str name;
	uint64_t count;
	uint32_t number, *lock;
	int32_t status = read_range(text, &name, &count, error);

	if (status != KYMO_OK)
		return status;
	number = ky_dictionary_string(name);
	if (number == KY_STRING_NOT_KEPT) {
		number = 0;
		status = ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				      "no room is left for the name of the capture "
				      "range");
	}
	lock = lock_range();
	range.left = count;
	__atomic_store_n(&range.begin, 0, __ATOMIC_RELAXED);
	rest();
	__atomic_store_n(&range.name, number, __ATOMIC_RELEASE);
	ky_unlock(lock);
	return status;
}

void ky_range_disarm(void)
{
	uint32_t *lock = lock_range();

	if (range.name != 0 && range.begin == 0)
		ky_mark_gap(range.resting_ticks, WHY);
	__atomic_store_n(&range.name, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&range.begin, 0, __ATOMIC_RELAXED);
	ky_unlock(lock);
}

/* ---- Ranges ---- */

/* Whether it is now for the caller to begin the recording's range; the lock is held. */
static int is_awaited(uint32_t name)
{
	return range.name == name && range.begin == 0 && range.left > 0;
}

uint64_t kymo_range_begin(uint32_t name)
{
	uint32_t *lock;
	uint64_t begin;

	ky_gate_decide(); /* it may be what arms a range */
	if (name == 0 || __atomic_load_n(&range.name, __ATOMIC_ACQUIRE) != name)
		return kymo_mark_begin();
	lock = lock_range();
	if (is_awaited(name)) {
		range.left--;
		go_on();
		begin = kymo_mark_begin();
		__atomic_store_n(&range.begin, begin, __ATOMIC_RELAXED);
	} else {
		begin = kymo_mark_begin();
	}
	ky_unlock(lock);
	return begin;
}

void kymo_range_end(uint64_t begin, uint32_t name)
{
	uint32_t *lock;

	kymo_mark_end(begin, name);
	if (begin == 0 || __atomic_load_n(&range.begin, __ATOMIC_RELAXED) != begin)
		return;
	lock = lock_range();
	if (range.name == name && range.begin == begin) {
		__atomic_store_n(&range.begin, 0, __ATOMIC_RELAXED);
		rest();
	}
	ky_unlock(lock);
}
