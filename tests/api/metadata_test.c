/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed metadata from the outside: keys, nested values, what is said of a session. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "support/test.h"

#define THREADS 4

static struct kymo_session *session;

static void create(void)
{
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
}

static void start(void)
{
	struct kymo_error error = {0};

	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
}

/* Ends the session; its trace as text, to be freed. */
static char *end(void)
{
	const char *path = in_folder("metadata.json");
	struct kymo_error error = {0};
	char *text = calloc(1, 1 << 20);
	FILE *file;

	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	kymo_session_destroy(session);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(text);
	fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	unlink(path);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not found: %s\nin: %s", part, text);
}

static uint16_t key_of(const char *name, uint32_t type)
{
	const struct kymo_key_desc desc = {
		.struct_size = sizeof(desc), .value_type = type, .name = name};
	struct kymo_error error = {0};
	uint16_t key;

	if (kymo_key_register(&desc, &key, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	assert_int_not_equal(key, 0);
	return key;
}

/* ---- Keys ---- */

static void keys_are_refused_with_the_reason(void **state)
{
	static const struct {
		struct kymo_key_desc desc;
		int32_t status;
		const char *message;
	} rows[] = {
		{{.value_type = 1}, KYMO_ERROR_INVALID, "needs a name"},
		{{.value_type = 1, .name = ""}, KYMO_ERROR_INVALID, "needs a name"},
		{{.value_type = 0, .name = "none"},
		 KYMO_ERROR_INVALID,
		 "the key \"none\" has the type 0, which is none"},
		{{.value_type = KYMO_VALUE_LIST, .name = "list"},
		 KYMO_ERROR_INVALID,
		 "has the type 0x9, which is none"},
		{{.value_type = KYMO_VALUE_STRING, .name = "Input Dims"},
		 KYMO_ERROR_INVALID,
		 "the key \"Input Dims\" is one that readers of traces know: its values "
		 "have to be nested, not string"},
		{{.value_type = KYMO_VALUE_INT64, .name = "first"},
		 KYMO_ERROR_EXISTS,
		 "the key \"first\" is registered for values of double, not int64"},
		{{.value_type = KYMO_VALUE_DOUBLE, .name = "first", .unit = "ns"},
		 KYMO_ERROR_EXISTS,
		 "the key \"first\" is registered with another unit than \"ns\""},
	};
	uint16_t key = key_of("first", KYMO_VALUE_DOUBLE);

	(void)state;
	assert_int_equal(key_of("first", KYMO_VALUE_DOUBLE), key);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_key_desc desc = rows[i].desc;
		struct kymo_error error = {0};

		desc.struct_size = sizeof(desc);
		key = 77;
		assert_int_equal(kymo_key_register(&desc, &key, &error), rows[i].status);
		assert_int_equal(key, 0);
		assert_has(error.message, rows[i].message);
		assert_int_equal(kymo_mark_key(desc.name, desc.value_type, desc.unit), 0);
	}
	assert_int_equal(kymo_key_register(NULL, &key, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_key_register(&rows[2].desc, NULL, NULL),
			 KYMO_ERROR_INVALID);
}

static void known_keys_can_be_listed(void **state)
{
	const struct kymo_key_desc *key = kymo_key_known("Input Dims");

	(void)state;
	assert_non_null(key);
	assert_int_equal(key->value_type, KYMO_VALUE_NESTED);
	assert_ptr_equal(kymo_key_known_at(0), key);
	assert_string_equal(key->help, "operation");
	assert_int_equal(kymo_mark_key(key->name, key->value_type, key->unit),
			 key_of(key->name, key->value_type));
}

/* ---- Values ---- */

static struct kymo_value shapes_of(uint64_t *words, uint32_t size)
{
	static const int64_t first[] = {2, 3}, second[] = {4};
	struct kymo_nested shapes;

	kymo_nested_begin(&shapes, words, size, KYMO_VALUE_LIST);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, first, 2);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, second, 1);
	return kymo_nested_value(&shapes, key_of("Input Dims", KYMO_VALUE_NESTED));
}

static struct kymo_value occupancy_of(uint64_t *words, uint32_t size)
{
	struct kymo_nested dict;

	kymo_nested_begin(&dict, words, size, KYMO_VALUE_DICT);
	kymo_nested_put(&dict, kymo_mark_intern("blockLimitRegs", 14), KYMO_VALUE_INT64,
			16);
	kymo_nested_put(&dict, kymo_mark_intern("limitingFactors", 15), KYMO_VALUE_STRING,
			kymo_mark_intern("WARPS|\"REGS\"", 12));
	return kymo_nested_value(&dict, key_of("occupancy", KYMO_VALUE_NESTED));
}

static void nested_values_of_marks_are_json(void **state)
{
	uint64_t words[8], more[64], few[2];
	uint32_t name = 0;
	struct kymo_value values[3];
	char *text;

	(void)state;
	create();
	start();
	values[0] = shapes_of(words, 8);
	values[1] = shapes_of(few, 2); /* does not fit, so it is left out */
	values[2] = occupancy_of(more, 64);
	assert_int_equal(values[1].key, 0);
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(),
					      kymo_mark_name(&name, "op"), values, 3),
			 KYMO_OK);
	text = end();
	assert_has(text,
		   "\"Input Dims\": [[2, 3], [4]], \"occupancy\": {\"blockLimitRegs\": "
		   "16, \"limitingFactors\": \"WARPS|\\\"REGS\\\"\"}\n");
	free(text);
}

