/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/output.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/sinks.h"
#include "support/test.h"

static void what_exists_is_only_replaced_if_that_is_wanted(void **state)
{
	char folder[] = "/tmp/kymo-output-XXXXXX";
	char path[64], target[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.json", folder);
	assert_int_equal(ky_output_check(path, 0, target, NULL), KYMO_OK);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(ky_output_check(path, 0, target, NULL), KYMO_ERROR_EXISTS);
	assert_int_equal(ky_output_check(path, 1, target, NULL), KYMO_OK);
	unlink(path);
	mkdir(path, 0700);
	assert_int_equal(ky_output_check(path, 1, target, NULL), KYMO_ERROR_INVALID);
	rmdir(path);
	rmdir(folder);
	assert_int_equal(ky_output_check(path, 1, target, NULL), KYMO_ERROR_NOT_FOUND);
}

static void of_a_link_the_target_is_replaced(void **state)
{
	char folder[] = "/tmp/kymo-output-XXXXXX";
	char path[64], link[64], target[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.json", folder);
	snprintf(link, sizeof(link), "%s/l.json", folder);
	assert_int_equal(symlink("x.json", link), 0);
	assert_int_equal(ky_output_check(link, 1, target, NULL), KYMO_ERROR_INVALID);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(ky_output_check(link, 0, target, NULL), KYMO_ERROR_EXISTS);
	assert_int_equal(ky_output_check(link, 1, target, NULL), KYMO_OK);
	assert_string_equal(target, path);
	unlink(path);
	unlink(link);
	assert_int_equal(symlink("l.json", link), 0);
	assert_int_not_equal(ky_output_check(link, 1, target, NULL), KYMO_OK);
	unlink(link);
	rmdir(folder);
}

static void a_name_that_no_file_can_have_is_refused(void **state)
{
	char name[NAME_MAX + 2], target[PATH_MAX];
	struct kymo_error error;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_not_equal(ky_output_check(name, 0, target, &error), KYMO_OK);
	assert_non_null(strstr(error.message, "too long"));
}

static void
what_another_process_would_write_to_its_own_descriptor_is_refused(void **state)
{
	char target[PATH_MAX];
	struct kymo_error error;

	(void)state;
	assert_int_equal(ky_output_check("chrome:///dev/stdout", 1, target, &error),
			 KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "kymo export"));
	assert_int_equal(ky_output_check("/dev/fd/1", 1, target, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_output_check("chrome:///dev/shm/x", 1, target, NULL),
			 KYMO_OK);
}

static void the_capture_lies_beside_and_its_name_is_never_too_long(void **state)
{
	char path[PATH_MAX], longest[NAME_MAX + 16] = "d/";

	(void)state;
	ky_output_capture_path("/a/b/t.json", 99, path, sizeof(path), NULL);
	assert_string_equal(path, "/a/b/.t.json.kymo-99");
	ky_output_capture_path("t.json", 99, path, sizeof(path), NULL);
	assert_string_equal(path, ".t.json.kymo-99");
	memset(longest + 2, 'x', NAME_MAX);
	ky_output_capture_path(longest, 4194304, path, sizeof(path), NULL);
	assert_int_equal(strlen(path) - 2, NAME_MAX);
	assert_non_null(strstr(path, ".kymo-4194304"));
}

static void the_suffix_tells_a_capture(void **state)
{
	(void)state;
	assert_true(ky_is_capture_path("a.kymo"));
	assert_true(ky_is_capture_path("/d/a.json.kymo"));
	assert_false(ky_is_capture_path("kymo"));
	assert_false(ky_is_capture_path("a.kymo.json"));
	/* A protocol's path, whatever it looks like. */
	assert_false(ky_is_capture_path("memory://a.kymo"));
	assert_true(ky_is_capture_path("/d/memory://a.kymo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_exists_is_only_replaced_if_that_is_wanted),
		cmocka_unit_test(of_a_link_the_target_is_replaced),
		cmocka_unit_test(a_name_that_no_file_can_have_is_refused),
		cmocka_unit_test(
			what_another_process_would_write_to_its_own_descriptor_is_refused),
		cmocka_unit_test(the_capture_lies_beside_and_its_name_is_never_too_long),
		cmocka_unit_test(the_suffix_tells_a_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
