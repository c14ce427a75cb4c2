/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources for tests of this folder, which write down their lives: one letter for each
 * operation that they were called for. Comes after "support/test.h".
 */
#ifndef KYMO_SESSION_TEST_NPU_H
#define KYMO_SESSION_TEST_NPU_H

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "session/host.h"
#include "session/source.h"
#include "session/test_recording.h"

#define FAR_NS (ky_monotonic_ns() + 60000000000u)

/* What the source of the test does, and did. */
static struct {
	char story[256];
	struct kymo_source_host *host;
	const struct kymo_host *table;
	const struct kymo_plugin
		*brings; /* attached by create, as loading a library may */
	int32_t create_status, prepare_status, start_status, stop_status, flush_status;
	uint32_t epoch;
	uint32_t types_wanted;
	int answers_late; /* the stop, from another thread */
	int explains;     /* reports a state by itself before it fails */
	uint16_t type;    /* "dma" */
	pthread_t thread;
} npu;

static void tell(char what)
{
	size_t size = strlen(npu.story);

	assert_true(size + 1 < sizeof(npu.story));
	npu.story[size] = what;
}

static void explain(void)
{
	if (npu.explains)
		npu.table->state(npu.host, KYMO_STATE_BUSY, KYMO_STR("taken"),
				 KYMO_STR("give it back"));
}

static const struct kymo_type_desc rare = {
	.struct_size = sizeof(rare),
	.flags = KYMO_TYPE_OPT_IN,
	.name = "rare",
};
static const struct kymo_type_desc dma = {.struct_size = sizeof(dma), .name = "dma"};
static const struct kymo_type_desc *const npu_types[] = {&rare, &dma, NULL};

static int32_t npu_create(const struct kymo_host *table, struct kymo_source_host *host,
			  const struct kymo_source_numbers *numbers, void **source,
			  struct kymo_error *error)
{
	const struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 1000000,
		.ticks_den = 1,
		.name = KYMO_STR("npu clock"),
	};
	uint32_t number;

	tell('c');
	npu.table = table;
	npu.host = host;
	npu.type = numbers->types[1];
	explain();
	*source = &npu;
	if (npu.create_status != KYMO_OK) {
		snprintf(error->message, sizeof(error->message), "no device");
		return npu.create_status;
	}
	assert_int_equal(table->clock(host, &clock, &number), KYMO_OK);
	if (npu.brings)
		assert_int_equal(ky_sources_add(npu.brings, NULL), KYMO_OK);
	return KYMO_OK;
}

static int32_t npu_prepare(void *source, const struct kymo_source_session *session,
			   struct kymo_error *error)
{
	(void)error;
	assert_ptr_equal(source, &npu);
	tell('p');
	npu.epoch = session->epoch;
	npu.types_wanted = (uint32_t)session->type_count;
	return npu.prepare_status;
}

static void emit_one(void)
{
	const union kymo_line span = {.record = {.kind = KYMO_KIND_SPAN,
						 .lines = 1,
						 .type = npu.type,
						 .begin = 1,
						 .end = 2}};

	npu.table->emit(npu.host, &span, 1);
}

static int32_t npu_start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	tell('s');
	explain();
	if (npu.start_status == KYMO_OK)
		emit_one();
	return npu.start_status;
}

static void *stop_late(void *context)
{
	(void)context;
	usleep(20000);
	emit_one();
	npu.table->stopped(npu.host, npu.epoch);
	return NULL;
}

static int32_t npu_stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	assert_int_not_equal(deadline_ns, 0);
	tell('x');
	if (npu.answers_late)
		assert_int_equal(pthread_create(&npu.thread, NULL, stop_late, NULL), 0);
	return npu.stop_status;
}

static int32_t npu_flush(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	tell('f');
	emit_one();
	return npu.flush_status;
}

static int32_t npu_sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)source;
	assert_int_not_equal(clock, 0);
	*out = (struct kymo_clock_pair){.device = 5, .host_lo = 6, .host_hi = 7};
	return KYMO_OK;
}

static void npu_forked(void *source)
{
	(void)source;
	tell('F');
}

static const struct kymo_source_ops npu_ops = {
	.struct_size = sizeof(npu_ops),
	.create = npu_create,
	.prepare = npu_prepare,
	.start = npu_start,
	.stop = npu_stop,
	.flush = npu_flush,
	.sample_clock = npu_sample_clock,
	.forked = npu_forked,
};

/* The life of the second source is not of interest, only that it has one. */
static int32_t other_create(const struct kymo_host *table, struct kymo_source_host *host,
			    const struct kymo_source_numbers *numbers, void **source,
			    struct kymo_error *error)
{
	(void)table, (void)host, (void)numbers, (void)source, (void)error;
	tell('C');
	return KYMO_OK;
}

static int32_t other_start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	tell('S');
	return KYMO_OK;
}

static int32_t other_stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	tell('X');
	return KYMO_OK;
}

static const struct kymo_source_ops other_ops = {
	.struct_size = sizeof(other_ops),
	.create = other_create,
	.start = other_start,
	.stop = other_stop,
};

#define SOURCE(variable, its_name, its_flags, its_types, its_ops)            \
	static const struct kymo_source_desc variable##_source = {           \
		.struct_size = sizeof(variable##_source),                    \
		.flags = its_flags,                                          \
		.name = its_name,                                            \
		.types = its_types,                                          \
		.ops = its_ops,                                              \
	};                                                                   \
	static const struct kymo_source_desc *const variable##_sources[] = { \
		&variable##_source, NULL};                                   \
	static const struct kymo_plugin variable = {                         \
		.struct_size = sizeof(variable),                             \
		.abi_major = KYMO_PLUGIN_ABI_MAJOR,                          \
		.name = its_name,                                            \
		.version = "1",                                              \
		.license = "MIT",                                            \
		.sources = variable##_sources,                               \
	}

SOURCE(npu_plugin, "npu", 0, npu_types, &npu_ops);
SOURCE(other_plugin, "other", KYMO_SOURCE_EXPLICIT, NULL, &other_ops);
SOURCE(twin_plugin, "other", KYMO_SOURCE_EXPLICIT, NULL, &other_ops);

static inline void begin(const char *wanted)
{
	begin_recording();
	ky_sources_begin(wanted, ky_gate()->epoch, FAR_NS);
}

static inline void end(void)
{
	ky_sources_end(FAR_NS);
	end_recording();
	wait_for_threads();
}

static inline int clear_story(void **state)
{
	const struct kymo_host *table = npu.table;
	struct kymo_source_host *host = npu.host;
	uint16_t type = npu.type;

	(void)state;
	memset(&npu, 0, sizeof(npu));
	npu.table = table;
	npu.host = host;
	npu.type = type;
	return 0;
}

#endif
