/* SPDX-License-Identifier: BSD-3-Clause */
#include "occupancy.h"

#define REGISTER_UNIT 256u /* registers are given to a warp in units of these */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t blocks_by_warps(const struct ky_limits *limits, uint32_t warps,
				uint32_t threads)
{
	return threads > limits->threads_per_block ? 0 : limits->warps_per_sm / warps;
}

/* Warps go to the parts of a multiprocessor in turn, each with its own registers. */
static uint32_t blocks_by_registers(const struct ky_limits *limits,
				    const struct ky_launch *launch, uint32_t warps,
				    uint64_t *allocated)
{
	const uint32_t parts = limits->major == 6 && limits->minor == 0 ? 2 : 4;
	const uint64_t per_warp =
		round_up((uint64_t)launch->registers * limits->warp_size, REGISTER_UNIT);

	*allocated = per_warp * warps;
	if (per_warp == 0)
		return UINT32_MAX;
	if (per_warp * round_up(warps, parts) > limits->registers_per_block ||
	    launch->registers > (limits->major < 7 ? 255u : 256u))
		return 0;
	return (uint32_t)(limits->registers_per_sm / parts / per_warp * parts / warps);
}

/* From 8.0 on the system takes 1 KiB of each block's share. */
static uint32_t blocks_by_shared(const struct ky_limits *limits,
				 const struct ky_launch *launch, uint64_t *allocated)
{
	const uint64_t reserved = limits->major >= 8 ? 1024 : 0;

	*allocated =
		round_up(launch->shared_bytes + reserved, limits->major >= 8 ? 128 : 256);
	if (*allocated == 0)
		return UINT32_MAX;
	return (uint32_t)(limits->shared_per_sm / *allocated);
}

int ky_occupancy_of(const struct ky_limits *limits, const struct ky_launch *launch,
		    struct ky_occupancy *out)
{
	uint32_t warps;

	*out = (struct ky_occupancy){0};
	if (limits->major < 5 || limits->major > 12 || limits->warp_size == 0 ||
	    limits->sm_count == 0 || limits->warps_per_sm == 0 || launch->threads == 0)
		return 0;
	warps = (uint32_t)(round_up(launch->threads, limits->warp_size) /
			   limits->warp_size);
	out->by_warps = blocks_by_warps(limits, warps, launch->threads);
	out->by_registers = blocks_by_registers(limits, launch, warps, &out->registers);
	out->by_shared = blocks_by_shared(limits, launch, &out->shared_bytes);
	out->by_blocks = limits->blocks_per_sm ? limits->blocks_per_sm : UINT32_MAX;
	out->blocks = least(least(out->by_warps, out->by_registers),
			    least(out->by_shared, out->by_blocks));
	out->factors = (out->by_warps == out->blocks ? KY_LIMIT_WARPS : 0) |
		       (out->by_registers == out->blocks ? KY_LIMIT_REGISTERS : 0) |
		       (out->by_shared == out->blocks ? KY_LIMIT_SHARED : 0) |
		       (out->by_blocks == out->blocks ? KY_LIMIT_BLOCKS : 0);
	return 1;
}

int64_t ky_occupancy_percent(const struct ky_limits *limits, uint32_t blocks_held,
			     double blocks_per_sm, double threads)
{
	const double most = (double)limits->warps_per_sm * limits->warp_size;
	const double blocks = blocks_per_sm < blocks_held ? blocks_per_sm : blocks_held;

	return blocks_held > 0 && most > 0
		       ? (int64_t)(blocks * threads * 100 / most + 0.5)
		       : -1;
}