static void a_value_of_another_type_than_its_keys_is_refused_and_counted(void **state)
{
	static const int64_t numbers[] = {1};
	const uint16_t key = key_of("whole", KYMO_VALUE_INT64);
	const struct {
		struct kymo_value value;
		int32_t status;
	} rows[] = {
		{{.key = key, .type = KYMO_VALUE_DOUBLE, .f64 = 1}, KYMO_ERROR_INVALID},
		{{.key = key, .type = KYMO_VALUE_STRING, .u64 = 1}, KYMO_ERROR_INVALID},
		{{.key = key,
		  .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		  .count = 1,
		  .array = numbers},
		 KYMO_ERROR_INVALID},
		/* To readers they are alike; and what says nothing is of the key's. */
		{{.key = key, .type = KYMO_VALUE_UINT64, .u64 = 71}, KYMO_OK},
		{{.key = key, .u64 = 72}, KYMO_OK},
	};
	uint32_t name = 0;
	char *text;

	(void)state;
	create();
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(kymo_mark_end_values(kymo_mark_begin(),
						      kymo_mark_name(&name, "op"),
						      &rows[i].value, 1),
				 rows[i].status);
	text = end();
	assert_has(text, "\"whole\": 71");
	assert_has(text, "\"whole\": 72");
	assert_has(text, "\"written\": 2,");
	assert_has(text, "\"invalid\": 3");
	free(text);
}

/* ---- Sessions ---- */

static void what_is_said_of_a_session_is_at_the_top(void **state)
{
	static const int64_t numbers[] = {1, INT64_MIN};
	struct kymo_value values[] = {
		{.key = key_of("model", KYMO_VALUE_STRING), .type = KYMO_VALUE_STRING},
		{.key = key_of("seeds", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY),
		 .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		 .count = 2,
		 .array = numbers},
		{.key = key_of("loss", KYMO_VALUE_DOUBLE),
		 .type = KYMO_VALUE_DOUBLE,
		 .f64 = 0.5},
		{.key = key_of("rank", KYMO_VALUE_INT64),
		 .type = KYMO_VALUE_INT64,
		 .i64 = 3},
	};
	uint64_t words[8];
	struct kymo_value shapes = shapes_of(words, 8);
	char *text;

	(void)state;
	values[0].u64 = kymo_mark_intern("a \"b\"", 5);
	create();
	assert_int_equal(kymo_session_metadata(session, &values[0], NULL), KYMO_OK);
	assert_int_equal(kymo_session_metadata(session, &values[1], NULL), KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_metadata(session, &values[2], NULL), KYMO_OK);
	start();
	assert_int_equal(kymo_session_metadata(session, &values[3], NULL), KYMO_OK);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_metadata(session, &shapes, NULL), KYMO_OK);
	text = end();
	assert_has(text, "\n  \"model\": \"a \\\"b\\\"\",\n  \"seeds\": [1, "
			 "\"-9223372036854775808\"],\n  \"loss\": 0.5,\n");
	assert_has(text, ",\n  \"Input Dims\": [[2, 3], [4]],\n");
	assert_has(text, "\"distributedInfo\": {\"backend\": \"\", \"rank\": 3");
	free(text);
	/* Nothing of it is in the next one. */
	create();
	start();
	text = end();
	assert_null(strstr(text, "\"seeds\""));
	free(text);
}

static void the_trace_has_the_ids_of_its_own_session(void **state)
{
	static const char ids[] = "REQUEST_TRACE_ID = run \"7\"\n";
	const struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.text = {ids, strlen(ids)},
	};
	struct kymo_config *config = NULL;
	char *text;

	(void)state;
	assert_int_equal(kymo_config_create(&config, &options, NULL), KYMO_OK);
	assert_int_equal(kymo_session_create(
				 &session, KYMO_SESSION_OPTIONS(.config = config), NULL),
			 KYMO_OK);
	kymo_config_destroy(config);
	start();
	text = end();
	assert_has(text, "\"trace_id\": \"run \\\"7\\\"\"");
	free(text);
	create();
	start();
	text = end();
	assert_null(strstr(text, "\"run \\\"7\\\"\""));
	free(text);
}

