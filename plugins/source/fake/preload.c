/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the fake source gets into a program, and the one file that is NOT to be copied: a
 * source with a vendor is loaded by the vendor's runtime (OPENCL_LAYERS,
 * OMP_TOOL_LIBRARIES, CUDA_INJECTION64_PATH) and attaches in the function that the
 * runtime calls. Here there is no runtime that could, so the dynamic loader has to do:
 * LD_PRELOAD brings the plug-in into every program, also those that have nothing to do
 * with it, and a constructor runs before main.
 */
#include "preload.h"

#include <kymo/inject.h>

#include "source.h"

const struct kymo_injection_desc fake_preload = {
	.struct_size = sizeof(fake_preload),
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
		kymo_inject(&fake_plugin, &host, NULL);
}
