/* SPDX-License-Identifier: BSD-3-Clause */
/* The host table as a source meets it, with one host and no life cycle around it. */
#include "session/host.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <kymo/session.h>

#include "support/test.h"

#include "session/test_host.h"

static const struct kymo_option_desc option_rate = {
	.struct_size = sizeof(option_rate),
	.value_type = KYMO_VALUE_UINT64,
	.name = "rate",
	.fallback = "100",
};

static const struct kymo_option_desc option_mode = {
	.struct_size = sizeof(option_mode),
	.value_type = KYMO_VALUE_STRING,
	.name = "mode",
};

static const struct kymo_option_desc *const options[] = {&option_rate, &option_mode,
							 NULL};

static const struct ky_source_counts *counts_of(const struct kymo_source_host *of)
{
	return &recording->capture.sources[of->number];
}

/* ---- emit ---- */

static void a_wanted_record_is_written_as_it_is(void **state)
{
	union kymo_line span = span_of(register_type("dma", 0));
	struct kymo_record written;

	(void)state;
	ky_host_open(host);
	span.record.value[1] = 0x1122334455667788u;
	errno = 77;
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(errno, 77);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, &written), 1);
	assert_memory_equal(&written, &span, sizeof(span));
}

static void what_is_not_wanted_is_counted_as_filtered(void **state)
{
	union kymo_line span = span_of(register_type("rare", KYMO_TYPE_OPT_IN));
	union kymo_line dma = span_of(register_type("dma", 0));

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, &dma, 1), KYMO_OK);
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 1);
	assert_int_equal(recording->capture.slots[0].filtered, 1);
}

static void records_of_several_lines_and_links_go_together(void **state)
{
	union kymo_line lines[4];

	(void)state;
	memset(lines, 0, sizeof(lines));
	lines[0] = span_of(register_type("dma", 0));
	lines[0].record.lines = 2;
	lines[1].more.kind = KYMO_KIND_MORE;
	lines[2].link.kind = KYMO_KIND_LINK;
	lines[2].link.lines = 1;
	lines[2].link.link_kind = 60000; /* not a type */
	lines[3] = span_of(lines[0].record.type);
	ky_host_open(host);
	assert_int_equal(table->emit(host, lines, 4), KYMO_OK);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 2);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_MORE, NULL), 1);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_LINK, NULL), 1);
	assert_int_equal(recording->capture.slots[0].written, 3);
}

static void what_is_no_record_is_refused(void **state)
{
	static const struct {
		uint8_t kind, lines, second;
		uint32_t line_count;
	} cases[] = {
		{0, 1, 0, 1},
		{KYMO_KIND_LEASE, 1, 0, 1},
		{KYMO_KIND_MORE, 1, 0, 1},
		{KYMO_KIND_PAD, 1, 0, 1},
		{KYMO_KIND_SPAN, 0, 0, 1},
		{KYMO_KIND_SPAN, 2, KYMO_KIND_MORE, 1},
		{KYMO_KIND_SPAN, 2, KYMO_KIND_SPAN, 2},
		{KYMO_KIND_SPAN, 2, KYMO_KIND_PAD, 2},
	};
	uint64_t before = counts_of(host)->invalid;

	(void)state;
	ky_host_open(host);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union kymo_line lines[2] = {
			{.record = {.kind = cases[i].kind, .lines = cases[i].lines}},
			{.record = {.kind = cases[i].second, .lines = 1}},
		};

		assert_int_equal(table->emit(host, lines, cases[i].line_count),
				 KYMO_ERROR_INVALID);
	}
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 0);
	/* One for each, and one for what else looks like a record. */
	assert_int_equal(counts_of(host)->invalid,
			 before + sizeof(cases) / sizeof(cases[0]) + 1);
}

static void the_rest_of_a_bad_batch_is_counted(void **state)
{
	union kymo_line lines[4] = {span_of(0), {{0}}, span_of(0), span_of(0)};
	uint64_t before = counts_of(host)->invalid;

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, lines, 4), KYMO_ERROR_INVALID);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 1);
	assert_int_equal(counts_of(host)->invalid, before + 3);
}

static void a_type_that_is_not_the_sources_is_counted_as_invalid(void **state)
{
	union kymo_line lines[2] = {span_of(60000), span_of(register_type("dma", 0))};
	uint64_t before = counts_of(host)->invalid;

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, lines, 2), KYMO_ERROR_INVALID);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 1);
	assert_int_equal(counts_of(host)->invalid, before + 1);
	assert_int_equal(recording->capture.slots[0].filtered, 0);
}

static void what_comes_late_is_refused_and_counted(void **state)
{
	union kymo_line span = span_of(0);

	(void)state;
	/* Before its first session it belongs to none. */
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	host->epoch = 5;
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	assert_int_equal(counts_of(host)->lost[KYMO_LOST_LATE], 2);
}

