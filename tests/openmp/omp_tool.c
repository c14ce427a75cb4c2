/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool that somebody has given a program: it says so, and leaves the runtime alone. */
#include <stddef.h>
#include <stdio.h>

void *ompt_start_tool(unsigned int version, const char *runtime);
void *ompt_start_tool(unsigned int version, const char *runtime)
{
	(void)version, (void)runtime;
	puts("another tool");
	return NULL;
}
