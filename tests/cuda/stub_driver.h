/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of the driver that stands in: what the handles of cuda.h point at. */
#ifndef KYMO_TESTS_CUDA_STUB_DRIVER_H
#define KYMO_TESTS_CUDA_STUB_DRIVER_H

#include <cuda.h>

#include "stub.h"

enum { STUB_GRAPH_NODES = 64, STUB_MAX_DEVICES = 8, STUB_MAX_STREAMS = 256 };

struct CUgraph_st {
	uint32_t id, count;
	struct stub_work nodes[STUB_GRAPH_NODES];
};

struct CUgraphExec_st {
	struct CUgraph_st graph;
};

struct CUstream_st {
	uint32_t id, is_used;
	CUcontext context;
	uint64_t last_end;
	CUgraph capture; /* not NULL while it is being captured into */
};

/* The primary one of a device; the null stream has CUPTI's number for it, 7. */
struct CUctx_st {
	uint32_t id, device, references;
	struct CUstream_st streams[STUB_MAX_STREAMS];
};

struct CUevent_st {
	uint32_t id;
	uint64_t end;
};

struct CUfunc_st {
	struct CUfunc_st *next;
	char name[];
};

struct CUmod_st {
	CUfunction functions;
};

struct stub_driver {
	uint32_t is_ready, version, device_count;
	int pid;
	uint32_t next_object; /* numbers of streams, events, graphs and nodes */
	uint64_t duration;
	struct CUctx_st contexts[STUB_MAX_DEVICES];
	struct stub_counts counts;
};

extern struct stub_driver stub_driver;

uint64_t stub_now(void);
uint32_t stub_next_object(void);
/* The driver can be used here: cuInit was called, in this process. */
CUresult stub_ready(void);
/* The calling thread's context, or NULL. */
CUcontext stub_context(void);
/* The context's null stream for NULL; NULL where there is no context. */
CUstream stub_stream(CUstream stream);

/* Waits for the stream's commands, or the event; tells the tool. */
void stub_synchronize(const struct stub_call *call, enum stub_sync_kind kind,
		      CUstream stream, uint32_t event, uint64_t end);

/*
 * Queues a command: it begins when the stream's last one has ended, and is told to the
 * tool; in a stream that is being captured it becomes a node. The kind and what belongs
 * to it is given.
 */
CUresult stub_submit(const struct stub_call *call, CUstream stream,
		     struct stub_work *work);

/*
 * Begins the call of the function around it; stub_end() ends it and returns its result.
 */
#define STUB_BEGIN(call_name)                                                \
	struct stub_call call_name = {.api = STUB_DRIVER, .name = __func__}; \
	CUresult call_name##_ready = stub_ready();                           \
                                                                             \
	if (call_name##_ready != CUDA_SUCCESS)                               \
		return call_name##_ready;                                    \
	stub_enter(&call_name)

CUresult stub_end(struct stub_call *call, CUresult result);

#endif
