/* SPDX-License-Identifier: BSD-3-Clause */
/* Exports as they are asked for: checked, made, and told of. */
#include "session/export.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/options.h"
#include "session/overtake.h"
#include "session/pass.h"

/* ---- A sink that keeps nothing ---- */

static int32_t null_begin(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	return KYMO_OK;
}

static int32_t null_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count, (void)error;
	return KYMO_OK;
}

static int32_t null_end(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result, (void)error;
	return KYMO_OK;
}

static void null_abort(void *sink)
{
	(void)sink;
}

static const struct kymo_sink_ops null_ops = {
	.struct_size = sizeof(null_ops),
	.begin = null_begin,
	.batch = null_batch,
	.end = null_end,
	.abort = null_abort,
};

/* The members that the caller's struct reaches are filled. */
static void fill_summary(struct kymo_summary *out, const struct kymo_summary *from,
			 uint64_t bytes)
{
	struct kymo_summary whole = *from;

	whole.bytes = bytes;
	ky_result_write(out, &whole, sizeof(whole));
}

int32_t ky_export_count(const char *capture, struct ky_progress *progress,
			struct kymo_summary *summary, struct kymo_error *error)
{
	struct ky_pass pass = {.captures = &capture,
			       .capture_count = 1,
			       .is_count = 1,
			       .progress = progress};
	struct stat file = {0};
	int32_t status = ky_result_check(summary, error);

	if (status == KYMO_OK)
		status = ky_pass_into(&pass, &null_ops, NULL, NULL, error);
	if (status != KYMO_OK)
		return status;
	stat(capture, &file);
	fill_summary(summary, &pass.summary, (uint64_t)file.st_size);
	return KYMO_OK;
}

int32_t ky_sink_options_read(const struct kymo_sink_options *options,
			     struct kymo_sink_options *out, struct kymo_error *error)
{
	return ky_options_read(options, sizeof(*out),
			       offsetof(struct kymo_sink_options, compat), out, error);
}

/* ---- Several outputs ---- */

static int32_t check_outputs(struct kymo_output *const *outputs, size_t *count,
			     struct kymo_error *error)
{
	*count = 0;
	while (outputs && outputs[*count]) {
		/* As far as ABI 1.0: a program's struct may be shorter than ours. */
		if (!KYMO_HAS_FIELD(outputs[*count], error))
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "output %zu does not say its size",
					    *count + 1);
		/* So it stays where none is reached. */
		outputs[*count]->status = KYMO_ERROR_STATE;
		outputs[*count]->bytes = 0;
		outputs[*count]->error = (struct kymo_error){0};
		++*count;
	}
	if (*count == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no output");
	return KYMO_OK;
}

/* In this thread, where there is no other output that would have to wait. */
static int32_t write_one(const struct ky_export *export, struct kymo_output *output,
			 const struct kymo_sink_options *options,
			 struct kymo_summary *summary, struct kymo_error *error)
{
	struct ky_pass pass = {
		.captures = export->captures,
		.capture_count = export->count,
		.since_ns = export->since_ns,
		.progress = export->progress,
	};
	struct ky_fanout_branch branch = {0};
	struct ky_fanout fanout = {.branches = &branch, .count = 1};
	int32_t status = ky_pass_write(&pass, &output->path, options, &fanout, error);

	/* Else it was not reached. */
	if (status == KYMO_OK || branch.error.status != KYMO_OK)
		ky_output_take(output, &branch);
	*summary = pass.summary;
	return status;
}

/* The first output that failed, or NULL. */
static const struct kymo_output *find_failed(struct kymo_output *const *outputs)
{
	for (; *outputs; outputs++)
		if ((*outputs)->status != KYMO_OK)
			return *outputs;
	return NULL;
}

int32_t ky_export_run(const struct ky_export *export, struct kymo_summary *summary,
		      struct kymo_error *error)
{
	struct kymo_output *const *outputs = export->outputs;
	const struct kymo_output *failed;
	struct kymo_sink_options known;
	struct kymo_summary made = {0};
	uint64_t bytes = 0;
	size_t count;
	int32_t status = ky_sink_options_read(export->options, &known, error);

	if (status == KYMO_OK)
		status = ky_result_check(summary, error);
	if (status == KYMO_OK)
		status = check_outputs(outputs, &count, error);
	if (status != KYMO_OK)
		return status;
	status = count == 1 && !export->others_wait
			 ? write_one(export, outputs[0], &known, &made, error)
			 : ky_overtake_run(export, count, &known, &made, error);
	/* No output was reached. */
	if (status != KYMO_OK && outputs[0]->status == KYMO_ERROR_STATE)
		return status;
	if (status == KYMO_OK)
		ky_progress_finish(export->progress);
	for (size_t i = 0; i < count; i++)
		bytes += outputs[i]->bytes;
	if (status == KYMO_OK && summary)
		fill_summary(summary, &made, bytes);
	failed = find_failed(outputs);
	if (!failed)
		return status;
	ky_error_set(error, failed->status, "%s", failed->error.message);
	if (count > 1 || export->others_wait)
		ky_error_wrap(error, "output \"%s\"", failed->path ? failed->path : "");
	return failed->status;
}

int32_t kymo_timeline_export_all(const char *const *captures, size_t count,
				 struct kymo_output *const *outputs,
				 const struct kymo_sink_options *options,
				 struct kymo_summary *summary, struct kymo_error *error)
{
	const struct ky_export export = {
		.captures = captures,
		.count = count,
		.outputs = outputs,
		.options = options,
	};

	return ky_export_run(&export, summary, error);
}

int32_t kymo_timeline_export(const char *const *captures, size_t count, const char *path,
			     const struct kymo_sink_options *options,
			     struct kymo_summary *summary, struct kymo_error *error)
{
	struct kymo_output output = {.struct_size = sizeof(output), .path = path};

	return kymo_timeline_export_all(captures, count,
					(struct kymo_output *[]){&output, NULL}, options,
					summary, error);
}

int32_t kymo_timeline_export_to(const char *const *captures, size_t count,
				const struct kymo_sink_ops *ops, void *sink,
				struct kymo_sink_result *result, struct kymo_error *error)
{
	struct kymo_sink_result filled = {.struct_size = sizeof(filled)};
	struct ky_pass pass = {.captures = captures, .capture_count = count};
	int32_t status;

	if (!ops || !KYMO_HAS_FUNCTION(ops, begin) || !KYMO_HAS_FUNCTION(ops, batch) ||
	    !KYMO_HAS_FUNCTION(ops, end) || !KYMO_HAS_FUNCTION(ops, abort))
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"the operations begin, batch, end and abort are needed");
	status = ky_result_check(result, error);
	if (status == KYMO_OK)
		status = ky_pass_into(&pass, ops, sink, &filled, error);
	if (status == KYMO_OK)
		ky_result_write(result, &filled, sizeof(filled));
	return status;
}
