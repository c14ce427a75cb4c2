/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/wanted.h"

#include <string.h>

#include "support/test.h"

static void a_list_names_whole_sources(void **state)
{
	static const struct {
		const char *list, *name;
		uint32_t is_explicit;
		int has;
	} cases[] = {
		{"", "npu", 0, 1},          {"", "npu", 1, 0},
		{"npu", "npu", 0, 1},       {"npu", "npu", 1, 1},
		{"npu", "np", 0, 0},        {"np", "npu", 0, 0},
		{"a,npu,b", "npu", 0, 1},   {"a,npux,b", "npu", 0, 0},
		{"a,b,npu", "npu", 0, 1},   {"npu:x=1", "npu", 1, 1},
		{"a,npu:x=1,b", "b", 0, 1}, {",", "npu", 0, 0},
		{",npu,", "npu", 1, 1},     {"a:x=npu", "npu", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			ky_wanted_has(cases[i].list, cases[i].name, cases[i].is_explicit),
			cases[i].has);
}

static void the_last_item_sets_an_option(void **state)
{
	static const struct {
		const char *list, *option, *value;
	} cases[] = {
		{"", "rate", NULL},
		{"npu", "rate", NULL},
		{"npu:rate=5", "rate", "5"},
		{"npu:rate=5,npu:rate=7", "rate", "7"},
		{"npu:rate=5,x", "rate", "5"},
		{"npu:rate=", "rate", ""},
		{"npu:rates=5", "rate", NULL},
		{"npux:rate=5", "rate", NULL},
		{"npu:rate=a=b:c", "rate", "a=b:c"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_str value =
			ky_wanted_option(cases[i].list, "npu", cases[i].option);

		if (!cases[i].value) {
			assert_null(value.data);
			continue;
		}
		assert_int_equal(value.size, strlen(cases[i].value));
		assert_memory_equal(value.data, cases[i].value, value.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_names_whole_sources),
		cmocka_unit_test(the_last_item_sets_an_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
