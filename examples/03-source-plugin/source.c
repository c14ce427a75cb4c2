/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source for the accelerator of npu.h: all that a plug-in from outside needs, in one
 * file. It includes Kymo's headers and links nothing of Kymo. docs/plugin-guide.md goes
 * through it piece by piece.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/inject.h>

#include "npu.h"

/* ---- 1. Tables: what there is, before anything has happened ---- */

/* Every description of the ABI begins with its size; what is not named is 0. */
#define DESC(type, ...) \
	(&(const struct type){.struct_size = sizeof(struct type), __VA_ARGS__})
#define TYPE(type_shape, type_side, type_name, ...)                       \
	DESC(kymo_type_desc, .shapes = (type_shape), .side = (type_side), \
	     .name = (type_name), __VA_ARGS__)

enum { RUNTIME, JOB, DMA, SYNC, QUEUE_WAIT, POWER, TYPE_COUNT };
enum { TICKET, BYTES, KEY_COUNT };

#define SPAN   KYMO_SHAPE_SPAN
#define HOST   KYMO_SIDE_HOST
#define DEVICE KYMO_SIDE_ACCELERATOR

/* A static name where it fits, since viewers know it; the rest becomes "npu.job", ... */
static const struct kymo_type_desc *const types[TYPE_COUNT + 1] = {
	[RUNTIME] = TYPE(SPAN, HOST, "runtime", .help = "calls of the program"),
	[JOB] = TYPE(SPAN, DEVICE, "job", .category = "kernel",
		     .help = "what it computes"),
	[DMA] = TYPE(SPAN, DEVICE, "dma", .help = "copies"),
	[SYNC] = TYPE(SPAN, HOST, "sync", .help = "calls that wait"),
	[QUEUE_WAIT] = TYPE(SPAN, DEVICE, "queue_wait", .help = "submitted, not begun"),
	[POWER] = TYPE(KYMO_SHAPE_COUNTER, DEVICE, "power", .help = "what it draws"),
};

static const struct kymo_key_desc *const keys[KEY_COUNT + 1] = {
	[TICKET] = DESC(kymo_key_desc, .value_type = KYMO_VALUE_UINT64, .name = "ticket"),
	[BYTES] = DESC(kymo_key_desc, .value_type = KYMO_VALUE_UINT64, .name = "bytes",
		       .unit = "bytes"),
};

/* Equal tickets tie a call to the work that it has launched. */
static const struct kymo_domain_desc *const domains[] = {
	DESC(kymo_domain_desc, .scope = KYMO_DOMAIN_SOURCE, .name = "ticket"),
	NULL,
};

static const struct kymo_link_kind_desc *const link_kinds[] = {
	DESC(kymo_link_kind_desc, .name = "after",
	     .help = "from the launch of what had to be done first"),
	NULL,
};

static const struct kymo_option_desc *const options[] = {
	DESC(kymo_option_desc, .value_type = KYMO_VALUE_UINT64, .name = "sample_us",
	     .fallback = "1000", .help = "period of the counters; 0: none"),
	NULL,
};

/* How the vendor's runtime comes to load this file. */
static const struct kymo_injection_desc *const injections[] = {
	DESC(kymo_injection_desc, .how = KYMO_INJECT_SET, .variable = NPU_TOOL_VARIABLE,
	     .value = "{plugin}"),
	NULL,
};

/* ---- 2. What turns up while it runs ---- */

/* One, since the vendor's callbacks have no room for a pointer of ours. */
static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct npu_services *npu;
	const uint16_t *types, *keys;
	uint16_t domain, after;
	uint32_t clock, engines[NPU_ENGINE_COUNT], waiting, sensors, power;
	atomic_uint is_recording;
} npu;

static int32_t add_track(uint32_t kind, uint32_t device, uint32_t order, const char *name,
			 uint32_t *out)
{
	return npu.host->track(npu.self,
			       DESC(kymo_track_desc, .kind = kind, .native = order,
				    .device = device, .clock = npu.clock, .order = order,
				    .name = kymo_text(name)),
			       out);
}

static int32_t add_counters(void)
{
	const struct kymo_counter_desc *const list[] = {
		DESC(kymo_counter_desc, .value_type = KYMO_VALUE_DOUBLE,
		     .name = KYMO_STR("power"), .unit = KYMO_STR("W")),
		DESC(kymo_counter_desc, .value_type = KYMO_VALUE_DOUBLE,
		     .name = KYMO_STR("temperature"), .unit = KYMO_STR("C")),
	};

	return npu.host->counter_group(npu.self, npu.sensors, KYMO_STR("sensors"), list,
				       2, &npu.power);
}

