/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

static void a_full_disk_is_an_errno(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ky_write_all(fd, "x", 1), ENOSPC);
	close(fd);
	assert_int_equal(ky_write_all(-1, "x", 1), EBADF);
	assert_int_equal(ky_write_all(-1, "", 0), 0);
}

static void a_short_file_gives_what_there_is(void **state)
{
	char path[] = "/tmp/kymo-fs-test-XXXXXX", buffer[16];
	int fd = mkstemp(path);
	size_t got;

	(void)state;
	assert_int_equal(ky_write_all(fd, "0123456789", 10), 0);
	assert_int_equal(ky_pread_all(fd, buffer, sizeof(buffer), 4, &got), 0);
	assert_int_equal(got, 6);
	assert_memory_equal(buffer, "456789", 6);
	assert_int_equal(ky_read_small(path, buffer, 5), 4);
	assert_string_equal(buffer, "0123");
	assert_int_equal(ky_read_small("/no/such/file", buffer, 5), -ENOENT);
	assert_string_equal(buffer, "");
	close(fd);
	unlink(path);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(ky_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void a_file_is_moved_over_another_only_if_that_is_wanted(void **state)
{
	char folder[] = "/tmp/kymo-fs-test-XXXXXX", buffer[16];

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	write_file("new", "new");
	assert_int_equal(ky_move_file("new", "target", 0), 0);
	assert_int_equal(access("new", F_OK), -1);
	write_file("newer", "newer");
	assert_int_equal(ky_move_file("newer", "target", 0), EEXIST);
	assert_int_equal(ky_read_small("target", buffer, sizeof(buffer)), 3);
	assert_int_equal(ky_move_file("newer", "target", 1), 0);
	assert_int_equal(ky_read_small("target", buffer, sizeof(buffer)), 5);
	assert_int_equal(ky_move_file("newer", "target", 1), ENOENT);
	assert_int_equal(unlink("target"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void a_name_beside_another_is_never_too_long(void **state)
{
	char path[PATH_MAX], longest[NAME_MAX + 16] = "d/", small[8];

	(void)state;
	assert_true(ky_path_beside("/a/b/t.json", ".kymo-99", path, sizeof(path)));
	assert_string_equal(path, "/a/b/.t.json.kymo-99");
	assert_true(ky_path_beside("t.json", ".kymo-99", path, sizeof(path)));
	assert_string_equal(path, ".t.json.kymo-99");
	memset(longest + 2, 'x', NAME_MAX);
	assert_true(ky_path_beside(longest, ".kymo-4194304", path, sizeof(path)));
	assert_int_equal(strlen(path) - 2, NAME_MAX);
	assert_non_null(strstr(path, "x.kymo-4194304"));
	assert_false(ky_path_beside("t.json", ".kymo-99", small, sizeof(small)));
}

static void a_nameless_file_leaves_nothing_behind(void **state)
{
	char folder[] = "/tmp/kymo-fs-XXXXXX", got[4];
	size_t size;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fd = ky_open_nameless(folder);
	assert_true(fd >= 0);
	assert_int_equal(ky_write_all(fd, "abcd", 4), 0);
	assert_int_equal(ky_pread_all(fd, got, sizeof(got), 0, &size), 0);
	assert_memory_equal(got, "abcd", 4);
	/* The folder is empty, though the file is open. */
	assert_int_equal(rmdir(folder), 0);
	close(fd);
	assert_int_equal(ky_open_nameless(folder), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_is_an_errno),
		cmocka_unit_test(a_short_file_gives_what_there_is),
		cmocka_unit_test(a_file_is_moved_over_another_only_if_that_is_wanted),
		cmocka_unit_test(a_name_beside_another_is_never_too_long),
		cmocka_unit_test(a_nameless_file_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
