/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/room.h"

#include <sys/resource.h>

#include "base/error.h"
#include "base/proc_stat.h"

#define MIB ((uint64_t)1 << 20)
/* Dictionary and its table, writers, types, and what sources have of their own. */
#define PRIVATE (160 * MIB)
#define SHARE   4u /* of what is left, taken at most */

static int32_t check(const struct rlimit *limit, const char *what, uint64_t used,
		     uint64_t taken, struct kymo_error *error)
{
	const uint64_t left = limit->rlim_cur > used ? limit->rlim_cur - used : 0;

	if (limit->rlim_cur == RLIM_INFINITY || left / SHARE >= taken)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
			    "its %s is limited to %llu MiB (ulimit -%c), and recording, "
			    "which takes %llu, is done where it has %u times as many "
			    "left",
			    what, (unsigned long long)(limit->rlim_cur / MIB),
			    what[0] == 'a' ? 'v' : 'd', (unsigned long long)(taken / MIB),
			    SHARE);
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
	status = check(&address_space, "address space", mapped.address_space,
		       shared + PRIVATE, error);
	if (!status)
		status = check(&data, "private memory", mapped.data, PRIVATE, error);
	return status;
}
