/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: a vendor that fills buffers (CUPTI, PTI, rocprofiler).
 *
 * The vendor asks for empty buffers and hands them back full of records, from a thread of
 * its own, whenever it likes: long after the launch, in the middle of the next session,
 * or never. The host knows in which session each buffer went out; nothing is drawn from a
 * buffer of another one. The vendor's times are host ticks, as it was asked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include <kymo/inject.h>

/* ---- The vendor's interface, as little of it as the adapter needs ---- */

enum vendor_kind { VENDOR_KERNEL = 1, VENDOR_API, VENDOR_EXTERNAL };

struct vendor_launch {
	int64_t grid[3], block[3];
	uint64_t registers, shared, context, graph;
};

struct vendor_record {
	enum vendor_kind kind;
	uint32_t correlation; /* the same for a call and all that it launched */
	uint64_t start, end;  /* ticks of the clock that was asked for; 0: not known */
	uint64_t external; /* EXTERNAL: what was pushed around the call, and on which */
	uint32_t stack;    /* of its stacks */
	uint64_t node;     /* KERNEL: within its graph, or 0 */
	uint32_t device, stream, thread, status;
	struct vendor_launch launch;
	const char *name;
};

struct vendor {
	int (*register_callbacks)(void (*requested)(uint8_t **buffer, size_t *size),
				  void (*completed)(uint8_t *buffer, size_t size));
	int (*use_clock)(uint64_t (*now)(void)); /* for every time that it reports */
	int (*enable)(enum vendor_kind kind, int on);
	int (*flush)(int forced);        /* returns when what it has was handed over */
	int (*dropped)(uint64_t *count); /* since the last call */
	int (*push_external)(uint32_t stack, uint64_t value); /* of the calling thread */
	int (*pop_external)(uint32_t stack);
	const struct vendor_record *(*next)(const uint8_t *buffer, size_t size,
					    const struct vendor_record *last);
};

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

enum { TYPE_KERNEL, TYPE_RUNTIME, TYPES };
static const struct kymo_type_desc *const types[TYPES + 1] = {
	[TYPE_KERNEL] = DESC(struct kymo_type_desc, .name = "kernel",
			     .side = KYMO_SIDE_ACCELERATOR, .shapes = KYMO_SHAPE_SPAN),
	[TYPE_RUNTIME] = DESC(struct kymo_type_desc, .name = "runtime",
			      .side = KYMO_SIDE_HOST, .shapes = KYMO_SHAPE_SPAN),
};

enum {
	KEY_NODE,
	KEY_STATUS,
	KEY_GRID,
	KEY_BLOCK,
	KEY_REGISTERS,
	KEY_SHARED,
	KEY_CONTEXT,
	KEY_GRAPH
};
#define KEY(key_name, type) \
	DESC(struct kymo_key_desc, .name = key_name, .value_type = type)
static const struct kymo_key_desc *const keys[] = {
	[KEY_NODE] = KEY("graph node id", KYMO_VALUE_UINT64),
	[KEY_STATUS] = KEY("status", KYMO_VALUE_UINT64),
	[KEY_GRID] = KEY("grid", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY),
	[KEY_BLOCK] = KEY("block", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY),
	[KEY_REGISTERS] = KEY("registers per thread", KYMO_VALUE_UINT64),
	[KEY_SHARED] = KEY("shared memory", KYMO_VALUE_UINT64),
	[KEY_CONTEXT] = KEY("context", KYMO_VALUE_UINT64),
	[KEY_GRAPH] = KEY("graph id", KYMO_VALUE_UINT64),
	NULL,
};

static const struct kymo_domain_desc *const domains[] = {
	DESC(struct kymo_domain_desc, .name = "correlation"),
	NULL,
};
static const struct kymo_link_kind_desc *const link_kinds[] = {
	DESC(struct kymo_link_kind_desc, .name = "ac2g"),
	NULL,
};
static const struct kymo_injection_desc *const injections[] = {
	DESC(struct kymo_injection_desc, .how = KYMO_INJECT_SET,
	     .variable = "CUDA_INJECTION64_PATH", .value = "{plugin}"),
	NULL,
};

/* ---- The source ---- */

#define BUFFER_SIZE (1u << 20)
#define STREAMS     256u
#define STACKS      3u /* the vendor has no more */

static struct {
	const struct vendor *vendor;
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct kymo_source_numbers *numbers;
	int is_wanted[TYPES];
	_Atomic uint32_t epoch, stopping; /* the session's, 0: none */
	_Atomic uint32_t stacks[STACKS];  /* the domain that uses each, 0: none */

