/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake source: all of a source, for a device that does not exist. Copy from here.
 *
 * How to write a source, in the order of this file:
 *
 *  1. Tables. Say what you will record: the types of your activities, the keys of what
 *     you know about each, the domain of the numbers that tie a launch to what it
 *     launched, the kinds of your arrows, your options, and how your vendor's runtime
 *     comes to load you. The host numbers them in the order of your tables, and tools
 *     read them without running anything of yours.
 *  2. Registering. Name what turns up while you run: a clock, a device, its queues.
 *     Once; the numbers hold for the life of the process.
 *  3. Life. create keeps what the host gives, prepare claims what the session needs,
 *     start raises your own flag, stop lowers it and hands over what the vendor holds.
 *  4. Recording is the hot half, in record.c: in the vendor's callbacks fill lines of
 *     64 bytes and emit them.
 *
 * The vendor is fake_device.c; the second half of its header is what a real vendor's
 * profiling interface would be. How this gets into a program: preload.c. How it goes
 * wrong on demand: faults.c, which stands between these operations and the host.
 */
#include <stdio.h>

#include "faults.h"
#include "option.h"
#include "preload.h"
#include "source.h"

/* ---- 1. Tables ---- */

#define TYPE(symbol, type_shape, type_side, type_flags, type_name, type_help) \
	static const struct kymo_type_desc symbol##_type = {                  \
		.struct_size = sizeof(symbol##_type),                         \
		.shapes = (type_shape),                                       \
		.side = (type_side),                                          \
		.flags = (type_flags),                                        \
		.name = (type_name),                                          \
		.help = (type_help),                                          \
	}

/* Static names where they fit, since viewers know them; else names of our own. */
TYPE(runtime, KYMO_SHAPE_SPAN, KYMO_SIDE_HOST, 0, "runtime", "calls of the program");
TYPE(kernel, KYMO_SHAPE_SPAN, KYMO_SIDE_ACCELERATOR, 0, "kernel", "kernels");
TYPE(copy, KYMO_SHAPE_SPAN, KYMO_SIDE_ACCELERATOR, 0, "gpu_memcpy", "copies");
TYPE(note, KYMO_SHAPE_INSTANT, KYMO_SIDE_HOST, 0, "note", "what the program says");
TYPE(load, KYMO_SHAPE_COUNTER, KYMO_SIDE_ACCELERATOR, 0, "load", "how busy it is");
TYPE(poll, KYMO_SHAPE_INSTANT, KYMO_SIDE_HOST, KYMO_TYPE_OPT_IN, "poll",
     "each look of a call that waits");

static const struct kymo_type_desc *const types[TYPE_COUNT + 1] = {
	[RUNTIME] = &runtime_type, [KERNEL] = &kernel_type, [COPY] = &copy_type,
	[NOTE] = &note_type,       [LOAD] = &load_type,     [POLL] = &poll_type,
};

#define KEY(symbol, key_type, key_name, key_unit, key_help) \
	static const struct kymo_key_desc symbol##_key = {  \
		.struct_size = sizeof(symbol##_key),        \
		.value_type = (key_type),                   \
		.name = (key_name),                         \
		.unit = (key_unit),                         \
		.help = (key_help),                         \
	}

#define ARRAY (KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY)

KEY(error, KYMO_VALUE_INT64, "error", NULL, "what a failed call returned");
KEY(thread, KYMO_VALUE_UINT64, "storm thread", NULL, "its number in its storm");
KEY(sequence, KYMO_VALUE_UINT64, "sequence", NULL, "of its thread's calls, from 0");
KEY(queued, KYMO_VALUE_TIME, "queued", "ns", "when the device was told");
KEY(bytes, KYMO_VALUE_UINT64, "bytes", "bytes", "what a copy moves");
KEY(node, KYMO_VALUE_UINT64, "graph node", NULL, "which kernel of its launch");
KEY(grid, ARRAY, "grid", "blocks", "by dimension");
KEY(block, ARRAY, "block", "threads", "by dimension");
KEY(firmware, KYMO_VALUE_STRING, "firmware", NULL, "what runs on the device");
/* By these names, of kymo_key_known_at, readers of deviceProperties look for them. */
KEY(memory, KYMO_VALUE_UINT64, "totalGlobalMem", "bytes", "of the device");
KEY(units, KYMO_VALUE_INT64, "numSms", NULL, "what works side by side");

static const struct kymo_key_desc *const keys[KEY_COUNT + 1] = {
	[ERROR] = &error_key,        [THREAD] = &thread_key,
	[SEQUENCE] = &sequence_key,  [QUEUED] = &queued_key,
	[BYTES] = &bytes_key,        [NODE] = &node_key,
	[GRID] = &grid_key,          [BLOCK] = &block_key,
	[FIRMWARE] = &firmware_key,  [DEVICE_MEMORY] = &memory_key,
	[DEVICE_UNITS] = &units_key,
};

