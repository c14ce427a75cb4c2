/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces in memory: made by an export into the sink that keeps them, saved by a replay.
 */
#include <limits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "session/export.h"
#include "session/save.h"
#include "session/session.h"
#include "session/sinks.h"
#include "sink/memory.h"

int32_t kymo_trace_load(const char *const *captures, size_t count,
			struct kymo_trace **out, struct kymo_error *error)
{
	const struct kymo_sink_ops *ops = ky_memory_sink.ops;
	void *sink;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the trace");
	*out = NULL;
	sink = ky_memory_open(NULL, 0);
	if (!sink)
		return ky_error_no_memory(error);
	status = kymo_timeline_export_to(captures, count, ops, sink, NULL, error);
	if (status == KYMO_OK)
		*out = ky_memory_take_from(sink);
	ops->close(sink);
	return status;
}

int32_t kymo_session_trace(struct kymo_session *session, struct kymo_trace **out,
			   struct kymo_error *error)
{
	char path[PATH_MAX];
	const char *capture = path;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the trace");
	*out = NULL;
	status = ky_session_use(session, "make a trace", error);
	if (status != KYMO_OK)
		return status;
	status = ky_save_capture(&session->embedded->capture, ky_save_stopped,
				 "memory://", path, error);
	ky_session_unuse(session);
	if (status == KYMO_OK) {
		status = kymo_trace_load(&capture, 1, out, error);
		unlink(path);
	}
	if (status != KYMO_OK)
		ky_error_wrap(error, "cannot make the trace of the session");
	return status;
}

int32_t kymo_trace_save(const struct kymo_trace *trace, const char *path,
			const struct kymo_sink_options *options,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	struct kymo_sink_result whole = {.struct_size = sizeof(whole)};
	struct kymo_sink_options known;
	struct ky_sink_choice choice;
	void *sink = NULL;
	int32_t status = ky_sink_options_read(options, &known, error);

	if (!trace)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no trace to save");
	if (status == KYMO_OK)
		status = ky_result_check(result, error);
	if (status == KYMO_OK)
		status = ky_sink_choose(path, NULL, &choice, error);
	if (status == KYMO_OK)
		status = choice.desc->ops->open(choice.path, &known, &sink, error);
	if (status != KYMO_OK)
		return status;
	status = ky_memory_replay(trace, choice.desc->ops, sink, &whole, error);
	choice.desc->ops->close(sink);
	if (status == KYMO_OK)
		ky_result_write(result, &whole, sizeof(whole));
	return status;
}
