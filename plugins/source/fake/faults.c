/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as a bad source would have them: around those of fake_ops. Bad records are
 * made in spoil.c.
 */
#include "faults.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fault.h"
#include "option.h"
#include "report.h"
#include "source.h"

#define MS UINT64_C(1000000)

static const char *const fault_names[FAKE_FAULT_COUNT + 1] = {
	[FAKE_FAULT_ZERO] = "zero",
	[FAKE_FAULT_BACKWARDS] = "backwards",
	[FAKE_FAULT_WINDOW] = "window",
	[FAKE_FAULT_OVERLAP] = "overlap",
	[FAKE_FAULT_TWICE] = "twice",
	[FAKE_FAULT_SAME] = "same",
	[FAKE_FAULT_TYPE] = "type",
	[FAKE_FAULT_TRACK] = "track",
	[FAKE_FAULT_DOMAIN] = "domain",
	[FAKE_FAULT_NAME] = "name",
	[FAKE_FAULT_ATTRIBUTES] = "attributes",
	[FAKE_FAULT_KEY_NUMBER] = "key",
	[FAKE_FAULT_LINES] = "lines",
	[FAKE_FAULT_KIND] = "kind",
	[FAKE_FAULT_UNWANTED] = "unwanted",
	[FAKE_FAULT_LATE] = "late",
	[FAKE_FAULT_LOSSES] = "losses",
	[FAKE_FAULT_NAMES] = "names",
	[FAKE_FAULT_CRASH] = "crash",
	[FAKE_FAULT_KILL] = "kill",
	[FAKE_FAULT_CREATE] = "create",
	[FAKE_FAULT_PREPARE] = "prepare",
	[FAKE_FAULT_START] = "start",
	[FAKE_FAULT_STOP] = "stop",
	[FAKE_FAULT_FLUSH] = "flush",
	[FAKE_FAULT_PAUSE] = "pause",
	[FAKE_FAULT_DRAIN] = "drain",
	[FAKE_FAULT_TOLD] = "told",
	[FAKE_FAULT_STUCK] = "stuck",
	[FAKE_FAULT_SLOW] = "slow",
	[FAKE_FAULT_HANG] = "hang",
	[FAKE_FAULT_AGAIN] = "again",
	[FAKE_FAULT_NEVER] = "never",
	[FAKE_FAULT_RESTLESS] = "restless",
};

KYMO_STATIC_ASSERT(FAKE_COUNT_FAULTS + FAKE_FAULT_COUNT <= FAKE_COUNT_MAX);

struct fake_faults fake_faults;

/* The real host with calls of spoil.c. */
static struct kymo_host spoilt_host;
static kymo_drain_fn real_drain;

void fake_fault_count(enum fake_fault fault)
{
	fake_report_add(FAKE_COUNT_FAULTS + fault, 1);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000u),
				      (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
		;
}

static void sleep_ms(uint64_t ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sleep_until((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ms * MS);
}

static void start_thread(void *(*body)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) == 0)
		pthread_detach(thread);
}

/* "a+b" as bits; what is no fault is an error, so that no test tests nothing. */
static int32_t read_faults(const char *all, struct kymo_error *error)
{
	const char *text = all;
	uint64_t wanted = 0;

	while (*text) {
		const size_t size = strcspn(text, "+");
		int fault = 0;

		while (fault < FAKE_FAULT_COUNT &&
		       (strlen(fault_names[fault]) != size ||
			memcmp(fault_names[fault], text, size) != 0))
			fault++;
		if (fault == FAKE_FAULT_COUNT) {
			if (error) {
				error->status = KYMO_ERROR_CONFIG;
				snprintf(error->message, sizeof(error->message),
					 "no fault is called so: %.200s", all);
			}
			return KYMO_ERROR_CONFIG;
		}
		wanted |= (uint64_t)1 << fault;
		text += size + (text[size] == '+');
	}
	fake_faults.wanted = wanted;
	return KYMO_OK;
}

