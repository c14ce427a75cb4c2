/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of a construct come from the same thread, but either may be missing: a
 * recording begins in the middle of a program, GOMP's single has no end, a cancelled
 * region leaves what is in it. So an end looks for its begin, and what had begun in there
 * ends with it.
 */
#include "host_call.h"

#include "code.h"
#include "emit.h"
#include "region.h"
#include "thread.h"

#define KIND_MASKED 0 /* among the kinds of work, which begin with 1 */

static void set_value(struct ky_open *open, unsigned at, enum ky_key key, uint64_t value)
{
	open->key[at] = ky_state.key[key];
	open->value[at] = value;
}

/* What tells constructs of one type apart. */
static uint64_t word_of(int kind)
{
	return (uint64_t)kind + 1;
}

/* A construct with a name of its kind, and the code address as a value. */
static struct ky_open *open_kind(struct ky_thread *thread, enum ky_type type, int kind,
				 uint32_t name, const void *code)
{
	struct ky_open *open = ky_thread_open(thread, type, name);
	uint32_t number = ky_code_number(ky_code_index(code));

	open->word = word_of(kind);
	open->kind = (uint8_t)kind;
	if (number)
		set_value(open, 0, KY_KEY_CODE, number);
	return open;
}

/* One that is called what its code is called. */
static struct ky_open *open_code(struct ky_thread *thread, enum ky_type type,
				 uint64_t word, uint32_t name)
{
	const uint32_t code = ky_word_code(word);
	struct ky_open *open = ky_thread_open(thread, type, code ? code : name);

	open->word = word;
	open->flags = code ? KYMO_RECORD_NAME_CODE : 0;
	return open;
}

/* Runtimes do not always end a barrier as the kind that it began as. */
static void close_kind(struct ky_thread *thread, enum ky_type type, int kind)
{
	uint32_t depth = ky_thread_find(thread, type, word_of(kind));

	if (!depth)
		depth = ky_thread_find(thread, type, 0);
	if (depth)
		ky_thread_close(thread, depth);
}

/* ---- Threads and regions ---- */

void ky_on_thread_begin(int type, union ky_ompt_data *thread)
{
	(void)thread;
	ky_thread_begin((uint32_t)type);
}

void ky_on_thread_end(union ky_ompt_data *thread)
{
	(void)thread;
	ky_thread_end();
}

void ky_on_parallel_begin(union ky_ompt_data *encountering_task, const void *frame,
			  union ky_ompt_data *parallel, unsigned int requested, int flags,
			  const void *code)
{
	struct ky_thread *thread = ky_thread_enter();
	struct ky_open *open;

	(void)encountering_task, (void)frame, (void)flags;
	if (!thread)
		return;
	parallel->value = ky_word_make(ky_region_begin(), ky_code_index(code));
	open = open_code(thread, KY_TYPE_PARALLEL, parallel->value,
			 ky_state.name[KY_NAME_PARALLEL]);
	set_value(open, 0, KY_KEY_REGION, ky_word_number(parallel->value));
	set_value(open, 1, KY_KEY_THREADS, requested);
	ky_emit_begin(open);
	ky_thread_leave(thread);
}

void ky_on_parallel_end(union ky_ompt_data *parallel,
			union ky_ompt_data *encountering_task, int flags,
			const void *code)
{
	struct ky_thread *thread = ky_thread_enter();
	const uint64_t word = parallel ? parallel->value : 0;
	uint32_t depth;

	(void)encountering_task, (void)flags, (void)code;
	if (!thread)
		return;
	depth = word ? ky_thread_find(thread, KY_TYPE_PARALLEL, word) : 0;
	if (depth) {
		ky_thread_close(thread, depth);
		ky_region_end(ky_word_number(word), thread->last_end);
	}
	ky_thread_leave(thread);
}

static void begin_implicit_task(struct ky_thread *thread,
				const union ky_ompt_data *parallel,
				union ky_ompt_data *task, unsigned int actual,
				unsigned int index)
{
	const uint64_t region = parallel ? parallel->value : 0;
	uint32_t depth;
	struct ky_open *open;

	task->value = ky_word_make(ky_thread_number(thread), 0);
	/* Only now it is known how many there are; the region is this thread's. */
	depth = index == 0 && region ? ky_thread_find(thread, KY_TYPE_PARALLEL, region)
				     : 0;
	if (depth)
		set_value(&thread->open[depth - 1], 1, KY_KEY_THREADS, actual);
	open = open_code(thread, KY_TYPE_IMPLICIT_TASK, region,
			 ky_state.name[KY_NAME_IMPLICIT_TASK]);
	open->word = task->value;
	set_value(open, KY_IMPLICIT_REGION, KY_KEY_REGION, ky_word_number(region));
	set_value(open, KY_IMPLICIT_THREAD, KY_KEY_THREAD, index);
}

/*
 * The initial task is as long as the program: nobody learns anything from its span. It is
 * marked also where nothing is recorded, since a task may return to it later.
 */
void ky_on_implicit_task(int endpoint, union ky_ompt_data *parallel,
			 union ky_ompt_data *task, unsigned int actual,
			 unsigned int index, int flags)
{
	struct ky_thread *thread;
	uint32_t depth;

	if (flags & KY_OMPT_TASK_INITIAL) {
		task->value = KY_WORD_INITIAL;
		return;
	}
	thread = ky_thread_enter();
	if (!thread)
		return;
	if (endpoint == KY_OMPT_SCOPE_BEGIN) {
		begin_implicit_task(thread, parallel, task, actual, index);
	} else if (task->value) {
		depth = ky_thread_find(thread, KY_TYPE_IMPLICIT_TASK, task->value);
		if (depth)
			ky_thread_close(thread, depth);
	}
	ky_thread_leave(thread);
}

