/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this plug-in uses of OMPT, the tool interface of OpenMP 5.0 to 5.2, written from
 * the specification, so that no compiler's header is needed. Its enumerations are passed
 * as int. tests/openmp/layout.c holds all of it against omp-tools.h.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_OMPT_H
#define KYMO_PLUGINS_SOURCE_OPENMP_OMPT_H

#include <stddef.h>
#include <stdint.h>

/* A word that the runtime keeps for the tool, zero at first. */
union ky_ompt_data {
	uint64_t value;
	void *pointer;
};

typedef void (*ky_ompt_function)(void);
typedef ky_ompt_function (*ky_ompt_lookup)(const char *name);
typedef int (*ky_ompt_set_callback)(int event, ky_ompt_function callback);

struct ky_ompt_start_tool_result {
	int (*initialize)(ky_ompt_lookup lookup, int initial_device_num,
			  union ky_ompt_data *tool_data);
	void (*finalize)(union ky_ompt_data *tool_data);
	union ky_ompt_data tool_data;
};

/* ---- Events ---- */

#define KY_OMPT_THREAD_BEGIN       1
#define KY_OMPT_THREAD_END         2
#define KY_OMPT_PARALLEL_BEGIN     3
#define KY_OMPT_PARALLEL_END       4
#define KY_OMPT_TASK_CREATE        5
#define KY_OMPT_TASK_SCHEDULE      6
#define KY_OMPT_IMPLICIT_TASK      7
#define KY_OMPT_TARGET             8
#define KY_OMPT_TARGET_DATA_OP     9
#define KY_OMPT_TARGET_SUBMIT      10
#define KY_OMPT_DEVICE_INITIALIZE  12
#define KY_OMPT_SYNC_REGION_WAIT   16
#define KY_OMPT_WORK               20
#define KY_OMPT_MASKED             21
#define KY_OMPT_SYNC_REGION        23
#define KY_OMPT_MUTEX_ACQUIRE      26
#define KY_OMPT_MUTEX_ACQUIRED     27
#define KY_OMPT_REDUCTION          31
#define KY_OMPT_TARGET_EMI         33
#define KY_OMPT_TARGET_DATA_OP_EMI 34
#define KY_OMPT_TARGET_SUBMIT_EMI  35

/* What ompt_set_callback answers. */
#define KY_OMPT_SET_ERROR            0
#define KY_OMPT_SET_NEVER            1
#define KY_OMPT_SET_IMPOSSIBLE       2
#define KY_OMPT_SET_SOMETIMES        3
#define KY_OMPT_SET_SOMETIMES_PAIRED 4
#define KY_OMPT_SET_ALWAYS           5

/* ---- Arguments ---- */

#define KY_OMPT_THREAD_INITIAL 1
#define KY_OMPT_THREAD_WORKER  2

#define KY_OMPT_SCOPE_BEGIN    1
#define KY_OMPT_SCOPE_END      2
#define KY_OMPT_SCOPE_BEGINEND 3

#define KY_OMPT_SYNC_BARRIER                    1
#define KY_OMPT_SYNC_BARRIER_IMPLICIT           2
#define KY_OMPT_SYNC_BARRIER_EXPLICIT           3
#define KY_OMPT_SYNC_BARRIER_IMPLEMENTATION     4
#define KY_OMPT_SYNC_TASKWAIT                   5
#define KY_OMPT_SYNC_TASKGROUP                  6
#define KY_OMPT_SYNC_REDUCTION                  7
#define KY_OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE 8
#define KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL  9
#define KY_OMPT_SYNC_BARRIER_TEAMS              10

#define KY_OMPT_WORK_LOOP            1
#define KY_OMPT_WORK_SECTIONS        2
#define KY_OMPT_WORK_SINGLE_EXECUTOR 3
#define KY_OMPT_WORK_SINGLE_OTHER    4
#define KY_OMPT_WORK_WORKSHARE       5
#define KY_OMPT_WORK_DISTRIBUTE      6
#define KY_OMPT_WORK_TASKLOOP        7
#define KY_OMPT_WORK_SCOPE           8

#define KY_OMPT_MUTEX_LOCK           1
#define KY_OMPT_MUTEX_TEST_LOCK      2
#define KY_OMPT_MUTEX_NEST_LOCK      3
#define KY_OMPT_MUTEX_TEST_NEST_LOCK 4
#define KY_OMPT_MUTEX_CRITICAL       5
#define KY_OMPT_MUTEX_ATOMIC         6
#define KY_OMPT_MUTEX_ORDERED        7