/* The environment's faults are left to create: they are for programs' own sessions. */
static int32_t check(const struct kymo_host *host, struct kymo_source_host *self,
		     struct kymo_error *error)
{
	char text[1024];

	fake_option_text(host, self, "fault", NULL, text, sizeof(text));
	return read_faults(text, error);
}

static int32_t fail(enum fake_fault fault, struct kymo_error *error)
{
	fake_fault_count(fault);
	while (fake_fault_is_wanted(FAKE_FAULT_STUCK))
		sleep_ms(1000);
	if (fake_fault_is_wanted(FAKE_FAULT_TOLD))
		fake_faults.real->state(fake_faults.self, KYMO_STATE_BUSY,
					KYMO_STR("\"somebody else\"\nhas it"),
					KYMO_STR("wait for them"));
	if (error) {
		error->status = fake_faults.status;
		snprintf(error->message, sizeof(error->message),
			 "the fault \"%s\" was asked for", fault_names[fault]);
	}
	return fake_faults.status;
}

/*
 * The report waits for the drain, which still emits. What a constructor registers for the
 * exit is run file by file, so which of two files comes first is not ours to say.
 */
static void drain_and_report(void *source, uint64_t deadline_ns)
{
	if (fake_fault_is_wanted(FAKE_FAULT_DRAIN))
		fail(FAKE_FAULT_DRAIN, NULL);
	real_drain(source, deadline_ns);
	fake_report_write();
}

static int32_t at_exit(struct kymo_source_host *self, kymo_drain_fn drain, void *source)
{
	real_drain = drain;
	return fake_faults.real->at_exit(self, drain_and_report, source);
}

/* A newer host's table is longer than ours: what we do not know stays out. */
static const struct kymo_host *spoil_host(const struct kymo_host *host)
{
	uint32_t size = host->struct_size;

	if (size > sizeof(spoilt_host))
		size = sizeof(spoilt_host);
	memcpy(&spoilt_host, host, size);
	spoilt_host.struct_size = size;
	spoilt_host.emit = fake_spoil_emit;
	spoilt_host.lost = fake_spoil_lost;
	spoilt_host.string = fake_spoil_string;
	spoilt_host.at_exit = at_exit;
	return &spoilt_host;
}

/* Of the session that begins; create is called for the first one only. */
static int32_t read_options(struct kymo_error *error)
{
	char text[1024];

	fake_option_text(fake_faults.real, fake_faults.self, "status", NULL, text,
			 sizeof(text));
	fake_faults.status = (int32_t)strtol(text, NULL, 10);
	fake_option_text(fake_faults.real, fake_faults.self, "fault", "FAKE_FAULT", text,
			 sizeof(text));
	return read_faults(text, error);
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	char path[2048];
	int32_t status;

	fake_faults.real = host;
	fake_faults.self = self;
	status = read_options(error);
	if (status)
		return status;
	fake_option_text(host, self, "report", "FAKE_REPORT", path, sizeof(path));
	if (path[0])
		fake_report_open(path, fault_names);
	if (fake_fault_is_wanted(FAKE_FAULT_CREATE))
		return fail(FAKE_FAULT_CREATE, error);
	if (!path[0] && !fake_faults.wanted)
		return fake_ops.create(host, self, numbers, source, error);
	return fake_ops.create(spoil_host(host), self, numbers, source, error);
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	const int32_t status = read_options(error);

	if (status)
		return status;
	if (fake_faults.wanted)
		fake_source.host = spoil_host(fake_faults.real);
	fake_faults.every = (uint64_t)fake_option_number("every");
	fake_faults.every += fake_faults.every == 0;
	fake_faults.at = (uint64_t)fake_option_number("at");
	fake_faults.rate = (uint64_t)fake_option_number("rate");
	fake_faults.epoch = session->epoch;
	if (fake_fault_is_wanted(FAKE_FAULT_PREPARE))
		return fail(FAKE_FAULT_PREPARE, error);
	return fake_ops.prepare(source, session, error);
}

