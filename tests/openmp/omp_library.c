/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that uses OpenMP while it is loaded. Its worker comes first to a place in the
 * code that nobody has been at, while the loader's lock is held by the thread that waits.
 */
#include <omp.h>
#include <unistd.h>

static volatile int count;

__attribute__((constructor)) static void use(void)
{
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 0)
			usleep(20000);
#pragma omp for
		for (int i = 0; i < 100; i++)
			count = i;
#pragma omp critical
		count = 0;
	}
}
