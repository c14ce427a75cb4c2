/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration: who overrides whom, and that sessions do as it says. */
#define _GNU_SOURCE /* mkdtemp, setenv */
#include <kymo/kymo.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

static char folder[] = "/tmp/kymo-config-XXXXXX";
static char base[64], own[64];

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(base, sizeof(base), "%s/base", folder);
	snprintf(own, sizeof(own), "%s/own", folder);
	setenv("KINETO_CONFIG", base, 1);
	setenv("KYMO_CONFIG", own, 1);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(base);
	unlink(own);
	return rmdir(folder);
}

static int write_both(void **state)
{
	(void)state;
	write_file(base, "VERBOSE_LOG_LEVEL = 1\nREQUEST_TRACE_ID = base\n"
			 "KYMO_BUFFER_SIZE = 11MiB\nKYMO_COMPAT = base\n");
	write_file(own, "REQUEST_TRACE_ID = own\nKYMO_BUFFER_SIZE = 12MiB\n"
			"KYMO_COMPAT = own\n");
	unsetenv("KYMO_BUFFER_SIZE");
	unsetenv("KYMO_COMPAT");
	unsetenv("KYMO_OVERFLOW");
	return 0;
}

static struct kymo_config *create(const struct kymo_config_options *options)
{
	struct kymo_config *config = NULL;
	struct kymo_error error = {0};

	if (kymo_config_create(&config, options, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return config;
}

static struct kymo_config_value value_of(const struct kymo_config *config,
					 const char *key)
{
	struct kymo_config_value value = {.struct_size = sizeof(value)};

	for (size_t i = 0; kymo_config_at(config, i, &value) == KYMO_OK; i++)
		if (strcmp(value.key, key) == 0)
			return value;
	fail_msg("no key %s", key);
	return value;
}

static void expect(const struct kymo_config *config, const char *key, const char *value,
		   const char *origin)
{
	const struct kymo_config_value found = value_of(config, key);

	assert_string_equal(found.value, value);
	assert_non_null(strstr(found.origin, origin));
}

static void what_comes_later_overrides(void **state)
{
	const struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.text = KYMO_STR("KYMO_COMPAT = text\n"),
	};
	struct kymo_config *config;

	(void)state;
	setenv("KYMO_BUFFER_SIZE", "13MiB", 1);
	setenv("KYMO_COMPAT", "environment", 1);
	setenv("KYMO_OVERFLOW", "", 1);
	config = create(&options);
	expect(config, "VERBOSE_LOG_LEVEL", "1", "/base:1");
	expect(config, "REQUEST_TRACE_ID", "own", "/own:1");
	expect(config, "KYMO_BUFFER_SIZE", "13631488", "environment");
	expect(config, "KYMO_COMPAT", "text", "options:1");
	expect(config, "KYMO_OVERFLOW", "stream", "default");
	expect(config, "KYMO_CONFIG", own, "environment");
	/* One file overriding another is no warning. */
	assert_null(kymo_config_warning(config, 0));
	kymo_config_destroy(config);
}

static void files_and_environment_can_be_left_out(void **state)
{
	struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.flags = KYMO_CONFIG_NO_FILES,
	};
	struct kymo_config *config;

	(void)state;
	setenv("KYMO_COMPAT", "environment", 1);
	config = create(&options);
	expect(config, "REQUEST_TRACE_ID", "", "default");
	expect(config, "KYMO_COMPAT", "environment", "environment");
	kymo_config_destroy(config);
	options.flags |= KYMO_CONFIG_NO_ENVIRONMENT;
	config = create(&options);
	expect(config, "KYMO_COMPAT", "", "default");
	kymo_config_destroy(config);
	options.file = own;
	config = create(&options);
	expect(config, "KYMO_COMPAT", "own", "/own:3");
	kymo_config_destroy(config);
	setenv("KYMO_CONFIG", "", 1);
	config = create(NULL);
	expect(config, "REQUEST_TRACE_ID", "base", "/base:2");
	kymo_config_destroy(config);
	setenv("KYMO_CONFIG", own, 1);
}

