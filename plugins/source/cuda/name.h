/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as numbers of the host's dictionary. Under the decoder's lock. */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_NAME_H
#define KYMO_PLUGINS_SOURCE_CUDA_NAME_H

#include "source.h"

/*
 * Of a kernel, demangled where the process has a C++ library. The pointer is CUPTI's own,
 * shared by all records of the kernel; it may come again for another one after its module
 * was unloaded. So it is believed within one buffer only: `buffer` numbers these.
 */
uint32_t ky_name_kernel(const char *name, uint32_t buffer);

/* A runtime or driver function. */
struct ky_call {
	uint32_t name;
	uint32_t is_launch; /* work of the device comes of it */
};

/* By CUPTI's domain and its number there. */
struct ky_call ky_name_call(uint32_t domain, uint32_t cbid);

/* "Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "Stream Sync", ... */
uint32_t ky_name_copy(uint32_t copy_kind, uint32_t source_kind, uint32_t target_kind);
uint32_t ky_name_fill(uint32_t memory_kind);
uint32_t ky_name_sync(uint32_t type);
uint32_t ky_name_overhead(uint32_t kind);
uint32_t ky_name_unified(uint32_t kind);

uint32_t ky_name_text(const char *text);
/* The same, asked of the host once: numbers hold for ever. `*number` is 0 before. */
uint32_t ky_name_once(uint32_t *number, const char *text);

/* Before a session, and not from a callback of CUPTI's: it takes the loader's lock. */
void ky_name_begin(void);
/* Numbers hold for ever, what CUPTI's pointers mean does not. */
void ky_name_forget(void);

#endif
