/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <signal.h>

#include "capture/lease.h"
#include "capture/reader.h"
#include "capture/spool_file.h"
#include "capture/test_emit.h"
#include "record/dictionary.h"

static struct ky_capture capture;
static char path[64];

static int set_up(void **state)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = KY_OVERFLOW_STREAM,
		.session = 99,
		.capture = 4,
	};

	(void)state;
	snprintf(path, sizeof(path), "/tmp/kymo-spool-test-%d", (int)getpid());
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
	if (ky_gate()->capture)
		ky_capture_cut(&capture);
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
	ky_capture_unmap(&capture);
	unlink(path);
	return 0;
}

static void emit(uint64_t number)
{
	struct kymo_record line = {
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.name = ky_dictionary_text("work"),
		.begin = number,
		.end = number + 1,
	};

	assert_int_equal(test_emit(&line), KYMO_OK);
}

static struct ky_spool *create(void)
{
	const struct ky_spool_session session = {
		.session = 99,
		.overflow = KY_OVERFLOW_STREAM,
		.command_line = {"prog\0-x\0", 8},
		.sources = {"npu,cpu", 7},
	};
	struct ky_spool *spool;

	assert_int_equal(ky_spool_create(&spool, path, &session, NULL), KYMO_OK);
	return spool;
}

/* Reads the file and checks that the spans 0 to count - 1 are in it, once each. */
static void expect_spans(uint64_t count)
{
	static struct kymo_record lines[KY_CHUNK_LINES];
	const struct ky_reader_capture *found;
	struct ky_reader *reader;
	uint64_t next = 0;

	assert_int_equal(ky_reader_open(&reader, path, NULL), KYMO_OK);
	assert_int_equal(ky_reader_capture_count(reader), 1);
	found = ky_reader_capture(reader, 0);
	for (size_t i = 0; i < found->chunk_count; i++) {
		assert_int_equal(ky_reader_lines(reader, &found->chunks[i], lines, NULL),
				 KYMO_OK);
		for (uint32_t at = 0; at < found->chunks[i].line_count;
		     at += lines[at].lines) {
			if (lines[at].kind != KYMO_KIND_SPAN)
				continue;
			assert_int_equal(lines[at].begin, next++);
			assert_int_equal(
				ky_catalog_string(found->catalog, lines[at].name).size,
				4);
		}
	}
	assert_int_equal(next, count);
	ky_reader_close(reader);
}

static void what_was_recorded_is_read_back(void **state)
{
	struct ky_spool *spool = create();
	const struct ky_reader_capture *found;
	struct ky_spool_capture *handle;
	struct ky_reader *reader;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	ky_capture_anchor(&capture, 5, 1, 2, 3, 0);
	for (uint64_t i = 0; i < 3000; i++)
		emit(i);
	ky_capture_cut(&capture);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	assert_int_equal(ky_spool_sync(spool, NULL), KYMO_OK);
	ky_spool_close(spool);

	expect_spans(3000);
	assert_int_equal(ky_reader_open(&reader, path, NULL), KYMO_OK);
	found = ky_reader_capture(reader, 0);
	assert_int_equal(found->header.pid, getpid());
	assert_int_equal(found->end.reason, KY_END_STOPPED);
	assert_int_equal(found->writer_count, 1);
	assert_int_equal(found->writers[0].written, 3000);
	assert_true(found->anchor_count >= 2);
	assert_int_equal(ky_reader_command_line(reader).size, 8);
	assert_memory_equal(ky_reader_sources(reader).data, "npu,cpu", 7);
	assert_int_equal(ky_reader_sources(reader).size, 7);
	assert_int_equal(ky_reader_bad_bytes(reader), 0);
	ky_reader_close(reader);
}

static void streaming_gives_chunks_back_and_loses_nothing(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	uint64_t total = (uint64_t)capture.chunk_count * KY_CHUNK_LINES * 3;
	uint32_t freed = 0;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	for (uint64_t i = 0; i < total; i++) {
		emit(i);
		if (i % 2000 == 0)
			assert_int_equal(ky_spool_drain(handle, &freed, NULL), KYMO_OK);
	}
	assert_true(freed > capture.chunk_count);
	ky_capture_cut(&capture);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(total);
}

static void what_was_drained_is_readable_without_an_end(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	uint32_t freed = 0;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	for (uint64_t i = 0; i < KY_CHUNK_LINES; i++)
		emit(i);
	assert_int_equal(ky_spool_drain(handle, &freed, NULL), KYMO_OK);
	assert_int_equal(freed, 1);
	ky_spool_close(spool);            /* as if killed: no finish */
	expect_spans(KY_CHUNK_LINES - 1); /* one line was the lease */
}

static void a_chunk_that_is_being_filled_comes_in_parts(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	uint64_t size, number = 0;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	for (int part = 0; part < 5; part++) {
		for (int i = 0; i < 300; i++)
			emit(number++);
		assert_int_equal(ky_spool_snapshot(handle, NULL), KYMO_OK);
		expect_spans(number);
	}
	size = ky_spool_size(spool);
	assert_true(size < number * KYMO_LINE_SIZE + 5 * 16384);
	ky_capture_cut(&capture);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(number);
}

