/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

#include "support/test.h"

static char folder[64];

/* As in a chroot without /proc, where a file without a name can't be given one. */
static bool proc_is_missing;

int access(const char *path, int mode)
{
	if (proc_is_missing && strncmp(path, "/proc/", strlen("/proc/")) == 0) {
		errno = ENOENT;
		return -1;
	}
	return faccessat(AT_FDCWD, path, mode, 0);
}

static struct kymo_str text(const char *data)
{
	return (struct kymo_str){data, strlen(data)};
}

static void put(const char *path, const char *data)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(data, file);
	assert_int_equal(fclose(file), 0);
}

static const char *get(const char *path)
{
	static char data[256];
	int fd = open(path, O_RDONLY);
	ssize_t size;

	assert_true(fd >= 0);
	size = read(fd, data, sizeof(data) - 1);
	assert_true(size >= 0);
	data[size] = '\0';
	close(fd);
	return data;
}

static int count_files(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	int count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += strcmp(entry->d_name, ".") != 0 &&
			 strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return count;
}

static int32_t write_file(const char *path, bool overwrite, struct kymo_error *error)
{
	struct ky_file file;
	int32_t status = ky_file_open(&file, text(path), overwrite, error);

	if (status == KYMO_OK)
		status = ky_file_write(&file, "new", 3);
	if (status == KYMO_OK)
		status = ky_file_commit(&file, error);
	ky_file_discard(&file);
	return status;
}

static void the_file_appears_when_it_is_complete(void **state)
{
	struct kymo_error error;
	struct ky_file file;

	(void)state;
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, "all", 3), KYMO_OK);
	assert_int_equal(access("a.json", F_OK), -1);
	assert_int_equal(ky_file_commit(&file, &error), KYMO_OK);
	ky_file_discard(&file);
	assert_string_equal(get("a.json"), "all");
	assert_int_equal(count_files(), 1);
}

static void a_new_file_has_the_usual_permissions(void **state)
{
	const mode_t before = umask(027);
	struct kymo_error error;
	struct stat found;

	(void)state;
	assert_int_equal(write_file("a.json", false, &error), KYMO_OK);
	umask(before);
	assert_int_equal(stat("a.json", &found), 0);
	assert_int_equal(found.st_mode & 07777, 0640);
	assert_int_equal(found.st_nlink, 1);
}

static void a_process_that_is_killed_leaves_nothing(void **state)
{
	const int probe = open(".", O_TMPFILE | O_WRONLY, 0600);
	int status;
	pid_t pid;

	(void)state;
	if (probe < 0)
		skip(); /* no nameless files in this file system */
	close(probe);
	put("a.json", "old");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct kymo_error error;
		struct ky_file file;

		if (ky_file_open(&file, text("a.json"), true, &error) == KYMO_OK &&
		    ky_file_write(&file, "half", 4) == KYMO_OK)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_string_equal(get("a.json"), "old");
	assert_int_equal(count_files(), 1);
}

static void without_nameless_files_it_has_a_name_that_says_whose_it_is(void **state)
{
	struct kymo_error error;
	struct ky_file file;
	char name[64];

	(void)state;
	proc_is_missing = true;
	snprintf(name, sizeof(name), ".kymo-trace-%ld-0.tmp", (long)getpid());
	put(name, "another thread's");
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	snprintf(name, sizeof(name), ".kymo-trace-%ld-1.tmp", (long)getpid());
	assert_string_equal(file.temporary, name);
	assert_int_equal(ky_file_write(&file, "all", 3), KYMO_OK);
	assert_int_equal(count_files(), 2);
	ky_file_discard(&file);
	assert_int_equal(count_files(), 1);
	assert_int_equal(write_file("a.json", false, &error), KYMO_OK);
	assert_int_equal(write_file("a.json", false, &error), KYMO_ERROR_EXISTS);
	assert_int_equal(write_file("a.json", true, &error), KYMO_OK);
	assert_string_equal(get("a.json"), "new");
	assert_int_equal(count_files(), 2);
}

static void a_discarded_file_leaves_nothing(void **state)
{
	struct kymo_error error;
	struct ky_file file;

	(void)state;
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, "some", 4), KYMO_OK);
	ky_file_discard(&file);
	ky_file_discard(&file);
	assert_int_equal(count_files(), 0);
}

static void an_existing_file_is_kept_unless_told_so(void **state)
{
	struct kymo_error error;

	(void)state;
	put("a.json", "old");
	assert_int_equal(write_file("a.json", false, &error), KYMO_ERROR_EXISTS);
	assert_string_equal(error.message,
			    "\"a.json\" exists already: name another file, or set "
			    "overwrite");
	assert_string_equal(get("a.json"), "old");
	assert_int_equal(write_file("a.json", true, &error), KYMO_OK);
	assert_string_equal(get("a.json"), "new");
	assert_int_equal(count_files(), 1);
}

