/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/reserve.h"

#include <errno.h>
#include <sys/mman.h>

void *ky_reserve(size_t size, int fd)
{
	const int flags =
		fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *memory = mmap(NULL, size, PROT_NONE, flags, fd, 0);
	int number;

	if (memory == MAP_FAILED)
		return NULL;
	/* While nobody may touch it, no page can be made for the lock. */
	munlock(memory, size);
	if (mprotect(memory, size, PROT_READ | PROT_WRITE) == 0)
		return memory;
	number = errno;
	munmap(memory, size);
	errno = number;
	return NULL;
}
