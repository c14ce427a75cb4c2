/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses the accelerator, and knows nothing of Kymo: copies, jobs, waits. */
#include <stdio.h>
#include <stdlib.h>

#include "npu.h"

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 20;
	uint64_t job = 0;

	for (int i = 0; i < count; i++) {
		uint64_t copy = npu_copy(1 << 20, 0);

		job = npu_run(i % 2 ? "matmul" : "softmax", 300000, copy);
		if (i % 5 == 4)
			npu_wait(job);
	}
	npu_wait(job);
	printf("%d jobs\n", count);
	return 0;
}
