/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our declarations of OMPT against those of a compiler (omp-tools.h), where there is one.
 * It is enough that this compiles.
 */
#include <kymo/base.h>
#include <omp-tools.h>

#include "ompt.h"

#define EQUAL(ours, theirs) KYMO_STATIC_ASSERT((long)(ours) == (long)(theirs))

EQUAL(KY_OMPT_THREAD_BEGIN, ompt_callback_thread_begin);
EQUAL(KY_OMPT_THREAD_END, ompt_callback_thread_end);
EQUAL(KY_OMPT_PARALLEL_BEGIN, ompt_callback_parallel_begin);
EQUAL(KY_OMPT_PARALLEL_END, ompt_callback_parallel_end);
EQUAL(KY_OMPT_TASK_CREATE, ompt_callback_task_create);
EQUAL(KY_OMPT_TASK_SCHEDULE, ompt_callback_task_schedule);
EQUAL(KY_OMPT_IMPLICIT_TASK, ompt_callback_implicit_task);
EQUAL(KY_OMPT_TARGET, ompt_callback_target);
EQUAL(KY_OMPT_TARGET_DATA_OP, ompt_callback_target_data_op);
EQUAL(KY_OMPT_TARGET_SUBMIT, ompt_callback_target_submit);
EQUAL(KY_OMPT_DEVICE_INITIALIZE, ompt_callback_device_initialize);
EQUAL(KY_OMPT_SYNC_REGION_WAIT, ompt_callback_sync_region_wait);
EQUAL(KY_OMPT_WORK, ompt_callback_work);
EQUAL(KY_OMPT_MASKED, ompt_callback_masked);
EQUAL(KY_OMPT_SYNC_REGION, ompt_callback_sync_region);
EQUAL(KY_OMPT_MUTEX_ACQUIRE, ompt_callback_mutex_acquire);
EQUAL(KY_OMPT_MUTEX_ACQUIRED, ompt_callback_mutex_acquired);
EQUAL(KY_OMPT_REDUCTION, ompt_callback_reduction);
EQUAL(KY_OMPT_TARGET_EMI, ompt_callback_target_emi);
EQUAL(KY_OMPT_TARGET_DATA_OP_EMI, ompt_callback_target_data_op_emi);
EQUAL(KY_OMPT_TARGET_SUBMIT_EMI, ompt_callback_target_submit_emi);
EQUAL(KY_OMPT_SET_ERROR, ompt_set_error);
EQUAL(KY_OMPT_SET_NEVER, ompt_set_never);
EQUAL(KY_OMPT_SET_IMPOSSIBLE, ompt_set_impossible);
EQUAL(KY_OMPT_SET_SOMETIMES, ompt_set_sometimes);
EQUAL(KY_OMPT_SET_SOMETIMES_PAIRED, ompt_set_sometimes_paired);
EQUAL(KY_OMPT_SET_ALWAYS, ompt_set_always);
EQUAL(KY_OMPT_THREAD_INITIAL, ompt_thread_initial);
EQUAL(KY_OMPT_THREAD_WORKER, ompt_thread_worker);
EQUAL(KY_OMPT_SCOPE_BEGIN, ompt_scope_begin);
EQUAL(KY_OMPT_SCOPE_END, ompt_scope_end);
EQUAL(KY_OMPT_SYNC_BARRIER_EXPLICIT, ompt_sync_region_barrier_explicit);
EQUAL(KY_OMPT_SYNC_BARRIER_IMPLEMENTATION, ompt_sync_region_barrier_implementation);
EQUAL(KY_OMPT_SYNC_TASKWAIT, ompt_sync_region_taskwait);
EQUAL(KY_OMPT_SYNC_TASKGROUP, ompt_sync_region_taskgroup);
EQUAL(KY_OMPT_SYNC_REDUCTION, ompt_sync_region_reduction);
EQUAL(KY_OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE,
      ompt_sync_region_barrier_implicit_workshare);
