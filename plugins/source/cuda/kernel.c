/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels, and launches of graphs. All but times, correlation and node repeats from
 * launch to launch of a kernel: it is an attribute set of the host, found by what it was
 * made of.
 */
#include <math.h>

#include <kymo/nested.h>

#include "cache.h"
#include "decode.h"
#include "name.h"
#include "place.h"

#define VALUES_MAX 16u

static struct ky_cache sets;

/* A set in the making. */
struct draft {
	struct kymo_value values[VALUES_MAX];
	uint32_t count;
	int64_t grid[3], block[3], cluster[3];
	uint64_t words[64]; /* of the nested value */
};

static void put(struct draft *draft, struct kymo_value value)
{
	if (draft->count < VALUES_MAX)
		draft->values[draft->count++] = value;
}

uint32_t ky_channel_type_name(uint32_t type)
{
	static const char *const names[] = {"INVALID", "COMPUTE", "ASYNC_MEMCPY",
					    "DECOMP"};

	return ky_name_text(names[type < 4 ? type : 0]);
}

/* ---- Occupancy ---- */

static void put_limit(struct kymo_nested *dict, const char *name, uint32_t limit)
{
	if (limit != UINT32_MAX)
		kymo_nested_put(dict, ky_name_text(name), KYMO_VALUE_INT64, limit);
}

static uint32_t factors_name(uint32_t factors)
{
	static const struct {
		uint32_t factor;
		const char *name;
	} names[] = {{KY_LIMIT_WARPS, "WARPS"},
		     {KY_LIMIT_REGISTERS, "REGS"},
		     {KY_LIMIT_SHARED, "SMEM"},
		     {KY_LIMIT_BLOCKS, "BLOCKS"}};
	char text[32] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(factors & names[i].factor))
			continue;
		if (used > 0)
			text[used++] = '|';
		for (const char *at = names[i].name; *at; at++)
			text[used++] = *at;
		text[used] = '\0';
	}
	return ky_name_text(used > 0 ? text : "none");
}

static void put_occupancy(struct draft *draft, const struct ky_device *device,
			  const struct ky_launch *launch)
{
	struct ky_occupancy occupancy;
	struct kymo_nested dict;

	if (!ky_occupancy_of(&device->limits, launch, &occupancy))
		return;
	put(draft, ky_value_number(KY_KEY_OCCUPANCY_PERCENT,
				   (uint64_t)llround(occupancy.percent)));
	kymo_nested_begin(&dict, draft->words,
			  sizeof(draft->words) / sizeof(draft->words[0]),
			  KYMO_VALUE_DICT);
	put_limit(&dict, "activeBlocksPerMultiprocessor", occupancy.blocks);
	kymo_nested_put(&dict, ky_name_text("limitingFactors"), KYMO_VALUE_STRING,
			factors_name(occupancy.factors));
	put_limit(&dict, "blockLimitRegs", occupancy.by_registers);
	put_limit(&dict, "blockLimitSharedMem", occupancy.by_shared);
	put_limit(&dict, "blockLimitWarps", occupancy.by_warps);
	put_limit(&dict, "blockLimitBlocks", occupancy.by_blocks);
	kymo_nested_put(&dict, ky_name_text("allocatedRegistersPerBlock"),
			KYMO_VALUE_INT64, occupancy.registers);
	kymo_nested_put(&dict, ky_name_text("allocatedSharedMemPerBlock"),
			KYMO_VALUE_INT64, occupancy.shared_bytes);
	put(draft, kymo_nested_value(&dict, ky_key_number(KY_KEY_OCCUPANCY)));
}

/* ---- The set of a launch ---- */

