/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: a framework's own operations, from inside the application.
 *
 * The framework calls begin and end around each operation, on the thread that runs it,
 * and tells of allocations. The adapter is linked into the application and gives its
 * plug-in table to Kymo as an injected one would. begin is where time counts: it reads a
 * clock.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include <kymo/inject.h>
#include <kymo/nested.h>

/* ---- The framework's interface, as little of it as the adapter needs ---- */

#define INPUTS     16u
#define DIMENSIONS 8u

struct framework_tensor {
	uint32_t rank;
	int64_t size[DIMENSIONS];
};

struct framework_op {
	const char *name; /* lives as long as the process */
	uint64_t number;  /* of this call, unique in the process */
	int64_t sequence; /* shared by a forward operation and its backward; -1: none */
	uint64_t forward_thread; /* of a backward operation: where its forward ran; else 0
				  */
	uint64_t thread;
	uint32_t is_annotation; /* the user's own region */
	uint32_t input_count;
	const struct framework_tensor *inputs;
};

struct framework_memory {
	uint64_t address;
	int64_t bytes, total_allocated, total_reserved; /* bytes < 0: it was freed */
	uint32_t device;
};

struct framework_observer {
	uint64_t (*begin)(const struct framework_op *op);
	void (*end)(const struct framework_op *op, uint64_t context);
	void (*memory)(const struct framework_memory *memory);
};

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

enum { TYPE_OP, TYPE_ANNOTATION, TYPE_MEMORY };
static const struct kymo_type_desc *const types[] = {
	[TYPE_OP] = DESC(struct kymo_type_desc, .name = "cpu_op", .side = KYMO_SIDE_HOST),
	[TYPE_ANNOTATION] = DESC(struct kymo_type_desc, .name = "user_annotation",
				 .side = KYMO_SIDE_HOST),
	[TYPE_MEMORY] = DESC(struct kymo_type_desc, .name = "cpu_instant_event",
			     .side = KYMO_SIDE_HOST),
	NULL,
};

enum {
	KEY_SEQUENCE,
	KEY_THREAD,
	KEY_DIMS,
	KEY_ADDRESS,
	KEY_BYTES,
	KEY_ALLOCATED,
	KEY_RESERVED,
	KEY_DEVICE
};
#define KEY(key_name, type) \
	DESC(struct kymo_key_desc, .name = key_name, .value_type = type)
static const struct kymo_key_desc *const keys[] = {
	[KEY_SEQUENCE] = KEY("Sequence number", KYMO_VALUE_INT64),
	[KEY_THREAD] = KEY("Fwd thread id", KYMO_VALUE_UINT64),
	[KEY_DIMS] = KEY("Input Dims", KYMO_VALUE_NESTED),
	[KEY_ADDRESS] = KEY("Addr", KYMO_VALUE_UINT64),
	[KEY_BYTES] = KEY("Bytes", KYMO_VALUE_INT64),
	[KEY_ALLOCATED] = KEY("Total Allocated", KYMO_VALUE_INT64),
	[KEY_RESERVED] = KEY("Total Reserved", KYMO_VALUE_INT64),
	[KEY_DEVICE] = KEY("Device Id", KYMO_VALUE_INT64),
	NULL,
};

enum { DOMAIN_OP, DOMAIN_FORWARD };
static const struct kymo_domain_desc *const domains[] = {
	[DOMAIN_OP] =
		DESC(struct kymo_domain_desc, .name = "op", .scope = KYMO_DOMAIN_PROCESS),
	[DOMAIN_FORWARD] = DESC(struct kymo_domain_desc, .name = "forward"),
	NULL,
};
static const struct kymo_link_kind_desc *const link_kinds[] = {
	DESC(struct kymo_link_kind_desc, .name = "fwdbwd"),
	NULL,
};

/* ---- The source ---- */

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const uint16_t *type, *key, *domain; /* in the order of the tables */
	uint16_t link;
	uint32_t memory_name;
	_Atomic uint32_t active;
} source;

static int is_on(void)
{
	return atomic_load_explicit(&source.active, memory_order_acquire) &&
	       kymo_host_is_on(source.host);
}

/*
 * The number of an operation's name. The host would find it as well, but under a lock;
 * names are literals, so that a few words per thread find nearly all of them.
 */
static uint32_t name_of(const char *name)
{
	static _Thread_local struct {
		const char *name;
		uint32_t number;
	} cache[256];
	const size_t slot = ((uintptr_t)name >> 3) % 256;

	if (cache[slot].name != name) {
		cache[slot].number = source.host->string(source.self, kymo_text(name));
		cache[slot].name = name;
	}
	return cache[slot].number;
}

