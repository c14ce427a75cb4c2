/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ky_ompt_function fake_callbacks[FAKE_EVENT_COUNT];

static const int *never_events;

static int set_callback(int event, ky_ompt_function callback)
{
	for (const int *never = never_events; never && *never; never++)
		if (*never == event)
			return KY_OMPT_SET_NEVER;
	if (event <= 0 || event >= FAKE_EVENT_COUNT)
		return KY_OMPT_SET_ERROR;
	fake_callbacks[event] = callback;
	return KY_OMPT_SET_ALWAYS;
}

static ky_ompt_function lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") == 0 ? (ky_ompt_function)set_callback
						      : NULL;
}

void fake_start(const char *plugin, const int *never)
{
	struct ky_ompt_start_tool_result *(*start_tool)(unsigned int, const char *);
	struct ky_ompt_start_tool_result *tool = NULL;
	void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "ompt_start_tool") : NULL;

	never_events = never;
	if (symbol) {
		memcpy(&start_tool, &symbol, sizeof(symbol));
		tool = start_tool(201811, "a fake runtime");
	}
	if (!tool || !tool->initialize(lookup, 0, &tool->tool_data)) {
		fprintf(stderr, "cannot start the tool %s: %s\n", plugin,
			library ? "it does not want to" : dlerror());
		exit(2);
	}
}
