/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Being CUPTI's subscriber: only while something is recorded, so that other tools have
 * their turn, and only when the vendor may be called.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_ATTACH_H
#define KYMO_PLUGINS_SOURCE_CUDA_ATTACH_H

#include "source.h"
#include "trouble.h"

/* What is wanted, for the attach that follows, now or later. KYMO_ERROR_CONFIG: an
 * option.
 */
int32_t ky_attach_prepare(const struct kymo_source_session *session,
			  struct kymo_error *error);

/* Reads the options that are not of PM sampling. KYMO_ERROR_CONFIG: one of them. */
int32_t ky_attach_check(struct kymo_error *error);

/*
 * Finds a library that goes with the driver, subscribes, and has all wanted kinds
 * recorded. On failure nothing is held, and `trouble` says why; on success it has a
 * reason if something is missing.
 */
int32_t ky_attach(struct ky_trouble *trouble);

/* How often what is complete is to be handed over; 0: only when buffers are full. */
uint64_t ky_attach_flush_period_ns(void);

/* Rests, or goes on. */
void ky_attach_pause(int is_paused);
/* Nothing more is to be recorded; what there is can be flushed. */
void ky_attach_stop(void);

/* Gives CUPTI up; nothing of it may be in our callbacks: flush first. */
void ky_detach(void);
void ky_attach_forked(void);

/* The library that CUPTI's functions come from, for who only looks: see probe.c. */
int ky_attach_find_library(struct ky_trouble *trouble);

#endif
