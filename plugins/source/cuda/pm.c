/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "pm_sampling.h"

#define PERIOD_NS 10000000u    /* between two decodes: 64 MiB last far longer */
#define NEAR_NS   60000000000u /* of two clocks that are so near, one is the other */

/* Held where the vendor is called: nothing says that two threads may. */
static pthread_mutex_t vendor_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	struct pm_setup setup;
	const struct pm_cupti *cupti;
	struct pm_options options;
	struct pm_out out;
	struct pm_problem trouble; /* found by pm_prepare; reason "": none */
	uint32_t is_wanted;        /* this session samples */
	uint64_t rehearsed;        /* a bit for each device whose chip was asked about */
	atomic_ullong seen;        /* a bit for each device that the program uses */
	struct pm_device devices[PM_DEVICES_MAX];
} pm;

static void tell(const struct pm_problem *problem)
{
	char reason[sizeof(problem->reason) + 32];

	snprintf(reason, sizeof(reason), "no PM sampling: %s", problem->reason);
	pm.setup.partly(reason, problem->remedy);
}

static void tell_of(const struct pm_device *device, const char *what,
		    const struct pm_problem *problem)
{
	char reason[sizeof(problem->reason) + 64];

	snprintf(reason, sizeof(reason), "%s of GPU %" PRIu32 ": %s", what, device->index,
		 problem->reason);
	pm.setup.partly(reason, problem->remedy);
}

void pm_create(const struct pm_setup *setup)
{
	memset(&pm, 0, sizeof(pm));
	pm.setup = *setup;
}

/* ---- Its row ---- */

static void put_metadata(const char *name, uint64_t value)
{
	const struct kymo_key_desc desc = {.struct_size = sizeof(desc),
					   .value_type = KYMO_VALUE_UINT64,
					   .name = name};
	struct kymo_value out = {.type = KYMO_VALUE_UINT64, .u64 = value};

	if (pm.setup.host->key(pm.setup.self, &desc, &out.key) == KYMO_OK)
		pm.setup.host->metadata(pm.setup.self, &out);
}

static int32_t register_group(struct pm_device *device)
{
	struct kymo_counter_desc counters[PM_METRICS_MAX];
	const struct kymo_counter_desc *list[PM_METRICS_MAX];

	for (size_t i = 0; i < device->set.count; i++) {
		const char *metric = device->set.metrics[i];

		counters[i] = (struct kymo_counter_desc){
			.struct_size = sizeof(counters[i]),
			.value_type = KYMO_VALUE_DOUBLE,
			.name = kymo_text(metric),
			.unit = kymo_text(pm_set_unit(&device->set, pm.cupti, metric)),
		};
		list[i] = &counters[i];
	}
	return pm.setup.host->counter_group(pm.setup.self, device->track,
					    KYMO_STR("PM sampling"), list,
					    device->set.count, &device->group);
}

static int is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < NEAR_NS;
}

/*
 * Samples are said to be timed by CUPTI's clock. A version that does not turn the
 * device's times gives those of the driver, which begin where CLOCK_REALTIME does.
 */
static uint32_t clock_of(uint64_t time)
{
	const struct kymo_clock_desc desc = {.struct_size = sizeof(desc),
					     .kind = KYMO_CLOCK_REALTIME,
					     .bits = 64,
					     .ticks_num = 1000000000,
					     .ticks_den = 1,
					     .name = KYMO_STR("GPU, by CLOCK_REALTIME")};
	struct timespec now;
	uint32_t clock;

	clock_gettime(CLOCK_REALTIME, &now);
	if (is_near(time, pm.setup.now()) ||
	    !is_near(time, (uint64_t)now.tv_sec * 1000000000u) ||
	    pm.setup.host->clock(pm.setup.self, &desc, &clock) != KYMO_OK)
		return pm.setup.clock();
	return clock;
}

