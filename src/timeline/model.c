/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/model.h"

#include <string.h>

#include "base/error.h"

#define CLOCK_TICK_NS 10000000u /* of /proc/PID/stat: 100 a second on all of Linux */

uint64_t ky_model_text(struct ky_model *model, struct kymo_str text)
{
	void **slot = ky_index_slot(&model->texts, text.data, text.size);

	if (!slot) {
		model->status = KYMO_ERROR_NO_MEMORY;
		return 0;
	}
	if (!*slot)
		*slot = (void *)(uintptr_t)model->texts.count;
	return (uintptr_t)*slot;
}

static struct kymo_str text_of(const char *terminated)
{
	return (struct kymo_str){terminated, strlen(terminated)};
}

/*
 * Arguments, each ended by NUL, as one line. Zeros at the end are what a program that
 * writes its title over its arguments leaves there.
 */
struct kymo_str ky_model_join_arguments(struct ky_model *model, const char *arguments,
					size_t size)
{
	char *line;

	while (size > 0 && arguments[size - 1] == '\0')
		size--;
	line = ky_arena_take(&model->arena, size + 1);
	if (!line)
		return (struct kymo_str){NULL, 0};
	for (size_t i = 0; i < size; i++) {
		line[i] = arguments[i];
		if (line[i] == '\0')
			line[i] = ' ';
	}
	return (struct kymo_str){line, size};
}

static void describe_process(struct ky_model *model, struct kymo_trace_process *process,
			     const struct ky_model_capture *capture)
{
	const struct ky_capture_header *header = &capture->capture->header;
	const char *name = strrchr(header->exe, '/');
	int64_t attach = header->attach_monotonic_ns;

	process->struct_size = sizeof(*process);
	process->index = (uint32_t)model->processes.count;
	process->pid = header->pid;
	/* Counted with suspended time, so after a suspend it would lie in the future. */
	if (attach > 0 && header->start_time > 0 &&
	    header->start_time <= (uint64_t)attach / CLOCK_TICK_NS)
		attach = (int64_t)(header->start_time * CLOCK_TICK_NS);
	process->start_ns = ky_ns_add(attach, capture->shift_ns);
	process->exe = text_of(header->exe);
	process->name = name ? text_of(name + 1) : process->exe;
	process->command_line = ky_model_join_arguments(model, header->command_line,
							header->command_line_size);
	process->host = text_of(header->host);
	process->boot_id = text_of(header->boot_id);
	process->rank = process->world_size = -1;
}

static int32_t add_process(struct ky_model *model, struct ky_model_capture *capture)
{
	const struct ky_capture_header *header = &capture->capture->header;
	uint64_t key[] = {'P', ky_model_text(model, text_of(header->boot_id)),
			  ky_model_text(model, text_of(header->host)), header->pid,
			  header->pid_namespace, header->start_time,
			  /* Without a start, captures of one pid are not one process. */
			  header->start_time ? 0 : (uint64_t)(capture - model->captures)};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));

	if (!slot)
		return KYMO_ERROR_NO_MEMORY;
	if (!*slot) {
		struct kymo_trace_process *process =
			ky_arena_take_zeroed(&model->arena, sizeof(*process));

		if (!process)
			return KYMO_ERROR_NO_MEMORY;
		describe_process(model, process, capture);
		if (ky_list_add(&model->processes, process) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
		*slot = process;
	}
	capture->process = *slot;
	return KYMO_OK;
}

static int64_t realtime_offset(const struct ky_capture_header *header)
{
	int64_t offset;

	if (__builtin_sub_overflow(header->attach_realtime_ns,
				   header->attach_monotonic_ns, &offset))
		return 0;
	return offset;
}

/* CLOCK_MONOTONIC begins anew with each boot; CLOCK_REALTIME relates them. */
static int64_t shift_of(const struct ky_capture_header *first,
			const struct ky_capture_header *header)
{
	int64_t shift;

	if (strcmp(first->boot_id, header->boot_id) == 0 &&
	    strcmp(first->host, header->host) == 0)
		return 0;
	if (__builtin_sub_overflow(realtime_offset(header), realtime_offset(first),
				   &shift) ||
	    shift == INT64_MIN)
		return 0;
	return shift;
}

