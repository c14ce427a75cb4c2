/* SPDX-License-Identifier: BSD-3-Clause */
/* What kymo_doctor_run refuses; what it finds, tests/plugins shows. */
#include <kymo/doctor.h>

#include <string.h>

#include "control/machine.h"
#include "support/test.h"

static int32_t count(void *context, const struct kymo_finding *finding)
{
	assert_int_equal(finding->struct_size, sizeof(*finding));
	++*(int *)context;
	return KYMO_OK;
}

static int32_t refuse(void *context, const struct kymo_finding *finding)
{
	count(context, finding);
	return KYMO_ERROR_STATE;
}

static void nobody_to_be_told_is_refused(void **state)
{
	(void)state;
	assert_int_equal(kymo_doctor_run(NULL, NULL, NULL, NULL), KYMO_ERROR_INVALID);
}

static void what_does_not_exist_is_refused(void **state)
{
	static const char *const sources[] = {"no-such-source", NULL};
	struct kymo_error error = {0};
	int told = 0;

	(void)state;
	assert_int_equal(kymo_doctor_run(sources, count, &told, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no-such-source"));
	assert_int_equal(kymo_doctor_run(sources, count, &told, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(told, 0);
}

static void a_path_of_nothing_is_a_finding(void **state)
{
	static const char *const sources[] = {"/nowhere/x.so", "/nowhere/y.so", NULL};
	int told = 0;

	(void)state;
	assert_int_equal(kymo_doctor_run(sources, count, &told, NULL), KYMO_OK);
	assert_int_equal(told, 2);
	assert_int_equal(kymo_doctor_run(sources, refuse, &told, NULL), KYMO_ERROR_STATE);
	assert_int_equal(told, 3);
}

static void the_machine_has_a_clock_and_no_fact_without_a_name(void **state)
{
	struct ky_fact fact;
	uint32_t number = 0;

	(void)state;
	for (; ky_machine_fact(number, &fact); number++) {
		assert_true(fact.name[0] && (fact.what[0] || fact.why[0]));
		if (fact.state == KYMO_STATE_READY)
			assert_string_equal(fact.why, "");
		else
			assert_string_not_equal(fact.why, "");
	}
	assert_true(number > 0);
	assert_false(ky_machine_fact(UINT32_MAX, &fact));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_to_be_told_is_refused),
		cmocka_unit_test(what_does_not_exist_is_refused),
		cmocka_unit_test(a_path_of_nothing_is_a_finding),
		cmocka_unit_test(the_machine_has_a_clock_and_no_fact_without_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
