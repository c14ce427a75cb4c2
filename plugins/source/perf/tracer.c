/* SPDX-License-Identifier: BSD-3-Clause */
#include "tracer.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "descriptor.h"
#include "missing.h"
#include "off_cpu.h"
#include "ring.h"
#include "source.h"
#include "stack.h"
#include "thread_list.h"
#include "thread_table.h"

#define CPUS_MAX   1024u
#define EXTRAS_MAX 256u
#define RING_MAX   65536u   /* bytes of one ring; of one with switches, four times */
#define RINGS_SUM  4194304u /* of all of them */
#define RATE_PATH  "/proc/sys/kernel/perf_event_max_sample_rate"

static struct {
	struct perf_ring rings[CPUS_MAX];
	uint32_t ring_count;
	size_t page_size, ring_size;
	/*
	 * Of all threads but the first, whose events are held by their rings' mappings.
	 */
	struct perf_event extras[EXTRAS_MAX];
	uint32_t extra_count;
	uint64_t throttled;
	uint8_t has_stacks, has_switches;
} tracer;

/* ---- Opening ---- */

static const char *what(void)
{
	if (tracer.has_stacks && tracer.has_switches)
		return "stacks, switches";
	return tracer.has_stacks ? "stacks" : "switches";
}

/* Who asks for more than the kernel allows would get none at all. */
static uint32_t sample_rate(void)
{
	const uint32_t wanted = perf_source.options.stacks_hz;
	const long most = perf_setting(RATE_PATH);
	char why[96];

	if (most <= 0 || wanted <= (unsigned long)most)
		return wanted;
	snprintf(why, sizeof(why), "the kernel allows %ld samples a second", most);
	perf_missing_add("some stacks", why, "sysctl kernel.perf_event_max_sample_rate");
	return (uint32_t)most;
}

static struct perf_event_attr describe(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.sample_id_all = 1,
		.context_switch = tracer.has_switches,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (tracer.has_stacks) {
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.freq = 1;
		attr.sample_freq = sample_rate();
		attr.exclude_kernel = 0;
	}
	return attr;
}

static size_t ring_size(uint32_t cpu_count)
{
	size_t size = tracer.has_switches ? 4 * RING_MAX : RING_MAX;

	while (size > tracer.page_size && size * cpu_count > RINGS_SUM)
		size /= 2;
	return size;
}

/* As large as the system lets it be: what may be locked is shared by all of a user's. */
static int map_ring(const struct perf_event *event)
{
	for (; tracer.ring_size >= tracer.page_size; tracer.ring_size /= 2) {
		void *page = mmap(NULL, tracer.page_size + tracer.ring_size,
				  PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);

		if (page == MAP_FAILED)
			continue;
		perf_ring_init(&tracer.rings[tracer.ring_count++], page, tracer.page_size,
			       tracer.ring_size);
		return 0;
	}
	return -1;
}

/* One thread's event, which writes into the ring of another of this CPU. */
static int open_extra(struct perf_event_attr *attr, pid_t tid, int cpu,
		      const struct perf_event *owner)
{
	struct perf_event *extra = &tracer.extras[tracer.extra_count];
	int number = perf_event_open(extra, attr, tid, cpu, NULL);

	if (number == ESRCH)
		return 0; /* it has ended */
	if (number != 0)
		return number;
	tracer.extra_count++;
	return ioctl(extra->fd, PERF_EVENT_IOC_SET_OUTPUT, owner->fd) == 0 ? 0 : errno;
}

static int open_cpu(struct perf_event_attr *attr, const struct perf_threads *threads,
		    int cpu)
{
	struct perf_event owner;
	int number = perf_event_open(&owner, attr, threads->tid[0], cpu, NULL);

	if (number == EACCES && !attr->exclude_kernel) {
		attr->exclude_kernel = 1;
		number = perf_event_open(&owner, attr, threads->tid[0], cpu, NULL);
		if (number == 0)
			perf_missing_add_refused("stacks in the kernel", EACCES);
	}
	if (number == ENODEV)
		return 0; /* it is offline */
	if (number == 0 && map_ring(&owner) != 0)
		number = ENOBUFS;
	for (uint32_t i = 1; i < threads->count && number == 0; i++)
		number = open_extra(attr, threads->tid[i], cpu, &owner);
	/* The mapping holds the event from here on. */
	perf_event_close(&owner);
	return number;
}

static void list_threads(struct perf_threads *threads, uint32_t cpu_count)
{
	const uint32_t most = 1 + perf_descriptors_max() / cpu_count;
	char text[96];

	perf_threads_list(threads);
	if (threads->count > most)
		threads->count = most;
	if (threads->count == threads->total)
		return;
	snprintf(text, sizeof(text), "%s of %u of %u threads", what(),
		 threads->total - threads->count, threads->total);
	perf_missing_add(text, PERF_TOO_MANY_THREADS);
}

