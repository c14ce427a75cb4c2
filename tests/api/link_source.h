/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source inside a test: launches are calls of the calling thread, and what they launch
 * is done at once on one of two queues of a device. Of its two kinds one has regions told
 * to it, and links them itself (or not at all, as here), the other one has not.
 */
#ifndef TEST_API_LINK_SOURCE_H
#define TEST_API_LINK_SOURCE_H

#include <kymo/plugin.h>

#define LINK_SOURCE_QUEUES 2u

struct link_source {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t runtime, kernel, node, domain;
	uint32_t name, queue[LINK_SOURCE_QUEUES];
	uint64_t launches;
	uint32_t pushed, popped; /* regions that it was told of */
	uint16_t pushed_domain;
	uint64_t pushed_value;
};

static const struct kymo_type_desc link_source_runtime = {
	.struct_size = sizeof(link_source_runtime),
	.name = "runtime",
};
static const struct kymo_type_desc link_source_kernel = {
	.struct_size = sizeof(link_source_kernel),
	.name = "kernel",
};
static const struct kymo_type_desc *const link_source_types[] = {
	&link_source_runtime, &link_source_kernel, NULL};
static const struct kymo_key_desc link_source_node = {
	.struct_size = sizeof(link_source_node),
	.value_type = KYMO_VALUE_UINT64,
	.name = "graph node id",
};
static const struct kymo_key_desc *const link_source_keys[] = {&link_source_node, NULL};
static const struct kymo_domain_desc link_source_domain = {
	.struct_size = sizeof(link_source_domain),
	.name = "command",
};
static const struct kymo_domain_desc *const link_source_domains[] = {&link_source_domain,
								     NULL};

static inline int32_t link_source_fill(struct link_source *out,
				       const struct kymo_host *host,
				       struct kymo_source_host *self,
				       const struct kymo_source_numbers *numbers,
				       void **source)
{
	struct kymo_device_desc device = {.struct_size = sizeof(device)};
	struct kymo_track_desc track = {.struct_size = sizeof(track),
					.kind = KYMO_TRACK_QUEUE};
	int32_t status = host->device(self, &device, &track.device);

	out->host = host;
	out->self = self;
	out->runtime = numbers->types[0];
	out->kernel = numbers->types[1];
	out->node = numbers->keys[0];
	out->domain = numbers->domains[0];
	out->name = host->string(self, KYMO_STR("launch"));
	for (uint32_t i = 0; i < LINK_SOURCE_QUEUES && status == KYMO_OK; i++) {
		track.native = 100 + i;
		status = host->track(self, &track, &out->queue[i]);
	}
	*source = out;
	return status;
}

/* One call that launches `count` kernels on the queue, some ns after one another. */
static inline void link_source_launch(struct link_source *source, uint32_t queue,
				      uint64_t count)
{
	const uint64_t number =
		__atomic_add_fetch(&source->launches, 1, __ATOMIC_RELAXED);
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_SPAN,
					.lines = 1,
					.flags = KYMO_RECORD_ORIGIN,
					.type = source->runtime,
					.domain = source->domain,
					.name = source->name,
					.begin = source->host->now(),
					.correlation = number,
				}};
	uint64_t at = line.record.begin + 100;

	line.record.end = source->host->now();
	source->host->emit(source->self, &line, 1);
	line.record.flags = KYMO_RECORD_TARGET;
	line.record.type = source->kernel;
	line.record.track = source->queue[queue];
	line.record.key[0] = source->node;
	for (uint64_t i = 0; i < count; i++, at += 32) {
		line.record.begin = at;
		line.record.end = at + 16;
		line.record.value[0] = i;
		source->host->emit(source->self, &line, 1);
	}
}

/* ---- The two sources and their plug-in ---- */

static struct link_source plain_source, told_source;

static int32_t plain_create(const struct kymo_host *host, struct kymo_source_host *self,
			    const struct kymo_source_numbers *numbers, void **source,
			    struct kymo_error *error)
{
	(void)error;
	return link_source_fill(&plain_source, host, self, numbers, source);
}

static int32_t told_create(const struct kymo_host *host, struct kymo_source_host *self,
			   const struct kymo_source_numbers *numbers, void **source,
			   struct kymo_error *error)
{
	(void)error;
	return link_source_fill(&told_source, host, self, numbers, source);
}

static int32_t link_source_start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static int32_t link_source_stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static void told_push(void *source, uint16_t domain, uint64_t value)
{
	struct link_source *told = source;

	told->pushed++;
	told->pushed_domain = domain;
	told->pushed_value = value;
}

static void told_pop(void *source, uint16_t domain)
{
	struct link_source *told = source;

	(void)domain;
	told->popped++;
}

static const struct kymo_source_ops plain_ops = {
	.struct_size = sizeof(plain_ops),
	.create = plain_create,
	.start = link_source_start,
	.stop = link_source_stop,
};

static const struct kymo_source_ops told_ops = {
	.struct_size = sizeof(told_ops),
	.create = told_create,
	.start = link_source_start,
	.stop = link_source_stop,
	.push_correlation = told_push,
	.pop_correlation = told_pop,
};

static const struct kymo_source_desc plain_desc = {
	.struct_size = sizeof(plain_desc),
	.name = "plain",
	.description = "a source that knows no regions",
	.types = link_source_types,
	.keys = link_source_keys,
	.domains = link_source_domains,
	.ops = &plain_ops,
};

static const struct kymo_source_desc told_desc = {
	.struct_size = sizeof(told_desc),
	.name = "told",
	.description = "a source that is told of regions",
	.types = link_source_types,
	.keys = link_source_keys,
	.domains = link_source_domains,
	.ops = &told_ops,
};

static const struct kymo_source_desc *const link_sources[] = {&plain_desc, &told_desc,
							      NULL};

static const struct kymo_plugin link_plugin = {
	.struct_size = sizeof(link_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "links",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = link_sources,
};

#endif
