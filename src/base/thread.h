/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of the library in somebody else's program, and waiting for a word to change. */
#ifndef KYMO_BASE_THREAD_H
#define KYMO_BASE_THREAD_H

#include <stdint.h>

/*
 * Starts a thread that nobody joins, named "kymo". It blocks the signals that are sent,
 * so that the program's handlers do not run on it. KYMO_ERROR_NO_MEMORY.
 */
int32_t ky_thread_start(void (*run)(void *context), void *context);

/* Waits until `due_ns` of CLOCK_MONOTONIC or until the word is not `seen`. */
void ky_wait_for_change(uint32_t *word, uint32_t seen, uint64_t due_ns);

/* Changes the word, and tells everybody who waits for that. */
void ky_tell_change(uint32_t *word);

#endif
