/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OMPT's callbacks for target constructs. Those with EMI in their names tell begin and
 * end of each operation; the others, of runtimes that have only them, tell that there was
 * one.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_TARGET_CALL_H
#define KYMO_PLUGINS_SOURCE_OPENMP_TARGET_CALL_H

#include "ompt.h"

void ky_on_target_emi(int kind, int endpoint, int device, union ky_ompt_data *task,
		      union ky_ompt_data *target_task, union ky_ompt_data *target,
		      const void *code);
void ky_on_target_data_op_emi(int endpoint, union ky_ompt_data *target_task,
			      union ky_ompt_data *target, uint64_t *host_op_id,
			      int operation, void *source, int source_device,
			      void *destination, int destination_device, size_t bytes,
			      const void *code);
void ky_on_target_submit_emi(int endpoint, union ky_ompt_data *target,
			     uint64_t *host_op_id, unsigned int teams);

void ky_on_target(int kind, int endpoint, int device, union ky_ompt_data *task,
		  uint64_t target_id, const void *code);
void ky_on_target_data_op(uint64_t target_id, uint64_t host_op_id, int operation,
			  void *source, int source_device, void *destination,
			  int destination_device, size_t bytes, const void *code);
void ky_on_target_submit(uint64_t target_id, uint64_t host_op_id, unsigned int teams);

#endif
