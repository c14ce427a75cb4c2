/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/option.h"

#include <string.h>

#include "support/test.h"

#define OPTION(symbol, type)                                   \
	static const struct kymo_option_desc symbol##_desc = { \
		.struct_size = sizeof(symbol##_desc),          \
		.value_type = (type),                          \
		.name = #symbol,                               \
	}

OPTION(level, KYMO_VALUE_STRING);
OPTION(rate, KYMO_VALUE_UINT64);
OPTION(drift, KYMO_VALUE_INT64);
OPTION(ppm, KYMO_VALUE_DOUBLE);

static const struct kymo_option_desc *const options[] = {&level_desc, &rate_desc,
							 &drift_desc, &ppm_desc, NULL};

static const struct kymo_source_desc npu = {
	.struct_size = sizeof(npu),
	.name = "npu",
	.options = options,
};

static const struct kymo_source_desc bare = {.struct_size = sizeof(bare), .name = "bare"};

static void an_option_with_a_value_of_its_type_is_taken(void **state)
{
	static const char *const good[] = {
		"level=high", "level=",    "level=a=b:c", "rate=12",
		"rate=0x10",  "drift=-12", "ppm=0.5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (ky_option_check(&npu, good[i], NULL) != KYMO_OK)
			fail_msg("%s is refused", good[i]);
}

static void what_is_wrong_with_an_option_is_said(void **state)
{
	static const struct {
		const struct kymo_source_desc *source;
		const char *option, *says;
	} bad[] = {
		{&npu, "lvel=1",
		 "source \"npu\" has no option \"lvel\" (did you mean \"level\"?); it "
		 "has level, rate, drift, ppm"},
		{&npu, "", "source \"npu\" has no option \"\""},
		{&bare, "level=1",
		 "source \"bare\" has no option \"level\"; it has none"},
		{&npu, "level",
		 "option \"level\" of source \"npu\" needs a value: "
		 "npu:level=VALUE"},
		{&npu, "rate", "option \"rate\" of source \"npu\" needs a number"},
		{&npu, "rate=", "needs a number"},
		{&npu, "rate=-1", "needs a number"},
		{&npu, "rate=1x", "needs a number"},
		{&npu, "rate=18446744073709551616", "needs a number"},
		{&npu, "drift=1.5", "needs a number"},
		{&npu, "level=a,b", "\"level=a,b\" has a ','"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct kymo_error error = {0};

		assert_int_equal(ky_option_check(bad[i].source, bad[i].option, &error),
				 KYMO_ERROR_CONFIG);
		if (!strstr(error.message, bad[i].says))
			fail_msg("\"%s\" does not say \"%s\"", error.message,
				 bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_with_a_value_of_its_type_is_taken),
		cmocka_unit_test(what_is_wrong_with_an_option_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
