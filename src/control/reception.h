/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where agents come to: the listening socket in a private folder, and the conversations
 * of protocol.h with those that have connected.
 */
#ifndef KYMO_CONTROL_RECEPTION_H
#define KYMO_CONTROL_RECEPTION_H

#include <sys/un.h>

#include "control/custody.h"
#include "control/protocol.h"

struct ky_caller; /* an agent that has connected */

struct ky_reception {
	struct ky_loop *loop;
	struct ky_custody *custody; /* borrowed; where captures come from */
	uint32_t is_following;      /* 1: forked children are admitted */
	const char *types;          /* activity types that are wanted */
	uint32_t is_controlled;     /* 1: orders are taken */
	const char *wanted;         /* sources, for the agents; "": all */
	const char *range;          /* what each is to record of itself; "": all */
	int is_over;                /* nobody is admitted any more */

	char folder[sizeof(((struct sockaddr_un *)0)->sun_path) - 2];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of the socket */
	int listen_fd;
	int reserve_fd; /* given up for a moment to turn callers away when all are used */
	struct ky_watch watch;
	struct ky_caller *callers;
	uint32_t refused_count;
	pid_t refused_pid;
	char refused[400]; /* the first one that was not recorded, and why; for people */
};

/*
 * Makes folder and socket; zero the object before and fill the members before `is_over`.
 * Close accepts an object for which this has failed.
 */
int32_t ky_reception_open(struct ky_reception *reception, struct kymo_error *error);

/* From here on who comes is told that the recording is over; no harm is done. */
void ky_reception_turn_away(struct ky_reception *reception);

/* Ends the conversations and removes folder and socket. */
void ky_reception_close(struct ky_reception *reception);

int ky_reception_is_idle(const struct ky_reception *reception);

/* Ends what has taken too long; milliseconds until that may be so again, or -1. */
int ky_reception_expire(struct ky_reception *reception);

#endif