static void a_named_file_that_is_missing_or_bad_is_an_error(void **state)
{
	struct kymo_config_options options = {.struct_size = sizeof(options)};
	struct kymo_config *config = (struct kymo_config *)&options;
	struct kymo_error error = {0};

	(void)state;
	write_file(own, "KYMO_COMPAT = x\nKYMO_OVERFLOW = some\n");
	assert_int_equal(kymo_config_create(&config, NULL, &error), KYMO_ERROR_CONFIG);
	assert_null(config);
	assert_non_null(strstr(error.message, "/own:2: KYMO_OVERFLOW \"some\""));
	unlink(own);
	assert_int_equal(kymo_config_create(&config, NULL, &error), KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "KYMO_CONFIG: cannot read"));
	write_file(own, "");
	unlink(base);
	assert_int_equal(kymo_config_create(&config, NULL, &error), KYMO_OK);
	assert_non_null(strstr(kymo_config_warning(config, 0), base));
	kymo_config_destroy(config);
	options.file = folder;
	assert_int_not_equal(kymo_config_create(&config, &options, &error), KYMO_OK);
	options.file = "/dev/zero";
	assert_int_equal(kymo_config_create(&config, &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "too long"));
	options.file = "/dev/null";
	assert_int_equal(kymo_config_create(&config, &options, &error), KYMO_OK);
	kymo_config_destroy(config);
}

static void a_bad_variable_is_named(void **state)
{
	struct kymo_config *config;
	struct kymo_error error = {0};

	(void)state;
	setenv("KYMO_BUFFER_SIZE", "9x", 1);
	assert_int_equal(kymo_config_create(&config, NULL, &error), KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "environment: KYMO_BUFFER_SIZE \"9x\""));
}

static void that_a_file_is_another_one_is_seen(void **state)
{
	struct kymo_config *config = create(NULL);
	struct timespec times[2];
	struct stat found;
	char other[80];

	(void)state;
	assert_int_equal(kymo_config_has_changed(config), 0);
	/* Another one of the same size, name and time. */
	snprintf(other, sizeof(other), "%s.new", own);
	write_file(other, "REQUEST_TRACE_ID = owe\nKYMO_BUFFER_SIZE = 12MiB\n"
			  "KYMO_COMPAT = own\n");
	assert_int_equal(stat(own, &found), 0);
	times[0] = found.st_atim;
	times[1] = found.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, other, times, 0), 0);
	assert_int_equal(rename(other, own), 0);
	assert_int_equal(kymo_config_has_changed(config), 1);
	kymo_config_destroy(config);
	config = create(NULL);
	assert_int_equal(kymo_config_has_changed(config), 0);
	unlink(base);
	assert_int_equal(kymo_config_has_changed(config), 1);
	kymo_config_destroy(config);
	setenv("KINETO_CONFIG", "", 1);
	config = create(NULL);
	write_file(base, "");
	assert_int_equal(kymo_config_has_changed(config), 0);
	kymo_config_destroy(config);
	setenv("KINETO_CONFIG", base, 1);
}

static void wrong_arguments_are_refused(void **state)
{
	struct kymo_config_options options = {.struct_size = 4};
	struct kymo_config_value value = {.struct_size = sizeof(value)};
	struct {
		struct kymo_config_options known;
		uint64_t unknown;
	} longer = {.known = {.struct_size = sizeof(longer)}, .unknown = 1};
	const struct kymo_config_options flagged = {.struct_size = sizeof(flagged),
						    .flags = 0x80};
	struct kymo_config *config;

	(void)state;
	assert_int_equal(kymo_config_create(NULL, NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_config_create(&config, &options, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_config_create(&config, &longer.known, NULL),
			 KYMO_ERROR_UNSUPPORTED);
	assert_int_equal(kymo_config_create(&config, &flagged, NULL),
			 KYMO_ERROR_UNSUPPORTED);
	assert_int_equal(kymo_config_at(NULL, 0, &value), KYMO_ERROR_INVALID);
	config = create(NULL);
	assert_int_equal(kymo_config_at(config, 0, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_config_at(config, 1000, &value), KYMO_END);
	kymo_config_destroy(config);
	kymo_config_destroy(NULL);
	assert_null(kymo_config_warning(NULL, 0));
	assert_int_equal(kymo_config_has_changed(NULL), 0);
}

static void a_session_does_as_configured(void **state)
{
	const struct kymo_config_options text = {
		.struct_size = sizeof(text),
		.text = KYMO_STR("KYMO_SOURCES = no_such_source\n"),
	};
	struct kymo_config *config = create(&text);
	struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.config = config,
	};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_session_create(&session, &options, &error), KYMO_OK);
	kymo_config_destroy(config); /* not needed any more */
	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no_such_source"));
	kymo_session_destroy(session);

	setenv("KYMO_SOURCES", "fake:seed=3,app", 1);
	setenv("KYMO_OVERFLOW", "stream", 1);
	assert_int_equal(kymo_session_create(&session, NULL, &error), KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, &error), KYMO_OK);
	kymo_session_destroy(session);
	unsetenv("KYMO_SOURCES");

	setenv("KYMO_BUFFER_SIZE", "nine", 1);
	assert_int_equal(kymo_session_create(&session, NULL, &error), KYMO_ERROR_CONFIG);
	assert_null(session);
}

