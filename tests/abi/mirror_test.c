/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and constants of the ABI, and what must be true of all that mirror.h records. */
#include "mirror.h"

#include <inttypes.h>
#include <string.h>

#include <kymo/activity_type.h>
#include <kymo/client.h>
#include <kymo/control.h>
#include <kymo/doctor.h>
#include <kymo/error.h>
#include <kymo/inject.h>
#include <kymo/link.h>
#include <kymo/observer.h>
#include <kymo/plugin.h>
#include <kymo/record.h>
#include <kymo/request.h>
#include <kymo/session.h>
#include <kymo/sink.h>
#include <kymo/timeline.h>

#include "support/test.h"

struct layout {
	const char *type;
	size_t size, recorded;
	int may_grow;
};
struct constant {
	const char *name;
	int64_t value, recorded;
};

#define FROZEN(type, size)                   \
	{                                    \
#type, sizeof(type), size, 0 \
	}
#define GROWING(type, size)                  \
	{                                    \
#type, sizeof(type), size, 1 \
	}
#define CONSTANT(name, value)                 \
	{                                     \
#name, (int64_t)(name), value \
	}

static const struct layout layouts[] = {
	FROZEN(struct kymo_error, 512),
	FROZEN(struct kymo_inject_word, 600),
	FROZEN(struct kymo_str, 16),
	FROZEN(struct kymo_record, 64),
	FROZEN(struct kymo_record_counter, 64),
	FROZEN(struct kymo_record_link, 64),
	FROZEN(struct kymo_record_more, 64),
	FROZEN(struct kymo_record_values, 64),
	FROZEN(struct kymo_record_bytes, 64),
	FROZEN(struct kymo_record_lease, 64),
	FROZEN(union kymo_line, 64),
	GROWING(struct kymo_type_desc, 40),
	GROWING(struct kymo_key_desc, 32),
	GROWING(struct kymo_domain_desc, 24),
	GROWING(struct kymo_link_kind_desc, 24),
	GROWING(struct kymo_option_desc, 32),
	GROWING(struct kymo_injection_desc, 40),
	GROWING(struct kymo_probe, 608),
	GROWING(struct kymo_source_session, 48),
	FROZEN(struct kymo_clock_pair, 24),
	GROWING(struct kymo_source_numbers, 40),
	GROWING(struct kymo_source_ops, 112),
	GROWING(struct kymo_source_desc, 88),
	GROWING(struct kymo_plugin, 48),
	GROWING(struct kymo_device_desc, 80),
	GROWING(struct kymo_track_desc, 48),
	GROWING(struct kymo_clock_desc, 56),
	GROWING(struct kymo_counter_desc, 40),
	FROZEN(struct kymo_value, 16),
	GROWING(struct kymo_host, 248),
	FROZEN(struct kymo_trace_value, 56),
	FROZEN(struct kymo_value_visitor, 24),
	FROZEN(struct kymo_nested, 88),
	GROWING(struct kymo_trace_process, 120),
	GROWING(struct kymo_trace_device, 104),
	GROWING(struct kymo_trace_track, 72),
	GROWING(struct kymo_trace_type, 112),
	GROWING(struct kymo_trace_event, 144),
	GROWING(struct kymo_trace_source, 128),
	GROWING(struct kymo_trace_clock, 64),
	GROWING(struct kymo_trace_header, 104),
	GROWING(struct kymo_trace_ledger, 296),
	GROWING(struct kymo_trace_end, 56),
	GROWING(struct kymo_trace_writer, 72),
	GROWING(struct kymo_sink_result, 40),
	GROWING(struct kymo_sink_options, 24),
	GROWING(struct kymo_sink_ops, 56),
	GROWING(struct kymo_sink_desc, 40),
	GROWING(struct kymo_session_options, 64),
	GROWING(struct kymo_client_ops, 64),
	GROWING(struct kymo_summary, 104),
	GROWING(struct kymo_log_record, 32),
	GROWING(struct kymo_stage, 80),
	GROWING(struct kymo_observer_ops, 24),
	GROWING(struct kymo_request_options, 96),
	GROWING(struct kymo_request_status, 4664),
	GROWING(struct kymo_config_options, 32),
	GROWING(struct kymo_config_value, 56),
	GROWING(struct kymo_output, 536),
	GROWING(struct kymo_recorder_options, 184),
	GROWING(struct kymo_recorder_result, 15904),
	GROWING(struct kymo_activity_type_attributes, 24),
	GROWING(struct kymo_activity_type, 248),
	GROWING(struct kymo_finding, 96),
};

