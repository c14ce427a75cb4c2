/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions lie in the thread's writer. They are kept while nothing is recorded as well, so
 * that a pop always meets its push; a thread without a writer has none, and gets one at
 * its first push in a recording.
 */
#include "session/link.h"

#include <kymo/link.h>

#include <errno.h>

#include "base/error.h"
#include "capture/gate.h"
#include "record/dictionary.h"
#include "registry/static_types.h"
#include "session/mark.h"
#include "session/mark_types.h"
#include "session/source.h"

KYMO_STATIC_ASSERT(KYMO_LINK_DEPTH_MAX == KY_REGIONS_MAX);

/* Numbers in the dictionary, which hold for ever; 0: not registered yet. Atomic. */
static struct {
	uint16_t domain, link_kind;
} stacks[KY_REGION_STACKS];

static const char *const stack_names[KY_REGION_STACKS] = {
	[KYMO_LINK_OP] = "op",
	[KYMO_LINK_USER] = "user",
};

static uint16_t intern(uint16_t kind, const void *payload, size_t size)
{
	uint32_t id = 0;

	ky_dictionary_intern(kind, payload, size, &id);
	return (uint16_t)id; /* the dictionary keeps these below 65536 */
}

static uint16_t intern_link_kind(const char *name)
{
	const struct ky_link_kind_entry entry = {.name = ky_dictionary_text(name)};

	return entry.name != KY_STRING_NOT_KEPT
		       ? intern(KY_ENTRY_LINK_KIND, &entry, sizeof(entry))
		       : 0;
}

/* The stack's domain, registered if need be, with the kind of links to its regions. */
static uint16_t domain_of(uint32_t stack)
{
	uint16_t domain = __atomic_load_n(&stacks[stack].domain, __ATOMIC_ACQUIRE);
	const struct ky_domain_entry entry = {
		.name = domain ? 0 : ky_dictionary_text(stack_names[stack]),
		.scope = KYMO_DOMAIN_PROCESS,
	};

	if (domain != 0)
		return domain;
	__atomic_store_n(&stacks[stack].link_kind, intern_link_kind(stack_names[stack]),
			 __ATOMIC_RELAXED);
	domain = intern(KY_ENTRY_DOMAIN, &entry, sizeof(entry));
	__atomic_store_n(&stacks[stack].domain, domain, __ATOMIC_RELEASE);
	return domain;
}

/* ---- Regions ---- */

static void open_region(struct ky_regions *regions, uint32_t stack, uint64_t number)
{
	if (regions->depth[stack] < KY_REGIONS_MAX)
		regions->number[stack][regions->depth[stack]] = number;
	regions->depth[stack]++;
	regions->count++;
}

void kymo_link_push(uint32_t stack, uint64_t number)
{
	const int before = errno;
	struct ky_writer *writer;

	if (stack >= KY_REGION_STACKS)
		return;
	writer = ky_writer_of_thread(ky_gate_decide() == KYMO_GATE_ON);
	if (writer)
		open_region(&writer->regions, stack, number);
	if (ky_gate_word() == KYMO_GATE_ON)
		ky_sources_push(domain_of(stack), number);
	errno = before;
}

void kymo_link_pop(uint32_t stack)
{
	const int before = errno;
	struct ky_writer *writer;

	if (stack >= KY_REGION_STACKS)
		return;
	writer = ky_writer_of_thread(0);
	if (writer && writer->regions.depth[stack] > 0) {
		writer->regions.depth[stack]--;
		writer->regions.count--;
	}
	if (ky_gate_decide() == KYMO_GATE_ON)
		ky_sources_pop(domain_of(stack));
	errno = before;
}

/* One record more of the source: what is counted of it is what is found of it. */
static void emit_link(uint32_t source, const struct kymo_record_link *link)
{
	struct kymo_record_link *line = (void *)ky_writer_begin(1);

	if (!line)
		return;
	*line = *link;
	line->source = (uint16_t)source;
	ky_writer_commit(1, 1);
}