static void keep(void *context, uint32_t severity, const char *message)
{
	assert_int_equal(severity, KYMO_SEVERITY_WARNING);
	snprintf(context, 512, "%s", message);
}

static void a_session_tells_the_log_what_nobody_knows(void **state)
{
	struct kymo_session *session = NULL;
	char said[512] = "", expected[256];

	(void)state;
	write_file(own, "KYMO_BUFER_SIZE = 12MiB\n");
	kymo_log_to(keep, said);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	kymo_log_to(NULL, NULL);
	kymo_session_destroy(session);
	snprintf(expected, sizeof(expected),
		 "%s:1: no key \"KYMO_BUFER_SIZE\"; did you mean KYMO_BUFFER_SIZE?", own);
	assert_string_equal(said, expected);
}

static void a_request_is_filled_from_libkinetos_keys(void **state)
{
	static const char *const texts[] = {
		"",
		"ACTIVITIES_DURATION_SECS = 2\nACTIVITIES_WARMUP_PERIOD_SECS = 0\n"
		"PROFILE_START_TIME = 1800000000000\n",
		"ACTIVITIES_ITERATIONS = 3\nACTIVITIES_WARMUP_ITERATIONS = 2\n"
		"PROFILE_START_ITERATION = 100\nPROFILE_START_ITERATION_ROUNDUP = 10\n",
		"ACTIVITIES_WARMUP_ITERATIONS = 2\nKYMO_DURATION = 3s\n"
		"ACTIVITIES_DURATION_SECS = 2\n",
	};
	static const struct kymo_request_options expected[] = {
		{.duration_ms = 500, .warmup_ms = 5000},
		{.duration_ms = 2000, .start_unix_ms = 1800000000000},
		{.duration_ms = 500,
		 .warmup_ms = 5000,
		 .iterations = 3,
		 .warmup_iterations = 2,
		 .start_iteration = 100,
		 .round_up = 10},
		{.duration_ms = 3000, .warmup_ms = 5000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct kymo_config_options text = {
			.struct_size = sizeof(text),
			.flags = KYMO_CONFIG_NO_FILES,
			.text = {texts[i], strlen(texts[i])},
		};
		struct kymo_config *config = create(&text);
		struct kymo_request_options found = {.struct_size = sizeof(found)};

		assert_int_equal(kymo_request_configure(&found, config, NULL), KYMO_OK);
		found.struct_size = 0;
		assert_memory_equal(&found, &expected[i], sizeof(found));
		found = (struct kymo_request_options){
			.struct_size = sizeof(found), .duration_ms = 7, .iterations = 9};
		assert_int_equal(kymo_request_configure(&found, config, NULL), KYMO_OK);
		assert_int_equal(found.duration_ms, 7);
		assert_int_equal(found.iterations, 9);
		kymo_config_destroy(config);
	}
}

static void a_delay_counts_from_now(void **state)
{
	const struct kymo_config_options text = {
		.struct_size = sizeof(text),
		.text = KYMO_STR("KYMO_DELAY = 1h\n"),
	};
	struct kymo_config *config = create(&text);
	struct kymo_request_options options = {.struct_size = sizeof(options)};
	struct kymo_request_options small = {.struct_size = 8};
	const int64_t before = (int64_t)time(NULL);

	(void)state;
	assert_int_equal(kymo_request_configure(&options, config, NULL), KYMO_OK);
	assert_true(options.start_unix_ms / 1000 >= before + 3600);
	/* time() may be a tick behind. */
	assert_true(options.start_unix_ms / 1000 <= (int64_t)time(NULL) + 3601);
	assert_int_equal(kymo_request_configure(&small, config, NULL),
			 KYMO_ERROR_INVALID);
	kymo_config_destroy(config);
}

static void the_default_warm_up_fits_a_short_delay(void **state)
{
	static const struct {
		const char *text;
		uint64_t warmup_ms;
	} rows[] = {
		/* Half of it; the other half is left for submitting it. */
		{"KYMO_DELAY = 9s\n", 4500},
		{"KYMO_DELAY = 1m\n", 5000},
		/* What somebody has set holds, and is refused where it does not fit. */
		{"KYMO_DELAY = 800ms\nACTIVITIES_WARMUP_PERIOD_SECS = 5\n", 5000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kymo_config_options text = {
			.struct_size = sizeof(text),
			.flags = KYMO_CONFIG_NO_FILES,
			.text = {rows[i].text, strlen(rows[i].text)},
		};
		struct kymo_config *config = create(&text);
		struct kymo_request_options options = {
			.struct_size = sizeof(options),
			.path = "memory://delayed",
		};
		uint64_t id = 0;

		assert_int_equal(kymo_request_configure(&options, config, NULL), KYMO_OK);
		assert_int_equal(options.warmup_ms, rows[i].warmup_ms);
		assert_int_equal(kymo_request_submit(&options, &id, NULL),
				 i < 2 ? KYMO_OK : KYMO_ERROR_INVALID);
		if (id)
			assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
		kymo_config_destroy(config);
	}
}

static void without_a_configuration_a_request_reads_it(void **state)
{
	struct kymo_request_options options = {.struct_size = sizeof(options)};
	struct kymo_error error = {0};

	(void)state;
	write_file(own, "ACTIVITIES_DURATION_MSECS = 123\n");
	assert_int_equal(kymo_request_configure(&options, NULL, &error), KYMO_OK);
	assert_int_equal(options.duration_ms, 123);
	write_file(own, "ACTIVITIES_DURATION_MSECS = many\n");
	assert_int_equal(kymo_request_configure(&options, NULL, &error),
			 KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, own));
	write_both(state);
}

static void a_name_is_made_by_pattern_or_configuration(void **state)
{
	const struct kymo_config_options text = {
		.struct_size = sizeof(text),
		.text = KYMO_STR("ACTIVITIES_LOG_FILE = /d/log.json\n"),
	};
	struct kymo_config *config = create(&text);
	char name[4096], other[4096], expected[64];
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_output_name("a-%p.json", config, name, sizeof(name), NULL),
			 KYMO_OK);
	snprintf(expected, sizeof(expected), "a-%ld.json", (long)getpid());
	assert_string_equal(name, expected);
	assert_int_equal(kymo_output_name(NULL, config, name, sizeof(name), NULL),
			 KYMO_OK);
	snprintf(expected, sizeof(expected), "/d/log_%ld.json", (long)getpid());
	assert_string_equal(name, expected);
	kymo_config_destroy(config);
	assert_int_equal(kymo_output_name(NULL, NULL, name, sizeof(name), NULL), KYMO_OK);
	assert_int_equal(kymo_output_name(NULL, NULL, other, sizeof(other), NULL),
			 KYMO_OK);
	assert_string_not_equal(name, other);
	assert_int_equal(kymo_output_name("%x", NULL, name, sizeof(name), &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(
		kymo_output_name("%q{NOT_SET_HERE}", NULL, name, sizeof(name), &error),
		KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_output_name("abc", NULL, name, 3, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_output_name("abc", NULL, NULL, 3, NULL),
			 KYMO_ERROR_INVALID);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, write_both)
	const struct CMUnitTest tests[] = {
		CASE(what_comes_later_overrides),
		CASE(files_and_environment_can_be_left_out),
		CASE(a_named_file_that_is_missing_or_bad_is_an_error),
		CASE(a_bad_variable_is_named),
		CASE(that_a_file_is_another_one_is_seen),
		CASE(wrong_arguments_are_refused),
		CASE(a_session_does_as_configured),
		CASE(a_session_tells_the_log_what_nobody_knows),
		CASE(a_request_is_filled_from_libkinetos_keys),
		CASE(a_delay_counts_from_now),
		CASE(the_default_warm_up_fits_a_short_delay),
		CASE(without_a_configuration_a_request_reads_it),
		CASE(a_name_is_made_by_pattern_or_configuration),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