static uint64_t pair(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* The fields of a record that the set is made of, with 0 for those it does not have. */
struct launch_fields {
	uint32_t graph, channel, channel_type, cluster[3];
	int32_t priority;
	uint32_t has_priority;
};

static void read_fields(struct launch_fields *out, const struct cupti_kernel *from,
			uint32_t version)
{
	*out = (struct launch_fields){0};
	if (version >= CUPTI_SINCE_11_1)
		out->graph = from->graph_id;
	if (version >= CUPTI_SINCE_11_6) {
		out->channel = from->channel_id;
		out->channel_type = from->channel_type;
	}
	if (version >= CUPTI_SINCE_11_8) {
		out->cluster[0] = from->cluster_x;
		out->cluster[1] = from->cluster_y;
		out->cluster[2] = from->cluster_z;
	}
	if (version >= CUPTI_SINCE_13_1) {
		out->priority = from->priority;
		out->has_priority = 1;
	}
}

static void put_shape(struct draft *draft, const struct cupti_kernel *from,
		      const struct launch_fields *fields)
{
	const int64_t grid[3] = {from->grid_x, from->grid_y, from->grid_z};
	const int64_t block[3] = {from->block_x, from->block_y, from->block_z};

	for (unsigned i = 0; i < 3; i++) {
		draft->grid[i] = grid[i];
		draft->block[i] = block[i];
		draft->cluster[i] = fields->cluster[i];
	}
	put(draft, ky_value_array(KY_KEY_GRID, draft->grid, 3));
	put(draft, ky_value_array(KY_KEY_BLOCK, draft->block, 3));
	if (fields->cluster[0] != 0)
		put(draft, ky_value_array(KY_KEY_CLUSTER, draft->cluster, 3));
}

static void put_load(struct draft *draft, const struct cupti_kernel *from)
{
	const struct ky_device *device = ky_place_device(from->device_id);
	const double blocks = (double)from->grid_x * from->grid_y * from->grid_z;
	const double threads = (double)from->block_x * from->block_y * from->block_z;
	struct ky_launch launch = {
		.registers = from->registers_per_thread,
		.shared_bytes =
			(uint64_t)((int64_t)from->static_shared + from->dynamic_shared),
	};

	if (!device || device->limits.sm_count == 0 || device->limits.warp_size == 0 ||
	    blocks <= 0 || blocks > 1e18 || threads <= 0 || threads > 65536 ||
	    from->static_shared < 0 || from->dynamic_shared < 0)
		return;
	put(draft,
	    ky_value_double(KY_KEY_BLOCKS_PER_SM, blocks / device->limits.sm_count));
	put(draft, ky_value_double(KY_KEY_WARPS_PER_SM,
				   blocks * (threads / device->limits.warp_size) /
					   device->limits.sm_count));
	launch.blocks = (uint64_t)blocks;
	launch.threads = (uint32_t)threads;
	put_occupancy(draft, device, &launch);
}

static uint32_t make_set(const struct cupti_kernel *from,
			 const struct launch_fields *fields)
{
	struct draft draft = {.count = 0};

	put(&draft, ky_value_number(KY_KEY_CONTEXT, from->context_id));
	put(&draft, ky_value_number(KY_KEY_REGISTERS, from->registers_per_thread));
	put(&draft,
	    ky_value_number(KY_KEY_SHARED, (uint64_t)((int64_t)from->static_shared +
						      from->dynamic_shared)));
	put_shape(&draft, from, fields);
	put_load(&draft, from);
	if (fields->graph != 0)
		put(&draft, ky_value_number(KY_KEY_GRAPH, fields->graph));
	if (fields->has_priority)
		put(&draft, ky_value_number(KY_KEY_PRIORITY,
					    (uint64_t)(int64_t)fields->priority));
	if (fields->channel_type != 0) {
		put(&draft, ky_value_number(KY_KEY_CHANNEL, fields->channel));
		put(&draft, ky_value_number(KY_KEY_CHANNEL_TYPE,
					    ky_channel_type_name(fields->channel_type)));
	}
	return ky_source.host->attributes(ky_source.self, draft.values, draft.count);
}

static uint32_t find_set(const struct cupti_kernel *from, uint32_t version)
{
	struct launch_fields fields;
	uint64_t words[KY_CACHE_WORDS];
	uint32_t slot, number;

	read_fields(&fields, from, version);
	words[0] = pair(from->registers_per_thread, from->device_id);
	words[1] = pair(from->context_id, fields.channel);
	words[2] = pair((uint32_t)from->grid_x, (uint32_t)from->grid_y);
	words[3] = pair((uint32_t)from->grid_z, (uint32_t)from->block_x);
	words[4] = pair((uint32_t)from->block_y, (uint32_t)from->block_z);
	words[5] = pair((uint32_t)from->static_shared, (uint32_t)from->dynamic_shared);
	words[6] = pair(fields.graph, (uint32_t)fields.priority);
	words[7] = pair(fields.cluster[0], fields.cluster[1]);
	words[8] = pair(fields.cluster[2], fields.channel_type);
	words[9] = fields.has_priority;
	slot = ky_cache_slot(words);
	number = ky_cache_get(&sets, slot, words);
	if (KYMO_UNLIKELY(number == 0)) {
		number = make_set(from, &fields);
		ky_cache_put(&sets, slot, words, number);
	}
	return number;
}

/* ---- Records ---- */

/* A kernel that has begun and not ended ran to the end of what was seen, at least. */
static void add_times(struct ky_batch *batch, struct kymo_record *record, uint64_t begin,
		      uint64_t end)
{
	const int is_open = begin != 0 && end == 0;

	record->begin = begin;
	record->end = is_open && batch->latest != UINT64_MAX ? batch->latest : end;
	record->flags |= ky_batch_time_flags(batch, begin, record->end);
	if (is_open)
		record->flags |= KYMO_RECORD_UNFINISHED;
}

void ky_decode_kernel(struct ky_batch *batch, const struct cupti_kernel *from)
{
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = KYMO_RECORD_TARGET,
		.track = ky_place_stream(from->device_id, from->stream_id, KY_ROW_STREAM),
		.type = ky_type_number(KY_TYPE_KERNEL),
		.domain = ky_source.numbers->domains[0],
		.name = ky_name_kernel(from->name, batch->buffer),
		.correlation = from->correlation_id,
		.attributes = find_set(from, batch->version),
	};
	add_times(batch, record, from->start, from->end);
	if (from->graph_node_id != 0)
		ky_batch_value(batch, record, KY_KEY_GRAPH_NODE, from->graph_node_id);
	if (from->queued != 0)
		ky_batch_value(batch, record, KY_KEY_QUEUED, from->queued);
	if (from->submitted != 0)
		ky_batch_value(batch, record, KY_KEY_SUBMITTED, from->submitted);
}

void ky_decode_graph(struct ky_batch *batch, const struct cupti_graph *from)
{
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = KYMO_RECORD_TARGET,
		.track = ky_place_stream(from->device_id, from->stream_id, KY_ROW_STREAM),
		.type = ky_type_number(KY_TYPE_GRAPH),
		.domain = ky_source.numbers->domains[0],
		.name = ky_name_text("CUDA graph"),
		.correlation = from->correlation_id,
	};
	add_times(batch, record, from->start, from->end);
	ky_batch_value(batch, record, KY_KEY_GRAPH, from->graph_id);
	ky_batch_value(batch, record, KY_KEY_CONTEXT, from->context_id);
}

void ky_kernel_forget(void)
{
	ky_cache_clear(&sets);
}
