/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is no plug-in, and where plug-ins are looked for; tests/plugins/ has the bad ones.
 */
#include "plugin/loader.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/place.h"
#include "plugin/trust.h"
#include "support/set_uid.h"
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

static void what_was_built_for_another_machine_is_refused_with_both_numbers(void **state)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_S390,
	};

	(void)state;
	assert_refused(write_file("other.so", &header, sizeof(header)), KYMO_ERROR_PLUGIN,
		       "64-bit, number 22, where this one is 64-bit, number ");
	header.e_ident[EI_CLASS] = ELFCLASS32;
	header.e_machine = EM_386;
	assert_refused(write_file("other.so", &header, sizeof(header)), KYMO_ERROR_PLUGIN,
		       "32-bit, number 3, where");
	header.e_ident[EI_DATA] = ELFDATA2MSB;
	header.e_machine = EM_PPC << 8;
	assert_refused(write_file("other.so", &header, sizeof(header)), KYMO_ERROR_PLUGIN,
		       "32-bit, number 20, where");
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

static void paths_that_are_not_absolute_begin_in_the_working_directory(void **state)
{
	static const char *const rows[][2] = {
		{"./b.so", "/dev/b.so"},
		{"a/b.so", "/dev/a/b.so"},
		{"../b.so", "/dev/../b.so"},
	};
	struct kymo_error error = {0};
	char before[PATH_MAX], out[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir("/dev"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			ky_plugin_path("source", rows[i][0], out, sizeof(out), &error),
			KYMO_OK);
		assert_string_equal(out, rows[i][1]);
	}
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(ky_plugin_path("source", "./b.so", out, sizeof(out), &error),
			 KYMO_OK);
	assert_string_equal(out, "/b.so");
	assert_int_equal(chdir(before), 0);
}

static void an_option_begins_behind_the_name_or_the_path(void **state)
{
	static const char *const rows[][2] = {
		{"npu", ""},
		{"npu:a=b", ":a=b"},
		{"npu:file=/x/y.so:z", ":file=/x/y.so:z"},
		{"/x:y/npu.so", ""},
		{"./npu.so:a=b", ":a=b"},
		{"x/npu.so:file=/y", ":file=/y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ky_plugin_option(rows[i][0]), rows[i][1]);
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

/* False where no set-uid copy of this program can be made. */
static int load_as_set_uid(const char *plugin, char *said, size_t size)
{
	char words[PATH_MAX];

	snprintf(words, sizeof(words), "--load %.512s", plugin);
	return run_set_uid(folder, words, said, size) && strstr(said, "privileged 1");
}

static void a_set_uid_process_loads_only_what_nobody_else_can_write(void **state)
{
	char said[1024];
	const char *file;

	(void)state;
	assert_int_equal(chmod(folder, 0755), 0);
	if (!load_as_set_uid("/nowhere/x.so", said, sizeof(said)))
		skip_because("not root, or no set-uid in /tmp");
	file = write_file("own.so", "text", 4);
	load_as_set_uid(file, said, sizeof(said));
	if (!strstr(said, "it is no shared object"))
		fail_msg("root's own file: %s", said);
	assert_int_equal(chown(file, TEST_NOBODY, TEST_NOBODY), 0);
	load_as_set_uid(file, said, sizeof(said));
	if (!strstr(said, "others than root can write") || !strstr(said, "own.so, so"))
		fail_msg("a file of somebody: %s", said);
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	load_as_set_uid(file, said, sizeof(said));
	if (!strstr(said, "others than root can write") || strstr(said, "own.so, so"))
		fail_msg("a folder of everybody: %s", said);
	assert_int_equal(chmod(folder, 0700), 0);
}

/* The set-uid copy of this program. */
static int load_one(const char *file)
{
	const struct kymo_plugin *plugin;
	struct kymo_error error = {0};

	ky_plugin_load(file, &plugin, &error);
	printf("privileged %lu: %s\n", getauxval(AT_SECURE), error.message);
	return 0;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"text.so", "empty.so", "cut.so", "own.so",
					    "other.so"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_absolute_paths_are_loaded),
		cmocka_unit_test(
			paths_that_are_not_absolute_begin_in_the_working_directory),
		cmocka_unit_test(an_option_begins_behind_the_name_or_the_path),
		cmocka_unit_test(a_missing_file_is_not_found),
		cmocka_unit_test(what_is_no_shared_object_is_no_plugin),
		cmocka_unit_test(a_damaged_object_is_a_bad_plugin),
		cmocka_unit_test(
			what_was_built_for_another_machine_is_refused_with_both_numbers),
		cmocka_unit_test(a_foreign_library_is_no_plugin),
		cmocka_unit_test(names_are_looked_for_in_the_folder_only),
		cmocka_unit_test(nobody_else_may_write_what_privilege_runs),
		cmocka_unit_test(a_set_uid_process_loads_only_what_nobody_else_can_write),
	};

	if (argc == 3 && strcmp(argv[1], "--load") == 0)
		return load_one(argv[2]);
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
