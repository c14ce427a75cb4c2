/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OMPT's side of the plug-in: the tool that the OpenMP runtime starts.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_TOOL_H
#define KYMO_PLUGINS_SOURCE_OPENMP_TOOL_H

#include <stddef.h>

#include <kymo/base.h>

#include "ompt.h"
#include "other_tool.h"

/* The one symbol that the runtime looks for. It may hold a lock of its own. */
KYMO_API struct ky_ompt_start_tool_result *ompt_start_tool(unsigned int omp_version,
							   const char *runtime_version);

/* For the probe: be a tool that nobody records with, and that asks what there is. */
void ky_tool_try(void);

/* The tool that the runtime was left to, or NULL. */
const struct ky_other_tool *ky_tool_other(void);

/* Has a runtime begun to use this tool? */
int ky_tool_is_started(void);

/*
 * Writes what the runtime does not report ("never reports target_emi; ..."), "" if it
 * reports all, and what helps. Tells whether those for the host are complete.
 */
int ky_tool_describe(char *missing, size_t missing_size, char *remedy,
		     size_t remedy_size);

/* Lets the host know what is missing, if there is a runtime and a host. */
void ky_tool_report(void);

#endif
