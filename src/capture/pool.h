/* SPDX-License-Identifier: BSD-3-Clause */
/* The chunks and slots that leases are made of; the program's side, pool_lock held. */
#ifndef KYMO_CAPTURE_POOL_H
#define KYMO_CAPTURE_POOL_H

#include "capture/capture.h"

/*
 * Index + 1 of a chunk with room for `lines`, LEASED now; 0 if there is none. Where that
 * is the policy the oldest full one is taken, after its records have been counted.
 */
uint32_t ky_pool_take(struct ky_capture *capture, uint32_t lines);

/* Ends the lease of the chunk (index + 1), which is given on or sealed. */
void ky_pool_give(struct ky_capture *capture, uint32_t chunk, int has_room);

/* Remembers that none is left, until one is given, or FREE again. */
void ky_pool_note_empty(struct ky_capture *capture);

/* Any thread, without the lock: one load, or two. */
int ky_pool_is_empty(const struct ky_capture *capture);

/* A slot of counts for a thread, or NULL. */
struct ky_writer_slot *ky_pool_take_slot(struct ky_capture *capture);
void ky_pool_give_slot(struct ky_capture *capture, struct ky_writer_slot *slot);

#endif
