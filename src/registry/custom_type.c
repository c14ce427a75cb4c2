/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which custom number belongs to which name, in this process.
 *
 * A table of words that are set once, each by one compare-and-swap: number in the upper
 * half, string of the full name in the lower. So there is no lock that a fork could leave
 * held, and a child inherits what is right for it, as its dictionary keeps its numbers.
 */
#include "registry/custom_type.h"

#include "base/hash.h"

#define CUSTOM_RANGE ((1u << 31) - KY_TYPE_CUSTOM_BEGIN)
#define SLOTS        8192u /* as many types; one process has some dozens */

static uint64_t table[SLOTS];

/* Holds the number for the name: true if it has it now, or had it before. */
static int hold(uint32_t number, uint32_t full_name, int *is_full)
{
	const uint64_t wanted = (uint64_t)number << 32 | full_name;

	for (uint32_t i = 0; i < SLOTS; i++) {
		uint64_t *slot = &table[(number + i) % SLOTS];
		uint64_t seen = 0;

		if (__atomic_compare_exchange_n(slot, &seen, wanted, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    seen == wanted)
			return 1;
		if (seen >> 32 == number)
			return 0;
	}
	*is_full = 1;
	return 0;
}

uint32_t ky_type_custom_first(struct kymo_str plugin, struct kymo_str name)
{
	uint32_t hash = ky_fnv1a(KY_FNV1A_BEGIN, plugin.data, plugin.size);

	hash = ky_fnv1a(hash, ".", 1);
	hash = ky_fnv1a(hash, name.data, name.size);
	return KY_TYPE_CUSTOM_BEGIN + hash % CUSTOM_RANGE;
}

int32_t ky_type_custom_claim(uint32_t first, uint32_t full_name, uint32_t *number)
{
	uint32_t candidate = first;
	int is_full = 0;

	while (!hold(candidate, full_name, &is_full)) {
		if (is_full)
			return KYMO_ERROR_NO_MEMORY;
		candidate = candidate == INT32_MAX ? KY_TYPE_CUSTOM_BEGIN : candidate + 1;
	}
	*number = candidate;
	return KYMO_OK;
}
