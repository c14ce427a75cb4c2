/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For a plug-in that a vendor's runtime has loaded into somebody's program: how it finds
 * Kymo there. Header-only, so that the plug-in links nothing of ours.
 */
#ifndef KYMO_INJECT_H
#define KYMO_INJECT_H

#ifndef _GNU_SOURCE
#error "<kymo/inject.h> needs _GNU_SOURCE (RTLD_DEFAULT, secure_getenv)"
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/plugin.h>

typedef int32_t (*kymo_agent_attach_fn)(const struct kymo_plugin *plugin,
					const struct kymo_host **out,
					struct kymo_error *error);

/*
 * Attaches the plug-in to the agent of this process: the one that the program has loaded
 * already, else the library whose absolute path stands in KYMO_AGENT (set by the
 * recorder). KYMO_ERROR_NOT_FOUND if there is neither: nobody wants a recording here and
 * the plug-in should be a pure pass-through. Not for signal handlers.
 */
static inline int32_t kymo_inject(const struct kymo_plugin *plugin,
				  const struct kymo_host **out, struct kymo_error *error)
{
	void *symbol = dlsym(RTLD_DEFAULT, KYMO_AGENT_ATTACH);
	kymo_agent_attach_fn attach;

	if (!symbol) {
		const char *path = secure_getenv("KYMO_AGENT");
		void *agent = NULL;

		if (path && path[0] == '/')
			agent = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		if (agent)
			symbol = dlsym(agent, KYMO_AGENT_ATTACH);
		if (!symbol) {
			const char *why = "KYMO_AGENT is not set";

			if (path && path[0] != '/')
				why = "KYMO_AGENT is not an absolute path";
			else if (path)
				why = dlerror();
			if (error) {
				error->status = KYMO_ERROR_NOT_FOUND;
				snprintf(error->message, sizeof(error->message),
					 "no Kymo agent in this process: %s",
					 why ? why : path);
			}
			return KYMO_ERROR_NOT_FOUND;
		}
	}
	memcpy(&attach, &symbol, sizeof(attach));
	return attach(plugin, out, error);
}

#endif
