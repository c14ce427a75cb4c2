/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/fanout.h"

#include "base/error.h"

#define OVERTAKEN 0x80000000u /* in `calling`: the others are somebody else's now */

static int is_fine(const struct ky_fanout_branch *branch)
{
	return branch->error.status == KYMO_OK;
}

int ky_fanout_is_over(const struct ky_fanout_branch *branch)
{
	/* Pairs with set_over: error and result are seen whole. */
	return (int)__atomic_load_n(&branch->is_over, __ATOMIC_ACQUIRE);
}

static void set_over(struct ky_fanout_branch *branch)
{
	__atomic_store_n(&branch->is_over, 1, __ATOMIC_RELEASE);
}

/* Not aborted by that. */
static void fail(struct ky_fanout_branch *branch, int32_t status)
{
	if (!branch->error.message[0])
		ky_error_set(&branch->error, status, "%s", kymo_status_text(status));
	branch->error.status = status;
	set_over(branch);
}

/* ---- Calls ---- */

int ky_fanout_enter(struct ky_fanout *fanout, size_t index)
{
	const struct ky_fanout_branch *branch = &fanout->branches[index];

	if (!is_fine(branch) || ky_fanout_is_over(branch))
		return 0;
	__atomic_add_fetch(&fanout->calls, 1, __ATOMIC_RELAXED);
	/* Release: who overtakes sees what became of the others so far. */
	__atomic_store_n(&fanout->calling, (uint32_t)index + 1, __ATOMIC_RELEASE);
	return 1;
}

/* They are written by somebody else, and what there is of them here is not wanted. */
static void drop_others(struct ky_fanout *fanout, size_t index)
{
	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		if (i == index || ky_fanout_is_over(branch))
			continue;
		if (branch->is_open)
			branch->ops->abort(branch->sink);
		fail(branch, KYMO_ERROR_CANCELLED);
	}
}

void ky_fanout_leave(struct ky_fanout *fanout, size_t index, int32_t status)
{
	struct ky_fanout_branch *branch = &fanout->branches[index];

	/* A warning is none of the trace's business. */
	if (status >= KYMO_OK)
		branch->error.status = KYMO_OK;
	else if (branch->is_open)
		branch->ops->abort(branch->sink);
	if (status < KYMO_OK)
		fail(branch, status);
	if (__atomic_exchange_n(&fanout->calling, 0, __ATOMIC_ACQ_REL) & OVERTAKEN)
		drop_others(fanout, index);
}

int ky_fanout_overtake(struct ky_fanout *fanout, uint32_t calling)
{
	return __atomic_compare_exchange_n(&fanout->calling, &calling,
					   calling | OVERTAKEN, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

void ky_fanout_fail(struct ky_fanout *fanout, int32_t status,
		    const struct kymo_error *reason)
{
	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		if (ky_fanout_is_over(branch))
			continue;
		if (reason)
			branch->error = *reason;
		fail(branch, status);
	}
}

/* ---- As a sink ---- */

/* KYMO_OK as long as one is fine, else the first error. */
static int32_t judge(const struct ky_fanout *fanout, struct kymo_error *error)
{
	for (size_t i = 0; i < fanout->count; i++)
		if (is_fine(&fanout->branches[i]))
			return KYMO_OK;
	return ky_error_set(error, fanout->branches[0].error.status, "%s",
			    fanout->branches[0].error.message);
}

static int32_t fan_begin(void *sink, const struct kymo_trace_header *header,
			 struct kymo_error *error)
{
	struct ky_fanout *fanout = sink;

	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		if (ky_fanout_enter(fanout, i))
			ky_fanout_leave(
				fanout, i,
				branch->ops->begin(branch->sink, header, &branch->error));
	}
	return judge(fanout, error);
}

static int32_t fan_batch(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error)
{
	struct ky_fanout *fanout = sink;

	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		if (ky_fanout_enter(fanout, i))
			ky_fanout_leave(fanout, i,
					branch->ops->batch(branch->sink, events, count,
							   &branch->error));
	}
	return judge(fanout, error);
}

/* Each branch has a result of its own; the caller's is not filled. */
static int32_t fan_end(void *sink, const struct kymo_trace_end *end,
		       struct kymo_sink_result *result, struct kymo_error *error)
{
	struct ky_fanout *fanout = sink;

	(void)result;
	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		branch->result.struct_size = sizeof(branch->result);
		if (!ky_fanout_enter(fanout, i))
			continue;
		ky_fanout_leave(fanout, i,
				branch->ops->end(branch->sink, end, &branch->result,
						 &branch->error));
		set_over(branch);
	}
	return judge(fanout, error);
}

static void fan_abort(void *sink)
{
	struct ky_fanout *fanout = sink;

	for (size_t i = 0; i < fanout->count; i++)
		if (is_fine(&fanout->branches[i]) &&
		    !ky_fanout_is_over(&fanout->branches[i]))
			fanout->branches[i].ops->abort(fanout->branches[i].sink);
}

const struct kymo_sink_ops ky_fanout_ops = {
	.struct_size = sizeof(ky_fanout_ops),
	.begin = fan_begin,
	.batch = fan_batch,
	.end = fan_end,
	.abort = fan_abort,
};
