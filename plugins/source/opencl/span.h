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

/* The body of a wrapped call that launches nothing, and after which nothing is to do. */
#define KY_SPAN_CALL(call, function, ...)               \
	do {                                            \
		uint64_t begin;                         \
		cl_int error;                           \
                                                        \
		if (!ky_state_is_recording())           \
			return (function)(__VA_ARGS__); \
		begin = ky_span_begin(call);            \
		error = (function)(__VA_ARGS__);        \
		ky_span_end(call, begin, error);        \
		return error;                           \
	} while (0)

#endif
