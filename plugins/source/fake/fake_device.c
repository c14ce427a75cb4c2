/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pretend vendor. Queues are two numbers: until when they are busy. What they do is
 * kept in a fixed table until it has ended and somebody hands it over; what does not fit
 * is counted.
 *
 * device.lock protects all but the tool and the clock, and is not held in the tool.
 */
#include "fake_device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ACTIVITIES_MAX 4096
#define BATCH          32u
#define POLL_NS        50000
#define THREADS_MAX    1024u
#define PPM            1000000

static struct {
	pthread_mutex_t lock;
	uint64_t busy_until[FAKE_QUEUE_COUNT]; /* ticks, not wrapped */
	uint64_t last[FAKE_QUEUE_COUNT];       /* correlation of what was launched last */
	uint64_t fence[FAKE_QUEUE_COUNT];      /* what the next launch waits for, or 0 */
	uint64_t launches, memory, dropped;
	struct fake_activity activities[ACTIVITIES_MAX]; /* times not wrapped */
	size_t count;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct fake_clock clock_now = {.rate = 1000000000u, .bits = 64};
static const struct fake_tool *_Atomic current_tool;

/* ---- Time ---- */

static uint64_t monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t ticks_of_ns(uint64_t ns)
{
	const wide scale = (wide)1000000000u * PPM;

	return (uint64_t)((wide)ns * clock_now.rate * (uint64_t)(PPM + clock_now.ppm) /
			  scale);
}

static uint64_t ticks_unwrapped(void)
{
	return ticks_of_ns(monotonic_ns());
}

static uint64_t wrap(uint64_t ticks)
{
	ticks += clock_now.offset;
	return clock_now.bits < 64 ? ticks & (((uint64_t)1 << clock_now.bits) - 1)
				   : ticks;
}

uint64_t fake_device_ticks(void)
{
	return wrap(ticks_unwrapped());
}

void fake_device_set_clock(const struct fake_clock *clock)
{
	clock_now = *clock;
}

static void nap(void)
{
	nanosleep(&(const struct timespec){0, POLL_NS}, NULL);
}

/* ---- The tool ---- */

static const struct fake_tool *tool(void)
{
	return atomic_load_explicit(&current_tool, memory_order_acquire);
}

void fake_device_set_tool(const struct fake_tool *new_tool)
{
	atomic_store_explicit(&current_tool, new_tool, memory_order_release);
}

const char *fake_function_name(enum fake_function function)
{
	static const char *const names[FAKE_FUNCTION_COUNT] = {
		[FAKE_LAUNCH] = "fakeLaunch", [FAKE_LAUNCH_GRAPH] = "fakeLaunchGraph",
		[FAKE_COPY] = "fakeCopy",     [FAKE_FENCE] = "fakeFence",
		[FAKE_WAIT] = "fakeWait",     [FAKE_TOUCH] = "fakeTouch",
	};

	return names[function];
}

static struct fake_call enter(enum fake_function function)
{
	struct fake_call call = {.function = function};

	if (tool())
		tool()->enter(&call);
	return call;
}

static int leave(struct fake_call *call, int error)
{
	call->error = error;
	if (tool())
		tool()->leave(call);
	return error;
}

static enum fake_progress progress_of(const struct fake_activity *activity, uint64_t now)
{
	if (activity->end <= now)
		return FAKE_FINISHED;
	return activity->begin <= now ? FAKE_RUNNING : FAKE_WAITING;
}

static struct fake_activity as_seen(const struct fake_activity *activity, uint64_t now)
{
	struct fake_activity seen = *activity;

