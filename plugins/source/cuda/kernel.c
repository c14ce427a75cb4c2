/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels, and launches of graphs.
 *
 * What repeats from launch to launch of a kernel is an attribute set of the host, found
 * by what it was made of. Programs with shapes of their own for every launch would fill
 * the host's dictionary with such sets: when there are many, what depends on the grid
 * goes into the record itself.
 */
#include <stdio.h>

#include <kymo/nested.h>

#include "cache.h"
#include "decode.h"
#include "name.h"
#include "place.h"

#define VALUES_MAX   16u
#define MOST_THREADS 65536 /* of a block; real ones take 1024 */

/* Half a kilobyte each, of the 64 MiB that all sources of a process have. */
#define SETS_WITH_GRID_MAX 8192u

static struct ky_cache sets;
static uint32_t set_count, last_set; /* of the sets: how many, and the newest */

/* A set in the making. */
struct draft {
	struct kymo_value values[VALUES_MAX];
	uint32_t count;
	int64_t grid[3], block[3], cluster[3];
	uint64_t words[64]; /* of the nested value */
};

/* What depends on how many blocks there are. */
struct load {
	double blocks_per_sm, warps_per_sm;
	int64_t percent; /* -1: not known */
	uint32_t is_known;
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

enum limit_name {
	ACTIVE_BLOCKS,
	LIMITING_FACTORS,
	LIMIT_REGISTERS,
	LIMIT_SHARED,
	LIMIT_WARPS,
	LIMIT_BLOCKS,
	ALLOCATED_REGISTERS,
	ALLOCATED_SHARED,
	LIMIT_NAMES,
};

/* The numbers of their names, which hold for ever. */
static uint32_t limit_name(enum limit_name name)
{
	static const char *const texts[LIMIT_NAMES] = {
		[ACTIVE_BLOCKS] = "activeBlocksPerMultiprocessor",
		[LIMITING_FACTORS] = "limitingFactors",
		[LIMIT_REGISTERS] = "blockLimitRegs",
		[LIMIT_SHARED] = "blockLimitSharedMem",
		[LIMIT_WARPS] = "blockLimitWarps",
		[LIMIT_BLOCKS] = "blockLimitBlocks",
		[ALLOCATED_REGISTERS] = "allocatedRegistersPerBlock",
		[ALLOCATED_SHARED] = "allocatedSharedMemPerBlock",
	};
	static uint32_t numbers[LIMIT_NAMES];

	return ky_name_once(&numbers[name], texts[name]);
}

static void put_limit(struct kymo_nested *dict, enum limit_name name, uint64_t limit)
{
	if (limit != UINT32_MAX)
		kymo_nested_put(dict, limit_name(name), KYMO_VALUE_INT64, limit);
}

/* "WARPS|REGS", in libkineto's words. */
static uint32_t factors_name(uint32_t factors)
{
	static const char *const words[KY_LIMITS] = {"WARPS", "REGS", "SMEM", "BLOCKS"};
	static uint32_t numbers[1u << KY_LIMITS];
	char text[32] = "";
	size_t used = 0;

	if (numbers[factors] != 0)
		return numbers[factors];
	for (uint32_t i = 0; i < KY_LIMITS; i++)
		if (factors & 1u << i)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used > 0 ? "|" : "", words[i]);
	numbers[factors] = ky_name_text(used > 0 ? text : "none");
	return numbers[factors];
}

static void put_occupancy(struct draft *draft, const struct ky_occupancy *occupancy)
{
	struct kymo_nested dict;

	kymo_nested_begin(&dict, draft->words,
			  sizeof(draft->words) / sizeof(draft->words[0]),
			  KYMO_VALUE_DICT);
	put_limit(&dict, ACTIVE_BLOCKS, occupancy->blocks);
	kymo_nested_put(&dict, limit_name(LIMITING_FACTORS), KYMO_VALUE_STRING,
			factors_name(occupancy->factors));
	put_limit(&dict, LIMIT_REGISTERS, occupancy->by_registers);
	put_limit(&dict, LIMIT_SHARED, occupancy->by_shared);
	put_limit(&dict, LIMIT_WARPS, occupancy->by_warps);
	put_limit(&dict, LIMIT_BLOCKS, occupancy->by_blocks);
	put_limit(&dict, ALLOCATED_REGISTERS, occupancy->registers);
	put_limit(&dict, ALLOCATED_SHARED, occupancy->shared_bytes);
	put(draft, kymo_nested_value(&dict, ky_key_number(KY_KEY_OCCUPANCY)));
}

