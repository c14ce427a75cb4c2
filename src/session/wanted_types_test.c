/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a list of wanted types does to the sources of a process: whether they are started,
 * what they are told, what becomes of what they hand in.
 */
#include "session/wanted_types.h"

#include <stdio.h>

#include "registry/static_types.h"
#include "session/host.h"
#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

#define FAR_NS (ky_monotonic_ns() + 5000000000u)

#define TYPE(symbol, type_name, type_flags)           \
	static const struct kymo_type_desc symbol = { \
		.struct_size = sizeof(symbol),        \
		.flags = (type_flags),                \
		.name = (type_name),                  \
	}

TYPE(kernel, "kernel", 0);
TYPE(dma, "dma", 0);
TYPE(rare, "rare", KYMO_TYPE_OPT_IN);
TYPE(counter, "gpu_pm_counter", 0);
TYPE(added, "added", 0);
TYPE(late, "late", 0);

enum { KERNEL, DMA, RARE, COUNTER, TYPE_COUNT };

static const struct kymo_type_desc *const types[] = {&kernel, &dma, &rare, &counter,
						     NULL};

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t types[TYPE_COUNT], added;
	int32_t late_status;
	int created, started;
	char told[64]; /* a letter for each type: k, d, r, c */
} npu;

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	npu.host = host;
	npu.self = self;
	npu.created++;
	for (size_t i = 0; i < TYPE_COUNT && self->desc->types; i++)
		npu.types[i] = numbers->types[i];
	*source = &npu;
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	static const char letters[] = "kdrc";
	size_t used = 0;

	(void)source, (void)error;
	for (size_t i = 0; i < TYPE_COUNT; i++)
		if (kymo_source_wants(session, npu.types[i]))
			npu.told[used++] = letters[i];
	npu.told[used] = '\0';
	return npu.host->type(npu.self, &added, &npu.added);
}

static int32_t start(void *source, struct kymo_error *error)
{
	uint16_t handle;

	(void)source, (void)error;
	npu.started++;
	npu.late_status = npu.host->type(npu.self, &late, &handle);
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.prepare = prepare,
	.start = start,
	.stop = stop,
};

#define PLUGIN(symbol, plugin_name, type_list)                             \
	static const struct kymo_source_desc symbol##_desc = {             \
		.struct_size = sizeof(symbol##_desc),                      \
		.name = (plugin_name),                                     \
		.types = (type_list),                                      \
		.ops = &ops,                                               \
	};                                                                 \
	static const struct kymo_source_desc *const symbol##_sources[] = { \
		&symbol##_desc, NULL};                                     \
	static const struct kymo_plugin symbol = {                         \
		.struct_size = sizeof(symbol),                             \
		.name = (plugin_name),                                     \
		.version = "1.0",                                          \
		.sources = symbol##_sources,                               \
	}

PLUGIN(npu_plugin, "npu", types);
PLUGIN(bare_plugin, "bare", NULL);
PLUGIN(guest_plugin, "guest", types);

static void begin(const char *list)
{
	npu.created = npu.started = 0;
	npu.told[0] = '\0';
	ky_wanted_types_set(list);
	begin_recording();
	ky_sources_begin("npu,bare,guest", ky_gate()->epoch, FAR_NS);
}

static void end(void)
{
	ky_sources_end(FAR_NS);
	end_recording();
}

static int32_t emit(uint16_t type)
{
	const union kymo_line line = {
		.record = {.kind = KYMO_KIND_SPAN,
			   .lines = 1,
			   .type = type,
			   .begin = 1,
			   .end = 2},
	};

	return npu.host->emit(npu.self, &line, 1);
}

static uint64_t count_filtered(void)
{
	/* The first one may come before the thread has a writer. */
	return recording->capture.slots[0].filtered +
	       recording->capture.header->filtered_unowned;
}

/* ---- Tests ---- */

