/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pretended accelerator. Nothing is computed: when work comes in, its times are made
 * up, and it is done when they are over.
 */
#include "npu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORK_MAX     1024 /* not delivered yet; what is more is not told */
#define COPY_GB_S    4
#define LATENCY_NS   5000 /* from a call until the engine begins, if it is free */
#define FIRST_TICK   0x40000000u
#define NS_PER_S     1000000000u
#define TICKS(ns)    ((ns) * (NPU_CLOCK_HZ / 100000) / (NS_PER_S / 100000))
#define NS_OF(ticks) ((ticks) * (NS_PER_S / 100000) / (NPU_CLOCK_HZ / 100000))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct npu_tool *tool;
static struct npu_work work[WORK_MAX];
static size_t work_count;
static uint64_t last_ticket, engine_free[NPU_ENGINE_COUNT];
static uint64_t ends[WORK_MAX]; /* by ticket, for those who wait */

static uint64_t ticks(void)
{
	struct timespec now;

	/* Not the host's: it drifts against CLOCK_MONOTONIC as a real one would. */
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return FIRST_TICK +
	       TICKS((uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec);
}

/* Outside of the lock, since the tool may call us. */
static void deliver(void)
{
	struct npu_work done;

	do {
		const uint64_t now = ticks();
		size_t i = 0;

		done.ticket = 0;
		pthread_mutex_lock(&lock);
		while (i < work_count && work[i].end > now)
			i++;
		if (i < work_count) {
			done = work[i];
			work[i] = work[--work_count];
		}
		pthread_mutex_unlock(&lock);
		if (done.ticket && tool)
			tool->done(&done);
	} while (done.ticket);
}

static void sensors(double *watts, double *celsius)
{
	pthread_mutex_lock(&lock);
	*watts = 5 + (engine_free[NPU_ENGINE_JOBS] > ticks() ? 40 : 0);
	*celsius = 41.5;
	pthread_mutex_unlock(&lock);
}

static void load_tool(void)
{
	static const struct npu_services services = {ticks, deliver, sensors};
	const char *path = getenv(NPU_TOOL_VARIABLE);
	void *object = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = object ? dlsym(object, NPU_TOOL_ATTACH) : NULL;
	npu_tool_attach_fn attach;

	if (!symbol)
		return;
	memcpy(&attach, &symbol, sizeof(attach));
	tool = attach(&services);
}

static struct npu_call enter(const char *function, uint64_t ticket, uint64_t after)
{
	struct npu_call call = {.function = function, .ticket = ticket, .after = after};

	pthread_once(&once, load_tool);
	if (tool)
		tool->enter(&call);
	return call;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void submit(struct npu_call *call, struct npu_work item, uint64_t ns)
{
	pthread_mutex_lock(&lock);
	item.ticket = ++last_ticket;
	item.submitted = ticks();
	item.begin = later(item.submitted + TICKS(LATENCY_NS), engine_free[item.engine]);
	if (call->after)
		item.begin = later(item.begin, ends[call->after % WORK_MAX]);
	item.end = item.begin + TICKS(ns);
	engine_free[item.engine] = ends[item.ticket % WORK_MAX] = item.end;
	if (tool && work_count < WORK_MAX)
		work[work_count++] = item;
	pthread_mutex_unlock(&lock);
	call->ticket = item.ticket;
	if (tool)
		tool->leave(call);
}

uint64_t npu_run(const char *job, uint64_t ns, uint64_t after)
{
	struct npu_call call = enter("npu_run", 0, after);

	submit(&call, (struct npu_work){.engine = NPU_ENGINE_JOBS, .name = job}, ns);
	return call.ticket;
}

uint64_t npu_copy(uint64_t bytes, uint64_t after)
{
	struct npu_call call = enter("npu_copy", 0, after);

	submit(&call,
	       (struct npu_work){
		       .engine = NPU_ENGINE_COPIES, .name = "copy", .bytes = bytes},
	       bytes / COPY_GB_S);
	return call.ticket;
}

void npu_wait(uint64_t ticket)
{
	struct npu_call call = enter("npu_wait", ticket, 0);
	uint64_t end;

	pthread_mutex_lock(&lock);
	end = ends[ticket % WORK_MAX];
	pthread_mutex_unlock(&lock);
	for (uint64_t now = ticks(); now < end; now = ticks()) {
		const uint64_t ns = NS_OF(end - now) + 1;

		nanosleep(&(struct timespec){(time_t)(ns / NS_PER_S),
					     (long)(ns % NS_PER_S)},
			  NULL);
	}
	deliver();
	if (tool)
		tool->leave(&call);
}
