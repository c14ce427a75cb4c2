/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot is of its moment: what comes later is not in it, what goes is counted. */
#include "capture/snapshot.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/lease.h"
#include "capture/reader.h"
#include "capture/test_emit.h"
#include "record/dictionary.h"
#include "support/test.h"

static struct ky_capture capture;
static char path[64];
static uint64_t next_number;

static int set_up(void **state)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = KY_OVERFLOW_OVERWRITE,
		.session = 99,
		.capture = 1,
	};

	(void)state;
	next_number = 0;
	snprintf(path, sizeof(path), "/tmp/kymo-snapshot-test-%d", (int)getpid());
	if (ky_capture_make_private(&setup, &capture, NULL) != KYMO_OK)
		return -1;
	ky_capture_identify(&capture, 0);
	return ky_dictionary_mirror(capture.dictionary, capture.dictionary_size,
				    &capture.header->dictionary_tail,
				    &capture.header->names_not_kept) == KYMO_OK &&
			       ky_gate_open(&capture) == KYMO_OK
		       ? 0
		       : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ky_capture_cut(&capture);
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
	ky_capture_unmap(&capture);
	unlink(path);
	return 0;
}

/* Spans that begin at 1, 2, 3... */
static void emit_chunks(uint32_t chunks)
{
	for (uint32_t i = 0; i < chunks * (KY_CHUNK_LINES - 1); i++) {
		const uint64_t begin = ++next_number;
		struct kymo_record line = {
			.kind = KYMO_KIND_SPAN,
			.lines = 1,
			.name = ky_dictionary_text("work"),
			.begin = begin,
			.end = begin + 1,
		};

		assert_int_equal(test_emit(&line), KYMO_OK);
	}
}

static struct ky_snapshot *take(void)
{
	struct ky_snapshot *snapshot;

	assert_int_equal(ky_snapshot_take(&snapshot, &capture, NULL), KYMO_OK);
	return snapshot;
}

/* Writes it and expects the numbers from `first` to `last`, and all others as counted. */
static void expect(struct ky_snapshot *snapshot, uint64_t first, uint64_t last)
{
	static struct kymo_record lines[KY_CHUNK_LINES];
	const struct ky_spool_session session = {.session = 99};
	const struct ky_reader_capture *found;
	struct ky_spool *spool;
	struct ky_reader *reader;
	uint64_t next = first;

	assert_int_equal(ky_spool_create(&spool, path, &session, NULL), KYMO_OK);
	assert_int_equal(ky_snapshot_write(snapshot, spool, NULL), KYMO_OK);
	ky_spool_close(spool);
	ky_snapshot_destroy(snapshot);
	assert_int_equal(ky_reader_open(&reader, path, NULL), KYMO_OK);
	found = ky_reader_capture(reader, 0);
	for (size_t i = 0; i < found->chunk_count; i++) {
		assert_int_equal(ky_reader_lines(reader, &found->chunks[i], lines, NULL),
				 KYMO_OK);
		for (uint32_t at = 0; at < found->chunks[i].line_count; at++)
			if (lines[at].kind == KYMO_KIND_SPAN)
				assert_int_equal(lines[at].begin, next++);
	}
	assert_int_equal(next, last + 1);
	assert_int_equal(found->end.reason, KY_END_CUT);
	assert_int_equal(found->writer_count, 1);
	assert_int_equal(found->writers[0].written, last);
	assert_true(found->source_count > 0);
	assert_int_equal(found->sources[0].overwritten, first - 1);
	assert_int_equal(ky_reader_bad_bytes(reader), 0);
	ky_reader_close(reader);
	unlink(path);
}

static uint64_t in_chunks(uint32_t chunks)
{
	return (uint64_t)chunks * (KY_CHUNK_LINES - 1);
}

static void what_comes_after_it_is_not_in_it(void **state)
{
	struct ky_snapshot *snapshot;
	uint64_t before;

	(void)state;
	emit_chunks(3);
	snapshot = take();
	before = next_number;
	emit_chunks(1);
	expect(snapshot, 1, before);
	expect(take(), 1, next_number);
}

static void what_is_overwritten_before_it_is_copied_is_counted(void **state)
{
	const uint32_t chunks = capture.chunk_count;
	struct ky_snapshot *snapshot;
	uint64_t before;

	(void)state;
	/* Full, and twice overwritten. */
	emit_chunks(chunks + 2);
	expect(take(), in_chunks(2) + 1, next_number);
	snapshot = take();
	before = next_number;
	emit_chunks(3);
	expect(snapshot, in_chunks(5) + 1, before);
	expect(take(), in_chunks(5) + 1, next_number);
}

static void one_of_which_nothing_is_left_says_how_much_it_was(void **state)
{
	struct ky_snapshot *snapshot;
	uint64_t before;

	(void)state;
	emit_chunks(2);
	snapshot = take();
	before = next_number;
	emit_chunks(capture.chunk_count + 1);
	expect(snapshot, before + 1, before);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_comes_after_it_is_not_in_it),
		TEST(what_is_overwritten_before_it_is_copied_is_counted),
		TEST(one_of_which_nothing_is_left_says_how_much_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
