/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of sources that no program has loaded. */
#ifndef KYMO_CONTROL_ABSENT_H
#define KYMO_CONTROL_ABSENT_H

#include "control/selection.h"

/* Writes "NAME: what may help", a line for each source of the list that knows it. */
void ky_absent_remedies(const struct ky_selection *selection, const char *absent,
			char *out, size_t size);

#endif
