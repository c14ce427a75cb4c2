/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of known keys, and what is refused because of it. */
#include "record/known_keys.h"

#include <string.h>

#include "support/test.h"

static void every_known_key_is_found_by_its_name(void **state)
{
	const struct kymo_key_desc *key;
	size_t count = 0;

	(void)state;
	while ((key = kymo_key_known_at(count))) {
		assert_ptr_equal(kymo_key_known(key->name), key);
		assert_int_equal(key->struct_size, sizeof(*key));
		assert_true(ky_value_type_is_one(key->value_type));
		assert_true(key->help[0] != '\0');
		assert_int_equal(ky_known_key_check(key->name, key->value_type, NULL),
				 KYMO_OK);
		count++;
	}
	assert_true(count > 130);
	assert_null(kymo_key_known_at(count));
	assert_null(kymo_key_known_at(SIZE_MAX));
	assert_null(kymo_key_known("input dims"));
	assert_null(kymo_key_known(""));
	assert_null(kymo_key_known(NULL));
}

static void a_known_key_has_its_type(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		const char *message; /* NULL: it is taken */
	} rows[] = {
		{"Input Dims", KYMO_VALUE_NESTED, NULL},
		{"Input Dims", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		 "the key \"Input Dims\" is one that readers of traces know: its values "
		 "have to be nested, not int64[]"},
		{"occupancy", KYMO_VALUE_DOUBLE, "have to be nested, not double"},
		{"grid", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, NULL},
		{"grid", KYMO_VALUE_INT64, "have to be int64[], not int64"},
		{"bytes", KYMO_VALUE_INT64, NULL},
		{"bytes", KYMO_VALUE_DOUBLE, "have to be uint64, not double"},
		{"queued", KYMO_VALUE_TIME, NULL},
		{"blocks per SM", KYMO_VALUE_INT64, "have to be double, not int64"},
		{"Is asynchronized op", KYMO_VALUE_INT64, "have to be bool, not int64"},
		{"dtype", KYMO_VALUE_CODE, "have to be string, not code"},
		{"distributedInfo", KYMO_VALUE_STRING, "have to be nested, not string"},
		{"trace_id", KYMO_VALUE_INT64, "have to be string, not int64"},
		{"channel_type", KYMO_VALUE_STRING, NULL},
		{"kind", KYMO_VALUE_INT64, NULL},
		{"Grid", KYMO_VALUE_INT64, NULL},
		{"", KYMO_VALUE_INT64, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};
		int32_t status = ky_known_key_check(rows[i].name, rows[i].type, &error);

		assert_int_equal(status, rows[i].message ? KYMO_ERROR_INVALID : KYMO_OK);
		if (rows[i].message && !strstr(error.message, rows[i].message))
			fail_msg("%s", error.message);
	}
}

static void types_have_a_text_whatever_they_are(void **state)
{
	char text[KY_TYPE_TEXT_MAX];

	(void)state;
	assert_string_equal(ky_value_type_text(KYMO_VALUE_STRING, text), "string");
	assert_string_equal(ky_value_type_text(KYMO_VALUE_TIME | KYMO_VALUE_ARRAY, text),
			    "time[]");
	assert_string_equal(ky_value_type_text(KYMO_VALUE_NESTED, text), "nested");
	assert_string_equal(ky_value_type_text(UINT32_MAX, text), "type 0xffffffff");
	assert_false(ky_value_type_is_one(0));
	assert_false(ky_value_type_is_one(KYMO_VALUE_ARRAY));
	assert_false(ky_value_type_is_one(KYMO_VALUE_LIST));
	assert_false(ky_value_type_is_one(8));
	assert_false(ky_value_type_is_one(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_known_key_is_found_by_its_name),
		cmocka_unit_test(a_known_key_has_its_type),
		cmocka_unit_test(types_have_a_text_whatever_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
