/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first and the last part of a trace of Kymo, whatever lies between: who, sources,
 * devices, clocks and the ledger, which has the counts. What is on which row, of which
 * type and for how long, only the events say.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "info_trace.h"
#include "input.h"
#include "say.h"

#define TAIL_FIRST (64u << 10)
#define TAIL_MAX   (16u << 20)

/* As Kymo writes it; a text can't hold the line feed. */
static const char own_key[] = "\n  \"kymo\": {";

/* ---- The first part ---- */

static bool read_head(struct ky_trace *trace)
{
	if (ky_trace_next(trace) != KY_JSON_OBJECT)
		return false;
	while (ky_trace_next(trace) == KY_JSON_KEY) {
		if (ky_trace_is_key(trace, "traceEvents"))
			return true;
		if (ky_trace_read_top_value(trace) == KY_JSON_ERROR)
			return false;
	}
	return false;
}

/* ---- The last part ---- */

struct tail {
	char *data;
	size_t size, at;
};

static ptrdiff_t fill(void *context, void *buffer, size_t size, char *reason)
{
	struct tail *tail = context;
	const size_t left = tail->size - tail->at;

	(void)reason;
	size = size < left ? size : left;
	memcpy(buffer, tail->data + tail->at, size);
	tail->at += size;
	return (ptrdiff_t)size;
}

static char *find_last(const struct tail *tail)
{
	const size_t size = sizeof(own_key) - 1;
	char *found = NULL, *at = tail->data;

	while ((at = memmem(at, tail->size - (size_t)(at - tail->data), own_key, size)))
		found = at++;
	return found;
}

/* From the key `kymo` on, as the rest of an object; false where it is not there. */
static bool load_tail(int fd, uint64_t file_size, struct tail *tail)
{
	size_t wanted;
	char *found;

	for (wanted = TAIL_FIRST; wanted <= TAIL_MAX; wanted *= 2) {
		const size_t size = wanted < file_size ? wanted : (size_t)file_size;
		const off_t begin = (off_t)(file_size - size);

		tail->data = ky_must_grow(tail->data, size + 1, 1);
		if (pread(fd, tail->data, size, begin) != (ssize_t)size)
			return false;
		tail->size = size;
		found = find_last(tail);
		if (found) {
			*found = '{'; /* in the place of the line feed */
			tail->at = (size_t)(found - tail->data);
			return true;
		}
		if (size == file_size)
			return false;
	}
	return false;
}

static bool read_tail(struct ky_trace *trace)
{
	enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_OBJECT)
		return false;
	while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
		if (ky_trace_read_top_value(trace) == KY_JSON_ERROR)
			return false;
	}
	return token == KY_JSON_OBJECT_END && ky_trace_next(trace) == KY_JSON_END;
}

/* ---- Both ---- */

static void take_counts(struct ky_info *info)
{
	info->format = "Chrome trace";
	info->is_quick = true;
	info->spans = ky_info_ledger(info, "spans");
	info->instants = ky_info_ledger(info, "instants");
	info->counters = ky_info_ledger(info, "counters");
	info->arrows = ky_info_ledger(info, "arrows");
	info->projected = ky_info_ledger(info, "projected");
}

static bool read_part(struct ky_trace *trace, ky_json_fill_fn fill_part, void *context,
		      bool (*read)(struct ky_trace *trace))
{
	bool is_read;

	trace->reader = ky_json_reader_create(fill_part, context);
	if (!trace->reader)
		exit(ky_say_error(KY_EXIT_FAILED, "out of memory"));
	is_read = read(trace);
	ky_json_reader_destroy(trace->reader);
	return is_read;
}

int ky_info_read_quick(struct ky_info *info)
{
	struct ky_trace trace = {.info = info};
	struct tail tail = {0};
	struct ky_input input;
	struct stat found;
	const int number = ky_input_open(&input, info->path);
	bool is_read = false;

	if (number != 0)
		return ky_say_error(KY_EXIT_FAILED, "cannot read \"%s\": %s", info->path,
				    ky_input_reason(number));
	if (!input.is_gzip && fstat(input.fd, &found) == 0 && S_ISREG(found.st_mode)) {
		info->file_bytes = info->bytes = (uint64_t)found.st_size;
		is_read = load_tail(input.fd, info->bytes, &tail) &&
			  read_part(&trace, ky_input_read, &input, read_head) &&
			  read_part(&trace, fill, &tail, read_tail);
	}
	ky_input_close(&input);
	free(tail.data);
	if (!is_read)
		return ky_say_error(KY_EXIT_FAILED,
				    "cannot read \"%s\" from its ends: no plain and "
				    "complete trace of Kymo; leave --quick away",
				    info->path);
	take_counts(info);
	return 0;
}
