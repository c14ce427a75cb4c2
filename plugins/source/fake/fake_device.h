/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pretend vendor: a device with two queues and a clock of its own. It knows nothing
 * of Kymo. The first part is for programs that use the device, the second for a tool that
 * wants to know what it does: what a real vendor's profiling interface would be.
 *
 * Nothing runs on the device: when a launch is handed in, its times are made up. All may
 * be called from any thread.
 */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_FAKE_DEVICE_H
#define KYMO_PLUGINS_SOURCE_FAKE_FAKE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_QUEUE_COUNT 2u

#define FAKE_OK              0
#define FAKE_ERROR_NO_QUEUE  (-1)
#define FAKE_ERROR_NO_MEMORY (-2)

/* ---- For programs ---- */

#define FAKE_HOST_TO_DEVICE   0u
#define FAKE_DEVICE_TO_HOST   1u
#define FAKE_DEVICE_TO_DEVICE 2u
#define FAKE_DIRECTION_COUNT  3u

/* A kernel; lives as long as the process. */
struct fake_kernel {
	const char *name;
	size_t name_size;
	uint64_t grid[3], block[3];
	_Atomic uint64_t tool; /* for whatever the tool remembers of it; initially 0 */
};

struct fake_api {
	uint32_t struct_size;
	uint32_t queue_count;
	/* NULL: no memory. The name is copied. */
	struct fake_kernel *(*kernel)(const char *name, size_t name_size,
				      const uint64_t grid[3], const uint64_t block[3]);
	/* Each takes `ns` on the device, after what its queue has to do already. */
	int (*launch)(uint32_t queue, struct fake_kernel *kernel, uint64_t ns);
	/* One launch of `count` kernels. */
	int (*launch_graph)(uint32_t queue, struct fake_kernel *kernel, uint32_t count,
			    uint64_t ns);
	int (*copy)(uint32_t queue, uint32_t direction, uint64_t bytes, uint64_t ns);
	/* What is launched next on `queue` begins after all that `other` has to do. */
	int (*fence)(uint32_t queue, uint32_t other);
	/* Until the queue has nothing to do. */
	int (*wait)(uint32_t queue);
	void (*note)(const char *text, size_t size);
	void (*sample)(void);
	/*
	 * `threads` threads make `calls` calls each, as fast as they can. Each call has
	 * the thread's number and, from 0, its own in that thread.
	 */
	int (*storm)(uint32_t threads, uint64_t calls);
	/* `count` calls of all sorts in the calling thread, the same ones for a seed. */
	int (*work)(uint64_t count, uint64_t seed);
};

/* The one symbol that a program looks up. */
#define FAKE_API_SYMBOL "fake_api_v1"
typedef const struct fake_api *(*fake_api_fn)(void);
__attribute__((visibility("default"))) const struct fake_api *fake_api_v1(void);

/* ---- For a tool ---- */

enum fake_function {
	FAKE_LAUNCH,
	FAKE_LAUNCH_GRAPH,
	FAKE_COPY,
	FAKE_FENCE,
	FAKE_WAIT,
	FAKE_TOUCH, /* what storms are made of */
	FAKE_FUNCTION_COUNT,
};

/* A call that a program makes. */
struct fake_call {
	enum fake_function function;
	int error; /* FAKE_ERROR_*, when it leaves */
	uint32_t thread;
	uint64_t sequence;    /* FAKE_TOUCH: which of its thread's calls */
	uint64_t correlation; /* the tool's, given at enter; 0: do not report what it does
			       */
	uint64_t begin;       /* the tool's; initially 0 */
};

enum fake_work { FAKE_WORK_KERNEL, FAKE_WORK_COPY };
enum fake_progress { FAKE_WAITING, FAKE_RUNNING, FAKE_FINISHED };

/* Something that the device has done. */
struct fake_activity {
	enum fake_work work;
	uint32_t queue;
	uint32_t node; /* which of the kernels of one launch */
	uint32_t direction;
	enum fake_progress progress; /* what is running ends now; waiting: no times */
	uint64_t queued, begin, end; /* device ticks */
	uint64_t correlation;
	uint64_t waited_for; /* the correlation of what a fence made it wait for, or 0 */
	uint64_t bytes;
	struct fake_kernel *kernel;
};

#define FAKE_LOAD_COUNT 5u

struct fake_load {
	uint64_t time; /* device ticks */
	double busy[FAKE_QUEUE_COUNT];
	uint64_t memory, launches;
	int64_t temperature;
};

/* Called in the thread that uses the device, with no lock held. */
struct fake_tool {
	void (*enter)(struct fake_call *call);
	void (*leave)(struct fake_call *call);
	void (*polled)(
		struct fake_call *call); /* a wait has looked and goes on waiting */
	/* What the device has done, in batches; `dropped` more did not fit anywhere. */
	void (*done)(const struct fake_activity *activities, size_t count,
		     uint64_t dropped);
	void (*note)(const char *text, size_t size);
	void (*load)(const struct fake_load *load);
};

/* Ticks of `rate` and `ppm` millionths a second, the low `bits` of them. */
struct fake_clock {
	uint64_t rate;
	int64_t ppm;
	uint64_t offset;
	uint32_t bits;
};

/* What fake_api_v1() gives, without the detour by a name that others may have as well. */
extern const struct fake_api fake_device_api;

/* Static; for the life of the process. */
void fake_device_set_tool(const struct fake_tool *tool);
void fake_device_set_clock(const struct fake_clock *clock);
uint64_t fake_device_ticks(void);

/* Hands over what has ended. */
void fake_device_deliver(void);
/* Waits until CLOCK_MONOTONIC says `deadline_ns` or nothing runs; hands over all. */
void fake_device_finish(uint64_t deadline_ns);
/* In a forked child: an idle device, whatever the parent was doing. */
void fake_device_forked(void);

const char *fake_function_name(enum fake_function function);

#endif