static void losses_are_counted_in_the_capture(void **state)
{
	uint64_t before = counts_of(host)->lost[KYMO_LOST_VENDOR];

	(void)state;
	table->lost(host, KYMO_LOST_VENDOR, 3);
	table->lost(host, KYMO_LOST_VENDOR, 4);
	table->lost(host, 0, 1);
	table->lost(host, 99, 1);
	assert_int_equal(counts_of(host)->lost[KYMO_LOST_VENDOR], before + 7);
	assert_int_equal(counts_of(host)->lost[0], 0);
}

/* ---- Values ---- */

static void equal_attribute_sets_are_one(void **state)
{
	const uint64_t grid[3] = {1, 2, 3};
	struct kymo_value values[3] = {
		{.key = 1, .type = KYMO_VALUE_UINT64, .u64 = 7},
		{.key = 0, .type = KYMO_VALUE_UINT64, .u64 = 8},
		{.key = 2, .type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, .count = 3},
	};
	uint32_t set;
	const uint64_t *payload;
	size_t count;

	(void)state;
	values[2].array = grid;
	set = table->attributes(host, values, 3);
	assert_int_not_equal(set, 0);
	payload = last_entry(KY_ENTRY_ATTRIBUTES, &count);
	assert_int_equal(payload[1], 7);
	assert_memory_equal(&payload[3], grid, sizeof(grid));
	assert_int_equal(table->attributes(host, values, 3), set);
	values[0].u64 = 9;
	assert_int_not_equal(table->attributes(host, values, 3), set);
	assert_int_equal(table->attributes(host, values, 0), 0);
}

static void a_set_that_is_too_large_is_not_kept_and_counted(void **state)
{
	static uint64_t large[200000], huge[(1u << 20) / 8];
	struct kymo_value value = {
		.key = 1,
		.type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY,
		.count = 1000,
	};
	uint64_t before = recording->capture.header->names_not_kept;

	(void)state;
	value.array = large;
	assert_int_not_equal(table->attributes(host, &value, 1), 0);
	value.count = sizeof(huge) / sizeof(huge[0]);
	value.array = huge;
	assert_int_equal(table->attributes(host, &value, 1), 0);
	assert_int_equal(recording->capture.header->names_not_kept, before + 1);
}

static void metadata_is_told_to_every_session(void **state)
{
	const uint64_t sizes[] = {4, 5};
	struct kymo_value rank = {.key = 1, .type = KYMO_VALUE_INT64, .i64 = 3};
	struct kymo_value mesh = {
		.key = 2,
		.type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY,
		.count = 2,
		.array = sizes,
	};
	const uint64_t *payload;
	size_t before, count;

	(void)state;
	end_recording();
	assert_int_equal(table->metadata(host, &rank), KYMO_OK);
	assert_int_equal(table->metadata(host, &mesh), KYMO_OK);
	rank.i64 = 7;
	assert_int_equal(table->metadata(host, &rank), KYMO_OK);
	begin_recording();
	last_entry(KY_ENTRY_METADATA, &before);
	ky_host_publish_metadata(host);
	payload = last_entry(KY_ENTRY_METADATA, &count);
	assert_int_equal(count, before + 2); /* the last value of each key */
	assert_memory_equal(&payload[1], sizes, sizeof(sizes));
	rank.i64 = 8;
	assert_int_equal(table->metadata(host, &rank), KYMO_OK);
	payload = last_entry(KY_ENTRY_METADATA, &count);
	assert_int_equal(count, before + 3);
	assert_int_equal(payload[1], 8);
	rank.key = 0;
	assert_int_equal(table->metadata(host, &rank), KYMO_ERROR_INVALID);
	for (uint16_t key = 3; key <= KY_HOST_METADATA_MAX; key++) {
		rank.key = key;
		assert_int_equal(table->metadata(host, &rank), KYMO_OK);
	}
	rank.key++;
	assert_int_equal(table->metadata(host, &rank), KYMO_ERROR_NO_MEMORY);
}

static uint16_t register_key(const char *name, uint32_t value_type)
{
	const struct kymo_key_desc key = {
		.struct_size = sizeof(key),
		.value_type = value_type,
		.name = name,
	};
	uint16_t number = 0;

	assert_int_equal(table->key(host, &key, &number), KYMO_OK);
	return number;
}

static struct {
	char text[256];
	int count;
} heard;

static void hear(void *context, uint32_t severity, const char *text)
{
	(void)context;
	assert_int_equal(severity, KYMO_SEVERITY_WARNING);
	snprintf(heard.text, sizeof(heard.text), "%s", text);
	heard.count++;
}

