/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm_source.h"

#include "buffer.h"
#include "clock.h"
#include "flush.h"
#include "pm_device.h"

#define FLUSH_NS 50000000u

static struct pm_cupti functions;
static int has_looked;
static atomic_uint load_count;

/*
 * A device gets its name from CUPTI's record of it, which may lie in a buffer still.
 * Rather than have it nameless for good, CUPTI is asked for what it has, once.
 */
static uint32_t device(uint32_t index)
{
	uint32_t number = ky_buffer_device(index, 0);

	if (number != 0)
		return number;
	ky_flush(0, ky_monotonic_ns() + FLUSH_NS);
	return ky_buffer_device(index, 1);
}

static uint32_t clock_number(void)
{
	return ky_source.clock;
}

/* Each of them has the place where it is registered first; the last one runs first. */
#define DRAIN(number)                                                  \
	static void drain_##number(void *source, uint64_t deadline_ns) \
	{                                                              \
		ky_drain_at_exit(source, deadline_ns);                 \
	}
DRAIN(0)
DRAIN(1)
DRAIN(2)
DRAIN(3)
DRAIN(4)
DRAIN(5)

/* By two devices of different kinds: rehearsed, started, and with a first sample. */
static void loaded(void)
{
	static const kymo_drain_fn drains[] = {drain_0, drain_1, drain_2,
					       drain_3, drain_4, drain_5};
	const unsigned place = atomic_fetch_add(&load_count, 1);

	if (place < sizeof(drains) / sizeof(drains[0]) &&
	    KYMO_HAS_FUNCTION(ky_source.host, at_exit))
		ky_source.host->at_exit(ky_source.self, drains[place], &ky_source);
}

static void partly(const char *reason, const char *remedy)
{
	ky_source.host->state(ky_source.self, KYMO_STATE_PARTLY, kymo_text(reason),
			      kymo_text(remedy));
}

void ky_pm_create(void)
{
	const struct pm_setup setup = {
		.host = ky_source.host,
		.self = ky_source.self,
		.type = ky_type_number(KY_TYPE_COUNTER),
		.device = device,
		.clock = clock_number,
		.now = ky_clock_now,
		.loaded = loaded,
		.partly = partly,
	};

	pm_create(&setup);
}

/* Contexts that were there before us are told of in records: see pm_seen() in place.c. */
static void look_for_contexts(void)
{
	if (!has_looked)
		ky_flush(0, ky_monotonic_ns() + FLUSH_NS);
	has_looked = 1;
}

void ky_pm_tick(void)
{
	if (pm_period() == 0)
		return;
	look_for_contexts();
	pm_tick();
}

void ky_pm_attached(int is_in_driver)
{
	has_looked = 0;
	atomic_store(&load_count, 0);
	pm_start(pm_cupti_load(&functions, ky_source.library.handle) ? &functions : NULL);
	if (is_in_driver)
		return; /* each context tells of its device */
	for (uint32_t i = 0; pm_rehearse(i); i++)
		;
}

void ky_pm_context(const struct cupti_resource_data *data)
{
	uint32_t index;

	if (!ky_source.library.GetDeviceId || !data ||
	    ky_source.library.GetDeviceId(data->context, &index) != CUPTI_RC_SUCCESS)
		return;
	pm_rehearse(index);
	pm_seen(index);
}