/* The shapes as one attribute set: models run the same ones again and again. */
static uint32_t shapes_of(const struct framework_op *op)
{
	uint64_t words[1 + INPUTS * (1 + DIMENSIONS)];
	struct kymo_nested shapes;
	struct kymo_value dims;

	kymo_nested_begin(&shapes, words, sizeof(words) / sizeof(words[0]),
			  KYMO_VALUE_LIST);
	for (uint32_t i = 0; i < op->input_count && i < INPUTS; i++) {
		const struct framework_tensor *tensor = &op->inputs[i];

		kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, tensor->size,
				      tensor->rank < DIMENSIONS ? tensor->rank
								: DIMENSIONS);
	}
	dims = kymo_nested_value(&shapes, source.key[KEY_DIMS]);
	return op->input_count ? source.host->attributes(source.self, &dims, 1) : 0;
}

/*
 * Forward and backward know each other by (thread, sequence). Neither carries that number
 * itself: each is linked with it, and so with the other, without a table of our own.
 */
static void emit_forward_backward(const struct framework_op *op)
{
	const int is_backward = op->forward_thread != 0;
	const uint64_t thread = is_backward ? op->forward_thread : op->thread;
	const uint64_t junction = thread << 40 | (uint64_t)(op->sequence + 1);
	const uint16_t op_domain = source.domain[DOMAIN_OP];
	const uint16_t forward_domain = source.domain[DOMAIN_FORWARD];
	const union kymo_line line = {
		.link = {
			.kind = KYMO_KIND_LINK,
			.lines = 1,
			.link_kind = source.link,
			.from_domain = is_backward ? forward_domain : op_domain,
			.to_domain = is_backward ? op_domain : forward_domain,
			.from = is_backward ? junction : op->number,
			.to = is_backward ? op->number : junction,
		}};

	source.host->emit(source.self, &line, 1);
}

static union kymo_line op_line(const struct framework_op *op, uint64_t begin)
{
	const uint32_t type = op->is_annotation ? TYPE_ANNOTATION : TYPE_OP;

	return (union kymo_line){.record = {
					 .kind = KYMO_KIND_SPAN,
					 .lines = 1,
					 .type = source.type[type],
					 .domain = source.domain[DOMAIN_OP],
					 .name = name_of(op->name),
					 .begin = begin,
					 .correlation = op->number,
				 }};
}

static uint64_t on_begin(const struct framework_op *op)
{
	if (!is_on())
		return 0;
	const uint64_t begin = source.host->now();

	/* A step that hangs must be seen; for operations it would double the cost. */
	if (op->is_annotation) {
		union kymo_line line = op_line(op, begin);

		line.record.kind = KYMO_KIND_OPEN;
		line.record.end = begin;
		source.host->emit(source.self, &line, 1);
	}
	return begin;
}

static void on_end(const struct framework_op *op, uint64_t begin)
{
	if (!begin || !is_on())
		return;
	union kymo_line line = op_line(op, begin);

	line.record.end = source.host->now();
	line.record.attributes = shapes_of(op);
	if (op->sequence >= 0) {
		line.record.key[0] = source.key[KEY_SEQUENCE];
		line.record.value[0] = (uint64_t)op->sequence;
	}
	if (op->forward_thread) {
		line.record.key[1] = source.key[KEY_THREAD];
		line.record.value[1] = op->forward_thread;
	}
	source.host->emit(source.self, &line, 1);
	if (op->sequence >= 0)
		emit_forward_backward(op);
}

static void on_memory(const struct framework_memory *memory)
{
	if (!is_on())
		return;
	const uint64_t now = source.host->now();
	const union kymo_line lines[2] = {
		{.record = {.kind = KYMO_KIND_INSTANT,
			    .lines = 2,
			    .type = source.type[TYPE_MEMORY],
			    .name = source.memory_name,
			    .begin = now,
			    .end = now,
			    .key = {source.key[KEY_ADDRESS], source.key[KEY_BYTES]},
			    .value = {memory->address, (uint64_t)memory->bytes}}},
		{.more = {.kind = KYMO_KIND_MORE,
			  .used = 3,
			  .key = {source.key[KEY_ALLOCATED], source.key[KEY_RESERVED],
				  source.key[KEY_DEVICE]},
			  .value = {(uint64_t)memory->total_allocated,
				    (uint64_t)memory->total_reserved, memory->device}}},
	};

	source.host->emit(source.self, lines, 2);
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
	source.type = numbers->types;
	source.key = numbers->keys;
	source.domain = numbers->domains;
	source.link = numbers->link_kinds[0];
	source.memory_name = host->string(self, KYMO_STR("[memory]"));
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

static const struct kymo_source_desc pytorch = {
	.struct_size = sizeof(pytorch),
	.name = "pytorch",
	.description = "Operations, annotations and allocations of the framework",
	.types = types,
	.keys = keys,
	.domains = domains,
	.link_kinds = link_kinds,
	.ops = DESC(struct kymo_source_ops, .create = create, .start = start,
		    .stop = stop, .forked = forked),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "pytorch",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&pytorch, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* What the application calls once; NULL when there is no Kymo in this process. */
KYMO_API const struct framework_observer *framework_observe(void);
const struct framework_observer *framework_observe(void)
{
	static const struct framework_observer observer = {on_begin, on_end, on_memory};
	const struct kymo_host *host;

	return kymo_inject(&plugin, &host, NULL) == KYMO_OK ? &observer : NULL;
}
