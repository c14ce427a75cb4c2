/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that only grows: an address is written once, by whoever is first. Its number
 * follows, and who comes in between asks the host as well, which gives the same one.
 */
#include "code.h"

#include <errno.h>
#include <stdatomic.h>

#include "state.h"

#define SLOT_COUNT 8192u
#define PROBE_MAX  64u /* looked at for one address; then it stays without a name */
#define NOT_KEPT   UINT32_MAX /* the host has no room for it; it is not asked again */

static struct {
	atomic_uintptr_t address;
	atomic_uint number;
} slots[SLOT_COUNT];

/* The slot of the address, which is taken for it if it has none; NULL: no room. */
static uint32_t find_slot(uintptr_t address)
{
	uint32_t at = (uint32_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32);

	for (uint32_t i = 0; i < PROBE_MAX; i++, at++) {
		atomic_uintptr_t *slot = &slots[at % SLOT_COUNT].address;
		uintptr_t found = atomic_load_explicit(slot, memory_order_relaxed);

		if (found == 0 && atomic_compare_exchange_strong(slot, &found, address))
			found = address;
		if (found == address)
			return at % SLOT_COUNT;
	}
	return SLOT_COUNT;
}

uint32_t ky_code_number(uint32_t index)
{
	uint32_t number = 0;

	if (index != 0)
		number = atomic_load_explicit(&slots[index - 1].number,
					      memory_order_relaxed);
	return number == NOT_KEPT ? 0 : number;
}

uint32_t ky_code_index(const void *address)
{
	uint32_t slot = address ? find_slot((uintptr_t)address) : SLOT_COUNT;

	if (slot == SLOT_COUNT)
		return 0;
	if (KYMO_UNLIKELY(atomic_load_explicit(&slots[slot].number,
					       memory_order_relaxed) == 0)) {
		const int saved_errno = errno;
		/* OMPT's addresses are where the call returns to. */
		const uint32_t number =
			ky_state.host->code(ky_state.source, (const char *)address - 1);

		atomic_store_explicit(&slots[slot].number, number ? number : NOT_KEPT,
				      memory_order_relaxed);
		errno = saved_errno;
	}
	return slot + 1;
}
