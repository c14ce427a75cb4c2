/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: records into the current capture, as the host and marks put them there. */
#ifndef KYMO_CAPTURE_TEST_EMIT_H
#define KYMO_CAPTURE_TEST_EMIT_H

#include <string.h>

#include "capture/lease.h"

/* Copies one whole record; KYMO_ERROR_NO_MEMORY: lost and counted, _STATE: no capture. */
static inline int32_t test_emit(const struct kymo_record *record)
{
	struct kymo_record *to = ky_writer_begin(record->lines);

	if (!to)
		return ky_gate_word() == KYMO_GATE_ON ? KYMO_ERROR_NO_MEMORY
						      : KYMO_ERROR_STATE;
	memcpy(to, record, (size_t)record->lines * KYMO_LINE_SIZE);
	ky_writer_commit(record->lines, 1);
	return KYMO_OK;
}

#endif
