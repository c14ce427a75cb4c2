/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: a layer between a program and its runtime (OpenCL, Level Zero,
 * Vulkan).
 *
 * The loader gives the layer its dispatch table and takes another one for it. The layer
 * times each enqueue on the host and, later, from the command's event, on the device. It
 * has no thread: finished commands are collected where the program waits anyway. The
 * program must not see a difference, so a failed enqueue goes back untouched.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include <kymo/inject.h>

/* ---- The vendor's interface, as little of it as the adapter needs ---- */

struct vendor_queue;
struct vendor_kernel;
struct vendor_event;

struct vendor {
	int (*enqueue)(struct vendor_queue *queue, struct vendor_kernel *kernel,
		       const size_t global[3], struct vendor_event **event);
	int (*finish)(struct vendor_queue *queue);
	/* 0: complete, > 0: not yet, < 0: it failed */
	int (*event_status)(struct vendor_event *event);
	int (*event_times)(struct vendor_event *event, uint64_t *queued, uint64_t *start,
			   uint64_t *end);
	void (*event_retain)(struct vendor_event *event);
	void (*event_release)(struct vendor_event *event);
	const char *(*kernel_name)(struct vendor_kernel *kernel);
	const char *(*device_name)(struct vendor_queue *queue);
	uint32_t (*device_index)(struct vendor_queue *queue);
};

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

enum { TYPE_KERNEL, TYPE_RUNTIME };
static const struct kymo_type_desc *const types[] = {
	[TYPE_KERNEL] = DESC(struct kymo_type_desc, .name = "kernel",
			     .side = KYMO_SIDE_ACCELERATOR, .shapes = KYMO_SHAPE_SPAN),
	[TYPE_RUNTIME] = DESC(struct kymo_type_desc, .name = "runtime",
			      .side = KYMO_SIDE_HOST, .shapes = KYMO_SHAPE_SPAN),
	NULL,
};
static const struct kymo_key_desc *const keys[] = {
	DESC(struct kymo_key_desc, .name = "status", .value_type = KYMO_VALUE_INT64),
	NULL,
};
static const struct kymo_domain_desc *const domains[] = {
	DESC(struct kymo_domain_desc, .name = "command"),
	NULL,
};
static const struct kymo_injection_desc *const injections[] = {
	DESC(struct kymo_injection_desc, .how = KYMO_INJECT_APPEND,
	     .variable = "OPENCL_LAYERS", .separator = ":", .value = "{plugin}"),
	NULL,
};

/* ---- The source ---- */

#define PENDING 1024u

struct pending {
	struct vendor_event *event;
	uint64_t command;
	uint64_t enter, leave; /* host ticks around the enqueue */
	uint32_t track, clock, name;
};

static struct {
	struct vendor next; /* what the loader had there before us */
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct kymo_source_numbers *numbers;
	uint32_t enqueue_name;
	_Atomic uint32_t active;
	_Atomic uint64_t commands; /* the last number given to one */

	pthread_mutex_t lock; /* of the commands that have not been seen to finish */
	struct pending pending[PENDING];
	uint32_t pending_count;
} source = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* `active`: this source takes part; the gate alone says that anybody does. */
static int is_on(void)
{
	return atomic_load_explicit(&source.active, memory_order_acquire) &&
	       kymo_host_is_on(source.host);
}

/* The same queue gives the same numbers each time, so none has to be remembered here. */
static void find_queue(struct vendor_queue *queue, struct pending *out)
{
	const struct kymo_device_desc device = {
		.struct_size = sizeof(device),
		.index = source.next.device_index(queue),
		.name = kymo_text(source.next.device_name(queue)),
		.kind = KYMO_STR("gpu"),
	};
	struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 1000000000,
		.ticks_den = 1,
		.name = device.name,
	};
	struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_QUEUE,
		.native = (uintptr_t)queue, /* all 64 bits */
	};

	if (source.host->device(source.self, &device, &track.device) != KYMO_OK)
		return;
	clock.device = track.device;
	if (source.host->clock(source.self, &clock, &out->clock) != KYMO_OK)
		return;
	track.clock = out->clock;
	source.host->track(source.self, &track, &out->track);
}

/* A span of a command: what both sides of it have in common. */
static union kymo_line span_of(const struct pending *command, uint32_t type, int status)
{
	return (union kymo_line){
		.record = {
			.kind = KYMO_KIND_SPAN,
			.lines = 1,
			.flags = status ? KYMO_RECORD_ERROR : 0,
			.type = source.numbers->types[type],
			.domain = source.numbers->domains[0],
			.correlation = command->command,
			.key = {status ? source.numbers->keys[0] : (uint16_t)0},
			.value = {(uint64_t)(int64_t)status},
		}};
}

