/* SPDX-License-Identifier: BSD-3-Clause */
/* Records are walked, found again and decoded, however they are cut into lines. */
#include "timeline/records.h"

#include <stdio.h>

#include "capture/build_capture.h"
#include "support/test.h"
#include "timeline/item.h"
#include "timeline/lines.h"

#define T(ns) (BUILD_ATTACH + (ns))

struct opened {
	struct build *build;
	struct ky_reader *reader;
	struct ky_model *model;
};

static struct opened open_model(struct build *build)
{
	struct opened opened = {.build = build};
	struct kymo_error error = {0};

	build_finish(build, T(BUILD_SECOND));
	if (ky_reader_open(&opened.reader, build_save(build), &error) != KYMO_OK ||
	    ky_model_create(&opened.model, &opened.reader, 1, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return opened;
}

static void close_model(struct opened *opened)
{
	ky_model_destroy(opened->model);
	ky_reader_close(opened->reader);
	build_free(opened->build);
}

static void lines_of_a_record_are_checked(void **state)
{
	static const struct {
		uint8_t kind, lines;
		uint32_t available, expected;
	} rows[] = {
		{KYMO_KIND_SPAN, 1, 1, 1},
		{KYMO_KIND_SPAN, 3, 3, 3},
		{KYMO_KIND_SPAN, 4, 3, 0},
		{KYMO_KIND_SPAN, 0, 3, 0},
		{0, 1, 3, 0},
		{KYMO_KIND_MORE, 1, 3, 0},
		{KYMO_KIND_PAD, 1, 3, 0},
		{63, 2, 3, 2},
		{KYMO_KIND_LEASE, 1, 1, 1},
		{KYMO_KIND_LINK, 255, 255, 255},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_record record = {.kind = rows[i].kind,
					     .lines = rows[i].lines};

		assert_int_equal(ky_record_lines(&record, rows[i].available),
				 rows[i].expected);
	}
}

struct walked {
	uint64_t lines[4096];
	size_t count, leases;
	uint32_t last_track;
};

static int32_t note(void *context, const struct ky_record *record,
		    struct kymo_error *error)
{
	struct walked *walked = context;

	(void)error;
	walked->leases += record->new_lease;
	walked->last_track = record->lease_track;
	walked->lines[walked->count++] = record->line;
	return record->first->begin == 99 ? KYMO_ERROR_BUSY : KYMO_OK;
}

static void every_record_is_visited_and_found_again(void **state)
{
	struct build *build = build_new();
	struct walked walked = {.count = 0};
	struct ky_lines *lines = NULL;
	struct opened opened;

	(void)state;
	build_lease(build, build_thread(build, 1, "a"), 5);
	for (uint64_t i = 0; i < 2000; i++) {
		struct kymo_record record[7] = {{.kind = KYMO_KIND_SPAN,
						 .lines = (uint8_t)(1 + i % 7),
						 .begin = 1000 + i}};

		for (size_t j = 1; j < 7; j++)
			record[j].kind = KYMO_KIND_MORE;
		build_lines(build, record, record[0].lines);
	}
	build_lease(build, build_thread(build, 2, "b"), 6);
	build_record(build, KYMO_KIND_SPAN, (struct kymo_record){.begin = 3000});
	opened = open_model(build);
	assert_int_equal(ky_records_walk(opened.model, note, &walked, NULL), KYMO_OK);
	assert_int_equal(walked.count, 2001);
	assert_int_equal(walked.last_track, 2);
	assert_int_equal(walked.leases, opened.model->chunk_count);
	assert_int_equal(ky_lines_create(&lines, opened.model, NULL), KYMO_OK);
	/* In an order that leaves and enters chunks all the time. */
	for (size_t i = 0; i < walked.count; i++) {
		size_t at = i * 1237 % 2001;
		struct ky_model_capture *capture;
		const struct kymo_record *first;
		uint32_t count;

		assert_int_equal(ky_lines_find(lines, walked.lines[at], &capture, &first,
					       &count, NULL),
				 KYMO_OK);
		assert_ptr_equal(capture, opened.model->captures);
		if (at < 2000) {
			assert_int_equal(first->begin, 1000 + at);
			assert_int_equal(count, 1 + at % 7);
			for (uint32_t j = 1; j < count; j++)
				assert_int_equal(first[j].kind, KYMO_KIND_MORE);
		}
	}
	ky_lines_destroy(lines);
	close_model(&opened);
}

static void a_visitor_can_end_the_walk(void **state)
{
	struct build *build = build_new();
	struct walked walked = {.count = 0};
	struct opened opened;

	(void)state;
	for (uint64_t i = 97; i < 105; i++)
		build_record(build, KYMO_KIND_SPAN, (struct kymo_record){.begin = i});
	opened = open_model(build);
	assert_int_equal(ky_records_walk(opened.model, note, &walked, NULL),
			 KYMO_ERROR_BUSY);
	assert_int_equal(walked.count, 3);
	close_model(&opened);
}

/* The values of one record, as the sink would get them. */
static size_t decode(struct opened *opened, const struct kymo_record *lines,
		     struct ky_arena *arena, const struct kymo_trace_value **out)
{
	struct ky_values values = {.capture = opened->model->captures,
				   .arena = arena,
				   .clock = opened->model->captures[0].clocks};
	size_t count;

	ky_record_values(&values, lines, lines->lines);
	assert_int_equal(ky_values_take(&values, out, &count), KYMO_OK);
	ky_values_clear(&values);
	return count;
}

static void values_keep_all_their_bits(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t raw;
	} rows[] = {{KYMO_VALUE_INT64, (uint64_t)INT64_MIN},
		    {KYMO_VALUE_UINT64, UINT64_MAX},
		    {KYMO_VALUE_DOUBLE, 0x7ff8000000000001},
		    {KYMO_VALUE_BOOL, 1},
		    {KYMO_VALUE_TIME, T(5)}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_new();
		uint16_t key = build_key(build, "key", rows[i].type);
		struct kymo_record record = {.kind = KYMO_KIND_SPAN,
					     .lines = 1,
					     .key = {0, key},
					     .value = {123, rows[i].raw}};
		struct ky_arena arena = {NULL, 0, 0};
		const struct kymo_trace_value *found;
		struct opened opened = open_model(build);

		assert_int_equal(decode(&opened, &record, &arena, &found), 1);
		assert_int_equal(found->type, rows[i].type);
		assert_int_equal(found->u64, rows[i].raw);
		assert_memory_equal(found->key.data, "key", 3);
		ky_arena_clear(&arena);
		close_model(&opened);
	}
}

static void long_values_are_joined_from_their_pieces(void **state)
{
	static const struct {
		const char *what;
		uint8_t used[3];
		uint32_t total, elements;
	} rows[] = {
		{"whole", {56, 56, 48}, 160, 20},
		{"one line", {16, 0, 0}, 16, 2},
		{"more said than there is", {56, 56, 56}, 100000, 21},
		{"less said than there is", {56, 56, 56}, 64, 8},
		{"impossible sizes", {200, 255, 57}, 168, 21},
		{"not a whole element", {20, 0, 0}, 20, 2},
		{"nothing", {0, 0, 0}, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_new();
		uint16_t key =
			build_key(build, "grid", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY);
		struct kymo_record lines[4] = {{.kind = KYMO_KIND_SPAN, .lines = 1}};
		struct ky_arena arena = {NULL, 0, 0};
		const struct kymo_trace_value *found;
		struct opened opened;

		for (size_t j = 0; j < 3 && (rows[i].used[j] || j == 0); j++) {
			struct kymo_record_bytes piece = {.kind = KYMO_KIND_BYTES,
							  .used = rows[i].used[j],
							  .key = key,
							  .total = rows[i].total};

			memset(piece.byte, 1, sizeof(piece.byte));
			memcpy(&lines[lines[0].lines++], &piece, sizeof(piece));
		}
		opened = open_model(build);
		if (decode(&opened, lines, &arena, &found) < 1 ||
		    found->count != rows[i].elements)
			fail_msg("%s: %u", rows[i].what, found->count);
		for (uint32_t j = 0; j < found->count; j++)
			assert_int_equal(found->u64_array[j], 0x0101010101010101);
		ky_arena_clear(&arena);
		close_model(&opened);
	}
}

static void code_is_shown_by_symbol_object_or_address(void **state)
{
	static const struct {
		int has_object, has_symbol;
		const char *expected;
	} rows[] = {{1, 1, "main (prog+0x1f)"}, {1, 0, "prog+0x1f"}, {0, 0, "0x401000"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_new();
		uint16_t key = build_key(build, "code", KYMO_VALUE_CODE);
		uint32_t object = build_text(build, "/usr/bin/prog");
		uint32_t symbol = build_text(build, "main");
		struct ky_code_entry entry = {.address = 0x401000,
					      .object = rows[i].has_object ? object : 0,
					      .symbol = rows[i].has_symbol ? symbol : 0,
					      .offset = 0x1f};
		struct kymo_record record = {.kind = KYMO_KIND_SPAN,
					     .lines = 1,
					     .key = {key, key},
					     .value = {1, 9}};
		struct ky_arena arena = {NULL, 0, 0};
		const struct kymo_trace_value *found;
		struct opened opened;

		build_entry(build, KY_ENTRY_CODE, &entry, sizeof(entry));
		opened = open_model(build);
		assert_int_equal(decode(&opened, &record, &arena, &found), 2);
		assert_string_equal(found[0].text.data, rows[i].expected);
		assert_string_equal(found[1].text.data, "(unknown code 9)");
		ky_arena_clear(&arena);
		close_model(&opened);
	}
}

/* The shown name of a record, as text. */
static void name_of(struct opened *opened, const struct kymo_record *lines, char *out,
		    size_t size)
{
	const struct kymo_trace_type type = {.name = KYMO_STR("the type")};
	struct ky_arena arena = {NULL, 0, 0};
	struct ky_values values = {.capture = opened->model->captures, .arena = &arena};
	struct kymo_str name = ky_record_name(&values, lines, lines->lines, &type);

	assert_int_equal(values.status, KYMO_OK);
	snprintf(out, size, "%.*s", (int)name.size, name.data);
	ky_values_clear(&values);
	ky_arena_clear(&arena);
}

static void a_name_is_text_code_or_bytes(void **state)
{
	static const struct {
		uint16_t flags;
		uint32_t name;
		const char *bytes; /* behind the record, with key 0 */
		const char *expected;
	} rows[] = {
		{0, 2, NULL, "load"},
		{0, 0, NULL, "the type"},
		{0, 9, NULL, "(unknown name 9)"},
		{KYMO_RECORD_NAME_CODE, 1, NULL, "prog+0x1f"},
		{KYMO_RECORD_NAME_CODE, 9, NULL, "(unknown code 9)"},
		{KYMO_RECORD_NAME_CODE, 0, NULL, "the type"},
		{0, 0, "once", "once"},
		{0, 2, "once", "once"},
		{KYMO_RECORD_NAME_CODE, 1,
		 "a name that is longer than one line can hold, so it takes two of them",
		 "a name that is longer than one line can hold, so it takes two of them"},
		{0, 2, "", "load"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct build *build = build_new();
		struct kymo_record lines[5] = {{.kind = KYMO_KIND_SPAN,
						.lines = 1,
						.flags = rows[i].flags,
						.name = rows[i].name}};
		struct ky_code_entry code = {.address = 0x401000, .offset = 0x1f};
		const size_t total = rows[i].bytes ? strlen(rows[i].bytes) : 0;
		struct kymo_record_more more = {.kind = KYMO_KIND_MORE};
		const struct kymo_trace_value *found;
		struct ky_arena arena = {NULL, 0, 0};
		struct opened opened;
		char name[128];

		code.object = build_text(build, "/usr/bin/prog");
		build_text(build, "load");
		build_entry(build, KY_ENTRY_CODE, &code, sizeof(code));
		opened = open_model(build);
		memcpy(&lines[lines[0].lines++], &more, sizeof(more));
		for (size_t at = 0; rows[i].bytes && (at == 0 || at < total); at += 56) {
			struct kymo_record_bytes piece = {
				.kind = KYMO_KIND_BYTES,
				.used = (uint8_t)(total - at < 56 ? total - at : 56),
				.total = (uint32_t)total};

			memcpy(piece.byte, rows[i].bytes + at, piece.used);
			memcpy(&lines[lines[0].lines++], &piece, sizeof(piece));
		}
		name_of(&opened, lines, name, sizeof(name));
		assert_string_equal(name, rows[i].expected);
		/* It is not shown as a value as well. */
		assert_int_equal(decode(&opened, lines, &arena, &found), 0);
		ky_arena_clear(&arena);
		close_model(&opened);
	}
}

/* One of eight bytes could be taken for a number. */
static void bytes_of_a_string_key_are_the_text_itself(void **state)
{
	static const char *const texts[] = {"exactly8", "short"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct build *build = build_new();
		struct kymo_record lines[2] = {{.kind = KYMO_KIND_SPAN, .lines = 2}};
		struct kymo_record_bytes piece = {
			.kind = KYMO_KIND_BYTES,
			.used = (uint8_t)strlen(texts[i]),
			.key = build_key(build, "query", KYMO_VALUE_STRING),
			.total = (uint32_t)strlen(texts[i])};
		const struct kymo_trace_value *found;
		struct ky_arena arena = {NULL, 0, 0};
		struct opened opened = open_model(build);

		memcpy(piece.byte, texts[i], piece.used);
		memcpy(&lines[1], &piece, sizeof(piece));
		assert_int_equal(decode(&opened, lines, &arena, &found), 1);
		assert_int_equal(found->type, KYMO_VALUE_STRING);
		assert_int_equal(found->text.size, strlen(texts[i]));
		assert_memory_equal(found->text.data, texts[i], found->text.size);
		ky_arena_clear(&arena);
		close_model(&opened);
	}
}

static void counters_beyond_their_group_are_shown_by_number(void **state)
{
	struct build *build = build_new();
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counter;
	} group = {{.name = build_text(build, "power"), .count = 1},
		   {.name = build_text(build, "watts"), .value_type = KYMO_VALUE_INT64}};
	struct kymo_record_counter counter = {
		.kind = KYMO_KIND_COUNTER,
		.lines = 2,
		.count = 6,
		.group = build_entry(build, KY_ENTRY_GROUP, &group, sizeof(group)),
		.value = {1, 2, 3, 4}};
	struct kymo_record_values more = {
		.kind = KYMO_KIND_VALUES, .used = 7, .value = {5, 6, 7}};
	struct kymo_record lines[2];
	struct ky_arena arena = {NULL, 0, 0};
	const struct kymo_trace_value *found;
	struct opened opened = open_model(build);

	(void)state;
	memcpy(&lines[0], &counter, sizeof(counter));
	memcpy(&lines[1], &more, sizeof(more));
	assert_int_equal(decode(&opened, lines, &arena, &found), 6);
	assert_memory_equal(found[0].key.data, "watts", 5);
	assert_string_equal(found[5].key.data, "(unknown counter 5)");
	assert_int_equal(found[5].u64, 6);
	ky_arena_clear(&arena);
	close_model(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_record_are_checked),
		cmocka_unit_test(every_record_is_visited_and_found_again),
		cmocka_unit_test(a_visitor_can_end_the_walk),
		cmocka_unit_test(values_keep_all_their_bits),
		cmocka_unit_test(long_values_are_joined_from_their_pieces),
		cmocka_unit_test(code_is_shown_by_symbol_object_or_address),
		cmocka_unit_test(a_name_is_text_code_or_bytes),
		cmocka_unit_test(bytes_of_a_string_key_are_the_text_itself),
		cmocka_unit_test(counters_beyond_their_group_are_shown_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