/* The same description gives the same number: this may be done for each session. */
static int32_t add_device(void)
{
	const struct kymo_clock_desc *clock =
		DESC(kymo_clock_desc, .kind = KYMO_CLOCK_COUNTER, .bits = 64,
		     .ticks_num = NPU_CLOCK_HZ, .ticks_den = 1, .name = KYMO_STR("npu"));
	const struct kymo_device_desc *desc = DESC(
		kymo_device_desc, .name = KYMO_STR("NPU One"), .kind = KYMO_STR("npu"));
	uint32_t device = 0;
	int32_t status = npu.host->clock(npu.self, clock, &npu.clock);

	if (!status)
		status = npu.host->device(npu.self, desc, &device);
	if (!status)
		status = add_track(KYMO_TRACK_QUEUE, device, 1, "jobs",
				   &npu.engines[NPU_ENGINE_JOBS]);
	if (!status)
		status = add_track(KYMO_TRACK_QUEUE, device, 2, "copies",
				   &npu.engines[NPU_ENGINE_COPIES]);
	if (!status)
		status = add_track(KYMO_TRACK_QUEUE, device, 3, "waiting", &npu.waiting);
	if (!status)
		status =
			add_track(KYMO_TRACK_COUNTER, device, 4, "sensors", &npu.sensors);
	return status ? status : add_counters();
}

/* ---- 3. Recording: what the vendor says becomes lines of 64 bytes ---- */

static int is_recording(void)
{
	return atomic_load_explicit(&npu.is_recording, memory_order_acquire) &&
	       kymo_host_is_on(npu.host);
}

/* Between two looks at the host's clock the device's was read: a bound, no guess. */
static void read_clock(struct kymo_clock_pair *out)
{
	out->host_lo = npu.host->now();
	out->device = npu.npu->ticks();
	out->host_hi = npu.host->now();
}

static void emit(const union kymo_line *line)
{
	npu.host->emit(npu.self, line, 1); /* what cannot be kept is counted there */
}

static union kymo_line span(uint32_t type, uint32_t track, uint64_t begin, uint64_t end)
{
	return (union kymo_line){.record = {.kind = KYMO_KIND_SPAN,
					    .lines = 1,
					    .type = npu.types[type],
					    .track = track,
					    .begin = begin,
					    .end = end}};
}

static void emit_after(const struct kymo_record *launch, uint64_t ticket)
{
	emit(&(union kymo_line){.link = {.kind = KYMO_KIND_LINK,
					 .lines = 1,
					 .link_kind = npu.after,
					 .from_domain = npu.domain,
					 .to_domain = npu.domain,
					 .time = launch->begin,
					 .from = ticket,
					 .to = launch->correlation}});
}

static void on_enter(struct npu_call *call)
{
	call->begin = is_recording() ? npu.host->now() : 0;
}

/* Track 0 is the calling thread, whose times are host ticks. */
static void on_leave(struct npu_call *call)
{
	const int is_wait = strcmp(call->function, "npu_wait") == 0;
	union kymo_line line;
	struct kymo_clock_pair pair;

	if (call->begin == 0)
		return; /* it began before the recording did */
	line = span(is_wait ? SYNC : RUNTIME, 0, call->begin, npu.host->now());
	line.record.name = npu.host->string(npu.self, kymo_text(call->function));
	if (is_wait) {
		line.record.key[0] = npu.keys[TICKET];
		line.record.value[0] = call->ticket;
		read_clock(&pair); /* the program has waited anyway */
		npu.host->anchor(npu.self, npu.clock, &pair);
	} else {
		line.record.flags = KYMO_RECORD_ORIGIN;
		line.record.domain = npu.domain;
		line.record.correlation = call->ticket;
	}
	emit(&line);
	if (call->after)
		emit_after(&line.record, call->after);
}

/* Times as they came: the host converts them, by the anchors of their clock. */
static void on_done(const struct npu_work *work)
{
	const int is_copy = work->engine == NPU_ENGINE_COPIES;
	union kymo_line line, wait;

	if (!npu.host)
		return; /* nobody has recorded it yet: it was not created */
	line = span(is_copy ? DMA : JOB, npu.engines[work->engine], work->begin,
		    work->end);
	wait = span(QUEUE_WAIT, npu.waiting, work->submitted, work->begin);
	line.record.name = npu.host->string(npu.self, kymo_text(work->name));
	line.record.flags = KYMO_RECORD_TARGET;
	line.record.domain = npu.domain;
	line.record.correlation = work->ticket;
	line.record.key[0] = is_copy ? npu.keys[BYTES] : 0;
	line.record.value[0] = work->bytes;
	emit(&line);
	wait.record.name = line.record.name;
	wait.record.key[0] = npu.keys[TICKET];
	wait.record.value[0] = work->ticket;
	emit(&wait);
}

