/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task is a span in the thread that runs it. One that waits (taskwait, taskyield) while
 * its thread runs another stays open, and the other lies within it, as it does on the
 * thread's stack. One that leaves its thread, as an untied one may, ends there, and has a
 * further span of the same number where it goes on.
 */
#include "task_call.h"

#include "code.h"
#include "emit.h"
#include "thread.h"

void ky_on_task_create(union ky_ompt_data *encountering_task, const void *frame,
		       union ky_ompt_data *created, int flags, int has_dependences,
		       const void *code)
{
	struct ky_thread *thread;

	(void)encountering_task, (void)frame, (void)has_dependences;
	/* Not the initial task, nor what only stands for a taskwait. */
	if (!created || !(flags & (KY_OMPT_TASK_EXPLICIT | KY_OMPT_TASK_TARGET)))
		return;
	thread = ky_thread_enter();
	if (!thread)
		return;
	created->value = ky_word_make(ky_thread_number(thread), ky_code_index(code));
	if (ky_state.is_wanted[KY_TYPE_TASK_CREATE])
		ky_emit_creation(ky_word_number(created->value),
				 ky_word_code(created->value));
	ky_thread_leave(thread);
}

static void begin_task(struct ky_thread *thread, union ky_ompt_data *task)
{
	const int is_first = !(task->value & KY_WORD_STARTED);
	struct ky_open *open;
	uint32_t code;

	task->value |= KY_WORD_STARTED;
	code = ky_word_code(task->value);
	open = ky_thread_open(thread, KY_TYPE_TASK,
			      code ? code : ky_state.name[KY_NAME_TASK]);
	open->word = task->value;
	open->flags = code ? KYMO_RECORD_NAME_CODE : 0;
	open->kind = is_first && ky_state.is_wanted[KY_TYPE_TASK_CREATE]
			     ? KY_TASK_IS_FIRST
			     : 0;
}

/* The depth of the task, explicit or implicit, if it is open in this thread. */
static uint32_t find(const struct ky_thread *thread, const union ky_ompt_data *task)
{
	uint32_t depth;

	if (!task || !task->value)
		return 0;
	depth = ky_thread_find(thread, KY_TYPE_TASK, task->value);
	return depth ? depth : ky_thread_find(thread, KY_TYPE_IMPLICIT_TASK, task->value);
}

static void end_task(struct ky_thread *thread, uint32_t depth, int status)
{
	struct ky_open *open = &thread->open[depth - 1];

	open->key[0] = ky_state.key[KY_KEY_ENDED];
	open->value[0] = ky_name_ended(status);
	ky_thread_close(thread, depth);
}

/* Does the prior task run no further, by its status? */
static int is_over(int status)
{
	return status == KY_OMPT_TASK_COMPLETE || status == KY_OMPT_TASK_CANCEL ||
	       status == KY_OMPT_TASK_DETACH;
}

/*
 * Where one that has been left goes on, the part of the prior task here is over, whatever
 * its status. What has no word was created before the recording began, and is not in it.
 */
static void switch_tasks(struct ky_thread *thread, const union ky_ompt_data *prior,
			 int status, union ky_ompt_data *next)
{
	const uint32_t from = find(thread, prior), to = find(thread, next);
	const int is_initial = next && next->value == KY_WORD_INITIAL;

	if (from && thread->open[from - 1].type == KY_TYPE_TASK &&
	    (is_over(status) || is_initial || (to && to < from)))
		end_task(thread, from, status);
	if (!next || !next->value || is_initial)
		return;
	if (!to) {
		begin_task(thread, next);
		return;
	}
	/* Tasks that lie in between have missed their ends. */
	for (uint32_t task = ky_thread_task(thread); task > to;
	     task = ky_thread_task(thread)) {
		thread->open[task - 1].flags |= KYMO_RECORD_END_BY_RULE;
		ky_thread_close(thread, task);
	}
}

void ky_on_task_schedule(union ky_ompt_data *prior, int prior_status,
			 union ky_ompt_data *next)
{
	struct ky_thread *thread;

	/* These tell of an event or a wait; no thread changes its task. */
	if (prior_status == KY_OMPT_TASK_EARLY_FULFILL ||
	    prior_status == KY_OMPT_TASK_LATE_FULFILL ||
	    prior_status == KY_OMPT_TASK_TASKWAIT_COMPLETE)
		return;
	thread = ky_thread_enter();
	if (!thread)
		return;
	switch_tasks(thread, prior, prior_status, next);
	ky_thread_leave(thread);
}
