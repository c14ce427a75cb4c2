/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The system's own locks that a forked child inherits as they are: one that is forked
 * while another thread is in atexit(3) waits for that thread in its own exit for ever,
 * and after dl_iterate_phdr(3) in its next dlopen.
 */
#ifndef KYMO_BASE_FORK_GUARD_H
#define KYMO_BASE_FORK_GUARD_H

/*
 * In between one thread is at once, and others do not fork; from the first call on the
 * process has an atfork handler for that. Both keep errno. Nothing that forks or enters
 * again may be called there: it would wait for its own thread.
 */
void ky_fork_guard_enter(void);
void ky_fork_guard_leave(void);

/* atexit(3) in there; 0 if it is done. */
int ky_at_exit(void (*handler)(void));

#endif