/* Every sample_us, from the host's one thread for all timers. */
static void on_tick(void *source, uint64_t now)
{
	double watts, celsius;

	(void)source;
	npu.npu->sensors(&watts, &celsius);
	emit(&(union kymo_line){.counter = {.kind = KYMO_KIND_COUNTER,
					    .lines = 1,
					    .flags = KYMO_RECORD_HOST_CLOCK,
					    .track = npu.sensors,
					    .type = npu.types[POWER],
					    .count = 2,
					    .group = npu.power,
					    .begin = now,
					    .end = now,
					    .value = {kymo_double_bits(watts),
						      kymo_double_bits(celsius)}}});
}

/* ---- 4. Life ---- */

/* In a process of its own: may load the vendor's library, which the tables must not. */
static int32_t probe(struct kymo_probe *out, struct kymo_error *error)
{
	(void)error;
	if (dlopen("libnpu.so", RTLD_NOW | RTLD_LOCAL)) {
		out->state = KYMO_STATE_READY;
		snprintf(out->what, sizeof(out->what), "1 device: NPU One");
	} else {
		out->state = KYMO_STATE_ABSENT;
		snprintf(out->why, sizeof(out->why), "there is no libnpu.so");
		snprintf(out->remedy, sizeof(out->remedy),
			 "install the NPU's runtime, or name its folder in "
			 "LD_LIBRARY_PATH");
	}
	return KYMO_OK;
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	if (!npu.npu) {
		snprintf(error->message, sizeof(error->message),
			 "the NPU's runtime has not loaded it");
		return KYMO_ERROR_NOT_FOUND;
	}
	npu.host = host;
	npu.self = self;
	npu.types = numbers->types;
	npu.keys = numbers->keys;
	npu.domain = numbers->domains[0];
	npu.after = numbers->link_kinds[0];
	*source = &npu;
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source, (void)session, (void)error;
	return add_device();
}

static int32_t start(void *source, struct kymo_error *error)
{
	struct kymo_str period = {"", 0};
	char text[24];

	(void)error;
	npu.host->option(npu.self, "sample_us", &period);
	snprintf(text, sizeof(text), "%.*s", (int)period.size, period.data);
	npu.host->timer(npu.self, strtoull(text, NULL, 0) * 1000, on_tick, source);
	atomic_store_explicit(&npu.is_recording, 1, memory_order_release);
	return KYMO_OK;
}

static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	atomic_store_explicit(&npu.is_recording, !paused, memory_order_release);
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	atomic_store_explicit(&npu.is_recording, 0, memory_order_release);
	npu.npu->deliver();
	return KYMO_OK;
}

static int32_t sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)source, (void)clock; /* there is only one */
	read_clock(out);
	return KYMO_OK;
}

static void forked(void *source)
{
	(void)source;
	atomic_store(&npu.is_recording, 0); /* prepare and start follow */
}

/* ---- 5. The plug-in ---- */

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = probe,
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.sample_clock = sample_clock,
	.forked = forked,
};

static const struct kymo_source_desc *const sources[] = {
	DESC(kymo_source_desc, .name = "npu",
	     .description = "jobs, copies and sensors of the NPU", .types = types,
	     .keys = keys, .domains = domains, .link_kinds = link_kinds,
	     .options = options, .injections = injections, .ops = &ops),
	NULL,
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "npu",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = sources,
};

/* Kymo reads the tables: in its command, to say and inject; nothing else runs there. */
const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

/* The vendor's runtime loads us: in the program, because of the injected variable. */
KYMO_API const struct npu_tool *npu_tool_attach(const struct npu_services *services);
const struct npu_tool *npu_tool_attach(const struct npu_services *services)
{
	static const struct npu_tool tool = {on_enter, on_leave, on_done};
	const struct kymo_host *host;

	npu.npu = services;
	/* Nobody wants a recording here: stay out of the way. */
	return kymo_inject(&plugin, &host, NULL) == KYMO_OK ? &tool : NULL;
}