/* Each launch has a number, and all that it launched carries it. */
static const struct kymo_domain_desc command_domain = {
	.struct_size = sizeof(command_domain),
	.scope = KYMO_DOMAIN_SOURCE,
	.name = "command",
};

static const struct kymo_domain_desc *const domains[] = {&command_domain, NULL};

static const struct kymo_link_kind_desc fence_link = {
	.struct_size = sizeof(fence_link),
	.name = "fence",
	.help = "from the launch that a fence waited for",
};

static const struct kymo_link_kind_desc region_link = {
	.struct_size = sizeof(region_link),
	.name = "region",
	.help = "from the region that a launch was made in",
};

static const struct kymo_link_kind_desc *const link_kinds[LINK_KIND_COUNT + 1] = {
	[FENCE_LINK] = &fence_link,
	[REGION_LINK] = &region_link,
};

static const struct kymo_injection_desc *const injections[] = {&fake_preload, NULL};

struct fake_source fake_source;

/* ---- 2. Registering ---- */

static uint32_t register_string(const char *text)
{
	return fake_source.host->string(fake_source.self, kymo_text(text));
}

static void register_names(void)
{
	/* The words by which viewers know copies. */
	static const char *const directions[FAKE_DIRECTION_COUNT] = {
		[FAKE_HOST_TO_DEVICE] = "Memcpy HtoD (Host -> Device)",
		[FAKE_DEVICE_TO_HOST] = "Memcpy DtoH (Device -> Host)",
		[FAKE_DEVICE_TO_DEVICE] = "Memcpy DtoD (Device -> Device)",
	};

	for (int i = 0; i < FAKE_FUNCTION_COUNT; i++)
		fake_source.functions[i] = register_string(fake_function_name(i));
	for (uint32_t i = 0; i < FAKE_DIRECTION_COUNT; i++)
		fake_source.directions[i] = register_string(directions[i]);
}

/* The clock is told as it claims to be; how it really runs is found out from anchors. */
static int32_t register_clock(const struct fake_clock *clock)
{
	const struct kymo_clock_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = clock->bits,
		.ticks_num = clock->rate,
		.ticks_den = 1,
		.name = KYMO_STR("fake device"),
	};

	return fake_source.host->clock(fake_source.self, &desc, &fake_source.clock);
}

static int32_t register_track(uint32_t kind, uint32_t device, uint32_t order,
			      const char *name, uint32_t *out)
{
	const struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = kind,
		.native = 0xfa4e000000000000u + order,
		.device = device,
		.clock = fake_source.clock,
		.order = order,
		.name = kymo_text(name),
	};

	return fake_source.host->track(fake_source.self, &desc, out);
}

#define COUNTER(symbol, counter_type, counter_name, counter_unit) \
	const struct kymo_counter_desc symbol = {                 \
		.struct_size = sizeof(symbol),                    \
		.value_type = (counter_type),                     \
		.name = KYMO_STR(counter_name),                   \
		.unit = KYMO_STR(counter_unit),                   \
	}

static int32_t register_counters(void)
{
	COUNTER(busy_0, KYMO_VALUE_DOUBLE, "busy 0", "%");
	COUNTER(busy_1, KYMO_VALUE_DOUBLE, "busy 1", "%");
	COUNTER(memory, KYMO_VALUE_UINT64, "memory", "bytes");
	COUNTER(launches, KYMO_VALUE_UINT64, "launches", "");
	COUNTER(temperature, KYMO_VALUE_INT64, "temperature", "C");
	const struct kymo_counter_desc *const counters[FAKE_LOAD_COUNT] = {
		&busy_0, &busy_1, &memory, &launches, &temperature};

	return fake_source.host->counter_group(fake_source.self, fake_source.load_track,
					       KYMO_STR("load"), counters,
					       FAKE_LOAD_COUNT, &fake_source.load_group);
}

static int32_t register_device(void)
{
	const struct kymo_value values[] = {
		{.key = fake_source.keys[FIRMWARE],
		 .type = KYMO_VALUE_STRING,
		 .u64 = register_string("none at all")},
		{.key = fake_source.keys[DEVICE_MEMORY],
		 .type = KYMO_VALUE_UINT64,
		 .u64 = UINT64_C(16) << 30},
		{.key = fake_source.keys[DEVICE_UNITS],
		 .type = KYMO_VALUE_INT64,
		 .i64 = FAKE_QUEUE_COUNT},
	};
	const struct kymo_device_desc desc = {
		.struct_size = sizeof(desc),
		.native = 0xfa4e,
		.name = KYMO_STR("Fake One"),
		.kind = KYMO_STR("pretend"),
		.attributes = fake_source.host->attributes(
			fake_source.self, values, sizeof(values) / sizeof(values[0])),
	};
	uint32_t device;
	int32_t status = fake_source.host->device(fake_source.self, &desc, &device);

	for (uint32_t i = 0; i < FAKE_QUEUE_COUNT && status == KYMO_OK; i++)
		status = register_track(KYMO_TRACK_QUEUE, device, i, "queue",
					&fake_source.queues[i]);
	if (status == KYMO_OK)
		status = register_track(KYMO_TRACK_COUNTER, device, FAKE_QUEUE_COUNT,
					"load", &fake_source.load_track);
	if (status == KYMO_OK)
		status = register_counters();
	return status;
}

