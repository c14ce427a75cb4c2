/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OMPT's callbacks for what the host does: threads, regions, work, waiting.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_HOST_CALL_H
#define KYMO_PLUGINS_SOURCE_OPENMP_HOST_CALL_H

#include "ompt.h"

void ky_on_thread_begin(int type, union ky_ompt_data *thread);
void ky_on_thread_end(union ky_ompt_data *thread);
void ky_on_parallel_begin(union ky_ompt_data *encountering_task, const void *frame,
			  union ky_ompt_data *parallel, unsigned int requested, int flags,
			  const void *code);
void ky_on_parallel_end(union ky_ompt_data *parallel,
			union ky_ompt_data *encountering_task, int flags,
			const void *code);
void ky_on_implicit_task(int endpoint, union ky_ompt_data *parallel,
			 union ky_ompt_data *task, unsigned int actual,
			 unsigned int index, int flags);
void ky_on_work(int kind, int endpoint, union ky_ompt_data *parallel,
		union ky_ompt_data *task, uint64_t count, const void *code);
void ky_on_masked(int endpoint, union ky_ompt_data *parallel, union ky_ompt_data *task,
		  const void *code);
void ky_on_sync_region(int kind, int endpoint, union ky_ompt_data *parallel,
		       union ky_ompt_data *task, const void *code);
void ky_on_sync_region_wait(int kind, int endpoint, union ky_ompt_data *parallel,
			    union ky_ompt_data *task, const void *code);
void ky_on_mutex_acquire(int kind, unsigned int hint, unsigned int impl, uint64_t wait_id,
			 const void *code);
void ky_on_mutex_acquired(int kind, uint64_t wait_id, const void *code);

#endif
