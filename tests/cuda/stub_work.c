/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver that stands in: modules, launches, copies, sets and graphs. Copies move
 * bytes at the launch; kernels do nothing, and take as long as the scenario says. */
#include "stub_driver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT STUB_API

/* From a launch to the device's begin. */
#define LATENCY_NS 2000

static pthread_mutex_t submit_lock = PTHREAD_MUTEX_INITIALIZER;

/* With the lock held. */
static void run(const struct stub_call *call, CUstream stream, struct stub_work *work)
{
	uint64_t soonest = stub_now() + LATENCY_NS;
	int takes_time = work->kind != STUB_EVENT;

	work->device = stream->context->device;
	work->context = stream->context->id;
	work->stream = stream->id;
	work->begin = stream->last_end > soonest ? stream->last_end : soonest;
	work->end = work->begin + (takes_time ? stub_driver.duration : 0);
	stream->last_end = work->end;
	stub_driver.counts.work[work->kind]++;
	if (call->tool)
		call->tool->work(call, work);
}

CUresult stub_submit(const struct stub_call *call, CUstream stream,
		     struct stub_work *work)
{
	CUstream used = stub_stream(stream);
	CUresult result = CUDA_SUCCESS;

	if (!used)
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&submit_lock);
	if (!used->capture) {
		run(call, used, work);
	} else if (used->capture->count == STUB_GRAPH_NODES) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		work->graph = used->capture->id;
		work->node = ((uint64_t)work->graph << 32) + used->capture->count;
		used->capture->nodes[used->capture->count++] = *work;
	}
	pthread_mutex_unlock(&submit_lock);
	return result;
}

void stub_synchronize(const struct stub_call *call, enum stub_sync_kind kind,
		      CUstream stream, uint32_t event, uint64_t end)
{
	CUcontext context = stub_context();
	struct stub_sync sync = {
		.kind = kind,
		.context = context ? context->id : 0,
		.stream = stream ? stream->id
				 : UINT32_MAX, /* CUPTI_SYNCHRONIZATION_INVALID_VALUE */
		.event = event ? event : UINT32_MAX,
		.begin = stub_now(),
	};
	struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	sync.end = stub_now();
	pthread_mutex_lock(&submit_lock);
	stub_driver.counts.syncs++;
	pthread_mutex_unlock(&submit_lock);
	if (call->tool)
		call->tool->sync(call, &sync);
}

/* ---- Modules and kernels ---- */

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	STUB_BEGIN(call);
	(void)image;
	*module = calloc(1, sizeof(**module));
	return stub_end(&call, *module ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

/* Names that kernels in flight still have live as long as the process, as the real ones
 * do. */
EXPORT CUresult cuModuleUnload(CUmodule module)
{
	STUB_BEGIN(call);
	free(module);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
				    const char *name)
{
	STUB_BEGIN(call);
	size_t size = strlen(name) + 1;
	CUfunction new = malloc(sizeof(*new) + size);

	if (!new)
		return stub_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	memcpy(new->name, name, size);
	new->next = module->functions;
	module->functions = new;
	*function = new;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x,
			       unsigned int grid_y, unsigned int grid_z,
			       unsigned int block_x, unsigned int block_y,
			       unsigned int block_z, unsigned int shared_memory,
			       CUstream stream, void **parameters, void **extra)
{
	STUB_BEGIN(call);
	struct stub_work work = {
		.kind = STUB_KERNEL,
		.name = function->name,
		.grid = {grid_x, grid_y, grid_z},
		.block = {block_x, block_y, block_z},
		.shared_memory = shared_memory,
	};

	(void)parameters, (void)extra;
	if (block_x * block_y * block_z > 1024)
		return stub_end(&call, CUDA_ERROR_INVALID_VALUE);
	return stub_end(&call, stub_submit(&call, stream, &work));
}

/* ---- Copies and sets ---- */

static CUresult copy(struct stub_call *call, CUstream stream, void *to, const void *from,
		     struct stub_work work)
{
	CUresult result = stub_submit(call, stream, &work);

	if (result == CUDA_SUCCESS)
		memmove(to, from, work.bytes);
	return stub_end(call, result);
}

EXPORT CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
				  CUstream stream)
{
	STUB_BEGIN(call);
	return copy(&call, stream, (void *)(uintptr_t)to, from,
		    (struct stub_work){.kind = STUB_COPY,
				       .bytes = size,
				       .from = STUB_PINNED,
				       .to = STUB_DEVICE_MEMORY});
}

