/* SPDX-License-Identifier: BSD-3-Clause */
/* What is no plug-in, and where plug-ins are looked for; tests/plugins/ has the bad ones.
 */
#include "plugin/loader.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "plugin/trust.h"
#include "support/test.h"

static char folder[] = "/tmp/kymo-loader-XXXXXX";
static char path[PATH_MAX];

static const char *write_file(const char *name, const void *data, size_t size)
{
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ky_write_all(fd, data, size), 0);
	close(fd);
	return path;
}

static void assert_refused(const char *file, int32_t status, const char *says)
{
	const struct kymo_plugin *plugin = (const void *)folder;
	struct kymo_error error = {0};

	assert_int_equal(ky_plugin_load(file, &plugin, &error), status);
	assert_null(plugin);
	assert_int_equal(error.status, status);
	if (!strstr(error.message, says))
		fail_msg("\"%s\" does not say \"%s\"", error.message, says);
	assert_int_equal(ky_plugin_load(file, &plugin, NULL), status);
}

static void only_absolute_paths_are_loaded(void **state)
{
	(void)state;
	assert_refused(NULL, KYMO_ERROR_INVALID, "absolute path");
	assert_refused("", KYMO_ERROR_INVALID, "absolute path");
	assert_refused("fake.so", KYMO_ERROR_INVALID, "\"fake.so\"");
	assert_refused("./fake.so", KYMO_ERROR_INVALID, "\"./fake.so\"");
}

static void a_missing_file_is_not_found(void **state)
{
	(void)state;
	assert_refused("/nowhere/fake.so", KYMO_ERROR_NOT_FOUND, "/nowhere/fake.so");
}

static void what_is_no_shared_object_is_no_plugin(void **state)
{
	(void)state;
	assert_refused(write_file("text.so", "hello, world\n", 13),
		       KYMO_ERROR_UNSUPPORTED, "no shared object");
	assert_refused(write_file("empty.so", "", 0), KYMO_ERROR_UNSUPPORTED,
		       "no shared object");
	assert_refused(folder, KYMO_ERROR_UNSUPPORTED, "no file");
	assert_refused("/dev/null", KYMO_ERROR_UNSUPPORTED, "no file");
}

static void a_damaged_object_is_a_bad_plugin(void **state)
{
	(void)state;
	assert_refused(write_file("cut.so", "\177ELF\2\1\1", 7), KYMO_ERROR_PLUGIN,
		       "cut.so");
}

static void a_foreign_library_is_no_plugin(void **state)
{
	char library[PATH_MAX];
	union {
		double (*function)(const char *, char **);
		const void *address;
	} libc = {.function = strtod};

	(void)state;
	assert_int_equal(ky_object_path(libc.address, library, sizeof(library)), KYMO_OK);
	assert_refused(library, KYMO_ERROR_UNSUPPORTED, "kymo_plugin_entry_v1");
}

static void names_are_looked_for_in_the_folder_only(void **state)
{
	struct kymo_error error = {0};
	char out[PATH_MAX];

	(void)state;
	assert_int_equal(ky_plugin_path("source", "/a/b.so", out, sizeof(out), &error),
			 KYMO_OK);
	assert_string_equal(out, "/a/b.so");
	assert_int_equal(ky_plugin_path("source", "../b", out, sizeof(out), &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_plugin_path("source", "", out, sizeof(out), &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_plugin_path("source", NULL, out, sizeof(out), &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_plugin_path("source", "no-such", out, sizeof(out), &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no source plug-in \"no-such\""));
	assert_int_equal(ky_plugin_path("source", "/a/b.so", out, 4, &error),
			 KYMO_ERROR_INVALID);
}

static void nobody_else_may_write_what_privilege_runs(void **state)
{
	struct kymo_error error = {0};
	const char *file = write_file("own.so", "", 0);
	const uid_t me = getuid();

	(void)state;
	assert_int_equal(ky_trust_check(file, me, &error), KYMO_OK);
	assert_int_equal(chmod(file, 0620), 0);
	assert_int_equal(ky_trust_check(file, me, &error), KYMO_ERROR_PERMISSION);
	assert_non_null(strstr(error.message, "own.so"));
	assert_int_equal(chmod(file, 0600), 0);
	/* Root's files are trusted by everybody, anybody else's by their owner only. */
	assert_int_equal(ky_trust_check(file, me + 1, &error),
			 me == 0 ? KYMO_OK : KYMO_ERROR_PERMISSION);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(ky_trust_check(file, me, &error), KYMO_ERROR_PERMISSION);
	assert_non_null(strstr(error.message, folder));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_int_equal(ky_trust_check("/nowhere/x", 0, &error), KYMO_ERROR_NOT_FOUND);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"text.so", "empty.so", "cut.so", "own.so"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_absolute_paths_are_loaded),
		cmocka_unit_test(a_missing_file_is_not_found),
		cmocka_unit_test(what_is_no_shared_object_is_no_plugin),
		cmocka_unit_test(a_damaged_object_is_a_bad_plugin),
		cmocka_unit_test(a_foreign_library_is_no_plugin),
		cmocka_unit_test(names_are_looked_for_in_the_folder_only),
		cmocka_unit_test(nobody_else_may_write_what_privilege_runs),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
