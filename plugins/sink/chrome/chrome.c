/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink of Chrome traces, .json and .json.gz: what chrome://tracing, Perfetto, HTA,
 * TensorBoard and speedscope open. The schema is libkineto's, made strict.
 *
 * One thread, one instance an export, no state outside it. What fails is told by the call
 * in which it fails or by the next one; the target is touched in end() alone.
 */
#include "chrome.h"

#include <stdlib.h>

#include <kymo/plugin.h>

#include "fault.h"

static void close_sink(void *sink)
{
	struct ky_chrome *chrome = sink;

	if (!chrome)
		return;
	ky_file_discard(&chrome->file);
	ky_json_fini(&chrome->json);
	ky_tracks_fini(&chrome->tracks);
	ky_keys_fini(&chrome->keys);
	ky_set_fini(&chrome->counters_seen);
	ky_set_fini(&chrome->counters_split);
	ky_set_fini(&chrome->counters_mixed);
	if (chrome->begins)
		free((char *)(uintptr_t)chrome->begins[0].data);
	free(chrome->begins);
	free(chrome->trace_name);
	free(chrome);
}

static int32_t open_sink(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	struct ky_chrome *chrome = calloc(1, sizeof(*chrome));
	int32_t status;

	*sink = NULL;
	if (!chrome)
		return ky_fault_set(error, KYMO_ERROR_NO_MEMORY, "out of memory");
	chrome->file.fd = -1;
	if (options && !ky_compat_set(chrome, options->compat)) {
		status = ky_fault_set(
			error, KYMO_ERROR_UNSUPPORTED,
			"cannot write for the reader \"%.*s\": not known; "
			"tensorboard is, or none at all",
			(int)(options->compat.size < 100 ? options->compat.size : 100),
			options->compat.data);
		goto fail;
	}
	status = ky_json_init(&chrome->json, ky_file_write, &chrome->file);
	if (status != KYMO_OK) {
		ky_fault_set(error, status, "out of memory");
		goto fail;
	}
	status = ky_file_open(&chrome->file, path, options && options->overwrite, error);
	if (status != KYMO_OK)
		goto fail;
	*sink = chrome;
	return KYMO_OK;
fail:
	close_sink(chrome);
	return status;
}

/* What a call returns: its own failure, or that of a write since the last call. */
static int32_t report(struct ky_chrome *chrome, int32_t status, struct kymo_error *error)
{
	if (chrome->json.status != KYMO_OK) {
		if (error)
			*error = chrome->file.error;
		return chrome->json.status;
	}
	if (status == KYMO_OK)
		status = chrome->keys.status;
	if (status == KYMO_ERROR_NO_MEMORY)
		return ky_fault_set(error, status, "cannot write \"%s\": out of memory",
				    chrome->file.name);
	if (status != KYMO_OK)
		return ky_fault_set(
			error, status,
			"cannot write \"%s\": the timeline names a process, device "
			"or track that it did not declare",
			chrome->file.name);
	return KYMO_OK;
}

static int32_t begin(void *sink, const struct kymo_trace_header *header,
		     struct kymo_error *error)
{
	struct ky_chrome *chrome = sink;
	int32_t status;

	if (!KYMO_HAS_FIELD(header, command_line))
		return ky_fault_set(
			error, KYMO_ERROR_VERSION,
			"cannot write \"%s\": the header has %u bytes, %zu are needed",
			chrome->file.name, header->struct_size, sizeof(*header));
	chrome->header = header;
	status = ky_tracks_init(&chrome->tracks, header);
	if (status == KYMO_OK)
		status = ky_head_write(chrome);
	if (status == KYMO_OK)
		ky_compat_write(chrome);
	return report(chrome, status, error);
}

static int32_t batch(void *sink, const struct kymo_trace_event *const *events,
		     size_t count, struct kymo_error *error)
{
	struct ky_chrome *chrome = sink;
	int32_t status = KYMO_OK;
	size_t i;

	for (i = 0; i < count && status == KYMO_OK; i++)
		status = ky_events_write(chrome, events[i]);
	ky_keys_forget(&chrome->keys);
	return report(chrome, status, error);
}

static int32_t end_trace(void *sink, const struct kymo_trace_end *end,
			 struct kymo_sink_result *result, struct kymo_error *error)
{
	struct ky_chrome *chrome = sink;
	int32_t status;

	ky_tail_write(chrome, end);
	ky_json_flush(&chrome->json);
	status = report(chrome, KYMO_OK, error);
	if (status == KYMO_OK)
		status = ky_file_commit(&chrome->file, error);
	if (status != KYMO_OK || !result)
		return status;
	result->bytes = chrome->file.bytes;
	result->events = chrome->counts.activities;
	result->invalid_utf8 = chrome->json.invalid_utf8;
	result->nul = chrome->json.nul;
	return KYMO_OK;
}

static void abort_trace(void *sink)
{
	struct ky_chrome *chrome = sink;

	ky_file_discard(&chrome->file);
}

static const struct kymo_sink_ops chrome_ops = {
	.struct_size = sizeof(chrome_ops),
	.open = open_sink,
	.begin = begin,
	.batch = batch,
	.end = end_trace,
	.abort = abort_trace,
	.close = close_sink,
};

static const char *const chrome_suffixes[] = {".json", ".json.gz", NULL};

static const struct kymo_sink_desc chrome_sink = {
	.struct_size = sizeof(chrome_sink),
	.protocol = "chrome",
	.description =
		"Chrome trace events, for Perfetto, chrome://tracing and their kin",
	.suffixes = chrome_suffixes,
	.ops = &chrome_ops,
};

static const struct kymo_sink_desc *const chrome_sinks[] = {&chrome_sink, NULL};

static const struct kymo_plugin chrome_plugin = {
	.struct_size = sizeof(chrome_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "chrome",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sinks = chrome_sinks,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &chrome_plugin;
}
