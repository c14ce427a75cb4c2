/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of a framework: kymo_mark_trace_span. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "support/test.h"

static void mark(void)
{
	static uint32_t name;
	uint64_t begin = kymo_mark_begin();

	kymo_mark_end(begin, kymo_mark_name(&name, "step"));
}

/* What is in the file, which is removed. */
static const char *read_text(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	return text;
}

/* Whether an event of that name, which has to be there, has the text in it. */
static int event_has(const char *trace, const char *name, const char *text)
{
	const char *at = strstr(trace, name), *end, *found;

	assert_non_null(at);
	end = strstr(at, "\n  }");
	while (at > trace && strncmp(at, "\n  {", 4) != 0)
		at--;
	found = strstr(at, text);
	return found && found < end;
}

static void iterations_are_told_as_in_libkineto(void **state)
{
	const char *path = in_folder("a.json");
	struct kymo_session *session = NULL;
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	const char *trace;
	char name[2000];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_mark_trace_span(0, "x", 1, 1), KYMO_OK);
	assert_int_equal(kymo_mark_trace_span(1, "x", 1, 1), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_mark_trace_span(kymo_mark_begin(), NULL, 1, 1),
			 KYMO_ERROR_INVALID);
	assert_int_equal(
		kymo_mark_trace_span(kymo_mark_begin(), "PyTorch Profiler", 7, 3),
		KYMO_OK);
	assert_int_equal(kymo_mark_trace_span(kymo_mark_begin(), name, 8, 0), KYMO_OK);
	mark();
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_save(session, path, NULL, &summary, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_int_equal(summary.events, 5);
	trace = read_text(path);
	assert_true(event_has(trace, "\"PyTorch Profiler (7)\"", "\"ph\": \"X\""));
	assert_true(event_has(trace, "\"PyTorch Profiler (7)\"", "\"cat\": \"Trace\""));
	assert_true(event_has(trace, "\"PyTorch Profiler (7)\"", "\"Op count\": 3"));
	assert_true(event_has(trace, "\"Iteration Start: PyTorch Profiler\"",
			      "\"s\": \"g\""));
	assert_false(event_has(trace, "\"step\"", "\"s\": \"g\""));
	assert_non_null(strstr(trace, "nnn (8)\""));
}

static void iterations_have_a_row_of_their_own(void **state)
{
	const char *path = in_folder("a.json");
	struct kymo_session *session = NULL;
	uint32_t name = 0;
	uint64_t outer, iteration;
	const char *trace;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	/* On the thread's row one of the two would have to move to a lane. */
	outer = kymo_mark_begin();
	iteration = kymo_mark_begin();
	kymo_mark_end(outer, kymo_mark_name(&name, "outer"));
	assert_int_equal(kymo_mark_trace_span(iteration, "Profiler", 0, 1), KYMO_OK);
	assert_int_equal(kymo_mark_trace_span(kymo_mark_begin(), "Profiler", 1, 1),
			 KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	trace = read_text(path);
	assert_null(strstr(trace, "lane"));
	assert_non_null(strstr(trace, "\"name\": \"Profiler\", \"native\": "));
	assert_non_null(strstr(trace, "\"sort_index\": 536870912\n"));
	assert_true(event_has(trace, "\"Profiler (0)\"", "\"tid\": 536870912,"));
	assert_true(event_has(trace, "\"Profiler (1)\"", "\"tid\": 536870912,"));
	assert_true(
		event_has(trace, "\"Iteration Start: Profiler\"", "\"tid\": 536870912,"));
	assert_false(event_has(trace, "\"outer\"", "\"tid\": 536870912,"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(iterations_are_told_as_in_libkineto),
		cmocka_unit_test(iterations_have_a_row_of_their_own),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
