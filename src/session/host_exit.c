/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A last look at what vendors still hold when the program exits normally. Each call
 * registers an exit handler at that very moment, since its place among the handlers of
 * the vendor's driver is what the caller chose the moment for; the library registers none
 * of its own accord.
 *
 * Handlers run last registered first, and so are the drains taken: each handler runs the
 * last drain that has not run. The drains lie on the wiped page. A forked child inherits
 * the handlers, but these find nothing to do unless a source has asked in the child
 * itself.
 */
#include "session/host.h"

#include "base/clock.h"
#include "base/fork_guard.h"
#include "base/lock.h"
#include "session/source.h"

#define EXIT_LIMIT_NS 2000000000u /* for all sources together */

/* Taken out first: it is called once, whatever exits meanwhile. */
static struct ky_drain take_last(uint64_t *deadline_ns)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_drain drain = {.host = NULL};

	ky_lock(&page->drain_lock);
	if (page->drain_count > 0)
		drain = page->drains[--page->drain_count];
	if (page->exit_deadline_ns == 0)
		page->exit_deadline_ns = ky_monotonic_ns() + EXIT_LIMIT_NS;
	*deadline_ns = page->exit_deadline_ns;
	ky_unlock(&page->drain_lock);
	return drain;
}

/* False if there is none. */
static int run_one(void)
{
	uint64_t deadline_ns;
	struct ky_drain drain = take_last(&deadline_ns);

	if (drain.host && ky_gate_epoch() != 0 && ky_monotonic_ns() < deadline_ns)
		ky_sources_drain(&drain, deadline_ns);
	return drain.host != NULL;
}

static void run_last(void)
{
	run_one();
}

void ky_host_drain_all(void)
{
	while (run_one())
		;
}

static int is_registered(const struct ky_session_page *page,
			 const struct ky_drain *wanted)
{
	for (uint32_t i = 0; i < page->drain_count; i++)
		if (page->drains[i].host == wanted->host &&
		    page->drains[i].drain == wanted->drain &&
		    page->drains[i].source == wanted->source)
			return 1;
	return 0;
}

int32_t ky_host_at_exit(struct kymo_source_host *host, kymo_drain_fn drain, void *source)
{
	const struct ky_drain wanted = {.host = host, .drain = drain, .source = source};
	struct ky_session_page *page = ky_session_page();
	int32_t status = KYMO_ERROR_NO_MEMORY;

	if (!drain)
		return KYMO_ERROR_INVALID;
	/* Held over both steps, so that drains and handlers have the same order. */
	ky_lock(&page->drain_lock);
	if (is_registered(page, &wanted)) {
		status = KYMO_OK;
	} else if (page->drain_count < KY_DRAINS_MAX && ky_at_exit(run_last) == 0) {
		page->drains[page->drain_count++] = wanted;
		status = KYMO_OK;
	}
	ky_unlock(&page->drain_lock);
	return status;
}
