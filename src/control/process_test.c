/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static pid_t make_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	return child;
}

static void a_pidfd_tells_the_end_of_its_process(void **state)
{
	pid_t child = make_child();
	int fd = ky_pidfd_open(child);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ky_pidfd_ended(fd), 0);
	kill(child, SIGKILL);
	/* Before it is reaped, so that its number cannot pass to another one. */
	while (!ky_pidfd_ended(fd))
		usleep(1000);
	waitpid(child, NULL, 0);
	assert_int_equal(ky_pidfd_ended(fd), 1);
	close(fd);
	assert_int_equal(ky_pidfd_open(child), -ESRCH);
}

static void a_peer_is_found_by_its_socket(void **state)
{
	int pair[2], fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fd = ky_pidfd_of_peer(pair[0], getpid());
	assert_true(fd >= 0);
	assert_int_equal(ky_pidfd_ended(fd), 0);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

static void all_descriptors_from_one_on_are_closed(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		int low = dup2(0, 100), high = dup2(0, 900);

		ky_close_from(101);
		/* Where the number is free again it is the next one that dup gives. */
		_exit(low == 100 && high == 900 && dup2(100, 50) == 50 &&
				      dup2(900, 51) == -1 && errno == EBADF
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

static void memory_is_had_until_it_is_unmapped(void **state)
{
	const int fd = memfd_create("test", MFD_CLOEXEC), self = ky_pidfd_open(getpid());
	struct stat found;
	void *memory;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &found), 0);
	memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(memory != MAP_FAILED);
	close(fd);
	assert_int_equal(ky_pidfd_has_memory(self, found.st_ino), 1);
	munmap(memory, 4096);
	assert_int_equal(ky_pidfd_has_memory(self, found.st_ino), 0);
	close(self);
	assert_int_equal(ky_pidfd_has_memory(self, found.st_ino), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_had_until_it_is_unmapped),
		cmocka_unit_test(a_pidfd_tells_the_end_of_its_process),
		cmocka_unit_test(a_peer_is_found_by_its_socket),
		cmocka_unit_test(all_descriptors_from_one_on_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