static int32_t add_capture(struct ky_model *model, struct ky_model_capture *capture,
			   const struct ky_capture_header *first)
{
	capture->catalog = capture->capture->catalog;
	capture->first_chunk = model->chunk_count;
	model->chunk_count += capture->capture->chunk_count;
	capture->shift_ns = shift_of(first, &capture->capture->header);
	capture->clock_count = ky_catalog_count(capture->catalog, KY_ENTRY_CLOCK) + 1;
	capture->clocks = calloc(capture->clock_count, sizeof(*capture->clocks));
	if (!capture->clocks || add_process(model, capture) != KYMO_OK ||
	    ky_model_add_clocks(capture) != KYMO_OK ||
	    ky_model_add_types(model, capture) != KYMO_OK ||
	    ky_model_add_tracks(model, capture) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	ky_model_add_states(capture, (uint64_t)(capture - model->captures));
	return KYMO_OK;
}

/* The recording's own offset if the file tells it, else the first capture's. */
static void find_realtime_offset(struct ky_model *model, const struct ky_reader *reader,
				 const struct ky_capture_header *first)
{
	const struct ky_session_block *session = ky_reader_session(reader);

	model->realtime_offset_ns = realtime_offset(first);
	if (session && session->start_monotonic_ns > 0 && session->start_realtime_ns > 0)
		model->realtime_offset_ns =
			session->start_realtime_ns - session->start_monotonic_ns;
}

static int32_t add_captures(struct ky_model *model, struct ky_reader *const *readers,
			    size_t count)
{
	const struct ky_capture_header *first = NULL;
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += ky_reader_capture_count(readers[i]);
	model->captures = calloc(total + 1, sizeof(*model->captures));
	if (!model->captures)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < ky_reader_capture_count(readers[i]); j++) {
			struct ky_model_capture *capture =
				&model->captures[model->capture_count++];

			capture->reader = readers[i];
			capture->capture = ky_reader_capture(readers[i], j);
			if (!first) {
				first = &capture->capture->header;
				find_realtime_offset(model, readers[i], first);
			}
			if (add_capture(model, capture, first) != KYMO_OK)
				return KYMO_ERROR_NO_MEMORY;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (model->window.size == 0)
			model->window = ky_reader_window(readers[i]);
		if (ky_model_add_absent(model, readers[i]) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
	}
	for (size_t i = 0; i < model->capture_count; i++)
		if (ky_model_add_type_rows(model, &model->captures[i]) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
	return ky_model_number_queues(model);
}

void ky_model_destroy(struct ky_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->capture_count; i++) {
		struct ky_model_capture *capture = &model->captures[i];

		for (uint32_t j = 0; capture->clocks && j < capture->clock_count; j++)
			ky_clock_map_clear(&capture->clocks[j]);
		free(capture->clocks);
	}
	for (size_t i = 0; i < model->tracks.count; i++) {
		struct ky_model_track *track = model->tracks.items[i];

		ky_list_clear(&track->lanes);
	}
	free(model->captures);
	ky_list_clear(&model->processes);
	ky_list_clear(&model->devices);
	ky_list_clear(&model->types);
	ky_list_clear(&model->tracks);
	ky_list_clear(&model->queues);
	ky_list_clear(&model->sources);
	ky_list_clear(&model->domains);
	ky_list_clear(&model->arrow_names);
	ky_list_clear(&model->unresolved);
	ky_index_clear(&model->things);
	ky_index_clear(&model->texts);
	ky_arena_clear(&model->arena);
	free(model);
}

int32_t ky_model_create(struct ky_model **out, struct ky_reader *const *readers,
			size_t count, struct kymo_error *error)
{
	struct ky_model *model = calloc(1, sizeof(*model));

	*out = NULL;
	if (!model || add_captures(model, readers, count) != KYMO_OK ||
	    model->status != KYMO_OK) {
		ky_model_destroy(model);
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for the names of the capture");
	}
	*out = model;
	return KYMO_OK;
}
