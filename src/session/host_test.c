/* SPDX-License-Identifier: BSD-3-Clause */
/* The host table as a source meets it, with one host and no life cycle around it. */
#include "session/host.h"

#include <errno.h>
#include <unistd.h>

#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

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

static const struct kymo_source_desc desc = {
	.struct_size = sizeof(desc),
	.name = "npu",
	.options = options,
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.name = "npu",
	.version = "1.0",
};

static const struct kymo_host *table;
static struct kymo_source_host *host;

static struct kymo_str str(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

static uint16_t register_type(const char *name, uint32_t flags)
{
	const struct kymo_type_desc type = {
		.struct_size = sizeof(type),
		.flags = flags,
		.name = name,
	};
	uint16_t handle = 0;

	assert_int_equal(table->type(host, &type, &handle), KYMO_OK);
	assert_int_not_equal(handle, 0);
	return handle;
}

static struct kymo_record span_of(uint16_t type)
{
	return (struct kymo_record){
		.kind = KYMO_KIND_SPAN, .lines = 1, .type = type, .begin = 1, .end = 2};
}

/* ---- emit ---- */

static void a_wanted_record_is_written_as_it_is(void **state)
{
	struct kymo_record span = span_of(register_type("dma", 0)), written;

	(void)state;
	ky_host_open(host);
	span.value[1] = 0x1122334455667788u;
	errno = 77;
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(errno, 77);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, &written), 1);
	assert_memory_equal(&written, &span, sizeof(span));
}

static void what_is_not_wanted_is_counted_as_filtered(void **state)
{
	struct kymo_record span = span_of(register_type("rare", KYMO_TYPE_OPT_IN));
	struct kymo_record dma = span_of(register_type("dma", 0));

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, &dma, 1), KYMO_OK);
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 1);
	assert_int_equal(recording->capture.slots[0].filtered, 1);
}

static void records_of_several_lines_and_links_go_together(void **state)
{
	struct kymo_record lines[4];

	(void)state;
	memset(lines, 0, sizeof(lines));
	lines[0] = span_of(register_type("dma", 0));
	lines[0].lines = 2;
	lines[1].kind = KYMO_KIND_MORE;
	lines[2].kind = KYMO_KIND_LINK;
	lines[2].lines = 1;
	lines[2].type = 60000; /* a link kind, not a type */
	lines[3] = span_of(lines[0].type);
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

	(void)state;
	ky_host_open(host);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_record lines[2] = {
			{.kind = cases[i].kind, .lines = cases[i].lines},
			{.kind = cases[i].second, .lines = 1},
		};

		assert_int_equal(table->emit(host, lines, cases[i].line_count),
				 KYMO_ERROR_INVALID);
	}
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 0);
}

static void what_comes_late_is_refused_and_counted(void **state)
{
	struct kymo_record span = span_of(0);
	const struct ky_loss_entry *loss;
	size_t count;

	(void)state;
	/* Before its first session it belongs to none. */
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	host->epoch = 5;
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	assert_int_equal(table->emit(host, &span, 1), KYMO_ERROR_STATE);
	ky_host_publish_lost(host);
	loss = last_entry(KY_ENTRY_LOSS, &count);
	assert_int_equal(count, 1);
	assert_int_equal(loss->source, host->number);
	assert_int_equal(loss->reason, KYMO_LOST_LATE);
	assert_int_equal(loss->count, 2);
}

static void losses_are_added_up_until_they_are_published(void **state)
{
	const struct ky_loss_entry *loss;
	size_t before, count;

	(void)state;
	last_entry(KY_ENTRY_LOSS, &before);
	table->lost(host, KYMO_LOST_VENDOR, 3);
	table->lost(host, KYMO_LOST_VENDOR, 4);
	table->lost(host, 0, 1);
	table->lost(host, 99, 1);
	ky_host_publish_lost(host);
	ky_host_publish_lost(host);
	loss = last_entry(KY_ENTRY_LOSS, &count);
	assert_int_equal(count, before + 1);
	assert_int_equal(loss->count, 7);
	table->lost(host, KYMO_LOST_VENDOR, 1);
	ky_host_forget_lost(host);
	ky_host_publish_lost(host);
	last_entry(KY_ENTRY_LOSS, &count);
	assert_int_equal(count, before + 1);
}

/* ---- Names ---- */

static void a_type_has_one_handle_whatever_is_left_out(void **state)
{
	struct kymo_type_desc type = {
		.struct_size = sizeof(type),
		.shapes = KYMO_SHAPE_SPAN,
		.side = KYMO_SIDE_ACCELERATOR,
		.name = "dma",
		.category = "gpu_memcpy",
	};
	uint16_t first, again = 0;

	(void)state;
	assert_int_equal(table->type(host, &type, &first), KYMO_OK);
	type.shapes = 0;
	type.side = KYMO_SIDE_ANY;
	type.category = NULL;
	assert_int_equal(table->type(host, &type, &again), KYMO_OK);
	assert_int_equal(again, first);
	type.side = KYMO_SIDE_HOST;
	assert_int_equal(table->type(host, &type, &again), KYMO_ERROR_INVALID);
	type.side = 0;
	type.category = "kernel";
	assert_int_equal(table->type(host, &type, &again), KYMO_ERROR_INVALID);
}

