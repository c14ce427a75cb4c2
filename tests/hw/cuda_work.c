/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA work of known counts, through the driver's calls alone, for tests/hw/cuda.sh. It
 * needs neither headers nor a compiler of CUDA: the driver is loaded, and compiles the
 * kernels, which are PTX that every GPU since Maxwell takes.
 *
 *   cuda_work            does the work once, checks its results, prints what it was as
 * JSON cuda_work launches N launches N empty kernels, prints the nanoseconds of a launch
 *
 * Exits with 77 and says why where there is no driver or no GPU.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	COUNT = 1 << 20,
	LAUNCHES = 100, /* on each stream */
	STREAMS = 2,
	GRAPH_KERNELS = 5,
	GRAPH_LAUNCHES = 20,
	SKIP = 77,
	CAPTURE_MODE_GLOBAL = 0,
};

#define BYTES ((size_t)COUNT * sizeof(float))

static const char ptx[] = ".version 6.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param "
			  ".f32 a, .param .u32 n)\n"
			  "{\n"
			  ".reg .pred %p;\n"
			  ".reg .b32 %r<5>;\n"
			  ".reg .f32 %f<4>;\n"
			  ".reg .b64 %d<5>;\n"
			  "mov.u32 %r1, %ctaid.x;\n"
			  "mov.u32 %r2, %ntid.x;\n"
			  "mov.u32 %r3, %tid.x;\n"
			  "mad.lo.s32 %r1, %r1, %r2, %r3;\n"
			  "ld.param.u32 %r4, [n];\n"
			  "setp.ge.u32 %p, %r1, %r4;\n"
			  "@%p bra DONE;\n"
			  "ld.param.u64 %d1, [x];\n"
			  "ld.param.u64 %d2, [y];\n"
			  "ld.param.f32 %f1, [a];\n"
			  "cvta.to.global.u64 %d1, %d1;\n"
			  "cvta.to.global.u64 %d2, %d2;\n"
			  "mul.wide.u32 %d3, %r1, 4;\n"
			  "add.s64 %d1, %d1, %d3;\n"
			  "add.s64 %d2, %d2, %d3;\n"
			  "ld.global.f32 %f2, [%d1];\n"
			  "ld.global.f32 %f3, [%d2];\n"
			  "fma.rn.f32 %f3, %f1, %f2, %f3;\n"
			  "st.global.f32 [%d2], %f3;\n"
			  "DONE:\n"
			  "ret;\n"
			  "}\n"
			  ".visible .entry nothing()\n"
			  "{\n"
			  "ret;\n"
			  "}\n";

/* Handles are pointers, device memory is a number of 64 bits, in all versions of the
 * driver. */
#define CALLS(X)                                                                         \
	X(Init, cuInit, (unsigned int))                                                  \
	X(DeviceGetCount, cuDeviceGetCount, (int *))                                     \
	X(DeviceGetName, cuDeviceGetName, (char *, int, int))                            \
	X(CanAccessPeer, cuDeviceCanAccessPeer, (int *, int, int))                       \
	X(Retain, cuDevicePrimaryCtxRetain, (void **, int))                              \
	X(SetCurrent, cuCtxSetCurrent, (void *))                                         \
	X(Synchronize, cuCtxSynchronize, (void))                                         \
	X(LoadData, cuModuleLoadData, (void **, const void *))                           \
	X(GetFunction, cuModuleGetFunction, (void **, void *, const char *))             \
	X(Launch, cuLaunchKernel,                                                        \
	  (void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	   unsigned int, unsigned int, void *, void **, void **))                        \
	X(Alloc, cuMemAlloc_v2, (uint64_t *, size_t))                                    \
	X(Free, cuMemFree_v2, (uint64_t))                                                \
	X(AllocHost, cuMemAllocHost_v2, (void **, size_t))                               \
	X(CopyTo, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))        \
	X(CopyFrom, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))            \
	X(CopyOn, cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *))            \
	X(CopyPeer, cuMemcpyPeerAsync,                                                   \
	  (uint64_t, void *, uint64_t, void *, size_t, void *))                          \
	X(Set, cuMemsetD32Async, (uint64_t, unsigned int, size_t, void *))               \
	X(StreamCreate, cuStreamCreate, (void **, unsigned int))                         \
	X(StreamSynchronize, cuStreamSynchronize, (void *))                              \
	X(StreamWait, cuStreamWaitEvent, (void *, void *, unsigned int))                 \
	X(BeginCapture, cuStreamBeginCapture_v2, (void *, int))                          \
	X(EndCapture, cuStreamEndCapture, (void *, void **))                             \
	X(Instantiate, cuGraphInstantiateWithFlags,                                      \
	  (void **, void *, unsigned long long))                                         \
	X(GraphLaunch, cuGraphLaunch, (void *, void *))                                  \
	X(EventCreate, cuEventCreate, (void **, unsigned int))                           \
	X(EventRecord, cuEventRecord, (void *, void *))                                  \
	X(EventSynchronize, cuEventSynchronize, (void *))

