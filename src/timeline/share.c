/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/share.h"

#include "base/cgroup.h"

#define IN_ALL ((uint64_t)177 << 20) /* what all sorters and the cache of lines want */
#define PART   2u                    /* of what is left: there are names, and the sink */
#define LEAST  64u /* of what is wanted: with less, buffers of many runs take more */

size_t ky_memory_share_of(size_t wanted, uint64_t left)
{
	const uint64_t part = left / PART < IN_ALL ? left / PART : IN_ALL;
	const size_t share = (size_t)(wanted * part / IN_ALL);

	return share > wanted / LEAST ? share : wanted / LEAST;
}

size_t ky_memory_share(size_t wanted)
{
	return ky_memory_share_of(wanted, ky_cgroup_left(""));
}
