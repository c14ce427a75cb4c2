/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PM sampling: the devices' own counters at an interval, as gpu_pm_counter. Optional:
 * what goes wrong here is told and costs the activities nothing.
 *
 * Devices are opened from the tick, never while the vendor's loader holds its locks, and
 * only those that the program uses: sampling is exclusive, and of eight processes with
 * eight devices each may use one.
 *
 * But for pm_rehearse() and pm_seen() the calls come one at a time, as operations and
 * ticks of a source do. Life:
 *
 *     create -> prepare -> start -> (tick | pause)* -> stop -> release -> prepare ...
 */
#ifndef KYMO_CUDA_PM_H
#define KYMO_CUDA_PM_H

#include <kymo/plugin.h>

struct pm_cupti;

struct pm_setup {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t type; /* gpu_pm_counter's number */
	/*
	 * The device's number for the host, the clock of CUPTI's times, and its reading.
	 */
	uint32_t (*device)(uint32_t index);
	uint32_t (*clock)(void);
	uint64_t (*now)(void);
	/*
	 * The vendor's libraries have registered what takes them down at the end, so the
	 * sampling has to end before that: from now on, and from each later such moment
	 * on.
	 */
	void (*loaded)(void);
	/* Says what is missing: the source goes on with the rest. */
	void (*partly)(const char *reason, const char *remedy);
};

void pm_create(const struct pm_setup *setup);

/* Reads the options. KYMO_ERROR_CONFIG: one of them cannot be meant. */
int32_t pm_prepare(const struct kymo_source_session *session, struct kymo_error *error);

/* Valid until pm_release; NULL: CUPTI has no PM sampling. Calls nothing of it yet. */
void pm_start(const struct pm_cupti *cupti);

/*
 * A thread of the program is about to use this device: the metrics are checked there, and
 * told of when the device is opened. It is the first use of a library that takes itself
 * down when the program ends, with the tick in it or not, and cannot end while its thread
 * is here. False: there is no such device, or nothing is sampled.
 */
int pm_rehearse(uint32_t index);

/* How often pm_tick is to be called, in ns; 0: nothing is to be sampled. */
uint64_t pm_period(void);

/* The program uses the device. From any thread. */
void pm_seen(uint32_t index);

void pm_tick(void);
void pm_pause(uint32_t is_paused);

/* Ends the sampling, emits what is there up to the deadline, and tells what was lost. */
void pm_stop(uint64_t deadline_ns);

/*
 * Gives the devices back. After CUPTI's activities have been flushed: some versions end
 * all of CUPTI with it.
 */
void pm_release(void);

/* In a forked child: forgets everything, frees nothing. pm_prepare follows. */
void pm_forked(void);

#endif
