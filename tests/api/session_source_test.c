/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources that a program's own session names, with their options. */
#define _GNU_SOURCE /* mkdtemp */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: no session has had the source yet. */
		cmocka_unit_test(what_is_refused_leaves_no_source_behind),
		cmocka_unit_test(
			an_option_that_no_source_has_is_refused_before_anything_starts),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
