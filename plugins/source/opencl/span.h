/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans of the calling thread: one for each traced call of the program.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_SPAN_H
#define KYMO_PLUGINS_SOURCE_OPENCL_SPAN_H

#include "layer.h"

/* Records a call that is over. `correlation` 0: it launched nothing that is recorded. */
void ky_span_emit(enum ky_call call, uint64_t begin, uint64_t end, cl_int error,
		  uint64_t correlation);

/*
 * The same around a call that launches nothing. begin returns what end wants back.
 * Neither changes errno.
 */
uint64_t ky_span_begin(enum ky_call call);
void ky_span_end(enum ky_call call, uint64_t begin, cl_int error);

#endif
