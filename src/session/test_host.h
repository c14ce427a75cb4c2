/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the host table: a source's host, made anew for each test, with a recording
 * and no life cycle around it. Comes after "support/test.h".
 */
#ifndef KYMO_SESSION_TEST_HOST_H
#define KYMO_SESSION_TEST_HOST_H

#include "session/host.h"
#include "session/source.h"
#include "session/test_recording.h"

static struct kymo_source_desc desc = {
	.struct_size = sizeof(desc),
	.name = "npu",
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.name = "npu",
	.version = "1.0",
};

static const struct kymo_host *table;
static struct kymo_source_host *host;

static inline uint16_t register_type(const char *name, uint32_t flags)
{
	const struct kymo_type_desc type = {
		.struct_size = sizeof(type),
		.flags = flags,
		.name = name,
	};
	uint16_t handle = 0;

	assert_int_equal(table->type(host, &type, &handle), KYMO_OK);
	assert_int_not_equal(handle, 0);
	return handle;
}

static inline union kymo_line span_of(uint16_t type)
{
	return (union kymo_line){
		.record = {.kind = KYMO_KIND_SPAN,
			   .lines = 1,
			   .type = type,
			   .begin = 1,
			   .end = 2},
	};
}

static inline int make_host(void **state)
{
	(void)state;
	begin_recording();
	table = ky_host_table();
	host = ky_host_create(&plugin, &desc, 1);
	return host ? 0 : -1;
}

static inline int end_host(void **state)
{
	(void)state;
	end_recording();
	return 0;
}

#define TEST_OF_HOST(name) cmocka_unit_test_setup_teardown(name, make_host, end_host)

#endif