/* With the first sample, which all of the library has had a part in. */
static int place(struct pm_device *device, uint64_t time, struct pm_problem *problem)
{
	const struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_COUNTER,
		.native = device->index,
		.device = pm.setup.device(device->index),
		.clock = clock_of(time),
		.name = KYMO_STR("PM sampling"),
	};
	const int by_time = device->trigger == PM_TRIGGER_TIME;
	int32_t status = pm.setup.host->track(pm.setup.self, &track, &device->track);

	pm.setup.loaded();
	put_metadata(by_time ? "PM interval (ns)" : "PM interval (cycles)",
		     device->interval);
	put_metadata("PM memory (bytes)", pm.options.buffer_size);
	if (status == KYMO_OK)
		status = register_group(device);
	if (status != KYMO_OK)
		snprintf(problem->reason, sizeof(problem->reason),
			 "no room for the names of its counters");
	return status == KYMO_OK;
}

/* ---- The beginning ---- */

/* Metrics that are named, and a type that is not, mean something else than nothing. */
static int is_asked_for(const struct kymo_source_session *session)
{
	if (kymo_source_wants(session, pm.setup.type))
		return 1;
	if (pm.options.metric_count > 0)
		pm.trouble = (struct pm_problem){
			"the type gpu_pm_counter is not among those to record",
			"add --types default,gpu_pm_counter"};
	return 0;
}

int32_t pm_prepare(const struct kymo_source_session *session, struct kymo_error *error)
{
	struct pm_problem problem = {0};
	int is_good;

	pthread_mutex_lock(&vendor_lock);
	pm.cupti = NULL; /* a context may be made before pm_start says which it is */
	memset(pm.devices, 0, sizeof(pm.devices));
	memset(&pm.trouble, 0, sizeof(pm.trouble));
	pm.out = (struct pm_out){.host = pm.setup.host,
				 .self = pm.setup.self,
				 .place = place,
				 .type = pm.setup.type};
	is_good = pm_options_read(&pm.options, pm.setup.host, pm.setup.self, &problem);
	pm.is_wanted = is_good && is_asked_for(session);
	pthread_mutex_unlock(&vendor_lock);
	if (!is_good && error) {
		error->status = KYMO_ERROR_CONFIG;
		snprintf(error->message, sizeof(error->message), "%.*s",
			 (int)sizeof(error->message) - 1, problem.reason);
	}
	return is_good ? KYMO_OK : KYMO_ERROR_CONFIG;
}

void pm_start(const struct pm_cupti *cupti)
{
	pthread_mutex_lock(&vendor_lock);
	pm.cupti = pm.out.cupti = cupti;
	if (pm.is_wanted && !cupti) {
		pm.is_wanted = 0;
		pm.trouble = (struct pm_problem){"this CUPTI is older than 12.6",
						 "install CUDA 12.6 or later"};
	}
	pthread_mutex_unlock(&vendor_lock);
	if (pm.trouble.reason[0])
		tell(&pm.trouble);
}

/* vendor_lock held. */
static int rehearse(uint32_t index)
{
	const uint64_t bit = 1ull << index;

	if (!pm.is_wanted || !pm.cupti)
		return 0;
	if (pm.rehearsed & bit)
		return 1;
	if (!pm_device_rehearse(index, pm.cupti, &pm.options))
		return 0;
	pm.rehearsed |= bit;
	pm.setup.loaded();
	return 1;
}

/* Never waits: the tick may wait for locks of the driver's that this thread holds. */
int pm_rehearse(uint32_t index)
{
	int is_there;

	if (index >= PM_DEVICES_MAX || pthread_mutex_trylock(&vendor_lock) != 0)
		return 0;
	is_there = rehearse(index);
	pthread_mutex_unlock(&vendor_lock);
	return is_there;
}

uint64_t pm_period(void)
{
	return pm.is_wanted ? PERIOD_NS : 0;
}

void pm_seen(uint32_t index)
{
	if (index < PM_DEVICES_MAX)
		atomic_fetch_or(&pm.seen, 1ull << index);
}

/* ---- A device ---- */

/* What was opened in vain is closed at the end: giving it back may end all of CUPTI. */
static void begin(uint32_t index)
{
	struct pm_device *device = &pm.devices[index];
	struct pm_problem problem = {0};

	if (pm_device_open(device, index, pm.cupti, &pm.options, &problem) &&
	    pm_device_start(device, pm.cupti, &problem)) {
		pm.setup.loaded();
		return;
	}
	tell_of(device, "no PM sampling", &problem);
	device->state = PM_LEFT;
}

