/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP runtime that does no work: it starts a tool as OMPT says, and then whoever
 * includes this calls the tool's callbacks in whatever order, also in wrong ones.
 */
#ifndef KYMO_TESTS_OPENMP_FAKE_RUNTIME_H
#define KYMO_TESTS_OPENMP_FAKE_RUNTIME_H

#include "ompt.h"

#define FAKE_EVENT_COUNT 40

/* What the tool has registered, by event; NULL: nothing, or it was refused. */
extern ky_ompt_function fake_callbacks[FAKE_EVENT_COUNT];

/*
 * Loads the tool and starts it. `never` lists the events that the runtime does not have,
 * ends with 0; NULL: it has all. Ends the program where the tool cannot be started.
 */
void fake_start(const char *plugin, const int *never);

/* Calls the event's callback, if there is one. */
#define FAKE(event, type, ...)                                      \
	do {                                                        \
		if (fake_callbacks[event])                          \
			((type)fake_callbacks[event])(__VA_ARGS__); \
	} while (0)

#define THREAD_BEGIN(...) FAKE(KY_OMPT_THREAD_BEGIN, ky_ompt_thread_begin, __VA_ARGS__)
#define THREAD_END(...)   FAKE(KY_OMPT_THREAD_END, ky_ompt_thread_end, __VA_ARGS__)
#define PARALLEL_BEGIN(...) \
	FAKE(KY_OMPT_PARALLEL_BEGIN, ky_ompt_parallel_begin, __VA_ARGS__)
#define PARALLEL_END(...)  FAKE(KY_OMPT_PARALLEL_END, ky_ompt_parallel_end, __VA_ARGS__)
#define IMPLICIT_TASK(...) FAKE(KY_OMPT_IMPLICIT_TASK, ky_ompt_implicit_task, __VA_ARGS__)
#define TASK_CREATE(...)   FAKE(KY_OMPT_TASK_CREATE, ky_ompt_task_create, __VA_ARGS__)
#define TASK_SCHEDULE(...) FAKE(KY_OMPT_TASK_SCHEDULE, ky_ompt_task_schedule, __VA_ARGS__)
#define WORK(...)          FAKE(KY_OMPT_WORK, ky_ompt_work, __VA_ARGS__)
#define MASKED(...)        FAKE(KY_OMPT_MASKED, ky_ompt_masked, __VA_ARGS__)
#define SYNC(...)          FAKE(KY_OMPT_SYNC_REGION, ky_ompt_sync_region, __VA_ARGS__)
#define WAIT(...)          FAKE(KY_OMPT_SYNC_REGION_WAIT, ky_ompt_sync_region, __VA_ARGS__)
#define ACQUIRE(...)       FAKE(KY_OMPT_MUTEX_ACQUIRE, ky_ompt_mutex_acquire, __VA_ARGS__)
#define ACQUIRED(...)      FAKE(KY_OMPT_MUTEX_ACQUIRED, ky_ompt_mutex, __VA_ARGS__)
#define DEVICE(...) \
	FAKE(KY_OMPT_DEVICE_INITIALIZE, ky_ompt_device_initialize, __VA_ARGS__)
#define TARGET_EMI(...) FAKE(KY_OMPT_TARGET_EMI, ky_ompt_target_emi, __VA_ARGS__)
#define DATA_EMI(...) \
	FAKE(KY_OMPT_TARGET_DATA_OP_EMI, ky_ompt_target_data_op_emi, __VA_ARGS__)
#define SUBMIT_EMI(...) \
	FAKE(KY_OMPT_TARGET_SUBMIT_EMI, ky_ompt_target_submit_emi, __VA_ARGS__)
#define TARGET(...) FAKE(KY_OMPT_TARGET, ky_ompt_target, __VA_ARGS__)
#define DATA(...)   FAKE(KY_OMPT_TARGET_DATA_OP, ky_ompt_target_data_op, __VA_ARGS__)
#define SUBMIT(...) FAKE(KY_OMPT_TARGET_SUBMIT, ky_ompt_target_submit, __VA_ARGS__)

#define BEGIN KY_OMPT_SCOPE_BEGIN
#define END   KY_OMPT_SCOPE_END

#endif
