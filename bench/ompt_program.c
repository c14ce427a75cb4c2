/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     ompt_program THREADS
 *
 * Short parallel regions, each with a loop and a barrier: what they take, in microseconds
 * a region. Built with a compiler that has LLVM's OpenMP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT 10000

static volatile int sink[2][64];

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void regions(int threads, int count)
{
	for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(threads)
		{
#pragma omp for schedule(static)
			for (int j = 0; j < 2; j++)
				for (int k = 0; k < 500; k++)
					sink[j][0] = k;
#pragma omp barrier
		}
	}
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	double begin;

	regions(threads, COUNT / 10);
	begin = now_us();
	regions(threads, COUNT);
	printf("%.3f\n", (now_us() - begin) / COUNT);
	return 0;
}
