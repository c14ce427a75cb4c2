/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Right and wrong orders of OMPT's callbacks, each a few lines. The addresses that stand
 * for the program's code are those of functions here.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script.h"

#define NEVER_TARGET \
	KY_OMPT_TARGET_EMI, KY_OMPT_TARGET_DATA_OP_EMI, KY_OMPT_TARGET_SUBMIT_EMI

static const int without_emi[] = {NEVER_TARGET, 0};
static const int old_runtime[] = {NEVER_TARGET,
				  KY_OMPT_TARGET,
				  KY_OMPT_TARGET_DATA_OP,
				  KY_OMPT_TARGET_SUBMIT,
				  KY_OMPT_DEVICE_INITIALIZE,
				  KY_OMPT_MASKED,
				  0};

/* Any address of this program will do; this one has a name that can be looked for. */
void code_of_region(void);
void code_of_region(void)
{
}

/* As where it begins with a call: what was called returns to the byte behind that. */
static const void *code(void)
{
	return (const char *)(uintptr_t)code_of_region + 1;
}

static void begin_region(union ky_ompt_data *region, unsigned int threads)
{
	region->value = 0;
	PARALLEL_BEGIN(NULL, NULL, region, threads, 1, code());
}

static void begin_task(struct team *team, unsigned int index)
{
	team->task[index].value = 0;
	IMPLICIT_TASK(BEGIN, &team->region, &team->task[index], team->count, index,
		      KY_OMPT_TASK_IMPLICIT);
}

static void end_task(struct team *team, unsigned int index)
{
	IMPLICIT_TASK(END, NULL, &team->task[index], 0, index, KY_OMPT_TASK_IMPLICIT);
}

static void wait_in(struct team *team, unsigned int index, int kind)
{
	SYNC(kind, BEGIN, &team->region, &team->task[index], code());
	WAIT(kind, BEGIN, &team->region, &team->task[index], code());
	script_meet(team);
	WAIT(kind, END, NULL, &team->task[index], code());
	SYNC(kind, END, NULL, &team->task[index], code());
}

/* ---- As it should be ---- */

static void region(struct team *team, unsigned int index)
{
	if (index == 0)
		begin_region(&team->region, team->count);
	script_meet(team);
	begin_task(team, index);
	WORK(KY_OMPT_WORK_LOOP, BEGIN, &team->region, &team->task[index], 100, code());
	script_nap();
	ACQUIRE(KY_OMPT_MUTEX_CRITICAL, 0, 0, 0xfedcba9876543210u, code());
	ACQUIRED(KY_OMPT_MUTEX_CRITICAL, 0xfedcba9876543210u, code());
	WORK(KY_OMPT_WORK_LOOP, END, &team->region, &team->task[index], 100, code());
	MASKED(BEGIN, &team->region, &team->task[index], code());
	MASKED(END, &team->region, &team->task[index], code());
	wait_in(team, index, KY_OMPT_SYNC_BARRIER_EXPLICIT);
	wait_in(team, index, KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL);
	end_task(team, index);
	script_meet(team);
	if (index == 0)
		PARALLEL_END(&team->region, NULL, 1, code());
	script_meet(team);
}

/* ---- Ends that are missing, or late ---- */

static void missing_ends(struct team *team, unsigned int index)
{
	begin_region(&team->region, 1);
	begin_task(team, index);
	WORK(KY_OMPT_WORK_SINGLE_EXECUTOR, BEGIN, &team->region, &team->task[0], 1,
	     code());
	script_nap();
	WORK(KY_OMPT_WORK_LOOP, BEGIN, &team->region, &team->task[0], 7, code());
	WORK(KY_OMPT_WORK_LOOP, END, &team->region, &team->task[0], 7, code());
	WORK(KY_OMPT_WORK_SECTIONS, BEGIN, &team->region, &team->task[0], 2, code());
	SYNC(KY_OMPT_SYNC_BARRIER_EXPLICIT, BEGIN, &team->region, &team->task[0], code());
	WAIT(KY_OMPT_SYNC_BARRIER_EXPLICIT, BEGIN, &team->region, &team->task[0], code());
	end_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
	begin_region(&team->region, 1);
	begin_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
	begin_region(&team->region, 1);
}

