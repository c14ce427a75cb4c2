/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: collective communication (NCCL, RCCL, MPI).
 *
 * The same collective happens in every rank, each in a process of its own, often on
 * another machine. What they have in common is the communicator's id and how many
 * collectives it has seen; both are known to each rank without asking, so a number made
 * of them is equal everywhere and of no others. That is what a global domain is for.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include <kymo/inject.h>

/* ---- The vendor's interface, as little of it as the adapter needs ---- */

struct vendor_communicator {
	uint8_t id[128]; /* the same in all of its ranks */
	int32_t rank, size;
	int64_t world_rank, world_size;
	const char *name;
};

struct vendor_collective {
	const struct vendor_communicator *communicator;
	const char *name, *type; /* "AllReduce", "float32"; both live for ever */
	uint64_t sequence;       /* of this communicator */
	uint64_t element_count;
	int (*run)(void *context); /* enqueues the kernels, on this thread */
	void *context;
};

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

static const struct kymo_type_desc *const types[] = {
	DESC(struct kymo_type_desc, .name = "collective_comm", .side = KYMO_SIDE_HOST,
	     .shapes = KYMO_SHAPE_SPAN),
	NULL,
};

enum {
	KEY_RANK,
	KEY_WORLD,
	KEY_SEQUENCE,
	KEY_COUNT,
	KEY_TYPE,
	KEY_GROUP,
	KEY_GROUP_RANK,
	KEY_GROUP_SIZE
};
#define KEY(key_name, type) \
	DESC(struct kymo_key_desc, .name = key_name, .value_type = type)
static const struct kymo_key_desc *const keys[] = {
	[KEY_RANK] = KEY("rank", KYMO_VALUE_INT64),
	[KEY_WORLD] = KEY("world_size", KYMO_VALUE_INT64),
	[KEY_SEQUENCE] = KEY("Seq", KYMO_VALUE_UINT64),
	[KEY_COUNT] = KEY("In msg nelems", KYMO_VALUE_UINT64),
	[KEY_TYPE] = KEY("dtype", KYMO_VALUE_STRING),
	[KEY_GROUP] = KEY("Process Group Name", KYMO_VALUE_STRING),
	[KEY_GROUP_RANK] = KEY("Rank", KYMO_VALUE_INT64),
	[KEY_GROUP_SIZE] = KEY("Group size", KYMO_VALUE_INT64),
	NULL,
};

static const struct kymo_domain_desc *const domains[] = {
	DESC(struct kymo_domain_desc, .name = "collective", .scope = KYMO_DOMAIN_GLOBAL),
	NULL,
};

/* ---- The source ---- */

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct kymo_source_numbers *numbers;
	_Atomic uint32_t active;
} source;

static uint32_t number_of(const char *string)
{
	return source.host->string(source.self, kymo_text(string));
}

static struct kymo_value integer(uint32_t key, int64_t number)
{
	return (struct kymo_value){
		.key = source.numbers->keys[key],
		.type = KYMO_VALUE_INT64,
		.i64 = number,
	};
}

static struct kymo_value text(uint32_t key, const char *string)
{
	return (struct kymo_value){
		.key = source.numbers->keys[key],
		.type = KYMO_VALUE_STRING,
		.u64 = number_of(string),
	};
}

/* FNV-1a, 64 bits: any mixing will do, as long as every rank mixes in the same way. */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)data)[i]) * 1099511628211u;
	return hash;
}

static uint64_t global_number(const struct vendor_collective *collective)
{
	uint64_t hash = mix(14695981039346656037u, collective->communicator->id,
			    sizeof(collective->communicator->id));

	hash = mix(hash, &collective->sequence, sizeof(collective->sequence));
	return hash ? hash : 1; /* 0 means none */
}

/* What is the same for all collectives of one communicator and type. */
static uint32_t group_attributes(const struct vendor_collective *collective)
{
	const struct vendor_communicator *group = collective->communicator;
	const struct kymo_value values[] = {
		text(KEY_GROUP, group->name),
		integer(KEY_GROUP_RANK, group->rank),
		integer(KEY_GROUP_SIZE, group->size),
		text(KEY_TYPE, collective->type),
	};

	return source.host->attributes(source.self, values,
				       sizeof(values) / sizeof(values[0]));
}

/* ---- What the library calls around each of its collectives ---- */

KYMO_API int collective_run(const struct vendor_collective *collective);
int collective_run(const struct vendor_collective *collective)
{
	const struct kymo_source_numbers *numbers = source.numbers;
	union kymo_line line;

	if (!atomic_load_explicit(&source.active, memory_order_acquire) ||
	    !kymo_host_is_on(source.host))
		return collective->run(collective->context);

	line.record = (struct kymo_record){
		.kind = KYMO_KIND_OPEN, /* a collective is where jobs hang */
		.lines = 1,
		.type = numbers->types[0],
		.domain = numbers->domains[0],
		.name = number_of(collective->name),
		.begin = source.host->now(),
		.correlation = global_number(collective),
		.attributes = group_attributes(collective),
		.key = {numbers->keys[KEY_SEQUENCE], numbers->keys[KEY_COUNT]},
		.value = {collective->sequence, collective->element_count},
	};
	line.record.end = line.record.begin;
	source.host->emit(source.self, &line, 1);

	const int status = collective->run(collective->context);

	line.record.kind = KYMO_KIND_SPAN;
	line.record.end = source.host->now();
	line.record.flags = status ? KYMO_RECORD_ERROR : 0;
	source.host->emit(source.self, &line, 1);
	return status;
}

/* Which rank this process is, when its first communicator is made: sessions to come are
 * told as well. */
KYMO_API void communicator_made(const struct vendor_communicator *communicator);
void communicator_made(const struct vendor_communicator *communicator)
{
	if (!source.numbers)
		return;
	const struct kymo_value rank = integer(KEY_RANK, communicator->world_rank);
	const struct kymo_value world = integer(KEY_WORLD, communicator->world_size);

	source.host->metadata(source.self, &rank);
	source.host->metadata(source.self, &world);
}

/* ---- Operations ---- */

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **out,
		      struct kymo_error *error)
{
	(void)error;
	*out = &source;
	source.host = host;
	source.self = self;
	source.numbers = numbers;
	return KYMO_OK;
}

static int32_t start(void *self, struct kymo_error *error)
{
	(void)self, (void)error;
	atomic_store_explicit(&source.active, 1, memory_order_release);
	return KYMO_OK;
}

static int32_t stop(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	atomic_store_explicit(&source.active, 0, memory_order_release);
	return KYMO_OK;
}

static void forked(void *self)
{
	stop(self, 0);
}

static const struct kymo_source_desc collectives = {
	.struct_size = sizeof(collectives),
	.name = "collectives",
	.description = "Collective communication, joined across ranks",
	.types = types,
	.keys = keys,
	.domains = domains,
	.ops = DESC(struct kymo_source_ops, .create = create, .start = start,
		    .stop = stop, .forked = forked),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "collectives",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&collectives, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* What the library calls when it starts. */
KYMO_API void collectives_attach(void);
void collectives_attach(void)
{
	const struct kymo_host *host;

	kymo_inject(&plugin, &host, NULL);
}
