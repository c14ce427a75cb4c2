/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target constructs: 3 kernels within one environment of data, an update, and a region of
 * its own. Needs a compiler with offloading.
 */
#include <omp.h>
#include <stdio.h>

#define COUNT 100000

static double a[COUNT], b[COUNT];

int main(void)
{
	for (int i = 0; i < COUNT; i++)
		a[i] = i;
#pragma omp target data map(to : a) map(tofrom : b)
	{
		for (int k = 0; k < 3; k++) {
#pragma omp target teams distribute parallel for
			for (int i = 0; i < COUNT; i++)
				b[i] += 2 * a[i];
		}
#pragma omp target update from(b [0:10])
	}
#pragma omp target map(tofrom : b)
	b[0] += 1;
	printf("%g %g\n", b[0], b[COUNT - 1]);
	return 0;
}