static void another_spool_goes_on_behind_the_last_whole_block(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	uint32_t freed = 0;
	uint64_t number = 0;
	off_t size;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	while (number < 5000)
		emit(number++);
	assert_int_equal(ky_spool_snapshot(handle, NULL), KYMO_OK);
	assert_int_equal(ky_spool_drain(handle, &freed, NULL), KYMO_OK);
	size = (off_t)ky_spool_size(spool);
	while (number < 5500)
		emit(number++);
	assert_int_equal(ky_spool_snapshot(handle, NULL), KYMO_OK);
	ky_spool_close(spool);
	/* It died in the middle of a block. */
	assert_int_equal(truncate(path, size + 1000), 0);

	assert_int_equal(ky_spool_resume(&spool, path, 98, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(ky_spool_resume(&spool, path, 99, NULL), KYMO_OK);
	/* Small ones in front of it, as those of an anchor, are whole. */
	assert_in_range(ky_spool_size(spool), size, size + 999);
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	while (number < 6000)
		emit(number++);
	assert_int_equal(ky_spool_snapshot(handle, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(number);
}

static void a_file_that_was_removed_is_made_again(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	struct kymo_error error;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	for (uint64_t i = 0; i < 3000; i++)
		emit(i);
	ky_capture_cut(&capture);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	assert_int_equal(ky_spool_put_back(spool, path, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(3000);

	assert_int_equal(unlink(path), 0);
	spool = create();
	assert_int_equal(ky_spool_put_back(spool, "/no/such/folder/x", &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "what was recorded is lost"));
	ky_spool_close(spool);
}

static void an_existing_file_is_kept(void **state)
{
	struct ky_spool *spool = create(), *second;
	struct kymo_error error;

	(void)state;
	ky_spool_close(spool);
	assert_int_equal(
		ky_spool_create(&second, path, &(struct ky_spool_session){0}, &error),
		KYMO_ERROR_EXISTS);
	assert_null(second);
	assert_non_null(strstr(error.message, path));
}

static void expect_counts(uint64_t written)
{
	const struct ky_reader_capture *found;
	struct ky_reader *reader;

	assert_int_equal(ky_reader_open(&reader, path, NULL), KYMO_OK);
	found = ky_reader_capture(reader, 0);
	assert_int_equal(found->end.reason, KY_END_STOPPED);
	assert_int_equal(found->writer_count, 1);
	assert_int_equal(found->writers[0].written, written);
	ky_reader_close(reader);
}

static void a_stray_write_into_the_header_costs_nothing(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	struct ky_capture_header *header = capture.header;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		emit(i);
	ky_capture_cut(&capture);
	memset(header, 0xa5, offsetof(struct ky_capture_header, pid));
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	memcpy(header, capture.constants, sizeof(capture.constants));
	ky_spool_close(spool);
	expect_spans(10);
}

static void a_full_disk_is_told_of(void **state)
{
	struct rlimit limit, old;
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	struct kymo_error error;
	uint64_t size;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 1, &handle, NULL), KYMO_OK);
	for (uint64_t i = 0; i < 3000; i++)
		emit(i);
	size = ky_spool_size(spool);
	ky_capture_cut(&capture);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){65536, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, &error), KYMO_ERROR_IO);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_non_null(strstr(error.message, "cannot write the capture file"));
	/* With room again it goes on where the last whole block ended. */
	assert_true(ky_spool_size(spool) > size);
	assert_true(ky_spool_size(spool) <= 65536);
	/* What is missing is to be found out all the same. */
	expect_counts(3000);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(3000);
}

static void the_number_of_a_capture_is_not_taken_from_its_memory(void **state)
{
	struct ky_spool *spool = create();
	struct ky_spool_capture *handle;
	struct ky_reader *reader;

	(void)state;
	assert_int_equal(ky_spool_add(spool, &capture, 7, &handle, NULL), KYMO_OK);
	emit(0);
	capture.header->capture = 8;
	ky_capture_cut(&capture);
	assert_int_equal(ky_spool_finish(handle, KY_END_STOPPED, NULL), KYMO_OK);
	ky_spool_close(spool);
	expect_spans(1);
	assert_int_equal(ky_reader_open(&reader, path, NULL), KYMO_OK);
	assert_int_equal(ky_reader_capture(reader, 0)->header.capture, 7);
	ky_reader_close(reader);
}

/* Moves the spool's file to memory that cannot shrink. */
static void make_unshrinkable(struct ky_spool *spool)
{
	static uint8_t text[65536];
	int fd = memfd_create("kymo-test", MFD_ALLOW_SEALING);
	ssize_t size = pread(spool->fd, text, sizeof(text), 0);

	assert_int_equal(size, (ssize_t)spool->size);
	assert_int_equal(write(fd, text, (size_t)size), size);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_true(dup2(fd, spool->fd) >= 0);
	close(fd);
}

static void a_block_that_cannot_be_taken_back_is_written_over(void **state)
{
	struct rlimit limit, before;
	struct ky_spool *spool = create();
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

	(void)state;
	make_unshrinkable(spool);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = spool->size + 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ky_spool_write_block(spool, KY_BLOCK_END, 4000, 1, 0, NULL),
			 KYMO_ERROR_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(ky_spool_size(spool) % 64, 0);
	assert_int_equal(lseek(spool->fd, 0, SEEK_CUR), ky_spool_size(spool));
	ky_spool_close(spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_recorded_is_read_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			streaming_gives_chunks_back_and_loses_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_drained_is_readable_without_an_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_chunk_that_is_being_filled_comes_in_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			another_spool_goes_on_behind_the_last_whole_block, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			the_number_of_a_capture_is_not_taken_from_its_memory, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_block_that_cannot_be_taken_back_is_written_over, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_was_removed_is_made_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_existing_file_is_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_stray_write_into_the_header_costs_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_is_told_of, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
