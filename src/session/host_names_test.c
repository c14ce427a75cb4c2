/* SPDX-License-Identifier: BSD-3-Clause */
/* Types, keys, domains, clocks and tracks, as a source registers them. */
#include "session/host.h"

#include <stdio.h>
#include <unistd.h>

#include <kymo/session.h>

#include "support/test.h"

#include "session/test_host.h"

static char heard[512];

static void hear(void *context, uint32_t severity, const char *message)
{
	(void)context, (void)severity;
	snprintf(heard, sizeof(heard), "%s", message);
}

static void
a_source_may_have_thousands_of_types_and_is_told_when_no_more_fit(void **state)
{
	uint16_t handle = 1, last = 0;
	char name[24];
	const struct kymo_type_desc type = {.struct_size = sizeof(type), .name = name};

	(void)state;
	while (host->type_count < KY_HOST_TYPES_MAX) {
		snprintf(name, sizeof(name), "type_%u", host->type_count);
		handle = register_type(name, 0);
		assert_true(handle > last);
		last = handle;
	}
	kymo_log_to(hear, NULL);
	snprintf(name, sizeof(name), "one_more");
	assert_int_equal(table->type(host, &type, &handle), KYMO_ERROR_NO_MEMORY);
	kymo_log_to(NULL, NULL);
	assert_int_equal(handle, 0);
	assert_string_equal(heard,
			    "source \"npu\": no type \"one_more\": a source can have "
			    "8192 types, which it has");
	assert_int_equal(ky_host_wanted_types(host), KY_HOST_TYPES_MAX);
	assert_int_equal(host->wanted_types[KY_HOST_TYPES_MAX - 1], last);
}

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

