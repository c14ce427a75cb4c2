/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A last look at what vendors still hold when the program exits normally. The library
 * registers its one exit handler when the first source asks, and never otherwise. Which
 * drains there are lies on the wiped page: a forked child inherits the handler, but it
 * finds nothing to do unless a source has asked in the child itself.
 */
#include "session/host.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"

#define EXIT_LIMIT_NS 2000000000u /* for all sources together */

static void run_drains(void)
{
	struct ky_session_page *page = ky_session_page();
	uint64_t deadline_ns = ky_monotonic_ns() + EXIT_LIMIT_NS;

	for (uint32_t i = 0; i < KY_SOURCES_MAX; i++) {
		struct ky_drain drain;

		if (ky_gate_word() != KYMO_GATE_ON || ky_monotonic_ns() >= deadline_ns)
			return;
		/* Taken out first: it is called once, whatever exits meanwhile. */
		ky_lock(&page->drain_lock);
		drain = page->drains[i];
		page->drains[i].host = NULL;
		ky_unlock(&page->drain_lock);
		if (!drain.host)
			continue;
		drain.drain(drain.source, deadline_ns);
		ky_host_publish_lost(drain.host);
	}
}

int32_t ky_host_at_exit(struct kymo_source_host *host,
			void (*drain)(void *source, uint64_t deadline_ns), void *source)
{
	/* Not on the wiped page: handlers are inherited. */
	static uint32_t has_handler;
	struct ky_session_page *page = ky_session_page();
	struct ky_drain *place = NULL;
	int32_t status = KYMO_ERROR_NO_MEMORY;

	if (!drain)
		return KYMO_ERROR_INVALID;
	ky_lock(&page->drain_lock);
	for (uint32_t i = KY_SOURCES_MAX; i-- > 0;)
		if (page->drains[i].host == host ||
		    (!page->drains[i].host && !(place && place->host == host)))
			place = &page->drains[i];
	if (!has_handler)
		has_handler = atexit(run_drains) == 0;
	if (place && has_handler) {
		*place =
			(struct ky_drain){.host = host, .drain = drain, .source = source};
		status = KYMO_OK;
	}
	ky_unlock(&page->drain_lock);
	return status;
}
