/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the source gets into a program. The kernel has no runtime that would load a tool,
 * so the dynamic loader has to: LD_PRELOAD brings the plug-in into every program below
 * the recorder, and a constructor attaches it. That is why the source is recorded only
 * when it is named.
 */
#include "preload.h"

#include <kymo/inject.h>

#include "source.h"

const struct kymo_injection_desc perf_preload = {
	.struct_size = sizeof(perf_preload),
	.how = KYMO_INJECT_PREPEND,
	.variable = "LD_PRELOAD",
	.separator = ":",
	.value = "{plugin}",
};

/*
 * Only for a recorder's sake: who loads us to read our tables wants nothing to be run.
 * Our own table, not what kymo_plugin_entry_v1() gives: among preloaded libraries that
 * name would lead to the first that has it.
 */
__attribute__((constructor)) static void attach(void)
{
	const struct kymo_host *host;

	if (secure_getenv("KYMO_AGENT"))
		kymo_inject(&perf_plugin, &host, NULL);
}
