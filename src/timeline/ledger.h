/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The books: what was offered, written and lost, the fate of each source and the error of
 * each clock.
 */
#ifndef KYMO_TIMELINE_LEDGER_H
#define KYMO_TIMELINE_LEDGER_H

#include "timeline/model.h"

/*
 * Adds the writers' counts and the losses of all captures; `written` says how many
 * records of each capture were found.
 */
void ky_ledger_add_captures(struct kymo_trace_ledger *ledger,
			    const struct ky_model *model, const uint64_t *written);

/* Adds what of the files could not be read. */
void ky_ledger_add_files(struct kymo_trace_ledger *ledger,
			 struct ky_reader *const *readers, size_t count);

/* What a sink is told at the end; in the model's memory. NO_MEMORY or OK. */
int32_t ky_ledger_end(struct ky_model *model, const struct kymo_trace_ledger *ledger,
		      struct kymo_trace_end *end);

#endif
