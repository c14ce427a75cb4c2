/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/text.h"
#include "support/test.h"

#define MUTATIONS 20000

#define FLAGS (KYMO_CONFIG_NO_FILES | KYMO_CONFIG_NO_ENVIRONMENT)

static struct kymo_config *create(const char *text, size_t size, struct kymo_error *error)
{
	const struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.flags = FLAGS,
		.text = {text, size},
	};
	struct kymo_config *config = NULL;
	int32_t status = kymo_config_create(&config, &options, error);

	assert_int_equal(status == KYMO_OK, config != NULL);
	return config;
}

/* The configuration of a text that is fine. */
static struct kymo_config *read_text(const char *text)
{
	struct kymo_error error = {0};
	struct kymo_config *config = create(text, strlen(text), &error);

	if (!config)
		fail_msg("%s", error.message);
	return config;
}

/* What holds for a key by its name, not by its number. */
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

static void each_kind_of_value_is_read(void **state)
{
	static const struct {
		const char *text, *key, *value;
	} rows[] = {
		{"KYMO_BUFFER_SIZE = 64MiB", "KYMO_BUFFER_SIZE", "67108864"},
		{"KYMO_BUFFER_SIZE=1g", "KYMO_BUFFER_SIZE", "1073741824"},
		{"KYMO_BUFFER_SIZE=20971520", "KYMO_BUFFER_SIZE", "20971520"},
		{"KYMO_FILE_LIMIT=3KB", "KYMO_FILE_LIMIT", "3072"},
		{"KYMO_DURATION=500ms", "KYMO_DURATION", "500000000"},
		{"KYMO_DURATION=2s", "KYMO_DURATION", "2000000000"},
		{"KYMO_DURATION=5", "KYMO_DURATION", "5000000000"},
		{"KYMO_DURATION=1.5s", "KYMO_DURATION", "1500000000"},
		{"KYMO_DURATION=0.25", "KYMO_DURATION", "250000000"},
		{"KYMO_DURATION=1.9999999999", "KYMO_DURATION", "1999999999"},
		{"KYMO_DURATION=1.5h", "KYMO_DURATION", "5400000000000"},
		{"KYMO_DURATION=2m", "KYMO_DURATION", "120000000000"},
		{"KYMO_DURATION=3min", "KYMO_DURATION", "180000000000"},
		{"KYMO_OVERFLOW=overwrite", "KYMO_OVERFLOW", "overwrite"},
		{"KYMO_FOLLOW_FORK=N", "KYMO_FOLLOW_FORK", "false"},
		{"KYMO_OVERWRITE=Yes", "KYMO_OVERWRITE", "true"},
		{"KYMO_SOURCES = a:x=1 , ,b", "KYMO_SOURCES", "a:x=1 , ,b"},
		{"ACTIVITIES_DURATION_MSECS=7", "ACTIVITIES_DURATION_MSECS", "7"},
		{"ACTIVITIES_DURATION_SECS=7", "ACTIVITIES_DURATION_MSECS", "7000"},
		{"PYTHON_STACK_TRACE=1", "PROFILE_WITH_STACK", "true"},
		{"PROFILE_START_TIME=9223372036854775807", "PROFILE_START_TIME",
		 "9223372036854775807"},
		{"ACTIVITIES_ITERATIONS=2147483647", "ACTIVITIES_ITERATIONS",
		 "2147483647"},
		{"CUSTOM_CONFIG=", "CUSTOM_CONFIG", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_config *config = read_text(rows[i].text);
		const struct kymo_config_value value = value_of(config, rows[i].key);

		assert_string_equal(value.value, rows[i].value);
		assert_int_equal(value.is_set, 1);
		assert_string_equal(value.origin, "options:1");
		kymo_config_destroy(config);
	}
}

static void one_bad_line_refuses_all_with_line_and_reason(void **state)
{
	static const struct {
		const char *line, *reason;
	} rows[] = {
		{"KYMO_BUFFER_SIZE", "has no '='"},
		{"= 3", "no key in front"},
		{"CUSTOM_CONFIG = a = b", "more than one '='"},
		{"KYMO_BUFFER_SIZE = ", "KYMO_BUFFER_SIZE \"\": a size"},
		{"KYMO_BUFFER_SIZE = 64 MiB of it", "a size, as in 64MiB"},
		{"KYMO_BUFFER_SIZE = 9MiB", "from 10 MiB to 1 TiB is allowed"},
		{"KYMO_BUFFER_SIZE = 18446744073709551616",
		 "from 10 MiB to 1 TiB is allowed"},
		{"KYMO_BUFFER_SIZE = 16777216TiB", "from 10 MiB to 1 TiB is allowed"},
		/* 20 MiB if it went round. */
		{"KYMO_BUFFER_SIZE = 18446744073730523136",
		 "from 10 MiB to 1 TiB is allowed"},
		{"KYMO_BUFFER_SIZE = -1", "a size"},
		{"KYMO_DURATION = 5 apples", "a time, as in 500ms, 1.5s or 10"},
		{"KYMO_DURATION = .5", "a time, as in 500ms"},
		{"KYMO_DURATION = 1.5.5s", "a time, as in 500ms"},
		{"KYMO_DURATION = 8784.1h", "from 1 ms to 8784 h is allowed"},
		{"KYMO_BUFFER_SIZE = 64.5MiB", "a size, as in 64MiB"},
		{"KYMO_DURATION = 99999999h", "is allowed"},
		{"KYMO_DELAY = 99999999h", "from 0 to 8784 h is allowed"},
		{"KYMO_OVERFLOW = Drop", "one of drop|overwrite|stream"},
		{"KYMO_OUTPUT = a%z.json", "\"%z\" is none of"},
		{"ACTIVITIES_ENABLED = maybe", "true or false"},
		{"ACTIVITIES_ITERATIONS = 2147483648", "from 0 to 2147483647"},
		{"ACTIVITIES_ITERATIONS = 1.5", "a number"},
		{"ACTIVITIES_ITERATIONS = +1", "a number"},
		{"ACTIVITIES_DURATION_SECS = 2147483648", "from 0 to 2147483647"},
		{"PROFILE_START_TIME = 9223372036854775808", "is allowed"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};

		snprintf(text, sizeof(text), "# x\nKYMO_COMPAT = a\n%s\nNONSENSE\n",
			 rows[i].line);
		assert_null(create(text, strlen(text), &error));
		assert_int_equal(error.status, KYMO_ERROR_CONFIG);
		if (strncmp(error.message, "options:3: ", 11) != 0 ||
		    !strstr(error.message, rows[i].reason))
			fail_msg("%s: %s", rows[i].line, error.message);
	}
}

static void blanks_comments_line_ends_and_marks_do_not_matter(void **state)
{
	struct kymo_config *config =
		read_text("\xef\xbb\xbf\r\n \t\n# ACTIVITIES_ITERATIONS = 1\r\n"
			  "\tACTIVITIES_ITERATIONS\t=  3 # 4\r\n"
			  "VERBOSE_LOG_LEVEL=2");

	(void)state;
	assert_string_equal(value_of(config, "ACTIVITIES_ITERATIONS").value, "3");
	assert_string_equal(value_of(config, "ACTIVITIES_ITERATIONS").origin,
			    "options:4");
	assert_string_equal(value_of(config, "VERBOSE_LOG_LEVEL").value, "2");
	assert_null(kymo_config_warning(config, 0));
	kymo_config_destroy(config);
}

static void an_unknown_key_is_a_warning_that_names_the_nearest(void **state)
{
	struct kymo_config *config =
		read_text("kymo_bufer_size = 1\nACTIVITES_DURATION_SEC = x\n"
			  "something_else_altogether = 1\nKYMO_CONFIG = /x\n");

	(void)state;
	assert_string_equal(kymo_config_warning(config, 0),
			    "options:1: no key \"kymo_bufer_size\"; did you mean "
			    "KYMO_BUFFER_SIZE?");
	assert_non_null(strstr(kymo_config_warning(config, 1),
			       "did you mean ACTIVITIES_DURATION_SECS?"));
	assert_string_equal(kymo_config_warning(config, 2),
			    "options:3: no key \"something_else_altogether\"");
	assert_non_null(strstr(kymo_config_warning(config, 3), "KYMO_CONFIG"));
	assert_null(kymo_config_warning(config, 4));
	kymo_config_destroy(config);
}

static void the_later_line_holds_and_says_so(void **state)
{
	struct kymo_config *config =
		read_text("ACTIVITIES_DURATION_SECS = 1\nACTIVITIES_DURATION_MSECS = 5");

	(void)state;
	assert_string_equal(value_of(config, "ACTIVITIES_DURATION_MSECS").value, "5");
	assert_non_null(
		strstr(kymo_config_warning(config, 0), "set before, at options:1"));
	kymo_config_destroy(config);
}

static void a_nul_is_refused_where_it_stands(void **state)
{
	static const char text[] = "VERBOSE_LOG_LEVEL = 1\n#\0\n";
	struct kymo_error error = {0};

	(void)state;
	assert_null(create(text, sizeof(text) - 1, &error));
	assert_non_null(strstr(error.message, "options:2: there is a NUL byte"));
}

static void a_line_of_a_megabyte_is_a_line(void **state)
{
	const size_t size = 1 << 20;
	char *text = malloc(size + 1);
	struct kymo_config *config;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size] = '\0';
	memcpy(text, "CUSTOM_CONFIG=", 14);
	config = read_text(text);
	assert_int_equal(strlen(value_of(config, "CUSTOM_CONFIG").value), size - 14);
	kymo_config_destroy(config);
	text[3] = '\n'; /* what is in front has no "=" */
	config = create(text, size, NULL);
	assert_null(config);
	free(text);
}