static const struct constant constants[] = {
	CONSTANT(KYMO_INJECT_MAGIC, 0x5441594b),
	CONSTANT(KYMO_INJECT_NO_AGENT, 6),
	CONSTANT(KYMO_OK, 0),
	CONSTANT(KYMO_ERROR_INVALID, -1),
	CONSTANT(KYMO_ERROR_NO_MEMORY, -2),
	CONSTANT(KYMO_ERROR_NOT_FOUND, -3),
	CONSTANT(KYMO_ERROR_EXISTS, -4),
	CONSTANT(KYMO_ERROR_STATE, -5),
	CONSTANT(KYMO_ERROR_UNSUPPORTED, -6),
	CONSTANT(KYMO_ERROR_VERSION, -7),
	CONSTANT(KYMO_ERROR_IO, -8),
	CONSTANT(KYMO_ERROR_PERMISSION, -9),
	CONSTANT(KYMO_ERROR_BUSY, -10),
	CONSTANT(KYMO_ERROR_CONFIG, -11),
	CONSTANT(KYMO_ERROR_PLUGIN, -12),
	CONSTANT(KYMO_ERROR_CANCELLED, -13),
	CONSTANT(KYMO_END, 1),
	CONSTANT(KYMO_AGAIN, 2),
	CONSTANT(KYMO_VALUE_NESTED, 0x108),
	CONSTANT(KYMO_VALUE_LIST, 9),
	CONSTANT(KYMO_VALUE_DICT, 10),
	CONSTANT(KYMO_NESTED_DEPTH_MAX, 16),
	CONSTANT(KYMO_LINK_OP, 0),
	CONSTANT(KYMO_LINK_USER, 1),
	CONSTANT(KYMO_LINK_DEPTH_MAX, 32),
	CONSTANT(KYMO_LINE_SIZE, 64),
	CONSTANT(KYMO_RECORD_LINES_MAX, 255),
	CONSTANT(KYMO_KIND_SPAN, 1),
	CONSTANT(KYMO_KIND_INSTANT, 2),
	CONSTANT(KYMO_KIND_COUNTER, 3),
	CONSTANT(KYMO_KIND_LINK, 4),
	CONSTANT(KYMO_KIND_LEASE, 5),
	CONSTANT(KYMO_KIND_GAP, 6),
	CONSTANT(KYMO_KIND_OPEN, 7),
	CONSTANT(KYMO_KIND_MORE, 64),
	CONSTANT(KYMO_KIND_VALUES, 65),
	CONSTANT(KYMO_KIND_BYTES, 66),
	CONSTANT(KYMO_KIND_PAD, 255),
	CONSTANT(KYMO_RECORD_ORIGIN, 1),
	CONSTANT(KYMO_RECORD_TARGET, 2),
	CONSTANT(KYMO_RECORD_UNFINISHED, 4),
	CONSTANT(KYMO_RECORD_UNTIMED, 8),
	CONSTANT(KYMO_RECORD_HOST_CLOCK, 16),
	CONSTANT(KYMO_RECORD_ERROR, 32),
	CONSTANT(KYMO_RECORD_END_BY_RULE, 64),
	CONSTANT(KYMO_RECORD_NAME_CODE, 128),
	CONSTANT(KYMO_VALUE_INT64, 1),
	CONSTANT(KYMO_VALUE_UINT64, 2),
	CONSTANT(KYMO_VALUE_DOUBLE, 3),
	CONSTANT(KYMO_VALUE_BOOL, 4),
	CONSTANT(KYMO_VALUE_STRING, 5),
	CONSTANT(KYMO_VALUE_CODE, 6),
	CONSTANT(KYMO_VALUE_TIME, 7),
	CONSTANT(KYMO_VALUE_ARRAY, 256),
	CONSTANT(KYMO_SIDE_ANY, 0),
	CONSTANT(KYMO_SIDE_HOST, 1),
	CONSTANT(KYMO_SIDE_ACCELERATOR, 2),
	CONSTANT(KYMO_SHAPE_SPAN, 1),
	CONSTANT(KYMO_SHAPE_INSTANT, 2),
	CONSTANT(KYMO_SHAPE_COUNTER, 4),
	CONSTANT(KYMO_TYPE_OPT_IN, 1),
	CONSTANT(KYMO_ACTIVITY_TYPE_KERNEL, 5),
	CONSTANT(KYMO_ACTIVITY_TYPE_RUNTIME, 7),
	CONSTANT(KYMO_ACTIVITY_TYPE_DRIVER, 8),
	CONSTANT(KYMO_ACTIVITY_TYPE_GPU_PM_COUNTER, 28),
	CONSTANT(KYMO_ACTIVITY_TYPES_DEFAULT, 0x1cfff),
	CONSTANT(KYMO_ACTIVITY_TYPE_STATIC, 0x10000),
	CONSTANT(KYMO_ACTIVITY_TYPE_DEFAULT, 0x20000),
	CONSTANT(KYMO_ACTIVITY_TYPE_ALIAS, 0x40000),
	CONSTANT(KYMO_INJECT_SET, 1),
	CONSTANT(KYMO_INJECT_PREPEND, 2),
	CONSTANT(KYMO_INJECT_APPEND, 3),
	CONSTANT(KYMO_INJECT_KEEP, 4),
	CONSTANT(KYMO_STATE_ABSENT, 0),
	CONSTANT(KYMO_STATE_READY, 1),
	CONSTANT(KYMO_STATE_PARTLY, 2),
	CONSTANT(KYMO_STATE_RECORDING, 3),
	CONSTANT(KYMO_STATE_BUSY, 4),
	CONSTANT(KYMO_STATE_DENIED, 5),
	CONSTANT(KYMO_STATE_FAILED, 6),
	CONSTANT(KYMO_SOURCE_EXPLICIT, 1),
	CONSTANT(KYMO_TRACK_THREAD, 1),
	CONSTANT(KYMO_TRACK_QUEUE, 2),
	CONSTANT(KYMO_TRACK_COUNTER, 3),
	CONSTANT(KYMO_CLOCK_COUNTER, 1),
	CONSTANT(KYMO_CLOCK_MONOTONIC, 2),
	CONSTANT(KYMO_CLOCK_REALTIME, 3),
	CONSTANT(KYMO_DOMAIN_SOURCE, 0),
	CONSTANT(KYMO_DOMAIN_PROCESS, 1),
	CONSTANT(KYMO_DOMAIN_GLOBAL, 2),
	CONSTANT(KYMO_LOST_VENDOR, 1),
	CONSTANT(KYMO_LOST_VENDOR_AT_LEAST, 2),
	CONSTANT(KYMO_LOST_UNTIMED, 3),
	CONSTANT(KYMO_LOST_LATE, 4),
	CONSTANT(KYMO_LOST_PENDING, 5),
	CONSTANT(KYMO_GATE_UNDECIDED, 0),
	CONSTANT(KYMO_GATE_OFF, 1),
	CONSTANT(KYMO_GATE_ON, 2),
	CONSTANT(KYMO_SEVERITY_DEBUG, 0),
	CONSTANT(KYMO_SEVERITY_INFO, 1),
	CONSTANT(KYMO_SEVERITY_WARNING, 2),
	CONSTANT(KYMO_SEVERITY_ERROR, 3),
	CONSTANT(KYMO_EVENT_SPAN, 1),
	CONSTANT(KYMO_EVENT_INSTANT, 2),
	CONSTANT(KYMO_EVENT_COUNTER, 3),
	CONSTANT(KYMO_EVENT_GAP, 4),
	CONSTANT(KYMO_EVENT_ARROW, 5),
	CONSTANT(KYMO_EVENT_TRACK, 6),
	CONSTANT(KYMO_EVENT_PROJECTED, 65536),
	CONSTANT(KYMO_CLIENT_INPUT_SHAPES, 1),
	CONSTANT(KYMO_CLIENT_MEMORY, 2),
	CONSTANT(KYMO_CLIENT_STACK, 4),
	CONSTANT(KYMO_CLIENT_FLOPS, 8),
	CONSTANT(KYMO_CLIENT_MODULES, 16),
	CONSTANT(KYMO_OVERFLOW_DROP, 1),
	CONSTANT(KYMO_OVERFLOW_OVERWRITE, 2),
	CONSTANT(KYMO_OVERFLOW_STREAM, 3),
	CONSTANT(KYMO_REQUEST_WAITING, 1),
	CONSTANT(KYMO_REQUEST_WARM_UP, 2),
	CONSTANT(KYMO_REQUEST_RECORDING, 3),
	CONSTANT(KYMO_REQUEST_PROCESSING, 4),
	CONSTANT(KYMO_REQUEST_DONE, 5),
	CONSTANT(KYMO_REQUEST_FAILED, 6),
	CONSTANT(KYMO_REQUEST_CANCELLED, 7),
	CONSTANT(KYMO_CONFIG_NO_FILES, 1),
	CONSTANT(KYMO_CONFIG_NO_ENVIRONMENT, 2),
	CONSTANT(KYMO_WAIT_ALL, 0),
	CONSTANT(KYMO_WAIT_PRIMARY, 1),
	CONSTANT(KYMO_ORDER_RECORD, 1),
	CONSTANT(KYMO_ORDER_REST, 2),
	CONSTANT(KYMO_STAGE_WARM_UP, 1),
	CONSTANT(KYMO_STAGE_COLLECTION, 2),
	CONSTANT(KYMO_STAGE_POST_PROCESSING, 3),
	CONSTANT(KYMO_STAGE_CANCELLATION, 4),
	CONSTANT(KYMO_FINDING_SOURCE, 1),
	CONSTANT(KYMO_FINDING_PLUGIN, 2),
	CONSTANT(KYMO_FINDING_SINK, 3),
	CONSTANT(KYMO_FINDING_MACHINE, 4),
};