void ky_link_launch(const struct kymo_source_host *host, const struct kymo_record *launch)
{
	const struct ky_regions *regions = &ky_writer_self->regions;

	if (launch->correlation == 0 ||
	    KYMO_HAS_FUNCTION(host->desc->ops, push_correlation))
		return;
	for (uint32_t i = 0; i < KY_REGION_STACKS; i++) {
		const uint32_t depth = regions->depth[i] < KY_REGIONS_MAX
					       ? regions->depth[i]
					       : KY_REGIONS_MAX;
		struct kymo_record_link link = {
			.kind = KYMO_KIND_LINK,
			.lines = 1,
			.link_kind =
				__atomic_load_n(&stacks[i].link_kind, __ATOMIC_RELAXED),
			.from_domain =
				__atomic_load_n(&stacks[i].domain, __ATOMIC_ACQUIRE),
			.to_domain = launch->domain,
			.time = launch->begin,
			.to = launch->correlation,
		};

		if (depth > 0)
			link.from = regions->number[i][depth - 1];
		if (link.from != 0 && link.from_domain != 0)
			emit_link(host->number, &link);
	}
}

/* ---- Spans and arrows ---- */

/* Kept for ever, once there is one; 0: it cannot be had. */
static uint16_t type_of_operations(void)
{
	static uint16_t op_type; /* atomic */
	uint16_t type = __atomic_load_n(&op_type, __ATOMIC_RELAXED);

	if (type == 0 && kymo_mark_type(KY_TYPE_CPU_OP, &type, NULL) == KYMO_OK)
		__atomic_store_n(&op_type, type, __ATOMIC_RELAXED);
	return type;
}

int32_t kymo_link_end(uint32_t stack, uint64_t number, uint64_t begin, uint32_t name,
		      const struct kymo_value *values, size_t count)
{
	struct kymo_record record = {
		.kind = KYMO_KIND_SPAN,
		.name = name,
		.begin = begin,
		.correlation = number,
	};
	int32_t status = KYMO_OK;

	if (stack >= KY_REGION_STACKS || number == 0)
		return KYMO_ERROR_INVALID;
	if (begin == 0)
		return KYMO_OK;
	/* A child must not touch the dictionary before it is its own. */
	ky_gate_decide();
	/* The others are plain marks: annotations. */
	if (stack == KYMO_LINK_OP) {
		record.type = type_of_operations();
		status = ky_mark_check_type(record.type);
	}
	if (status != KYMO_OK)
		return status;
	record.domain = domain_of(stack);
	return ky_mark_record(record, values, count);
}

uint16_t kymo_link_kind(const char *name)
{
	if (!name || !name[0])
		return 0;
	ky_gate_decide();
	return intern_link_kind(name);
}

int32_t kymo_link_arrow(uint16_t kind, uint32_t from_stack, uint64_t from,
			uint32_t to_stack, uint64_t to)
{
	struct kymo_record_link *line;
	struct kymo_record_link link = {
		.kind = KYMO_KIND_LINK,
		.lines = 1,
		.link_kind = kind,
		.from = from,
		.to = to,
	};
	int is_off = 0;

	if (kind == 0 || from_stack >= KY_REGION_STACKS || to_stack >= KY_REGION_STACKS ||
	    from == 0 || to == 0)
		return KYMO_ERROR_INVALID;
	if (ky_gate_decide() != KYMO_GATE_ON)
		return KYMO_OK;
	link.source = (uint16_t)ky_mark_source();
	link.from_domain = domain_of(from_stack);
	link.to_domain = domain_of(to_stack);
	link.time = ky_ticks();
	line = (void *)ky_writer_begin_or(1, &is_off);
	if (!line)
		return is_off ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
	*line = link;
	ky_writer_commit(1, 1);
	return KYMO_OK;
}
