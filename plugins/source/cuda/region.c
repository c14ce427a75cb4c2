/* SPDX-License-Identifier: BSD-3-Clause */
#include "region.h"

#include <errno.h>

#define STACKS 3u

/* The domain that uses each of CUPTI's stacks, from CUSTOM0 on; 0: free. */
static _Atomic uint32_t domains[STACKS];

/* The stack of a domain, given to it for ever; -1: there is none left. */
static int stack_of(uint16_t domain)
{
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t user = 0;

		if (atomic_compare_exchange_strong(&domains[i], &user, domain) ||
		    user == domain)
			return (int)i;
	}
	return -1;
}

void ky_region_push(void *source, uint16_t domain, uint64_t value)
{
	const int kept = errno, stack = stack_of(domain);

	(void)source;
	if (stack >= 0 &&
	    atomic_load_explicit(&ky_source.is_attached, memory_order_acquire) &&
	    ky_source.wants[KY_TYPE_EXTERNAL] &&
	    ky_source.library.ActivityPushExternalCorrelationId)
		ky_source.library.ActivityPushExternalCorrelationId(
			CUPTI_EXTERNAL_CUSTOM0 + (uint32_t)stack, value);
	errno = kept;
}

/* One without its push is refused by CUPTI, which is what is wanted. */
void ky_region_pop(void *source, uint16_t domain)
{
	const int kept = errno, stack = stack_of(domain);
	uint64_t last;

	(void)source;
	if (stack >= 0 &&
	    atomic_load_explicit(&ky_source.is_attached, memory_order_acquire) &&
	    ky_source.wants[KY_TYPE_EXTERNAL] &&
	    ky_source.library.ActivityPopExternalCorrelationId)
		ky_source.library.ActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CUSTOM0 + (uint32_t)stack, &last);
	errno = kept;
}

uint16_t ky_region_domain(uint32_t external_kind)
{
	const uint32_t stack = external_kind - CUPTI_EXTERNAL_CUSTOM0;

	return stack < STACKS ? (uint16_t)atomic_load(&domains[stack]) : 0;
}
