/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types and sessions: when new ones may come, marks of them, which are recorded.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static uint32_t number_of(const char *plugin, const char *name)
{
	struct kymo_error error = {0};
	uint32_t id = 0;

	if (kymo_activity_type_register(plugin, name, NULL, &id, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return id;
}

static char heard[512];

static void hear(void *context, uint32_t severity, const char *message)
{
	(void)context, (void)severity;
	snprintf(heard, sizeof(heard), "%s", message);
}

/* ---- Life cycle ---- */

static void new_names_come_before_a_session_or_after_it(void **state)
{
	const uint32_t known = number_of("life", "known");
	struct kymo_error error;
	uint32_t id;

	(void)state;
	kymo_log_to(hear, NULL);
	for (int turn = 0; turn < 3; turn++) {
		struct kymo_session *session = NULL;
		char fresh[16];

		snprintf(fresh, sizeof(fresh), "fresh_%d", turn);
		heard[0] = '\0';
		assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
		assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
		assert_int_equal(
			kymo_activity_type_register("life", fresh, NULL, &id, &error),
			KYMO_ERROR_STATE);
		assert_int_equal(id, UINT32_MAX);
		assert_non_null(strstr(error.message, fresh));
		assert_string_equal(heard, error.message);
		assert_int_equal(number_of("life", "known"), known);
		assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
		assert_int_equal(
			kymo_activity_type_register("life", fresh, NULL, &id, NULL),
			KYMO_ERROR_STATE);
		assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
		number_of("life", fresh);
		kymo_session_destroy(session);
	}
	kymo_log_to(NULL, NULL);
}

static void a_session_that_is_only_prepared_ends_the_freeze_when_destroyed(void **state)
{
	struct kymo_session *session = NULL;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	number_of("life", "after_destroy");
}

static void a_forked_child_is_not_frozen_by_its_parents_session(void **state)
{
	const uint32_t known = number_of("life", "known");
	struct kymo_session *session = NULL;
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	child = fork();
	if (child == 0) {
		uint32_t id;

		_exit(kymo_activity_type_register("life", "known", NULL, &id, NULL) !=
			      KYMO_OK ||
		      id != known ||
		      kymo_activity_type_register("life", "child", NULL, &id, NULL) !=
			      KYMO_OK);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	kymo_session_destroy(session);
}

/* ---- Marks and filters ---- */

static uint16_t type_of(uint32_t id)
{
	struct kymo_error error = {0};
	uint16_t type = 0;

	if (kymo_mark_type(id, &type, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	assert_int_not_equal(type, 0);
	return type;
}

struct marks {
	uint16_t phase, poll, op;
	uint32_t phase_id;
};

static struct marks make_marks(void)
{
	const struct kymo_activity_type_attributes opt_in = {
		.struct_size = sizeof(opt_in),
		.flags = KYMO_TYPE_OPT_IN,
	};
	struct marks marks;
	uint32_t id;

	marks.phase_id = number_of("trainer", "phase");
	marks.phase = type_of(marks.phase_id);
	assert_int_equal(
		kymo_activity_type_register("trainer", "poll", &opt_in, &id, NULL),
		KYMO_OK);
	marks.poll = type_of(id);
	marks.op = type_of(0);
	assert_int_equal(type_of(marks.phase_id), marks.phase);
	return marks;
}

/* The trace of the stopped session; memory_free() is due. */
static void read_back(struct kymo_session *session, struct memory_sink *sink)
{
	const char *path = in_folder("back.kymo");
	struct kymo_error error = {0};

	memset(sink, 0, sizeof(*sink));
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK ||
	    kymo_timeline_export_to(&path, 1, &memory_ops, sink, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
}

/* One mark of each sort, in a session that wants `types`; what became of them. */
static void record_marks(const char *types, struct memory_sink *sink)
{
	const struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.types = types,
	};
	const struct marks marks = make_marks();
	const uint32_t name = kymo_mark_intern("step", 4);
	const uint16_t key = kymo_mark_key("size", KYMO_VALUE_UINT64, NULL);
	const struct kymo_value value = {.key = key, .type = KYMO_VALUE_UINT64, .u64 = 7};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	uint64_t begin;

	assert_int_equal(kymo_session_create(&session, &options, NULL), KYMO_OK);
	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	begin = kymo_mark_begin();
	kymo_mark_end(begin, name);
	kymo_mark_instant(name);
	assert_int_equal(kymo_mark_end_typed(begin, marks.phase, name, &value, 1),
			 KYMO_OK);
	assert_int_equal(kymo_mark_instant_typed(marks.phase, name, NULL, 0), KYMO_OK);
	assert_int_equal(kymo_mark_end_typed(begin, marks.poll, name, NULL, 0), KYMO_OK);
	assert_int_equal(kymo_mark_end_typed(begin, marks.op, name, NULL, 0), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	read_back(session, sink);
	kymo_session_destroy(session);
}

/* Records of the stopped session that were written and filtered. */
static void check_counts(struct kymo_session *session, uint64_t written,
			 uint64_t filtered)
{
	struct memory_sink sink;

	read_back(session, &sink);
	assert_int_equal(sink.ledger.written, written);
	assert_int_equal(sink.ledger.filtered, filtered);
	memory_free(&sink);
}

static size_t count_type(const struct memory_sink *sink, const char *type)
{
	size_t count = 0;

	for (size_t i = 0; i < sink->count; i++)
		count += strcmp(sink->events[i].type, type) == 0;
	return count;
}

static void marks_have_types_and_filters_count_what_they_leave_out(void **state)
{
	static const struct {
		const char *types;
		size_t plain, phase, poll, op;
	} cases[] = {
		{NULL, 2, 2, 0, 1},
		{"", 2, 2, 0, 1},
		{"trainer.*", 0, 2, 1, 0},
		{"phase", 0, 2, 0, 0},
		{"all", 2, 2, 1, 1},
		{"-trainer.phase", 2, 0, 0, 1},
		{"app:trainer.poll", 0, 0, 1, 0},
		{"user_annotation,app:CPU_OP", 2, 0, 0, 1},
		{"-all", 0, 0, 0, 0},
		{NULL, 2, 2, 0, 1},
	};
	const uint64_t all = 6;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t written =
			cases[i].plain + cases[i].phase + cases[i].poll + cases[i].op;
		struct memory_sink sink;

		record_marks(cases[i].types, &sink);
		assert_int_equal(count_type(&sink, "user_annotation"), cases[i].plain);
		assert_int_equal(count_type(&sink, "phase"), cases[i].phase);
		assert_int_equal(count_type(&sink, "poll"), cases[i].poll);
		assert_int_equal(count_type(&sink, "cpu_op"), cases[i].op);
		assert_int_equal(sink.ledger.written, written);
		assert_int_equal(sink.ledger.filtered, all - written);
		assert_int_equal(sink.ledger.offered, all);
		memory_free(&sink);
	}
}

static void a_number_that_nobody_has_is_an_error_and_never_another_type(void **state)
{
	static const uint32_t numbers[] = {40, 45, 50, 65535, 99999, UINT32_MAX};
	const uint32_t name = kymo_mark_intern("whose", 5);
	struct kymo_session *session = NULL;
	struct kymo_error error;
	struct memory_sink sink;
	uint16_t type;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_log_to(hear, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char number[16];

		snprintf(number, sizeof(number), " %u ", numbers[i]);
		heard[0] = '\0';
		type = 7;
		assert_int_equal(kymo_mark_type(numbers[i], &type, &error),
				 KYMO_ERROR_NOT_FOUND);
		assert_int_equal(type, 0);
		assert_non_null(strstr(error.message, number));
		assert_string_equal(heard, error.message);
		assert_int_equal(
			kymo_mark_end_typed(kymo_mark_begin(), type, name, NULL, 0),
			KYMO_ERROR_INVALID);
	}
	kymo_log_to(NULL, NULL);
	assert_int_equal(kymo_mark_type(0, NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_mark_instant_typed(0, name, NULL, 0), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_mark_instant_typed(UINT16_MAX, name, NULL, 0),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	read_back(session, &sink);
	assert_int_equal(sink.count, 0);
	assert_int_equal(sink.ledger.invalid, sizeof(numbers) / sizeof(numbers[0]) + 2);
	memory_free(&sink);
	kymo_session_destroy(session);
}

#define MANY 3000

static void thousands_of_types_are_each_their_own(void **state)
{
	const uint32_t mark = kymo_mark_intern("many", 4);
	struct kymo_session *session = NULL;
	struct memory_sink sink;
	char name[24];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "type_%d", i);
		number_of("many", name);
	}
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "type_%d", i);
		assert_int_equal(kymo_mark_end_typed(kymo_mark_begin(),
						     type_of(number_of("many", name)),
						     mark, NULL, 0),
				 KYMO_OK);
	}
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	read_back(session, &sink);
	assert_int_equal(sink.count, MANY);
	for (int i = 0; i < MANY; i += 7) {
		snprintf(name, sizeof(name), "type_%d", i);
		assert_int_equal(count_type(&sink, name), 1);
	}
	memory_free(&sink);
	kymo_session_destroy(session);
}

static void a_bad_list_is_refused_before_anything_starts(void **state)
{
	static const char *const lists[] = {"kernle", "nobody:kernel", "a b", "npx.*"};

	(void)state;
	number_of("npu", "dma");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct kymo_session_options options = {
			.struct_size = sizeof(options),
			.types = lists[i],
		};
		struct kymo_session *session = NULL;
		struct kymo_error error;

		assert_int_equal(kymo_session_create(&session, &options, NULL), KYMO_OK);
		assert_int_equal(kymo_session_prepare(session, &error),
				 KYMO_ERROR_CONFIG);
		assert_string_not_equal(error.message, "");
		assert_int_equal(kymo_mark_begin(), 0);
		kymo_session_destroy(session);
	}
}

static void the_configuration_says_what_is_wanted_where_the_options_do_not(void **state)
{
	struct kymo_config_options text = {
		.struct_size = sizeof(text),
		.text = KYMO_STR("ACTIVITY_TYPES = cpu_op, Kernel\n"),
	};
	struct kymo_session_options options = {.struct_size = sizeof(options)};
	struct kymo_session *session = NULL;
	struct kymo_config *config = NULL;
	struct kymo_error error = {0};

	(void)state;
	if (kymo_config_create(&config, &text, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	options.config = config;
	assert_int_equal(kymo_session_create(&session, &options, NULL), KYMO_OK);
	kymo_config_destroy(config);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_mark_instant(kymo_mark_intern("plain", 5));
	assert_int_equal(
		kymo_mark_instant_typed(type_of(0), kymo_mark_intern("op", 2), NULL, 0),
		KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	check_counts(session, 1, 1);
	kymo_session_destroy(session);

	text.text = KYMO_STR("ACTIVITY_TYPES = cpu op\n");
	assert_int_equal(kymo_config_create(&config, &text, &error), KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "\"cpu op\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_names_come_before_a_session_or_after_it),
		cmocka_unit_test(
			a_session_that_is_only_prepared_ends_the_freeze_when_destroyed),
		cmocka_unit_test(a_forked_child_is_not_frozen_by_its_parents_session),
		cmocka_unit_test(marks_have_types_and_filters_count_what_they_leave_out),
		cmocka_unit_test(
			a_number_that_nobody_has_is_an_error_and_never_another_type),
		cmocka_unit_test(thousands_of_types_are_each_their_own),
		cmocka_unit_test(a_bad_list_is_refused_before_anything_starts),
		cmocka_unit_test(
			the_configuration_says_what_is_wanted_where_the_options_do_not),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
