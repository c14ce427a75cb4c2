/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack is an array of code addresses in the record itself. As an attribute set each
 * stack would stand in the dictionary once; but recursion and data make more stacks than
 * a dictionary has room for, which belongs to all sources and never forgets. So do the
 * addresses, at 64 bytes each: from so many on, new ones are left out and counted.
 */
#include "stack.h"

#include <string.h>

#include "loader.h"
#include "source.h"
#include "thread_table.h"

#define PLACES    65536u /* a power of two; 1 MiB that is touched as it is used */
#define FULL      (PLACES / 2)
#define PER_LINE  (sizeof(((struct kymo_record_bytes *)0)->byte) / sizeof(uint64_t))
#define LINES_MAX (1 + (PERF_STACK_MAX + PER_LINE - 1) / PER_LINE)

static struct {
	uint32_t count;
	uint32_t unloads; /* of files, as the loader counts them */
	uint64_t left_out;
	struct {
		uint64_t address; /* 0: a free place */
		uint32_t code, unloads;
	} places[PLACES];
} known;

/* What was known of an address is asked again where another file may have its place. */
void perf_stack_look(void)
{
	known.unloads = perf_loader_unloads();
}

/* The number of a code address; 0 where there is no room for one more. */
static uint32_t find_code(uint64_t address)
{
	uint64_t i = (address * 0x9e3779b97f4a7c15u >> 32) % PLACES;

	while (known.places[i].address != address && known.places[i].address != 0)
		i = (i + 1) % PLACES;
	if (known.places[i].address == address &&
	    known.places[i].unloads == known.unloads)
		return known.places[i].code;
	if (known.places[i].address == 0 && known.count == FULL) {
		known.left_out++;
		return 0;
	}
	/* In this order: a child that is forked here finds the place free, or whole. */
	known.count += known.places[i].address == 0;
	perf_loader_enter();
	known.places[i].code = perf_source.host->code(perf_source.self,
						      (const void *)(uintptr_t)address);
	perf_loader_leave();
	known.places[i].unloads = known.unloads;
	known.places[i].address = address;
	return known.places[i].code;
}

/* The elements of the array, as many in each line as fit. */
static uint32_t put_stack(union kymo_line *lines, const uint64_t *codes, uint32_t count)
{
	const uint32_t total = count * (uint32_t)sizeof(codes[0]);
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i += PER_LINE) {
		const uint32_t left = count - i;
		const size_t size =
			(left < PER_LINE ? left : PER_LINE) * sizeof(codes[0]);
		struct kymo_record_bytes *bytes = &lines[used++].bytes;

		bytes->kind = KYMO_KIND_BYTES;
		bytes->used = (uint8_t)size;
		bytes->key = perf_source.keys[PERF_KEY_STACK];
		bytes->total = total;
		memcpy(bytes->byte, &codes[i], size);
	}
	return used;
}

void perf_stack_take(const struct perf_record *record)
{
	const uint32_t count = (uint32_t)record->address_count;
	union kymo_line lines[LINES_MAX] = {{.record = {
						     .kind = KYMO_KIND_INSTANT,
						     .flags = KYMO_RECORD_NAME_CODE,
						     .begin = record->time,
						     .end = record->time,
					     }}};
	uint64_t codes[PERF_STACK_MAX];
	uint32_t used;

	if (count == 0)
		return; /* it was in the kernel, of a thread that has no user mode */
	/* Callers are known by where they return to: the byte before is in the call. */
	for (uint32_t i = 0; i < count; i++)
		codes[i] = find_code(record->addresses[i] - (i > 0));
	used = 1 + put_stack(lines + 1, codes, count);
	lines[0].record.lines = (uint8_t)used;
	lines[0].record.track = perf_thread_find(record->tid)->track;
	lines[0].record.type = perf_source.types[PERF_TYPE_SAMPLE];
	lines[0].record.name = (uint32_t)codes[0];
	perf_source.host->emit(perf_source.self, lines, used);
}

void perf_stack_begin(void)
{
	known.left_out = 0;
}

void perf_stack_end(void)
{
	const struct kymo_value left_out = {
		.key = perf_source.keys[PERF_KEY_ADDRESSES],
		.type = KYMO_VALUE_UINT64,
		.u64 = known.left_out,
	};

	if (known.left_out > 0)
		perf_source.host->metadata(perf_source.self, &left_out);
}
