/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of a pretended accelerator, which knows nothing of Kymo: what stands here
 * in place of your vendor's. It has two engines, one for jobs and one for copies, and a
 * clock of its own. The first part is for programs, the second for profiling tools.
 */
#ifndef NPU_H
#define NPU_H

#include <stddef.h>
#include <stdint.h>

/* ---- For programs ---- */

/* Each is done when the work `after` (0: none) is; returns a ticket for it. */
uint64_t npu_run(const char *job, uint64_t ns, uint64_t after);
uint64_t npu_copy(uint64_t bytes, uint64_t after);
void npu_wait(uint64_t ticket);

/* ---- For tools ---- */

#define NPU_ENGINE_JOBS   0
#define NPU_ENGINE_COPIES 1
#define NPU_ENGINE_COUNT  2

#define NPU_CLOCK_HZ 19200000 /* ticks a second, as the data sheet says */

/* A call of a program, given at its begin and at its end. */
struct npu_call {
	const char *function;
	uint64_t ticket; /* what it made, at the end, or what it waits for */
	uint64_t after;
	uint64_t begin; /* the tool's */
};

/* Work that is done. Times are ticks of the device. */
struct npu_work {
	int engine;
	uint64_t ticket;
	const char *name;
	uint64_t bytes; /* of a copy */
	uint64_t submitted, begin, end;
};

/* What a tool gives. Called in the program's threads, with no lock held. */
struct npu_tool {
	void (*enter)(struct npu_call *call);
	void (*leave)(struct npu_call *call);
	void (*done)(const struct npu_work *work);
};

/* What a tool is given. */
struct npu_services {
	uint64_t (*ticks)(void); /* of the device's clock, now */
	void (*deliver)(void);   /* says of all that is done that it is */
	void (*sensors)(double *watts, double *celsius);
};

/*
 * A tool is a shared object that exports npu_tool_attach. The runtime loads the one that
 * the variable NPU_TOOL names, at a program's first call; NULL: it does not want to.
 */
#define NPU_TOOL_VARIABLE "NPU_TOOL"
#define NPU_TOOL_ATTACH   "npu_tool_attach"
typedef const struct npu_tool *(*npu_tool_attach_fn)(const struct npu_services *services);

#endif
