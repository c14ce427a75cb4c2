/* SPDX-License-Identifier: BSD-3-Clause */
/* A plug-in that is loaded, and asked about itself, in a process that is thrown away. */
#ifndef KYMO_CONTROL_CHECKUP_H
#define KYMO_CONTROL_CHECKUP_H

#include <limits.h>

#include <kymo/plugin.h>

#include "control/trial.h"

#define KY_CHECKUP_SOURCE 0u
#define KY_CHECKUP_SINK   1u

/* How far it has come. */
#define KY_CHECKUP_LOADING 0u
#define KY_CHECKUP_LOADED  1u /* what the tables say is filled in */
#define KY_CHECKUP_PROBING 2u
#define KY_CHECKUP_PROBED  3u

struct ky_checkup {
	/* What is wanted. */
	char path[PATH_MAX];
	char only[72];       /* ask this source alone; "": any */
	uint32_t kind;       /* KY_CHECKUP_* of the first kind */
	uint32_t index;      /* of the source or sink in its list */
	uint32_t is_probing; /* 0: the tables are enough */

	/* What came of it. */
	uint32_t stage;
	uint32_t count;          /* of sources or sinks */
	uint32_t state;          /* KYMO_STATE_* */
	uint32_t flags;          /* KYMO_SOURCE_* */
	uint32_t variable_count; /* "NAME=VALUE", each with a NUL behind it */
	struct kymo_error error; /* why it could not be loaded */
	char plugin[72], version[72], name[72];
	char description[256];
	char variables[8192];
	struct kymo_probe probe;
	struct ky_trial trial;
};

/*
 * Runs it. KYMO_OK whatever has become of it, which `checkup` says: texts are terminated,
 * numbers within their ranges, whatever the plug-in did to them.
 */
int32_t ky_checkup_run(struct ky_checkup *checkup, struct kymo_error *error);

/*
 * Whether the plug-in and the files that its injections name can be loaded: tried before
 * it is loaded where that matters.
 */
int32_t ky_checkup_load(const char *path, struct kymo_error *error);

#endif
