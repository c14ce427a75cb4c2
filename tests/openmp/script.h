/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What scenarios are made of.
 */
#ifndef KYMO_TESTS_OPENMP_SCRIPT_H
#define KYMO_TESTS_OPENMP_SCRIPT_H

#include <pthread.h>

#include "fake_runtime.h"

#define TEAM_MAX 64

/* Threads that play one part each, and meet. */
struct team {
	unsigned int count;
	pthread_barrier_t barrier;
	union ky_ompt_data region, task[TEAM_MAX];
};

struct scenario {
	const char *name;
	void (*play)(struct team *team, unsigned int index);
	unsigned int threads; /* that play it; the first is the initial one */
	const int *never;     /* events that the runtime does not have; NULL: none */
	int starts_itself;    /* the recording, in the middle */
};

/* Ends with one without a name. */
extern const struct scenario scenarios[];

void script_record(void);
void script_stop(void);
void script_pause(int is_paused);
/* A session of a forked child, to TRACE.NUMBER.json. */
void script_save_as_child(unsigned int number);

/* Long enough to be seen in a trace. */
void script_nap(void);

/* Waits for the others of the team. */
void script_meet(struct team *team);

#endif