	seen.progress = progress_of(activity, now);
	seen.queued = wrap(activity->queued);
	seen.begin = wrap(activity->begin);
	seen.end = wrap(seen.progress == FAKE_RUNNING ? now : activity->end);
	return seen;
}

/* Moves up to BATCH activities out of the table, those that run as well if `all`. */
static size_t take_batch(struct fake_activity *batch, uint64_t *dropped, int all)
{
	const uint64_t now = ticks_unwrapped();
	size_t taken = 0, kept = 0;

	pthread_mutex_lock(&device.lock);
	*dropped = device.dropped;
	device.dropped = 0;
	for (size_t i = 0; i < device.count; i++) {
		const struct fake_activity *activity = &device.activities[i];

		if (taken < BATCH && (all || activity->end <= now))
			batch[taken++] = as_seen(activity, now);
		else
			device.activities[kept++] = *activity;
	}
	device.count = kept;
	pthread_mutex_unlock(&device.lock);
	return taken;
}

static void deliver(int all)
{
	struct fake_activity batch[BATCH];
	uint64_t dropped;
	size_t count;

	while ((count = take_batch(batch, &dropped, all)) > 0 || dropped > 0)
		if (tool())
			tool()->done(batch, count, dropped);
}

void fake_device_deliver(void)
{
	deliver(0);
}

static int is_busy(uint32_t queue)
{
	int busy;

	pthread_mutex_lock(&device.lock);
	busy = device.busy_until[queue] > ticks_unwrapped();
	pthread_mutex_unlock(&device.lock);
	return busy;
}

void fake_device_finish(uint64_t deadline_ns)
{
	for (uint32_t queue = 0; queue < FAKE_QUEUE_COUNT; queue++)
		while (is_busy(queue) && monotonic_ns() < deadline_ns)
			nap();
	deliver(1);
}

void fake_device_forked(void)
{
	memset(&device, 0, sizeof(device));
	device.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* ---- Work ---- */

/* Makes up the times of `work` and keeps it if somebody wants to know. lock held. */
static void run(struct fake_activity *work, uint64_t ns)
{
	uint64_t *busy_until = &device.busy_until[work->queue];

	work->begin = work->queued > *busy_until ? work->queued : *busy_until;
	work->end = work->begin + ticks_of_ns(ns);
	*busy_until = work->end;
	work->waited_for = device.fence[work->queue];
	device.fence[work->queue] = 0;
	device.last[work->queue] = work->correlation;
	if (work->correlation == 0)
		return;
	if (device.count < ACTIVITIES_MAX)
		device.activities[device.count++] = *work;
	else
		device.dropped++;
}

/* Hands in `count` times the same work. */
static int submit(const struct fake_activity *work, uint32_t count, uint64_t ns)
{
	size_t used;

	if (work->queue >= FAKE_QUEUE_COUNT)
		return FAKE_ERROR_NO_QUEUE;
	pthread_mutex_lock(&device.lock);
	device.launches++;
	device.memory += work->bytes;
	for (uint32_t node = 0; node < count; node++) {
		struct fake_activity one = *work;

		one.node = node;
		one.queued = ticks_unwrapped();
		run(&one, ns);
	}
	used = device.count;
	pthread_mutex_unlock(&device.lock);
	if (used >= ACTIVITIES_MAX / 2)
		deliver(0);
	return FAKE_OK;
}

static struct fake_kernel *make_kernel(const char *name, size_t name_size,
				       const uint64_t grid[3], const uint64_t block[3])
{
	struct fake_kernel *kernel = calloc(1, sizeof(*kernel) + name_size);

	if (!kernel)
		return NULL;
	memcpy(kernel + 1, name, name_size);
	kernel->name = (const char *)(kernel + 1);
	kernel->name_size = name_size;
	memcpy(kernel->grid, grid, sizeof(kernel->grid));
	memcpy(kernel->block, block, sizeof(kernel->block));
	return kernel;
}

static int launch_as(enum fake_function function, uint32_t queue,
		     struct fake_kernel *kernel, uint32_t count, uint64_t ns)
{
	struct fake_call call = enter(function);
	const struct fake_activity work = {
		.work = FAKE_WORK_KERNEL,
		.queue = queue,
		.kernel = kernel,
		.correlation = call.correlation,
	};

	return leave(&call, submit(&work, count, ns));
}

static int launch(uint32_t queue, struct fake_kernel *kernel, uint64_t ns)
{
	return launch_as(FAKE_LAUNCH, queue, kernel, 1, ns);
}

static int launch_graph(uint32_t queue, struct fake_kernel *kernel, uint32_t count,
			uint64_t ns)
{
	return launch_as(FAKE_LAUNCH_GRAPH, queue, kernel, count, ns);
}

static int copy(uint32_t queue, uint32_t direction, uint64_t bytes, uint64_t ns)
{
	struct fake_call call = enter(FAKE_COPY);
	const struct fake_activity work = {
		.work = FAKE_WORK_COPY,
		.queue = queue,
		.direction = direction % FAKE_DIRECTION_COUNT,
		.bytes = bytes,
		.correlation = call.correlation,
	};

	return leave(&call, submit(&work, 1, ns));
}

static int fence(uint32_t queue, uint32_t other)
{
	struct fake_call call = enter(FAKE_FENCE);

	if (queue >= FAKE_QUEUE_COUNT || other >= FAKE_QUEUE_COUNT)
		return leave(&call, FAKE_ERROR_NO_QUEUE);
	pthread_mutex_lock(&device.lock);
	if (device.busy_until[queue] < device.busy_until[other])
		device.busy_until[queue] = device.busy_until[other];
	device.fence[queue] = device.last[other];
	pthread_mutex_unlock(&device.lock);
	return leave(&call, FAKE_OK);
}

static int wait_for(uint32_t queue)
{
	struct fake_call call = enter(FAKE_WAIT);

	if (queue >= FAKE_QUEUE_COUNT)
		return leave(&call, FAKE_ERROR_NO_QUEUE);
	while (is_busy(queue)) {
		if (tool())
			tool()->polled(&call);
		nap();
	}
	deliver(0);
	return leave(&call, FAKE_OK);
}

static void note(const char *text, size_t size)
{
	if (tool())
		tool()->note(text, size);
}

static void sample(void)
{
	struct fake_load load = {.time = fake_device_ticks()};

	for (uint32_t queue = 0; queue < FAKE_QUEUE_COUNT; queue++)
		load.busy[queue] = is_busy(queue) ? 100.0 : 0.0;
	pthread_mutex_lock(&device.lock);
	load.memory = device.memory;
	load.launches = device.launches;
	load.temperature = (int64_t)(device.launches % 60) - 20;
	pthread_mutex_unlock(&device.lock);
	if (tool())
		tool()->load(&load);
}

/* ---- Much of it ---- */

struct storm {
	pthread_t thread;
	uint32_t number;
	uint64_t calls;
};

static void *rage(void *argument)
{
	const struct storm *storm = argument;

	for (uint64_t i = 0; i < storm->calls; i++) {
		struct fake_call call = {
			.function = FAKE_TOUCH, .thread = storm->number, .sequence = i};

		if (tool())
			tool()->enter(&call);
		leave(&call, FAKE_OK);
	}
	return NULL;
}

static int storm(uint32_t threads, uint64_t calls)
{
	struct storm *storms = calloc(threads ? threads : 1, sizeof(*storms));
	uint32_t started = 0;

	if (!storms || threads > THREADS_MAX) {
		free(storms);
		return FAKE_ERROR_NO_MEMORY;
	}
	for (; started < threads; started++) {
		storms[started].number = started;
		storms[started].calls = calls;
		if (pthread_create(&storms[started].thread, NULL, rage,
				   &storms[started]) != 0)
			break;
	}
	for (uint32_t i = 0; i < started; i++)
		pthread_join(storms[i].thread, NULL);
	free(storms);
	return started == threads ? FAKE_OK : FAKE_ERROR_NO_MEMORY;
}

/* splitmix64 */
static uint64_t draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#define KERNEL_COUNT 8u

/* Kernels with names of 8 to 1000 bytes. */
static int make_kernels(struct fake_kernel **kernels)
{
	for (uint32_t i = 0; i < KERNEL_COUNT; i++) {
		const uint64_t grid[3] = {64u << i, i + 1, 1}, block[3] = {32, 1, 1};
		char name[1024];
		size_t size = (size_t)snprintf(name, sizeof(name), "kernel_%u", i);

		for (; i >= KERNEL_COUNT / 2 && size < 125u * (i + 1); size++)
			name[size] = "<float, 4>"[size % 10];
		kernels[i] = make_kernel(name, size, grid, block);
		if (!kernels[i])
			return FAKE_ERROR_NO_MEMORY;
	}
	return FAKE_OK;
}

static void work_once(struct fake_kernel *const *kernels, uint64_t number, uint64_t dice)
{
	struct fake_kernel *kernel = kernels[dice >> 8 & (KERNEL_COUNT - 1)];
	const uint32_t queue = dice >> 16 & 1;
	const uint64_t ns = 1000 + (dice >> 20 & 0x3fff);
	char text[64];

	switch (dice % 20) {
	case 0:
		wait_for(queue);
		return;
	case 1:
		sample();
		return;
	case 2:
		note(text,
		     (size_t)snprintf(text, sizeof(text), "step %llu of the \"work\"",
				      (unsigned long long)number));
		return;
	case 3:
		fence(queue, !queue);
		return;
	case 4:
		launch_graph(queue, kernel, 2 + (dice >> 40 & 3), ns);
		return;
	case 5:
		launch(FAKE_QUEUE_COUNT, kernel, ns); /* refused: no such queue */
		return;
	case 6:
	case 7:
	case 8:
		copy(queue, dice >> 44 & 3, dice >> 32 & 0xfffff, ns);
		return;
	default:
		launch(queue, kernel, ns);
	}
}

static int work(uint64_t count, uint64_t seed)
{
	struct fake_kernel *kernels[KERNEL_COUNT];

	if (make_kernels(kernels) != FAKE_OK)
		return FAKE_ERROR_NO_MEMORY;
	for (uint64_t i = 0; i < count; i++)
		work_once(kernels, i, draw(&seed));
	return FAKE_OK;
}

const struct fake_api fake_device_api = {
	.struct_size = sizeof(fake_device_api),
	.queue_count = FAKE_QUEUE_COUNT,
	.kernel = make_kernel,
	.launch = launch,
	.launch_graph = launch_graph,
	.copy = copy,
	.fence = fence,
	.wait = wait_for,
	.note = note,
	.sample = sample,
	.storm = storm,
	.work = work,
};

const struct fake_api *fake_api_v1(void)
{
	return &fake_device_api;
}
