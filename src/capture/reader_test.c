/* SPDX-License-Identifier: BSD-3-Clause */
/* A .kymo file reads as far as it is whole. */
#include "capture/reader.h"

#include "capture/block.h"
#include "capture/build_capture.h"
#include "support/test.h"

static struct ky_reader *open_reader(struct build *build)
{
	struct kymo_error error = {0};
	struct ky_reader *reader;

	if (ky_reader_open(&reader, build_save(build), &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return reader;
}

static void add_span(struct build *build, uint64_t begin)
{
	build_record(build, KYMO_KIND_SPAN,
		     (struct kymo_record){.begin = begin, .end = begin + 10});
}

/* Two captures; the first with two chunks of 3 and 1 lines. */
static struct build *build_two(void)
{
	struct build *build = build_new();

	build_session(build, "run\0a b\0", 8);
	build_text(build, "one");
	build_lease(build, 1, 5);
	add_span(build, 10);
	add_span(build, 20);
	build_chunk(build);
	add_span(build, 30);
	build_anchor(build, 0, 7, 8, 9);
	build_anchor(build, 1, 70, 80, 90);
	build->writers[0].accepted = 4;
	build->writer_count = 1;
	build_finish(build, 500);
	build_capture(build, 2);
	build_text(build, "two");
	add_span(build, 40);
	build_finish(build, 0);
	return build;
}

static void a_whole_file_gives_all_its_parts(void **state)
{
	struct build *build = build_two();
	struct ky_reader *reader = open_reader(build);
	const struct ky_reader_capture *first = ky_reader_capture(reader, 0);
	const struct ky_reader_capture *second = ky_reader_capture(reader, 1);
	const struct ky_session_block *session = ky_reader_session(reader);
	struct kymo_record lines[KY_CHUNK_LINES];

	(void)state;
	assert_int_equal(ky_reader_capture_count(reader), 2);
	assert_null(ky_reader_capture(reader, 2));
	assert_int_equal(ky_reader_bad_bytes(reader), 0);
	assert_int_equal(session->command_line_size, 8);
	assert_memory_equal(session + 1, "run\0a b\0", 8);
	assert_int_equal(first->header.pid, 1001);
	assert_int_equal(first->header.command_line_size, 11);
	assert_int_equal(first->chunk_count, 2);
	assert_int_equal(first->chunks[0].line_count, 3);
	assert_int_equal(first->anchor_count, 2);
	assert_int_equal(first->anchors[1].device, 70);
	assert_int_equal(first->writer_count, 1);
	assert_int_equal(first->writers[0].accepted, 4);
	assert_int_equal(first->end.end_monotonic_ns, 500);
	assert_memory_equal(ky_catalog_string(first->catalog, 1).data, "one", 3);
	assert_int_equal(ky_reader_lines(reader, &first->chunks[0], lines, NULL),
			 KYMO_OK);
	assert_int_equal(lines[0].kind, KYMO_KIND_LEASE);
	assert_int_equal(lines[2].begin, 20);
	assert_int_equal(ky_reader_lines_at(reader, &first->chunks[0], 1, 2, lines, NULL),
			 KYMO_OK);
	assert_int_equal(lines[1].begin, 20);
	assert_int_equal(second->header.pid, 1002);
	assert_int_equal(second->end.reason, 0);
	assert_memory_equal(ky_catalog_string(second->catalog, 1).data, "two", 3);
	ky_reader_close(reader);
	build_free(build);
}

static void lines_beyond_a_chunk_are_refused(void **state)
{
	static const struct {
		uint32_t first, count;
	} rows[] = {{0, 4}, {3, 1}, {4, 0}, {1, UINT32_MAX}, {UINT32_MAX, 1}};
	struct build *build = build_two();
	struct ky_reader *reader = open_reader(build);
	struct kymo_record lines[KY_CHUNK_LINES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			ky_reader_lines_at(reader, ky_reader_capture(reader, 0)->chunks,
					   rows[i].first, rows[i].count, lines, NULL),
			KYMO_ERROR_INVALID);
	ky_reader_close(reader);
	build_free(build);
}

static void a_file_cut_anywhere_reads_up_to_the_last_whole_block(void **state)
{
	struct build *build = build_two();
	size_t whole = build->file.size, last_count = 0;

	(void)state;
	for (size_t size = sizeof(struct ky_file_header); size <= whole; size += 16) {
		struct kymo_error error = {0};
		struct ky_reader *reader;

		build->file.size = size;
		assert_int_equal(ky_reader_open(&reader, build_save(build), &error),
				 KYMO_OK);
		assert_true(ky_reader_capture_count(reader) <= 2);
		assert_true(ky_reader_capture_count(reader) >= last_count);
		last_count = ky_reader_capture_count(reader);
		assert_true(ky_reader_bad_bytes(reader) < size);
		ky_reader_close(reader);
	}
	assert_int_equal(last_count, 2);
	build_free(build);
}

/* As if it had been written so. */
static void change_header(struct build *build, size_t offset, uint8_t value)
{
	struct ky_file_header header;

	build->file.data[offset] = value;
	memcpy(&header, build->file.data, sizeof(header));
	header.header_crc32c = ky_file_header_crc(&header);
	memcpy(build->file.data, &header, sizeof(header));
}

static void a_file_that_is_no_capture_is_refused(void **state)
{
	static const struct {
		const char *what;
		size_t offset;
		uint8_t value;
		int32_t status;
	} rows[] = {
		{"magic", 0, 0, KYMO_ERROR_INVALID},
		{"major", 8, 9, KYMO_ERROR_VERSION},
		{"header too small", 12, 8, KYMO_ERROR_INVALID},
		{"header too large", 15, 8, KYMO_ERROR_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_two();
		struct kymo_error error = {0};
		struct ky_reader *reader;

		change_header(build, rows[i].offset, rows[i].value);
		if (ky_reader_open(&reader, build_save(build), &error) != rows[i].status)
			fail_msg("%s: %s", rows[i].what, error.message);
		assert_null(reader);
		assert_non_null(strstr(error.message, build->path));
		build_free(build);
	}
}

static void what_cannot_be_opened_says_why(void **state)
{
	static const struct {
		const char *path;
		int32_t status;
	} rows[] = {{"/nonexistent/file.kymo", KYMO_ERROR_NOT_FOUND},
		    {"/tmp", KYMO_ERROR_INVALID},
		    {"/dev/null", KYMO_ERROR_INVALID}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};
		struct ky_reader *reader;

		assert_int_equal(ky_reader_open(&reader, rows[i].path, &error),
				 rows[i].status);
		assert_int_equal(ky_reader_open(&reader, rows[i].path, NULL),
				 rows[i].status);
		assert_non_null(strstr(error.message, rows[i].path));
	}
	ky_reader_close(NULL);
}

static void a_damaged_file_header_costs_only_itself(void **state)
{
	(void)state;
	for (size_t at = 8; at < sizeof(struct ky_file_header); at++) {
		struct build *build = build_two();
		struct ky_reader *reader;

		build->file.data[at] ^= 0x10;
		reader = open_reader(build);
		assert_int_equal(ky_reader_capture_count(reader), 2);
		assert_int_equal(ky_reader_bad_bytes(reader),
				 sizeof(struct ky_file_header));
		ky_reader_close(reader);
		build_free(build);
	}
}

/* Whatever they hold, and however large: nothing of it is kept. */
static void blocks_of_unknown_kinds_are_passed_over(void **state)
{
	const size_t size = 4u << 20;
	uint8_t *payload = calloc(1, size);
	struct build *build = build_new();
	struct ky_reader *reader;

	(void)state;
	assert_non_null(payload);
	build_block(build, 9, 0, payload, size);
	build_block(build, UINT32_MAX, 0, payload, 3);
	build_finish(build, 0);
	reader = open_reader(build);
	assert_int_equal(ky_reader_capture_count(reader), 1);
	assert_int_equal(ky_reader_bad_bytes(reader), 0);
	ky_reader_close(reader);
	build_free(build);
	free(payload);
}

static void a_capture_of_another_major_costs_only_itself(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;

	(void)state;
	build->header.format_major = 7;
	build_finish(build, 0);
	build_capture(build, 2);
	build_finish(build, 0);
	reader = open_reader(build);
	assert_int_equal(ky_reader_capture_count(reader), 1);
	assert_int_equal(ky_reader_capture(reader, 0)->header.capture, 2);
	assert_true(ky_reader_bad_bytes(reader) >= sizeof(build->header));
	ky_reader_close(reader);
	build_free(build);
}

static void a_damaged_block_costs_only_itself(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;
	size_t first;

	(void)state;
	first = build->file.size;
	add_span(build, 10);
	build_chunk(build);
	add_span(build, 20);
	build_chunk(build);
	build_finish(build, 0);
	for (size_t offset = 0; offset < 192; offset += 8) {
		build->file.data[first + offset] ^= 0x10;
		reader = open_reader(build);
		assert_int_equal(ky_reader_capture_count(reader), 1);
		assert_int_equal(ky_reader_capture(reader, 0)->chunk_count, 1);
		assert_int_equal(ky_reader_bad_bytes(reader), 192);
		ky_reader_close(reader);
		build->file.data[first + offset] ^= 0x10;
	}
	build_free(build);
}

static void doubled_blocks_are_read_once(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;
	const struct ky_reader_capture *capture;

	(void)state;
	build_text(build, "one");
	add_span(build, 10);
	build_chunk(build);
	build->sequence = 0; /* the same chunk again, fuller */
	add_span(build, 10);
	add_span(build, 20);
	build_chunk(build);
	build_anchor(build, 0, 1, 2, 3);
	build_finish(build, 0);
	build_text(build, "two");
	build_finish(build, 0);
	reader = open_reader(build);
	capture = ky_reader_capture(reader, 0);
	assert_int_equal(ky_reader_capture_count(reader), 1);
	assert_int_equal(capture->chunk_count, 1);
	assert_int_equal(capture->chunks[0].line_count, 2);
	assert_int_equal(capture->anchor_count, 1);
	assert_int_equal(ky_catalog_count(capture->catalog, KY_ENTRY_STRING), 2);
	assert_int_equal(ky_catalog_bad_bytes(capture->catalog), 0);
	ky_reader_close(reader);
	build_free(build);
}

static void chunks_come_in_order_of_their_leases(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;
	const struct ky_reader_capture *capture;

	(void)state;
	for (uint64_t i = 10; i > 0; i--) {
		build->sequence = i - 1;
		add_span(build, i);
		build_chunk(build);
	}
	build_finish(build, 0);
	reader = open_reader(build);
	capture = ky_reader_capture(reader, 0);
	assert_int_equal(capture->chunk_count, 10);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(capture->chunks[i].sequence, i + 1);
	ky_reader_close(reader);
	build_free(build);
}

static void a_capture_without_its_header_is_left_out_and_counted(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;

	(void)state;
	add_span(build, 10);
	build_chunk(build);
	reader = open_reader(build);
	assert_int_equal(ky_reader_capture_count(reader), 0);
	assert_int_equal(ky_reader_bad_bytes(reader), 64);
	ky_reader_close(reader);
	build_free(build);
}

static void of_equal_anchors_the_first_is_taken(void **state)
{
	enum { COUNT = 1500 };
	struct build *build = build_new();
	struct ky_reader *reader;
	const struct ky_reader_capture *capture;

	(void)state;
	for (uint64_t i = 0; i < 2 * COUNT; i++)
		build_anchor(build, 0, i, 2, 3);
	for (uint64_t i = 0; i < 2 * COUNT; i++)
		build->anchors[i].sequence = COUNT - i % COUNT;
	build_finish(build, BUILD_ATTACH);
	reader = open_reader(build);
	capture = ky_reader_capture(reader, 0);
	assert_int_equal(capture->anchor_count, COUNT);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(capture->anchors[i].device, COUNT - 1 - i);
	ky_reader_close(reader);
	build_free(build);
}

static void blocks_that_make_no_sense_are_counted(void **state)
{
	struct ky_chunk_header chunk = {.magic = KY_CHUNK_MAGIC, .head = 5};
	uint8_t small[8] = {0};
	static const struct {
		uint64_t sequence;
		uint32_t kind;
		int is_chunk;
	} rows[] = {{0, KY_BLOCK_CHUNK, 1},   {0, KY_BLOCK_CHUNK, 0},
		    {0, KY_BLOCK_SESSION, 0}, {0, KY_BLOCK_END, 0},
		    {0, KY_BLOCK_CAPTURE, 0}, {99, KY_BLOCK_DICTIONARY, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_new();
		struct ky_reader *reader;

		build_finish(build, 0);
		if (rows[i].is_chunk)
			build_block(build, rows[i].kind, 1, &chunk, sizeof(chunk));
		else
			build_block(build, rows[i].kind, rows[i].sequence, small,
				    sizeof(small));
		build_block(build, 99, 0, small, sizeof(small)); /* of a later minor */
		reader = open_reader(build);
		assert_int_equal(ky_reader_bad_bytes(reader), 128);
		assert_int_equal(ky_reader_capture_count(reader), 1);
		assert_int_equal(ky_reader_capture(reader, 0)->chunk_count, 0);
		ky_reader_close(reader);
		build_free(build);
	}
}

static void a_file_that_shrinks_under_the_reader_is_an_error(void **state)
{
	struct build *build = build_two();
	struct ky_reader *reader = open_reader(build);
	struct kymo_record lines[KY_CHUNK_LINES];
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(truncate(build->path, 200), 0);
	assert_int_equal(ky_reader_lines(reader, ky_reader_capture(reader, 0)->chunks,
					 lines, &error),
			 KYMO_ERROR_IO);
	assert_non_null(strstr(error.message, "shrank"));
	ky_reader_close(reader);
	build_free(build);
}

static void texts_of_a_header_always_end(void **state)
{
	struct build *build = build_new();
	struct ky_reader *reader;
	const struct ky_capture_header *header;

	(void)state;
	memset(build->header.host, 'h', sizeof(build->header.host));
	memset(build->header.exe, 'e', sizeof(build->header.exe));
	memset(build->header.command_line, 'c', sizeof(build->header.command_line));
	build->header.command_line_size = UINT32_MAX;
	build_finish(build, 0);
	reader = open_reader(build);
	header = &ky_reader_capture(reader, 0)->header;
	assert_int_equal(strlen(header->host), sizeof(header->host) - 1);
	assert_int_equal(strlen(header->exe), sizeof(header->exe) - 1);
	assert_int_equal(header->command_line_size, sizeof(header->command_line));
	ky_reader_close(reader);
	build_free(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_gives_all_its_parts),
		cmocka_unit_test(lines_beyond_a_chunk_are_refused),
		cmocka_unit_test(a_file_cut_anywhere_reads_up_to_the_last_whole_block),
		cmocka_unit_test(a_file_that_is_no_capture_is_refused),
		cmocka_unit_test(what_cannot_be_opened_says_why),
		cmocka_unit_test(a_damaged_file_header_costs_only_itself),
		cmocka_unit_test(blocks_of_unknown_kinds_are_passed_over),
		cmocka_unit_test(a_capture_of_another_major_costs_only_itself),
		cmocka_unit_test(a_damaged_block_costs_only_itself),
		cmocka_unit_test(doubled_blocks_are_read_once),
		cmocka_unit_test(chunks_come_in_order_of_their_leases),
		cmocka_unit_test(a_capture_without_its_header_is_left_out_and_counted),
		cmocka_unit_test(of_equal_anchors_the_first_is_taken),
		cmocka_unit_test(blocks_that_make_no_sense_are_counted),
		cmocka_unit_test(a_file_that_shrinks_under_the_reader_is_an_error),
		cmocka_unit_test(texts_of_a_header_always_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