/* How many blocks of it a multiprocessor holds; 0: not known. */
static int measure_block(const struct cupti_kernel *from, struct ky_occupancy *out)
{
	const struct ky_device *device = ky_place_device(from->device_id);
	const double threads = (double)from->block_x * from->block_y * from->block_z;
	struct ky_launch launch = {.registers = from->registers_per_thread};

	if (!device || threads <= 0 || threads > MOST_THREADS ||
	    from->static_shared < 0 || from->dynamic_shared < 0)
		return 0;
	launch.threads = (uint32_t)threads;
	launch.shared_bytes =
		(uint64_t)from->static_shared + (uint64_t)from->dynamic_shared;
	return ky_occupancy_of(&device->limits, &launch, out);
}

/* What the launch puts on the device, of which a multiprocessor holds so many blocks. */
static struct load measure(const struct cupti_kernel *from, uint32_t blocks_held)
{
	const struct ky_device *device = ky_place_device(from->device_id);
	const double blocks = (double)from->grid_x * from->grid_y * from->grid_z;
	const double threads = (double)from->block_x * from->block_y * from->block_z;
	struct load load = {.is_known = 0};

	if (!device || device->limits.sm_count == 0 || device->limits.warp_size == 0 ||
	    blocks <= 0 || threads <= 0)
		return load;
	load.is_known = 1;
	load.blocks_per_sm = blocks / device->limits.sm_count;
	load.warps_per_sm = load.blocks_per_sm * threads / device->limits.warp_size;
	load.percent = ky_occupancy_percent(&device->limits, blocks_held,
					    load.blocks_per_sm, threads);
	return load;
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

static void put_grid(struct draft *draft, const struct cupti_kernel *from,
		     const struct load *load)
{
	draft->grid[0] = from->grid_x;
	draft->grid[1] = from->grid_y;
	draft->grid[2] = from->grid_z;
	put(draft, ky_value_array(KY_KEY_GRID, draft->grid, 3));
	if (!load->is_known)
		return;
	put(draft, ky_value_double(KY_KEY_BLOCKS_PER_SM, load->blocks_per_sm));
	put(draft, ky_value_double(KY_KEY_WARPS_PER_SM, load->warps_per_sm));
	if (load->percent >= 0)
		put(draft,
		    ky_value_number(KY_KEY_OCCUPANCY_PERCENT, (uint64_t)load->percent));
}

static void put_block(struct draft *draft, const struct cupti_kernel *from,
		      const struct launch_fields *fields)
{
	draft->block[0] = from->block_x;
	draft->block[1] = from->block_y;
	draft->block[2] = from->block_z;
	put(draft, ky_value_array(KY_KEY_BLOCK, draft->block, 3));
	if (fields->cluster[0] == 0)
		return;
	for (unsigned i = 0; i < 3; i++)
		draft->cluster[i] = fields->cluster[i];
	put(draft, ky_value_array(KY_KEY_CLUSTER, draft->cluster, 3));
}

static uint32_t make_set(const struct cupti_kernel *from,
			 const struct launch_fields *fields, int has_grid,
			 const struct ky_occupancy *occupancy)
{
	struct draft draft = {.count = 0};
	uint32_t number;

	ky_place_learn_context(from->context_id, from->device_id);
	put(&draft, ky_value_number(KY_KEY_CONTEXT, from->context_id));
	put(&draft, ky_value_number(KY_KEY_REGISTERS, from->registers_per_thread));
	put(&draft,
	    ky_value_number(KY_KEY_SHARED, (uint64_t)((int64_t)from->static_shared +
						      from->dynamic_shared)));
	if (has_grid) {
		const struct load load = measure(from, occupancy->blocks);

		put_grid(&draft, from, &load);
	}
	put_block(&draft, from, fields);
	if (occupancy->by_blocks != 0)
		put_occupancy(&draft, occupancy);
	if (fields->has_priority)
		put(&draft, ky_value_number(KY_KEY_PRIORITY,
					    (uint64_t)(int64_t)fields->priority));
	if (fields->channel_type != 0) {
		put(&draft, ky_value_number(KY_KEY_CHANNEL, fields->channel));
		put(&draft, ky_value_number(KY_KEY_CHANNEL_TYPE,
					    ky_channel_type_name(fields->channel_type)));
	}
	number = ky_source.host->attributes(ky_source.self, draft.values, draft.count);
	/* A lower one was there before: numbers are given in their order. */
	if (number > last_set) {
		last_set = number;
		set_count++;
	}
	return number;
}

static const struct ky_cached *find_or_make(const struct cupti_kernel *from,
					    const struct launch_fields *fields,
					    const uint64_t words[KY_CACHE_WORDS],
					    int has_grid)
{
	const uint64_t hash = ky_cache_hash(words);
	const struct ky_cached *known = ky_cache_get(&sets, hash, words);
	struct ky_occupancy occupancy;
	uint32_t number;

	if (known || (has_grid && set_count >= SETS_WITH_GRID_MAX))
		return known;
	if (!measure_block(from, &occupancy))
		occupancy = (struct ky_occupancy){0};
	number = make_set(from, fields, has_grid, &occupancy);
	return ky_cache_put(&sets, hash, words, number, occupancy.blocks);
}

/* `has_grid` becomes 0 if the set is one without what depends on the grid. */
static const struct ky_cached *find_set(const struct cupti_kernel *from,
					const struct launch_fields *fields, int *has_grid)
{
	uint64_t words[KY_CACHE_WORDS] = {
		pair(from->registers_per_thread, from->device_id),
		pair(from->context_id, fields->channel),
		pair((uint32_t)from->grid_x, (uint32_t)from->grid_y),
		pair((uint32_t)from->grid_z, (uint32_t)from->block_x),
		pair((uint32_t)from->block_y, (uint32_t)from->block_z),
		pair((uint32_t)from->static_shared, (uint32_t)from->dynamic_shared),
		pair(fields->channel_type, (uint32_t)fields->priority),
		pair(fields->cluster[0], fields->cluster[1]),
		pair(fields->cluster[2], fields->has_priority),
		1,
	};
	const struct ky_cached *set = find_or_make(from, fields, words, 1);

	*has_grid = set != NULL;
	if (set)
		return set;
	words[2] = 0;
	words[3] = pair(0, (uint32_t)from->block_x);
	words[9] = 0;
	return find_or_make(from, fields, words, 0);
}

/* ---- Records ---- */

/* A kernel that has begun and not ended runs until now, at least. */
static void add_times(struct ky_batch *batch, struct kymo_record *record, uint64_t begin,
		      uint64_t end)
{
	const int is_open = begin != 0 && end == 0;

	if (is_open)
		end = begin > batch->now ? begin : batch->now;
	record->begin = begin;
	record->end = end;
	record->flags |= ky_batch_time_flags(batch, begin, end);
	if (is_open)
		record->flags |= KYMO_RECORD_UNFINISHED;
}

/* Into the record itself; the last that is added to it. */
static void add_grid(struct ky_batch *batch, struct kymo_record *record,
		     const struct cupti_kernel *from, uint32_t blocks_held)
{
	const int64_t grid[3] = {from->grid_x, from->grid_y, from->grid_z};
	const struct load load = measure(from, blocks_held);

	if (load.is_known) {
		ky_batch_value(batch, record, KY_KEY_BLOCKS_PER_SM,
			       kymo_double_bits(load.blocks_per_sm));
		ky_batch_value(batch, record, KY_KEY_WARPS_PER_SM,
			       kymo_double_bits(load.warps_per_sm));
	}
	if (load.is_known && load.percent >= 0)
		ky_batch_value(batch, record, KY_KEY_OCCUPANCY_PERCENT,
			       (uint64_t)load.percent);
	ky_batch_triple(batch, record, KY_KEY_GRID, grid);
}

void ky_decode_kernel(struct ky_batch *batch, const struct cupti_kernel *from)
{
	struct kymo_record *record = ky_batch_add(batch);
	const struct ky_cached *set;
	struct launch_fields fields;
	int has_grid;

	read_fields(&fields, from, batch->version);
	set = find_set(from, &fields, &has_grid);
	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = KYMO_RECORD_TARGET,
		.track = ky_place_stream(from->device_id, from->stream_id, KY_ROW_STREAM),
		.type = ky_type_number(KY_TYPE_KERNEL),
		.domain = ky_source.numbers->domains[0],
		.name = ky_name_kernel(from->name, batch->buffer),
		.correlation = from->correlation_id,
		.attributes = set->number,
	};
	add_times(batch, record, from->start, from->end);
	if (fields.graph != 0)
		ky_batch_value(batch, record, KY_KEY_GRAPH, fields.graph);
	if (from->graph_node_id != 0)
		ky_batch_value(batch, record, KY_KEY_GRAPH_NODE, from->graph_node_id);
	if (from->queued != 0)
		ky_batch_value(batch, record, KY_KEY_QUEUED, from->queued);
	if (from->submitted != 0)
		ky_batch_value(batch, record, KY_KEY_SUBMITTED, from->submitted);
	if (KYMO_UNLIKELY(!has_grid))
		add_grid(batch, record, from, set->extra);
}

void ky_decode_graph(struct ky_batch *batch, const struct cupti_graph *from)
{
	static uint32_t name;
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = KYMO_RECORD_TARGET,
		.track = ky_place_stream(from->device_id, from->stream_id, KY_ROW_STREAM),
		.type = ky_type_number(KY_TYPE_GRAPH),
		.domain = ky_source.numbers->domains[0],
		.name = ky_name_once(&name, "CUDA graph"),
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
