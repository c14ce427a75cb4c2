/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_stat.h"

static pid_t make_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_process_is_read_whatever_its_name(void **state)
{
	struct ky_process by_pid, self;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, ") x ) 1 2 (", 0, 0, 0), 0);
	assert_int_equal(ky_process_read(getpid(), &by_pid), 0);
	assert_int_equal(ky_process_read(0, &self), 0);
	assert_int_not_equal(self.start_time, 0);
	assert_int_equal(self.start_time, by_pid.start_time);
	assert_int_equal(self.forked_not_exec, 0);
}

static void paths_and_names_are_those_of_the_process(void **state)
{
	char path[KY_PROC_PATH_SIZE], name[32];
	const pid_t child = make_child();

	(void)state;
	assert_string_equal(ky_proc_path(path, 0, "stat"), "/proc/self/stat");
	assert_string_equal(ky_proc_path(path, 4194304, "ns/pid"),
			    "/proc/4194304/ns/pid");
	assert_int_equal(prctl(PR_SET_NAME, "a\033[2J\nb", 0, 0, 0), 0);
	ky_process_name(getpid(), name, sizeof(name));
	assert_string_equal(name, "a?[2J");
	ky_process_name(0, name, sizeof(name));
	assert_string_equal(name, "unknown");
	end_child(child);
	ky_process_name(child, name, sizeof(name));
	assert_string_equal(name, "unknown");
}

static void what_a_process_has_mapped_is_told_in_bytes(void **state)
{
	const size_t size = (size_t)1 << 30;
	struct ky_mapped before, after;
	void *memory;

	(void)state;
	assert_int_equal(ky_mapped_read(&before), 0);
	memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(ky_mapped_read(&after), 0);
	assert_in_range(after.address_space - before.address_space, size,
			size + size / 8);
	assert_in_range(after.data - before.data, 0, size / 8);
	before = after;
	assert_int_equal(mprotect(memory, size, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(ky_mapped_read(&after), 0);
	assert_in_range(after.data - before.data, size, size + size / 8);
	munmap(memory, size);
}

static void a_child_is_known_as_forked(void **state)
{
	struct ky_process process;
	pid_t child = make_child();

	(void)state;
	assert_int_equal(ky_process_read(child, &process), 0);
	assert_int_equal(process.forked_not_exec, 1);
	end_child(child);
	assert_int_equal(ky_process_read(child, &process), ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_read_whatever_its_name),
		cmocka_unit_test(paths_and_names_are_those_of_the_process),
		cmocka_unit_test(what_a_process_has_mapped_is_told_in_bytes),
		cmocka_unit_test(a_child_is_known_as_forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
