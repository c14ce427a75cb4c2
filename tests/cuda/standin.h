/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcupti that stands in for the vendor's. It is compiled once for each major, against
 * the headers of that major, so the layouts in its records are the vendor's own; it knows
 * nothing of the plug-in's declarations of them.
 *
 * One lock guards all of it. It is held while the tool's "buffer requested" runs, as
 * CUPTI's may be, and not while "buffer completed" does.
 */
#ifndef KYMO_TESTS_CUDA_STANDIN_H
#define KYMO_TESTS_CUDA_STANDIN_H

#include <cupti.h>
#include <pthread.h>
#include <stdint.h>

#include "stub.h"

/* The newest layouts that this major hands out. */
#if CUPTI_API_VERSION >= 130100
typedef CUpti_ActivityKernel11 standin_kernel; /* and longer ones, which begin like it */
typedef CUpti_ActivityMemcpy6 standin_memcpy;
#elif CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 standin_kernel;
typedef CUpti_ActivityMemcpy6 standin_memcpy;
#elif CUPTI_API_VERSION >= 19
typedef CUpti_ActivityKernel9 standin_kernel;
typedef CUpti_ActivityMemcpy6 standin_memcpy;
#else
typedef CUpti_ActivityKernel8 standin_kernel;
typedef CUpti_ActivityMemcpy5 standin_memcpy;
#endif
#if CUPTI_API_VERSION >= 19
#define STANDIN_HAS_12 1
typedef CUpti_ActivityDevice5 standin_device;
typedef CUpti_ActivityContext3 standin_context;
typedef CUpti_ActivitySynchronization2 standin_sync;
typedef CUpti_ActivityCudaEvent2 standin_event;
typedef CUpti_ActivityOverhead3 standin_overhead;
typedef CUpti_ActivityGraphTrace2 standin_graph;
typedef CUpti_ActivityUnifiedMemoryCounter3 standin_uvm;
#else
#define STANDIN_HAS_12 0
typedef CUpti_ActivityDevice4 standin_device;
typedef CUpti_ActivityContext standin_context;
typedef CUpti_ActivitySynchronization standin_sync;
typedef CUpti_ActivityCudaEvent standin_event;
typedef CUpti_ActivityOverhead standin_overhead;
typedef CUpti_ActivityGraphTrace standin_graph;
typedef CUpti_ActivityUnifiedMemoryCounter2 standin_uvm;
#endif
typedef CUpti_ActivityMemcpyPtoP4 standin_peer;
typedef CUpti_ActivityMemset4 standin_set;

enum {
	STANDIN_KINDS = 64,
	/* A kind that nobody knows: this, and the size of the record. */
	STANDIN_UNKNOWN_KIND = 0x10000,
};

/* Host records and those of the device fill buffers of their own. */
enum standin_queue { STANDIN_HOST, STANDIN_DEVICE, STANDIN_QUEUES };

/* What went over the border, for the report and for the tests. */
struct standin_counts {
	uint64_t written[STANDIN_KINDS],
		unknown;  /* records in buffers that were delivered */
	uint64_t cut_off; /* in delivered buffers, but behind a cut */
	uint64_t dropped, requested, refused, delivered, late, misaligned;
};

/* What becomes of a driver's call inside one of the runtime: the vendor does not say. */
enum standin_nested {
	STANDIN_NESTED_HIDDEN, /* nothing is told of it */
	STANDIN_NESTED_SAME,   /* it has the correlation of the outer one */
	STANDIN_NESTED_OWN,    /* it has one of its own, and so has what it launches */
};

/* The scenario's lines that begin with "cupti". */
struct standin_faults {
	struct standin_fault {
		char function[64];
		int32_t code, hangs_ms, only; /* only: for this first argument, or -1 */
	} calls[16];
	uint32_t call_count;
	uint32_t zero, reversed, endless, nameless, drop; /* the next so many kernels */
	uint32_t cut; /* the so manieth buffer that is delivered */
	uint32_t hold, disorder, late_ms;
	enum standin_nested nested;
	int64_t skew_ns;
	char subscriber[64];
};

struct standin {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint8_t enabled[STANDIN_KINDS];
	uint32_t next_correlation, latency_timestamps, thread_id_type;
	CUpti_TimestampCallbackFunc timestamp;
	int64_t device_offset; /* of our time from the driver's */
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	uint32_t flush_period_ms;
	CUpti_CallbackFunc callback;
	void *callback_data;
	uint8_t domains[CUPTI_CB_DOMAIN_SIZE];
	uint8_t calls[CUPTI_CB_DOMAIN_SIZE][1024];
	struct standin_counts counts;
	struct standin_faults faults;
};

extern struct standin standin;

/* ---- standin.c ---- */

/* For the first line of each entry point: attaches to the driver; the scenario may say
 * no. */
CUptiResult standin_enter(const char *function, int64_t argument);
CUptiResult standin_enter_without_driver(const char *function, int64_t argument);
CUptiResult standin_result(CUptiResult result);
uint64_t standin_now(void);
/* From now on the driver tells what happens. */
void standin_attach(void);

#define STANDIN_ENTER(argument)                                                     \
	do {                                                                        \
		CUptiResult entered = standin_enter(__func__, (int64_t)(argument)); \
                                                                                    \
		if (entered != CUPTI_SUCCESS)                                       \
			return entered;                                             \
	} while (0)
#define STANDIN_ENTER_ANYWHERE(argument)                                             \
	do {                                                                         \
		CUptiResult entered =                                                \
			standin_enter_without_driver(__func__, (int64_t)(argument)); \
                                                                                     \
		if (entered != CUPTI_SUCCESS)                                        \
			return entered;                                              \
	} while (0)

/* ---- standin_faults.c ---- */

void standin_read_faults(void);
void standin_write_report(void);

/* ---- standin_call.c ---- */

extern const struct stub_tool standin_tool;
void standin_drop_subscriber(void);

/* ---- standin_buffer.c ---- */

/* Room for a record, zeroed, to be filled before the lock is let go; NULL and counted as
 * dropped where there is none. With the lock held. */
void *standin_reserve(enum standin_queue queue, size_t size);

/* ---- standin_record.c ---- */

size_t standin_record_size(uint32_t kind);
/*
 * The times of a record of the device, which may lie in the future; 0 for another record.
 */
int standin_device_times(CUpti_Activity *record, uint64_t **begin, uint64_t **end);
void standin_write_call(const struct stub_call *call, uint64_t end);
void standin_write_work(const struct stub_call *call, const struct stub_work *work);
void standin_write_sync(const struct stub_call *call, const struct stub_sync *sync);
void standin_write_object(const struct stub_object *object);
void standin_write_words(char **words, int count);

/* ---- standin_name.c ---- */

uint32_t standin_call_number(enum stub_api api, const char *name);

#endif
