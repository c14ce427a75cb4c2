/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/rank.h"

#include <string.h>

#include "base/env.h"

/* The first of them that is a number. */
static const char *find_number(const char *const *variables)
{
	for (; *variables; variables++) {
		const char *value = ky_env_get(*variables);

		if (value && value[0] && !value[strspn(value, "0123456789")])
			return value;
	}
	return NULL;
}

const char *ky_rank(void)
{
	static const char *const variables[] = {
		"RANK",           "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
		"PMI_RANK",       "MV2_COMM_WORLD_RANK",  "PALS_RANKID",
		"FLUX_TASK_RANK", "SLURM_PROCID",         NULL,
	};

	return find_number(variables);
}

const char *ky_world_size(void)
{
	static const char *const variables[] = {
		"WORLD_SIZE",
		"OMPI_COMM_WORLD_SIZE",
		"PMI_SIZE",
		"MV2_COMM_WORLD_SIZE",
		"FLUX_JOB_SIZE",
		"SLURM_NTASKS",
		NULL,
	};

	return find_number(variables);
}
