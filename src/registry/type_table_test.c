/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/type_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define THREADS 8u
#define NAMES   10000u

static const struct ky_type_opinion nothing;

static int32_t add(struct ky_type_table *table, const char *plugin, const char *name,
		   uint32_t *number)
{
	struct ky_type type = {.number = 0};
	int32_t status = ky_type_table_add(table, kymo_text(plugin), kymo_text(name),
					   &nothing, 0, &type, NULL);

	*number = type.number;
	return status;
}

static uint32_t same_number(struct kymo_str plugin, struct kymo_str name)
{
	(void)plugin, (void)name;
	return INT32_MAX - 2;
}

static void name_of(uint32_t i, char *out, size_t size)
{
	snprintf(out, size, "type_%u", i);
}

static void a_name_keeps_its_number_and_its_text(void **state)
{
	struct ky_type_table *table = ky_type_table_create(NULL);
	struct ky_type type;
	uint32_t a, again;

	(void)state;
	assert_int_equal(add(table, "npu", "dma", &a), KYMO_OK);
	assert_int_equal(a, ky_type_number_first(KYMO_STR("npu"), KYMO_STR("dma")));
	assert_int_equal(add(table, "npu", "dma", &again), KYMO_OK);
	assert_int_equal(again, a);
	assert_int_equal(ky_type_table_count(table), 1);
	assert_int_equal(ky_type_table_get(table, a, &type), KYMO_OK);
	assert_string_equal(type.full_name, "npu.dma");
	assert_int_equal(ky_type_table_get(table, a + 1, &type), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(ky_type_table_at(table, 1, &type), KYMO_ERROR_NOT_FOUND);
	/* The full name is what counts: no other pair has it. */
	assert_int_equal(add(table, "np", "u-dma", &again), KYMO_OK);
	assert_int_not_equal(again, a);
	ky_type_table_destroy(table);
}

static void names_whose_hash_is_the_same_share_no_number(void **state)
{
	struct ky_type_table *table = ky_type_table_create(same_number);
	struct ky_type type;
	char name[32];
	uint32_t number;

	(void)state;
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < 2000; i++) {
			name_of(i, name, sizeof(name));
			assert_int_equal(add(table, "npu", name, &number), KYMO_OK);
			/* The next free one, from the last back to the first. */
			assert_int_equal(number, i < 3 ? INT32_MAX - 2 + i
						       : KY_TYPE_CUSTOM_BEGIN + i - 3);
			assert_int_equal(ky_type_table_get(table, number, &type),
					 KYMO_OK);
			assert_memory_equal(ky_type_name(&type).data, name, strlen(name));
		}
	}
	assert_int_equal(ky_type_table_count(table), 2000);
	ky_type_table_destroy(table);
}

/* Fills a table with generated names from the first or from the last one on. */
static struct ky_type_table *fill(uint32_t count, int is_backwards, uint32_t *collisions)
{
	struct ky_type_table *table = ky_type_table_create(NULL);

	*collisions = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number;
		char name[32];

		/* Spread, so that some do collide: two of 100000. */
		snprintf(name, sizeof(name), "op_%x",
			 (is_backwards ? count - 1 - i : i) * 2654435761u);
		assert_int_equal(add(table, "generated", name, &number), KYMO_OK);
		*collisions += number != ky_type_number_first(KYMO_STR("generated"),
							      kymo_text(name));
	}
	return table;
}

static void numbers_do_not_depend_on_the_order_but_of_those_that_collide(void **state)
{
	uint32_t collisions, backwards, differ = 0;
	struct ky_type_table *table = fill(100000, 0, &collisions);
	struct ky_type_table *other = fill(100000, 1, &backwards);
	struct ky_type a, b;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(ky_type_table_at(table, i, &a), KYMO_OK);
		/* Nobody else has its number: a look-up by it finds this one. */
		assert_int_equal(ky_type_table_get(table, a.number, &b), KYMO_OK);
		assert_string_equal(a.full_name, b.full_name);
		if (ky_type_table_get(other, a.number, &b) != KYMO_OK ||
		    strcmp(a.full_name, b.full_name) != 0)
			differ++;
	}
	print_message("%u of 100000 names collide; %u numbers depend on the order\n",
		      collisions, differ);
	assert_int_not_equal(collisions, 0);
	assert_int_equal(collisions, backwards);
	assert_in_range(differ, 0, 2 * collisions);
	ky_type_table_destroy(table);
	ky_type_table_destroy(other);
}

static void what_is_left_out_may_be_added_and_nothing_changed(void **state)
{
	struct ky_type_table *table = ky_type_table_create(NULL);
	struct ky_type_opinion opinion = {0};
	struct kymo_error error;
	struct ky_type type;

	(void)state;
#define ADD()                                                                          \
	ky_type_table_add(table, KYMO_STR("npu"), KYMO_STR("dma"), &opinion, 0, &type, \
			  &error)
	assert_int_equal(ADD(), KYMO_OK);
	opinion.side = KYMO_SIDE_ACCELERATOR;
	opinion.category = KYMO_STR("transfers");
	assert_int_equal(ADD(), KYMO_OK);
	opinion = nothing;
	opinion.shapes = KYMO_SHAPE_SPAN;
	opinion.flags = KYMO_TYPE_OPT_IN;
	assert_int_equal(ADD(), KYMO_OK);
	assert_int_equal(type.side, KYMO_SIDE_ACCELERATOR);
	assert_int_equal(type.shapes, KYMO_SHAPE_SPAN);
	assert_int_equal(type.flags, KYMO_TYPE_OPT_IN);
	assert_string_equal(type.category, "transfers");

	opinion.side = KYMO_SIDE_HOST;
	assert_int_equal(ADD(), KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "npu.dma"));
	assert_non_null(strstr(error.message, "accelerator"));
	assert_non_null(strstr(error.message, "host"));
	opinion = (struct ky_type_opinion){.category = KYMO_STR("other")};
	assert_int_equal(ADD(), KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "transfers"));
	assert_non_null(strstr(error.message, "other"));
	opinion = (struct ky_type_opinion){.shapes = KYMO_SHAPE_COUNTER};
	assert_int_equal(ADD(), KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "0x1"));
	assert_non_null(strstr(error.message, "0x4"));
