/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wires readers, timeline and sinks. The sinks' operations are reached through a tap,
 * which sees what a summary needs and the ledger does not say, and hands on the rest.
 */
#include "session/export.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/options.h"
#include "capture/reader.h"
#include "session/recent.h"
#include "session/sinks.h"
#include "sink/fanout.h"
#include "timeline/timeline.h"

/* How much of the work is done when the captures are open, and when they are read. */
#define PERCENT_OPEN    20
#define PERCENT_SCANNED 50

struct tap {
	const struct kymo_sink_ops *ops;
	void *sink;
	struct ky_progress *progress; /* or NULL */
	uint32_t process_count, has_events;
	int64_t first_ns, last_ns;
	int64_t seen_ns; /* so far the events have come */
	struct kymo_trace_ledger ledger;
};

static int32_t tap_begin(void *sink, const struct kymo_trace_header *header,
			 struct kymo_error *error)
{
	struct tap *tap = sink;

	tap->process_count = header->process_count;
	/* Until there is an event; it may be that none is wanted. */
	tap->first_ns = tap->last_ns = header->last_ns;
	tap->seen_ns = header->first_ns;
	ky_progress_step(tap->progress, 100,
			 (uint64_t)header->last_ns - (uint64_t)header->first_ns);
	return tap->ops->begin(tap->sink, header, error);
}

/* They come in order of begin; TRACK events have no time. */
static void note_first(struct tap *tap, const struct kymo_trace_event *const *events,
		       size_t count)
{
	for (size_t i = 0; i < count && !tap->has_events; i++) {
		if (events[i]->kind == KYMO_EVENT_TRACK)
			continue;
		tap->has_events = 1;
		tap->first_ns = events[i]->begin_ns;
	}
}

static int64_t find_last_begin(const struct tap *tap,
			       const struct kymo_trace_event *const *events, size_t count)
{
	while (count-- > 0)
		if (events[count]->begin_ns > tap->seen_ns)
			return events[count]->begin_ns;
	return tap->seen_ns;
}

static int32_t tap_batch(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error)
{
	struct tap *tap = sink;
	const int64_t seen_ns = find_last_begin(tap, events, count);
	const uint64_t passed = (uint64_t)seen_ns - (uint64_t)tap->seen_ns;
	int32_t status;

	note_first(tap, events, count);
	tap->seen_ns = seen_ns;
	status = ky_progress_add(tap->progress, passed, error);
	if (status != KYMO_OK)
		return status;
	return tap->ops->batch(tap->sink, events, count, error);
}

static int32_t tap_end(void *sink, const struct kymo_trace_end *end,
		       struct kymo_sink_result *result, struct kymo_error *error)
{
	struct tap *tap = sink;

	tap->ledger = *end->ledger;
	return tap->ops->end(tap->sink, end, result, error);
}

static void tap_abort(void *sink)
{
	struct tap *tap = sink;

	tap->ops->abort(tap->sink);
}

static const struct kymo_sink_ops tap_ops = {
	.struct_size = sizeof(tap_ops),
	.begin = tap_begin,
	.batch = tap_batch,
	.end = tap_end,
	.abort = tap_abort,
};

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

/* ---- Readers ---- */

static void close_readers(struct ky_reader **readers, size_t count)
{
	for (size_t i = 0; readers && i < count; i++)
		ky_reader_close(readers[i]);
	free(readers);
}

static int32_t open_readers(const char *const *captures, size_t count,
			    struct ky_reader ***out, struct kymo_error *error)
{
	struct ky_reader **readers;
	int32_t status = KYMO_OK;

	*out = NULL;
	if (count == 0 || !captures)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no capture to export");
	readers = calloc(count, sizeof(struct ky_reader *));
	if (!readers)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
	for (size_t i = 0; i < count && status == KYMO_OK; i++) {
		if (!captures[i])
			status = ky_error_set(error, KYMO_ERROR_INVALID,
					      "capture %zu has no path", i + 1);
		else
			status = ky_reader_open(&readers[i], captures[i], error);
		for (size_t j = 0; j < i && status == KYMO_OK; j++)
			if (ky_reader_is_same(readers[i], readers[j]))
				status = ky_error_set(
					error, KYMO_ERROR_INVALID,
					"\"%s\" and \"%s\" are one file: each capture "
					"is wanted once",
					captures[j], captures[i]);
	}
	if (status == KYMO_OK)
		*out = readers;
	else
		close_readers(readers, count);
	return status;
}