/* ---- 3. Life ---- */

static int32_t fail(struct kymo_error *error, int32_t status, const char *message)
{
	if (error) {
		error->status = status;
		snprintf(error->message, sizeof(error->message), "%s", message);
	}
	return status;
}

static int32_t probe(struct kymo_probe *out, struct kymo_error *error)
{
	(void)error;
	out->state = KYMO_STATE_READY;
	snprintf(out->what, sizeof(out->what), "a pretended device with %u queues",
		 FAKE_QUEUE_COUNT);
	return KYMO_OK;
}

/* Before the program ends: what has ended on the device, without waiting for the rest. */
static void drain(void *source, uint64_t deadline_ns)
{
	(void)source;
	(void)deadline_ns;
	fake_device_finish(0);
	fake_anchor();
}

/* One instance: the vendor's callbacks could not tell two apart. */
static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	fake_source.host = host;
	fake_source.self = self;
	fake_source.types = numbers->types;
	fake_source.keys = numbers->keys;
	fake_source.link_kinds = numbers->link_kinds;
	fake_source.domain = numbers->domains[0];
	register_names();
	host->at_exit(self, drain, &fake_source);
	*source = &fake_source;
	return KYMO_OK;
}

static void destroy(void *source)
{
	(void)source;
	fake_device_set_tool(NULL);
}

/* Options may differ from session to session, so this is where they are read. */
static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	const struct fake_clock clock = {
		.rate = (uint64_t)fake_option_number("rate"),
		.ppm = fake_option_number("ppm"),
		.offset = (uint64_t)fake_option_number("offset"),
		.bits = (uint32_t)fake_option_number("bits"),
	};

	(void)source;
	if (register_clock(&clock) != KYMO_OK)
		return fail(error, KYMO_ERROR_CONFIG,
			    "no clock is like that: look at rate and bits");
	fake_device_set_clock(&clock);
	if (register_device() != KYMO_OK)
		return fail(error, KYMO_ERROR_NO_MEMORY,
			    "no room for the device's names");
	fake_source.wants_polls =
		(uint32_t)kymo_source_wants(session, fake_source.types[POLL]);
	return KYMO_OK;
}

static void on_tick(void *source, uint64_t now)
{
	(void)source;
	(void)now;
	fake_device_api.sample();
}

static int32_t start(void *source, struct kymo_error *error)
{
	const uint64_t period_ns = (uint64_t)fake_option_number("sample_us") * 1000;
	const uint64_t workload = (uint64_t)fake_option_number("workload");

	if (period_ns && fake_source.host->timer(fake_source.self, period_ns, on_tick,
						 source) != KYMO_OK)
		return fail(error, KYMO_ERROR_CONFIG, "cannot sample that often");
	fake_device_set_tool(&fake_tool);
	atomic_store_explicit(&fake_source.is_recording, 1, memory_order_release);
	if (workload)
		fake_device_api.work(workload, (uint64_t)fake_option_number("seed"));
	return KYMO_OK;
}

static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	atomic_store_explicit(&fake_source.is_recording, !paused, memory_order_release);
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	atomic_store_explicit(&fake_source.is_recording, 0, memory_order_release);
	fake_device_finish(deadline_ns);
	return KYMO_OK;
}

static int32_t flush(void *source, uint64_t deadline_ns)
{
	(void)source;
	(void)deadline_ns;
	fake_device_deliver();
	return KYMO_OK;
}

static int32_t sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)source;
	(void)clock; /* there is only one */
	fake_read_clock(out);
	return KYMO_OK;
}

static void forked(void *source)
{
	atomic_store(&fake_source.is_recording, 0);
	fake_device_forked();
	/* A child has none of its parent's. */
	fake_source.host->at_exit(fake_source.self, drain, source);
}

const struct kymo_source_ops fake_ops = {
	.struct_size = sizeof(fake_ops),
	.probe = probe,
	.create = create,
	.destroy = destroy,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.flush = flush,
	.sample_clock = sample_clock,
	.push_correlation = fake_region_push,
	.pop_correlation = fake_region_pop,
	.forked = forked,
};

static const struct kymo_source_desc source_desc = {
	.struct_size = sizeof(source_desc),
	.flags = KYMO_SOURCE_EXPLICIT, /* nobody wants it by default */
	.name = "fake",
	.description = "a device that does not exist, and all that can go wrong",
	.types = types,
	.keys = keys,
	.domains = domains,
	.link_kinds = link_kinds,
	.options = fake_options,
	.injections = injections,
	.ops = &fake_faulty_ops, /* yours: &fake_ops */
};

static const struct kymo_source_desc *const sources[] = {&source_desc, NULL};

const struct kymo_plugin fake_plugin = {
	.struct_size = sizeof(fake_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "fake",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &fake_plugin;
}
