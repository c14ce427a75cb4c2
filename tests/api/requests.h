/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of requests have in common; a test includes it behind folder.h. */
#ifndef KYMO_TESTS_API_REQUESTS_H
#define KYMO_TESTS_API_REQUESTS_H

#include <stdio.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "memory_sink.h"
#include "support/test.h"

#define REQUEST(...)                           \
	(&(const struct kymo_request_options){ \
		.struct_size = sizeof(struct kymo_request_options), __VA_ARGS__})

static inline uint64_t submit(const struct kymo_request_options *options)
{
	struct kymo_error error = {0};
	uint64_t id = 0;

	if (kymo_request_submit(options, &id, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	assert_int_not_equal(id, 0);
	return id;
}

static inline struct kymo_request_status wait_for_end(uint64_t id)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};

	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	assert_int_equal(status.id, id);
	return status;
}

static inline uint32_t state_of(uint64_t id)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};

	assert_int_equal(kymo_request_poll(id, &status), KYMO_OK);
	return status.state;
}

static inline void wait_for_state(uint64_t id, uint32_t state)
{
	while (state_of(id) < state)
		usleep(200);
	assert_int_equal(state_of(id), state);
}

/* The file at `path`, which is removed. */
static inline struct memory_sink read_back(const char *path)
{
	struct memory_sink sink = {0};
	struct kymo_error error = {0};

	if (kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
	return sink;
}

/* A mark whose name is the number. */
static inline void mark(uint64_t number)
{
	char name[32];
	uint64_t begin = kymo_mark_begin();
	int size = snprintf(name, sizeof(name), "%llu", (unsigned long long)number);

	kymo_mark_end(begin, begin ? kymo_mark_intern(name, (size_t)size) : 0);
}

#endif