/* As libomp does it: the worker hears of its end when the next region begins. */
static void late_ends(struct team *team, unsigned int index)
{
	for (unsigned int round = 0; round < 3; round++) {
		if (index == 0)
			begin_region(&team->region, team->count);
		script_meet(team);
		if (index == 1 && round > 0) {
			const int kind = KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL;

			WAIT(kind, END, NULL, &team->task[1], NULL);
			SYNC(kind, END, NULL, &team->task[1], NULL);
			end_task(team, 1);
		}
		begin_task(team, index);
		SYNC(KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL, BEGIN, &team->region,
		     &team->task[index], NULL);
		WAIT(KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL, BEGIN, &team->region,
		     &team->task[index], NULL);
		script_meet(team);
		if (index == 0) {
			WAIT(KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL, END, &team->region,
			     &team->task[0], NULL);
			SYNC(KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL, END, &team->region,
			     &team->task[0], NULL);
			end_task(team, 0);
			PARALLEL_END(&team->region, NULL, 1, code());
			script_nap();
			script_nap();
		}
		script_meet(team);
	}
	/* The worker is never heard of again, as where the program ends. */
	if (index == 0)
		script_stop();
	script_meet(team);
}

static void open_at_stop(struct team *team, unsigned int index)
{
	if (index == 0)
		begin_region(&team->region, team->count);
	script_meet(team);
	begin_task(team, index);
	WAIT(KY_OMPT_SYNC_TASKWAIT, BEGIN, &team->region, &team->task[index], code());
	script_nap();
	script_meet(team);
	if (index == 0)
		script_stop();
	script_meet(team);
	WAIT(KY_OMPT_SYNC_TASKWAIT, END, &team->region, &team->task[index], code());
	end_task(team, index);
}

/* The recording begins in the middle of a region, and pauses in the next. */
static void middle(struct team *team, unsigned int index)
{
	union ky_ompt_data created = {0}, later = {0};

	begin_region(&team->region, 1);
	begin_task(team, index);
	TASK_CREATE(&team->task[0], NULL, &created, KY_OMPT_TASK_EXPLICIT, 0, code());
	WORK(KY_OMPT_WORK_LOOP, BEGIN, &team->region, &team->task[0], 1, code());
	script_record();
	WORK(KY_OMPT_WORK_LOOP, END, &team->region, &team->task[0], 1, code());
	TASK_SCHEDULE(&team->task[0], KY_OMPT_TASK_SWITCH, &created);
	TASK_SCHEDULE(&created, KY_OMPT_TASK_COMPLETE, &team->task[0]);
	TASK_CREATE(&team->task[0], NULL, &later, KY_OMPT_TASK_EXPLICIT, 0, code());
	TASK_SCHEDULE(&team->task[0], KY_OMPT_TASK_SWITCH, &later);
	TASK_SCHEDULE(&later, KY_OMPT_TASK_COMPLETE, &team->task[0]);
	ACQUIRED(KY_OMPT_MUTEX_LOCK, 5, code());
	end_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
	begin_region(&team->region, 1);
	begin_task(team, index);
	script_pause(1);
	end_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
	begin_region(&team->region, 1);
	script_pause(0);
	PARALLEL_END(&team->region, NULL, 1, code());
	begin_region(&team->region, 1);
	PARALLEL_END(&team->region, NULL, 1, code());
}

/* ---- Tasks ---- */

static void create(struct team *team, union ky_ompt_data *task)
{
	task->value = 0;
	TASK_CREATE(&team->task[0], NULL, task, KY_OMPT_TASK_EXPLICIT, 0, code());
}

