/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded by the OpenMP runtime through OMP_TOOL_LIBRARIES, at the program's first use of
 * OpenMP, under a lock of the runtime: nothing may call it there. Where nobody records
 * (no agent in the process) it is told that there is no tool.
 *
 * Which callbacks there are is not said by any version, but by what is answered when they
 * are asked for.
 */
#include "tool.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#include <kymo/inject.h>

#include "device.h"
#include "host_call.h"
#include "other_tool.h"
#include "state.h"
#include "target_call.h"
#include "task_call.h"

/* A callback that is asked for. */
struct wish {
	const char *name;
	int event;
	int is_target;
	ky_ompt_function callback;
	const struct wish *instead; /* asked for where this one is never made */
};

/* Does not compile where the function is not of the type that OMPT gives the event. */
#define WISH(wish_name, wish_event, type, function) \
	.name = (wish_name), .event = (wish_event), \
	.callback = _Generic((function), type       \
			     : (ky_ompt_function)(function))

static const struct wish without_emi[] = {
	{WISH("target", KY_OMPT_TARGET, ky_ompt_target, ky_on_target), .is_target = 1},
	{WISH("target_data_op", KY_OMPT_TARGET_DATA_OP, ky_ompt_target_data_op,
	      ky_on_target_data_op),
	 .is_target = 1},
	{WISH("target_submit", KY_OMPT_TARGET_SUBMIT, ky_ompt_target_submit,
	      ky_on_target_submit),
	 .is_target = 1},
};

static const struct wish wishes[] = {
	{WISH("thread_begin", KY_OMPT_THREAD_BEGIN, ky_ompt_thread_begin,
	      ky_on_thread_begin)},
	{WISH("thread_end", KY_OMPT_THREAD_END, ky_ompt_thread_end, ky_on_thread_end)},
	{WISH("parallel_begin", KY_OMPT_PARALLEL_BEGIN, ky_ompt_parallel_begin,
	      ky_on_parallel_begin)},
	{WISH("parallel_end", KY_OMPT_PARALLEL_END, ky_ompt_parallel_end,
	      ky_on_parallel_end)},
	{WISH("implicit_task", KY_OMPT_IMPLICIT_TASK, ky_ompt_implicit_task,
	      ky_on_implicit_task)},
	{WISH("task_create", KY_OMPT_TASK_CREATE, ky_ompt_task_create,
	      ky_on_task_create)},
	{WISH("task_schedule", KY_OMPT_TASK_SCHEDULE, ky_ompt_task_schedule,
	      ky_on_task_schedule)},
	{WISH("work", KY_OMPT_WORK, ky_ompt_work, ky_on_work)},
	{WISH("masked", KY_OMPT_MASKED, ky_ompt_masked, ky_on_masked)},
	{WISH("sync_region", KY_OMPT_SYNC_REGION, ky_ompt_sync_region,
	      ky_on_sync_region)},
	{WISH("sync_region_wait", KY_OMPT_SYNC_REGION_WAIT, ky_ompt_sync_region,
	      ky_on_sync_region_wait)},
	{WISH("reduction", KY_OMPT_REDUCTION, ky_ompt_sync_region, ky_on_sync_region)},
	{WISH("mutex_acquire", KY_OMPT_MUTEX_ACQUIRE, ky_ompt_mutex_acquire,
	      ky_on_mutex_acquire)},
	{WISH("mutex_acquired", KY_OMPT_MUTEX_ACQUIRED, ky_ompt_mutex,
	      ky_on_mutex_acquired)},
	{WISH("device_initialize", KY_OMPT_DEVICE_INITIALIZE, ky_ompt_device_initialize,
	      ky_on_device_initialize),
	 .is_target = 1},
	{WISH("target_emi", KY_OMPT_TARGET_EMI, ky_ompt_target_emi, ky_on_target_emi),
	 .is_target = 1, .instead = &without_emi[0]},
	{WISH("target_data_op_emi", KY_OMPT_TARGET_DATA_OP_EMI,
	      ky_ompt_target_data_op_emi, ky_on_target_data_op_emi),
	 .is_target = 1, .instead = &without_emi[1]},
	{WISH("target_submit_emi", KY_OMPT_TARGET_SUBMIT_EMI, ky_ompt_target_submit_emi,
	      ky_on_target_submit_emi),
	 .is_target = 1, .instead = &without_emi[2]},
};

#define WISH_COUNT (sizeof(wishes) / sizeof(wishes[0]))

#define SET_INSTEAD 100 /* an answer of ours: the other one is made */

/* What was answered; written by initialize, before the first callback. */
static uint8_t answers[WISH_COUNT];
static char runtime[64];
static atomic_int is_started;
static int is_trying;
static struct ky_other_tool other;
static int is_left_to_other;

static int is_sometimes(int answer)
{
	return answer == KY_OMPT_SET_SOMETIMES || answer == KY_OMPT_SET_SOMETIMES_PAIRED;
}

