/* SPDX-License-Identifier: BSD-3-Clause */
/* A source plug-in with one fault, which one is chosen when it is built; 0 is none. */
#include <kymo/plugin.h>

#define GOOD            0
#define NO_ENTRY        1
#define NEWER_ENTRY     2
#define OTHER_MAJOR     3
#define NO_TABLE        4
#define NO_STOP         5
#define BAD_NAME        6
#define MISSING_SYMBOL  7
#define FAILS_TO_CREATE 8

#if FAULT == MISSING_SYMBOL
int bad_symbol_of_nobody(void);
#endif

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)source, (void)error;
#if FAULT == FAILS_TO_CREATE
	return KYMO_ERROR_BUSY;
#elif FAULT == MISSING_SYMBOL
	return bad_symbol_of_nobody();
#else
	return KYMO_OK;
#endif
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.start = start,
	.stop = FAULT == NO_STOP ? NULL : stop,
};

static const struct kymo_source_desc source = {
	.struct_size = sizeof(source),
	.name = FAULT == BAD_NAME ? "bad name" : "bad",
	.ops = &ops,
};

static const struct kymo_source_desc *const sources[] = {&source, NULL};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = FAULT == OTHER_MAJOR ? 7 : KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = FAULT == OTHER_MAJOR ? 3 : KYMO_PLUGIN_ABI_MINOR,
	.name = "bad",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sources = sources,
};

#if FAULT == NO_ENTRY
KYMO_API const struct kymo_plugin *bad_entry_of_another_kind(void);
const struct kymo_plugin *bad_entry_of_another_kind(void)
#elif FAULT == NEWER_ENTRY
KYMO_API const struct kymo_plugin *kymo_plugin_entry_v2(void);
const struct kymo_plugin *kymo_plugin_entry_v2(void)
#else
const struct kymo_plugin *kymo_plugin_entry_v1(void)
#endif
{
	return FAULT == NO_TABLE ? NULL : &plugin;
}