/* Created by 0; begun by 0, which it leaves; ended by 1. Another is run by 1 alone. */
static void stolen_tasks(struct team *team, unsigned int index)
{
	static union ky_ompt_data moving, stolen;

	if (index == 0) {
		begin_region(&team->region, team->count);
		begin_task(team, 0);
		create(team, &moving);
		create(team, &stolen);
		TASK_SCHEDULE(&team->task[0], KY_OMPT_TASK_SWITCH, &moving);
		script_nap();
		TASK_SCHEDULE(&moving, KY_OMPT_TASK_SWITCH, &team->task[0]);
	}
	script_meet(team);
	if (index == 1) {
		begin_task(team, 1);
		TASK_SCHEDULE(&team->task[1], KY_OMPT_TASK_SWITCH, &stolen);
		TASK_SCHEDULE(&stolen, KY_OMPT_TASK_COMPLETE, &team->task[1]);
		TASK_SCHEDULE(&team->task[1], KY_OMPT_TASK_SWITCH, &moving);
		script_nap();
		TASK_SCHEDULE(&moving, KY_OMPT_TASK_COMPLETE, &team->task[1]);
		end_task(team, 1);
	}
	script_meet(team);
	if (index == 0) {
		end_task(team, 0);
		PARALLEL_END(&team->region, NULL, 1, code());
	}
}

/* One that waits while another runs within it; yield, cancel, detach, and events. */
static void nested_tasks(struct team *team, unsigned int index)
{
	union ky_ompt_data outer, inner, cancelled, detached;

	begin_region(&team->region, 1);
	begin_task(team, index);
	create(team, &outer);
	TASK_SCHEDULE(&team->task[0], KY_OMPT_TASK_SWITCH, &outer);
	create(team, &inner);
	WAIT(KY_OMPT_SYNC_TASKWAIT, BEGIN, &team->region, &outer, code());
	TASK_SCHEDULE(&outer, KY_OMPT_TASK_SWITCH, &inner);
	script_nap();
	TASK_SCHEDULE(&inner, KY_OMPT_TASK_COMPLETE, &outer);
	WAIT(KY_OMPT_SYNC_TASKWAIT, END, &team->region, &outer, code());
	create(team, &cancelled);
	TASK_SCHEDULE(&outer, KY_OMPT_TASK_YIELD, &cancelled);
	TASK_SCHEDULE(&cancelled, KY_OMPT_TASK_CANCEL, &outer);
	TASK_SCHEDULE(&outer, KY_OMPT_TASK_COMPLETE, &team->task[0]);
	create(team, &detached);
	TASK_SCHEDULE(&team->task[0], KY_OMPT_TASK_SWITCH, &detached);
	TASK_SCHEDULE(&detached, KY_OMPT_TASK_DETACH, &team->task[0]);
	TASK_SCHEDULE(&detached, KY_OMPT_TASK_LATE_FULFILL, NULL);
	end_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
}

/* Tasks outside of any region return to the initial task, which has no span. */
static void serial_tasks(struct team *team, unsigned int index)
{
	union ky_ompt_data initial = {0}, task;

	(void)index;
	IMPLICIT_TASK(BEGIN, NULL, &initial, 1, 1, KY_OMPT_TASK_INITIAL);
	create(team, &task);
	TASK_SCHEDULE(&initial, KY_OMPT_TASK_SWITCH, &task);
	TASK_SCHEDULE(&task, KY_OMPT_TASK_COMPLETE, &initial);
	create(team, &task);
	TASK_SCHEDULE(&initial, KY_OMPT_TASK_SWITCH, &task);
	TASK_SCHEDULE(&task, KY_OMPT_TASK_SWITCH, &initial);
	IMPLICIT_TASK(END, NULL, &initial, 0, 1, KY_OMPT_TASK_INITIAL);
}

/* ---- Wrong in every way ---- */

#define DEPTH 9000 /* more than the plug-in keeps open in one thread */

