/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the source gets into a program. The kernel has no runtime that would load a tool,
 * so the dynamic loader has to: LD_PRELOAD brings the plug-in into every program below
 * the recorder, and a constructor attaches it. That is why the source is recorded only
 * when it is named.
 *
 * Other sources find out that they are in a forked child at the first call of their
 * vendor's runtime there. This one is never called: the thread of the timer, on which it
 * runs, does not exist in a child. So it asks in an atfork handler.
 */
#include "preload.h"

#include <kymo/inject.h>

#include <pthread.h>

#include "source.h"

const struct kymo_injection_desc perf_preload = {
	.struct_size = sizeof(perf_preload),
	.how = KYMO_INJECT_PREPEND,
	.variable = "LD_PRELOAD",
	.separator = ":",
	.value = "{plugin}",
};

static const struct kymo_host *host;

/* The gate's page is wiped in a child, so this attaches the child, if it is followed. */
static void begin_in_child(void)
{
	(void)kymo_host_is_on(host);
}

/*
 * Only for a recorder's sake: who loads us to read our tables wants nothing to be run.
 * Our own table, not what kymo_plugin_entry_v1() gives: among preloaded libraries that
 * name would lead to the first that has it.
 */
__attribute__((constructor)) static void attach(void)
{
	if (secure_getenv("KYMO_AGENT") &&
	    kymo_inject(&perf_plugin, &host, NULL) == KYMO_OK)
		pthread_atfork(NULL, NULL, begin_in_child);
}