/* What one export works on and what comes of it. */
struct job {
	struct ky_reader **readers;
	size_t count;
	struct tap tap;
	int64_t since_ns;    /* 0: everything */
	uint64_t not_wanted; /* records from before that */
	struct kymo_sink_result result;
};

static void watch_readers(const struct job *job)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < job->count; i++)
		lines += ky_reader_watch(job->readers[i], job->tap.progress);
	ky_progress_step(job->tap.progress, PERCENT_OPEN, 0);
	ky_progress_step(job->tap.progress, PERCENT_SCANNED, lines);
}

static int32_t run(struct job *job, struct kymo_error *error)
{
	struct ky_recent window = {
		.ops = &tap_ops, .sink = &job->tap, .since_ns = job->since_ns};
	int32_t status;

	job->result.struct_size = sizeof(job->result);
	watch_readers(job);
	if (job->since_ns == 0)
		return ky_timeline_run(job->readers, job->count, &tap_ops, &job->tap,
				       &job->result, NULL, error);
	status = ky_timeline_run(job->readers, job->count, &ky_recent_ops, &window,
				 &job->result, NULL, error);
	job->not_wanted = window.left_out.written;
	ky_recent_fini(&window);
	return status;
}

/* ---- Summary ---- */

/* The members that the caller's struct reaches are filled. */
static void fill_summary(struct kymo_summary *out, const struct job *job, uint64_t bytes)
{
	const struct kymo_trace_ledger *ledger = &job->tap.ledger;
	const struct kymo_summary whole = {
		.struct_size = sizeof(whole),
		.process_count = job->tap.process_count,
		.events = ledger->spans + ledger->instants + ledger->counters,
		.kernels = ledger->kernels,
		.copies = ledger->copies,
		.arrows = ledger->arrows,
		.lost = ledger->full + ledger->too_big + ledger->nested +
			ledger->overwritten + ledger->late + ledger->out_of_window +
			ledger->cut + ledger->invalid + ledger->source_exact +
			ledger->source_at_least - job->not_wanted,
		.bytes = bytes,
		.duration_ns = job->tap.last_ns - job->tap.first_ns,
		.incomplete = ledger->cut_captures > 0 || ledger->bad_bytes > 0,
		.untimed = ledger->untimed,
		.out_of_window = ledger->out_of_window,
		.launches_without_result = ledger->launches_without_result,
		.cut = ledger->cut,
	};

	ky_result_write(out, &whole, sizeof(whole));
}

int32_t ky_export_count(const char *capture, struct ky_progress *progress,
			struct kymo_summary *summary, struct kymo_error *error)
{
	struct job job = {.count = 1, .tap = {.ops = &null_ops, .progress = progress}};
	struct stat file = {0};
	int32_t status = ky_result_check(summary, error);

	if (status == KYMO_OK)
		status = open_readers(&capture, 1, &job.readers, error);
	if (status != KYMO_OK)
		return status;
	status = run(&job, error);
	close_readers(job.readers, job.count);
	if (status == KYMO_OK) {
		stat(capture, &file);
		fill_summary(summary, &job, (uint64_t)file.st_size);
	}
	return status;
}

int32_t ky_sink_options_read(const struct kymo_sink_options *options,
			     struct kymo_sink_options *out, struct kymo_error *error)
{
	return ky_options_read(options, sizeof(*out),
			       offsetof(struct kymo_sink_options, compat), out, error);
}

/* ---- Several outputs ---- */

/* What a branch of the fan-out belongs to. */
struct outlet {
	struct kymo_output *output;
	struct ky_sink_choice choice;
};

static void fail_output(struct kymo_output *output, int32_t status)
{
	output->status = output->error.status = status;
}

/* Opens those that can be; how many. The others say why. */
static size_t open_outlets(struct kymo_output *const *outputs,
			   const struct kymo_sink_options *options,
			   struct outlet *outlets, struct ky_fanout_branch *branches)
{
	size_t count = 0;

	for (; *outputs; outputs++) {
		struct kymo_output *output = *outputs;
		struct outlet *outlet = &outlets[count];
		struct ky_fanout_branch *branch = &branches[count];
		int32_t status;

		status = ky_sink_choose(output->path, NULL, &outlet->choice,
					&output->error);
		if (status == KYMO_OK) {
			branch->ops = outlet->choice.desc->ops;
			status = branch->ops->open(outlet->choice.path, options,
						   &branch->sink, &output->error);
			if (status != KYMO_OK && !output->error.message[0])
				ky_error_set(&output->error, status,
					     "its sink cannot open it (%s)",
					     kymo_status_text(status));
		}
		fail_output(output, status);
		outlet->output = output;
		count += status == KYMO_OK;
	}
	return count;
}