static const struct mirror_member *const halves[] = {mirror_plugin, mirror_trace};

static void every_struct_has_its_recorded_size_or_has_grown(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *layout = &layouts[i];

		if (layout->size == layout->recorded ||
		    (layout->may_grow && layout->size > layout->recorded))
			continue;
		print_error("%s: %zu bytes, recorded %zu\n", layout->type, layout->size,
			    layout->recorded);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static int has_moved(const struct mirror_member *member)
{
	if (member->offset == member->recorded_offset &&
	    member->size == member->recorded_size)
		return 0;
	print_error("%s.%s: %zu bytes at %zu, recorded %zu at %zu\n", member->type,
		    member->name, member->size, member->offset, member->recorded_size,
		    member->recorded_offset);
	return 1;
}

static void every_member_is_where_it_was_and_as_wide(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (const struct mirror_member *at = halves[i]; at->type; at++)
			bad += has_moved(at);
	assert_int_equal(bad, 0);
}

/* The first row of the struct, or NULL. */
static const struct mirror_member *first_member(const char *type)
{
	for (size_t i = 0; i < 2; i++)
		for (const struct mirror_member *at = halves[i]; at->type; at++)
			if (strcmp(at->type, type) == 0)
				return at;
	return NULL;
}

static void every_growing_struct_begins_with_its_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct mirror_member *first = first_member(layouts[i].type);

		if (layouts[i].may_grow &&
		    (!first || strcmp(first->name, "struct_size") != 0))
			fail_msg("%s begins with %s", layouts[i].type,
				 first ? first->name : "nothing that is recorded");
	}
}

static void every_constant_has_its_recorded_value(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		const struct constant *constant = &constants[i];

		if (constant->value == constant->recorded)
			continue;
		print_error("%s: %" PRId64 ", recorded %" PRId64 "\n", constant->name,
			    constant->value, constant->recorded);
		bad++;
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_struct_has_its_recorded_size_or_has_grown),
		cmocka_unit_test(every_member_is_where_it_was_and_as_wide),
		cmocka_unit_test(every_growing_struct_begins_with_its_size),
		cmocka_unit_test(every_constant_has_its_recorded_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
