/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writers of this process, for what takes leases away. The list is under pool_lock,
 * but `used` and, of each writer, busy and epoch may be read without.
 */
#ifndef KYMO_CAPTURE_WRITERS_H
#define KYMO_CAPTURE_WRITERS_H

#include "capture/lease.h"

struct ky_writers {
	struct ky_writer *all;
	uint32_t used;
	uint32_t free; /* index + 1 of the first one given back */
};

extern struct ky_writers ky_writers;

/*
 * The writer's chunk and slot go back: it takes part no more. Its thread is not inside.
 * pool_lock held.
 */
void ky_lease_give_all(struct ky_capture *capture, struct ky_writer *writer);

/*
 * When no chunk is left: gives on those of threads that have not written for a while.
 * How many there were; pool_lock held.
 */
uint32_t ky_lease_revoke_idle(struct ky_capture *capture, uint64_t now_ns);

#endif
