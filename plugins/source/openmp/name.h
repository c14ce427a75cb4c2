/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of constructs that have no code address of their own, in groups that follow
 * OMPT's enumerations: a group's first entry is for a kind that is not known here.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_NAME_H
#define KYMO_PLUGINS_SOURCE_OPENMP_NAME_H

#include <stdint.h>

enum ky_name {
	KY_NAME_PARALLEL,
	KY_NAME_IMPLICIT_TASK,
	KY_NAME_TASK,
	KY_NAME_MASKED,
	KY_NAME_KERNEL,
	KY_NAME_SUBMIT,
	KY_NAME_WORK,                       /* + KY_OMPT_WORK_* */
	KY_NAME_SYNC = KY_NAME_WORK + 9,    /* + KY_OMPT_SYNC_* */
	KY_NAME_MUTEX = KY_NAME_SYNC + 11,  /* + KY_OMPT_MUTEX_* */
	KY_NAME_TARGET = KY_NAME_MUTEX + 8, /* + KY_OMPT_TARGET_* without NOWAIT */
	KY_NAME_OPERATION =
		KY_NAME_TARGET + 5,           /* + KY_OMPT_DATA_* without ASYNC: calls */
	KY_NAME_DATA = KY_NAME_OPERATION + 7, /* the same, on the device */
	KY_NAME_ENDED = KY_NAME_DATA + 7,     /* + KY_OMPT_TASK_*: how a task ended */
	KY_NAME_COUNT = KY_NAME_ENDED + 9,
};

/* Gives them their numbers. */
void ky_name_register(void);

/* The number for a kind of a group that has `count` entries. */
uint32_t ky_name_of(enum ky_name group, int kind, int count);

#define ky_name_work(kind)      ky_name_of(KY_NAME_WORK, (kind), 9)
#define ky_name_sync(kind)      ky_name_of(KY_NAME_SYNC, (kind), 11)
#define ky_name_mutex(kind)     ky_name_of(KY_NAME_MUTEX, (kind), 8)
#define ky_name_target(kind)    ky_name_of(KY_NAME_TARGET, (kind), 5)
#define ky_name_operation(kind) ky_name_of(KY_NAME_OPERATION, (kind), 7)
#define ky_name_data(kind)      ky_name_of(KY_NAME_DATA, (kind), 7)
#define ky_name_ended(status)   ky_name_of(KY_NAME_ENDED, (status), 9)

#endif
