/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUPTI for tests of decoding: buffers are made record by record and walked by the
 * sizes that were put in. Include "support/test.h" first.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_TEST_RECORD_H
#define KYMO_PLUGINS_SOURCE_CUDA_TEST_RECORD_H

#include "decode.h"
#include "place.h"
#include "test_host.h"

/* A buffer in the making, and what CUPTI knows of it. */
static struct {
	uint8_t data[1 << 20];
	size_t size;
	size_t sizes[4096];
	uint32_t count;
} made;

static void add(size_t size, const void *record, size_t known)
{
	assert_true(made.count < 4096 && made.size + size <= sizeof(made.data));
	memset(made.data + made.size, 0, size);
	memcpy(made.data + made.size, record, known < size ? known : size);
	made.sizes[made.count++] = size;
	made.size += size;
}

#define ADD(size, record) add(size, &(record), sizeof(record))

/* Walks by the sizes that were put in, as CUPTI does by those that it knows. */
static int32_t next_record(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	size_t at = 0;

	for (uint32_t i = 0; i < made.count; at += made.sizes[i], i++) {
		if (*record && (uint8_t *)*record >= buffer + at)
			continue;
		if (at + made.sizes[i] > size)
			return CUPTI_RC_INVALID_KIND;
		*record = (struct cupti_record *)(void *)(buffer + at);
		return CUPTI_RC_SUCCESS;
	}
	return CUPTI_RC_MAX_LIMIT_REACHED;
}

static int32_t name_call(uint32_t domain, uint32_t cbid, const char **name)
{
	static const char *const runtime[] = {NULL, "cudaLaunchKernel_v7000",
					      "cudaEventRecord_v3020",
					      "cudaMalloc_v3020"};
	static const char *const driver[] = {NULL, "cuLaunchKernel", "cuMemAlloc_v2",
					     "cuLaunchHostFunc"};

	*name = cbid < 4 ? (domain == CUPTI_DOMAIN_RUNTIME ? runtime : driver)[cbid]
			 : NULL;
	return *name ? CUPTI_RC_SUCCESS : CUPTI_RC_INVALID_PARAMETER;
}

static void begin(uint32_t version)
{
	made.size = 0;
	made.count = 0;
	test_host.line_count = 0;
	ky_decode_begin(version, 1);
}

/* From memory of exactly that size, so that tools see what is read beyond it. */
static struct ky_decoded decode_some(size_t size)
{
	uint8_t *buffer = malloc(size);
	struct ky_decoded result;

	memcpy(buffer, made.data, size);
	result = ky_decode_buffer(buffer, size, 100, 1000000);
	free(buffer);
	return result;
}

/* Decodes what was made, in a session of this version that ends then. */
static inline struct ky_decoded decode(void)
{
	const struct ky_decoded result = decode_some(made.size);

	ky_decode_end();
	return result;
}

static inline const struct kymo_record *line(uint32_t index)
{
	assert_true(index < test_host.line_count);
	return &test_host.lines[index].record;
}

static inline struct cupti_kernel kernel_of(const char *name, uint32_t correlation)
{
	return (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registers_per_thread = 32,
		.start = 200,
		.end = 300,
		.context_id = 1,
		.stream_id = 7,
		.grid_x = 4,
		.grid_y = 2,
		.grid_z = 1,
		.block_x = 64,
		.block_y = 1,
		.block_z = 1,
		.static_shared = 100,
		.dynamic_shared = 28,
		.correlation_id = correlation,
		.name = name,
	};
}

static inline void add_kernel(const char *name, uint32_t correlation)
{
	const struct cupti_kernel kernel = kernel_of(name, correlation);

	ADD(216, kernel);
}

static int set_up(void **state)
{
	(void)state;
	test_host_begin();
	ky_source.library.ActivityGetNextRecord = next_record;
	ky_source.library.GetCallbackName = name_call;
	ky_kernel_forget();
	ky_copy_forget();
	ky_place_forget();
	return 0;
}

#endif
