/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One source of this process and the steps of its life:
 *
 *     NEW --create--> IDLE --prepare, start--> RUNNING --stop, flush--> IDLE
 *
 * What is between prepare and start, or stop and flush, cannot be seen from outside. One
 * whose tick does not end is HUNG, and stays so: nobody may enter it any more.
 *
 * Whoever drives an instance has its claim. When that thread is waited for no more, since
 * an operation does not return, the instance is abandoned: the claim stays, so nobody
 * else enters it, until the operation does return.
 */
#ifndef KYMO_SESSION_INSTANCE_H
#define KYMO_SESSION_INSTANCE_H

#include <kymo/plugin.h>

#include "session/page.h"

enum ky_instance_state {
	KY_NEW,
	KY_IDLE,
	KY_RUNNING,
	KY_HUNG, /* a tick of its timer has not ended */
	KY_TORN, /* a fork came in the middle of its create */
};

struct ky_instance {
	struct kymo_source_host *host;
	const struct kymo_source_ops *ops;
	void *source;
	enum ky_instance_state state;
	uint32_t is_claimed;   /* a thread is in its operations; see host->is_abandoned */
	uint32_t failed_epoch; /* of the session that it is left out of */
	uint32_t is_recording; /* between start and stop */
	uint32_t is_paused;    /* it was told to rest */
	uint32_t guests;       /* threads in push_correlation or pop_correlation */
	const char *operation; /* the last that was entered, for people */
	struct ky_drain drain; /* to be run as the next operation, or none */
	uint64_t drain_deadline_ns;
	uint32_t refused_epoch;    /* of the session whose configuration it has refused */
	struct kymo_error refusal; /* and why */
};

/* KYMO_STATE_* of a source whose operation, or probe, has failed with this status. */
uint32_t ky_instance_state_of(int32_t status);

/*
 * KYMO_ERROR_CONFIG with its reason if it has refused what is configured, and `wanted`
 * sets an option of it. source_lock held.
 */
int32_t ky_instance_refusal(const struct ky_instance *instance, const char *wanted,
			    struct kymo_error *error);

typedef void (*ky_step_fn)(struct ky_instance *instance);

/*
 * The step that brings it nearer to where it should be, or NULL. `is_wanted`: it should
 * be part of the session of page->sources_epoch. Claim the instance before the step.
 */
ky_step_fn ky_instance_next(const struct ky_instance *instance, int is_wanted);

/*
 * In a forked child. The first part makes it as if nothing ran, with the claim taken if
 * the source is to be told; the second tells it.
 */
void ky_instance_reset(struct ky_instance *instance);
void ky_instance_tell_forked(struct ky_instance *instance);

/*
 * The operation that somebody is in has not returned when time was up (or still has not,
 * since an earlier session): the source is left out of this session, and has failed.
 * source_lock held, so that nothing else is said of it behind that.
 */
void ky_instance_give_up(struct ky_instance *instance);
void ky_instance_refuse(struct ky_instance *instance);

/* Calls the operation, if it records and has it; any thread, no claim. */
void ky_instance_push(struct ky_instance *instance, uint16_t domain, uint64_t value);
void ky_instance_pop(struct ky_instance *instance, uint16_t domain);

#endif
