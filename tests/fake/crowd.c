/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with much to record: four threads that launch kernels of the fake device, all
 * the time within one mark that lasts as long as they run.
 *
 *     crowd LAUNCHES
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <kymo/mark.h>

#include "fake_device.h"

#define THREADS 4u

static const struct fake_api *api;
static struct fake_kernel *kernel;
static uint32_t name;
static uint64_t launches;

static void *launch_all(void *context)
{
	uint32_t queue = *(const uint32_t *)context % FAKE_QUEUE_COUNT;
	uint64_t begin = kymo_mark_begin();

	for (uint64_t i = 0; i < launches / THREADS; i++)
		api->launch(queue, kernel, 50 + i % 7 * 10);
	kymo_mark_end(begin, kymo_mark_name(&name, "all of it"));
	return NULL;
}

int main(int argc, char **argv)
{
	static const uint64_t size[3] = {1, 1, 1};
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS];
	fake_api_fn find = NULL;

	*(void **)&find = dlsym(RTLD_DEFAULT, FAKE_API_SYMBOL);
	if (argc != 2 || !find) {
		fprintf(stderr, "crowd: say how many, and run it where the device is\n");
		return 99;
	}
	api = find();
	launches = strtoull(argv[1], NULL, 10);
	kernel = api->kernel("kernel", 6, size, size);
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, launch_all, &numbers[i]) != 0)
			return 98;
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
