/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source plug-in as a vendor's runtime would load it: the variable KYMO_TEST_RUNTIME
 * leads bare.c here, which calls test_work(). Each piece of work is a kernel.
 */
#include <kymo/inject.h>

#include <stdint.h>
#include <unistd.h>

int test_work(unsigned int count) __attribute__((visibility("default")));
int test_emit(unsigned int count) __attribute__((visibility("default")));

static struct {
	const struct kymo_host *table;
	struct kymo_source_host *host;
	uint16_t type;
	uint32_t is_forked;
	uint32_t is_losing; /* each kernel, it says, was one of two */
} self;

static const struct kymo_type_desc kernel_type = {
	.struct_size = sizeof(kernel_type),
	.shapes = KYMO_SHAPE_SPAN,
	.side = KYMO_SIDE_ACCELERATOR,
	.name = "kernel",
};

static int is_set(const char *option)
{
	struct kymo_str value;

	return self.table->option(self.host, option, &value) == KYMO_OK &&
	       value.size > 0 && value.data[0] == '1';
}

static int32_t create(const struct kymo_host *table, struct kymo_source_host *host,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	self.table = table;
	self.host = host;
	self.type = numbers->types[0];
	*source = &self;
	self.is_losing = (uint32_t)is_set("lose");
	if (is_set("refuse")) {
		table->state(host, KYMO_STATE_DENIED, KYMO_STR("it was told to refuse"),
			     KYMO_STR("do not tell it"));
		return KYMO_ERROR_PERMISSION;
	}
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	if (is_set("lack"))
		self.table->state(self.host, KYMO_STATE_PARTLY,
				  KYMO_STR("there is no counter"),
				  KYMO_STR("name another"));
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static void forked(void *source)
{
	(void)source;
	self.is_forked++;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.start = start,
	.stop = stop,
	.forked = forked,
};

static const struct kymo_option_desc refuse_option = {
	.struct_size = sizeof(refuse_option),
	.value_type = KYMO_VALUE_BOOL,
	.name = "refuse",
	.fallback = "0",
};

static const struct kymo_option_desc lose_option = {
	.struct_size = sizeof(lose_option),
	.value_type = KYMO_VALUE_BOOL,
	.name = "lose",
	.fallback = "0",
};

static const struct kymo_option_desc lack_option = {
	.struct_size = sizeof(lack_option),
	.value_type = KYMO_VALUE_BOOL,
	.name = "lack",
	.fallback = "0",
};

static const struct kymo_injection_desc runtime_injection = {
	.struct_size = sizeof(runtime_injection),
	.how = KYMO_INJECT_APPEND,
	.variable = "KYMO_TEST_RUNTIME",
	.separator = ":",
	.value = "{plugin}",
};

static const struct kymo_source_desc source_desc = {
	.struct_size = sizeof(source_desc),
	.name = "injected",
	.description = "kernels that a test asks for",
	.types = (const struct kymo_type_desc *const[]){&kernel_type, NULL},
	.options = (const struct kymo_option_desc *const[]){&refuse_option, &lose_option,
							    &lack_option, NULL},
	.injections =
		(const struct kymo_injection_desc *const[]){&runtime_injection, NULL},
	.ops = &ops,
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "injected",
	.version = "1",
	.license = "BSD-3-Clause",
	.sources = (const struct kymo_source_desc *const[]){&source_desc, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}

static void record_kernel(void)
{
	union kymo_line line = {
		.record = {.kind = KYMO_KIND_SPAN, .lines = 1, .type = self.type},
	};

	line.record.begin = self.table->now();
	line.record.end = self.table->now();
	self.table->emit(self.host, &line, 1);
	if (self.is_losing)
		self.table->lost(self.host, KYMO_LOST_VENDOR, 1);
}

/* How often `forked` was called, or -1 where there is no agent. */
int test_work(unsigned int count)
{
	const struct kymo_host *host;

	if (kymo_inject(&plugin, &host, NULL) != KYMO_OK)
		return -1;
	while (count-- > 0)
		if (kymo_host_is_on(host) && self.host)
			record_kernel();
	return (int)self.is_forked;
}

/* As a source that has no look at the gate. */
int test_emit(unsigned int count)
{
	while (count-- > 0)
		record_kernel();
	return 0;
}
