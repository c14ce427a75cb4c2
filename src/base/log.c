/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks are called with no lock held, so they may call anything, and may still be
 * called once by another thread after they were replaced: the headers say so.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/gate_page.h"
#include "base/lock.h"

/* Under log_lock; children inherit them. */
static struct {
	kymo_log_fn log;
	void *context;
	struct ky_observer observers[KY_OBSERVERS_MAX];
	uint32_t count; /* atomic, for who only looks whether there are any */
} receivers;

static uint32_t *lock_receivers(void)
{
	uint32_t *lock = &ky_gate()->log_lock;

	ky_lock(lock);
	return lock;
}

/* ---- Observers ---- */

int ky_is_observed(void)
{
	return __atomic_load_n(&receivers.count, __ATOMIC_RELAXED) != 0;
}

size_t ky_observers(struct ky_observer out[KY_OBSERVERS_MAX])
{
	uint32_t *lock = lock_receivers();
	const size_t count = receivers.count;

	for (size_t i = 0; i < count; i++)
		out[i] = receivers.observers[i];
	ky_unlock(lock);
	return count;
}

/* Its place, or the end; the lock is held. */
static uint32_t find(const struct kymo_observer_ops *ops, const void *context)
{
	uint32_t i = 0;

	while (i < receivers.count && (receivers.observers[i].ops != ops ||
				       receivers.observers[i].context != context))
		i++;
	return i;
}

int32_t kymo_observer_register(const struct kymo_observer_ops *ops, void *context,
			       struct kymo_error *error)
{
	uint32_t place, *lock;
	int32_t status = KYMO_OK;

	if (!ops || ops->struct_size < 2 * sizeof(uint32_t))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no operations of an observer, or without their "
				    "struct_size");
	lock = lock_receivers();
	place = find(ops, context);
	if (place == KY_OBSERVERS_MAX) {
		status = KYMO_ERROR_NO_MEMORY;
	} else if (place == receivers.count) {
		receivers.observers[place] = (struct ky_observer){ops, context};
		__atomic_store_n(&receivers.count, place + 1, __ATOMIC_RELAXED);
	}
	ky_unlock(lock);
	if (status != KYMO_OK)
		ky_error_set(error, status, "this process has %u observers already",
			     KY_OBSERVERS_MAX);
	return status;
}

int32_t kymo_observer_unregister(const struct kymo_observer_ops *ops, void *context)
{
	uint32_t *lock = lock_receivers();
	uint32_t place = find(ops, context);
	const int is_found = place < receivers.count;

	if (is_found) {
		for (; place + 1 < receivers.count; place++)
			receivers.observers[place] = receivers.observers[place + 1];
		__atomic_store_n(&receivers.count, receivers.count - 1, __ATOMIC_RELAXED);
	}
	ky_unlock(lock);
	return is_found ? KYMO_OK : KYMO_ERROR_NOT_FOUND;
}

/* ---- Logging ---- */

void kymo_log_to(kymo_log_fn log, void *context)
{
	uint32_t *lock = lock_receivers();

	receivers.log = log;
	receivers.context = context;
	ky_unlock(lock);
}

static void say(uint32_t severity, const char *message)
{
	const struct kymo_log_record record = {
		.struct_size = sizeof(record),
		.severity = severity,
		.unix_ns = (int64_t)ky_realtime_ns(),
		.thread = syscall(SYS_gettid),
		.message = message,
	};
	struct ky_observer observers[KY_OBSERVERS_MAX];
	const size_t count = ky_observers(observers);

	for (size_t i = 0; i < count; i++) {
		const struct kymo_observer_ops *ops = observers[i].ops;

		if (severity >= ops->severity && KYMO_HAS_FUNCTION(ops, log))
			ops->log(observers[i].context, &record);
	}
}

void ky_log(uint32_t severity, const char *format, ...)
{
	char message[sizeof(((struct kymo_error *)0)->message)];
	uint32_t *lock = lock_receivers();
	const kymo_log_fn log = receivers.log;
	void *context = receivers.context;
	int kept = errno;
	va_list list;

	ky_unlock(lock);
	if (!log && !ky_is_observed())
		return;
	va_start(list, format);
	vsnprintf(message, sizeof(message), format, list);
	va_end(list);
	if (log)
		log(context, severity, message);
	say(severity, message);
	errno = kept;
}
