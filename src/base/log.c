/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callback is called with no lock held, so it may call anything, and may still be
 * called once by another thread after it was replaced: kymo_log_to says so.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/gate_page.h"
#include "base/lock.h"

static struct {
	kymo_log_fn log;
	void *context;
} receiver;

void kymo_log_to(kymo_log_fn log, void *context)
{
	uint32_t *lock = &ky_gate()->log_lock;

	ky_lock(lock);
	receiver.log = log;
	receiver.context = context;
	ky_unlock(lock);
}

KY_PRINTF(2, 0)
static void say(uint32_t severity, const char *format, va_list list)
{
	uint32_t *lock = &ky_gate()->log_lock;
	char message[sizeof(((struct kymo_error *)0)->message)];
	kymo_log_fn log;
	void *context;

	ky_lock(lock);
	log = receiver.log;
	context = receiver.context;
	ky_unlock(lock);
	if (!log)
		return;
	vsnprintf(message, sizeof(message), format, list);
	log(context, severity, message);
}

void ky_log(uint32_t severity, const char *format, ...)
{
	int kept = errno;
	va_list list;

	va_start(list, format);
	say(severity, format, list);
	va_end(list);
	errno = kept;
}
