/* SPDX-License-Identifier: BSD-3-Clause */
/* Why it cannot record: one error of CUPTI's as a state, a reason and what to do. */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_TROUBLE_H
#define KYMO_PLUGINS_SOURCE_CUDA_TROUBLE_H

#include "source.h"

struct ky_trouble {
	int32_t status; /* KYMO_ERROR_* */
	uint32_t state; /* KYMO_STATE_* */
	char reason[240], remedy[240];
};

/* No library at all; `why`: of the one that the user named, or NULL. */
void ky_trouble_no_library(struct ky_trouble *out, const char *path, const char *why);

/* What `function` returned; `who`: the tool that holds CUPTI already, or "". */
void ky_trouble_of(struct ky_trouble *out, const struct ky_library *library, int32_t rc,
		   const char *function, const char *who);

/* Whether another version of CUPTI may do better. */
int ky_trouble_is_of_version(int32_t rc);

/* The error's name as the library has it, or its number. */
const char *ky_trouble_name(const struct ky_library *library, int32_t rc, char *text,
			    size_t size);

#endif
