/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources that a program's own session names, with their options. */
#define _GNU_SOURCE /* mkdtemp */
#include <kymo/plugin.h>

#include "recorded.h"

/* A session that is not prepared; the names end with NULL. */
static struct kymo_session *session_of(const char *const *sources)
{
	struct kymo_session *session = NULL;

	assert_int_equal(kymo_session_create(&session,
					     KYMO_SESSION_OPTIONS(.sources = sources),
					     NULL),
			 KYMO_OK);
	return session;
}

static void an_option_that_no_source_has_is_refused_before_anything_starts(void **state)
{
	static const struct {
		const char *source, *says;
	} cases[] = {
		{"fake:sed=1", "source \"fake\" has no option \"sed\" (did you mean "
			       "\"seed\"?); it has rate, ppm"},
		{"fake:seed", "option \"seed\" of source \"fake\" needs a number: "
			      "fake:seed=VALUE"},
		{"fake:seed=one", "option \"seed\" of source \"fake\" needs a number"},
		{"fake:fault=a,b", "has a ',', which no value of an option can have"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const sources[] = {"fake", cases[i].source, NULL};
		struct kymo_session *session = session_of(sources);
		struct kymo_error error = {0};

		assert_int_equal(kymo_session_prepare(session, &error),
				 KYMO_ERROR_CONFIG);
		if (!strstr(error.message, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", error.message,
				 cases[i].says);
		/* Nothing has begun, and it is no better the second time. */
		assert_int_equal(kymo_session_start(session, NULL), KYMO_ERROR_CONFIG);
		assert_int_equal(kymo_session_stop(session, &error), KYMO_ERROR_STATE);
		assert_non_null(strstr(error.message, "not prepared"));
		kymo_session_destroy(session);
	}
}

static int is_fake_known(void)
{
	uint32_t id;

	return kymo_activity_type_lookup("fake.note", &id, NULL) == KYMO_OK;
}

static void what_is_refused_leaves_no_source_behind(void **state)
{
	const char *const bad[] = {"fake", "fake:sed=1", NULL};
	const char *const good[] = {"fake:seed=2", NULL};
	struct kymo_session *session = session_of(bad);

	(void)state;
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_ERROR_CONFIG);
	assert_false(is_fake_known());
	kymo_session_destroy(session);
	session = session_of(good);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_true(is_fake_known());
	kymo_session_destroy(session);
}

/* ---- What a source itself says of its options ---- */

/*
 * A source of this test that sessions want which want the installed one, since it is
 * called so.
 */
static struct {
	int starts, stops;
	int32_t status;
} other;

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)error;
	*source = &other;
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source;
	if (other.status != KYMO_OK) {
		memset(error->message, 'x', sizeof(error->message)); /* without an end */
		memcpy(error->message, "seed=7: too odd ", 16);
		return other.status;
	}
	other.starts++;
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	other.stops++;
	return KYMO_OK;
}

static void attach_other(void)
{
	static const struct kymo_source_ops ops = {.struct_size = sizeof(ops),
						   .create = create,
						   .start = start,
						   .stop = stop};
	static const struct kymo_source_desc source = {
		.struct_size = sizeof(source), .name = "fake", .ops = &ops};
	static const struct kymo_source_desc *const sources[] = {&source, NULL};
	static const struct kymo_plugin plugin = {
		.struct_size = sizeof(plugin),
		.abi_major = KYMO_PLUGIN_ABI_MAJOR,
		.name = "other",
		.version = "1",
		.license = "MIT",
		.sources = sources,
	};
	const struct kymo_host *host;

	assert_int_equal(kymo_agent_attach_v1(&plugin, &host, NULL), KYMO_OK);
}