static void control_characters_do_not_get_into_messages(void **state)
{
	struct kymo_config *config = read_text("a\x1b[31mb\x7f = 1\n");

	(void)state;
	assert_string_equal(kymo_config_warning(config, 0),
			    "options:1: no key \"a?[31mb?\"");
	kymo_config_destroy(config);
}

static void the_output_is_kymos_key_or_libkinetos_with_the_pid(void **state)
{
	static const struct {
		const char *text, *output;
	} rows[] = {
		{"", NULL},
		{"KYMO_OUTPUT=a-%p.json", "a-%p.json"},
		{"ACTIVITIES_LOG_FILE=/tmp/a.json", "/tmp/a_%p.json"},
		{"ACTIVITIES_LOG_FILE=/d.json/a.pt.trace.json.gz",
		 "/d.json/a_%p.pt.trace.json.gz"},
		{"ACTIVITIES_LOG_FILE=100%.json", "100%%_%p.json"},
		{"ACTIVITIES_LOG_FILE=a", "a"},
		{"KYMO_OUTPUT=b.json\nACTIVITIES_LOG_FILE=a.json", "b.json"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_config *config = read_text(rows[i].text);

		if (rows[i].output)
			assert_string_equal(ky_config_output(config), rows[i].output);
		else
			assert_null(ky_config_output(config));
		kymo_config_destroy(config);
	}
}

static void the_buffer_is_kymos_key_or_what_libkineto_allows_devices(void **state)
{
	static const struct {
		const char *text;
		uint64_t size;
	} rows[] = {
		{"", 0},
		{"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=256", 256ull << 20},
		{"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=0", 10ull << 20},
		{"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=2147483647", 1ull << 40},
		{"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=256\nKYMO_BUFFER_SIZE=32M",
		 32ull << 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_config *config = read_text(rows[i].text);

		assert_int_equal(ky_config_buffer_size(config), rows[i].size);
		kymo_config_destroy(config);
	}
}

static void every_key_has_a_name_of_its_own(void **state)
{
	const struct ky_key *key;
	size_t index;
	uint64_t factor;

	(void)state;
	for (size_t i = 0; (key = ky_key_at(i)); i++) {
		const struct kymo_str name = {key->name, strlen(key->name)};

		if (key->is_variable_only)
			continue;
		assert_ptr_equal(ky_key_find(name, &index, &factor), key);
		assert_int_equal(index, i);
		assert_int_equal(factor, 1);
		if (key->variable)
			assert_string_equal(key->variable, key->name);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Whatever it is, it is read or refused in one line, and nothing is half done. */
static void texts_with_changed_bytes_do_no_harm(void **state)
{
	static const char whole[] =
		"# comment\nKYMO_SOURCES = a:b=c, d\r\nKYMO_BUFFER_SIZE = 64MiB\n"
		"ACTIVITIES_DURATION_SECS = 12\nKYMO_OUTPUT = %p-%q{X}-%%.json\n"
		"KYMO_DURATION = 500ms\nACTIVITIES_LOG_FILE = /a/b%.json\nX_Y = 1\n";
	static const char bytes[] = "=#\n\r\0%{}, \t09kMKYMO_\xef\xbb\xbf\xff-";
	char text[sizeof(whole)];
	uint64_t random = 88172645463325252ull;
	size_t read = 0;

	(void)state;
	for (int i = 0; i < MUTATIONS; i++) {
		size_t size = sizeof(whole) - 1 - next_random(&random) % 8;
		struct kymo_error error = {0};
		struct kymo_config *config;

		memcpy(text, whole, sizeof(whole));
		for (uint64_t n = 1 + next_random(&random) % 4; n > 0; n--)
			text[next_random(&random) % size] =
				bytes[next_random(&random) % (sizeof(bytes) - 1)];
		config = create(text, size, &error);
		read += config != NULL;
		if (!config) {
			assert_int_equal(error.status, KYMO_ERROR_CONFIG);
			assert_null(strchr(error.message, '\n'));
			assert_memory_equal(error.message, "options:", 8);
		}
		kymo_config_destroy(config);
	}
	/* Both ways were gone. */
	assert_true(read > MUTATIONS / 100 && read < MUTATIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_value_is_read),
		cmocka_unit_test(one_bad_line_refuses_all_with_line_and_reason),
		cmocka_unit_test(blanks_comments_line_ends_and_marks_do_not_matter),
		cmocka_unit_test(an_unknown_key_is_a_warning_that_names_the_nearest),
		cmocka_unit_test(the_later_line_holds_and_says_so),
		cmocka_unit_test(a_nul_is_refused_where_it_stands),
		cmocka_unit_test(a_line_of_a_megabyte_is_a_line),
		cmocka_unit_test(control_characters_do_not_get_into_messages),
		cmocka_unit_test(the_output_is_kymos_key_or_libkinetos_with_the_pid),
		cmocka_unit_test(
			the_buffer_is_kymos_key_or_what_libkineto_allows_devices),
		cmocka_unit_test(every_key_has_a_name_of_its_own),
		cmocka_unit_test(texts_with_changed_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
