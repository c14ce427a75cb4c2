/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMU for machines that have none: preloaded, it has the kernel count what it can in
 * place of what it cannot, with the real groups, inheritance and descriptors. Cycles are
 * ns on the CPU, instructions page faults; cache misses there are none.
 *
 * To the kernel these two are events of two PMUs. Who joins a group of another PMU counts
 * from the thread's next switch on only, so the group is switched off and on for it. The
 * events of a real PMU need no such thing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long (*syscall_fn)(long number, ...);

static int translate(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	switch (attr->config) {
	case PERF_COUNT_HW_CPU_CYCLES:
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		return 0;
	case PERF_COUNT_HW_INSTRUCTIONS:
		attr->config = PERF_COUNT_SW_PAGE_FAULTS;
		return 0;
	default:
		errno = ENOENT;
		return -1;
	}
}

static long join(long event, int group)
{
	if (event >= 0 && group >= 0) {
		ioctl(group, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(group, PERF_EVENT_IOC_ENABLE, 0);
	}
	return event;
}

long syscall(long number, ...)
{
	struct perf_event_attr attr;
	void *symbol = dlsym(RTLD_NEXT, "syscall");
	syscall_fn next;
	long arguments[6];
	va_list list;

	memcpy(&next, &symbol, sizeof(next));
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		attr = *(const struct perf_event_attr *)arguments[0];
		if (attr.type == PERF_TYPE_HARDWARE) {
			if (translate(&attr) != 0)
				return -1;
			arguments[0] = (long)&attr;
		}
		/* Numbers came as int: the upper halves mean nothing. */
		return join(next(number, arguments[0], (long)(int)arguments[1],
				 (long)(int)arguments[2], (long)(int)arguments[3],
				 arguments[4]),
			    (int)arguments[3]);
	}
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3],
		    arguments[4], arguments[5]);
}