static void close_outlets(const struct outlet *outlets,
			  const struct ky_fanout_branch *branches, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ky_fanout_branch *branch = &branches[i];

		branch->ops->close(branch->sink);
		outlets[i].output->error = branch->error;
		outlets[i].output->status = branch->error.status;
		if (branch->error.status == KYMO_OK)
			outlets[i].output->bytes = branch->result.bytes;
	}
}

/* Whatever it was, all that had been begun were aborted. */
static void fail_all(const struct outlet *outlets, size_t count, int32_t status,
		     const struct kymo_error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (outlets[i].output->status != KYMO_OK)
			continue;
		outlets[i].output->error = *error;
		fail_output(outlets[i].output, status);
	}
}

/* The outputs are opened, written and closed; KYMO_OK if one of them is whole. */
static int32_t write_outputs(struct job *job, struct kymo_output *const *outputs,
			     size_t count, const struct kymo_sink_options *options,
			     struct kymo_error *error)
{
	struct outlet *outlets = calloc(count, sizeof(*outlets));
	struct ky_fanout_branch *branches = calloc(count, sizeof(*branches));
	struct ky_fanout fanout = {.branches = branches};
	struct kymo_error reason = {0};
	int32_t status;

	if (!outlets || !branches) {
		status = ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
		goto out;
	}
	fanout.count = open_outlets(outputs, options, outlets, branches);
	job->tap.ops = &ky_fanout_ops;
	job->tap.sink = &fanout;
	status = fanout.count > 0 ? run(job, &reason) : outputs[0]->status;
	close_outlets(outlets, branches, fanout.count);
	if (status != KYMO_OK)
		fail_all(outlets, fanout.count, status, &reason);
	job->tap.sink = NULL;
out:
	free(outlets);
	free(branches);
	return status;
}

static int32_t check_outputs(struct kymo_output *const *outputs, size_t *count,
			     struct kymo_error *error)
{
	*count = 0;
	while (outputs && outputs[*count]) {
		if (outputs[*count]->struct_size < sizeof(**outputs))
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
	struct job job = {
		.count = export->count,
		.tap = {.progress = export->progress},
		.since_ns = export->since_ns,
	};
	const struct kymo_output *failed;
	struct kymo_sink_options known;
	uint64_t bytes = 0;
	size_t output_count;
	int32_t status = ky_sink_options_read(export->options, &known, error);

	if (status == KYMO_OK)
		status = ky_result_check(summary, error);
	if (status == KYMO_OK)
		status = check_outputs(outputs, &output_count, error);
	/* Before the sinks: one that is opened is told what to write, or to give up. */
	if (status == KYMO_OK)
		status = open_readers(export->captures, export->count, &job.readers,
				      error);
	if (status != KYMO_OK)
		return status;
	status = write_outputs(&job, outputs, output_count, &known, error);
	close_readers(job.readers, job.count);
	if (status == KYMO_OK)
		ky_progress_finish(job.tap.progress);
	for (size_t i = 0; i < output_count; i++)
		bytes += outputs[i]->bytes;
	if (status == KYMO_OK && summary)
		fill_summary(summary, &job, bytes);
	failed = find_failed(outputs);
	if (!failed)
		return status;
	ky_error_set(error, failed->status, "%s", failed->error.message);
	if (output_count > 1)
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
	struct job job = {.count = count, .tap = {.ops = ops, .sink = sink}};
	int32_t status;

	if (!ops || !KYMO_HAS_FUNCTION(ops, begin) || !KYMO_HAS_FUNCTION(ops, batch) ||
	    !KYMO_HAS_FUNCTION(ops, end) || !KYMO_HAS_FUNCTION(ops, abort))
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"the operations begin, batch, end and abort are needed");
	status = ky_result_check(result, error);
	if (status == KYMO_OK)
		status = open_readers(captures, count, &job.readers, error);
	if (status != KYMO_OK)
		return status;
	status = run(&job, error);
	close_readers(job.readers, job.count);
	if (status == KYMO_OK)
		ky_result_write(result, &job.result, sizeof(job.result));
	return status;
}
