/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of constructs. All of this is hot: nothing allocates, locks or blocks.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_EMIT_H
#define KYMO_PLUGINS_SOURCE_OPENMP_EMIT_H

#include "thread.h"

/*
 * A construct that is over, on the track of its thread; 0: the calling one. `flags` are
 * added to its own. Nothing where its type is not wanted.
 */
void ky_emit_open(const struct ky_open *open, uint64_t end, uint32_t track,
		  uint16_t flags);

/* The begin of one that may last: it is seen also where the program is killed in it. */
void ky_emit_begin(const struct ky_open *open);

/*
 * The creation of a task: a span of no length, since viewers bind arrows to spans only.
 */
void ky_emit_creation(uint64_t number, uint32_t code_number);

#endif
