/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace while it is checked; shared by the parts that read it. */
#ifndef KYMO_CLI_CHECK_READ_H
#define KYMO_CLI_CHECK_READ_H

#include "check_event.h"
#include "input.h"

struct ky_check_trace {
	struct ky_check_reading reading; /* first, for the callbacks */
	struct ky_input input;
	bool is_begun, is_tar, begins_well, is_json;
	bool is_array, is_whole, is_ndjson;
	uint64_t sound_end; /* the byte behind the last member that came whole */
	unsigned lists;     /* named "traceEvents" */
	uint64_t end;       /* the byte behind the whole document */
};

/* Reads the whole document; the last token. */
enum ky_json_token ky_check_read_document(struct ky_check_trace *trace);

static inline struct ky_json_reader *ky_trace_reader(const struct ky_check_trace *trace)
{
	return trace->reading.reader;
}

/* Of the last token, or the error. */
static inline struct ky_check_place ky_trace_place(const struct ky_check_trace *trace)
{
	return (struct ky_check_place){ky_json_reader_line(ky_trace_reader(trace)),
				       ky_json_reader_byte(ky_trace_reader(trace)),
				       KY_CHECK_NO_EVENT};
}

#endif
