/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a record of CUPTI costs the cuda source: buffers as the vendor fills them go
 * through the whole of it, from "completed" to the host's memory. Beside it the floor of
 * the hot path, one record handed to the host, in the same process and in turns.
 *
 *     floor           one line through the host table
 *     kernel          32 kernels in turn with names of 300 characters, all metadata known
 *     kernel_shapes   the same, each launch of another grid, all of them seen before
 *     kernel_new      each launch of a grid never seen before, for ever
 *     graph_kernel    kernels of a graph: with a node, and when they were queued
 *     copy, call      copies with bandwidth; calls of the runtime
 *
 * The vendor's walk from record to record is not part of it: here it is an addition.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kymo/kymo.h>

#include "buffer.h"

#define ROUNDS_MAX   64
#define BUFFER_SIZE  ((size_t)1 << 20)
#define RECORD_COUNT 4000u
#define NAMES        32u

/* As large as CUPTI 13.0 has them. */
#define KERNEL_SIZE 216u
#define COPY_SIZE   96u
#define CALL_SIZE   40u
#define DEVICE_SIZE 184u

static unsigned int rounds = 15;
static uint8_t *image; /* the buffer as the vendor fills it */
static size_t image_size, record_size;
static uint64_t now;
static char names[NAMES][304];

static void must(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "cuda_decode: cannot %s: %s\n", what, error->message);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- A CUPTI that does nothing but walk ---- */

static int32_t succeed(void)
{
	return CUPTI_RC_SUCCESS;
}

static int32_t succeed_for(uint32_t kind)
{
	(void)kind;
	return CUPTI_RC_SUCCESS;
}

static int32_t get_timestamp(uint64_t *time)
{
	*time = now_ns();
	return CUPTI_RC_SUCCESS;
}

static int32_t get_callback_name(uint32_t domain, uint32_t cbid, const char **name)
{
	(void)domain, (void)cbid;
	*name = "cudaLaunchKernel_v7000";
	return CUPTI_RC_SUCCESS;
}

static int32_t subscribe(void **subscriber, cupti_callback_fn callback, void *user)
{
	(void)callback, (void)user;
	*subscriber = image;
	return CUPTI_RC_SUCCESS;
}

static int32_t unsubscribe(void *subscriber)
{
	(void)subscriber;
	return CUPTI_RC_SUCCESS;
}

static int32_t register_callbacks(cupti_request_fn request, cupti_complete_fn complete)
{
	(void)request, (void)complete;
	return CUPTI_RC_SUCCESS;
}

static int32_t register_clock(cupti_timestamp_fn clock)
{
	(void)clock;
	return CUPTI_RC_SUCCESS;
}

static int32_t count_dropped(void *context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	*dropped = 0;
	return CUPTI_RC_SUCCESS;
}

static int32_t next_record(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + record_size : buffer;

	if (at >= buffer + size)
		return CUPTI_RC_MAX_LIMIT_REACHED;
	*record = (struct cupti_record *)(void *)at;
	return CUPTI_RC_SUCCESS;
}

static void install_library(void)
{
	struct ky_library *library = &ky_source.library;

	library->handle = dlopen(NULL, RTLD_LAZY); /* in which there is nothing */
	library->version = CUPTI_SINCE_13_0 + 1;
	library->GetTimestamp = get_timestamp;
	library->GetCallbackName = get_callback_name;
	library->Subscribe = subscribe;
	library->Unsubscribe = unsubscribe;
	library->SetThreadIdType = succeed_for;
	library->ActivityRegisterCallbacks = register_callbacks;
	library->ActivityRegisterTimestampCallback = register_clock;
	library->ActivityEnable = library->ActivityDisable = succeed_for;
	library->ActivityFlushAll = succeed_for;
	library->ActivityGetNextRecord = next_record;
	library->ActivityGetNumDroppedRecords = count_dropped;
	library->Finalize = succeed;
}

/* ---- What is decoded ---- */

static void *add_record(size_t size)
{
	void *record = image + image_size;

	record_size = size;
	image_size += size;
	return record;
}

static struct cupti_kernel *add_kernel(unsigned int i)
{
	struct cupti_kernel *kernel = add_record(KERNEL_SIZE);

	*kernel = (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registers_per_thread = (uint16_t)(32 + i % NAMES),
		.start = now + i * 10,
		.end = now + i * 10 + 8,
		.context_id = 1,
		.stream_id = 7 + i % 4,
		.grid_x = 64 + (int32_t)(i % NAMES),
		.grid_y = 1,
		.grid_z = 1,
		.block_x = 256,
		.block_y = 1,
		.block_z = 1,
		.static_shared = 1024,
		.dynamic_shared = 256,
		.correlation_id = 1 + i,
		.name = names[i % NAMES],
		.channel_id = 3,
		.cluster_x = 1,
		.cluster_y = 1,
		.cluster_z = 1,
	};
	kernel->channel_type = CUPTI_CHANNEL_COMPUTE;
	return kernel;
}

static void fill_kernel(unsigned int i)
{
	add_kernel(i);
}

static void fill_shapes(unsigned int i)
{
	add_kernel(i)->grid_y = 1 + (int32_t)i;
}

static void fill_new(unsigned int i)
{
	static int32_t last = 1 << 20;

	add_kernel(i)->grid_y = ++last;
}

