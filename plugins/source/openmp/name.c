/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of names. Viewers decide by name what a device span is, so copies have
 * libkineto's: "Memcpy XtoY (X -> Y)".
 */
#include "name.h"

#include "ompt.h"
#include "state.h"

static const char *const texts[KY_NAME_COUNT] = {
	[KY_NAME_PARALLEL] = "parallel region",
	[KY_NAME_IMPLICIT_TASK] = "implicit task",
	[KY_NAME_TASK] = "task",
	[KY_NAME_MASKED] = "masked",
	[KY_NAME_KERNEL] = "target kernel",
	[KY_NAME_SUBMIT] = "target submit",

	[KY_NAME_WORK] = "work",
	[KY_NAME_WORK + KY_OMPT_WORK_LOOP] = "loop",
	[KY_NAME_WORK + KY_OMPT_WORK_SECTIONS] = "sections",
	[KY_NAME_WORK + KY_OMPT_WORK_SINGLE_EXECUTOR] = "single",
	[KY_NAME_WORK + KY_OMPT_WORK_SINGLE_OTHER] = "single (other)",
	[KY_NAME_WORK + KY_OMPT_WORK_WORKSHARE] = "workshare",
	[KY_NAME_WORK + KY_OMPT_WORK_DISTRIBUTE] = "distribute",
	[KY_NAME_WORK + KY_OMPT_WORK_TASKLOOP] = "taskloop",
	[KY_NAME_WORK + KY_OMPT_WORK_SCOPE] = "scope",

	[KY_NAME_SYNC] = "synchronization",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER] = "barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_IMPLICIT] = "implicit barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_EXPLICIT] = "barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_IMPLEMENTATION] = "runtime's barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_TASKWAIT] = "taskwait",
	[KY_NAME_SYNC + KY_OMPT_SYNC_TASKGROUP] = "taskgroup",
	[KY_NAME_SYNC + KY_OMPT_SYNC_REDUCTION] = "reduction",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE] = "implicit barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL] = "join barrier",
	[KY_NAME_SYNC + KY_OMPT_SYNC_BARRIER_TEAMS] = "teams barrier",

	[KY_NAME_MUTEX] = "mutex",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_LOCK] = "lock",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_TEST_LOCK] = "test lock",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_NEST_LOCK] = "nest lock",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_TEST_NEST_LOCK] = "test nest lock",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_CRITICAL] = "critical",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_ATOMIC] = "atomic",
	[KY_NAME_MUTEX + KY_OMPT_MUTEX_ORDERED] = "ordered",

	[KY_NAME_TARGET] = "target construct",
	[KY_NAME_TARGET + KY_OMPT_TARGET_REGION] = "target",
	[KY_NAME_TARGET + KY_OMPT_TARGET_ENTER_DATA] = "target enter data",
	[KY_NAME_TARGET + KY_OMPT_TARGET_EXIT_DATA] = "target exit data",
	[KY_NAME_TARGET + KY_OMPT_TARGET_UPDATE] = "target update",

	[KY_NAME_OPERATION] = "target data operation",
	[KY_NAME_OPERATION + KY_OMPT_DATA_ALLOC] = "target alloc",
	[KY_NAME_OPERATION + KY_OMPT_DATA_TO_DEVICE] = "target transfer to device",
	[KY_NAME_OPERATION + KY_OMPT_DATA_FROM_DEVICE] = "target transfer from device",
	[KY_NAME_OPERATION + KY_OMPT_DATA_DELETE] = "target delete",
	[KY_NAME_OPERATION + KY_OMPT_DATA_ASSOCIATE] = "target associate",
	[KY_NAME_OPERATION + KY_OMPT_DATA_DISASSOCIATE] = "target disassociate",

	[KY_NAME_DATA] = "Data operation",
	[KY_NAME_DATA + KY_OMPT_DATA_ALLOC] = "Alloc",
	[KY_NAME_DATA + KY_OMPT_DATA_TO_DEVICE] = "Memcpy HtoD (Host -> Device)",
	[KY_NAME_DATA + KY_OMPT_DATA_FROM_DEVICE] = "Memcpy DtoH (Device -> Host)",
	[KY_NAME_DATA + KY_OMPT_DATA_DELETE] = "Delete",
	[KY_NAME_DATA + KY_OMPT_DATA_ASSOCIATE] = "Associate",
	[KY_NAME_DATA + KY_OMPT_DATA_DISASSOCIATE] = "Disassociate",

	[KY_NAME_ENDED] = "left",
	[KY_NAME_ENDED + KY_OMPT_TASK_COMPLETE] = "complete",
	[KY_NAME_ENDED + KY_OMPT_TASK_YIELD] = "yield",
	[KY_NAME_ENDED + KY_OMPT_TASK_CANCEL] = "cancel",
	[KY_NAME_ENDED + KY_OMPT_TASK_DETACH] = "detach",
	[KY_NAME_ENDED + KY_OMPT_TASK_EARLY_FULFILL] = "complete",
	[KY_NAME_ENDED + KY_OMPT_TASK_LATE_FULFILL] = "complete",
	[KY_NAME_ENDED + KY_OMPT_TASK_SWITCH] = "switch",
	[KY_NAME_ENDED + KY_OMPT_TASK_TASKWAIT_COMPLETE] = "complete",
};

void ky_name_register(void)
{
	for (int i = 0; i < KY_NAME_COUNT; i++)
		ky_state.name[i] =
			ky_state.host->string(ky_state.source, kymo_text(texts[i]));
}

uint32_t ky_name_of(enum ky_name group, int kind, int count)
{
	return ky_state.name[(int)group + (kind > 0 && kind < count ? kind : 0)];
}