static void emit_call(const struct pending *command, int status)
{
	union kymo_line line = span_of(command, TYPE_RUNTIME, status);

	line.record.flags |= KYMO_RECORD_ORIGIN; /* track 0: this thread */
	line.record.name = source.enqueue_name;
	line.record.begin = command->enter;
	line.record.end = command->leave;
	source.host->emit(source.self, &line, 1);
}

static void emit_kernel(const struct pending *command, int status)
{
	union kymo_line line = span_of(command, TYPE_KERNEL, status);
	/* The device took QUEUED while we were inside the call. */
	struct kymo_clock_pair pair = {0, command->enter, command->leave};

	line.record.flags |= KYMO_RECORD_TARGET;
	line.record.track = command->track;
	line.record.name = command->name;
	/* A command that failed has no times, but it has been there and must be seen. */
	if (status || source.next.event_times(command->event, &pair.device,
					      &line.record.begin, &line.record.end))
		line.record.flags |= KYMO_RECORD_UNTIMED;
	else
		source.host->anchor(source.self, command->clock, &pair);
	source.host->emit(source.self, &line, 1);
}

/* Emits the commands that are done and keeps the others, in order. */
static void collect(void)
{
	uint32_t kept = 0;

	pthread_mutex_lock(&source.lock);
	for (uint32_t i = 0; i < source.pending_count; i++) {
		const struct pending *pending = &source.pending[i];
		const int status = source.next.event_status(pending->event);

		if (status > 0) {
			source.pending[kept++] = *pending;
			continue;
		}
		emit_kernel(pending, status);
		source.next.event_release(pending->event);
	}
	source.pending_count = kept;
	pthread_mutex_unlock(&source.lock);
}

/* Takes over one reference to the event. */
static void remember(const struct pending *pending)
{
	collect();
	pthread_mutex_lock(&source.lock);
	const int fits = source.pending_count < PENDING;
	if (fits)
		source.pending[source.pending_count++] = *pending;
	pthread_mutex_unlock(&source.lock);
	if (!fits) {
		source.host->lost(source.self, KYMO_LOST_PENDING, 1);
		source.next.event_release(pending->event);
	}
}

/* ---- What the program calls ---- */

static int layer_enqueue(struct vendor_queue *queue, struct vendor_kernel *kernel,
			 const size_t global[3], struct vendor_event **event)
{
	struct pending pending = {0};

	if (!is_on())
		return source.next.enqueue(queue, kernel, global, event);

	pending.command = atomic_fetch_add(&source.commands, 1) + 1;
	pending.enter = source.host->now();
	const int status = source.next.enqueue(queue, kernel, global, &pending.event);
	pending.leave = source.host->now();
	emit_call(&pending, status);
	if (status)
		return status;
	if (event) {
		source.next.event_retain(pending.event);
		*event = pending.event;
	}
	find_queue(queue, &pending);
	pending.name = source.host->string(source.self,
					   kymo_text(source.next.kernel_name(kernel)));
	remember(&pending);
	return status;
}

static int layer_finish(struct vendor_queue *queue)
{
	const int status = source.next.finish(queue);

	if (is_on())
		collect();
	return status;
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
	source.enqueue_name = host->string(self, KYMO_STR("enqueue"));
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

/* What has not finished by now is not waited for: a user's event may never come. */
static int32_t flush(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	collect();
	pthread_mutex_lock(&source.lock);
	source.host->lost(source.self, KYMO_LOST_PENDING, source.pending_count);
	while (source.pending_count)
		source.next.event_release(source.pending[--source.pending_count].event);
	pthread_mutex_unlock(&source.lock);
	return KYMO_OK;
}

static void forked(void *self)
{
	(void)self;
	atomic_store(&source.active, 0);
	pthread_mutex_init(&source.lock, NULL); /* a thread that is gone may hold it */
	source.pending_count = 0;               /* the parent's commands */
}

static const struct kymo_source_desc opencl = {
	.struct_size = sizeof(opencl),
	.name = "opencl",
	.description = "Commands of all queues, and the calls that enqueued them",
	.types = types,
	.keys = keys,
	.domains = domains,
	.injections = injections,
	.ops = DESC(struct kymo_source_ops, .create = create, .start = start,
		    .stop = stop, .flush = flush, .forked = forked),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "opencl",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&opencl, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* What the loader calls, maybe twice: `target` is what to call, `layer` what it will. */
KYMO_API int init_layer(const struct vendor *target, struct vendor *layer);
int init_layer(const struct vendor *target, struct vendor *layer)
{
	const struct kymo_host *host;

	*layer = *target;
	source.next = *target;
	if (kymo_inject(&plugin, &host, NULL) == KYMO_OK) {
		layer->enqueue = layer_enqueue;
		layer->finish = layer_finish;
	}
	return 0;
}
