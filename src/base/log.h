/* SPDX-License-Identifier: BSD-3-Clause */
/* What is worth a word although nothing has failed: goes to whoever observes. */
#ifndef KYMO_BASE_LOG_H
#define KYMO_BASE_LOG_H

#include <kymo/observer.h>

#include "base/error.h"

/* One line, KYMO_SEVERITY_*; nothing while nobody listens. Keeps errno. */
void ky_log(uint32_t severity, const char *format, ...) KY_PRINTF(2, 3);

#define KY_OBSERVERS_MAX 16u

struct ky_observer {
	const struct kymo_observer_ops *ops;
	void *context;
};

/* Those that there are now, to be called without a lock; how many. */
size_t ky_observers(struct ky_observer out[KY_OBSERVERS_MAX]);

/* Whether there are any, without a lock. */
int ky_is_observed(void);

#endif
