/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime has one tool only, and ours is the first that it is offered. Who wants
 * another one in the program has it, since the program would do something else without.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_OTHER_TOOL_H
#define KYMO_PLUGINS_SOURCE_OPENMP_OTHER_TOOL_H

struct ky_other_tool {
	char who[256];
	const char *remedy;
};

/* The tool that the runtime takes if ours is none; false if there is no such tool. */
int ky_other_tool_find(struct ky_other_tool *out);

#endif
