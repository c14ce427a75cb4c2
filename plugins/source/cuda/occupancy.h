/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many blocks of a kernel a multiprocessor can hold, and what limits them: NVIDIA's
 * published occupancy rules for compute capabilities 5 to 12.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_OCCUPANCY_H
#define KYMO_PLUGINS_SOURCE_CUDA_OCCUPANCY_H

#include <stdint.h>

/* Of a device. */
struct ky_limits {
	uint32_t major, minor; /* compute capability */
	uint32_t sm_count, warp_size, warps_per_sm, blocks_per_sm;
	uint32_t registers_per_sm, registers_per_block, shared_per_sm, threads_per_block;
};

/* Of a launch. */
struct ky_launch {
	uint32_t threads; /* of a block */
	uint32_t registers;
	uint64_t shared_bytes; /* of a block, static and dynamic */
};

#define KY_LIMITS          4u
#define KY_LIMIT_WARPS     0x1u
#define KY_LIMIT_REGISTERS 0x2u
#define KY_LIMIT_SHARED    0x4u
#define KY_LIMIT_BLOCKS    0x8u

struct ky_occupancy {
	uint32_t blocks;  /* that a multiprocessor holds at once */
	uint32_t factors; /* KY_LIMIT_* */
	uint32_t by_warps, by_registers, by_shared, by_blocks; /* UINT32_MAX: no limit */
	uint64_t registers, shared_bytes;                      /* allocated for a block */
};

/* 0 if the device is not known well enough. */
int ky_occupancy_of(const struct ky_limits *limits, const struct ky_launch *launch,
		    struct ky_occupancy *out);

/*
 * Threads that are on a multiprocessor by those that it takes, in percent, if it has so
 * many blocks of the launch and holds `blocks_held` at once; -1 if that is 0: not known.
 */
int64_t ky_occupancy_percent(const struct ky_limits *limits, uint32_t blocks_held,
			     double blocks_per_sm, double threads);

#endif