#undef ADD
	ky_type_table_destroy(table);
}

static void bad_names_and_attributes_are_refused(void **state)
{
	static const char *const names[] = {"", "a b", "a.b", "\xc3\xa4", "a*", "a:b"};
	struct ky_type_table *table = ky_type_table_create(NULL);
	char longest[66];
	const struct ky_type_opinion bad[] = {
		{.side = 3},
		{.shapes = 8},
		{.flags = 2},
		{.category = {longest, 65}},
	};
	struct ky_type type;
	uint32_t number;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[65] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(add(table, "npu", names[i], &number),
				 KYMO_ERROR_INVALID);
		assert_int_equal(add(table, names[i], "dma", &number),
				 KYMO_ERROR_INVALID);
	}
	assert_int_equal(add(table, longest, "dma", &number), KYMO_ERROR_INVALID);
	assert_int_equal(add(table, NULL, "dma", &number), KYMO_ERROR_INVALID);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ky_type_table_add(table, KYMO_STR("a"), KYMO_STR("b"),
						   &bad[i], 0, &type, NULL),
				 KYMO_ERROR_INVALID);
	assert_int_equal(ky_type_table_count(table), 0);
	longest[64] = '\0';
	assert_int_equal(add(table, longest, longest, &number), KYMO_OK);
	ky_type_table_destroy(table);
}

static void a_frozen_table_knows_what_it_knows(void **state)
{
	struct ky_type_table *table = ky_type_table_create(NULL);
	struct kymo_error error;
	struct ky_type type;
	uint32_t number;

	(void)state;
	assert_int_equal(add(table, "npu", "dma", &number), KYMO_OK);
	assert_int_equal(ky_type_table_add(table, KYMO_STR("npu"), KYMO_STR("dma"),
					   &nothing, 1, &type, NULL),
			 KYMO_OK);
	assert_int_equal(type.number, number);
	assert_int_equal(ky_type_table_add(table, KYMO_STR("npu"), KYMO_STR("late"),
					   &nothing, 1, &type, &error),
			 KYMO_ERROR_STATE);
	assert_non_null(strstr(error.message, "npu.late"));
	assert_int_equal(ky_type_table_count(table), 1);
	ky_type_table_destroy(table);
}

static void a_full_table_refuses_and_keeps_what_it_has(void **state)
{
	uint32_t collisions, number;
	struct ky_type_table *table = fill(KY_TYPES_MAX, 0, &collisions);

	(void)state;
	assert_int_equal(add(table, "one", "more", &number), KYMO_ERROR_NO_MEMORY);
	assert_int_equal(add(table, "generated", "op_0", &number), KYMO_OK);
	assert_int_equal(number,
			 ky_type_number_first(KYMO_STR("generated"), KYMO_STR("op_0")));
	ky_type_table_destroy(table);
}

struct registrar {
	pthread_t thread;
	uint32_t index, numbers[NAMES];
};

static void *register_all(void *context)
{
	struct registrar *registrar = context;

	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t at = (i * 7919u + registrar->index * 1237u) % NAMES;
		struct ky_type type;
		char name[32];

		name_of(at, name, sizeof(name));
		assert_int_equal(add(ky_types(), "shared", name, &registrar->numbers[at]),
				 KYMO_OK);
		/* What others add meanwhile can be looked at. */
		assert_int_equal(ky_type_table_at(ky_types(), i / 2, &type), KYMO_OK);
		assert_int_not_equal(type.number, 0);
	}
	return NULL;
}

static void threads_that_register_the_same_names_get_the_same_numbers(void **state)
{
	struct registrar *registrars = calloc(THREADS, sizeof(*registrars));

	(void)state;
	assert_non_null(registrars);
	for (uint32_t i = 0; i < THREADS; i++) {
		registrars[i].index = i;
		assert_int_equal(pthread_create(&registrars[i].thread, NULL, register_all,
						&registrars[i]),
				 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(registrars[i].thread, NULL);
	for (uint32_t i = 1; i < THREADS; i++)
		assert_memory_equal(registrars[i].numbers, registrars[0].numbers,
				    sizeof(registrars[0].numbers));
	assert_int_equal(ky_type_table_count(ky_types()), NAMES);
	free(registrars);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_keeps_its_number_and_its_text),
		cmocka_unit_test(names_whose_hash_is_the_same_share_no_number),
		cmocka_unit_test(
			numbers_do_not_depend_on_the_order_but_of_those_that_collide),
		cmocka_unit_test(what_is_left_out_may_be_added_and_nothing_changed),
		cmocka_unit_test(bad_names_and_attributes_are_refused),
		cmocka_unit_test(a_frozen_table_knows_what_it_knows),
		cmocka_unit_test(a_full_table_refuses_and_keeps_what_it_has),
		cmocka_unit_test(
			threads_that_register_the_same_names_get_the_same_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
