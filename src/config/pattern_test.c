/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/pattern.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

static const struct ky_pattern_facts facts = {
	.program = "/usr/bin/some%prog",
	.pid = 4711,
	.start_realtime_ns = INT64_C(1769869500) * 1000000000,
};

static int32_t expand(const char *pattern, char name[PATH_MAX], struct kymo_error *error)
{
	return ky_pattern_expand(pattern, &facts, name, PATH_MAX, error);
}

static void patterns_become_names(void **state)
{
	static const struct {
		const char *pattern, *expected;
	} cases[] = {
		{"a.json", "a.json"},
		{"%p", "4711"},
		{"x-%p-%p%%.kymo", "x-4711-4711%.kymo"},
		{"%t.json", "20260131-142500.json"},
		{"r%r.json", "r12.json"},
		{"/nowhere/%n.json", "/nowhere/1.json"},
		{"chrome://%p.json", "chrome://4711.json"},
	};
	char name[PATH_MAX];

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	setenv("RANK", "gold", 1);
	setenv("SLURM_PROCID", "12", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(expand(cases[i].pattern, name, NULL), KYMO_OK);
		assert_string_equal(name, cases[i].expected);
	}
	unsetenv("RANK");
	unsetenv("SLURM_PROCID");
}

static void what_a_field_brings_in_leads_nowhere_else(void **state)
{
	static const struct {
		const char *value, *expected;
	} cases[] = {
		{"../../etc", "/d/___.._etc.json"},
		{"..", "/d/__.json"},
		{"a/b", "/d/a_b.json"},
		{"a.b", "/d/a.b.json"},
		{"x\ny\x7f", "/d/x_y_.json"},
		{"%p", "/d/%p.json"},
	};
	char name[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("KYMO_TEST", cases[i].value, 1);
		assert_int_equal(expand("/d/%q{KYMO_TEST}.json", name, NULL), KYMO_OK);
		assert_string_equal(name, cases[i].expected);
	}
	setenv("KYMO_TEST", ".", 1);
	assert_int_equal(expand("/d/.%q{KYMO_TEST}/x", name, NULL), KYMO_OK);
	assert_string_equal(name, "/d/._/x");
	assert_int_equal(expand("/d/%q{KYMO_TEST}%q{KYMO_TEST}/x", name, NULL), KYMO_OK);
	assert_string_equal(name, "/d/__/x");
}

static void bad_patterns_are_refused_with_the_reason(void **state)
{
	static const struct {
		const char *pattern, *reason;
		int is_pattern; /* it could be used elsewhere */
	} cases[] = {
		{"", "no name", 0},
		{"%", "none of", 0},
		{"a%z", "\"%z\" is none of", 0},
		{"%q", "%q{NAME}", 0},
		{"%q{", "%q{NAME}", 0},
		{"%q{}", "%q{NAME}", 0},
		{"%q{KYMO_NO_SUCH_VARIABLE}", "no variable KYMO_NO_SUCH_VARIABLE", 1},
		{"%q{KYMO_TEST}", "KYMO_TEST of the environment is empty", 1},
		{"%r", "no rank", 1},
	};
	struct kymo_error error;
	char name[PATH_MAX];

	(void)state;
	setenv("KYMO_TEST", "", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_not_equal(expand(cases[i].pattern, name, &error), KYMO_OK);
		assert_non_null(strstr(error.message, cases[i].reason));
		assert_int_equal(ky_pattern_check(cases[i].pattern, NULL) == KYMO_OK,
				 cases[i].is_pattern);
	}
}

static void the_number_is_the_first_that_is_free(void **state)
{
	char folder[] = "/tmp/kymo-pattern-XXXXXX";
	char pattern[64], name[PATH_MAX], first[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(pattern, sizeof(pattern), "%s/x%%n.json", folder);
	assert_int_equal(expand(pattern, first, NULL), KYMO_OK);
	close(open(first, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(expand(pattern, name, NULL), KYMO_OK);
	assert_string_equal(name + strlen(folder), "/x2.json");
	unlink(first);
	rmdir(folder);
}

/* Eight ranks of one job, of the same pid in eight containers, in one moment. */
static void default_names_are_never_the_same(void **state)
{
	struct ky_pattern_facts other = facts;
	char name[PATH_MAX], next[PATH_MAX];

	(void)state;
	assert_int_equal(expand(NULL, name, NULL), KYMO_OK);
	assert_non_null(strstr(name, "kymo-some%prog-"));
	assert_non_null(strstr(name, "-4711-1769869500000000000.json.gz"));
	other.sequence = 1;
	assert_int_equal(ky_pattern_expand(NULL, &other, next, PATH_MAX, NULL), KYMO_OK);
	assert_non_null(strstr(next, "-1769869500000000000-1.json.gz"));
	other.sequence = 0;
	other.start_realtime_ns++;
	assert_int_equal(ky_pattern_expand(NULL, &other, next, PATH_MAX, NULL), KYMO_OK);
	assert_string_not_equal(name, next);
	setenv("RANK", "3", 1);
	assert_int_equal(expand(NULL, next, NULL), KYMO_OK);
	assert_non_null(strstr(next, "-4711-r3-1769869500000000000.json.gz"));
	unsetenv("RANK");
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	char name[16], long_name[300];
	struct ky_pattern_facts other = facts;
	char whole[PATH_MAX];

	(void)state;
	assert_int_equal(
		ky_pattern_expand("123456789012345", &facts, name, sizeof(name), NULL),
		KYMO_OK);
	assert_int_equal(
		ky_pattern_expand("1234567890123456", &facts, name, sizeof(name), NULL),
		KYMO_ERROR_INVALID);
	assert_int_equal(
		ky_pattern_expand("12345678901234%p", &facts, name, sizeof(name), NULL),
		KYMO_ERROR_INVALID);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	other.program = long_name;
	assert_int_equal(ky_pattern_expand(NULL, &other, whole, PATH_MAX, NULL), KYMO_OK);
	assert_true(strlen(whole) <= NAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_become_names),
		cmocka_unit_test(what_a_field_brings_in_leads_nowhere_else),
		cmocka_unit_test(bad_patterns_are_refused_with_the_reason),
		cmocka_unit_test(the_number_is_the_first_that_is_free),
		cmocka_unit_test(default_names_are_never_the_same),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