static void decode(struct pm_device *device, uint64_t deadline_ns)
{
	struct pm_problem problem = {0};
	int is_drained;

	if (!pm_sampling_decode(device, &pm.out, deadline_ns, &is_drained, &problem))
		tell_of(device, "the end of PM sampling", &problem);
}

/* ---- All of them ---- */

static void serve(uint32_t index, uint64_t deadline_ns)
{
	struct pm_device *device = &pm.devices[index];

	if (device->state == PM_UNTOUCHED)
		begin(index);
	else if (device->state == PM_SAMPLING)
		decode(device, deadline_ns);
}

void pm_tick(void)
{
	const uint64_t devices = atomic_load(&pm.seen) & pm.options.devices;
	/* The thread of all timers is to be back before the next tick. */
	const uint64_t deadline_ns = ky_monotonic_ns() + PERIOD_NS / 2;

	pthread_mutex_lock(&vendor_lock);
	for (uint32_t i = 0; i < PM_DEVICES_MAX && pm.is_wanted; i++)
		if (devices & 1ull << i)
			serve(i, deadline_ns);
	pthread_mutex_unlock(&vendor_lock);
}

/* What was sampled before belongs to what was before. */
void pm_pause(uint32_t is_paused)
{
	const uint64_t deadline_ns = ky_monotonic_ns() + PERIOD_NS;

	pthread_mutex_lock(&vendor_lock);
	for (uint32_t i = 0; i < PM_DEVICES_MAX; i++)
		if (pm.devices[i].state == PM_SAMPLING)
			decode(&pm.devices[i], deadline_ns);
	pm.out.is_paused = is_paused != 0;
	pthread_mutex_unlock(&vendor_lock);
}

static void tell_losses(const struct pm_device *device)
{
	const struct pm_counts *counts = &device->counts;
	struct pm_problem problem = {0};

	if (counts->lost == 0)
		return;
	snprintf(problem.reason, sizeof(problem.reason),
		 "at least %" PRIu64 " of %" PRIu64 " samples are lost; %" PRIu64
		 " overflows of its memory, %" PRIu64 " samples that could not be "
		 "evaluated, %" PRIu64 " not decoded in time",
		 counts->lost, counts->lost + counts->samples, counts->overflows,
		 counts->unevaluated, counts->pending);
	if (counts->overflows)
		snprintf(problem.remedy, sizeof(problem.remedy),
			 "a longer pm_interval or a larger pm_buffer");
	tell_of(device, "PM sampling", &problem);
}

static void end(struct pm_device *device, uint64_t deadline_ns, struct pm_counts *all)
{
	struct pm_problem problem = {0};

	if (device->state == PM_SAMPLING) {
		if (pm_sampling_stop(device, &pm.out, deadline_ns, &problem))
			tell_losses(device);
		else
			tell_of(device, "the end of PM sampling", &problem);
	}
	all->samples += device->counts.samples;
	all->lost += device->counts.lost;
	all->overflows += device->counts.overflows;
	all->early_ends += device->counts.early_ends;
}

void pm_stop(uint64_t deadline_ns)
{
	struct pm_counts all = {0};

	pthread_mutex_lock(&vendor_lock);
	if (!pm.is_wanted)
		goto out;
	pm.is_wanted = 0;
	for (uint32_t i = 0; i < PM_DEVICES_MAX; i++)
		end(&pm.devices[i], deadline_ns, &all);
	put_metadata("PM samples", all.samples);
	put_metadata("PM samples lost, at least", all.lost);
	put_metadata("PM memory overflows", all.overflows);
	put_metadata("PM decodes that ended early", all.early_ends);
out:
	pthread_mutex_unlock(&vendor_lock);
}

void pm_release(void)
{
	pthread_mutex_lock(&vendor_lock);
	for (uint32_t i = 0; i < PM_DEVICES_MAX; i++)
		pm_device_close(&pm.devices[i], pm.cupti);
	pthread_mutex_unlock(&vendor_lock);
}

void pm_forked(void)
{
	const struct pm_setup setup = pm.setup;

	pthread_mutex_init(&vendor_lock, NULL); /* its owner may not exist here */
	pm_create(&setup);
}
