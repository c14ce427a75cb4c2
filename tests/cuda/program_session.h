/* SPDX-License-Identifier: BSD-3-Clause */
/* Kymo in the program itself: sessions of its own, and operations as a framework tells of
 * them. */
#ifndef KYMO_TESTS_CUDA_PROGRAM_SESSION_H
#define KYMO_TESTS_CUDA_PROGRAM_SESSION_H

#include <stdint.h>

/* Each ends the program with a message where it fails. The plug-in is $CUDA_SOURCE. */
void program_session_start(const char *options);
void program_session_pause(void);
void program_session_resume(void);
void program_session_stop(void);
void program_session_save(const char *path);
/* Under a recorder: all of its processes record from now on, or rest. Else nothing. */
void program_order(int is_to_record);

/* Returns what the end needs. */
uint64_t program_operation_begin(uint64_t number);
void program_operation_end(uint64_t number, uint64_t begin, const char *name);

#endif
