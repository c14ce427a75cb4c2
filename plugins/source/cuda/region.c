/* SPDX-License-Identifier: BSD-3-Clause */
#include "region.h"

#include <errno.h>

#define STACKS    3u
#define DEPTH_MAX 4096u /* should CUPTI never say that one is empty */

/* The domain that uses each of CUPTI's stacks, from CUSTOM0 on; 0: free. */
static _Atomic uint32_t domains[STACKS];

/* The session in which the thread's stacks were found empty, or made so. */
static _Thread_local unsigned clean_epoch;

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

static int may_call(void)
{
	return atomic_load_explicit(&ky_source.is_attached, memory_order_acquire) &&
	       ky_source.wants[KY_TYPE_EXTERNAL] &&
	       ky_source.library.ActivityPushExternalCorrelationId &&
	       ky_source.library.ActivityPopExternalCorrelationId;
}

/* What was open when a session ended was never closed: CUPTI would go on with it. */
static void clear_stacks(void)
{
	const unsigned epoch = atomic_load(&ky_source.epoch);
	uint64_t last;

	if (clean_epoch == epoch)
		return;
	clean_epoch = epoch;
	for (uint32_t i = 0; i < STACKS; i++)
		for (unsigned depth = 0; depth < DEPTH_MAX; depth++)
			if (ky_source.library.ActivityPopExternalCorrelationId(
				    CUPTI_EXTERNAL_CUSTOM0 + i, &last) !=
			    CUPTI_RC_SUCCESS)
				break;
}

void ky_region_push(void *source, uint16_t domain, uint64_t value)
{
	const int kept = errno, stack = stack_of(domain);

	(void)source;
	if (stack >= 0 && may_call()) {
		clear_stacks();
		ky_source.library.ActivityPushExternalCorrelationId(
			CUPTI_EXTERNAL_CUSTOM0 + (uint32_t)stack, value);
	}
	errno = kept;
}

/* One without its push is refused by CUPTI, which is what is wanted. */
void ky_region_pop(void *source, uint16_t domain)
{
	const int kept = errno, stack = stack_of(domain);
	uint64_t last;

	(void)source;
	if (stack >= 0 && may_call())
		ky_source.library.ActivityPopExternalCorrelationId(
			CUPTI_EXTERNAL_CUSTOM0 + (uint32_t)stack, &last);
	errno = kept;
}

uint16_t ky_region_domain(uint32_t external_kind)
{
	const uint32_t stack = external_kind - CUPTI_EXTERNAL_CUSTOM0;

	return stack < STACKS ? (uint16_t)atomic_load(&domains[stack]) : 0;
}
