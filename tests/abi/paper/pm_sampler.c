/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A paper adapter: a sampler of hardware counters (PM sampling, NVML, sensors).
 *
 * The hardware fills a ring of its own with one value per metric and window; a timer
 * takes the windows out. The metrics are the user's, by option, so the counter group is
 * known when a session is prepared and not before.
 */
#include <string.h>

#include <kymo/plugin.h>

/* ---- The vendor's interface, as little of it as the adapter needs ---- */

#define METRICS 60u

struct vendor_window {
	uint64_t start, end; /* ticks of the device's clock */
	double value[METRICS];
};

struct vendor {
	int (*open)(uint32_t device); /* 0, or < 0: no right to, or 1: somebody has it */
	int (*configure)(uint32_t device, const char *metrics, size_t size,
			 uint64_t interval_ns);
	int (*run)(uint32_t device, int on);
	/* Takes out up to `count` windows; `*overflow` if the ring had run over. */
	uint32_t (*decode)(uint32_t device, struct vendor_window *out, uint32_t count,
			   int *overflow);
	uint64_t (*device_ticks)(uint32_t device);
};
extern const struct vendor *pm_vendor;
const struct vendor *pm_vendor;

/* ---- What the plug-in declares ---- */

#define DESC(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})

static const struct kymo_type_desc *const types[] = {
	/* Opt-in: it costs, and takes the hardware away from others. */
	DESC(struct kymo_type_desc, .name = "gpu_pm_counter",
	     .side = KYMO_SIDE_ACCELERATOR, .shapes = KYMO_SHAPE_COUNTER,
	     .flags = KYMO_TYPE_OPT_IN),
	NULL,
};
static const struct kymo_option_desc *const options[] = {
	DESC(struct kymo_option_desc, .name = "metrics", .fallback = "busy",
	     .value_type = KYMO_VALUE_STRING, .help = "names, separated by ','"),
	NULL,
};

/* ---- The source ---- */

#define INTERVAL_NS 1000000u
#define DRAIN_NS    10000000u
#define WINDOWS     64u
#define LINES       (1 + (METRICS - 4 + 6) / 7)

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t type;
	uint32_t device, clock, track, group, metric_count;
	uint64_t last_end; /* of the last window that came */
	struct vendor_window windows[WINDOWS];
} source;

static void emit_window(const struct vendor_window *window)
{
	union kymo_line lines[LINES] = {{.counter = {
						 .kind = KYMO_KIND_COUNTER,
						 .track = source.track,
						 .type = source.type,
						 .count = (uint16_t)source.metric_count,
						 .group = source.group,
						 .begin = window->start,
						 .end = window->end,
					 }}};
	uint32_t used = 1;

	for (uint32_t i = 0; i < source.metric_count; i++) {
		const uint64_t bits = kymo_double_bits(window->value[i]);

		if (i < 4) {
			lines[0].counter.value[i] = bits;
			continue;
		}
		used = 2 + (i - 4) / 7;
		lines[used - 1].values.kind = KYMO_KIND_VALUES;
		lines[used - 1].values.value[lines[used - 1].values.used++] = bits;
	}
	lines[0].counter.lines = (uint8_t)used;
	source.host->emit(source.self, lines, used);
}

/*
 * Nobody can say how many windows ran over, but everybody can see where they are missing.
 */
static void emit_gap(uint64_t until)
{
	const union kymo_line line = {.record = {
					      .kind = KYMO_KIND_GAP,
					      .lines = 1,
					      .track = source.track,
					      .type = source.type,
					      .begin = source.last_end,
					      .end = until,
				      }};

	source.host->lost(source.self, KYMO_LOST_VENDOR_AT_LEAST, 1);
	if (source.last_end && source.last_end < until)
		source.host->emit(source.self, &line, 1);
}

static void drain(void)
{
	uint32_t count;

	do {
		int overflow = 0;

		count = pm_vendor->decode(source.device, source.windows, WINDOWS,
					  &overflow);
		if (overflow && count)
			emit_gap(source.windows[0].start);
		for (uint32_t i = 0; i < count; i++)
			emit_window(&source.windows[i]);
		if (count)
			source.last_end = source.windows[count - 1].end;
	} while (count == WINDOWS);
}

/* Never while flush drains: a tick overlaps no operation. */
static void tick(void *self, uint64_t now)
{
	(void)self, (void)now;
	drain();
}

/* ---- Operations ---- */

