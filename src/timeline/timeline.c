/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/timeline.h"

#include <stdlib.h>

#include "base/error.h"
#include "timeline/emit.h"
#include "timeline/ledger.h"
#include "timeline/scan.h"

#define ITEMS_MEMORY (32u << 20)

struct timeline {
	struct ky_model *model;
	struct ky_join *join;
	struct ky_opens *opens;
	struct ky_project *project;
	struct ky_scan scan;
	struct ky_stream stream;
	struct kymo_trace_ledger ledger;
	struct kymo_trace_header header;
	struct kymo_error *error;
	int is_count; /* nobody reads the names */
};

static int32_t no_memory(struct timeline *timeline)
{
	return ky_error_set(timeline->error, KYMO_ERROR_NO_MEMORY,
			    "no memory for a timeline");
}

static int32_t make_parts(struct timeline *timeline, struct ky_reader *const *readers,
			  size_t count)
{
	struct kymo_error *error = timeline->error;
	struct ky_scan *scan = &timeline->scan;
	int32_t status = ky_model_create(&timeline->model, readers, count, error);

	if (status == KYMO_OK && !timeline->is_count &&
	    ky_model_find_codes(timeline->model) != KYMO_OK)
		status = no_memory(timeline);
	if (status == KYMO_OK)
		status = ky_sorter_create(&timeline->stream.sorters[KY_STREAM_ITEMS],
					  sizeof(struct ky_item), ky_moment_compare,
					  ITEMS_MEMORY, error);
	if (status == KYMO_OK)
		status = ky_join_create(&timeline->join, timeline->model,
					&timeline->ledger, error);
	if (status == KYMO_OK)
		status = ky_opens_create(&timeline->opens, timeline->model,
					 &timeline->ledger, error);
	if (status == KYMO_OK)
		status = ky_project_create(&timeline->project, timeline->model, error);
	if (status == KYMO_OK)
		status = ky_lanes_create(&timeline->stream.lanes,
					 timeline->model->tracks.count, error);
	if (status != KYMO_OK)
		return status;
	*scan = (struct ky_scan){.model = timeline->model,
				 .ledger = &timeline->ledger,
				 .items = timeline->stream.sorters[KY_STREAM_ITEMS],
				 .join = timeline->join,
				 .opens = timeline->opens,
				 .project = timeline->project};
	count = timeline->model->capture_count + 1;
	scan->capture_last_ns = calloc(count, sizeof(*scan->capture_last_ns));
	scan->capture_written = calloc(count, sizeof(*scan->capture_written));
	return scan->capture_last_ns && scan->capture_written ? KYMO_OK
							      : no_memory(timeline);
}

static void destroy_parts(struct timeline *timeline)
{
	ky_lanes_destroy(timeline->stream.lanes);
	for (int i = 0; i < KY_STREAM_PARTS; i++)
		ky_sorter_destroy(timeline->stream.sorters[i]);
	ky_project_destroy(timeline->project);
	ky_opens_destroy(timeline->opens);
	ky_join_destroy(timeline->join);
	ky_model_destroy(timeline->model);
	free(timeline->scan.capture_last_ns);
	free(timeline->scan.capture_written);
}

/* Spans that never ended last as long as their process was seen. */
static int32_t add_unfinished(struct timeline *timeline)
{
	struct ky_sorter **unfinished = &timeline->stream.sorters[KY_STREAM_UNFINISHED];
	struct ky_scan *scan = &timeline->scan;
	const void *item = NULL;
	int32_t status;

	for (size_t i = 0; i < timeline->model->capture_count; i++) {
		const struct ky_model_capture *capture = &timeline->model->captures[i];
		int64_t end = capture->capture->end.end_monotonic_ns;

		if (end > 0 &&
		    ky_ns_add(end, capture->shift_ns) > scan->capture_last_ns[i])
			scan->capture_last_ns[i] = ky_ns_add(end, capture->shift_ns);
	}
	status = ky_opens_resolve(timeline->opens, scan->items, scan->capture_last_ns,
				  unfinished, timeline->error);
	if (status != KYMO_OK || !*unfinished)
		return status;
	status = ky_sorter_finish(*unfinished, timeline->error);
	while (status == KYMO_OK) {
		status = ky_sorter_next(*unfinished, &item, timeline->error);
		if (status == KYMO_OK) {
			const struct ky_item *open = item;

			if (open->when.end_ns > scan->last_ns)
				scan->last_ns = open->when.end_ns;
		}
	}
	return status == KYMO_END ? KYMO_OK : status;
}

/* Before lanes are given, since projections need room on them too. */
static int32_t project(struct timeline *timeline)
{
	struct ky_sorter **out = &timeline->stream.sorters[KY_STREAM_PROJECTED];
	int32_t status = KYMO_OK;

	if (timeline->scan.annotations > 0 && timeline->scan.correlated > 0)
		status = ky_project_run(timeline->project, &timeline->stream, out,
					timeline->error);
	if (status == KYMO_OK && *out &&
	    ky_model_add_projected(timeline->model) != KYMO_OK)
		status = no_memory(timeline);
	/* Its memory is needed by what follows. */
	ky_project_destroy(timeline->project);
	timeline->project = NULL;
	return status;
}

/*
 * Arrows need to know the lanes of both ends, so lanes are given before and again later.
 */
static int32_t join(struct timeline *timeline)
{
	int32_t status = KYMO_OK;

	ky_model_find_errors(timeline->model);
	if (timeline->scan.correlated > 0)
		status = ky_stream_begin(&timeline->stream, timeline->error);
	while (status == KYMO_OK && timeline->scan.correlated > 0) {
		struct ky_item item;
		uint32_t lane;

		status = ky_stream_next(&timeline->stream, &item, &lane, timeline->error);
		if (status == KYMO_OK && item.domain != 0)
			status =
				ky_join_add(timeline->join, &item, lane, timeline->error);
	}
	if (status == KYMO_OK || status == KYMO_END)
		status = ky_join_run(timeline->join, timeline->error);
	return status;
}