EQUAL(KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL, ompt_sync_region_barrier_implicit_parallel);
EQUAL(KY_OMPT_SYNC_BARRIER_TEAMS, ompt_sync_region_barrier_teams);
EQUAL(KY_OMPT_WORK_LOOP, ompt_work_loop);
EQUAL(KY_OMPT_WORK_SECTIONS, ompt_work_sections);
EQUAL(KY_OMPT_WORK_SINGLE_EXECUTOR, ompt_work_single_executor);
EQUAL(KY_OMPT_WORK_SINGLE_OTHER, ompt_work_single_other);
EQUAL(KY_OMPT_WORK_WORKSHARE, ompt_work_workshare);
EQUAL(KY_OMPT_WORK_DISTRIBUTE, ompt_work_distribute);
EQUAL(KY_OMPT_WORK_TASKLOOP, ompt_work_taskloop);
EQUAL(KY_OMPT_WORK_SCOPE, ompt_work_scope);
EQUAL(KY_OMPT_MUTEX_LOCK, ompt_mutex_lock);
EQUAL(KY_OMPT_MUTEX_TEST_LOCK, ompt_mutex_test_lock);
EQUAL(KY_OMPT_MUTEX_NEST_LOCK, ompt_mutex_nest_lock);
EQUAL(KY_OMPT_MUTEX_TEST_NEST_LOCK, ompt_mutex_test_nest_lock);
EQUAL(KY_OMPT_MUTEX_CRITICAL, ompt_mutex_critical);
EQUAL(KY_OMPT_MUTEX_ATOMIC, ompt_mutex_atomic);
EQUAL(KY_OMPT_MUTEX_ORDERED, ompt_mutex_ordered);
EQUAL(KY_OMPT_TASK_INITIAL, ompt_task_initial);
EQUAL(KY_OMPT_TASK_IMPLICIT, ompt_task_implicit);
EQUAL(KY_OMPT_TASK_EXPLICIT, ompt_task_explicit);
EQUAL(KY_OMPT_TASK_TARGET, ompt_task_target);
EQUAL(KY_OMPT_TASK_COMPLETE, ompt_task_complete);
EQUAL(KY_OMPT_TASK_YIELD, ompt_task_yield);
EQUAL(KY_OMPT_TASK_CANCEL, ompt_task_cancel);
EQUAL(KY_OMPT_TASK_DETACH, ompt_task_detach);
EQUAL(KY_OMPT_TASK_EARLY_FULFILL, ompt_task_early_fulfill);
EQUAL(KY_OMPT_TASK_LATE_FULFILL, ompt_task_late_fulfill);
EQUAL(KY_OMPT_TASK_SWITCH, ompt_task_switch);
EQUAL(KY_OMPT_TASK_TASKWAIT_COMPLETE, ompt_taskwait_complete);
EQUAL(KY_OMPT_TARGET_REGION, ompt_target);
EQUAL(KY_OMPT_TARGET_ENTER_DATA, ompt_target_enter_data);
EQUAL(KY_OMPT_TARGET_EXIT_DATA, ompt_target_exit_data);
EQUAL(KY_OMPT_TARGET_UPDATE, ompt_target_update);
EQUAL(KY_OMPT_DATA_ALLOC, ompt_target_data_alloc);
EQUAL(KY_OMPT_DATA_TO_DEVICE, ompt_target_data_transfer_to_device);
EQUAL(KY_OMPT_DATA_FROM_DEVICE, ompt_target_data_transfer_from_device);
EQUAL(KY_OMPT_DATA_DELETE, ompt_target_data_delete);
EQUAL(KY_OMPT_DATA_ASSOCIATE, ompt_target_data_associate);
EQUAL(KY_OMPT_DATA_DISASSOCIATE, ompt_target_data_disassociate);
EQUAL(KY_OMPT_TARGET_REGION + KY_OMPT_TARGET_NOWAIT_FLAG, ompt_target_nowait);
EQUAL(KY_OMPT_TARGET_UPDATE + KY_OMPT_TARGET_NOWAIT_FLAG, ompt_target_update_nowait);
EQUAL(KY_OMPT_DATA_ALLOC + KY_OMPT_DATA_ASYNC_FLAG, ompt_target_data_alloc_async);
EQUAL(KY_OMPT_DATA_DELETE + KY_OMPT_DATA_ASYNC_FLAG, ompt_target_data_delete_async);