/* Said before the start or after it, it holds over environment and files. */
static void what_a_program_says_holds_over_its_environment(void **state)
{
	const struct kymo_value rank = {.key = key_of("rank", KYMO_VALUE_INT64),
					.type = KYMO_VALUE_INT64,
					.i64 = 5};
	const struct kymo_value job = {
		.key = key_of("PT_PROFILER_JOB_NAME", KYMO_VALUE_STRING),
		.type = KYMO_VALUE_STRING,
		.u64 = kymo_mark_intern("mine", 4)};

	(void)state;
	setenv("RANK", "1", 1);
	setenv("PT_PROFILER_JOB_NAME", "theirs", 1);
	for (int is_late = 0; is_late < 2; is_late++) {
		char *text;

		create();
		if (is_late)
			start();
		assert_int_equal(kymo_session_metadata(session, &rank, NULL), KYMO_OK);
		assert_int_equal(kymo_session_metadata(session, &job, NULL), KYMO_OK);
		if (!is_late)
			start();
		text = end();
		assert_has(text, "\"rank\": 5");
		assert_has(text, "\"PT_PROFILER_JOB_NAME\": \"mine\"");
		free(text);
	}
	unsetenv("RANK");
	unsetenv("PT_PROFILER_JOB_NAME");
}

static void wrong_metadata_of_a_session_is_refused(void **state)
{
	static const int64_t numbers[] = {1};
	const uint16_t key = key_of("count", KYMO_VALUE_INT64);
	const uint16_t array = key_of("counts", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY);
	const uint16_t time = key_of("when", KYMO_VALUE_TIME);
	const struct {
		struct kymo_value value;
		int32_t status;
		const char *message;
	} rows[] = {
		{{.key = 0, .type = KYMO_VALUE_INT64},
		 KYMO_ERROR_INVALID,
		 "needs a key of kymo_key_register; 0 is none"},
		{{.key = UINT16_MAX, .type = KYMO_VALUE_INT64},
		 KYMO_ERROR_INVALID,
		 "65535 is none"},
		{{.key = key, .type = KYMO_VALUE_DOUBLE},
		 KYMO_ERROR_INVALID,
		 "under a key for values of int64 cannot be double"},
		{{.key = array,
		  .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		  .array = numbers},
		 KYMO_ERROR_INVALID,
		 "cannot be an empty array"},
		{{.key = array, .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY, .count = 1},
		 KYMO_ERROR_INVALID,
		 "cannot be an empty array"},
		{{.key = time, .type = KYMO_VALUE_TIME},
		 KYMO_ERROR_INVALID,
		 "cannot be an empty array or a time"},
		{{.key = key, .type = KYMO_VALUE_INT64, .i64 = 1}, KYMO_OK, ""},
		{{.key = key, .type = KYMO_VALUE_INT64, .i64 = 2},
		 KYMO_ERROR_EXISTS,
		 "has a value for the key"},
	};
	char *text;

	(void)state;
	create();
	assert_int_equal(kymo_session_metadata(NULL, &rows[6].value, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_metadata(session, NULL, NULL), KYMO_ERROR_INVALID);
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};

		assert_int_equal(kymo_session_metadata(session, &rows[i].value, &error),
				 rows[i].status);
		assert_has(error.message, rows[i].message);
	}
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_metadata(session, &rows[6].value, NULL),
			 KYMO_ERROR_STATE);
	kymo_session_destroy(session);
	create();
	assert_int_equal(kymo_session_metadata(session, &rows[6].value, NULL), KYMO_OK);
	start();
	text = end();
	assert_has(text, "\n  \"count\": 1,\n");
	free(text);
}

static void *say_number(void *context)
{
	const uint64_t number = (uintptr_t)context;
	struct kymo_value value = {.type = KYMO_VALUE_UINT64, .u64 = number};
	char name[32];

	snprintf(name, sizeof(name), "thread %d", (int)number);
	value.key = kymo_mark_key(name, KYMO_VALUE_UINT64, NULL);
	return (void *)(intptr_t)kymo_session_metadata(session, &value, NULL);
}

static void any_thread_may_say_something(void **state)
{
	pthread_t threads[THREADS];
	char expected[64];
	char *text;

	(void)state;
	create();
	start();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, say_number, (void *)i),
				 0);
	for (uintptr_t i = 0; i < THREADS; i++) {
		void *status;

		pthread_join(threads[i], &status);
		assert_null(status);
	}
	text = end();
	for (int i = 0; i < THREADS; i++) {
		snprintf(expected, sizeof(expected), "\n  \"thread %d\": %d,\n", i, i);
		assert_has(text, expected);
	}
	free(text);
}

static void a_child_says_nothing_of_its_parents_session(void **state)
{
	const struct kymo_value value = {.key = key_of("child", KYMO_VALUE_INT64),
					 .type = KYMO_VALUE_INT64};
	int status;
	pid_t child;

	(void)state;
	create();
	start();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(kymo_session_metadata(session, &value, NULL) == KYMO_ERROR_STATE
			      ? 0
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	free(end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_refused_with_the_reason),
		cmocka_unit_test(known_keys_can_be_listed),
		cmocka_unit_test(nested_values_of_marks_are_json),
		cmocka_unit_test(
			a_value_of_another_type_than_its_keys_is_refused_and_counted),
		cmocka_unit_test(what_is_said_of_a_session_is_at_the_top),
		cmocka_unit_test(the_trace_has_the_ids_of_its_own_session),
		cmocka_unit_test(what_a_program_says_holds_over_its_environment),
		cmocka_unit_test(wrong_metadata_of_a_session_is_refused),
		cmocka_unit_test(any_thread_may_say_something),
		cmocka_unit_test(a_child_says_nothing_of_its_parents_session),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