#define KY_OMPT_TASK_INITIAL    0x00000001
#define KY_OMPT_TASK_IMPLICIT   0x00000002
#define KY_OMPT_TASK_EXPLICIT   0x00000004
#define KY_OMPT_TASK_TARGET     0x00000008
#define KY_OMPT_TASK_UNDEFERRED 0x08000000

#define KY_OMPT_TASK_COMPLETE          1
#define KY_OMPT_TASK_YIELD             2
#define KY_OMPT_TASK_CANCEL            3
#define KY_OMPT_TASK_DETACH            4
#define KY_OMPT_TASK_EARLY_FULFILL     5
#define KY_OMPT_TASK_LATE_FULFILL      6
#define KY_OMPT_TASK_SWITCH            7
#define KY_OMPT_TASK_TASKWAIT_COMPLETE 8

#define KY_OMPT_TARGET_REGION      1
#define KY_OMPT_TARGET_ENTER_DATA  2
#define KY_OMPT_TARGET_EXIT_DATA   3
#define KY_OMPT_TARGET_UPDATE      4
#define KY_OMPT_TARGET_NOWAIT_FLAG 8 /* added to each of these */

#define KY_OMPT_DATA_ALLOC        1
#define KY_OMPT_DATA_TO_DEVICE    2
#define KY_OMPT_DATA_FROM_DEVICE  3
#define KY_OMPT_DATA_DELETE       4
#define KY_OMPT_DATA_ASSOCIATE    5
#define KY_OMPT_DATA_DISASSOCIATE 6
#define KY_OMPT_DATA_ASYNC_FLAG   16 /* added to the first four */

/* ---- Callbacks ---- */

typedef void (*ky_ompt_thread_begin)(int type, union ky_ompt_data *thread);
typedef void (*ky_ompt_thread_end)(union ky_ompt_data *thread);
typedef void (*ky_ompt_parallel_begin)(union ky_ompt_data *encountering_task,
				       const void *frame, union ky_ompt_data *parallel,
				       unsigned int requested, int flags,
				       const void *code);
typedef void (*ky_ompt_parallel_end)(union ky_ompt_data *parallel,
				     union ky_ompt_data *encountering_task, int flags,
				     const void *code);
typedef void (*ky_ompt_implicit_task)(int endpoint, union ky_ompt_data *parallel,
				      union ky_ompt_data *task, unsigned int actual,
				      unsigned int index, int flags);
typedef void (*ky_ompt_task_create)(union ky_ompt_data *encountering_task,
				    const void *frame, union ky_ompt_data *created,
				    int flags, int has_dependences, const void *code);
typedef void (*ky_ompt_task_schedule)(union ky_ompt_data *prior, int prior_status,
				      union ky_ompt_data *next);
typedef void (*ky_ompt_work)(int kind, int endpoint, union ky_ompt_data *parallel,
			     union ky_ompt_data *task, uint64_t count, const void *code);
typedef void (*ky_ompt_masked)(int endpoint, union ky_ompt_data *parallel,
			       union ky_ompt_data *task, const void *code);
typedef void (*ky_ompt_sync_region)(int kind, int endpoint, union ky_ompt_data *parallel,
				    union ky_ompt_data *task, const void *code);
typedef void (*ky_ompt_mutex_acquire)(int kind, unsigned int hint, unsigned int impl,
				      uint64_t wait_id, const void *code);
typedef void (*ky_ompt_mutex)(int kind, uint64_t wait_id, const void *code);

typedef void (*ky_ompt_device_initialize)(int device, const char *type, void *handle,
					  ky_ompt_lookup lookup,
					  const char *documentation);
typedef void (*ky_ompt_target_emi)(int kind, int endpoint, int device,
				   union ky_ompt_data *task,
				   union ky_ompt_data *target_task,
				   union ky_ompt_data *target, const void *code);
typedef void (*ky_ompt_target)(int kind, int endpoint, int device,
			       union ky_ompt_data *task, uint64_t target_id,
			       const void *code);
typedef void (*ky_ompt_target_data_op_emi)(int endpoint, union ky_ompt_data *target_task,
					   union ky_ompt_data *target,
					   uint64_t *host_op_id, int operation,
					   void *source, int source_device,
					   void *destination, int destination_device,
					   size_t bytes, const void *code);
typedef void (*ky_ompt_target_data_op)(uint64_t target_id, uint64_t host_op_id,
				       int operation, void *source, int source_device,
				       void *destination, int destination_device,
				       size_t bytes, const void *code);
typedef void (*ky_ompt_target_submit_emi)(int endpoint, union ky_ompt_data *target,
					  uint64_t *host_op_id, unsigned int teams);
typedef void (*ky_ompt_target_submit)(uint64_t target_id, uint64_t host_op_id,
				      unsigned int teams);

#endif