static void types_are_described_in_full(void **state)
{
	const struct ky_type_entry *entry;
	size_t count;

	(void)state;
	register_type("kernel", 0);
	entry = last_entry(KY_ENTRY_TYPE, &count);
	assert_int_equal(entry->activity_type, 5);
	assert_int_equal(entry->category, ky_dictionary_text("kernel"));
	register_type("hardware_counters", 0);
	entry = last_entry(KY_ENTRY_TYPE, &count);
	assert_int_equal(entry->activity_type, 28);
	assert_int_equal(entry->category, ky_dictionary_text("gpu_pm_counter"));
	register_type("DMA_2", 0);
	entry = last_entry(KY_ENTRY_TYPE, &count);
	assert_in_range(entry->activity_type, 65536, INT32_MAX);
	assert_int_equal(entry->category, ky_dictionary_text("npu.DMA_2"));
	assert_int_equal(entry->plugin, ky_dictionary_text("npu"));
	assert_int_equal(entry->source, host->number);
}

static void no_new_types_come_while_they_are_frozen(void **state)
{
	struct kymo_type_desc type = {.struct_size = sizeof(type), .name = "dma"};
	uint16_t handle, again;

	(void)state;
	assert_int_equal(table->type(host, &type, &handle), KYMO_OK);
	host->is_frozen = 1;
	assert_int_equal(table->type(host, &type, &again), KYMO_OK);
	assert_int_equal(again, handle);
	type.name = "late";
	assert_int_equal(table->type(host, &type, &again), KYMO_ERROR_STATE);
	assert_int_equal(again, 0);
}

static void a_shared_domain_is_the_same_for_all_sources(void **state)
{
	struct kymo_source_host *other = ky_host_create(&plugin, &desc, 2);
	uint16_t a, b;

	(void)state;
	assert_int_equal(table->domain(host, "queue", KYMO_DOMAIN_SOURCE, &a), KYMO_OK);
	assert_int_equal(table->domain(other, "queue", KYMO_DOMAIN_SOURCE, &b), KYMO_OK);
	assert_int_not_equal(a, b);
	assert_int_equal(table->domain(host, "ccl", KYMO_DOMAIN_GLOBAL, &a), KYMO_OK);
	assert_int_equal(table->domain(other, "ccl", KYMO_DOMAIN_GLOBAL, &b), KYMO_OK);
	assert_int_equal(a, b);
	assert_int_equal(table->domain(host, "", KYMO_DOMAIN_GLOBAL, &a),
			 KYMO_ERROR_INVALID);
	assert_int_equal(table->domain(host, "x", 3, &a), KYMO_ERROR_INVALID);
}