static void fill_graph(unsigned int i)
{
	struct cupti_kernel *kernel = add_kernel(i);

	kernel->graph_node_id = (uint64_t)1 << 40 | i;
	kernel->graph_id = 5;
	kernel->queued = kernel->start - 4;
	kernel->submitted = kernel->start - 2;
}

static void fill_copy(unsigned int i)
{
	*(struct cupti_memcpy *)add_record(COPY_SIZE) = (struct cupti_memcpy){
		.kind = CUPTI_KIND_MEMCPY,
		.copy_kind = CUPTI_COPY_HTOD,
		.src_kind = CUPTI_MEMORY_PINNED,
		.dst_kind = CUPTI_MEMORY_DEVICE,
		.bytes = 4096 + i,
		.start = now + i * 10,
		.end = now + i * 10 + 8,
		.context_id = 1,
		.stream_id = 7,
		.correlation_id = 1 + i,
	};
}

static void fill_call(unsigned int i)
{
	*(struct cupti_api *)add_record(CALL_SIZE) = (struct cupti_api){
		.kind = CUPTI_KIND_RUNTIME,
		.cbid = 211,
		.start = now + i * 10,
		.end = now + i * 10 + 8,
		.thread_id = 77 + i % 4,
		.correlation_id = 1 + i,
	};
}

/* Hands the image over; the ns that took. */
static uint64_t hand_over(void)
{
	uint8_t *buffer = NULL;
	size_t size = 0, limit = 0;
	uint64_t begin;

	ky_buffer_requested(&buffer, &size, &limit);
	if (!buffer || size < image_size) {
		fprintf(stderr, "cuda_decode: no buffer\n");
		exit(1);
	}
	memcpy(buffer, image, image_size);
	begin = now_ns();
	ky_buffer_completed(NULL, 0, buffer, size, image_size);
	return now_ns() - begin;
}

static void tell_of_device(void)
{
	image_size = 0;
	*(struct cupti_device *)add_record(DEVICE_SIZE) = (struct cupti_device){
		.kind = CUPTI_KIND_DEVICE,
		.compute_major = 9,
		.multiprocessors = 132,
		.threads_per_warp = 32,
		.max_warps_per_sm = 64,
		.max_blocks_per_sm = 32,
		.max_registers_per_sm = 65536,
		.max_registers_per_block = 65536,
		.max_shared_per_sm = 233472,
		.max_threads_per_block = 1024,
		.name = "bench",
	};
	hand_over();
}

/* ns per record: the first buffer of a session is not timed, it brings the names. */
static double run_decoder(void (*fill)(unsigned int))
{
	uint64_t ns;

	tell_of_device();
	image_size = 0;
	now = now_ns();
	for (unsigned int i = 0; i < RECORD_COUNT; i++)
		fill(i);
	hand_over();
	if (fill == fill_new) {
		image_size = 0;
		for (unsigned int i = 0; i < RECORD_COUNT; i++)
			fill(i);
	}
	ns = hand_over();
	return (double)ns / RECORD_COUNT;
}

static double run_floor(void)
{
	union kymo_line line = {.record = {.kind = KYMO_KIND_SPAN, .lines = 1}};
	uint64_t begin;

	line.record.type = ky_source.numbers->types[KY_TYPE_KERNEL];
	begin = now_ns();
	for (unsigned int i = 0; i < RECORD_COUNT; i++) {
		line.record.begin = line.record.end = begin + i;
		ky_source.host->emit(ky_source.self, &line, 1);
	}
	return (double)(now_ns() - begin) / RECORD_COUNT;
}

static double run(void (*fill)(unsigned int))
{
	struct kymo_session *session = NULL;
	struct kymo_error error;
	double ns;

	must(kymo_session_create(&session, NULL, &error), "create", &error);
	must(kymo_session_start(session, &error), "start", &error);
	run_floor(); /* first chunks, lease */
	ns = fill ? run_decoder(fill) : run_floor();
	must(kymo_session_stop(session, &error), "stop", &error);
	kymo_session_destroy(session);
	return ns;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*fill)(unsigned int);
	} cases[] = {
		{"cuda_floor", NULL},
		{"cuda_kernel", fill_kernel},
		{"cuda_kernel_shapes", fill_shapes},
		{"cuda_graph_kernel", fill_graph},
		{"cuda_copy", fill_copy},
		{"cuda_call", fill_call},
		{"cuda_kernel_new", fill_new},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	static double ns[CASES][ROUNDS_MAX];
	const struct kymo_host *table;
	struct kymo_error error;

	if (getenv("KYMO_BENCH_QUICK"))
		rounds = 3;
	image = aligned_alloc(4096, BUFFER_SIZE);
	if (!image)
		return 1;
	for (unsigned int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "%0299u_%u", 0, i);
	install_library();
	must(kymo_agent_attach_v1(&ky_cuda_plugin, &table, &error), "attach", &error);
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < CASES; i++)
			ns[i][round] = run(cases[i].fill);
	for (size_t i = 0; i < CASES; i++)
		qsort(ns[i], rounds, sizeof(ns[i][0]), compare);
	for (size_t i = 0; i < CASES; i++)
		printf("{\"bench\": \"%s\", \"ns\": %.2f, \"min_ns\": %.2f, "
		       "\"ratio_to_floor\": %.3f, \"rounds\": %u, \"records\": %u}\n",
		       cases[i].name, ns[i][rounds / 2], ns[i][0],
		       ns[i][rounds / 2] / ns[0][rounds / 2], rounds, RECORD_COUNT);
	return 0;
}
