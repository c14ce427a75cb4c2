/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Being CUPTI's subscriber: only while something is recorded, so that other tools have
 * their turn, and only when the vendor may be called.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_ATTACH_H
#define KYMO_PLUGINS_SOURCE_CUDA_ATTACH_H

#include "source.h"
#include "trouble.h"

/* What prepare found out, for the attach that follows, now or later. */
void ky_attach_prepare(const struct kymo_source_session *session);

/*
 * Finds a library that goes with the driver, subscribes, and has all wanted kinds
 * recorded. On failure nothing is held, and `trouble` says why; on success it has a
 * reason if something is missing. No effect if attached.
 */
int32_t ky_attach(struct ky_trouble *trouble);

/* Has the wanted kinds recorded, or not. */
void ky_attach_switch(int is_on);

/* Gives CUPTI up; nothing of it may be in our callbacks: flush first. */
void ky_detach(void);
void ky_attach_forked(void);

/* The library that CUPTI's functions come from, for who only looks: see probe.c. */
int ky_attach_find_library(struct ky_trouble *trouble);

#endif
