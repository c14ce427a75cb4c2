/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wires readers, timeline and sinks. The sinks' operations are reached through a tap,
 * which sees what a summary needs and the ledger does not say, and hands on the rest.
 */
#include "session/pass.h"

#include <stdlib.h>

#include "base/error.h"
#include "capture/reader.h"
#include "session/recent.h"
#include "session/sinks.h"
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
	/* The last time that it can be given up without anything being in place. */
	int32_t status = ky_progress_add(tap->progress, 0, error);

	if (status != KYMO_OK)
		return status;
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
		return ky_error_no_memory(error);
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

/* ---- Running ---- */

static void watch_readers(const struct ky_pass *pass, struct ky_reader *const *readers)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < pass->capture_count; i++)
		lines += ky_reader_watch(readers[i], pass->progress);
	ky_progress_step(pass->progress, PERCENT_OPEN, 0);
	ky_progress_step(pass->progress, PERCENT_SCANNED, lines);
}

/* But for the bytes of outputs; `not_wanted` records are from before the window. */
static struct kymo_summary summarize(const struct tap *tap, uint64_t not_wanted)
{
	const struct kymo_trace_ledger *ledger = &tap->ledger;

	return (struct kymo_summary){
		.struct_size = sizeof(struct kymo_summary),
		.process_count = tap->process_count,
		.events = ledger->spans + ledger->instants + ledger->counters,
		.kernels = ledger->kernels,
		.copies = ledger->copies,
		.arrows = ledger->arrows,
		.lost = ledger->full + ledger->too_big + ledger->nested +
			ledger->overwritten + ledger->late + ledger->out_of_window +
			ledger->cut + ledger->invalid + ledger->source_exact +
			ledger->source_at_least - not_wanted,
		.duration_ns = tap->last_ns - tap->first_ns,
		.incomplete = ledger->cut_captures > 0 || ledger->bad_bytes > 0,
		.untimed = ledger->untimed,
		.out_of_window = ledger->out_of_window,
		.launches_without_result = ledger->launches_without_result,
		.cut = ledger->cut,
	};
}

static int32_t run(struct ky_pass *pass, struct ky_reader *const *readers,
		   struct tap *tap, struct kymo_sink_result *result,
		   struct kymo_error *error)
{
	struct ky_recent window = {
		.ops = &tap_ops, .sink = tap, .since_ns = pass->since_ns};
	int32_t status;

	tap->progress = pass->progress;
	watch_readers(pass, readers);
	if (pass->is_count)
		status = ky_timeline_count(readers, pass->capture_count, &tap_ops, tap,
					   error);
	else if (pass->since_ns == 0)
		status = ky_timeline_run(readers, pass->capture_count, &tap_ops, tap,
					 result, NULL, error);
	else
		status = ky_timeline_run(readers, pass->capture_count, &ky_recent_ops,
					 &window, result, NULL, error);
	pass->summary = summarize(tap, window.left_out.written);
	ky_recent_fini(&window);
	return status;
}

int32_t ky_pass_into(struct ky_pass *pass, const struct kymo_sink_ops *ops, void *sink,
		     struct kymo_sink_result *result, struct kymo_error *error)
{
	struct kymo_sink_result none = {.struct_size = sizeof(none)};
	struct tap tap = {.ops = ops, .sink = sink};
	struct ky_reader **readers;
	int32_t status =
		open_readers(pass->captures, pass->capture_count, &readers, error);

	if (status != KYMO_OK)
		return status;
	status = run(pass, readers, &tap, result ? result : &none, error);
	close_readers(readers, pass->capture_count);
	return status;
}

/* ---- Several outputs ---- */

static int32_t open_output(const char *path, const struct kymo_sink_options *options,
			   struct ky_fanout_branch *branch)
{
	struct ky_sink_choice choice;
	int32_t status = ky_sink_choose(path, NULL, &choice, &branch->error);

	if (status != KYMO_OK)
		return status;
	branch->ops = choice.desc->ops;
	status = branch->ops->open(choice.path, options, &branch->sink, &branch->error);
	if (status != KYMO_OK && !branch->error.message[0])
		ky_error_set(&branch->error, status, "its sink cannot open it (%s)",
			     kymo_status_text(status));
	branch->is_open = status == KYMO_OK;
	return status;
}

/* Those that can be; how many. The others say why. */
static size_t open_outputs(const char *const *paths,
			   const struct kymo_sink_options *options,
			   struct ky_fanout *fanout)
{
	size_t count = 0;

	for (size_t i = 0; i < fanout->count; i++) {
		if (!ky_fanout_enter(fanout, i))
			continue;
		ky_fanout_leave(fanout, i,
				open_output(paths[i], options, &fanout->branches[i]));
		count += fanout->branches[i].is_open;
	}
	return count;
}

static void close_outputs(const struct ky_fanout *fanout)
{
	for (size_t i = 0; i < fanout->count; i++)
		if (fanout->branches[i].is_open)
			fanout->branches[i].ops->close(fanout->branches[i].sink);
}

int32_t ky_pass_write(struct ky_pass *pass, const char *const *paths,
		      const struct kymo_sink_options *options, struct ky_fanout *fanout,
		      struct kymo_error *error)
{
	struct kymo_sink_result none = {.struct_size = sizeof(none)};
	struct tap tap = {.ops = &ky_fanout_ops, .sink = fanout};
	struct ky_reader **readers;
	/* Before the sinks: one that is opened is told what to write, or to give up. */
	int32_t status =
		open_readers(pass->captures, pass->capture_count, &readers, error);

	if (status != KYMO_OK)
		return status;
	status = open_outputs(paths, options, fanout) > 0
			 ? run(pass, readers, &tap, &none, error)
			 : fanout->branches[0].error.status;
	if (status != KYMO_OK)
		ky_fanout_fail(fanout, status, error);
	close_outputs(fanout);
	close_readers(readers, pass->capture_count);
	return status;
}
