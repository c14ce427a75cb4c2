/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/fanout.h"

#include "base/error.h"

static int is_fine(const struct ky_fanout_branch *branch)
{
	return branch->error.status == KYMO_OK;
}

/* What the operation of a branch came to. */
static void take_status(struct ky_fanout_branch *branch, int32_t status)
{
	/* A warning is none of the trace's business. */
	if (status >= KYMO_OK) {
		branch->error.status = KYMO_OK;
		return;
	}
	if (!branch->error.message[0])
		ky_error_set(&branch->error, status, "%s", kymo_status_text(status));
	branch->error.status = status;
	branch->ops->abort(branch->sink);
}

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

		if (is_fine(branch))
			take_status(branch, branch->ops->begin(branch->sink, header,
							       &branch->error));
	}
	return judge(fanout, error);
}

static int32_t fan_batch(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error)
{
	struct ky_fanout *fanout = sink;

	for (size_t i = 0; i < fanout->count; i++) {
		struct ky_fanout_branch *branch = &fanout->branches[i];

		if (is_fine(branch))
			take_status(branch, branch->ops->batch(branch->sink, events,
							       count, &branch->error));
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
		if (is_fine(branch))
			take_status(branch,
				    branch->ops->end(branch->sink, end, &branch->result,
						     &branch->error));
	}
	return judge(fanout, error);
}

static void fan_abort(void *sink)
{
	struct ky_fanout *fanout = sink;

	for (size_t i = 0; i < fanout->count; i++)
		if (is_fine(&fanout->branches[i]))
			fanout->branches[i].ops->abort(fanout->branches[i].sink);
}

const struct kymo_sink_ops ky_fanout_ops = {
	.struct_size = sizeof(ky_fanout_ops),
	.begin = fan_begin,
	.batch = fan_batch,
	.end = fan_end,
	.abort = fan_abort,
};
