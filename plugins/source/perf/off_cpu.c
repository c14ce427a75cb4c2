/* SPDX-License-Identifier: BSD-3-Clause */
#include "off_cpu.h"

#include "source.h"
#include "thread_table.h"

static uint32_t names[2]; /* strings: waiting, preempted */

void perf_off_cpu_register(void)
{
	names[0] = perf_source.host->string(perf_source.self, KYMO_STR("off CPU"));
	names[1] = perf_source.host->string(perf_source.self,
					    KYMO_STR("off CPU (preempted)"));
}

static void emit(struct perf_thread *thread, uint64_t end_ns, uint16_t flags)
{
	const union kymo_line line = {
		.record = {
			.kind = KYMO_KIND_SPAN,
			.lines = 1,
			.flags = flags,
			.track = thread->track,
			.type = perf_source.types[PERF_TYPE_OFF_CPU],
			.name = names[thread->is_preempted],
			.begin = thread->out_ns,
			.end = end_ns,
		}};

	perf_source.host->emit(perf_source.self, &line, 1);
	thread->out_ns = 0;
}

void perf_off_cpu_take(const struct perf_record *record)
{
	struct perf_thread *thread = perf_thread_find(record->tid);

	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		thread->out_ns = record->time;
		thread->is_preempted =
			(record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
	} else if (thread->out_ns != 0 && record->time >= thread->out_ns) {
		emit(thread, record->time, 0);
	}
}

static void end_thread(struct perf_thread *thread)
{
	const uint64_t now = perf_now_ns();

	emit(thread, now > thread->out_ns ? now : thread->out_ns, KYMO_RECORD_UNFINISHED);
}

void perf_off_cpu_end(void)
{
	perf_threads_off_cpu(end_thread);
}