static void bad_descriptions_are_refused(void **state)
{
	const struct kymo_type_desc type = {.struct_size = 4, .name = "x"};
	const struct kymo_key_desc key = {.struct_size = sizeof(key), .name = ""};
	const struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 0,
		.ticks_den = 1,
	};
	const struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_THREAD,
	};
	uint16_t handle;
	uint32_t number;

	(void)state;
	assert_int_equal(table->type(host, &type, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->key(host, &key, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->link_kind(host, NULL, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->clock(host, &clock, &number), KYMO_ERROR_INVALID);
	assert_int_equal(table->track(host, &track, &number), KYMO_ERROR_INVALID);
	assert_int_equal(table->counter_group(host, 0, str("x"), NULL, 0, &number),
			 KYMO_ERROR_INVALID);
}

static void the_calling_thread_has_the_track_of_its_records(void **state)
{
	struct kymo_record span = span_of(0);
	uint32_t own, by_id;

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(table->thread_track(host, 0, &own), KYMO_OK);
	assert_int_equal(own, recording->capture.slots[0].track);
	assert_int_equal(table->thread_track(host, (uint64_t)gettid(), &by_id), KYMO_OK);
	assert_int_equal(by_id, own);
}

/* ---- Values ---- */

static void equal_attribute_sets_are_one(void **state)
{
	const uint64_t grid[3] = {1, 2, 3};
	struct kymo_value values[3] = {
		{.key = 1, .type = KYMO_VALUE_UINT64, .u.u = 7},
		{.key = 0, .type = KYMO_VALUE_UINT64, .u.u = 8},
		{.key = 2, .type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, .count = 3},
	};
	uint32_t set;
	const uint64_t *payload;
	size_t count;

	(void)state;
	values[2].u.array = grid;
	set = table->attributes(host, values, 3);
	assert_int_not_equal(set, 0);
	payload = last_entry(KY_ENTRY_ATTRIBUTES, &count);
	assert_int_equal(payload[1], 7);
	assert_memory_equal(&payload[3], grid, sizeof(grid));
	assert_int_equal(table->attributes(host, values, 3), set);
	values[0].u.u = 9;
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
	value.u.array = large;
	assert_int_not_equal(table->attributes(host, &value, 1), 0);
	value.count = sizeof(huge) / sizeof(huge[0]);
	value.u.array = huge;
	assert_int_equal(table->attributes(host, &value, 1), 0);
	assert_int_equal(recording->capture.header->names_not_kept, before + 1);
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
	ky_sources_begin("npu:rate=5,npu:mode=a b", 1);
	assert_int_equal(table->option(host, "rate", &kept), KYMO_OK);
	assert_memory_equal(kept.data, "5", kept.size + 1);
	assert_int_equal(table->option(host, "mode", &value), KYMO_OK);
	assert_memory_equal(value.data, "a b", value.size + 1);
	ky_sources_begin("npu:rate=6", 2);
	assert_int_equal(table->option(host, "rate", &value), KYMO_OK);
	assert_memory_equal(value.data, "6", value.size + 1);
	assert_memory_equal(kept.data, "5", kept.size + 1);
	ky_sources_end(0);
}

/* ---- Buffers ---- */

static void buffers_are_lent_and_come_back(void **state)
{
	uint8_t *a = table->buffer_take(host, 1000), *b = table->buffer_take(host, 1000);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	memset(a, 1, 1000);
	assert_int_equal(table->buffer_give(host, a, host->epoch), KYMO_OK);
	assert_int_equal(table->buffer_give(host, a, host->epoch), KYMO_ERROR_INVALID);
	assert_int_equal(table->buffer_give(host, a + 8, host->epoch),
			 KYMO_ERROR_INVALID);
	assert_ptr_equal(table->buffer_take(host, 900), a);
	assert_int_equal(table->buffer_give(host, a, host->epoch), KYMO_OK);
	assert_int_equal(table->buffer_give(host, b, host->epoch), KYMO_OK);
}

static void buffers_are_bounded_in_number_and_bytes(void **state)
{
	void *taken[KY_HOST_BUFFERS_MAX + 1];
	size_t count = 0;

	(void)state;
	assert_null(table->buffer_take(host, 0));
	assert_null(table->buffer_take(host, KY_HOST_MEMORY_MAX + 1));
	while (count <= KY_HOST_BUFFERS_MAX &&
	       (taken[count] = table->buffer_take(host, 4096)))
		count++;
	assert_int_equal(count, KY_HOST_BUFFERS_MAX);
	while (count > 0)
		assert_int_equal(table->buffer_give(host, taken[--count], host->epoch),
				 KYMO_OK);
	/* Free small ones make way for large ones. */
	for (count = 0; (taken[count] = table->buffer_take(host, 8u << 20)); count++)
		;
	assert_int_equal(count, KY_HOST_MEMORY_MAX / (8u << 20));
	while (count > 0)
		assert_int_equal(table->buffer_give(host, taken[--count], host->epoch),
				 KYMO_OK);
}

static void a_buffer_of_another_session_is_freed_and_counted_late(void **state)
{
	void *buffer;

	(void)state;
	host->epoch = 1;
	buffer = table->buffer_take(host, 100);
	host->epoch = 2;
	assert_int_equal(host->lost[KYMO_LOST_LATE], 0);
	assert_int_equal(table->buffer_give(host, buffer, 1), KYMO_OK);
	assert_int_equal(host->lost[KYMO_LOST_LATE], 1);
	assert_int_equal(table->buffer_give(host, buffer, 1), KYMO_ERROR_INVALID);
}

static int set_up(void **state)
{
	(void)state;
	begin_recording();
	table = ky_host_table();
	host = ky_host_create(&plugin, &desc, 1);
	return host ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	end_recording();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wanted_record_is_written_as_it_is),
		TEST(what_is_not_wanted_is_counted_as_filtered),
		TEST(records_of_several_lines_and_links_go_together),
		TEST(what_is_no_record_is_refused),
		TEST(what_comes_late_is_refused_and_counted),
		TEST(losses_are_added_up_until_they_are_published),
		TEST(a_type_has_one_handle_whatever_is_left_out),
		TEST(types_are_described_in_full),
		TEST(no_new_types_come_while_they_are_frozen),
		TEST(a_shared_domain_is_the_same_for_all_sources),
		TEST(bad_descriptions_are_refused),
		TEST(the_calling_thread_has_the_track_of_its_records),
		TEST(equal_attribute_sets_are_one),
		TEST(a_set_that_is_too_large_is_not_kept_and_counted),
		TEST(a_code_address_has_its_object),
		TEST(options_have_what_is_set_or_their_fallback),
		TEST(buffers_are_lent_and_come_back),
		TEST(buffers_are_bounded_in_number_and_bytes),
		TEST(a_buffer_of_another_session_is_freed_and_counted_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
