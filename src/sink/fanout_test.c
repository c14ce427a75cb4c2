/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/fanout.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum step { NEVER, BEGIN, BATCH, END };

/* A sink that fails where it is told to, and notes what it was told. */
struct spy {
	enum step fails_at;
	char told[16];
};

static int32_t note(void *sink, char letter, enum step step, struct kymo_error *error)
{
	struct spy *spy = sink;
	size_t used = strlen(spy->told);

	assert_true(used < sizeof(spy->told) - 1);
	spy->told[used] = letter;
	if (spy->fails_at != step)
		return KYMO_OK;
	/* One says why, others do not. */
	if (step == BATCH)
		snprintf(error->message, sizeof(error->message), "the disk is full");
	return KYMO_ERROR_IO;
}

static int32_t spy_begin(void *sink, const struct kymo_trace_header *header,
			 struct kymo_error *error)
{
	(void)header;
	return note(sink, 'b', BEGIN, error);
}

static int32_t spy_batch(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error)
{
	(void)events, (void)count;
	return note(sink, 'x', BATCH, error);
}

static int32_t spy_end(void *sink, const struct kymo_trace_end *end,
		       struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)end;
	result->bytes = 7;
	return note(sink, 'e', END, error);
}

static void spy_abort(void *sink)
{
	note(sink, 'a', NEVER, NULL);
}

static const struct kymo_sink_ops spy_ops = {
	.struct_size = sizeof(spy_ops),
	.begin = spy_begin,
	.batch = spy_batch,
	.end = spy_end,
	.abort = spy_abort,
};

/* As the timeline does: what fails is aborted. */
static int32_t run(struct ky_fanout *fanout, struct kymo_error *error)
{
	int32_t status = ky_fanout_ops.begin(fanout, NULL, error);

	for (int i = 0; i < 2 && status == KYMO_OK; i++)
		status = ky_fanout_ops.batch(fanout, NULL, 0, error);
	if (status == KYMO_OK)
		status = ky_fanout_ops.end(fanout, NULL, NULL, error);
	if (status != KYMO_OK)
		ky_fanout_ops.abort(fanout);
	return status;
}

static void one_that_fails_does_not_stop_the_others(void **state)
{
	static const struct {
		enum step fails_at;
		const char *told;
	} rows[] = {
		{BEGIN, "ba"},
		{BATCH, "bxa"},
		{END, "bxxea"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spy spies[3] = {{0}, {.fails_at = rows[i].fails_at}, {0}};
		struct ky_fanout_branch branches[3] = {
			{.ops = &spy_ops, .sink = &spies[0], .is_open = 1},
			{.ops = &spy_ops, .sink = &spies[1], .is_open = 1},
			{.ops = &spy_ops, .sink = &spies[2], .is_open = 1}};
		struct ky_fanout fanout = {.branches = branches, .count = 3};

		assert_int_equal(run(&fanout, NULL), KYMO_OK);
		assert_string_equal(spies[0].told, "bxxe");
		assert_string_equal(spies[1].told, rows[i].told);
		assert_string_equal(spies[2].told, "bxxe");
		assert_int_equal(branches[0].error.status, KYMO_OK);
		assert_int_equal(branches[1].error.status, KYMO_ERROR_IO);
		assert_true(branches[1].error.message[0] != '\0');
		if (rows[i].fails_at == BATCH)
			assert_string_equal(branches[1].error.message,
					    "the disk is full");
		assert_int_equal(branches[2].result.bytes, 7);
	}
}

static void when_none_is_left_the_whole_fails(void **state)
{
	struct spy spies[2] = {{.fails_at = BATCH}, {.fails_at = BEGIN}};
	struct ky_fanout_branch branches[2] = {
		{.ops = &spy_ops, .sink = &spies[0], .is_open = 1},
		{.ops = &spy_ops, .sink = &spies[1], .is_open = 1}};
	struct ky_fanout fanout = {.branches = branches, .count = 2};
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(run(&fanout, &error), KYMO_ERROR_IO);
	assert_string_equal(error.message, "the disk is full");
	assert_string_equal(spies[0].told, "bxa");
	assert_string_equal(spies[1].told, "ba");
}

static void what_fails_from_outside_aborts_each_once(void **state)
{
	struct spy spies[2] = {{0}, {.fails_at = BEGIN}};
	struct ky_fanout_branch branches[2] = {
		{.ops = &spy_ops, .sink = &spies[0], .is_open = 1},
		{.ops = &spy_ops, .sink = &spies[1], .is_open = 1}};
	struct ky_fanout fanout = {.branches = branches, .count = 2};

	(void)state;
	assert_int_equal(ky_fanout_ops.begin(&fanout, NULL, NULL), KYMO_OK);
	ky_fanout_ops.abort(&fanout);
	assert_string_equal(spies[0].told, "ba");
	assert_string_equal(spies[1].told, "ba");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_fails_does_not_stop_the_others),
		cmocka_unit_test(when_none_is_left_the_whole_fails),
		cmocka_unit_test(what_fails_from_outside_aborts_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