void perf_tracer_open(void)
{
	const long configured = sysconf(_SC_NPROCESSORS_CONF);
	const uint32_t cpu_count =
		configured > 0 && configured < CPUS_MAX ? (uint32_t)configured : CPUS_MAX;
	struct perf_event_attr attr;
	struct perf_threads threads;
	int number = 0;

	tracer.has_stacks =
		perf_source.options.stacks_hz > 0 && perf_source.wants[PERF_TYPE_SAMPLE];
	tracer.has_switches =
		perf_source.options.has_switches && perf_source.wants[PERF_TYPE_OFF_CPU];
	if (!tracer.has_stacks && !tracer.has_switches)
		return;
	tracer.page_size = (size_t)sysconf(_SC_PAGESIZE);
	tracer.ring_size = ring_size(cpu_count);
	tracer.throttled = 0;
	attr = describe();
	list_threads(&threads, cpu_count);
	for (uint32_t cpu = 0; cpu < cpu_count && number == 0; cpu++)
		number = open_cpu(&attr, &threads, (int)cpu);
	if (number == 0)
		return;
	perf_tracer_close();
	if (number == ENOBUFS)
		perf_missing_add(what(), "no memory may be locked for its rings",
				 "raise kernel.perf_event_mlock_kb or ulimit -l");
	else
		perf_missing_add_refused(what(), number);
}

int perf_tracer_is_open(void)
{
	return tracer.ring_count > 0;
}

void perf_tracer_close(void)
{
	for (uint32_t i = 0; i < tracer.extra_count; i++)
		perf_event_close(&tracer.extras[i]);
	for (uint32_t i = 0; i < tracer.ring_count; i++)
		munmap(tracer.rings[i].page,
		       tracer.page_size + (size_t)tracer.rings[i].size);
	tracer.ring_count = tracer.extra_count = 0;
	perf_threads_reset();
}

/* The kernel leaves the mappings out of a child. */
void perf_tracer_forked(void)
{
	tracer.ring_count = 0;
	perf_tracer_close();
}

/* ---- Reading ---- */

void perf_tracer_begin(void)
{
	for (uint32_t i = 0; i < tracer.ring_count; i++)
		perf_ring_skip(&tracer.rings[i]);
	perf_threads_lose();
	perf_stack_begin();
	if (tracer.has_switches)
		perf_off_cpu_register();
}

/* Who was off the CPU may have been on it and off again since. */
static void lose(uint32_t reason, uint64_t count)
{
	perf_source.host->lost(perf_source.self, reason, count);
	perf_threads_lose();
}

static void hand_on(const struct perf_record *record)
{
	switch (record->kind) {
	case PERF_RECORD_SAMPLE:
		if (record->tid != perf_source.own_tid)
			perf_stack_take(record);
		return;
	case PERF_RECORD_SWITCH:
		if (record->tid != perf_source.own_tid)
			perf_off_cpu_take(record);
		return;
	case PERF_RECORD_LOST:
		if (record->lost > 0)
			lose(KYMO_LOST_VENDOR, record->lost);
		return;
	case PERF_RECORD_THROTTLE:
		tracer.throttled++;
		perf_source.host->lost(perf_source.self, KYMO_LOST_VENDOR_AT_LEAST, 1);
		return;
	case 0:
		lose(KYMO_LOST_VENDOR_AT_LEAST, 1);
		return;
	default:
		return;
	}
}

static struct perf_ring *find_earliest(void)
{
	struct perf_ring *earliest = &tracer.rings[0];

	for (uint32_t i = 1; i < tracer.ring_count; i++)
		if (tracer.rings[i].time < earliest->time)
			earliest = &tracer.rings[i];
	return earliest;
}

void perf_tracer_drain(uint64_t until_ns)
{
	struct perf_record record;
	struct perf_ring *ring;

	if (tracer.ring_count == 0)
		return;
	if (tracer.has_stacks)
		perf_stack_look();
	for (uint32_t i = 0; i < tracer.ring_count; i++)
		perf_ring_look(&tracer.rings[i]);
	for (ring = find_earliest(); ring->time <= until_ns; ring = find_earliest())
		if (perf_ring_take(ring, &record))
			hand_on(&record);
	for (uint32_t i = 0; i < tracer.ring_count; i++)
		perf_ring_free(&tracer.rings[i]);
}

void perf_tracer_end(void)
{
	const struct kymo_value throttled = {
		.key = perf_source.keys[PERF_KEY_THROTTLED],
		.type = KYMO_VALUE_UINT64,
		.u64 = tracer.throttled,
	};

	if (tracer.ring_count == 0)
		return;
	perf_tracer_drain(UINT64_MAX - 1);
	perf_off_cpu_end();
	perf_stack_end();
	if (tracer.throttled > 0)
		perf_source.host->metadata(perf_source.self, &throttled);
}