static void a_value_of_another_type_than_its_keys_is_refused_and_said_once(void **state)
{
	struct kymo_value values[2] = {
		{.key = register_key("a count", KYMO_VALUE_UINT64),
		 .type = KYMO_VALUE_INT64, /* like it */
		 .i64 = 1},
		{.key = register_key("a share", KYMO_VALUE_DOUBLE),
		 .type = KYMO_VALUE_DOUBLE,
		 .f64 = 0.5},
	};
	uint64_t before = counts_of(host)->invalid;

	(void)state;
	heard.count = 0;
	kymo_log_to(hear, NULL);
	assert_int_not_equal(table->attributes(host, values, 2), 0);
	assert_int_equal(table->metadata(host, &values[1]), KYMO_OK);
	assert_int_equal(heard.count, 0);
	values[1].type = KYMO_VALUE_STRING;
	assert_int_equal(table->attributes(host, values, 2), 0);
	assert_string_equal(heard.text,
			    "source \"npu\": the key \"a share\" is for values "
			    "of double, but was given string, which is left "
			    "out");
	assert_int_equal(table->attributes(host, values, 2), 0);
	assert_int_equal(table->metadata(host, &values[1]), KYMO_ERROR_INVALID);
	kymo_log_to(NULL, NULL);
	assert_int_equal(heard.count, 1);
	assert_int_equal(counts_of(host)->invalid, before + 3);
}

static void a_key_that_stands_twice_in_a_set_is_refused(void **state)
{
	const uint16_t key = register_key("a tile", KYMO_VALUE_UINT64);
	const struct kymo_value values[4] = {
		{.key = 0, .type = KYMO_VALUE_UINT64, .u64 = 1}, /* no key at all */
		{.key = 0, .type = KYMO_VALUE_UINT64, .u64 = 2},
		{.key = key, .type = KYMO_VALUE_UINT64, .u64 = 3},
		{.key = key, .type = KYMO_VALUE_UINT64, .u64 = 4},
	};
	uint64_t before = counts_of(host)->invalid;

	(void)state;
	heard.count = 0;
	kymo_log_to(hear, NULL);
	assert_int_not_equal(table->attributes(host, values, 3), 0);
	assert_int_equal(heard.count, 0);
	assert_int_equal(table->attributes(host, values, 4), 0);
	assert_int_equal(table->attributes(host, values + 2, 2), 0);
	kymo_log_to(NULL, NULL);
	assert_string_equal(heard.text,
			    "source \"npu\": the key \"a tile\" stands twice in "
			    "one set of attributes, which is left out");
	assert_int_equal(counts_of(host)->invalid, before + 2);
}

static void a_code_address_has_its_object(void **state)
{
	union {
		void (*function)(void **);
		const void *address;
	} self = {.function = a_code_address_has_its_object};
	const struct ky_code_entry *entry;
	size_t count;

	(void)state;
	assert_int_equal(table->code(host, NULL), 0);
	assert_int_not_equal(table->code(host, self.address), 0);
	entry = last_entry(KY_ENTRY_CODE, &count);
	assert_int_equal(entry->address, (uintptr_t)self.address);
	assert_int_not_equal(entry->object, 0);
	assert_true(entry->offset < entry->address);
}

static void options_have_what_is_set_or_their_fallback(void **state)
{
	struct kymo_str value, kept;

	(void)state;
	assert_int_equal(table->option(host, "rate", &value), KYMO_OK);
	assert_memory_equal(value.data, "100", value.size + 1);
	assert_int_equal(table->option(host, "mode", &value), KYMO_OK);
	assert_null(value.data);
	assert_int_equal(table->option(host, "none", &value), KYMO_ERROR_NOT_FOUND);
	ky_sources_begin("npu:rate=5,npu:mode=a b", 1, 0);
	assert_int_equal(table->option(host, "rate", &kept), KYMO_OK);
	assert_memory_equal(kept.data, "5", kept.size + 1);
	assert_int_equal(table->option(host, "mode", &value), KYMO_OK);
	assert_memory_equal(value.data, "a b", value.size + 1);
	ky_sources_begin("npu:rate=6", 2, 0);
	assert_int_equal(table->option(host, "rate", &value), KYMO_OK);
	assert_memory_equal(value.data, "6", value.size + 1);
	assert_memory_equal(kept.data, "5", kept.size + 1);
	ky_sources_end(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_OF_HOST(a_wanted_record_is_written_as_it_is),
		TEST_OF_HOST(what_is_not_wanted_is_counted_as_filtered),
		TEST_OF_HOST(records_of_several_lines_and_links_go_together),
		TEST_OF_HOST(what_is_no_record_is_refused),
		TEST_OF_HOST(the_rest_of_a_bad_batch_is_counted),
		TEST_OF_HOST(a_type_that_is_not_the_sources_is_counted_as_invalid),
		TEST_OF_HOST(what_comes_late_is_refused_and_counted),
		TEST_OF_HOST(losses_are_counted_in_the_capture),
		TEST_OF_HOST(equal_attribute_sets_are_one),
		TEST_OF_HOST(a_set_that_is_too_large_is_not_kept_and_counted),
		TEST_OF_HOST(metadata_is_told_to_every_session),
		TEST_OF_HOST(
			a_value_of_another_type_than_its_keys_is_refused_and_said_once),
		TEST_OF_HOST(a_key_that_stands_twice_in_a_set_is_refused),
		TEST_OF_HOST(a_code_address_has_its_object),
		TEST_OF_HOST(options_have_what_is_set_or_their_fallback),
	};

	desc.options = options;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
