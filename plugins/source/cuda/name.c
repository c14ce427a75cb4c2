/* SPDX-License-Identifier: BSD-3-Clause */
#include "name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"

#define KERNEL_SLOTS  4096u /* a power of 2 */
#define CALL_COUNT    2048u /* functions of a domain whose names are kept */
#define COPY_KINDS    11u
#define MEMORY_KINDS  8u
#define NAME_MAX_SIZE 65536u /* of a mangled name; what is longer is cut */

typedef char *(*demangle_fn)(const char *mangled, char *buffer, size_t *size,
			     int *status);

static demangle_fn demangle; /* NULL: the process has no C++ library */

/* By pointer; checked against its text once per buffer. */
static struct {
	const char *text;
	uint64_t hash;
	uint32_t number, buffer;
} kernels[KERNEL_SLOTS];

static struct ky_call calls[2][CALL_COUNT];
static uint32_t copies[COPY_KINDS][MEMORY_KINDS][MEMORY_KINDS];
static uint32_t fills[MEMORY_KINDS];

uint32_t ky_name_text(const char *text)
{
	return ky_source.host->string(ky_source.self, kymo_text(text));
}

uint32_t ky_name_once(uint32_t *number, const char *text)
{
	if (KYMO_UNLIKELY(*number == 0))
		*number = ky_name_text(text);
	return *number;
}

/* ---- Kernels ---- */

static uint64_t hash_text(const char *text, size_t *size)
{
	uint64_t hash = 0xcbf29ce484222325u;
	size_t at = 0;

	for (; at < NAME_MAX_SIZE && text[at]; at++)
		hash = (hash ^ (unsigned char)text[at]) * 0x100000001b3u;
	*size = at;
	return hash;
}

static uint32_t intern_kernel(const char *name, size_t size)
{
	const int is_mangled = name[0] == '_' && name[1] == 'Z' && size < NAME_MAX_SIZE;
	const struct kymo_str plain = {name, size};
	int status = -1;
	char *text = demangle && is_mangled ? demangle(name, NULL, NULL, &status) : NULL;
	uint32_t number = ky_source.host->string(
		ky_source.self, text && status == 0 ? kymo_text(text) : plain);

	free(text);
	return number;
}

uint32_t ky_name_kernel(const char *name, uint32_t buffer)
{
	const uint32_t slot =
		(uint32_t)(ky_cache_mix(0, (uintptr_t)name) >> 16) & (KERNEL_SLOTS - 1);
	uint64_t hash;
	size_t size;

	if (KYMO_UNLIKELY(!name || !name[0]))
		return ky_name_text("unnamed kernel");
	if (kernels[slot].text == name && kernels[slot].buffer == buffer)
		return kernels[slot].number;
	hash = hash_text(name, &size);
	if (kernels[slot].text != name || kernels[slot].hash != hash) {
		kernels[slot].text = name;
		kernels[slot].hash = hash;
		kernels[slot].number = intern_kernel(name, size);
	}
	kernels[slot].buffer = buffer;
	return kernels[slot].number;
}

/* ---- Calls ---- */

/* cudaLaunchKernel_v7000 is cudaLaunchKernel; cuMemAlloc_v2 is another function. */
static size_t size_without_version(const char *name)
{
	const size_t size = kymo_text(name).size;
	size_t at = size;

	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return size - at >= 4 && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_'
		       ? at - 2
		       : size;
}

/* Others may start work as well, but these are waited for when there is none. */
static int is_launch(const char *name)
{
	static const char *const beginnings[] = {"Launch", "GraphLaunch", "Memcpy",
						 "Memset"};

	name += strncmp(name, "cuda", 4) == 0 ? 4 : 2;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return !strstr(name, "HostFunc");
	return 0;
}

static struct ky_call intern_call(uint32_t domain, uint32_t cbid)
{
	struct ky_call call = {0};
	const char *name = NULL;
	char text[64];

	if (ky_source.library.GetCallbackName(domain, cbid, &name) == CUPTI_RC_SUCCESS &&
	    name && name[0] && name[1]) {
		const struct kymo_str plain = {name, size_without_version(name)};

		call.name = ky_source.host->string(ky_source.self, plain);
		call.is_launch = (uint32_t)is_launch(name);
		return call;
	}
	snprintf(text, sizeof(text), "%s call %u",
		 domain == CUPTI_DOMAIN_RUNTIME ? "runtime" : "driver", cbid);
	call.name = ky_name_text(text);
	return call;
}

