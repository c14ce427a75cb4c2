/* SPDX-License-Identifier: BSD-3-Clause */
/* A Chrome trace while it is read; shared by the parts that read it. */
#ifndef KYMO_CLI_INFO_TRACE_H
#define KYMO_CLI_INFO_TRACE_H

#include <string.h>

#include "info.h"
#include "json_reader.h"

struct ky_trace {
	struct ky_info *info;
	struct ky_json_reader *reader;
	struct ky_table pids; /* numbers index the list */
	struct ky_info_process *names;
	size_t name_count;
};

static inline enum ky_json_token ky_trace_next(struct ky_trace *trace)
{
	return ky_json_reader_next(trace->reader);
}

static inline const char *ky_trace_text(struct ky_trace *trace)
{
	return ky_json_reader_text(trace->reader, NULL);
}

static inline bool ky_trace_is_key(struct ky_trace *trace, const char *key)
{
	return strcmp(ky_trace_text(trace), key) == 0;
}

/* The rest of a value of which the first token has come. */
static inline enum ky_json_token ky_trace_pass_over(struct ky_trace *trace,
						    enum ky_json_token token)
{
	if (token == KY_JSON_OBJECT || token == KY_JSON_ARRAY)
		return ky_json_reader_skip(trace->reader, token);
	return token;
}

/* ---- Objects of known fields ---- */

/* After `{`, up to and with `}`; other keys are passed over. */
enum ky_json_token ky_trace_read_fields(struct ky_trace *trace,
					const struct ky_field *fields, size_t count,
					void *object);

/* After a key of the outermost object: its value. */
enum ky_json_token ky_trace_read_top_value(struct ky_trace *trace);

/* After `[`, up to and with `]`. */
enum ky_json_token ky_trace_read_events(struct ky_trace *trace);

#endif
