/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/type_filter.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

#define TYPE(symbol, type_name, type_flags)           \
	static const struct kymo_type_desc symbol = { \
		.struct_size = sizeof(symbol),        \
		.flags = (type_flags),                \
		.name = (type_name),                  \
	}

TYPE(kernel, "kernel", 0);
TYPE(copy, "gpu_memcpy", 0);
TYPE(call, "cuda_runtime", 0);
TYPE(dma, "dma", 0);
TYPE(poll, "poll", KYMO_TYPE_OPT_IN);
TYPE(counter, "gpu_pm_counter", 0);

static const struct kymo_type_desc *const npu_types[] = {&kernel, &copy,    &dma,
							 &poll,   &counter, NULL};
static const struct kymo_type_desc *const gpu_types[] = {&kernel, &copy, &call, &dma,
							 NULL};

static const struct ky_type_source sources[] = {
	{.name = "npu", .plugin = "npu", .types = npu_types},
	{.name = "gpu", .plugin = "vendor", .types = gpu_types},
	{.name = "late", .plugin = "late"},
	{.name = "app", .plugin = "app", .is_open = 1},
};

#define SOURCE_COUNT (sizeof(sources) / sizeof(sources[0]))

static struct ky_type_table *table;

static int32_t make(const char *list, char *out, struct kymo_error *error)
{
	return ky_type_filter_make(out, list, table, sources, SOURCE_COUNT, error);
}

/* The wanted types of the source, separated by blanks, in the order of its table. */
static void spell_wanted(const char *list, const struct ky_type_source *source, char *out,
			 size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; source->types[i]; i++) {
		uint32_t number, flags;
		size_t used = strlen(out);

		assert_int_equal(ky_type_declare(table, source->plugin, source->types[i],
						 &number, &flags, NULL),
				 KYMO_OK);
		if (ky_type_filter_wants(list, table, source->name, number, flags))
			snprintf(out + used, size - used, "%s%s", used ? " " : "",
				 source->types[i]->name);
	}
}

