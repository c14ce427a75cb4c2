/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host spans. All of this is hot: nothing here allocates, locks or blocks.
 */
#include "span.h"

void ky_span_emit(enum ky_call call, uint64_t begin, uint64_t end, cl_int error,
		  uint64_t correlation)
{
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_SPAN,
					.lines = 1,
					.type = ky_state.type[KY_TYPE_RUNTIME],
					.name = ky_state.function_name[call],
					.begin = begin,
					.end = end,
				}};

	if (!ky_state.is_wanted[KY_TYPE_RUNTIME])
		return;
	if (correlation) {
		line.record.flags |= KYMO_RECORD_ORIGIN;
		line.record.domain = ky_state.domain;
		line.record.correlation = correlation;
	}
	if (error != CL_SUCCESS) {
		line.record.flags |= KYMO_RECORD_ERROR;
		line.record.key[0] = ky_state.key[KY_KEY_ERROR];
		line.record.value[0] = (uint64_t)(int64_t)error;
	}
	ky_state.host->emit(ky_state.source, &line, 1);
}

uint64_t ky_span_begin(enum ky_call call)
{
	const uint64_t begin = ky_state.host->now();

	if (ky_call_descs[call].may_block && ky_state.is_wanted[KY_TYPE_RUNTIME]) {
		const union kymo_line line = {
			.record = {
				.kind = KYMO_KIND_OPEN,
				.lines = 1,
				.type = ky_state.type[KY_TYPE_RUNTIME],
				.name = ky_state.function_name[call],
				.begin = begin,
				.end = begin,
			}};

		ky_state.host->emit(ky_state.source, &line, 1);
	}
	return begin;
}

void ky_span_end(enum ky_call call, uint64_t begin, cl_int error)
{
	ky_span_emit(call, begin, ky_state.host->now(), error, 0);
}