/* ---- Work ---- */

/* Of these one task has no two at once, and none in a barrier. */
static int is_exclusive(const struct ky_open *open)
{
	return open->type == KY_TYPE_WORK &&
	       (open->kind == KY_OMPT_WORK_LOOP || open->kind == KY_OMPT_WORK_SECTIONS ||
		open->kind == KY_OMPT_WORK_SINGLE_EXECUTOR ||
		open->kind == KY_OMPT_WORK_SINGLE_OTHER ||
		open->kind == KY_OMPT_WORK_WORKSHARE);
}

/* What of them is open in this task has missed its end: it is over. */
static void end_exclusive_work(struct ky_thread *thread)
{
	uint32_t depth = ky_thread_find(thread, KY_TYPE_WORK, 0);

	if (depth && is_exclusive(&thread->open[depth - 1])) {
		thread->open[depth - 1].flags |= KYMO_RECORD_END_BY_RULE;
		ky_thread_close(thread, depth);
	}
}

void ky_on_work(int kind, int endpoint, union ky_ompt_data *parallel,
		union ky_ompt_data *task, uint64_t count, const void *code)
{
	struct ky_thread *thread =
		ky_state.is_wanted[KY_TYPE_WORK] ? ky_thread_enter() : NULL;

	(void)parallel, (void)task;
	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN) {
		const struct ky_open begun = {.type = KY_TYPE_WORK,
					      .kind = (uint8_t)kind};
		struct ky_open *open;

		if (is_exclusive(&begun))
			end_exclusive_work(thread);
		open = open_kind(thread, KY_TYPE_WORK, kind, ky_name_work(kind), code);
		set_value(open, 1, KY_KEY_COUNT_OF_WORK, count);
	}
	if (endpoint & KY_OMPT_SCOPE_END)
		close_kind(thread, KY_TYPE_WORK, kind);
	ky_thread_leave(thread);
}

void ky_on_masked(int endpoint, union ky_ompt_data *parallel, union ky_ompt_data *task,
		  const void *code)
{
	struct ky_thread *thread =
		ky_state.is_wanted[KY_TYPE_WORK] ? ky_thread_enter() : NULL;

	(void)parallel, (void)task;
	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN)
		open_kind(thread, KY_TYPE_WORK, KIND_MASKED,
			  ky_state.name[KY_NAME_MASKED], code);
	if (endpoint & KY_OMPT_SCOPE_END)
		close_kind(thread, KY_TYPE_WORK, KIND_MASKED);
	ky_thread_leave(thread);
}

/* ---- Waiting ---- */

static int is_barrier(int kind)
{
	return kind != KY_OMPT_SYNC_TASKWAIT && kind != KY_OMPT_SYNC_TASKGROUP &&
	       kind != KY_OMPT_SYNC_REDUCTION;
}

static void on_sync(enum ky_type type, int kind, int endpoint, const void *code)
{
	struct ky_thread *thread = ky_state.is_wanted[type] ? ky_thread_enter() : NULL;

	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN) {
		if (is_barrier(kind))
			end_exclusive_work(thread);
		open_kind(thread, type, kind, ky_name_sync(kind), code);
	}
	if (endpoint & KY_OMPT_SCOPE_END)
		close_kind(thread, type, kind);
	ky_thread_leave(thread);
}

void ky_on_sync_region(int kind, int endpoint, union ky_ompt_data *parallel,
		       union ky_ompt_data *task, const void *code)
{
	(void)parallel, (void)task;
	on_sync(KY_TYPE_SYNC, kind, endpoint, code);
}

void ky_on_sync_region_wait(int kind, int endpoint, union ky_ompt_data *parallel,
			    union ky_ompt_data *task, const void *code)
{
	(void)parallel, (void)task;
	on_sync(KY_TYPE_WAIT, kind, endpoint, code);
}

/*
 * A thread waits for one mutex at a time, and while it does it can do nothing else; so
 * what it waits for is no construct that others are in. A test that fails has no end.
 */
void ky_on_mutex_acquire(int kind, unsigned int hint, unsigned int impl, uint64_t wait_id,
			 const void *code)
{
	struct ky_thread *thread =
		ky_state.is_wanted[KY_TYPE_MUTEX] ? ky_thread_enter() : NULL;
	struct ky_open *open;

	(void)hint, (void)impl;
	if (!thread)
		return;
	open = &thread->acquire;
	*open = (struct ky_open){.type = KY_TYPE_MUTEX,
				 .kind = (uint8_t)kind,
				 .name = ky_name_mutex(kind)};
	set_value(open, 0, KY_KEY_LOCK, wait_id);
	set_value(open, 1, KY_KEY_CODE, ky_code_number(ky_code_index(code)));
	open->begin = ky_state.host->now();
	ky_thread_leave(thread);
}

void ky_on_mutex_acquired(int kind, uint64_t wait_id, const void *code)
{
	struct ky_thread *thread =
		ky_state.is_wanted[KY_TYPE_MUTEX] ? ky_thread_enter() : NULL;

	(void)kind, (void)code;
	if (!thread)
		return;
	if (thread->acquire.begin && thread->acquire.value[0] == wait_id)
		ky_emit_open(&thread->acquire, ky_state.host->now(), 0, 0);
	thread->acquire.begin = 0;
	ky_thread_leave(thread);
}
