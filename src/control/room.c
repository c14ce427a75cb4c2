/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/room.h"

#include <sys/resource.h>

#include "base/error.h"
#include "base/proc_stat.h"
#include "record/layout.h"

#define MIB ((uint64_t)1 << 20)
/* Dictionary and its table, writers, types, and what sources have of their own. */
#define PRIVATE (160 * MIB)
#define SHARE   4u /* of what is left, taken at most: the quarter that is spoken of */

static int32_t check(const struct rlimit *limit, const char *what, char option,
		     uint64_t mapped, uint64_t taken, struct kymo_error *error)
{
	const uint64_t used = mapped < limit->rlim_cur ? mapped : limit->rlim_cur;

	if (limit->rlim_cur == RLIM_INFINITY || (limit->rlim_cur - used) / SHARE >= taken)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
			    "its %s is limited to %llu MiB (ulimit -%c), and recording "
			    "takes %llu MiB, but no more than a quarter of what is left: "
			    "a limit of %llu MiB would do",
			    what, (unsigned long long)(limit->rlim_cur / MIB), option,
			    (unsigned long long)(taken / MIB),
			    (unsigned long long)((used + SHARE * taken) / MIB + 1));
}

int32_t ky_room_check(uint64_t shared, struct kymo_error *error)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit address_space = none, data = none;
	struct ky_mapped mapped;
	int32_t status;

	getrlimit(RLIMIT_AS, &address_space);
	getrlimit(RLIMIT_DATA, &data);
	/* Where nobody says how much is used, it may be all. */
	if (ky_mapped_read(&mapped) != 0)
		mapped = (struct ky_mapped){UINT64_MAX, UINT64_MAX};
	status = check(&address_space, "address space", 'v', mapped.address_space,
		       shared + PRIVATE, error);
	if (!status)
		status = check(&data, "private memory", 'd', mapped.data, PRIVATE, error);
	return status;
}

uint64_t ky_room_budget(uint64_t left)
{
	const uint64_t part = left / SHARE;

	if (part >= KY_BUDGET_DEFAULT)
		return KY_BUDGET_DEFAULT;
	return part > KY_BUDGET_MIN ? part : KY_BUDGET_MIN;
}