#define MEMBER(name, symbol, parameters) int(*name) parameters;
static struct {
	CALLS(MEMBER)
} cu;

static void *streams[STREAMS], *saxpy, *nothing;

#define MUST(call) must((call), #call)

static void must(int result, const char *call)
{
	if (result == 0)
		return;
	fprintf(stderr, "%s: error %d\n", call, result);
	exit(1);
}

static void skip(const char *reason)
{
	printf("skip: %s\n", reason);
	exit(SKIP);
}

static void load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int count = 0;

	if (!library)
		skip("there is no driver for NVIDIA GPUs (libcuda.so.1)");
#define FIND(name, symbol, parameters)                              \
	*(void **)&cu.name = dlsym(library, #symbol);               \
	if (!cu.name) {                                             \
		fprintf(stderr, "the driver has no %s\n", #symbol); \
		exit(1);                                            \
	}
	CALLS(FIND)
	if (cu.Init(0) != 0 || cu.DeviceGetCount(&count) != 0 || count == 0)
		skip("the driver finds no GPU");
}

static void run_saxpy(uint64_t x, uint64_t y, void *stream)
{
	float a = 2;
	unsigned int n = COUNT;
	void *parameters[] = {&x, &y, &a, &n};

	MUST(cu.Launch(saxpy, COUNT / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

/* On each stream: set, copy there, kernels, copy on the device and back. y = launches * 2
 * * x. */
static int run_streams(const uint64_t *x, const uint64_t *y, const uint64_t *z,
		       float *host)
{
	int right = 1;
	void *event;

	MUST(cu.EventCreate(&event, 0));
	for (int s = 0; s < STREAMS; s++) {
		for (int i = 0; i < COUNT; i++)
			host[i] = (float)(i % 100);
		MUST(cu.Set(y[s], 0, COUNT, streams[s]));
		MUST(cu.CopyTo(x[s], host, BYTES, streams[s]));
		for (int i = 0; i < LAUNCHES; i++)
			run_saxpy(x[s], y[s], streams[s]);
		MUST(cu.CopyOn(z[s], y[s], BYTES, streams[s]));
		MUST(cu.EventRecord(event, streams[s]));
		MUST(cu.StreamWait(streams[(s + 1) % STREAMS], event, 0));
		MUST(cu.EventSynchronize(event));
		MUST(cu.CopyFrom(host, z[s], BYTES, streams[s]));
		MUST(cu.StreamSynchronize(streams[s]));
		for (int i = 0; i < COUNT; i++)
			right &= host[i] == (float)(i % 100) * 2 * LAUNCHES;
	}
	return right;
}

static void run_graph(uint64_t x, uint64_t y)
{
	void *graph, *executable;

	MUST(cu.BeginCapture(streams[0], CAPTURE_MODE_GLOBAL));
	for (int i = 0; i < GRAPH_KERNELS; i++)
		run_saxpy(x, y, streams[0]);
	MUST(cu.EndCapture(streams[0], &graph));
	MUST(cu.Instantiate(&executable, graph, 0));
	for (int i = 0; i < GRAPH_LAUNCHES; i++)
		MUST(cu.GraphLaunch(executable, streams[0]));
	MUST(cu.Synchronize());
}

/* From device 0 to device 1 where there are two; returns how many copies that was. */
static int copy_to_peer(void *context, uint64_t from)
{
	void *peer;
	uint64_t to;
	int count = 0, can = 0;

	MUST(cu.DeviceGetCount(&count));
	if (count > 1)
		MUST(cu.CanAccessPeer(&can, 0, 1));
	if (!can)
		return 0;
	MUST(cu.Retain(&peer, 1));
	MUST(cu.SetCurrent(peer));
	MUST(cu.Alloc(&to, BYTES));
	MUST(cu.SetCurrent(context));
	MUST(cu.CopyPeer(to, peer, from, context, BYTES, streams[0]));
	MUST(cu.Synchronize());
	return 1;
}

static void work(void *context)
{
	uint64_t x[STREAMS], y[STREAMS], z[STREAMS];
	char name[256] = "";
	int peers, right;
	void *host;

	MUST(cu.DeviceGetName(name, sizeof(name), 0));
	MUST(cu.AllocHost(&host, BYTES));
	for (int s = 0; s < STREAMS; s++) {
		MUST(cu.Alloc(&x[s], BYTES));
		MUST(cu.Alloc(&y[s], BYTES));
		MUST(cu.Alloc(&z[s], BYTES));
	}
	right = run_streams(x, y, z, host);
	run_graph(x[0], y[0]);
	peers = copy_to_peer(context, x[0]);
	printf("{\"device\": \"%s\", \"results\": %d, \"launches\": %d, \"kernels\": %d, "
	       "\"graph_launches\": %d, \"graph_kernels\": %d, \"copies\": %d, \"sets\": "
	       "%d, "
	       "\"peers\": %d, \"bytes\": %zu, \"waits\": %d}\n",
	       name, right, LAUNCHES * STREAMS,
	       LAUNCHES * STREAMS + GRAPH_KERNELS * GRAPH_LAUNCHES, GRAPH_LAUNCHES,
	       GRAPH_KERNELS * GRAPH_LAUNCHES, 3 * STREAMS, STREAMS, peers, BYTES,
	       2 * STREAMS);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The least of some batches, each short enough not to fill the driver's queue. */
static void time_launches(long count)
{
	enum { BATCH = 500 };
	uint64_t least = UINT64_MAX;

	for (long i = 0; i < count; i += BATCH) {
		uint64_t begin = now(), took;

		for (int k = 0; k < BATCH; k++)
			MUST(cu.Launch(nothing, 1, 1, 1, 1, 1, 1, 0, streams[0], NULL,
				       NULL));
		took = (now() - begin) / BATCH;
		MUST(cu.Synchronize());
		least = took < least ? took : least;
	}
	printf("%llu\n", (unsigned long long)least);
}

int main(int argc, char **argv)
{
	void *context, *module;

	load();
	MUST(cu.Retain(&context, 0));
	MUST(cu.SetCurrent(context));
	MUST(cu.LoadData(&module, ptx));
	MUST(cu.GetFunction(&saxpy, module, "saxpy"));
	MUST(cu.GetFunction(&nothing, module, "nothing"));
	for (int s = 0; s < STREAMS; s++)
		MUST(cu.StreamCreate(&streams[s], 0));
	if (argc > 2 && strcmp(argv[1], "launches") == 0)
		time_launches(strtol(argv[2], NULL, 0));
	else
		work(context);
	return 0;
}