static void hostile(struct team *team, unsigned int index)
{
	union ky_ompt_data none = {0}, *tasks = calloc(DEPTH, sizeof(*tasks));

	(void)index;
	PARALLEL_END(&none, NULL, 0, NULL);
	PARALLEL_END(NULL, NULL, 0, NULL);
	IMPLICIT_TASK(END, NULL, &none, 0, 0, 0);
	IMPLICIT_TASK(BEGIN, NULL, &none, 0, 0, 0);
	TASK_SCHEDULE(NULL, -1, NULL);
	TASK_SCHEDULE(NULL, 0x7fffffff, &none);
	TASK_CREATE(NULL, NULL, NULL, -1, 0, NULL);
	WORK(-1, 7, NULL, NULL, UINT64_MAX, (const void *)~(uintptr_t)0);
	WORK(0x7fffffff, END, NULL, NULL, 0, NULL);
	SYNC(-5, BEGIN, NULL, NULL, NULL);
	WAIT(99, END, NULL, NULL, NULL);
	ACQUIRED(1, 1, NULL);
	TARGET_EMI(77, END, -1, NULL, NULL, NULL, NULL);
	DATA_EMI(END, NULL, NULL, NULL, 999, NULL, -1, NULL, 1 << 30, 0, NULL);
	DATA_EMI(BEGIN, NULL, NULL, NULL, -7, NULL, -1, NULL, 1 << 30, 0, NULL);
	DATA_EMI(END, NULL, NULL, NULL, -7, NULL, -1, NULL, 1 << 30, 0, NULL);
	SUBMIT_EMI(END, NULL, NULL, 0);
	DEVICE(-1, NULL, NULL, NULL, NULL);
	DEVICE(1 << 30, NULL, NULL, NULL, NULL);
	for (unsigned int i = 0; tasks && i < DEPTH; i++) {
		TASK_CREATE(NULL, NULL, &tasks[i], KY_OMPT_TASK_EXPLICIT, 0, code());
		TASK_SCHEDULE(i ? &tasks[i - 1] : NULL, KY_OMPT_TASK_SWITCH, &tasks[i]);
	}
	THREAD_END(&none);
	THREAD_END(&none);
	IMPLICIT_TASK(BEGIN, NULL, &team->task[0], 1, 0, KY_OMPT_TASK_IMPLICIT);
	free(tasks);
}

/* ---- Target ---- */

#define HOST_NUMBER 1
#define LARGE       (UINT64_C(1) << 40)

static void transfer(int operation, uintptr_t source, int source_device,
		     uintptr_t destination, int destination_device, uint64_t bytes)
{
	DATA_EMI(BEGIN, NULL, NULL, NULL, operation, (void *)source, source_device,
		 (void *)destination, destination_device, bytes, code());
	script_nap();
	DATA_EMI(END, NULL, NULL, NULL, operation, (void *)source, source_device,
		 (void *)destination, destination_device, bytes, code());
}

static void target(struct team *team, unsigned int index)
{
	(void)team, (void)index;
	DEVICE(0, "a \"quoted\"\n\xff name", NULL, NULL, NULL);
	DEVICE(2, NULL, NULL, NULL, NULL);
	TARGET_EMI(KY_OMPT_TARGET_REGION, BEGIN, 0, NULL, NULL, NULL, code());
	transfer(KY_OMPT_DATA_ALLOC, 0x1000, HOST_NUMBER, 0xffff800000001000u, 0, LARGE);
	transfer(KY_OMPT_DATA_TO_DEVICE, 0x1000, HOST_NUMBER, 0xffff800000001000u, 0,
		 LARGE);
	SUBMIT_EMI(BEGIN, NULL, NULL, 17);
	script_nap();
	SUBMIT_EMI(END, NULL, NULL, 17);
	transfer(KY_OMPT_DATA_FROM_DEVICE | KY_OMPT_DATA_ASYNC_FLAG, 0xffff800000001000u,
		 0, 0x1000, HOST_NUMBER, 0);
	transfer(KY_OMPT_DATA_DELETE, 0xffff800000001000u, 0, 0, -1, 0);
	TARGET_EMI(KY_OMPT_TARGET_REGION, END, 0, NULL, NULL, NULL, code());
	transfer(KY_OMPT_DATA_TO_DEVICE, 1, 0, 2, 2, 5);
	TARGET_EMI(KY_OMPT_TARGET_UPDATE | KY_OMPT_TARGET_NOWAIT_FLAG, BEGIN, 2, NULL,
		   NULL, NULL, code());
	DATA_EMI(BEGIN, NULL, NULL, NULL, KY_OMPT_DATA_TO_DEVICE, NULL, -1, NULL, 2, 1,
		 code());
	TARGET_EMI(KY_OMPT_TARGET_UPDATE, END, 2, NULL, NULL, NULL, code());
}