static void a_source_is_told_what_is_wanted_and_the_rest_is_filtered(void **state)
{
	static const struct {
		const char *list, *told;
		size_t recorded, added;
	} cases[] = {
		{"", "kd", 2, 1},
		{"kernel", "k", 1, 0},
		{"npu:npu.rare,npu:kernel", "kr", 2, 0},
		{"npu.*", "dr", 2, 1},
		{"all", "kdrc", 4, 1},
		{"gpu_pm_counter", "c", 1, 0},
		{"-kernel", "d", 1, 1},
		{"other:kernel", "kd", 2, 1},
	};

	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t recorded = 0;

		begin(cases[i].list);
		assert_int_equal(npu.started, 1);
		assert_string_equal(npu.told, cases[i].told);
		for (size_t k = 0; k < TYPE_COUNT; k++)
			assert_int_equal(emit(npu.types[k]), KYMO_OK);
		recorded = count_lines_of_kind(KYMO_KIND_SPAN, NULL);
		if (recorded != cases[i].recorded)
			fail_msg("\"%s\": %zu", cases[i].list, recorded);
		assert_int_equal(count_filtered(), TYPE_COUNT - recorded);
		/* One that it has registered in prepare is decided about as well. */
		assert_int_equal(emit(npu.added), KYMO_OK);
		assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL) - recorded,
				 cases[i].added);
		end();
	}
}

static void new_types_come_until_prepare_returns_and_again_after_the_end(void **state)
{
	uint16_t handle, again;

	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	begin("");
	assert_int_equal(npu.late_status, KYMO_ERROR_STATE);
	assert_int_equal(npu.host->type(npu.self, &added, &again), KYMO_OK);
	assert_int_equal(again, npu.added);
	end();
	assert_int_equal(npu.host->type(npu.self, &late, &handle), KYMO_OK);
	begin("");
	assert_int_equal(npu.late_status, KYMO_OK);
	end();
}

static void a_source_with_nothing_wanted_is_not_started_and_says_so(void **state)
{
	const struct ky_state_entry *entry;
	size_t count;

	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	begin("runtime");
	assert_int_equal(npu.created + npu.started, 0);
	entry = last_entry(KY_ENTRY_STATE, &count);
	assert_int_equal(count, 1);
	assert_int_equal(entry->state, KYMO_STATE_READY);
	assert_int_equal(entry->reason,
			 ky_dictionary_text("none of its activity types is wanted"));
	end();
	begin("npu:-all");
	assert_int_equal(npu.started, 0);
	end();
	begin("kernel");
	assert_int_equal(npu.started, 1);
	end();
}

static void a_plugin_that_comes_while_it_is_recorded_is_filtered_as_well(void **state)
{
	(void)state;
	begin("guest:guest.rare,guest:kernel,npu:-all");
	assert_int_equal(ky_sources_add(&guest_plugin, NULL), KYMO_OK);
	assert_int_equal(npu.started, 1);
	assert_string_equal(npu.told, "kr");
	end();
}

static void a_source_without_a_table_is_started_if_it_may_bring_something(void **state)
{
	(void)state;
	assert_int_equal(ky_sources_add(&bare_plugin, NULL), KYMO_OK);
	memset(npu.types, 0, sizeof(npu.types));
	begin("npu:-all,guest:-all,bare:bare.added");
	assert_ptr_equal(npu.self->desc, &bare_plugin_desc);
	assert_int_equal(emit(npu.added), KYMO_OK);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 1);
	end();
}

static void what_is_said_later_is_told_to_readers_too(void **state)
{
	const struct ky_type_entry *entry;
	struct kymo_type_desc desc = {.struct_size = sizeof(desc), .name = "refined"};
	uint16_t first, again;
	size_t count;

	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	begin("npu:default");
	end();
	begin_recording();
	assert_int_equal(npu.host->type(npu.self, &desc, &first), KYMO_OK);
	desc.side = KYMO_SIDE_ACCELERATOR;
	assert_int_equal(npu.host->type(npu.self, &desc, &again), KYMO_OK);
	assert_int_equal(again, first);
	entry = last_entry(KY_ENTRY_TYPE, &count);
	assert_int_equal(entry->side, KYMO_SIDE_ACCELERATOR);
	desc.side = KYMO_SIDE_HOST;
	assert_int_equal(npu.host->type(npu.self, &desc, &again), KYMO_ERROR_INVALID);
	assert_int_equal(again, 0);
	end_recording();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_source_is_told_what_is_wanted_and_the_rest_is_filtered),
		cmocka_unit_test(
			new_types_come_until_prepare_returns_and_again_after_the_end),
		cmocka_unit_test(a_source_with_nothing_wanted_is_not_started_and_says_so),
		cmocka_unit_test(what_is_said_later_is_told_to_readers_too),
		cmocka_unit_test(
			a_plugin_that_comes_while_it_is_recorded_is_filtered_as_well),
		cmocka_unit_test(
			a_source_without_a_table_is_started_if_it_may_bring_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
