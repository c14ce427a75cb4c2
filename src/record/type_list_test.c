/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/type_list.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

/* "SOURCE:NAME" or "NAME", '-' in front, one behind the other with '|'. */
static void spell(const char *list, char *out, size_t size)
{
	struct ky_type_item item;

	out[0] = '\0';
	while (ky_type_list_next(&list, &item, NULL) == KYMO_OK) {
		size_t used = strlen(out);

		snprintf(
			out + used, size - used, "%s%.*s%s%.*s|", item.removes ? "-" : "",
			(int)item.source.size, item.source.data ? item.source.data : "",
			item.source.data ? ":" : "", (int)item.name.size, item.name.data);
	}
}

static void a_list_is_read_item_by_item(void **state)
{
	static const struct {
		const char *list, *items;
	} cases[] = {
		{"", ""},
		{"kernel", "kernel|"},
		{" kernel ,\truntime ", "kernel|runtime|"},
		{"npu:kernel,-npu.*", "npu:kernel|-npu.*|"},
		{"npu:-kernel, - npu:dma", "-npu:kernel|-npu:dma|"},
		{"npu.dma,npu:vpu.Q_1-2,", "npu.dma|npu:vpu.Q_1-2|"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char items[256];

		spell(cases[i].list, items, sizeof(items));
		assert_string_equal(items, cases[i].items);
		assert_int_equal(ky_type_list_check(cases[i].list, NULL), KYMO_OK);
	}
}

static void what_is_no_item_is_refused_and_quoted(void **state)
{
	static const char *const lists[] = {
		",",       "kernel,,runtime",
		"ker nel", "npu:",
		":kernel", "a:b:c",
		"a.b.c",   ".b",
		"a.",      "*",
		"a*",      "-",
		"a..b",    "k\xc3\xa4rnel",
		"a/b",     "a.b:c.d",
	};
	struct kymo_error error;
	char longest[KY_TYPE_LIST_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		error.message[0] = '\0';
		assert_int_equal(ky_type_list_check(lists[i], &error), KYMO_ERROR_CONFIG);
		assert_non_null(strstr(error.message, "Invalid activity type: \""));
	}
	memset(longest, 'a', sizeof(longest));
	for (size_t i = 60; i < sizeof(longest); i += 60)
		longest[i] = ',';
	longest[KY_TYPE_LIST_MAX - 1] = '\0';
	assert_int_equal(ky_type_list_check(longest, NULL), KYMO_OK);
	longest[KY_TYPE_LIST_MAX - 1] = 'a';
	longest[KY_TYPE_LIST_MAX] = '\0';
	assert_int_equal(ky_type_list_check(longest, NULL), KYMO_ERROR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_read_item_by_item),
		cmocka_unit_test(what_is_no_item_is_refused_and_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