static void a_file_that_came_meanwhile_is_kept(void **state)
{
	struct kymo_error error;
	struct ky_file file;

	(void)state;
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	put("a.json", "theirs");
	assert_int_equal(ky_file_commit(&file, &error), KYMO_ERROR_EXISTS);
	ky_file_discard(&file);
	assert_string_equal(get("a.json"), "theirs");
	assert_int_equal(count_files(), 1);
}

static void overwriting_keeps_the_permissions_and_follows_links(void **state)
{
	struct kymo_error error;
	struct stat found;

	(void)state;
	put("real.json", "old");
	assert_int_equal(chmod("real.json", 0600), 0);
	assert_int_equal(symlink("real.json", "a.json"), 0);
	assert_int_equal(write_file("a.json", true, &error), KYMO_OK);
	assert_string_equal(get("real.json"), "new");
	assert_int_equal(stat("real.json", &found), 0);
	assert_int_equal(found.st_mode & 0777, 0600);
	assert_int_equal(lstat("a.json", &found), 0);
	assert_true(S_ISLNK(found.st_mode));
}

static void a_link_to_nothing_is_a_name_that_is_taken(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(symlink("nowhere", "a.json"), 0);
	assert_int_equal(write_file("a.json", false, &error), KYMO_ERROR_EXISTS);
}

static void a_link_to_nothing_is_replaced_where_it_may_be(void **state)
{
	struct kymo_error error;
	struct stat found;

	(void)state;
	assert_int_equal(symlink("nowhere", "a.json"), 0);
	assert_int_equal(write_file("a.json", true, &error), KYMO_OK);
	assert_int_equal(lstat("a.json", &found), 0);
	assert_true(S_ISREG(found.st_mode));
	assert_int_equal(access("nowhere", F_OK), -1);
}

static void a_folder_is_no_file_even_if_overwriting(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(mkdir("a.json", 0700), 0);
	assert_int_equal(write_file("a.json", true, &error), KYMO_ERROR_IO);
	assert_string_equal(error.message, "cannot create \"a.json\": Is a directory");
	assert_int_equal(rmdir("a.json"), 0); /* it is empty */
	assert_int_equal(count_files(), 0);
}

static void a_folder_that_may_not_be_written_to_is_told(void **state)
{
	struct kymo_error error;
	int32_t status;

	(void)state;
	if (geteuid() == 0 && seteuid(65534) != 0)
		skip();
	status = write_file("/a.json", false, &error);
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(status, KYMO_ERROR_PERMISSION);
	assert_string_equal(error.message,
			    "cannot create \"/a.json\": Permission denied; "
			    "name a folder that you may write to");
}

static void a_name_of_255_bytes_is_a_name(void **state)
{
	struct kymo_error error;
	char name[257];

	(void)state;
	memset(name, 'a', sizeof(name));
	strcpy(name + 255 - strlen(".json"), ".json");
	assert_int_equal(write_file(name, false, &error), KYMO_OK);
	assert_string_equal(get(name), "new");
	memset(name, 'a', sizeof(name));
	strcpy(name + 256 - strlen(".json"), ".json");
	assert_int_equal(write_file(name, false, &error), KYMO_ERROR_IO);
	assert_non_null(strstr(error.message, "File name too long"));
	assert_int_equal(count_files(), 1);
}

static void a_pipe_whose_reader_has_gone_is_an_error_and_no_signal(void **state)
{
	struct kymo_error error;
	struct ky_file file;
	int reader;

	(void)state;
	assert_int_equal(mkfifo("a.json", 0600), 0);
	reader = open("a.json", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, "x", 1), KYMO_OK);
	close(reader);
	assert_int_equal(ky_file_write(&file, "y", 1), KYMO_ERROR_IO);
	assert_string_equal(file.error.message, "cannot write \"a.json\": Broken pipe");
	ky_file_discard(&file);
	assert_int_equal(count_files(), 1); /* it is not ours to remove */
}

static void *read_one_byte(void *context)
{
	const int *reader = context;
	char byte;

	assert_int_equal(read(*reader, &byte, 1), 1);
	close(*reader);
	return NULL;
}

/*
 * More than a pipe holds, so that a part of it has been written when the reader leaves.
 */
