/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources that come later, of the same name, in children, from any thread, too many. */
#include "session/source.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "session/test_npu.h"

static void a_plugin_that_comes_during_a_session_takes_part(void **state)
{
	(void)state;
	begin("other");
	assert_string_equal(npu.story, "");
	assert_int_equal(ky_sources_add(&other_plugin, NULL), KYMO_OK);
	assert_string_equal(npu.story, "CS");
	end();
	assert_string_equal(npu.story, "CSX");
	begin("");
	end();
	assert_string_equal(npu.story, "CSXpsxf"); /* it wants to be named */
}

/* The plug-in with its source under another name; the last one that was asked for. */
static const struct kymo_plugin *name_plugin(const char *name)
{
	static struct kymo_source_desc desc;
	static const struct kymo_source_desc *const sources[] = {&desc, NULL};
	static struct kymo_plugin plugin;

	desc = npu_plugin_source;
	desc.name = name;
	plugin = npu_plugin;
	plugin.sources = sources;
	return &plugin;
}

/* The one that brings it is in an operation of its own at that time. */
static void a_plugin_may_come_out_of_another_ones_operation(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct kymo_plugin *plugin = name_plugin("bringer");

		npu.brings = &twin_plugin;
		ky_sources_add(plugin, NULL);
		begin("bringer,other");
		end();
		/*
		 * The first "other" was there already; then the bringer brings its twin.
		 */
		_exit(strcmp(npu.story, "FScCSpsXxfX") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A session loads it by its name, and its runtime later. */
static void what_could_not_be_created_is_tried_when_its_runtime_comes(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct kymo_plugin *plugin = name_plugin("late");

		ky_sources_add(plugin, NULL);
		npu.create_status = KYMO_ERROR_NOT_FOUND;
		begin("late");
		ky_sources_add(plugin, NULL); /* and it is still missing */
		npu.create_status = KYMO_OK;
		ky_sources_add(plugin, NULL);
		ky_sources_add(plugin, NULL);
		end();
		ky_sources_add(plugin, NULL);
		_exit(strcmp(npu.story, "Fcccpsxf") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_second_source_of_one_name_has_a_number(void **state)
{
	const struct ky_source_entry *entry;
	size_t count;

	(void)state;
	begin_recording();
	assert_int_equal(ky_sources_add(&twin_plugin, NULL), KYMO_OK);
	entry = last_entry(KY_ENTRY_SOURCE, &count);
	assert_int_equal(entry->name, ky_dictionary_text("other#2"));
	end_recording();
}

static void a_child_tells_its_sources_once_and_goes_on(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	begin("");
	assert_string_equal(npu.story, "ps");
	wait_for_threads();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		begin_recording();
		ky_sources_forked();
		ky_sources_forked();
		_exit(strcmp(npu.story, "psFps") == 0 && npu.epoch == ky_gate()->epoch &&
				      count_lines_of_kind(KYMO_KIND_SPAN, NULL) == 1
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end();
	assert_string_equal(npu.story, "psxf");
}

static void a_child_that_begins_its_own_tells_them_as_well(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	begin("");
	end();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		begin("");
		_exit(strcmp(npu.story, "psxfFps") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void *add_twin_often(void *context)
{
	(void)context;
	for (int i = 0; i < 2000; i++)
		ky_sources_add(&twin_plugin, NULL);
	return NULL;
}

static void sessions_and_arrivals_may_come_from_any_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, add_twin_often, NULL), 0);
	for (int i = 0; i < 20; i++) {
		npu.story[0] = '\0';
		memset(npu.story, 0, sizeof(npu.story));
		begin("npu");
		end();
		assert_string_equal(npu.story, "psxf");
	}
	pthread_join(thread, NULL);
}

static void there_is_room_for_so_many_only(void **state)
{
	static struct kymo_plugin many[KY_SOURCES_MAX + 1];
	struct kymo_error error = {0};
	int32_t status = KYMO_OK;

	(void)state;
	for (size_t i = 0; i <= KY_SOURCES_MAX && status == KYMO_OK; i++) {
		many[i] = other_plugin;
		status = ky_sources_add(&many[i], &error);
	}
	assert_int_equal(status, KYMO_ERROR_NO_MEMORY);
	assert_non_null(strstr(error.message, "32"));
}

#define TEST(name) cmocka_unit_test_setup(name, clear_story)

/* As in a process that has recorded with it before. */
static int have_npu(void **state)
{
	(void)state;
	if (ky_sources_add(&npu_plugin, NULL) != KYMO_OK)
		return -1;
	begin("");
	end();
	return 0;
}

int main(void)
{
	/* In this order: the process has its sources for ever. */
	const struct CMUnitTest tests[] = {
		TEST(a_plugin_that_comes_during_a_session_takes_part),
		TEST(a_plugin_may_come_out_of_another_ones_operation),
		TEST(what_could_not_be_created_is_tried_when_its_runtime_comes),
		TEST(a_second_source_of_one_name_has_a_number),
		TEST(a_child_tells_its_sources_once_and_goes_on),
		TEST(a_child_that_begins_its_own_tells_them_as_well),
		TEST(sessions_and_arrivals_may_come_from_any_thread),
		TEST(there_is_room_for_so_many_only),
	};

	return cmocka_run_group_tests(tests, have_npu, NULL);
}
