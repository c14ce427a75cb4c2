/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a source that knows code addresses only: it records one instant for
 * each, named by it, and one with all of them as its stack.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <kymo/inject.h>
#include <kymo/plugin.h>

#define CODES_MAX 8u

typedef void (*function)(void);

function library_function(void); /* of the shared object, static there */

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t type, stack;
	int is_recording;
} coder;

static volatile int calls;

static void local_function(void)
{
	calls++; /* LINE local */
}

/* As a compiler of C++ names it. */
static void mangled_function(void) __asm__("_ZN3npu4stepEi");
__attribute__((used)) static void mangled_function(void)
{
	calls++;
}

static const struct kymo_type_desc type = {.struct_size = sizeof(type), .name = "call"};
static const struct kymo_type_desc *const types[] = {&type, NULL};
static const struct kymo_key_desc key = {.struct_size = sizeof(key),
					 .value_type = KYMO_VALUE_CODE | KYMO_VALUE_ARRAY,
					 .name = "stack"};
static const struct kymo_key_desc *const keys[] = {&key, NULL};

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	coder.host = host;
	coder.self = self;
	coder.type = numbers->types[0];
	coder.stack = numbers->keys[0];
	*source = &coder;
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	coder.is_recording = 1;
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops), .create = create, .start = start, .stop = stop};
static const struct kymo_source_desc desc = {.struct_size = sizeof(desc),
					     .name = "coder",
					     .description = "code addresses",
					     .types = types,
					     .keys = keys,
					     .ops = &ops};
static const struct kymo_source_desc *const sources[] = {&desc, NULL};
static const struct kymo_plugin plugin = {.struct_size = sizeof(plugin),
					  .abi_major = KYMO_PLUGIN_ABI_MAJOR,
					  .abi_minor = KYMO_PLUGIN_ABI_MINOR,
					  .name = "coder",
					  .version = "1",
					  .license = "BSD-3-Clause",
					  .sources = sources};

static void record_name(uint32_t code)
{
	union kymo_line line = {.record = {.kind = KYMO_KIND_INSTANT,
					   .lines = 1,
					   .flags = KYMO_RECORD_NAME_CODE,
					   .type = coder.type,
					   .name = code,
					   .begin = coder.host->now()}};

	line.record.end = line.record.begin;
	coder.host->emit(coder.self, &line, 1);
}

static void record_stack(const uint64_t *codes, uint32_t count)
{
	const struct kymo_value stack = {.key = coder.stack,
					 .type = KYMO_VALUE_CODE | KYMO_VALUE_ARRAY,
					 .count = count,
					 .array = codes};
	union kymo_line line = {
		.record = {.kind = KYMO_KIND_INSTANT,
			   .lines = 1,
			   .type = coder.type,
			   .name = coder.host->string(coder.self, kymo_text("sample")),
			   .begin = coder.host->now(),
			   .attributes = coder.host->attributes(coder.self, &stack, 1)}};

	line.record.end = line.record.begin;
	coder.host->emit(coder.self, &line, 1);
}

static void *ask(void *context)
{
	coder.host->code(coder.self, (const char *)context + 1);
	return NULL;
}

/* Called by the constructor of late.c: the loader is at work until this has returned. */
void ask_on_another_thread(void);
void ask_on_another_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask, dlsym(RTLD_DEFAULT, "qsort")) == 0)
		pthread_join(thread, NULL);
}

int main(void)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	function local = local_function, mangled = mangled_function,
		 library = library_function();
	const char *address[CODES_MAX] = {NULL};
	uint64_t codes[CODES_MAX];
	uint32_t count = 0;

	__builtin_memcpy(&address[0], &local, sizeof(local));
	__builtin_memcpy(&address[1], &mangled, sizeof(mangled));
	__builtin_memcpy(&address[2], &library, sizeof(library));
	address[3] = dlsym(RTLD_DEFAULT, "qsort");
	address[4] = (const char *)0x10; /* nowhere */
	address[5] = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	local();
	mangled();
	library();
	if (kymo_inject(&plugin, &coder.host, NULL) != KYMO_OK || !coder.is_recording)
		return 1;
	for (uint32_t i = 0; i < CODES_MAX; i++) {
		if (!address[i])
			continue;
		codes[count] = coder.host->code(coder.self, address[i] + (i == 0));
		record_name((uint32_t)codes[count++]);
	}
	record_stack(codes, count);
	dlopen("./late.so", RTLD_NOW); /* in one test there is one */
	return 0;
}
