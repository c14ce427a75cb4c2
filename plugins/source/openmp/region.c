/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One word for each of the last regions: the upper bits of its number, and the lower ones
 * of the time at which it ended. Regions that are 4096 apart share a place; the later one
 * has it, and of the earlier is known only that it is over.
 */
#include "region.h"

#include <stdatomic.h>

#define SLOT_BITS 12u
#define TIME_BITS 48u
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

static atomic_uint_fast64_t last_number;
static atomic_uint_fast64_t slots[1u << SLOT_BITS];

static atomic_uint_fast64_t *slot_of(uint64_t number)
{
	return &slots[number & ((1u << SLOT_BITS) - 1)];
}

/* As it stands in the slot while the region runs. */
static uint64_t tag_of(uint64_t number)
{
	return number >> SLOT_BITS << TIME_BITS;
}

uint64_t ky_region_begin(void)
{
	uint64_t number =
		1 + atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);

	atomic_store_explicit(slot_of(number), tag_of(number), memory_order_release);
	return number;
}

void ky_region_end(uint64_t number, uint64_t now)
{
	uint64_t expected = tag_of(number);
	uint64_t time = now & TIME_MASK;

	/* Not where a later region has the place. 0 would say that it runs. */
	atomic_compare_exchange_strong_explicit(
		slot_of(number), &expected, expected | (time ? time : 1),
		memory_order_release, memory_order_relaxed);
}

uint64_t ky_region_ended(uint64_t number, uint64_t now)
{
	uint64_t word = atomic_load_explicit(slot_of(number), memory_order_acquire);
	uint64_t age = (now - word) & TIME_MASK;

	if ((word & ~TIME_MASK) != tag_of(number))
		return KY_REGION_LOST;
	if ((word & TIME_MASK) == 0)
		return KY_REGION_RUNS;
	/* Of two processors' clocks the other may be a little ahead. */
	return age > TIME_MASK / 2 ? now : now - age;
}
