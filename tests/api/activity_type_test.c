/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types as an application sees them: numbers that agree everywhere, names, the
 * times when new ones may come, and marks of them.
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

/* Computed by type_numbers.py, which knows the rules and nothing of the library. */
static const struct {
	const char *plugin, *name;
	uint32_t number, kineto_id;
} vectors[] = {
#include "type_vectors.inc"
};

#define VECTOR_COUNT (sizeof(vectors) / sizeof(vectors[0]))

static uint32_t number_of(const char *plugin, const char *name)
{
	struct kymo_error error = {0};
	uint32_t id = 0;

	if (kymo_activity_type_register(plugin, name, NULL, &id, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return id;
}

static char heard[512];
static uint32_t heard_count;

static void hear(void *context, uint32_t severity, const char *message)
{
	(void)context, (void)severity;
	snprintf(heard, sizeof(heard), "%s", message);
	heard_count++;
}

/* ---- Numbers ---- */

static void numbers_are_those_that_the_rules_give(void **state)
{
	(void)state;
	for (size_t i = 0; i < VECTOR_COUNT; i++) {
		uint32_t id = number_of(vectors[i].plugin, vectors[i].name);
		char full[160], name[160];

		assert_int_equal(id, vectors[i].number);
		assert_int_equal(kymo_activity_type_kineto_id(id), vectors[i].kineto_id);
		snprintf(full, sizeof(full), "%s.%s", vectors[i].plugin, vectors[i].name);
		assert_int_equal(kymo_activity_type_name(id, name, sizeof(name)),
				 KYMO_OK);
		assert_string_equal(name, full);
	}
}

/* Another process, another order: this program again, with an argument. */
static int print_numbers_backwards(void)
{
	for (size_t i = VECTOR_COUNT; i-- > 0;) {
		uint32_t id;

		if (kymo_activity_type_register(vectors[i].plugin, vectors[i].name, NULL,
						&id, NULL) != KYMO_OK)
			return 1;
		printf("%u\n", id);
	}
	return 0;
}

static void another_process_and_order_give_the_same_numbers(void **state)
{
	FILE *other = popen("exec /proc/$PPID/exe backwards", "r");

	(void)state;
	assert_non_null(other);
	for (size_t i = VECTOR_COUNT; i-- > 0;) {
		uint32_t id;

		assert_int_equal(fscanf(other, "%u", &id), 1);
		assert_int_equal(id, number_of(vectors[i].plugin, vectors[i].name));
	}
	assert_int_equal(pclose(other), 0);
}

static void an_8_bit_number_that_several_have_is_told(void **state)
{
	char plugin[2][41] = {{0}}, name[33] = {0};
	struct kymo_error error;
	uint32_t first, second, id;

	(void)state;
	memset(plugin[0], 'a', 40);
	memset(plugin[1], 'b', 40);
	memset(name, 'z', 32);
	first = number_of(plugin[0], name);
	second = number_of(plugin[1], name);
	assert_int_not_equal(first, second);
	assert_int_equal(kymo_activity_type_kineto_id(first),
			 kymo_activity_type_kineto_id(second));
	assert_int_equal(kymo_activity_type_from_kineto_id(
				 kymo_activity_type_kineto_id(first), &id, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(id, UINT32_MAX);
	assert_non_null(strstr(error.message, plugin[0]));
	assert_non_null(strstr(error.message, plugin[1]));

	first = number_of("npu", "dma");
	assert_int_equal(kymo_activity_type_from_kineto_id(120, &id, NULL), KYMO_OK);
	assert_int_equal(id, first);
	assert_int_equal(kymo_activity_type_from_kineto_id(7, &id, NULL), KYMO_OK);
	assert_int_equal(id, 7);
	assert_int_equal(kymo_activity_type_from_kineto_id(255, &id, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_activity_type_from_kineto_id(40, &id, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_activity_type_kineto_id(40), UINT32_MAX);
	assert_int_equal(kymo_activity_type_kineto_id(12), 12);
}

/* ---- Names ---- */

static void names_are_looked_up_both_ways(void **state)
{
	uint32_t own = number_of("npu", "KERNEL"), id;
	struct kymo_error error;
	char name[130];

	(void)state;
	assert_int_equal(kymo_activity_type_lookup("kernel", &id, NULL), KYMO_OK);
	assert_int_equal(id, KYMO_ACTIVITY_TYPE_KERNEL);
	assert_int_equal(kymo_activity_type_lookup("KERNEL", &id, NULL), KYMO_OK);
	assert_int_equal(id, own);
	assert_int_equal(kymo_activity_type_lookup("kernle", &id, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(id, UINT32_MAX);
	assert_non_null(strstr(error.message, "Invalid activity type: 'kernle' (did you "
					      "mean \"kernel\"?)"));
	assert_int_equal(kymo_activity_type_name(12, name, sizeof(name)), KYMO_OK);
	assert_string_equal(name, "runtime");
	assert_int_equal(kymo_activity_type_canonical(12), KYMO_ACTIVITY_TYPE_RUNTIME);
	assert_int_equal(kymo_activity_type_name(70001, name, sizeof(name)),
			 KYMO_ERROR_NOT_FOUND);
	assert_string_equal(name, "");
	assert_int_equal(kymo_activity_type_name(5, name, 6), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_name(5, NULL, 0), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_lookup(NULL, &id, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_lookup("x", NULL, NULL), KYMO_ERROR_INVALID);
}

static void an_alias_is_warned_of_once_a_session(void **state)
{
	struct kymo_session *session = NULL;
	uint32_t id;

	(void)state;
	heard_count = 0;
	kymo_log_to(hear, NULL);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(kymo_activity_type_lookup("HPU_OP", &id, NULL), KYMO_OK);
		assert_int_equal(id, KYMO_ACTIVITY_TYPE_RUNTIME);
	}
	assert_int_equal(heard_count, 1);
	assert_non_null(strstr(heard, "\"hpu_op\" is deprecated: use \"runtime\""));
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_int_equal(kymo_activity_type_lookup("hpu_op", &id, NULL), KYMO_OK);
	assert_int_equal(heard_count, 2);
	kymo_session_destroy(session);
	kymo_log_to(NULL, NULL);
}

/* ---- Attributes and entries ---- */

static void contradictions_are_refused_and_shown(void **state)
{
	struct kymo_activity_type_attributes attributes = {
		.struct_size = sizeof(attributes),
		.side = KYMO_SIDE_ACCELERATOR,
	};
	struct kymo_error error;
	uint32_t id, again;

	(void)state;
	assert_int_equal(
		kymo_activity_type_register("npu", "copy", &attributes, &id, NULL),
		KYMO_OK);
	assert_int_equal(number_of("npu", "copy"), id);
	attributes.side = KYMO_SIDE_HOST;
	assert_int_equal(
		kymo_activity_type_register("npu", "copy", &attributes, &again, &error),
		KYMO_ERROR_INVALID);
	assert_int_equal(again, UINT32_MAX);
	assert_non_null(strstr(error.message, "\"npu.copy\""));
	assert_non_null(strstr(error.message, "accelerator"));
	assert_non_null(strstr(error.message, "host"));
	attributes.struct_size = 2;
	assert_int_equal(
		kymo_activity_type_register("npu", "copy", &attributes, &again, NULL),
		KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_register(NULL, "x", NULL, &id, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_register("x", NULL, NULL, &id, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_register("x", "y", NULL, NULL, NULL),
			 KYMO_ERROR_INVALID);
}

static void entries_are_copies_and_keep_their_places(void **state)
{
	struct kymo_activity_type_attributes attributes = {
		.struct_size = sizeof(attributes),
		.shapes = KYMO_SHAPE_COUNTER,
		.side = KYMO_SIDE_ACCELERATOR,
		.flags = KYMO_TYPE_OPT_IN,
		.category = "load",
	};
	struct kymo_activity_type entry = {.struct_size = sizeof(entry)}, later = entry;
	struct kymo_activity_type older = {
		.struct_size = offsetof(struct kymo_activity_type, kineto_id)};
	size_t count, at;
	uint32_t id;

	(void)state;
	at = kymo_activity_type_count();
	assert_int_equal(
		kymo_activity_type_register("entries", "one", &attributes, &id, NULL),
		KYMO_OK);
	count = kymo_activity_type_count();
	assert_int_equal(count, at + 1);
	assert_int_equal(kymo_activity_type_at(at, &entry), KYMO_OK);
	number_of("entries", "two");
	assert_int_equal(kymo_activity_type_at(at, &later), KYMO_OK);
	assert_memory_equal(&entry, &later, sizeof(entry));
	assert_int_equal(entry.id, id);
	assert_string_equal(entry.plugin, "entries");
	assert_string_equal(entry.name, "one");
	assert_string_equal(entry.category, "load");
	assert_int_equal(entry.flags, KYMO_TYPE_OPT_IN);
	assert_int_equal(entry.shapes, KYMO_SHAPE_COUNTER);
	assert_int_equal(entry.side, KYMO_SIDE_ACCELERATOR);
	assert_int_equal(kymo_activity_type_at(count + 1, &entry), KYMO_END);

	assert_int_equal(kymo_activity_type_at(17, &entry), KYMO_OK);
	assert_int_equal(entry.canonical, KYMO_ACTIVITY_TYPE_GPU_PM_COUNTER);
	assert_int_equal(entry.flags,
			 KYMO_ACTIVITY_TYPE_STATIC | KYMO_ACTIVITY_TYPE_ALIAS);
	assert_int_equal(kymo_activity_type_at(9, &older), KYMO_OK);
	assert_int_equal(older.id, 9);
	assert_int_equal(older.kineto_id, 0);
	older.struct_size = 0;
	assert_int_equal(kymo_activity_type_at(9, &older), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_activity_type_at(9, NULL), KYMO_ERROR_INVALID);
	assert_null(kymo_activity_type_alias(99, &id));
	assert_string_equal(kymo_activity_type_alias(0, NULL), "cuda_runtime");
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
	marks.phase = kymo_mark_type(marks.phase_id);
	assert_int_equal(
		kymo_activity_type_register("trainer", "poll", &opt_in, &id, NULL),
		KYMO_OK);
	marks.poll = kymo_mark_type(id);
	marks.op = kymo_mark_type(0);
	assert_int_not_equal(marks.phase, 0);
	assert_int_not_equal(marks.poll, 0);
	assert_int_not_equal(marks.op, 0);
	assert_int_equal(kymo_mark_type(marks.phase_id), marks.phase);
	assert_int_equal(kymo_mark_type(70001), 0);
	return marks;
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
	const char *path = in_folder("types.kymo");
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
	memset(sink, 0, sizeof(*sink));
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK ||
	    kymo_timeline_export_to(&path, 1, &memory_ops, sink, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
	kymo_session_destroy(session);
}

/* Records of the stopped session that were written and filtered. */
static void check_counts(struct kymo_session *session, uint64_t written,
			 uint64_t filtered)
{
	const char *path = in_folder("counts.kymo");
	struct memory_sink sink = {.count = 0};
	struct kymo_error error = {0};

	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK ||
	    kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, &error) !=
		    KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
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
	assert_int_equal(kymo_mark_instant_typed(kymo_mark_type(0),
						 kymo_mark_intern("op", 2), NULL, 0),
			 KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	check_counts(session, 1, 1);
	kymo_session_destroy(session);

	text.text = KYMO_STR("ACTIVITY_TYPES = cpu op\n");
	assert_int_equal(kymo_config_create(&config, &text, &error), KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "\"cpu op\""));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_that_the_rules_give),
		cmocka_unit_test(another_process_and_order_give_the_same_numbers),
		cmocka_unit_test(an_8_bit_number_that_several_have_is_told),
		cmocka_unit_test(names_are_looked_up_both_ways),
		cmocka_unit_test(an_alias_is_warned_of_once_a_session),
		cmocka_unit_test(contradictions_are_refused_and_shown),
		cmocka_unit_test(entries_are_copies_and_keep_their_places),
		cmocka_unit_test(new_names_come_before_a_session_or_after_it),
		cmocka_unit_test(
			a_session_that_is_only_prepared_ends_the_freeze_when_destroyed),
		cmocka_unit_test(a_forked_child_is_not_frozen_by_its_parents_session),
		cmocka_unit_test(marks_have_types_and_filters_count_what_they_leave_out),
		cmocka_unit_test(a_bad_list_is_refused_before_anything_starts),
		cmocka_unit_test(
			the_configuration_says_what_is_wanted_where_the_options_do_not),
	};

	if (argc > 1 && strcmp(argv[1], "backwards") == 0)
		return print_numbers_backwards();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