static int is_made(int answer)
{
	return answer == KY_OMPT_SET_ALWAYS || is_sometimes(answer);
}

static int is_instead(int answer)
{
	return answer == SET_INSTEAD;
}

static int is_never(int answer)
{
	return !is_made(answer) && !is_instead(answer);
}

static int initialize(ky_ompt_lookup lookup, int initial_device_num,
		      union ky_ompt_data *tool_data)
{
	ky_ompt_function found = lookup("ompt_set_callback");
	ky_ompt_set_callback set_callback;

	(void)initial_device_num, (void)tool_data;
	if (!found)
		return 0;
	memcpy(&set_callback, &found, sizeof(found));
	for (size_t i = 0; i < WISH_COUNT; i++) {
		const struct wish *wish = &wishes[i];
		int answer = set_callback(wish->event, wish->callback);

		if (!is_made(answer) && wish->instead &&
		    is_made(set_callback(wish->instead->event, wish->instead->callback)))
			answer = SET_INSTEAD;
		answers[i] = (uint8_t)answer;
	}
	atomic_store(&is_started, 1);
	ky_tool_report();
	return !is_trying;
}

/* No callback comes after it; what is open is closed with the recording. */
static void finalize(union ky_ompt_data *tool_data)
{
	(void)tool_data;
}

struct ky_ompt_start_tool_result *ompt_start_tool(unsigned int omp_version,
						  const char *runtime_version)
{
	static struct ky_ompt_start_tool_result result = {
		.initialize = initialize,
		.finalize = finalize,
	};
	const struct kymo_host *host = NULL;

	(void)omp_version;
	snprintf(runtime, sizeof(runtime), "%s",
		 runtime_version ? runtime_version : "the OpenMP runtime");
	if (is_trying)
		return &result;
	is_left_to_other = ky_other_tool_find(&other);
	if (kymo_inject(&ky_openmp_plugin, &host, NULL) != KYMO_OK || !host)
		return NULL;
	ky_state.host = host;
	return is_left_to_other ? NULL : &result;
}

const struct ky_other_tool *ky_tool_other(void)
{
	return is_left_to_other ? &other : NULL;
}

void ky_tool_try(void)
{
	is_trying = 1;
}

int ky_tool_is_started(void)
{
	return atomic_load(&is_started);
}

/* Adds "; what a, b", of the wishes that the test is true of. */
static void list(char *out, size_t size, const char *what, int (*test)(int answer))
{
	int count = 0;

	for (size_t i = 0; i < WISH_COUNT; i++) {
		const size_t used = strlen(out);

		if (!test(answers[i]))
			continue;
		if (count++ > 0)
			snprintf(out + used, size - used, ", %s", wishes[i].name);
		else
			snprintf(out + used, size - used, "%s%s %s", used ? "; " : "",
				 what, wishes[i].name);
	}
}

int ky_tool_describe(char *missing, size_t missing_size, char *remedy, size_t remedy_size)
{
	int lacks_host = 0, lacks_target = 0;

	missing[0] = '\0';
	list(missing, missing_size, "never reports", is_never);
	list(missing, missing_size, "does not always report", is_sometimes);
	list(missing, missing_size, "reports without times what is in", is_instead);
	for (size_t i = 0; i < WISH_COUNT; i++) {
		lacks_target |= answers[i] != KY_OMPT_SET_ALWAYS && wishes[i].is_target;
		lacks_host |= answers[i] != KY_OMPT_SET_ALWAYS && !wishes[i].is_target;
	}
	snprintf(remedy, remedy_size, "%s",
		 lacks_host     ? "use the OpenMP runtime of LLVM 14 or newer"
		 : lacks_target ? "for target constructs use the OpenMP runtime of LLVM "
				  "17 or newer"
				: "");
	return !lacks_host;
}

static int is_target_library(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	return info->dlpi_name && strstr(info->dlpi_name, "/libomptarget.so") != NULL;
}

/*
 * Programs with target constructs need LLVM's libomptarget; all others miss nothing where
 * the runtime has no callbacks for them. By dl_iterate_phdr, which waits for no dlopen.
 */
static int is_complete(void)
{
	const int has_targets = dl_iterate_phdr(is_target_library, NULL);

	for (size_t i = 0; i < WISH_COUNT; i++)
		if (answers[i] != KY_OMPT_SET_ALWAYS &&
		    (!wishes[i].is_target || has_targets || !is_never(answers[i])))
			return 0;
	return 1;
}

void ky_tool_report(void)
{
	char missing[512], reason[640], remedy[128];

	if (!atomic_load(&is_started) || !ky_state.source)
		return;
	ky_tool_describe(missing, sizeof(missing), remedy, sizeof(remedy));
	if (!missing[0])
		return;
	snprintf(reason, sizeof(reason), "%s %s", runtime, missing);
	ky_state.host->state(ky_state.source,
			     is_complete() ? KYMO_STATE_RECORDING : KYMO_STATE_PARTLY,
			     kymo_text(reason), kymo_text(remedy));
}
