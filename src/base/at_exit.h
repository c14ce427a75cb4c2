/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the program's exit, and forks that come in between. */
#ifndef KYMO_BASE_AT_EXIT_H
#define KYMO_BASE_AT_EXIT_H

/*
 * atexit(3); 0 if it is done. That has a lock which a forked child inherits as it is: one
 * forked while another thread is in there waits for that thread in its own exit for ever.
 * So, from the first call on, a fork waits until no thread is in here.
 */
int ky_at_exit(void (*handler)(void));

#endif