static void assert_refused(struct kymo_session *session, const char *says)
{
	struct kymo_error error = {0};

	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_CONFIG);
	assert_string_equal(error.message, says);
	assert_int_equal(error.status, KYMO_ERROR_CONFIG);
	/* As it was before, and in nobody's way. */
	assert_int_equal(kymo_session_stop(session, &error), KYMO_ERROR_STATE);
	assert_non_null(strstr(error.message, "not prepared"));
	kymo_session_destroy(record(3));
}

/* By create at first, and by prepare when the source is there already. */
static void a_value_that_a_source_refuses_is_refused_with_its_reason(void **state)
{
	static const char says[] = "source \"fake\": no fault is called so: late+typo";
	const char *const bad[] = {"fake:seed=2", "fake:fault=late+typo", NULL};
	const char *const good[] = {"fake:fault=twice", NULL};
	struct kymo_session *session = session_of(bad);

	(void)state;
	assert_refused(session, says);
	assert_refused(session, says);
	kymo_session_destroy(session);

	session = session_of(good);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	kymo_session_destroy(session);

	session = session_of(bad);
	assert_refused(session, says);
	kymo_session_destroy(session);
}

static void what_had_begun_beside_it_is_ended(void **state)
{
	const char *const bad[] = {"fake:rate=0", NULL};
	struct kymo_session *session = session_of(bad);

	(void)state;
	other.status = KYMO_OK;
	assert_refused(session,
		       "source \"fake\": no clock is like that: look at rate and "
		       "bits");
	/* The session of assert_refused names no source, so this one is in it too. */
	assert_int_equal(other.starts, 2);
	assert_int_equal(other.stops, 2);
	kymo_session_destroy(session);
}

static void what_no_option_of_the_session_has_said_refuses_nothing(void **state)
{
	const char *const plain[] = {"fake", NULL};
	struct kymo_session *session = session_of(plain);
	struct memory_sink sink;

	(void)state;
	setenv("FAKE_FAULT", "typo", 1);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	unsetenv("FAKE_FAULT");
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	look_at(session, &sink);
	assert_non_null(strstr(sink.sources, "fake=6 ")); /* FAILED */
	assert_non_null(strstr(sink.reasons, "no fault is called so: typo"));
	memory_free(&sink);
	kymo_session_destroy(session);
}

/* Nothing is to be refused any more: it ends in the trace as what has failed, and why. */
static void who_comes_later_and_refuses_its_options_has_failed(void **state)
{
	const char *const sources[] = {"fake:seed=7", NULL};
	struct kymo_session *session = session_of(sources);
	struct memory_sink sink;

	(void)state;
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	other.status = KYMO_ERROR_CONFIG;
	attach_other();
	mark(5);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	look_at(session, &sink);
	assert_int_equal(sink.count, 5);
	assert_non_null(strstr(sink.sources, "fake=3 ")); /* the one that was there */
	assert_non_null(strstr(sink.sources, "fake#2=6 "));
	assert_non_null(strstr(sink.reasons, "seed=7: too odd xxx"));
	memory_free(&sink);
	kymo_session_destroy(session);
}

/* ---- What is configured ---- */

