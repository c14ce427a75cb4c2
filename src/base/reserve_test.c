/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/reserve.h"

#define SIZE ((size_t)8 << 20)

static size_t count_pages(void *memory)
{
	static unsigned char there[SIZE / 4096];
	size_t count = 0, pages = SIZE / (size_t)sysconf(_SC_PAGESIZE);

	assert_int_equal(mincore(memory, SIZE, there), 0);
	for (size_t i = 0; i < pages; i++)
		count += there[i] & 1;
	return count;
}

static void check_reserved(int fd)
{
	unsigned char *memory = ky_reserve(SIZE, fd);

	assert_non_null(memory);
	assert_int_equal(count_pages(memory), 0);
	memory[SIZE / 2] = 7;
	assert_int_equal(count_pages(memory), 1);
	munmap(memory, SIZE);
}

static void memory_that_is_locked_as_a_whole_is_still_made_when_touched(void **state)
{
	int fd = memfd_create("kymo", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	check_reserved(-1);
	if (mlockall(MCL_FUTURE) != 0)
		skip(); /* not allowed to lock anything */
	check_reserved(-1);
	check_reserved(fd);
	munlockall();
	close(fd);
}

static void what_cannot_be_had_is_an_error(void **state)
{
	(void)state;
	assert_null(ky_reserve((size_t)1 << 62, -1));
	assert_int_equal(errno, ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			memory_that_is_locked_as_a_whole_is_still_made_when_touched),
		cmocka_unit_test(what_cannot_be_had_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
