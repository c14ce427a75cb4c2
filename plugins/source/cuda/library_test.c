/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static char root[] = "/tmp/cuda_library_XXXXXX";
static struct ky_library_list list;
static struct ky_library_places places;

/* An empty file, with the folders that it lies in. */
static void make_file(const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

/* Where in the list it is; -1: nowhere. */
static int place_of(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(list.path[i], path) == 0 || strcmp(list.path[i], name) == 0)
			return (int)i;
	return -1;
}

static void what_the_user_names_is_all_that_is_tried(void **state)
{
	(void)state;
	ky_library_find(&list, "/no/such/libcupti.so", &places);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.path[0], "/no/such/libcupti.so");
}

static void the_newest_of_a_folder_comes_first(void **state)
{
	(void)state;
	ky_library_find(&list, "", &places);
	assert_true(place_of("set/libcupti.so.13") >= 0);
	assert_true(place_of("set/libcupti.so.13") < place_of("set/libcupti.so.12"));
	assert_true(place_of("set/libcupti.so.12") < place_of("set/libcupti.so.11.8"));
}

static void
the_users_folders_come_before_the_systems_and_those_before_the_toolkits(void **state)
{
	(void)state;
	ky_library_find(&list, NULL, &places);
	assert_true(place_of("set/libcupti.so.11.8") < place_of("libcupti.so.13"));
	assert_true(place_of("libcupti.so.11.8") <
		    place_of("home/extras/CUPTI/lib64/libcupti.so.12"));
	assert_true(place_of("home/extras/CUPTI/lib64/libcupti.so.12") >= 0);
	assert_true(place_of("env/lib/python3.11/site-packages/nvidia/cu13/lib/"
			     "libcupti.so.13") >= 0);
	assert_true(place_of("env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/"
			     "libcupti.so.12") >= 0);
}

static void what_is_no_cupti_is_refused_with_the_reason(void **state)
{
	struct ky_library library = {.handle = NULL};
	char path[PATH_MAX], why[256] = "";

	(void)state;
	snprintf(path, sizeof(path), "%s/set/libcupti.so.13", root);
	assert_false(ky_library_open(&library, path, why, sizeof(why)));
	assert_non_null(strstr(why, "file too short"));
	assert_false(ky_library_open(&library, "libm.so.6", why, sizeof(why)));
	assert_string_equal(why, "it has no function cuptiGetVersion");
	assert_null(library.handle);
}

static void versions_are_told_as_cudas(void **state)
{
	static const struct {
		uint32_t version;
		const char *text;
	} cases[] = {{13, "11.0"},     {18, "11.8"},     {25, "12.6"},   {28, "12.9.1"},
		     {130001, "13.0"}, {130500, "13.5"}, {3, "of API 3"}};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ky_library_version_text(cases[i].version, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	make_file("set/libcupti.so.12");
	make_file("set/libcupti.so.11.8");
	make_file("set/libcupti.so.13");
	make_file("home/extras/CUPTI/lib64/libcupti.so.12");
	make_file("env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
	make_file(
		"env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
	snprintf(places.folders, sizeof(places.folders), "relative:%s/set:", root);
	snprintf(places.home[0], PATH_MAX, "%s/home", root);
	snprintf(places.python[0], PATH_MAX, "%s/env/lib/python3*/site-packages", root);
	return 0;
}

static int tear_down(void **state)
{
	char command[sizeof(root) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_user_names_is_all_that_is_tried),
		cmocka_unit_test(the_newest_of_a_folder_comes_first),
		cmocka_unit_test(
			the_users_folders_come_before_the_systems_and_those_before_the_toolkits),
		cmocka_unit_test(what_is_no_cupti_is_refused_with_the_reason),
		cmocka_unit_test(versions_are_told_as_cudas),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
