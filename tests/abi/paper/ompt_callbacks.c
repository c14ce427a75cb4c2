/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: a runtime that calls back at begin and end (OMPT, and any tool
 * interface like it).
 *
 * Spans are built from pairs of callbacks on one thread. Long ones are also announced by
 * OPEN, so that a region in which the program hangs is seen. Not every end comes: a
 * thread keeps a stack of what is open, and whatever a later end jumps over is ended
 * there by rule and marked so.
 */
#define _GNU_SOURCE
#include <stdatomic.h>

#include <kymo/inject.h>

/* ---- The vendor's interface, as little of it as the adapter needs ---- */

union vendor_data {
	uint64_t value; /* the tool's own, kept by the runtime with the task or region */
	void *pointer;
};

enum vendor_endpoint { VENDOR_BEGIN = 1, VENDOR_END = 2 };

struct vendor_callbacks {
	void (*parallel)(enum vendor_endpoint endpoint, union vendor_data *region,
			 uint32_t threads, const void *code);
	void (*sync)(enum vendor_endpoint endpoint, const void *code);
	void (*task_create)(union vendor_data *task, const void *code);
	void (*task_schedule)(union vendor_data *prior, union vendor_data *next);
	void (*target)(enum vendor_endpoint endpoint, union vendor_data *target,
		       const void *code);
	/* Inside a target region, on the thread that waits for the device. */
	void (*submit)(enum vendor_endpoint endpoint, union vendor_data *target,
		       uint32_t device, uint32_t teams);
};
struct vendor {
	int (*set_callbacks)(const struct vendor_callbacks *callbacks);
};

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

enum { TYPE_REGION, TYPE_TASK, TYPE_TARGET, TYPE_KERNEL };
static const struct kymo_type_desc *const types[] = {
	[TYPE_REGION] = DESC(struct kymo_type_desc, .name = "region",
			     .side = KYMO_SIDE_HOST, .shapes = KYMO_SHAPE_SPAN),
	[TYPE_TASK] = DESC(struct kymo_type_desc, .name = "task", .side = KYMO_SIDE_HOST),
	[TYPE_TARGET] = DESC(struct kymo_type_desc, .name = "target",
			     .side = KYMO_SIDE_HOST, .shapes = KYMO_SHAPE_SPAN),
	[TYPE_KERNEL] = DESC(struct kymo_type_desc, .name = "kernel",
			     .side = KYMO_SIDE_ACCELERATOR, .shapes = KYMO_SHAPE_SPAN),
	NULL,
};

enum { KEY_CODE, KEY_COUNT };
static const struct kymo_key_desc *const keys[] = {
	[KEY_CODE] =
		DESC(struct kymo_key_desc, .name = "code", .value_type = KYMO_VALUE_CODE),
	[KEY_COUNT] = DESC(struct kymo_key_desc, .name = "threads or teams",
			   .value_type = KYMO_VALUE_UINT64),
	NULL,
};

enum { DOMAIN_TASK, DOMAIN_TARGET };
static const struct kymo_domain_desc *const domains[] = {
	[DOMAIN_TASK] = DESC(struct kymo_domain_desc, .name = "task"),
	[DOMAIN_TARGET] = DESC(struct kymo_domain_desc, .name = "target"),
	NULL,
};

static const struct kymo_injection_desc *const injections[] = {
	DESC(struct kymo_injection_desc, .how = KYMO_INJECT_PREPEND,
	     .variable = "OMP_TOOL_LIBRARIES", .separator = ":", .value = "{plugin}"),
	NULL,
};

/* ---- The source ---- */

#define DEPTH 64u

static struct {
	const struct vendor *vendor;
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const uint16_t *type, *key, *domain;           /* in the order of the tables */
	uint32_t parallel, sync, task, target, submit; /* names */
	_Atomic uint32_t session; /* the number of the one that records, 0: none */
	_Atomic uint64_t numbers; /* the last one given to a task or target region */
} source;

/* What is open on this thread, of one session: what was open before it is not ours. */
static _Thread_local struct {
	uint32_t session, depth;
	union kymo_line open[DEPTH];
} thread;