static void a_reader_that_leaves_in_the_middle_is_no_signal_either(void **state)
{
	const size_t size = 1 << 20;
	char *data = calloc(1, size);
	struct kymo_error error;
	struct ky_file file;
	pthread_t thread;
	int reader;

	(void)state;
	assert_int_equal(mkfifo("a.json", 0600), 0);
	reader = open("a.json", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(ky_file_open(&file, text("a.json"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, data, 1), KYMO_OK);
	assert_int_equal(pthread_create(&thread, NULL, read_one_byte, &reader), 0);
	assert_int_equal(ky_file_write(&file, data, size), KYMO_ERROR_IO);
	assert_int_equal(pthread_join(thread, NULL), 0);
	ky_file_discard(&file);
	free(data);
}

static void what_is_no_regular_file_is_written_to(void **state)
{
	struct kymo_error error;
	struct stat found;

	(void)state;
	assert_int_equal(write_file("/dev/null", true, &error), KYMO_OK);
	assert_int_equal(stat("/dev/null", &found), 0);
	assert_true(S_ISCHR(found.st_mode));
}

static void a_full_disk_is_told_with_what_to_do(void **state)
{
	struct kymo_error error;
	struct ky_file file;

	(void)state;
	assert_int_equal(ky_file_open(&file, text("/dev/full"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, "x", 1), KYMO_ERROR_IO);
	assert_string_equal(file.error.message,
			    "cannot write \"/dev/full\": No space left on "
			    "device; make room there, or write elsewhere");
	ky_file_discard(&file);
}

static void a_file_size_limit_leaves_the_old_file(void **state)
{
	const struct rlimit small = {2, RLIM_INFINITY};
	struct rlimit before;
	struct kymo_error error;
	int32_t status;

	(void)state;
	put("a.json", "old");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	status = write_file("a.json", true, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, KYMO_ERROR_IO);
	assert_string_equal(get("a.json"), "old");
	assert_int_equal(count_files(), 1);
}

static void paths_that_cannot_be_are_refused(void **state)
{
	struct kymo_error error;
	char long_path[5000];

	(void)state;
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(write_file("", false, &error), KYMO_ERROR_INVALID);
	assert_int_equal(write_file(long_path, false, &error), KYMO_ERROR_INVALID);
	assert_int_equal(write_file("no/such/a.json", false, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(write_file(".", true, &error), KYMO_ERROR_IO);
	assert_int_equal(write_file("line\nfeed\xff/a.json", true, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(write_file("line\nfeed\xff/a.json", true, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_string_equal(
		error.message,
		"cannot create \"line?feed?/a.json\": No such file or directory; "
		"name a folder that exists");
	assert_int_equal(count_files(), 0);
}

static void a_gz_is_one_member_that_reads_back(void **state)
{
	const size_t size = 1000000;
	char *data = malloc(size), *back = malloc(size + 1);
	struct kymo_error error;
	struct ky_file file;
	size_t i;
	gzFile gz;

	(void)state;
	for (i = 0; i < size; i++)
		data[i] = (char)(i * i >> 7);
	assert_int_equal(ky_file_open(&file, text("a.json.gz"), false, &error), KYMO_OK);
	assert_int_equal(ky_file_write(&file, data, size), KYMO_OK);
	assert_int_equal(ky_file_commit(&file, &error), KYMO_OK);
	assert_true(file.bytes > 0 && file.bytes < size);
	ky_file_discard(&file);
	gz = gzopen("a.json.gz", "rb");
	assert_non_null(gz);
	assert_int_equal(gzread(gz, back, (unsigned)size + 1), size);
	assert_memory_equal(back, data, size);
	gzclose(gz);
	free(data);
	free(back);
}

static int enter_folder(void **state)
{
	(void)state;
	proc_is_missing = false;
	snprintf(folder, sizeof(folder), "/tmp/kymo-file-test-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	DIR *dir = opendir(".");
	struct dirent *entry;

	(void)state;
	while (dir && (entry = readdir(dir)))
		unlink(entry->d_name);
	if (dir)
		closedir(dir);
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_file_appears_when_it_is_complete),
		TEST(a_new_file_has_the_usual_permissions),
		TEST(a_process_that_is_killed_leaves_nothing),
		TEST(without_nameless_files_it_has_a_name_that_says_whose_it_is),
		TEST(a_discarded_file_leaves_nothing),
		TEST(an_existing_file_is_kept_unless_told_so),
		TEST(a_file_that_came_meanwhile_is_kept),
		TEST(overwriting_keeps_the_permissions_and_follows_links),
		TEST(a_link_to_nothing_is_a_name_that_is_taken),
		TEST(a_link_to_nothing_is_replaced_where_it_may_be),
		TEST(a_folder_is_no_file_even_if_overwriting),
		TEST(a_folder_that_may_not_be_written_to_is_told),
		TEST(a_name_of_255_bytes_is_a_name),
		TEST(a_pipe_whose_reader_has_gone_is_an_error_and_no_signal),
		TEST(a_reader_that_leaves_in_the_middle_is_no_signal_either),
		TEST(what_is_no_regular_file_is_written_to),
		TEST(a_full_disk_is_told_with_what_to_do),
		TEST(a_file_size_limit_leaves_the_old_file),
		TEST(paths_that_cannot_be_are_refused),
		TEST(a_gz_is_one_member_that_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
