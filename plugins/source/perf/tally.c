/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <errno.h>
#include <stdio.h>

#include "missing.h"

int perf_reading_delta(const struct perf_reading *last, const struct perf_reading *now,
		       uint64_t *delta)
{
	const uint64_t enabled = now->enabled - last->enabled;
	const uint64_t running = now->running - last->running;

	if (running == 0 && enabled > 0)
		return 0;
	for (uint32_t i = 0; i < now->count && i < PERF_GROUP_MAX; i++) {
		delta[i] = now->value[i] - last->value[i];
		if (running < enabled)
			delta[i] = (uint64_t)((double)delta[i] * (double)enabled /
					      (double)running);
	}
	return 1;
}

static int open_event(const struct perf_tally *tally, struct perf_group *group,
		      uint32_t index, const struct perf_event_kind *kind, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.config = kind->config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_kernel = tally->is_user_only != 0,
		.exclude_hv = 1,
	};

	return perf_event_open(&group->events[index], &attr, tid, -1,
			       index > 0 ? &group->events[0] : NULL);
}

/* Who may not count in the kernel is asked for user mode, all of the group alike. */
static void find_kinds(struct perf_tally *tally, const struct perf_event_kind *kinds,
		       uint32_t kind_count, int takes_user, pid_t tid)
{
	for (uint32_t i = 0; i < kind_count; i++) {
		int number = open_event(tally, &tally->groups[0], tally->kind_count,
					&kinds[i], tid);

		if (number == EACCES && takes_user && tally->kind_count == 0 &&
		    !tally->is_user_only) {
			tally->is_user_only = 1;
			number = open_event(tally, &tally->groups[0], 0, &kinds[i], tid);
			if (number == 0)
				perf_missing_add_refused("cpu events in the kernel",
							 EACCES);
		}
		if (number == 0)
			tally->kinds[tally->kind_count++] = &kinds[i];
		else
			perf_missing_add_refused(kinds[i].name, number);
	}
	tally->group_count = tally->kind_count > 0;
}

/* 0, also for a thread that has ended meanwhile; else the errno. */
static int add_thread(struct perf_tally *tally, pid_t tid)
{
	struct perf_group *group = &tally->groups[tally->group_count];
	int number = 0;

	for (uint32_t i = 0; i < tally->kind_count && number == 0; i++)
		number = open_event(tally, group, i, tally->kinds[i], tid);
	if (number == 0) {
		tally->group_count++;
		return 0;
	}
	for (uint32_t i = 0; i < PERF_GROUP_MAX; i++)
		perf_event_close(&group->events[i]);
	return number == ESRCH ? 0 : number;
}

void perf_tally_open(struct perf_tally *tally, const struct perf_event_kind *kinds,
		     uint32_t kind_count, int takes_user,
		     const struct perf_threads *threads)
{
	char what[96];
	int number = 0;

	*tally = (struct perf_tally){.kind_count = 0};
	find_kinds(tally, kinds, kind_count, takes_user, threads->tid[0]);
	if (tally->kind_count == 0)
		return;
	for (uint32_t i = 1; i < threads->count && number == 0; i++)
		number = add_thread(tally, threads->tid[i]);
	if (number == 0 && threads->count == threads->total)
		return;
	snprintf(what, sizeof(what), "%s of %u of %u threads", tally->kinds[0]->name,
		 threads->total - tally->group_count, threads->total);
	if (number != 0)
		perf_missing_add_refused(what, number);
	else
		perf_missing_add(what, PERF_TOO_MANY_THREADS);
}

/* False if it is not known what the group has counted. */
static int take_group(struct perf_tally *tally, struct perf_group *group,
		      uint64_t *values)
{
	struct perf_reading now = {.count = 0};
	uint64_t delta[PERF_GROUP_MAX] = {0};

	if (perf_event_read(&group->events[0], &now, sizeof(now)) <= 0) {
		if (!tally->is_closed)
			perf_missing_add_closed(tally->kinds[0]->name);
		tally->is_closed = 1;
		return 0;
	}
	if (!perf_reading_delta(&group->last, &now, delta))
		return 0;
	for (uint32_t i = 0; i < tally->kind_count; i++)
		values[i] += delta[i];
	tally->enabled += now.enabled - group->last.enabled;
	tally->running += now.running - group->last.running;
	group->last = now;
	return 1;
}

int perf_tally_take(struct perf_tally *tally, uint64_t *values)
{
	int is_known = tally->group_count > 0;

	for (uint32_t i = 0; i < tally->group_count; i++)
		if (!take_group(tally, &tally->groups[i], values))
			is_known = 0;
	return is_known;
}

void perf_tally_close(struct perf_tally *tally)
{
	for (uint32_t i = 0; i < tally->group_count; i++)
		for (uint32_t k = 0; k < PERF_GROUP_MAX; k++)
			perf_event_close(&tally->groups[i].events[k]);
	*tally = (struct perf_tally){.kind_count = 0};
}
