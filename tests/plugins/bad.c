/* SPDX-License-Identifier: BSD-3-Clause */
/* A source plug-in with one fault, which one is chosen when it is built; 0 is none. */
#include <kymo/plugin.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD            0
#define NO_ENTRY        1
#define NEWER_ENTRY     2
#define OTHER_MAJOR     3
#define NO_TABLE        4
#define NO_STOP         5
#define BAD_NAME        6
#define MISSING_SYMBOL  7
#define FAILS_TO_CREATE 8
#define SHORT_PLUGIN    9
#define SHORT_SOURCE    10
#define SHORT_TYPE      11
/* While it is loaded. */
#define LOAD_CRASHES 12
#define LOAD_HANGS   13
#define LOAD_PRINTS  14
#define LOAD_CLOSES  15 /* all descriptors */
#define ENTRY_CLOSES 16
/* What its probe does. */
#define PROBE_CRASHES  20
#define PROBE_HANGS    21
#define PROBE_EXITS    22
#define PROBE_PRINTS   23
#define PROBE_FORKS    24
#define PROBE_BUSY     25
#define PROBE_DENIED   26
#define PROBE_ABSENT   27
#define PROBE_PARTLY   28
#define PROBE_NONSENSE 29
/* It injects a second file, which lies beside it and cannot be loaded. */
#define INJECTS_BAD 30

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

#if FAULT >= LOAD_CRASHES && FAULT <= LOAD_CLOSES
__attribute__((constructor)) static void load(void)
{
#if FAULT == LOAD_CRASHES
	raise(SIGSEGV);
#elif FAULT == LOAD_HANGS
	for (;;)
		pause();
#elif FAULT == LOAD_CLOSES
	closefrom(3);
#else
	puts("hello from the constructor");
	fflush(stdout);
#endif
}
#endif

static int32_t answer(struct kymo_probe *out, uint32_t state, const char *why,
		      const char *remedy)
{
	out->state = state;
	strcpy(out->what, "a device of nobody");
	strcpy(out->why, why);
	strcpy(out->remedy, remedy);
	return KYMO_OK;
}

static int32_t fail(struct kymo_error *error, int32_t status, const char *why)
{
	error->status = status;
	strcpy(error->message, why);
	return status;
}

static int32_t probe(struct kymo_probe *out, struct kymo_error *error)
{
	switch (FAULT) {
	case PROBE_CRASHES:
		raise(SIGSEGV);
		break;
	case PROBE_HANGS:
		for (;;)
			pause();
	case PROBE_EXITS:
		exit(7);
	case PROBE_PRINTS:
		puts("driver 1.2 \033[31mloaded\033[0m");
		break;
	case PROBE_FORKS:
		if (fork() == 0)
			for (;;)
				pause();
		break;
	case PROBE_BUSY:
		return fail(error, KYMO_ERROR_BUSY, "held by othertool (pid 17)");
	case PROBE_DENIED:
		return answer(out, KYMO_STATE_DENIED, "the counters are root's",
			      "chmod o+r /dev/nobody");
	case PROBE_ABSENT:
		return fail(error, KYMO_ERROR_NOT_FOUND, "there is no libnobody.so");
	case PROBE_PARTLY:
		return answer(out, KYMO_STATE_PARTLY, "no counters", "load the module");
	case PROBE_NONSENSE:
		return answer(out, 77, "", "");
	default:
		break;
	}
	return answer(out, KYMO_STATE_READY, "", "");
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = probe,
	.create = create,
	.start = start,
	.stop = FAULT == NO_STOP ? NULL : stop,
};

static const struct kymo_injection_desc injection = {
	.struct_size = sizeof(injection),
	.how = KYMO_INJECT_SET,
	.variable = "BAD_TOOL",
	.value = FAULT == INJECTS_BAD ? "{plugin}.helper" : "{plugin}",
};

static const struct kymo_injection_desc *const injections[] = {&injection, NULL};

static const struct kymo_type_desc type = {
	.struct_size = FAULT == SHORT_TYPE ? 8 : sizeof(type),
	.name = "work",
};

static const struct kymo_type_desc *const types[] = {&type, NULL};

static const struct kymo_source_desc source = {
	.struct_size = FAULT == SHORT_SOURCE ? 24 : sizeof(source),
	.name = FAULT == BAD_NAME ? "bad name" : "bad",
	.types = types,
	.injections = injections,
	.ops = &ops,
};

static const struct kymo_source_desc *const sources[] = {&source, NULL};

static const struct kymo_plugin plugin = {
	.struct_size = FAULT == SHORT_PLUGIN ? 16 : sizeof(plugin),
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
#if FAULT == ENTRY_CLOSES
	closefrom(3);
#endif
	return FAULT == NO_TABLE ? NULL : &plugin;
}
