/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/type_lookup.h"

#include <stdio.h>
#include <string.h>

#include <kymo/session.h>

#include "registry/static_types.h"
#include "support/test.h"

static struct ky_type_table *table;
static char said[512];

static void hear(void *context, uint32_t severity, const char *message)
{
	(void)context, (void)severity;
	strncpy(said, message, sizeof(said) - 1);
}

static uint32_t add(const char *plugin, const char *name)
{
	struct ky_type type;

	assert_int_equal(ky_type_table_add(table, kymo_text(plugin), kymo_text(name),
					   &(const struct ky_type_opinion){0}, 0, &type,
					   NULL),
			 KYMO_OK);
	return type.number;
}

static int32_t look_up(const char *name, uint32_t *number, char *message)
{
	struct kymo_error error = {0};
	int32_t status = ky_type_lookup(table, kymo_text(name), "Invalid activity type",
					number, &error);

	if (message)
		memcpy(message, error.message, sizeof(error.message));
	return status;
}

static void assert_number(const char *name, uint32_t expected)
{
	uint32_t number = 99;

	assert_int_equal(look_up(name, &number, NULL), KYMO_OK);
	assert_int_equal(number, expected);
}

static void exact_names_come_before_those_in_any_case(void **state)
{
	uint32_t own, upper;

	(void)state;
	own = add("npu", "kernel");
	upper = add("npu", "KERNEL");
	assert_number("npu.kernel", own);
	assert_number("npu.KERNEL", upper);
	assert_number("KERNEL", upper); /* these very bytes */
	assert_number("Kernel", 5);
	assert_number("kernel", 5);
	assert_non_null(strstr(said, "npu.kernel"));
	assert_number("CUDA_RUNTIME", 7);
	assert_non_null(strstr(said, "use \"runtime\""));
	assert_number("Gpu_Memcpy", 3);
}

static void a_bare_name_is_enough_if_one_plugin_has_it(void **state)
{
	char message[508];
	uint32_t number, own;

	(void)state;
	own = add("npu", "dma");
	assert_number("dma", own);
	assert_int_equal(look_up("DMA", &number, NULL), KYMO_ERROR_NOT_FOUND);
	add("vpu", "dma");
	assert_int_equal(look_up("dma", &number, message), KYMO_ERROR_INVALID);
	assert_non_null(strstr(message, "\"npu.dma\", \"vpu.dma\""));
	assert_number("npu.dma", own);
}

static void an_unknown_name_is_told_the_nearest_and_what_there_is(void **state)
{
	static const struct {
		const char *name, *meant;
	} cases[] = {
		{"kernle", "did you mean \"kernel\"?"},
		{"npu.dam", "did you mean \"npu.dma\"?"},
		{"cuda_runtim", "did you mean \"cuda_runtime\"?"},
		{"queue_wiat", "did you mean \"queue_wait\"?"},
	};
	char message[508];
	uint32_t number;

	(void)state;
	add("npu", "dma");
	add("npu", "queue_wait");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(look_up(cases[i].name, &number, message),
				 KYMO_ERROR_NOT_FOUND);
		assert_non_null(strstr(message, cases[i].meant));
		assert_ptr_equal(strstr(message, "Invalid activity type: '"), message);
		assert_non_null(strstr(message, "there are \"npu.dma\""));
		assert_non_null(strstr(message, " more: see kymo types"));
	}
	assert_int_equal(look_up("zzzzzzzzz", &number, message), KYMO_ERROR_NOT_FOUND);
	assert_null(strstr(message, "did you mean"));
	assert_int_equal(look_up("", &number, message), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(look_up("a.b.c", &number, message), KYMO_ERROR_NOT_FOUND);
}

static void names_and_numbers_are_inverse(void **state)
{
	const uint32_t own = add("npu", "dma");
	char name[KY_TYPE_FULL_MAX + 1];

	(void)state;
	add("vpu", "kernel");
	for (uint32_t i = 0; i < KY_TYPE_STATIC_COUNT; i++) {
		assert_int_equal(ky_type_full_name(table, i, name, sizeof(name)),
				 KYMO_OK);
		assert_number(name, ky_type_static_canonical(i));
	}
	assert_int_equal(ky_type_full_name(table, own, name, sizeof(name)), KYMO_OK);
	assert_string_equal(name, "npu.dma");
	assert_int_equal(ky_type_full_name(table, own, name, 7), KYMO_ERROR_INVALID);
	assert_int_equal(ky_type_full_name(table, 29, name, sizeof(name)),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(ky_type_full_name(table, own + 1, name, sizeof(name)),
			 KYMO_ERROR_NOT_FOUND);
}

static void a_number_is_as_good_as_a_name(void **state)
{
	static const char *const none[] = {"40", "29",    "028",        "+5",
					   "5x", "99999", "4294967301", "2147483648",
					   "00", ""};
	const uint32_t own = add("npu", "dma");
	char text[16], message[508];
	uint32_t number;

	(void)state;
	snprintf(text, sizeof(text), "%u", own);
	assert_number(text, own);
	assert_number("28", 28);
	assert_number("0", 0);
	assert_number("7", 7);
	assert_string_equal(said, "");
	assert_number("17", 28);
	assert_non_null(strstr(said, "use \"gpu_pm_counter\""));
	assert_number("13", 5);
	assert_non_null(
		strstr(said, "\"mtia_ccp_events\" is deprecated: use \"kernel\""));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(look_up(none[i], &number, message),
				 KYMO_ERROR_NOT_FOUND);
	assert_number("13", 5);
	number = add("npu", "13"); /* a name before a number */
	assert_number("13", number);
}

static void candidates_that_do_not_fit_are_counted(void **state)
{
	struct ky_candidates list = {0};
	char name[KY_TYPE_FULL_MAX + 1];

	(void)state;
	ky_candidates_add(&list, "abc");
	ky_candidates_add(&list, "def");
	assert_string_equal(list.text, "\"abc\", \"def\"");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ky_candidates_add(&list, name);
	ky_candidates_add(&list, name);
	assert_non_null(strstr(list.text, "\"abc\", \"def\", \"nnn"));
	assert_non_null(strstr(list.text, "nnn\" and 1 more"));
	ky_candidates_add(&list, "g");
	assert_non_null(strstr(list.text, "nnn\" and 2 more"));
}

static int set_up(void **state)
{
	(void)state;
	said[0] = '\0';
	kymo_log_to(hear, NULL);
	table = ky_type_table_create(NULL);
	return table ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	kymo_log_to(NULL, NULL);
	ky_type_aliases_forget();
	ky_type_table_destroy(table);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exact_names_come_before_those_in_any_case),
		TEST(a_bare_name_is_enough_if_one_plugin_has_it),
		TEST(an_unknown_name_is_told_the_nearest_and_what_there_is),
		TEST(names_and_numbers_are_inverse),
		TEST(a_number_is_as_good_as_a_name),
		TEST(candidates_that_do_not_fit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