EQUAL(sizeof(union ky_ompt_data), sizeof(ompt_data_t));
EQUAL(sizeof(struct ky_ompt_start_tool_result), sizeof(ompt_start_tool_result_t));
EQUAL(offsetof(struct ky_ompt_start_tool_result, finalize),
      offsetof(ompt_start_tool_result_t, finalize));
EQUAL(offsetof(struct ky_ompt_start_tool_result, tool_data),
      offsetof(ompt_start_tool_result_t, tool_data));

/* What is an enumeration there is passed as an int here. */
EQUAL(sizeof(ompt_work_t), sizeof(int));
EQUAL(sizeof(ompt_scope_endpoint_t), sizeof(int));
EQUAL(sizeof(ompt_target_data_op_t), sizeof(int));
EQUAL(sizeof(ompt_wait_id_t), sizeof(uint64_t));
EQUAL(sizeof(ompt_id_t), sizeof(uint64_t));

/*
 * Functions of their types that hand all arguments, in order, to ones of ours: a missing
 * argument, or a number where an address is meant, does not compile.
 */
#define DATA(pointer) ((union ky_ompt_data *)(void *)(pointer))

static struct {
	ky_ompt_thread_begin thread_begin;
	ky_ompt_thread_end thread_end;
	ky_ompt_parallel_begin parallel_begin;
	ky_ompt_parallel_end parallel_end;
	ky_ompt_implicit_task implicit_task;
	ky_ompt_task_create task_create;
	ky_ompt_task_schedule task_schedule;
	ky_ompt_work work;
	ky_ompt_masked masked;
	ky_ompt_sync_region sync_region;
	ky_ompt_mutex_acquire mutex_acquire;
	ky_ompt_mutex mutex;
	ky_ompt_device_initialize device_initialize;
	ky_ompt_target_emi target_emi;
	ky_ompt_target target;
	ky_ompt_target_data_op_emi target_data_op_emi;
	ky_ompt_target_data_op target_data_op;
	ky_ompt_target_submit_emi target_submit_emi;
	ky_ompt_target_submit target_submit;
} ours;

static void as_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
	ours.thread_begin((int)type, DATA(thread));
}

static void as_thread_end(ompt_data_t *thread)
{
	ours.thread_end(DATA(thread));
}

static void as_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame,
			      ompt_data_t *parallel, unsigned int requested, int flags,
			      const void *code)
{
	ours.parallel_begin(DATA(task), frame, DATA(parallel), requested, flags, code);
}

static void as_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags,
			    const void *code)
{
	ours.parallel_end(DATA(parallel), DATA(task), flags, code);
}

static void as_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned int actual, unsigned int index,
			     int flags)
{
	ours.implicit_task((int)endpoint, DATA(parallel), DATA(task), actual, index,
			   flags);
}

static void as_task_create(ompt_data_t *task, const ompt_frame_t *frame,
			   ompt_data_t *created, int flags, int has_dependences,
			   const void *code)
{
	ours.task_create(DATA(task), frame, DATA(created), flags, has_dependences, code);
}

static void as_task_schedule(ompt_data_t *prior, ompt_task_status_t status,
			     ompt_data_t *next)
{
	ours.task_schedule(DATA(prior), (int)status, DATA(next));
}

static void as_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint,
		    ompt_data_t *parallel, ompt_data_t *task, uint64_t count,
		    const void *code)
{
	ours.work((int)kind, (int)endpoint, DATA(parallel), DATA(task), count, code);
}

static void as_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
		      ompt_data_t *task, const void *code)
{
	ours.masked((int)endpoint, DATA(parallel), DATA(task), code);
}

