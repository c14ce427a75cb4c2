/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of sources that no program has loaded. */
#ifndef KYMO_CONTROL_ABSENT_H
#define KYMO_CONTROL_ABSENT_H

#include "control/selection.h"

/* Writes what may help the sources of the list, which no program has loaded. */
void ky_absent_remedies(const struct ky_selection *selection, const char *absent,
			char *out, size_t size);

#endif
