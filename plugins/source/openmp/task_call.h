/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OMPT's callbacks for explicit tasks.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_TASK_CALL_H
#define KYMO_PLUGINS_SOURCE_OPENMP_TASK_CALL_H

#include "ompt.h"

void ky_on_task_create(union ky_ompt_data *encountering_task, const void *frame,
		       union ky_ompt_data *created, int flags, int has_dependences,
		       const void *code);
void ky_on_task_schedule(union ky_ompt_data *prior, int prior_status,
			 union ky_ompt_data *next);

#endif