static void an_alias_is_the_generic_type_however_it_is_shown(void **state)
{
	const struct kymo_type_desc traditional = {
		.struct_size = sizeof(traditional),
		.name = "hardware_counters",
		.category = "hardware_counters",
	};
	const struct ky_type_entry *entry;
	uint16_t generic, alias;
	size_t count;

	(void)state;
	assert_int_equal(table->type(host, &traditional, &alias), KYMO_OK);
	entry = last_entry(KY_ENTRY_TYPE, &count);
	assert_int_equal(entry->name, ky_dictionary_text("gpu_pm_counter"));
	assert_int_equal(entry->category, ky_dictionary_text("hardware_counters"));
	generic = register_type("gpu_pm_counter", 0);
	assert_int_equal(generic, alias);
	assert_int_not_equal(register_type("GPU_PM_COUNTER", 0), alias);
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

static void a_key_has_the_type_that_is_known_or_declared(void **state)
{
	static const struct kymo_key_desc declared = {
		.struct_size = sizeof(declared),
		.value_type = KYMO_VALUE_DOUBLE,
		.name = "load",
	};
	static const struct kymo_key_desc *const keys[] = {&declared, NULL};
	static const struct kymo_source_desc with_keys = {
		.struct_size = sizeof(with_keys), .name = "npu", .keys = keys};
	struct kymo_source_host *other = ky_host_create(&plugin, &with_keys, 3);
	struct kymo_key_desc key = declared;
	struct kymo_error error = {0};
	uint16_t number;

	(void)state;
	assert_non_null(other);
	assert_int_equal(table->key(other, &key, &number), KYMO_OK);
	key.value_type = KYMO_VALUE_INT64;
	assert_int_equal(table->key(other, &key, &number), KYMO_ERROR_INVALID);
	assert_int_equal(number, 0);
	assert_int_equal(ky_host_key_check(other, &key, &error), KYMO_ERROR_INVALID);
	assert_string_equal(error.message, "its key \"load\" is declared for values of "
					   "double, not int64");
	/* What one source declares is no other source's affair. */
	assert_int_equal(table->key(host, &key, &number), KYMO_OK);
	key.name = "Input Dims";
	assert_int_equal(table->key(host, &key, &number), KYMO_ERROR_INVALID);
	key.value_type = KYMO_VALUE_NESTED;
	assert_int_equal(table->key(host, &key, &number), KYMO_OK);
	key.value_type = KYMO_VALUE_DICT;
	key.name = "dict";
	assert_int_equal(ky_host_key_check(host, &key, &error), KYMO_ERROR_INVALID);
	assert_string_equal(error.message,
			    "its key \"dict\" is of type 0xa, which is none");
}

static void wrong_keys_of_a_table_are_named(void **state)
{
	static const struct kymo_key_desc grid = {
		.struct_size = sizeof(grid),
		.value_type = KYMO_VALUE_STRING,
		.name = "grid",
	};
	static const struct kymo_key_desc *const keys[] = {&grid, NULL};
	static const struct kymo_source_desc with_keys = {
		.struct_size = sizeof(with_keys), .name = "npu", .keys = keys};
	struct kymo_source_host *other = ky_host_create(&plugin, &with_keys, 4);
	struct kymo_error error = {0};

	(void)state;
	assert_non_null(other);
	assert_int_equal(ky_host_declare(other, &error), KYMO_ERROR_INVALID);
	assert_string_equal(error.message,
			    "the key \"grid\" is one that readers of traces know: its "
			    "values have to be int64[], not string");
}

static void a_shared_domain_is_the_same_for_all_sources(void **state)
{
	struct kymo_source_host *other = ky_host_create(&plugin, &desc, 2);
	struct kymo_domain_desc domain = {.struct_size = sizeof(domain), .name = "queue"};
	uint16_t a, b;

	(void)state;
	assert_int_equal(table->domain(host, &domain, &a), KYMO_OK);
	assert_int_equal(table->domain(other, &domain, &b), KYMO_OK);
	assert_int_not_equal(a, b);
	domain.scope = KYMO_DOMAIN_GLOBAL;
	domain.name = "ccl";
	assert_int_equal(table->domain(host, &domain, &a), KYMO_OK);
	assert_int_equal(table->domain(other, &domain, &b), KYMO_OK);
	assert_int_equal(a, b);
	domain.scope = 3;
	assert_int_equal(table->domain(host, &domain, &a), KYMO_ERROR_INVALID);
	domain.scope = KYMO_DOMAIN_PROCESS;
	domain.name = "";
	assert_int_equal(table->domain(host, &domain, &a), KYMO_ERROR_INVALID);
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
	const struct kymo_link_kind_desc link_kind = {.struct_size = sizeof(link_kind)};
	const struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_THREAD,
	};
	uint16_t handle;
	uint32_t number;

	(void)state;
	assert_int_equal(table->type(host, &type, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->key(host, &key, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->link_kind(host, &link_kind, &handle), KYMO_ERROR_INVALID);
	assert_int_equal(table->clock(host, &clock, &number), KYMO_ERROR_INVALID);
	assert_int_equal(table->track(host, &track, &number), KYMO_ERROR_INVALID);
	assert_int_equal(table->counter_group(host, 0, KYMO_STR("x"), NULL, 0, &number),
			 KYMO_ERROR_INVALID);
}

static void the_calling_thread_has_the_track_of_its_records(void **state)
{
	union kymo_line span = span_of(0);
	uint32_t own, by_id;

	(void)state;
	ky_host_open(host);
	assert_int_equal(table->emit(host, &span, 1), KYMO_OK);
	assert_int_equal(table->thread_track(host, 0, 0, &own), KYMO_OK);
	assert_int_equal(own, recording->capture.slots[0].track);
	assert_int_equal(table->thread_track(host, (uint64_t)gettid(), 0, &by_id),
			 KYMO_OK);
	assert_int_equal(by_id, own);
}

static void a_thread_is_named_by_a_source_but_belongs_to_no_device(void **state)
{
	struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_THREAD,
		.native = 77,
		.name = KYMO_STR("prog, worker"),
	};
	const struct ky_track_entry *entry;
	uint32_t number, again;
	size_t count;

	(void)state;
	assert_int_equal(table->track(host, &track, &number), KYMO_OK);
	assert_int_equal(table->track(host, &track, &again), KYMO_OK);
	assert_int_equal(again, number);
	entry = last_entry(KY_ENTRY_TRACK, &count);
	assert_int_equal(entry->kind, KYMO_TRACK_THREAD);
	assert_int_equal(entry->native, 77);
	assert_int_not_equal(entry->source, 0);
	track.device = 1;
	assert_int_equal(table->track(host, &track, &number), KYMO_ERROR_INVALID);
	track.device = 0;
	track.native = 0;
	assert_int_equal(table->track(host, &track, &number), KYMO_ERROR_INVALID);
}

static void a_thread_has_a_track_for_each_clock(void **state)
{
	const struct ky_track_entry *entry;
	uint32_t own, other, again;
	size_t count;

	(void)state;
	assert_int_equal(table->thread_track(host, 0, 0, &own), KYMO_OK);
	assert_int_equal(table->thread_track(host, 0, 7, &other), KYMO_OK);
	entry = last_entry(KY_ENTRY_TRACK, &count);
	assert_int_equal(entry->native, gettid());
	assert_int_equal(entry->clock, 7);
	assert_int_not_equal(other, own);
	assert_int_equal(table->thread_track(host, (uint64_t)gettid(), 7, &again),
			 KYMO_OK);
	assert_int_equal(again, other);
}

static void clocks_of_two_devices_differ_by_their_device(void **state)
{
	struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 1000000000,
		.ticks_den = 1,
		.name = KYMO_STR("the device's clock"),
		.device = 1,
	};
	const struct ky_clock_entry *entry;
	uint32_t first, second, again;
	size_t count;

	(void)state;
	assert_int_equal(table->clock(host, &clock, &first), KYMO_OK);
	clock.device = 2;
	assert_int_equal(table->clock(host, &clock, &second), KYMO_OK);
	entry = last_entry(KY_ENTRY_CLOCK, &count);
	assert_int_equal(entry->device, 2);
	assert_int_not_equal(first, second);
	clock.device = 1;
	assert_int_equal(table->clock(host, &clock, &again), KYMO_OK);
	assert_int_equal(again, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_OF_HOST(
			a_source_may_have_thousands_of_types_and_is_told_when_no_more_fit),
		TEST_OF_HOST(a_type_has_one_handle_whatever_is_left_out),
		TEST_OF_HOST(types_are_described_in_full),
		TEST_OF_HOST(an_alias_is_the_generic_type_however_it_is_shown),
		TEST_OF_HOST(no_new_types_come_while_they_are_frozen),
		TEST_OF_HOST(a_key_has_the_type_that_is_known_or_declared),
		TEST_OF_HOST(wrong_keys_of_a_table_are_named),
		TEST_OF_HOST(a_shared_domain_is_the_same_for_all_sources),
		TEST_OF_HOST(bad_descriptions_are_refused),
		TEST_OF_HOST(the_calling_thread_has_the_track_of_its_records),
		TEST_OF_HOST(a_thread_is_named_by_a_source_but_belongs_to_no_device),
		TEST_OF_HOST(a_thread_has_a_track_for_each_clock),
		TEST_OF_HOST(clocks_of_two_devices_differ_by_their_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
