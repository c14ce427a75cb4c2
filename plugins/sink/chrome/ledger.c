/* SPDX-License-Identifier: BSD-3-Clause */
#include "ledger.h"

#include <stddef.h>
#include <string.h>

#define LEDGER_FIELD(field)                                       \
	{                                                         \
#field, offsetof(struct kymo_trace_ledger, field) \
	}

static const struct {
	const char *name;
	size_t offset;
} ledger_fields[] = {
	LEDGER_FIELD(offered),
	LEDGER_FIELD(filtered),
	LEDGER_FIELD(accepted),
	LEDGER_FIELD(written),
	LEDGER_FIELD(full),
	LEDGER_FIELD(too_big),
	LEDGER_FIELD(nested),
	LEDGER_FIELD(overwritten),
	LEDGER_FIELD(late),
	LEDGER_FIELD(out_of_window),
	LEDGER_FIELD(cut),
	LEDGER_FIELD(source_exact),
	LEDGER_FIELD(source_at_least),
	LEDGER_FIELD(untimed),
	LEDGER_FIELD(unfinished),
	LEDGER_FIELD(names_not_kept),
	LEDGER_FIELD(arrows),
	LEDGER_FIELD(arrows_backward),
	LEDGER_FIELD(arrows_no_launch),
	LEDGER_FIELD(arrows_untimed),
	LEDGER_FIELD(spans),
	LEDGER_FIELD(instants),
	LEDGER_FIELD(counters),
	LEDGER_FIELD(kernels),
	LEDGER_FIELD(copies),
	LEDGER_FIELD(cold_chunks),
	LEDGER_FIELD(quarantined_chunks),
	LEDGER_FIELD(begins),
	LEDGER_FIELD(cut_captures),
	LEDGER_FIELD(bad_bytes),
	LEDGER_FIELD(launches_without_result),
	LEDGER_FIELD(invalid),
	LEDGER_FIELD(projected),
	LEDGER_FIELD(before_launch),
	LEDGER_FIELD(launches_twice),
	LEDGER_FIELD(arrows_twice),
};

#define LEDGER_COUNT (sizeof(ledger_fields) / sizeof(ledger_fields[0]))

/* Those that say that something is missing from the trace. */
static bool is_loss(size_t field)
{
	const size_t offset = ledger_fields[field].offset;

	return (offset >= offsetof(struct kymo_trace_ledger, full) &&
		offset <= offsetof(struct kymo_trace_ledger, source_at_least)) ||
	       offset == offsetof(struct kymo_trace_ledger, invalid);
}

/* Begins and what follows are told only where there are any: few traces have them. */
static bool is_shown(size_t field, uint64_t value)
{
	return value > 0 ||
	       ledger_fields[field].offset < offsetof(struct kymo_trace_ledger, begins);
}

static uint64_t ledger_value(const struct kymo_trace_ledger *ledger, size_t field)
{
	uint64_t value = 0;

	if (ledger_fields[field].offset + sizeof(value) <= ledger->struct_size)
		memcpy(&value, (const char *)ledger + ledger_fields[field].offset,
		       sizeof(value));
	return value;
}

static void add_field(struct ky_object *object, size_t field, uint64_t value)
{
	const char *name = ledger_fields[field].name;

	ky_object_add_u64(object, (struct kymo_str){name, strlen(name)}, value);
}

bool ky_ledger_is_incomplete(const struct kymo_trace_ledger *ledger)
{
	return (KYMO_HAS_FIELD(ledger, cut_captures) && ledger->cut_captures > 0) ||
	       (KYMO_HAS_FIELD(ledger, bad_bytes) && ledger->bad_bytes > 0);
}

uint64_t ky_ledger_lost(const struct kymo_trace_ledger *ledger)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < LEDGER_COUNT; i++)
		lost += is_loss(i) ? ledger_value(ledger, i) : 0;
	return lost;
}

void ky_ledger_write_losses(struct ky_object *object,
			    const struct kymo_trace_ledger *ledger)
{
	size_t i;

	for (i = 0; i < LEDGER_COUNT; i++) {
		uint64_t value = ledger_value(ledger, i);

		if (is_loss(i) && value > 0)
			add_field(object, i, value);
	}
}

void ky_ledger_write(struct ky_object *object, const struct kymo_trace_ledger *ledger)
{
	size_t i;

	for (i = 0; i < LEDGER_COUNT; i++) {
		uint64_t value = ledger_value(ledger, i);

		if (is_shown(i, value))
			add_field(object, i, value);
	}
}
