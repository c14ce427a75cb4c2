/* SPDX-License-Identifier: BSD-3-Clause */
/* What was offered, written and lost, as members of an object. */
#ifndef KYMO_CHROME_LEDGER_H
#define KYMO_CHROME_LEDGER_H

#include <kymo/sink.h>

#include "object.h"

/* True if the end of a capture is missing: then nobody knows what followed. */
bool ky_ledger_is_incomplete(const struct kymo_trace_ledger *ledger);

/* All that is missing from the trace, of whatever reason. */
uint64_t ky_ledger_lost(const struct kymo_trace_ledger *ledger);

/* The reasons of losses that are not 0; all of it. */
void ky_ledger_write_losses(struct ky_object *object,
			    const struct kymo_trace_ledger *ledger);
void ky_ledger_write(struct ky_object *object, const struct kymo_trace_ledger *ledger);

#endif
