/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread is to OpenMP, as part of its row's name: "prog, OpenMP worker".
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_ROLE_H
#define KYMO_PLUGINS_SOURCE_OPENMP_ROLE_H

#include "thread.h"

/* Names the thread's track, if it has told a role and there is a host to be told. */
void ky_role_tell(const struct ky_thread *thread);

#endif