static void as_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
			   ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	ours.sync_region((int)kind, (int)endpoint, DATA(parallel), DATA(task), code);
}

static void as_mutex_acquire(ompt_mutex_t kind, unsigned int hint, unsigned int impl,
			     ompt_wait_id_t wait_id, const void *code)
{
	ours.mutex_acquire((int)kind, hint, impl, wait_id, code);
}

static void as_mutex(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *code)
{
	ours.mutex((int)kind, wait_id, code);
}

static void as_device_initialize(int device, const char *type, ompt_device_t *handle,
				 ompt_function_lookup_t lookup, const char *documentation)
{
	ours.device_initialize(device, type, handle, (ky_ompt_lookup)lookup,
			       documentation);
}

static void as_target_emi(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
			  ompt_data_t *task, ompt_data_t *target_task,
			  ompt_data_t *target, const void *code)
{
	ours.target_emi((int)kind, (int)endpoint, device, DATA(task), DATA(target_task),
			DATA(target), code);
}

static void as_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
		      ompt_data_t *task, ompt_id_t target_id, const void *code)
{
	ours.target((int)kind, (int)endpoint, device, DATA(task), target_id, code);
}

static void as_target_data_op_emi(ompt_scope_endpoint_t endpoint,
				  ompt_data_t *target_task, ompt_data_t *target,
				  ompt_id_t *host_op_id, ompt_target_data_op_t operation,
				  void *source, int source_device, void *destination,
				  int destination_device, size_t bytes, const void *code)
{
	ours.target_data_op_emi((int)endpoint, DATA(target_task), DATA(target),
				host_op_id, (int)operation, source, source_device,
				destination, destination_device, bytes, code);
}

static void as_target_data_op(ompt_id_t target_id, ompt_id_t host_op_id,
			      ompt_target_data_op_t operation, void *source,
			      int source_device, void *destination,
			      int destination_device, size_t bytes, const void *code)
{
	ours.target_data_op(target_id, host_op_id, (int)operation, source, source_device,
			    destination, destination_device, bytes, code);
}

static void as_target_submit_emi(ompt_scope_endpoint_t endpoint, ompt_data_t *target,
				 ompt_id_t *host_op_id, unsigned int teams)
{
	ours.target_submit_emi((int)endpoint, DATA(target), host_op_id, teams);
}

static void as_target_submit(ompt_id_t target_id, ompt_id_t host_op_id,
			     unsigned int teams)
{
	ours.target_submit(target_id, host_op_id, teams);
}

int main(void)
{
	const struct {
		ompt_callback_thread_begin_t thread_begin;
		ompt_callback_thread_end_t thread_end;
		ompt_callback_parallel_begin_t parallel_begin;
		ompt_callback_parallel_end_t parallel_end;
		ompt_callback_implicit_task_t implicit_task;
		ompt_callback_task_create_t task_create;
		ompt_callback_task_schedule_t task_schedule;
		ompt_callback_work_t work;
		ompt_callback_masked_t masked;
		ompt_callback_sync_region_t sync_region;
		ompt_callback_mutex_acquire_t mutex_acquire;
		ompt_callback_mutex_t mutex;
		ompt_callback_device_initialize_t device_initialize;
		ompt_callback_target_emi_t target_emi;
		ompt_callback_target_t target;
		ompt_callback_target_data_op_emi_t target_data_op_emi;
		ompt_callback_target_data_op_t target_data_op;
		ompt_callback_target_submit_emi_t target_submit_emi;
		ompt_callback_target_submit_t target_submit;
	} theirs = {
		as_thread_begin,       as_thread_end,     as_parallel_begin,
		as_parallel_end,       as_implicit_task,  as_task_create,
		as_task_schedule,      as_work,           as_masked,
		as_sync_region,        as_mutex_acquire,  as_mutex,
		as_device_initialize,  as_target_emi,     as_target,
		as_target_data_op_emi, as_target_data_op, as_target_submit_emi,
		as_target_submit,
	};

	return theirs.work == NULL;
}
