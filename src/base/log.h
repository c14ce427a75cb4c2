/* SPDX-License-Identifier: BSD-3-Clause */
/* What is worth a word although nothing has failed: goes to the program's callback. */
#ifndef KYMO_BASE_LOG_H
#define KYMO_BASE_LOG_H

#include <kymo/session.h>

#include "base/error.h"

/* One line, KYMO_SEVERITY_*; nothing while kymo_log_to() has set nobody. Keeps errno. */
void ky_log(uint32_t severity, const char *format, ...) KY_PRINTF(2, 3);

#endif
