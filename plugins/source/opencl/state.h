/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the whole plug-in shares: the host it speaks to, the numbers the host gave, and
 * whether anything is to be recorded. There is one of it, since the functions that
 * OpenCL calls have no room for a pointer of ours.
 *
 * Locks of this plug-in are leaves: none is held while OpenCL or the gate's slow path is
 * called, since both may call back into the program, which may call OpenCL again.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_STATE_H
#define KYMO_PLUGINS_SOURCE_OPENCL_STATE_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdint.h>

#include <kymo/plugin.h>

#include "call.h"

enum ky_key {
	KY_KEY_BYTES,
	KY_KEY_BANDWIDTH,
	KY_KEY_QUEUED,
	KY_KEY_SUBMITTED,
	KY_KEY_CONTEXT,
	KY_KEY_GLOBAL_SIZE,
	KY_KEY_LOCAL_SIZE,
	KY_KEY_GLOBAL_OFFSET,
	KY_KEY_FUNCTION,
	KY_KEY_ERROR,
	KY_KEY_VENDOR,
	KY_KEY_DRIVER_VERSION,
	KY_KEY_OPENCL_VERSION,
	KY_KEY_COMPUTE_UNITS,
	KY_KEY_CLOCK_FREQUENCY,
	KY_KEY_GLOBAL_MEMORY,
	KY_KEY_LOCAL_MEMORY,
	KY_KEY_WORK_GROUP_SIZE,
	KY_KEY_COUNT,
};

struct ky_state {
	const struct kymo_host *host; /* NULL: nobody attached us, wrap nothing */
	struct kymo_source_host *source;
	/* Between start and stop and not paused. Stored after all that it stands for. */
	atomic_uint recording;
	atomic_uint epoch; /* of the session, 0 before the first */
	atomic_ullong last_correlation;
	atomic_size_t pending_limit; /* commands that may wait for their times at once */
	atomic_uint may_wait_at_exit;
	atomic_int process_id; /* whose state this is; see ky_state_is_inherited */
	uint8_t is_wanted[KY_TYPE_COUNT];
	const uint16_t *type, *key; /* by enum ky_type and enum ky_key */
	uint16_t domain;
	uint32_t function_name[KY_CALL_COUNT], command_name[KY_CALL_COUNT];
};

extern struct ky_state ky_state;

/* Opens every point. Never call it with a lock held: the gate may call back (forked). */
static inline int ky_state_is_recording(void)
{
	return kymo_host_is_on(ky_state.host) &&
	       atomic_load_explicit(&ky_state.recording, memory_order_acquire);
}

/*
 * Tells whether this is a child of fork() in which `forked` was not called, because
 * nothing is recorded here. Locks may be held for ever by threads that do not exist
 * here and the pending events are the parent's: leave both alone. One system call.
 */
int ky_state_is_inherited(void);

/* A kernel was seen to be complete; the first time decides about the exit. */
void ky_state_kernel_done(void);

/* A value for an attribute set: one number, or up to 64 of an array by reference. */
struct kymo_value ky_value_number(enum ky_key key, uint64_t number);
struct kymo_value ky_value_text(enum ky_key key, const char *text);
struct kymo_value ky_value_array(enum ky_key key, const uint64_t *numbers,
				 uint32_t count);

/*
 * Our tables. Never asked of kymo_plugin_entry_v1(): among libraries that were loaded for
 * all to see, that name may be another plug-in's.
 */
extern const struct kymo_plugin ky_opencl_plugin;

#endif