	pthread_mutex_t lock; /* of what follows: the vendor has several threads */
	struct {
		uint32_t device, stream, track;
	} streams[STREAMS];
	uint32_t stream_count;
	uint32_t out_count; /* buffers of this session that the vendor has */
} source = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The track of a stream, made when its first record comes; 0 if there is no room. */
static uint32_t stream_track(uint32_t device, uint32_t stream)
{
	struct kymo_device_desc device_desc = {.struct_size = sizeof(device_desc),
					       .index = device,
					       .kind = KYMO_STR("gpu")};
	struct kymo_track_desc desc = {.struct_size = sizeof(desc),
				       .kind = KYMO_TRACK_QUEUE,
				       .native = stream,
				       .order = stream};
	uint32_t i;

	for (i = 0; i < source.stream_count; i++) {
		if (source.streams[i].device == device &&
		    source.streams[i].stream == stream)
			return source.streams[i].track;
	}
	uint32_t track = 0;
	if (source.host->device(source.self, &device_desc, &desc.device) != KYMO_OK ||
	    source.host->track(source.self, &desc, &track) != KYMO_OK)
		return 0;
	if (i < STREAMS) {
		source.streams[i].device = device;
		source.streams[i].stream = stream;
		source.streams[i].track = track;
		source.stream_count++;
	}
	return track;
}

/* What repeats from launch to launch is kept once and costs a kernel four bytes. */
static uint32_t launch_attributes(const struct vendor_launch *launch)
{
	const uint16_t *key = source.numbers->keys, type = KYMO_VALUE_UINT64;
	const uint16_t array = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY;
	const struct kymo_value values[] = {
		{key[KEY_GRID], array, 3, {.array = launch->grid}},
		{key[KEY_BLOCK], array, 3, {.array = launch->block}},
		{key[KEY_REGISTERS], type, 0, {.u64 = launch->registers}},
		{key[KEY_SHARED], type, 0, {.u64 = launch->shared}},
		{key[KEY_CONTEXT], type, 0, {.u64 = launch->context}},
		{key[KEY_GRAPH], type, 0, {.u64 = launch->graph}},
	};

	return source.host->attributes(source.self, values,
				       sizeof(values) / sizeof(values[0]));
}

/* A graph's one launch has many kernels: all are targets of its number. */
static void emit_span(const struct vendor_record *from, uint32_t type, uint32_t track)
{
	const struct kymo_source_numbers *numbers = source.numbers;
	const int is_kernel = type == TYPE_KERNEL;
	union kymo_line line = {
		.record = {
			.kind = KYMO_KIND_SPAN,
			.lines = 1,
			.flags = is_kernel ? KYMO_RECORD_TARGET : KYMO_RECORD_ORIGIN,
			.track = track,
			.type = numbers->types[type],
			.domain = numbers->domains[0],
			.name = source.host->string(source.self, kymo_text(from->name)),
			.begin = from->start,
			.end = from->end,
			.correlation = from->correlation,
			.attributes = is_kernel ? launch_attributes(&from->launch) : 0,
			.value = {from->node, from->status},
		}};

	if (!from->start || !from->end)
		line.record.flags |= KYMO_RECORD_UNTIMED;
	if (from->node)
		line.record.key[0] = numbers->keys[KEY_NODE];
	if (from->status) {
		line.record.flags |= KYMO_RECORD_ERROR;
		line.record.key[1] = numbers->keys[KEY_STATUS];
	}
	source.host->emit(source.self, &line, 1);
}

/*
 * The framework's region that the call was made in. The call's kernels hang on the call.
 */
static void emit_link(const struct vendor_record *from)
{
	const union kymo_line line = {
		.link = {
			.kind = KYMO_KIND_LINK,
			.lines = 1,
			.link_kind = source.numbers->link_kinds[0],
			.from_domain = (uint16_t)source.stacks[from->stack],
			.to_domain = source.numbers->domains[0],
			.from = from->external,
			.to = from->correlation,
		}};

	source.host->emit(source.self, &line, 1);
}

static void emit_record(const struct vendor_record *from)
{
	uint32_t track = 0;

	switch (from->kind) {
	case VENDOR_KERNEL:
		if (source.is_wanted[TYPE_KERNEL])
			emit_span(from, TYPE_KERNEL,
				  stream_track(from->device, from->stream));
		break;
	case VENDOR_API:
		/* It happened on the caller's thread, not on the one that tells us. */
		if (source.is_wanted[TYPE_RUNTIME] &&
		    source.host->thread_track(source.self, from->thread, 0, &track) ==
			    KYMO_OK)
			emit_span(from, TYPE_RUNTIME, track);
		break;
	case VENDOR_EXTERNAL:
		if (from->stack < STACKS && source.stacks[from->stack])
			emit_link(from);
		break;
	}
}

/* ---- The vendor's callbacks, on threads of its own ---- */

static void buffer_requested(uint8_t **buffer, size_t *size)
{
	*buffer = NULL; /* the vendor drops and counts then: see flush */
	*size = 0;
	pthread_mutex_lock(&source.lock);
	if (source.epoch)
		*buffer = source.host->buffer_take(source.self, BUFFER_SIZE);
	if (*buffer) {
		*size = BUFFER_SIZE;
		source.out_count++;
	}
	pthread_mutex_unlock(&source.lock);
}