static void target_plain(struct team *team, unsigned int index)
{
	(void)team, (void)index;
	TARGET(KY_OMPT_TARGET_REGION, BEGIN, 3, NULL, 1, code());
	DATA(1, 2, KY_OMPT_DATA_TO_DEVICE, (void *)1, 4, (void *)2, 3, 99, code());
	SUBMIT(1, 3, 5);
	TARGET(KY_OMPT_TARGET_REGION, END, 3, NULL, 1, code());
}

/* ---- Many ---- */

#define STORM_REGIONS 1000
#define FORKS         10

static atomic_int storm_is_over, storm_rests;

static void storm(struct team *team, unsigned int index)
{
	for (unsigned int i = 0; i < STORM_REGIONS; i++) {
		union ky_ompt_data region, task = {0}, child = {0};

		begin_region(&region, 1);
		IMPLICIT_TASK(BEGIN, &region, &task, 1, 0, KY_OMPT_TASK_IMPLICIT);
		TASK_CREATE(&task, NULL, &child, KY_OMPT_TASK_EXPLICIT, 0, code());
		TASK_SCHEDULE(&task, KY_OMPT_TASK_SWITCH, &child);
		TASK_SCHEDULE(&child, KY_OMPT_TASK_COMPLETE, &task);
		IMPLICIT_TASK(END, NULL, &task, 0, 0, KY_OMPT_TASK_IMPLICIT);
		PARALLEL_END(&region, NULL, 1, code());
	}
	(void)team, (void)index;
}

/* The recording rests and goes on in the middle of it, and ends before it does. */
static void restless_storm(struct team *team, unsigned int index)
{
	if (index > 0) {
		storm(team, index);
		return;
	}
	for (unsigned int i = 0; i < 20; i++) {
		script_nap();
		script_pause(1);
		script_pause(0);
	}
	script_stop();
}

/* A child goes on with callbacks of its parent's constructs; nobody records it. */
static void forked(struct team *team, unsigned int index)
{
	int status = -1;
	pid_t child;

	begin_region(&team->region, 1);
	begin_task(team, index);
	child = fork();
	end_task(team, index);
	PARALLEL_END(&team->region, NULL, 1, code());
	if (child == 0) {
		storm(team, index);
		_exit(7);
	}
	if (waitpid(child, &status, 0) != child || status != 7 << 8)
		exit(5);
}

/* Forked while other threads are in callbacks; the child records by itself. */
static void forked_in_storm(struct team *team, unsigned int index)
{
	union ky_ompt_data region;

	if (index > 0) {
		while (!atomic_load(&storm_is_over))
			if (atomic_load(&storm_rests))
				script_nap();
			else
				storm(team, index);
		return;
	}
	for (unsigned int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child;

		script_nap();
		child = fork();
		if (child == 0) {
			script_record();
			begin_region(&region, 1);
			PARALLEL_END(&region, NULL, 1, code());
			script_stop();
			script_save_as_child(i);
			_exit(7);
		}
		atomic_store(&storm_rests, 1);
		if (waitpid(child, &status, 0) != child || status != 7 << 8)
			exit(5);
		atomic_store(&storm_rests, 0);
	}
	atomic_store(&storm_is_over, 1);
}

const struct scenario scenarios[] = {
	{"region", region, 4, NULL, 0},
	{"missing_ends", missing_ends, 1, NULL, 0},
	{"late_ends", late_ends, 2, NULL, 0},
	{"open_at_stop", open_at_stop, 3, NULL, 0},
	{"middle", middle, 1, NULL, 1},
	{"stolen_tasks", stolen_tasks, 2, NULL, 0},
	{"nested_tasks", nested_tasks, 1, NULL, 0},
	{"serial_tasks", serial_tasks, 1, NULL, 0},
	{"hostile", hostile, 1, NULL, 0},
	{"target", target, 1, NULL, 0},
	{"target_plain", target_plain, 1, without_emi, 0},
	{"old_runtime", region, 4, old_runtime, 0},
	{"storm", storm, TEAM_MAX, NULL, 0},
	{"restless_storm", restless_storm, 16, NULL, 0},
	{"forked", forked, 1, NULL, 0},
	{"forked_in_storm", forked_in_storm, 2, NULL, 0},
	{NULL, NULL, 0, NULL, 0},
};
