/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/place.h"

static void a_private_dir_is_for_the_owner_only(void **state)
{
	char path[PATH_MAX];
	struct stat stat;

	(void)state;
	setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1);
	assert_int_equal(ky_private_dir(path, sizeof(path), NULL), KYMO_OK);
	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(stat.st_mode & 07777, 0700);
	assert_int_equal(rmdir(path), 0);
}

static void an_object_knows_where_it_lies(void **state)
{
	char path[PATH_MAX], exe[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	(void)state;
	exe[size > 0 ? size : 0] = '\0';
	assert_int_equal(ky_object_path((const void *)(uintptr_t)&ky_object_path, path,
					sizeof(path)),
			 KYMO_OK);
	assert_string_equal(path, exe);
	assert_int_equal(ky_object_path((const void *)8, path, sizeof(path)),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(
		ky_object_path((const void *)(uintptr_t)&ky_object_path, path, 3),
		KYMO_ERROR_NO_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_private_dir_is_for_the_owner_only),
		cmocka_unit_test(an_object_knows_where_it_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