static int is_on(void)
{
	const uint32_t session =
		atomic_load_explicit(&source.session, memory_order_acquire);

	if (!session || !kymo_host_is_on(source.host))
		return 0;
	if (thread.session != session) {
		thread.session = session;
		thread.depth = 0;
	}
	return 1;
}

static uint64_t next_number(void)
{
	return atomic_fetch_add(&source.numbers, 1) + 1;
}

static void open_span(struct kymo_record record, int announce)
{
	union kymo_line line = {.record = record};

	line.record.lines = 1;
	line.record.begin = line.record.end = source.host->now();
	if (announce) {
		line.record.kind = KYMO_KIND_OPEN;
		source.host->emit(source.self, &line, 1);
	}
	line.record.kind = KYMO_KIND_SPAN;
	if (thread.depth < DEPTH)
		thread.open[thread.depth] = line;
	thread.depth++;
}

/* Ends the innermost span of this name; those inside it never got an end of their own. */
static void close_span(uint32_t name)
{
	const uint64_t now = source.host->now();
	uint32_t depth = thread.depth;

	while (depth > 0 && (depth > DEPTH || thread.open[depth - 1].record.name != name))
		depth--;
	if (depth == 0)
		return; /* it began before the session did */
	while (thread.depth >= depth) {
		const uint32_t top = --thread.depth;

		if (top >= DEPTH)
			continue;
		thread.open[top].record.end = now;
		if (top + 1 != depth)
			thread.open[top].record.flags |= KYMO_RECORD_END_BY_RULE;
		source.host->emit(source.self, &thread.open[top], 1);
	}
}

/* ---- The runtime's callbacks, on the threads of the program ---- */

static void on_parallel(enum vendor_endpoint endpoint, union vendor_data *region,
			uint32_t threads, const void *code)
{
	(void)region;
	if (!is_on())
		return;
	if (endpoint == VENDOR_END) {
		close_span(source.parallel);
		return;
	}
	open_span(
		(struct kymo_record){
			.type = source.type[TYPE_REGION],
			.name = source.parallel,
			.key = {source.key[KEY_CODE], source.key[KEY_COUNT]},
			.value = {source.host->code(source.self, code), threads}},
		1);
}

static void on_sync(enum vendor_endpoint endpoint, const void *code)
{
	if (!is_on())
		return;
	if (endpoint == VENDOR_END) {
		close_span(source.sync);
		return;
	}
	open_span((struct kymo_record){.type = source.type[TYPE_REGION],
				       .name = source.sync,
				       .key = {source.key[KEY_CODE]},
				       .value = {source.host->code(source.self, code)}},
		  1);
}

/* The moment a task is made is the origin of every piece of it that runs. */
static void on_task_create(union vendor_data *task, const void *code)
{
	task->value = next_number(); /* also while off: it may run when we are on */
	if (!is_on())
		return;
	const uint64_t now = source.host->now();
	const union kymo_line line = {
		.record = {
			.kind = KYMO_KIND_INSTANT,
			.lines = 1,
			.flags = KYMO_RECORD_ORIGIN,
			.type = source.type[TYPE_TASK],
			.domain = source.domain[DOMAIN_TASK],
			.name = source.task,
			.begin = now,
			.end = now,
			.correlation = task->value,
			.key = {source.key[KEY_CODE]},
			.value = {source.host->code(source.self, code)},
		}};

	source.host->emit(source.self, &line, 1);
}

/* This thread leaves one task and enters another; either may be none. */
static void on_task_schedule(union vendor_data *prior, union vendor_data *next)
{
	if (!is_on())
		return;
	if (prior && prior->value)
		close_span(source.task);
	if (next && next->value)
		open_span((struct kymo_record){.flags = KYMO_RECORD_TARGET,
					       .type = source.type[TYPE_TASK],
					       .domain = source.domain[DOMAIN_TASK],
					       .name = source.task,
					       .correlation = next->value},
			  0);
}