struct ky_call ky_name_call(uint32_t domain, uint32_t cbid)
{
	struct ky_call *call;

	if (KYMO_UNLIKELY(cbid >= CALL_COUNT))
		return intern_call(domain, cbid);
	call = &calls[domain == CUPTI_DOMAIN_RUNTIME][cbid];
	if (KYMO_UNLIKELY(call->name == 0))
		*call = intern_call(domain, cbid);
	return *call;
}

/* ---- Copies and fills ---- */

static const char *memory_text(uint32_t kind)
{
	static const char *const texts[MEMORY_KINDS] = {
		"Unknown", "Pageable", "Pinned",        "Device",
		"Array",   "Managed",  "Device Static", "Managed Static",
	};

	return texts[kind < MEMORY_KINDS ? kind : 0];
}

uint32_t ky_name_copy(uint32_t copy_kind, uint32_t source_kind, uint32_t target_kind)
{
	static const char *const kinds[COPY_KINDS] = {
		"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
		"AtoD",    "DtoA", "DtoD", "HtoH", "PtoP",
	};
	char text[96];
	uint32_t *number;

	copy_kind = copy_kind < COPY_KINDS ? copy_kind : 0;
	source_kind = source_kind < MEMORY_KINDS ? source_kind : 0;
	target_kind = target_kind < MEMORY_KINDS ? target_kind : 0;
	number = &copies[copy_kind][source_kind][target_kind];
	if (KYMO_UNLIKELY(*number == 0)) {
		snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", kinds[copy_kind],
			 memory_text(source_kind), memory_text(target_kind));
		*number = ky_name_text(text);
	}
	return *number;
}

uint32_t ky_name_fill(uint32_t memory_kind)
{
	char text[48];

	memory_kind = memory_kind < MEMORY_KINDS ? memory_kind : 0;
	if (KYMO_UNLIKELY(fills[memory_kind] == 0)) {
		snprintf(text, sizeof(text), "Memset (%s)", memory_text(memory_kind));
		fills[memory_kind] = ky_name_text(text);
	}
	return fills[memory_kind];
}

/* ---- The rest ---- */

uint32_t ky_name_sync(uint32_t type)
{
	static const char *const texts[] = {"Unknown Sync", "Event Sync",
					    "Stream Wait Event", "Stream Sync",
					    "Context Sync"};
	static uint32_t numbers[sizeof(texts) / sizeof(texts[0])];

	type = type < sizeof(texts) / sizeof(texts[0]) ? type : 0;
	return ky_name_once(&numbers[type], texts[type]);
}

/* CUPTI counts the driver's by one, its own from the 17th bit on. */
uint32_t ky_name_overhead(uint32_t kind)
{
	static const char *const texts[] = {
		"Unknown",
		"Buffer Flush",
		"Instrumentation",
		"Resource",
		"Runtime Triggered Module Loading",
		"Lazy Function Loading",
		"Command Buffer Full",
		"Activity Buffer Request",
		"Unified Memory Activity Init",
	};
	static uint32_t numbers[sizeof(texts) / sizeof(texts[0])], compiler;
	const uint32_t own = kind >> 16;

	if (kind == CUPTI_OVERHEAD_DRIVER_COMPILER)
		return ky_name_once(&compiler, "Driver Compiler");
	kind = own < sizeof(texts) / sizeof(texts[0]) ? own : 0;
	return ky_name_once(&numbers[kind], texts[kind]);
}

uint32_t ky_name_unified(uint32_t kind)
{
	static const char *const texts[] = {
		"Unified Memory Unknown",        "Unified Memory Memcpy HtoD",
		"Unified Memory Memcpy DtoH",    "Unified Memory CPU Page Fault",
		"Unified Memory GPU Page Fault", "Unified Memory Thrashing",
		"Unified Memory Throttling",     "Unified Memory Remote Map",
		"Unified Memory Memcpy DtoD",
	};
	static uint32_t numbers[sizeof(texts) / sizeof(texts[0])];

	kind = kind < sizeof(texts) / sizeof(texts[0]) ? kind : 0;
	return ky_name_once(&numbers[kind], texts[kind]);
}

/* The demangler is looked for here, since nobody's lock is held. */
void ky_name_begin(void)
{
	static void *library; /* never closed: its function goes on to be called */
	void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");

	if (!symbol && !library)
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (!symbol && library)
		symbol = dlsym(library, "__cxa_demangle");
	memcpy(&demangle, &symbol, sizeof(symbol));
}

void ky_name_forget(void)
{
	memset(kernels, 0, sizeof(kernels));
}