static void a_list_says_what_each_source_records(void **state)
{
	static const char npu_default[] = "kernel gpu_memcpy dma";
	static const char gpu_default[] = "kernel gpu_memcpy cuda_runtime dma";
	static const struct {
		const char *list, *npu, *gpu;
	} cases[] = {
		{NULL, npu_default, gpu_default},
		{"", npu_default, gpu_default},
		{"kernel", "kernel", "kernel"},
		{"KERNEL,runtime", "kernel", "kernel cuda_runtime"},
		{"hpu_op", "", "cuda_runtime"},
		{"12,13", "kernel", "kernel cuda_runtime"},
		{"npu:28", "gpu_pm_counter", gpu_default},
		{"-5", "gpu_memcpy dma", "gpu_memcpy cuda_runtime dma"},
		{"40", NULL, NULL},
		{"npu:kernel,npu:gpu_memcpy", "kernel gpu_memcpy", gpu_default},
		{"npu:dma,kernel", "kernel dma", "kernel"},
		{"kernel,npu:dma", "kernel dma", "kernel"},
		{"default", npu_default, gpu_default},
		{"all", "kernel gpu_memcpy dma poll gpu_pm_counter", gpu_default},
		{"default,poll", "kernel gpu_memcpy dma poll", gpu_default},
		{"npu.*", "dma poll", ""},
		{"npu.dma", "dma", ""},
		{"vendor.dma", "", "dma"},
		{"npu:poll,npu:hardware_counters", "poll gpu_pm_counter", gpu_default},
		{"-kernel", "gpu_memcpy dma", "gpu_memcpy cuda_runtime dma"},
		{"-npu.*", "kernel gpu_memcpy", gpu_default},
		{"npu:-kernel", "gpu_memcpy dma", gpu_default},
		{"-npu:kernel,poll", "gpu_memcpy dma poll", ""},
		{"all,-default", "poll gpu_pm_counter", ""},
		{"kernel,-kernel", "", ""},
		{"-all", "", ""},
		{"-all,dma", NULL, NULL}, /* which of the two? */
		{"-all,npu:dma", "dma", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char list[KY_TYPE_LIST_MAX], wanted[256];
		struct kymo_error error = {0};
		int32_t status = make(cases[i].list, list, &error);

		if (!cases[i].npu) {
			assert_int_equal(status, KYMO_ERROR_CONFIG);
			continue;
		}
		if (status != KYMO_OK)
			fail_msg("%s: %s", cases[i].list, error.message);
		spell_wanted(list, &sources[0], wanted, sizeof(wanted));
		assert_string_equal(wanted, cases[i].npu);
		assert_int_equal(ky_type_filter_wants_any(list, table, &sources[0]),
				 cases[i].npu[0] != '\0');
		spell_wanted(list, &sources[1], wanted, sizeof(wanted));
		assert_string_equal(wanted, cases[i].gpu);
	}
}

static void what_is_not_known_is_refused_with_what_there_is(void **state)
{
	static const struct {
		const char *list, *message;
	} cases[] = {
		{"kernle", "Unknown or non-member activity type name: 'kernle' (did you "
			   "mean \"kernel\"?); there are "},
		{"npu:cuda_sync", "name: 'cuda_sync'"},
		{"npu:cuda_sync", "the source \"npu\" has \"kernel\", \"gpu_memcpy\""},
		{"npu:cuda_sync", "\"gpu_pm_counter\": see kymo types"},
		{"npu:vendor.dma", "the source \"npu\" has"},
		{"npy:kernel", "no source \"npy\" is to be recorded (did you mean "
			       "\"npu\"?): there are \"npu\", \"gpu\""},
		{"nupu.*", "'nupu.*': no such plug-in"},
		{"dma", "'dma' is the name of several: \"npu.dma\", \"vendor.dma\""},
		{"kernel;runtime", "not written as"},
		{"kernel,npu.dam", "did you mean \"npu.dma\""},
	};
	char list[KY_TYPE_LIST_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_error error = {0};

		assert_int_equal(make(cases[i].list, list, &error), KYMO_ERROR_CONFIG);
		assert_int_equal(error.status, KYMO_ERROR_CONFIG);
		if (!strstr(error.message, cases[i].message))
			fail_msg("%s: %s", cases[i].list, error.message);
	}
}

static void a_plugins_types_are_refused_where_no_source_of_it_is_recorded(void **state)
{
	static const struct {
		const char *list, *message;
	} cases[] = {
		{"default,kernel,-npu.poll,vendor.dma,gpu:vendor.dma,npu.*", ""},
		{"kernel,npu.poll", ""},
		{"", ""},
		{"all,other.poll",
		 "'other.poll': nothing of the plug-in \"other\" is to "},
		{"other.*", "name it by -t"},
		{"np.poll", "\"np\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_error error = {0};
		int32_t status = ky_type_filter_check(cases[i].list, sources,
						      SOURCE_COUNT, &error);

		assert_int_equal(status,
				 cases[i].message[0] ? KYMO_ERROR_CONFIG : KYMO_OK);
		if (!strstr(error.message, cases[i].message))
			fail_msg("%s: %s", cases[i].list, error.message);
	}
}

static void names_are_put_in_full(void **state)
{
	char list[KY_TYPE_LIST_MAX];

	(void)state;
	assert_int_equal(make("npu:dma, POLL ,Default", list, NULL), KYMO_ERROR_CONFIG);
	assert_int_equal(make("npu:dma, poll ,Default,-Cuda_Driver", list, NULL),
			 KYMO_OK);
	assert_string_equal(list, "npu:npu.dma,npu.poll,default,-driver");
}

static void what_only_the_program_knows_is_left_to_it(void **state)
{
	char list[KY_TYPE_LIST_MAX], number_list[KY_TYPE_LIST_MAX], number[32];
	struct ky_type type;

	(void)state;
	snprintf(number, sizeof(number), "app:%u",
		 ky_type_number_first(KYMO_STR("trainer"), KYMO_STR("phase")));
	assert_int_equal(make(number, number_list, NULL), KYMO_OK);
	assert_int_equal(make("app:phase,app:user_annotation", list, NULL), KYMO_OK);
	assert_int_equal(ky_type_table_add(table, KYMO_STR("trainer"), KYMO_STR("phase"),
					   &(const struct ky_type_opinion){0}, 0, &type,
					   NULL),
			 KYMO_OK);
	assert_true(ky_type_filter_wants(list, table, "app", type.number, 0));
	assert_true(ky_type_filter_wants(list, table, "app", 1, 0));
	assert_false(ky_type_filter_wants(list, table, "app", 0, 0));
	assert_true(ky_type_filter_wants(number_list, table, "app", type.number, 0));
	assert_false(ky_type_filter_wants(number_list, table, "app", 1, 0));
	assert_int_equal(make("phase", list, NULL), KYMO_OK);
	assert_string_equal(list, "trainer.phase");
}

static void a_source_without_a_table_is_wanted_if_it_may_bring_something(void **state)
{
	static const struct {
		const char *list;
		int is_wanted;
	} cases[] = {
		{"", 1},        {"kernel", 0},      {"default", 1}, {"late:all", 1},
		{"npu:all", 1}, {"-all", 0},        {"late.x", 1},  {"later.x", 0},
		{"-kernel", 1}, {"all,-late.*", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			ky_type_filter_wants_any(cases[i].list, table, &sources[2]),
			cases[i].is_wanted);
}

static void a_list_that_grows_too_long_is_refused(void **state)
{
	char list[KY_TYPE_LIST_MAX], out[KY_TYPE_LIST_MAX];

	(void)state;
	list[0] = '\0';
	while (strlen(list) + 6 < sizeof(list))
		strcat(list, "poll,");
	assert_int_equal(make(list, out, NULL), KYMO_ERROR_CONFIG);
}

static int set_up(void **state)
{
	(void)state;
	table = ky_type_table_create(NULL);
	for (size_t i = 0; table && i < 2; i++) {
		for (size_t k = 0; sources[i].types[k]; k++) {
			uint32_t number, flags;

			ky_type_declare(table, sources[i].plugin, sources[i].types[k],
					&number, &flags, NULL);
		}
	}
	return table ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ky_type_table_destroy(table);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_list_says_what_each_source_records),
		TEST(what_is_not_known_is_refused_with_what_there_is),
		TEST(a_plugins_types_are_refused_where_no_source_of_it_is_recorded),
		TEST(names_are_put_in_full),
		TEST(what_only_the_program_knows_is_left_to_it),
		TEST(a_source_without_a_table_is_wanted_if_it_may_bring_something),
		TEST(a_list_that_grows_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