static void buffer_completed(uint8_t *buffer, size_t size)
{
	const struct vendor_record *record = NULL;
	uint64_t late_count = 0;
	uint32_t epoch;

	pthread_mutex_lock(&source.lock);
	if (source.host->buffer_epoch(source.self, buffer, &epoch) != KYMO_OK)
		epoch = 0; /* none of ours, or one of a parent process */
	while (epoch && (record = source.vendor->next(buffer, size, record))) {
		if (epoch == source.epoch)
			emit_record(record);
		else
			late_count++;
	}
	source.host->buffer_give(source.self, buffer);
	if (epoch && epoch == source.epoch)
		source.out_count--;
	const int is_last = epoch && source.out_count == 0 && source.stopping == epoch;
	pthread_mutex_unlock(&source.lock);

	if (late_count)
		source.host->lost(source.self, KYMO_LOST_LATE, late_count);
	if (is_last)
		source.host->stopped(source.self, epoch);
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

static int32_t prepare(void *self, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)self;
	if (!source.vendor ||
	    source.vendor->register_callbacks(buffer_requested, buffer_completed)) {
		*error = (struct kymo_error){KYMO_ERROR_BUSY,
					     "another tool has the callbacks"};
		return KYMO_ERROR_BUSY;
	}
	source.vendor->use_clock(source.host->now);
	for (uint32_t type = 0; type < TYPES; type++)
		source.is_wanted[type] =
			kymo_source_wants(session, source.numbers->types[type]);
	source.out_count = 0;
	source.stopping = 0;
	source.epoch = session->epoch;
	return KYMO_OK;
}

static int32_t enable(int on)
{
	const int runtime = on && source.is_wanted[TYPE_RUNTIME];
	int failed =
		source.vendor->enable(VENDOR_KERNEL, on && source.is_wanted[TYPE_KERNEL]);

	failed |= source.vendor->enable(VENDOR_API, runtime);
	failed |= source.vendor->enable(VENDOR_EXTERNAL, runtime);
	return failed ? KYMO_ERROR_UNSUPPORTED : KYMO_OK;
}

static int32_t start(void *self, struct kymo_error *error)
{
	(void)self, (void)error;
	return enable(1);
}

static int32_t stop(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	enable(0);
	pthread_mutex_lock(&source.lock);
	source.stopping = source.out_count ? source.epoch : 0;
	const int32_t status = source.stopping ? KYMO_AGAIN : KYMO_OK;
	pthread_mutex_unlock(&source.lock);
	return status;
}

static int32_t flush(void *self, uint64_t deadline_ns)
{
	uint64_t count = 0;

	(void)self, (void)deadline_ns;
	/* Without the lock: the vendor calls buffer_completed from in here. */
	const int failed = source.vendor->flush(1);
	if (source.vendor->dropped(&count) == 0 && count)
		source.host->lost(source.self, KYMO_LOST_VENDOR, count);
	return failed ? KYMO_ERROR_IO : KYMO_OK;
}

/*
 * The vendor's stacks are few and carry a number only, so each is given to one domain.
 * A region that finds none, or that the vendor refuses, is not linked to.
 */
static void push_correlation(void *self, uint16_t domain, uint64_t value)
{
	(void)self;
	for (uint32_t i = 0; i < STACKS; i++) {
		uint32_t user = 0;

		if (!atomic_compare_exchange_strong(&source.stacks[i], &user, domain) &&
		    user != domain)
			continue;
		source.vendor->push_external(i, value);
		return;
	}
}

static void pop_correlation(void *self, uint16_t domain)
{
	(void)self;
	for (uint32_t i = 0; i < STACKS; i++) {
		if (source.stacks[i] != domain)
			continue;
		source.vendor->pop_external(i);
		return;
	}
}

static void forked(void *self)
{
	(void)self; /* the vendor's runtime does not live on in a child */
	source.epoch = 0;
	source.vendor = NULL;
	source.out_count = source.stream_count = 0;
	pthread_mutex_init(&source.lock, NULL);
}

static const struct kymo_source_desc cupti = {
	.struct_size = sizeof(cupti),
	.name = "cupti",
	.description = "Kernels and calls from the vendor's activity buffers",
	.types = types,
	.keys = keys,
	.domains = domains,
	.link_kinds = link_kinds,
	.injections = injections,
	.ops = DESC(struct kymo_source_ops, .create = create, .prepare = prepare,
		    .start = start, .stop = stop, .flush = flush,
		    .push_correlation = push_correlation,
		    .pop_correlation = pop_correlation, .forked = forked),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "cupti",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&cupti, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* What the vendor's runtime calls in a library that it was told to inject. */
KYMO_API int initialize_injection(const struct vendor *vendor);
int initialize_injection(const struct vendor *vendor)
{
	const struct kymo_host *host;

	source.vendor = vendor;
	/* Nobody records: the vendor goes on as if we were not there. */
	kymo_inject(&plugin, &host, NULL);
	return 1;
}
