/* SPDX-License-Identifier: BSD-3-Clause */
/* Activity types as an application sees them: numbers that agree everywhere, names. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/kymo.h>

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
	};

	if (argc > 1 && strcmp(argv[1], "backwards") == 0)
		return print_numbers_backwards();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