/* Knows no end. */
static void *run_restlessly(void *unused)
{
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_INSTANT,
					.lines = 1,
					.type = fake_source.types[NOTE],
				}};

	for (;;) {
		line.record.begin = line.record.end = fake_faults.real->now();
		fake_fault_count(FAKE_FAULT_RESTLESS);
		fake_spoil_give(&line, 1);
		sleep_ms(1);
	}
	return unused;
}

/* Fails when everything has begun, and leaves it so. */
static int32_t start(void *source, struct kymo_error *error)
{
	const int32_t status = fake_ops.start(source, error);

	if (status == KYMO_OK && fake_fault_is_wanted(FAKE_FAULT_RESTLESS))
		start_thread(run_restlessly);
	return status == KYMO_OK && fake_fault_is_wanted(FAKE_FAULT_START)
		       ? fail(FAKE_FAULT_START, error)
		       : status;
}

static void *stop_later(void *unused)
{
	const uint32_t epoch = fake_faults.epoch;

	sleep_ms(100);
	fake_ops.stop(&fake_source, 0);
	fake_faults.real->stopped(fake_faults.self, epoch);
	return unused;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	int32_t status;

	if (fake_fault_is_wanted(FAKE_FAULT_AGAIN) ||
	    fake_fault_is_wanted(FAKE_FAULT_NEVER)) {
		fake_fault_count(fake_fault_is_wanted(FAKE_FAULT_AGAIN)
					 ? FAKE_FAULT_AGAIN
					 : FAKE_FAULT_NEVER);
		if (fake_fault_is_wanted(FAKE_FAULT_AGAIN))
			start_thread(stop_later);
		return KYMO_AGAIN;
	}
	if (fake_fault_is_wanted(FAKE_FAULT_SLOW)) {
		sleep_until(deadline_ns - 1000 * MS);
		fake_fault_count(FAKE_FAULT_SLOW);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_HANG)) {
		sleep_until(deadline_ns + 5000 * MS);
		fake_fault_count(FAKE_FAULT_HANG);
	}
	status = fake_ops.stop(source, deadline_ns);
	return fake_fault_is_wanted(FAKE_FAULT_STOP) ? fail(FAKE_FAULT_STOP, NULL)
						     : status;
}

static void *emit_late(void *unused)
{
	sleep_ms(100);
	fake_spoil_give_held();
	return unused;
}

static int32_t flush(void *source, uint64_t deadline_ns)
{
	const int32_t status = fake_ops.flush(source, deadline_ns);

	if (fake_fault_is_wanted(FAKE_FAULT_LATE))
		start_thread(emit_late);
	return fake_fault_is_wanted(FAKE_FAULT_FLUSH) ? fail(FAKE_FAULT_FLUSH, NULL)
						      : status;
}

static void forked(void *source)
{
	fake_spoil_forked();
	fake_report_forked();
	fake_ops.forked(source);
}

/* What has no faults is asked for at run time: it is no constant of this file. */
static int32_t probe(struct kymo_probe *out, struct kymo_error *error)
{
	return fake_ops.probe(out, error);
}

static void destroy(void *source)
{
	fake_ops.destroy(source);
}

static void set_paused(void *source, uint32_t paused)
{
	fake_ops.set_paused(source, paused);
	if (fake_fault_is_wanted(FAKE_FAULT_PAUSE))
		fail(FAKE_FAULT_PAUSE, NULL);
}

static int32_t sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	return fake_ops.sample_clock(source, clock, out);
}

const struct kymo_source_ops fake_faulty_ops = {
	.struct_size = sizeof(fake_faulty_ops),
	.probe = probe,
	.create = create,
	.destroy = destroy,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.flush = flush,
	.sample_clock = sample_clock,
	.push_correlation = fake_region_push,
	.pop_correlation = fake_region_pop,
	.forked = forked,
	.check = check,
};
