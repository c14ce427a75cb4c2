/* SPDX-License-Identifier: BSD-3-Clause */
/* Children that are forked while a thread of their parent registers types. */
#include "registry/type_table.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static int32_t add(struct ky_type_table *table, const char *plugin, const char *name,
		   uint32_t *number)
{
	static const struct ky_type_opinion nothing;
	struct ky_type type = {.number = 0};
	int32_t status = ky_type_table_add(table, kymo_text(plugin), kymo_text(name),
					   &nothing, 0, &type, NULL);

	*number = type.number;
	return status;
}

static void name_of(uint32_t i, char *out, size_t size)
{
	snprintf(out, size, "type_%u", i);
}

static uint32_t go_on; /* atomic */

static void *register_for_ever(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t number;
		char name[32];

		if (!__atomic_load_n(&go_on, __ATOMIC_RELAXED))
			break;
		name_of(i, name, sizeof(name));
		add(ky_types(), "forks", name, &number);
	}
	return NULL;
}

/* A child takes over a table that a thread of its parent is in the middle of. */
static void check_in_child(void)
{
	const uint32_t count = ky_type_table_count(ky_types());
	struct ky_type type, found;
	uint32_t number;
	char name[32];

	alarm(10);
	for (uint32_t i = 0; i < 100; i++) {
		name_of(i, name, sizeof(name));
		if (add(ky_types(), "child", name, &number) != KYMO_OK ||
		    ky_type_table_get(ky_types(), number, &found) != KYMO_OK ||
		    strncmp(found.full_name, "child.", 6) != 0)
			_exit(1);
	}
	for (uint32_t i = 0; i < count; i++)
		if (ky_type_table_at(ky_types(), i, &type) != KYMO_OK ||
		    ky_type_table_get(ky_types(), type.number, &found) != KYMO_OK ||
		    strcmp(type.full_name, found.full_name) != 0)
			_exit(2);
	_exit(0);
}

static void a_forked_child_goes_on_with_what_there_was(void **state)
{
	pthread_t thread;

	(void)state;
	assert_non_null(ky_types());
	__atomic_store_n(&go_on, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, register_for_ever, NULL), 0);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0)
			check_in_child();
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forked_child_goes_on_with_what_there_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