static void on_target(enum vendor_endpoint endpoint, union vendor_data *target,
		      const void *code)
{
	if (endpoint == VENDOR_BEGIN)
		target->value = next_number();
	if (!is_on())
		return;
	if (endpoint == VENDOR_END) {
		close_span(source.target);
		return;
	}
	open_span((struct kymo_record){.flags = KYMO_RECORD_ORIGIN,
				       .type = source.type[TYPE_TARGET],
				       .domain = source.domain[DOMAIN_TARGET],
				       .name = source.target,
				       .correlation = target->value,
				       .key = {source.key[KEY_CODE]},
				       .value = {source.host->code(source.self, code)}},
		  1);
}

/* The device's row; its times are this thread's, so it keeps the host's clock. */
static uint32_t device_track(uint32_t number)
{
	const struct kymo_device_desc device = {.struct_size = sizeof(device),
						.index = number,
						.native = number,
						.kind = KYMO_STR("omp device")};
	struct kymo_track_desc desc = {.struct_size = sizeof(desc),
				       .kind = KYMO_TRACK_QUEUE};
	uint32_t track = 0;

	if (source.host->device(source.self, &device, &desc.device) == KYMO_OK)
		source.host->track(source.self, &desc, &track);
	return track;
}

static void on_submit(enum vendor_endpoint endpoint, union vendor_data *target,
		      uint32_t device, uint32_t teams)
{
	if (!is_on())
		return;
	if (endpoint == VENDOR_END) {
		close_span(source.submit);
		return;
	}
	open_span((struct kymo_record){.flags = KYMO_RECORD_TARGET,
				       .track = device_track(device),
				       .type = source.type[TYPE_KERNEL],
				       .domain = source.domain[DOMAIN_TARGET],
				       .name = source.submit,
				       .correlation = target->value,
				       .key = {source.key[KEY_COUNT]},
				       .value = {teams}},
		  0);
}

/* ---- Operations ---- */

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **out,
		      struct kymo_error *error)
{
	(void)error;
	if (!source.vendor)
		return KYMO_ERROR_NOT_FOUND;
	*out = &source;
	source.host = host;
	source.self = self;
	source.type = numbers->types;
	source.key = numbers->keys;
	source.domain = numbers->domains;
	source.parallel = host->string(self, KYMO_STR("parallel"));
	source.sync = host->string(self, KYMO_STR("barrier"));
	source.task = host->string(self, KYMO_STR("task"));
	source.target = host->string(self, KYMO_STR("target"));
	source.submit = host->string(self, KYMO_STR("target kernel"));
	return KYMO_OK;
}

static int32_t start(void *self, struct kymo_error *error)
{
	static uint32_t sessions;

	(void)self, (void)error;
	atomic_store_explicit(&source.session, ++sessions, memory_order_release);
	return KYMO_OK;
}

static int32_t stop(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	atomic_store_explicit(&source.session, 0, memory_order_release);
	return KYMO_OK;
}

static void forked(void *self)
{
	stop(self, 0);
}

static const struct kymo_source_desc openmp = {
	.struct_size = sizeof(openmp),
	.name = "openmp",
	.description = "Parallel regions, tasks, and target regions with their kernels",
	.types = types,
	.keys = keys,
	.domains = domains,
	.injections = injections,
	.ops = DESC(struct kymo_source_ops, .create = create, .start = start,
		    .stop = stop, .forked = forked),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "openmp",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&openmp, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* What the runtime calls when it starts, before main: 0 makes it go on without a tool. */
KYMO_API int start_tool(const struct vendor *vendor);
int start_tool(const struct vendor *vendor)
{
	static const struct vendor_callbacks callbacks = {
		.parallel = on_parallel,
		.sync = on_sync,
		.task_create = on_task_create,
		.task_schedule = on_task_schedule,
		.target = on_target,
		.submit = on_submit,
	};
	const struct kymo_host *host;

	source.vendor = vendor;
	if (kymo_inject(&plugin, &host, NULL) != KYMO_OK)
		return 0;
	return vendor->set_callbacks(&callbacks) == 0;
}