/* The model's lists, typed: the sink must not be able to change what they hold. */
static int32_t list_all(struct timeline *timeline)
{
	struct ky_model *model = timeline->model;
	const struct kymo_trace_process **processes =
		ky_arena_take(&model->arena, (model->processes.count + 1) *
						     sizeof(struct kymo_trace_process *));
	const struct kymo_trace_device **devices =
		ky_arena_take(&model->arena, (model->devices.count + 1) *
						     sizeof(struct kymo_trace_device *));
	const struct kymo_trace_type **types =
		ky_arena_take(&model->arena, (model->types.count + 1) *
						     sizeof(struct kymo_trace_type *));

	if (!processes || !devices || !types)
		return no_memory(timeline);
	for (size_t i = 0; i < model->processes.count; i++)
		processes[i] = model->processes.items[i];
	for (size_t i = 0; i < model->devices.count; i++)
		devices[i] = model->devices.items[i];
	for (size_t i = 0; i < model->types.count; i++) {
		struct kymo_trace_type *type = model->types.items[i];

		if (type == model->unknown_type && !model->has_unknown_types)
			continue;
		type->index = (uint32_t)timeline->header.type_count;
		types[timeline->header.type_count++] = type;
	}
	timeline->header.processes = processes;
	timeline->header.process_count = (uint32_t)model->processes.count;
	timeline->header.devices = devices;
	timeline->header.device_count = model->devices.count;
	timeline->header.types = types;
	return KYMO_OK;
}

static int32_t make_header(struct timeline *timeline, struct kymo_str command_line)
{
	struct kymo_trace_header *header = &timeline->header;
	struct kymo_trace_value *metadata;
	const struct ky_scan *scan = &timeline->scan;
	int32_t status = list_all(timeline);

	if (status != KYMO_OK)
		return status;
	if (ky_model_metadata(timeline->model, &metadata, &header->metadata_count) !=
	    KYMO_OK)
		return no_memory(timeline);
	header->struct_size = sizeof(*header);
	header->metadata = metadata;
	header->realtime_offset_ns = timeline->model->realtime_offset_ns;
	if (scan->first_ns <= scan->last_ns) {
		header->first_ns = scan->first_ns;
		header->last_ns = scan->last_ns;
	}
	header->command_line = KYMO_STR("");
	if (command_line.size > 0)
		header->command_line = ky_model_join_arguments(
			timeline->model, command_line.data, command_line.size);
	return header->command_line.data ? KYMO_OK : no_memory(timeline);
}

static int32_t write_all(struct timeline *timeline, const struct kymo_sink_ops *ops,
			 void *sink, struct kymo_sink_result *result)
{
	struct ky_emit emit = {.model = timeline->model,
			       .stream = &timeline->stream,
			       .join = timeline->join,
			       .ops = ops,
			       .sink = sink,
			       .ledger = &timeline->ledger};
	struct kymo_trace_end end;
	int32_t status = ops->begin(sink, &timeline->header, timeline->error);

	if (status == KYMO_OK)
		status = ky_emit_run(&emit, timeline->error);
	if (status == KYMO_OK &&
	    ky_ledger_end(timeline->model, &timeline->ledger, &end) != KYMO_OK)
		status = no_memory(timeline);
	if (status == KYMO_OK)
		status = ops->end(sink, &end, result, timeline->error);
	return status;
}

static int32_t run(struct timeline *timeline, struct ky_reader *const *readers,
		   size_t count, const struct kymo_sink_ops *ops, void *sink,
		   struct kymo_sink_result *result)
{
	int32_t status;

	timeline->ledger.struct_size = sizeof(timeline->ledger);
	status = make_parts(timeline, readers, count);
	if (status == KYMO_OK)
		status = ky_scan_run(&timeline->scan, timeline->error);
	if (status == KYMO_OK)
		status = ky_sorter_finish(timeline->stream.sorters[KY_STREAM_ITEMS],
					  timeline->error);
	if (status == KYMO_OK)
		status = add_unfinished(timeline);
	if (status == KYMO_OK)
		status = project(timeline);
	if (status == KYMO_OK)
		status = join(timeline);
	if (status == KYMO_OK)
		status = make_header(timeline,
				     count > 0 ? ky_reader_command_line(readers[0])
					       : KYMO_STR(""));
	if (status == KYMO_OK) {
		ky_ledger_add_captures(&timeline->ledger, timeline->model,
				       timeline->scan.capture_written);
		ky_ledger_add_files(&timeline->ledger, readers, count);
		status = write_all(timeline, ops, sink, result);
	}
	if (status != KYMO_OK)
		ops->abort(sink);
	destroy_parts(timeline);
	return status;
}

int32_t ky_timeline_run(struct ky_reader *const *readers, size_t count,
			const struct kymo_sink_ops *ops, void *sink,
			struct kymo_sink_result *result, struct kymo_trace_ledger *ledger,
			struct kymo_error *error)
{
	struct timeline timeline = {.error = error};
	int32_t status = run(&timeline, readers, count, ops, sink, result);

	if (status == KYMO_OK && ledger)
		*ledger = timeline.ledger;
	return status;
}

int32_t ky_timeline_count(struct ky_reader *const *readers, size_t count,
			  const struct kymo_sink_ops *ops, void *sink,
			  struct kymo_error *error)
{
	struct timeline timeline = {.error = error, .is_count = 1};

	return run(&timeline, readers, count, ops, sink, NULL);
}
