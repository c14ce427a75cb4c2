/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/client.h"

#include <errno.h>
#include <time.h>

#include <kymo/client.h>

#include "base/error.h"
#include "base/lock.h"
#include "session/page.h"

#define MS_MAX ((uint64_t)24 * 3600 * 1000) /* more is a mistake */

/* Written once, under client_lock; children inherit it. */
static struct {
	const struct kymo_client_ops *ops; /* set last */
	void *context;
} client;

/* What the session has told it; under session_lock. */
static enum { NOT_TOLD, PREPARED, STARTED } progress;

static const struct kymo_client_ops *client_ops(void)
{
	/* Pairs with the release in kymo_client_register. */
	return __atomic_load_n(&client.ops, __ATOMIC_ACQUIRE);
}

int32_t kymo_client_register(const struct kymo_client_ops *ops, void *context,
			     struct kymo_error *error)
{
	uint32_t *lock = &ky_session_page()->client_lock;
	int32_t status = KYMO_OK;

	if (!ops || ops->struct_size < sizeof(uint32_t))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no operations of a client, or without their "
				    "struct_size");
	ky_lock(lock);
	if (!client.ops) {
		if (KYMO_HAS_FUNCTION(ops, init))
			ops->init(context);
		client.context = context;
		__atomic_store_n(&client.ops, ops, __ATOMIC_RELEASE);
	} else if (client.ops != ops || client.context != context) {
		status = ky_error_set(error, KYMO_ERROR_EXISTS,
				      "this process has a client already");
	}
	ky_unlock(lock);
	return status;
}

void ky_client_prepare(uint64_t flags)
{
	const struct kymo_client_ops *ops = client_ops();

	progress = ops ? PREPARED : NOT_TOLD;
	if (ops && KYMO_HAS_FUNCTION(ops, prepare))
		ops->prepare(client.context, flags);
}

void ky_client_start(void)
{
	const struct kymo_client_ops *ops = client_ops();

	/* One that has come in the middle waits for the next session. */
	if (progress != PREPARED)
		return;
	progress = STARTED;
	if (KYMO_HAS_FUNCTION(ops, start))
		ops->start(client.context);
}

void ky_client_stop(void)
{
	const struct kymo_client_ops *ops = client_ops();

	if (progress != STARTED)
		return;
	progress = NOT_TOLD;
	if (KYMO_HAS_FUNCTION(ops, stop))
		ops->stop(client.context);
}

/* ---- Memory ---- */

static void sleep_ms(uint64_t duration_ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(duration_ms / 1000),
		.tv_nsec = (long)(duration_ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static int32_t take_snapshot(const struct kymo_client_ops *ops, uint64_t duration_ms,
			     const char *path, struct kymo_error *error)
{
	int32_t status = ops->start_memory(client.context, error);

	if (status != KYMO_OK)
		return status;
	sleep_ms(duration_ms);
	status = ops->export_memory(client.context, path, error);
	ops->stop_memory(client.context);
	return status;
}

int32_t kymo_client_memory_snapshot(uint64_t duration_ms, const char *path,
				    struct kymo_error *error)
{
	uint32_t *is_busy = &ky_session_page()->client_is_busy;
	const struct kymo_client_ops *ops = client_ops();
	int32_t status;

	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no path to write to");
	if (duration_ms > MS_MAX)
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"a memory snapshot of more than a day: duration_ms is "
			"%llu",
			(unsigned long long)duration_ms);
	if (!ops)
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "no framework has registered as a client");
	if (!KYMO_HAS_FUNCTION(ops, start_memory) ||
	    !KYMO_HAS_FUNCTION(ops, export_memory) ||
	    !KYMO_HAS_FUNCTION(ops, stop_memory))
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "the framework has no snapshots of its memory");
	if (__atomic_exchange_n(is_busy, 1, __ATOMIC_ACQUIRE))
		return ky_error_set(error, KYMO_ERROR_BUSY,
				    "another memory snapshot is under way");
	if (error)
		*error = (struct kymo_error){0};
	status = take_snapshot(ops, duration_ms, path, error);
	__atomic_store_n(is_busy, 0, __ATOMIC_RELEASE);
	return status;
}