EXPORT CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size,
				  CUstream stream)
{
	STUB_BEGIN(call);
	return copy(&call, stream, to, (const void *)(uintptr_t)from,
		    (struct stub_work){.kind = STUB_COPY,
				       .bytes = size,
				       .from = STUB_DEVICE_MEMORY,
				       .to = STUB_PAGEABLE});
}

EXPORT CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
				  CUstream stream)
{
	STUB_BEGIN(call);
	return copy(&call, stream, (void *)(uintptr_t)to, (const void *)(uintptr_t)from,
		    (struct stub_work){.kind = STUB_COPY,
				       .bytes = size,
				       .from = STUB_DEVICE_MEMORY,
				       .to = STUB_DEVICE_MEMORY});
}

EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
				  CUcontext from_context, size_t size, CUstream stream)
{
	STUB_BEGIN(call);
	return copy(&call, stream, (void *)(uintptr_t)to, (const void *)(uintptr_t)from,
		    (struct stub_work){.kind = STUB_PEER,
				       .bytes = size,
				       .from = STUB_DEVICE_MEMORY,
				       .to = STUB_DEVICE_MEMORY,
				       .from_device = from_context->device,
				       .from_context = from_context->id,
				       .to_device = to_context->device,
				       .to_context = to_context->id});
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr memory, unsigned int value, size_t number,
				 CUstream stream)
{
	STUB_BEGIN(call);
	struct stub_work work = {.kind = STUB_SET, .bytes = number * 4, .value = value};
	uint32_t *words = (uint32_t *)(uintptr_t)memory;

	for (size_t i = 0; i < number; i++)
		words[i] = value;
	return stub_end(&call, stub_submit(&call, stream, &work));
}

/* ---- Graphs ---- */

EXPORT CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	STUB_BEGIN(call);
	(void)mode;
	if (!stream || stream->capture)
		return stub_end(&call, CUDA_ERROR_INVALID_VALUE);
	stream->capture = calloc(1, sizeof(*stream->capture));
	if (!stream->capture)
		return stub_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	stream->capture->id = stub_next_object();
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	STUB_BEGIN(call);
	*graph = stream->capture;
	stream->capture = NULL;
	return stub_end(&call, *graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
					    unsigned long long flags)
{
	STUB_BEGIN(call);
	(void)flags;
	*executable = malloc(sizeof(**executable));
	if (!*executable)
		return stub_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	(*executable)->graph = *graph;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream)
{
	STUB_BEGIN(call);
	const struct CUgraph_st *graph = &executable->graph;
	CUstream used = stub_stream(stream);
	struct stub_work whole = {.kind = STUB_GRAPH, .graph = graph->id};
	uint64_t duration = stub_driver.duration;

	if (!used)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	pthread_mutex_lock(&submit_lock);
	stub_driver.duration *= graph->count;
	run(&call, used, &whole);
	stub_driver.duration = duration;
	used->last_end = whole.begin;
	for (uint32_t i = 0; i < graph->count; i++) {
		struct stub_work node = graph->nodes[i];

		run(&call, used, &node);
	}
	pthread_mutex_unlock(&submit_lock);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec executable)
{
	STUB_BEGIN(call);
	free(executable);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
	STUB_BEGIN(call);
	free(graph);
	return stub_end(&call, CUDA_SUCCESS);
}