/* Of a session that is made as it is configured, in its prepare. */
static void assert_prepare_says(const char *says)
{
	struct kymo_session *session = new_session();
	struct kymo_error error = {0};

	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_CONFIG);
	if (strncmp(error.message, says, strlen(says)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", error.message, says);
	kymo_session_destroy(session);
}

static void write_config(const char *text)
{
	FILE *file = fopen(in_folder("kymo.conf"), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void what_is_refused_is_said_with_where_it_was_configured(void **state)
{
	char says[sizeof(folder) + 80];

	(void)state;
	setenv("KYMO_CONFIG", in_folder("kymo.conf"), 1);
	write_config("\nACTIVITY_TYPES = kernle\n");
	snprintf(says, sizeof(says), "%s/kymo.conf:2: ACTIVITY_TYPES: ", folder);
	assert_prepare_says(says);
	write_config("KYMO_SOURCES = fake:fault=typo\n");
	snprintf(says, sizeof(says),
		 "%s/kymo.conf:1: KYMO_SOURCES: source \"fake\": no fault", folder);
	assert_prepare_says(says);
	setenv("KYMO_SOURCES", "fake:sed=1", 1);
	assert_prepare_says("environment: KYMO_SOURCES: source \"fake\" has no option");
	unsetenv("KYMO_SOURCES");
	unsetenv("KYMO_CONFIG");
	unlink(in_folder("kymo.conf"));
}

/* ---- Requests ---- */

static struct kymo_request_options request_with(const char *const *sources)
{
	static struct kymo_session_options session;

	session = (struct kymo_session_options){.struct_size = sizeof(session),
						.sources = sources};
	return (struct kymo_request_options){
		.struct_size = sizeof(struct kymo_request_options),
		.duration_ms = 10,
		.path = in_folder("request.kymo"),
		.session = &session,
	};
}

static void a_request_with_an_option_that_there_is_not_is_not_accepted(void **state)
{
	const char *const bad[] = {"fake:seed=2", "fake:sed=1", NULL};
	const struct kymo_request_options options = request_with(bad);
	struct kymo_error error = {0};
	uint64_t id = 7;

	(void)state;
	assert_int_equal(kymo_request_submit(&options, &id, &error), KYMO_ERROR_CONFIG);
	assert_ptr_equal(strstr(error.message, "source \"fake\" has no option \"sed\""),
			 error.message);
	assert_int_equal(id, 7);
}

static void a_request_whose_options_the_source_refuses_fails_with_its_reason(void **state)
{
	const char *const bad[] = {"fake:fault=typo", NULL};
	const struct kymo_request_options options = request_with(bad);
	struct kymo_request_status ended = {.struct_size = sizeof(ended)};
	uint64_t id;

	(void)state;
	assert_int_equal(kymo_request_submit(&options, &id, NULL), KYMO_OK);
	assert_int_equal(kymo_request_wait(id, 20000, &ended), KYMO_OK);
	assert_int_equal(ended.state, KYMO_REQUEST_FAILED);
	assert_string_equal(ended.reason, "source \"fake\": no fault is called so: typo");
	assert_string_equal(ended.path, "");
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(record(3));
}

/* It would not be recorded instead. */
static void a_session_that_is_wrong_leaves_the_request_that_is_under_way(void **state)
{
	static const char *const bad[] = {"fake:sed=1", NULL};
	struct kymo_request_options options = request_with(NULL);
	struct kymo_request_status now = {.struct_size = sizeof(now)};
	struct kymo_session *session = session_of(bad);
	uint64_t id;

	(void)state;
	options.duration_ms = 3600000;
	assert_int_equal(kymo_request_submit(&options, &id, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_ERROR_CONFIG);
	assert_int_equal(kymo_request_poll(id, &now), KYMO_OK);
	assert_true(now.state < KYMO_REQUEST_PROCESSING);
	assert_string_equal(now.reason, "");
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
	kymo_session_destroy(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: no session has had the source yet. */
		cmocka_unit_test(what_is_refused_leaves_no_source_behind),
		cmocka_unit_test(
			an_option_that_no_source_has_is_refused_before_anything_starts),
		cmocka_unit_test(
			a_value_that_a_source_refuses_is_refused_with_its_reason),
		cmocka_unit_test(what_no_option_of_the_session_has_said_refuses_nothing),
		cmocka_unit_test(what_is_refused_is_said_with_where_it_was_configured),
		cmocka_unit_test(
			a_request_with_an_option_that_there_is_not_is_not_accepted),
		cmocka_unit_test(
			a_request_whose_options_the_source_refuses_fails_with_its_reason),
		cmocka_unit_test(
			a_session_that_is_wrong_leaves_the_request_that_is_under_way),
		cmocka_unit_test(who_comes_later_and_refuses_its_options_has_failed),
		cmocka_unit_test(what_had_begun_beside_it_is_ended),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
