/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several outputs of one export, of which none waits for another's sink for ever.
 */
#ifndef KYMO_SESSION_OVERTAKE_H
#define KYMO_SESSION_OVERTAKE_H

#include "session/export.h"
#include "sink/fanout.h"

/*
 * Writes the outputs, of which there are `count`, and fills what became of each; the
 * summary lacks the bytes. KYMO_OK if one of them is whole. Where it fails before any is
 * reached, the outputs are left alone.
 */
int32_t ky_overtake_run(const struct ky_export *export, size_t count,
			const struct kymo_sink_options *options,
			struct kymo_summary *summary, struct kymo_error *error);

/* What became of a branch, to its output. */
void ky_output_take(struct kymo_output *output, const struct ky_fanout_branch *branch);

#endif
