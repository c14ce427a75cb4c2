/* SPDX-License-Identifier: BSD-3-Clause */
/* A sum without races, which the thread sanitizer knows only with a tool of its own. */
#include <stdio.h>

int main(void)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum)
	for (long i = 0; i < 1000; i++)
		sum += i;
	printf("%ld\n", sum);
	return 5;
}