static int32_t fail(struct kymo_error *error, int32_t status, const char *message)
{
	error->status = status;
	strncpy(error->message, message, sizeof(error->message) - 1);
	return status;
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **out,
		      struct kymo_error *error)
{
	const struct kymo_device_desc device = {.struct_size = sizeof(device),
						.kind = KYMO_STR("gpu")};
	struct kymo_clock_desc clock = {.struct_size = sizeof(clock),
					.kind = KYMO_CLOCK_COUNTER,
					.bits = 64,
					.ticks_num = 1000000000,
					.ticks_den = 1,
					.name = KYMO_STR("gpu")};
	struct kymo_track_desc track = {.struct_size = sizeof(track),
					.kind = KYMO_TRACK_COUNTER,
					.name = KYMO_STR("counters")};

	*out = &source;
	source.host = host;
	source.self = self;
	source.type = numbers->types[0];
	if (host->device(self, &device, &track.device) != KYMO_OK)
		return fail(error, KYMO_ERROR_NO_MEMORY, "no room for its device");
	clock.device = track.device;
	if (host->clock(self, &clock, &source.clock) != KYMO_OK)
		return fail(error, KYMO_ERROR_NO_MEMORY, "no room for its clock");
	track.clock = source.clock;
	return host->track(self, &track, &source.track);
}

/* Makes the group of the metrics in the list, which are separated by ','. */
static int32_t make_group(struct kymo_str list)
{
	struct kymo_counter_desc descs[METRICS];
	const struct kymo_counter_desc *counters[METRICS];
	uint32_t count = 0;

	for (size_t begin = 0, end; begin < list.size; begin = end + 1) {
		for (end = begin; end < list.size && list.data[end] != ','; end++)
			;
		if (end == begin)
			continue;
		if (count == METRICS)
			return KYMO_ERROR_CONFIG;
		descs[count] = (struct kymo_counter_desc){
			.struct_size = sizeof(descs[0]),
			.value_type = KYMO_VALUE_DOUBLE,
			.name = {list.data + begin, end - begin},
		};
		counters[count] = &descs[count];
		count++;
	}
	source.metric_count = count;
	return source.host->counter_group(source.self, source.track, KYMO_STR("gpu"),
					  counters, count, &source.group);
}

/* The status says which state it is: absent, busy, denied, failed. */
static int32_t prepare(void *self, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	struct kymo_str metrics;

	(void)self, (void)session;
	if (!pm_vendor)
		return fail(error, KYMO_ERROR_NOT_FOUND, "no such device here");
	if (source.host->option(source.self, "metrics", &metrics) != KYMO_OK ||
	    make_group(metrics) != KYMO_OK)
		return fail(error, KYMO_ERROR_CONFIG, "too many metrics, or none");

	const int opened = pm_vendor->open(source.device);
	if (opened > 0)
		return fail(error, KYMO_ERROR_BUSY, "another tool samples this device");
	if (opened < 0)
		return fail(error, KYMO_ERROR_PERMISSION,
			    "counters are for administrators here");
	if (pm_vendor->configure(source.device, metrics.data, metrics.size, INTERVAL_NS))
		return fail(error, KYMO_ERROR_CONFIG,
			    "these metrics need several passes");
	return KYMO_OK;
}

static int32_t start(void *self, struct kymo_error *error)
{
	source.last_end = 0;
	if (pm_vendor->run(source.device, 1))
		return fail(error, KYMO_ERROR_IO, "the device does not sample");
	return source.host->timer(source.self, DRAIN_NS, tick, self);
}

static int32_t stop(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	source.host->timer(source.self, 0, NULL, NULL);
	return pm_vendor->run(source.device, 0) ? KYMO_ERROR_IO : KYMO_OK;
}

static int32_t flush(void *self, uint64_t deadline_ns)
{
	(void)self, (void)deadline_ns;
	drain();
	return KYMO_OK;
}

static int32_t sample_clock(void *self, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)self;
	if (clock != source.clock)
		return KYMO_ERROR_NOT_FOUND;
	out->host_lo = source.host->now();
	out->device = pm_vendor->device_ticks(source.device);
	out->host_hi = source.host->now();
	return KYMO_OK;
}

static const struct kymo_source_desc sampler = {
	.struct_size = sizeof(sampler),
	.name = "pm",
	.description = "Hardware counters, one value per metric and window",
	.types = types,
	.options = options,
	.ops = DESC(struct kymo_source_ops, .create = create, .prepare = prepare,
		    .start = start, .stop = stop, .flush = flush,
		    .sample_clock = sample_clock),
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "pm",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&sampler, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}
