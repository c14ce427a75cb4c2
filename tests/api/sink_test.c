/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks of the program's own, and one trace into several of them. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "support/test.h"

#define THREADS 8

/* What the sinks of this file were told, by the path that they were opened with. */
static struct {
	char path[64];
	size_t events;
	int is_ended, is_aborted, is_closed;
} told;

static int32_t note_open(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	(void)options, (void)error;
	memset(&told, 0, sizeof(told));
	snprintf(told.path, sizeof(told.path), "%.*s", (int)path.size, path.data);
	*sink = &told;
	return KYMO_OK;
}

static int32_t note_begin(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	return KYMO_OK;
}

static int32_t note_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)error;
	for (size_t i = 0; i < count; i++)
		told.events += events[i]->type != NULL;
	return KYMO_OK;
}

static int32_t fail_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count;
	snprintf(error->message, sizeof(error->message), "the tape is torn");
	return KYMO_ERROR_IO;
}

static int32_t note_end(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)error;
	told.is_ended = 1;
	result->bytes = 11;
	return KYMO_OK;
}

static void note_abort(void *sink)
{
	(void)sink;
	told.is_aborted = 1;
}

static void note_close(void *sink)
{
	(void)sink;
	told.is_closed = 1;
}

#define OPS(batch_function)                                                      \
	{                                                                        \
		.struct_size = sizeof(struct kymo_sink_ops), .open = note_open,  \
		.begin = note_begin, .batch = (batch_function), .end = note_end, \
		.abort = note_abort, .close = note_close                         \
	}

static const struct kymo_sink_ops noting = OPS(note_batch);
static const struct kymo_sink_ops failing = OPS(fail_batch);

/* A capture with three marks, in the folder. */
static const char *make_capture(void)
{
	const char *path = in_folder("sinks.kymo");
	static char kept[PATH_MAX];
	static uint32_t name;
	struct kymo_session *session;

	snprintf(kept, sizeof(kept), "%s", path);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	for (int i = 0; i < 3; i++)
		kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "step"));
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_save(session, kept, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	return kept;
}

static void a_registered_sink_is_found_in_any_case(void **state)
{
	const char *capture = make_capture();
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {.message = "old"};

	(void)state;
	assert_int_equal(kymo_sink_register("Tape", &noting, &error), KYMO_OK);
	assert_string_equal(error.message, "");
	assert_int_equal(kymo_timeline_export(&capture, 1, "tAPE://reel 1", NULL,
					      &summary, &error),
			 KYMO_OK);
	assert_string_equal(told.path, "reel 1");
	assert_int_equal(told.events, 3);
	assert_true(told.is_ended && told.is_closed && !told.is_aborted);
	assert_int_equal(summary.bytes, 11);
	unlink(capture);
}

static void a_suffix_is_known_in_any_case(void **state)
{
	const char *capture = make_capture();
	unsigned char magic[2] = {0};
	char path[PATH_MAX];
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("A.Json.GZ"));
	assert_int_equal(kymo_timeline_export(&capture, 1, path, NULL, NULL, NULL),
			 KYMO_OK);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fread(magic, 1, 2, file), 2);
	fclose(file);
	assert_int_equal(magic[0] << 8 | magic[1], 0x1f8b);
	unlink(path);
	unlink(capture);
}

static void the_last_one_of_a_protocol_wins_with_a_warning(void **state)
{
	const char *capture = make_capture();
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_sink_register("reel", &failing, &error), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export(&capture, 1, "reel://x", NULL, NULL, &error),
		KYMO_ERROR_IO);
	assert_string_equal(error.message, "the tape is torn");
	assert_true(told.is_aborted && told.is_closed && !told.is_ended);
	assert_int_equal(kymo_sink_register("REEL", &noting, &error), KYMO_OK);
	assert_non_null(strstr(error.message, "REEL:// was registered before"));
	assert_int_equal(
		kymo_timeline_export(&capture, 1, "reel://x", NULL, NULL, &error),
		KYMO_OK);
	unlink(capture);
}

static void an_unknown_protocol_lists_the_known(void **state)
{
	const char *capture = make_capture();
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_sink_register("known", &noting, NULL), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export(&capture, 1, "knwon://x", NULL, NULL, &error),
		KYMO_ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "known://"));
	assert_non_null(strstr(error.message, "chrome://"));
	/* Once, however it was written when it was registered again. */
	assert_int_equal(kymo_sink_register("KNOWN", &noting, NULL), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export(&capture, 1, "knwon://x", NULL, NULL, &error),
		KYMO_ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "KNOWN://"));
	assert_null(strstr(error.message, " known://,"));
	unlink(capture);
}

static void one_output_that_fails_leaves_the_others_whole(void **state)
{
	const char *capture = make_capture();
	char json[PATH_MAX], gz[PATH_MAX];
	struct kymo_output outputs[] = {
		{.struct_size = sizeof(outputs[0]), .path = json},
		{.struct_size = sizeof(outputs[0]), .path = "torn://x"},
		{.struct_size = sizeof(outputs[0]), .path = "nobody://x"},
		{.struct_size = sizeof(outputs[0]), .path = gz},
	};
	struct kymo_output *const list[] = {&outputs[0], &outputs[1], &outputs[2],
					    &outputs[3], NULL};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};

	(void)state;
	snprintf(json, sizeof(json), "%s", in_folder("a.json"));
	snprintf(gz, sizeof(gz), "%s", in_folder("a.json.gz"));
	assert_int_equal(kymo_sink_register("torn", &failing, NULL), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export_all(&capture, 1, list, NULL, &summary, &error),
		KYMO_ERROR_IO);
	assert_string_equal(error.message, "output \"torn://x\": the tape is torn");
	assert_int_equal(outputs[0].status, KYMO_OK);
	assert_int_equal(outputs[1].status, KYMO_ERROR_IO);
	assert_int_equal(outputs[2].status, KYMO_ERROR_UNSUPPORTED);
	assert_int_equal(outputs[3].status, KYMO_OK);
	assert_int_equal(summary.events, 3);
	assert_int_equal(summary.bytes, outputs[0].bytes + outputs[3].bytes);
	assert_int_equal(access(json, F_OK), 0);
	assert_int_equal(access(gz, F_OK), 0);
	/* Both are there now. */
	assert_int_equal(kymo_timeline_export_all(&capture, 1, list, NULL, NULL, &error),
			 KYMO_ERROR_EXISTS);
	unlink(json);
	unlink(gz);
	unlink(capture);
	assert_int_equal(kymo_timeline_export_all(&capture, 1, list, NULL, NULL, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_not_equal(outputs[0].status, KYMO_OK);
	assert_int_equal(count_files(), 0);
}

/* The file's text, to be freed. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

static void a_trace_in_memory_is_whole_and_saved_as_it_would_have_been(void **state)
{
	const char *capture = make_capture();
	struct kymo_output outputs[2] = {{.struct_size = sizeof(outputs[0])},
					 {.struct_size = sizeof(outputs[0])}};
	struct kymo_output *const list[] = {&outputs[0], &outputs[1], NULL};
	struct kymo_trace *trace;
	const struct kymo_trace_event *event;
	char direct[PATH_MAX], later[PATH_MAX];
	char *first, *second;
	size_t spans = 0;

	(void)state;
	snprintf(direct, sizeof(direct), "%s", in_folder("direct.json"));
	snprintf(later, sizeof(later), "%s", in_folder("later.json"));
	outputs[0].path = "memory://a b";
	outputs[1].path = direct;
	assert_int_equal(kymo_timeline_export_all(&capture, 1, list, NULL, NULL, NULL),
			 KYMO_OK);
	unlink(capture);
	assert_int_equal(kymo_trace_take("a b", &trace, NULL), KYMO_OK);
	for (size_t i = 0; (event = kymo_trace_event_at(trace, i)); i++) {
		if (event->kind != KYMO_EVENT_SPAN)
			continue;
		spans++;
		assert_int_equal(event->name.size, 4);
		assert_memory_equal(event->name.data, "step", 4);
		assert_int_equal(event->track->process->pid, (uint64_t)getpid());
		assert_ptr_equal(event->track->base, event->track);
	}
	assert_int_equal(spans, 3);
	assert_int_equal(kymo_trace_header_of(trace)->process_count, 1);
	assert_int_equal(kymo_trace_end_of(trace)->ledger->spans, 3);
	assert_int_equal(kymo_trace_save(trace, later, NULL, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_trace_save(trace, later, NULL, NULL, NULL),
			 KYMO_ERROR_EXISTS);
	kymo_trace_destroy(trace);
	first = read_file(direct);
	second = read_file(later);
	/* But for the name of the file itself, which stands at the end. */
	*strstr(first, "\"traceName\"") = '\0';
	*strstr(second, "\"traceName\"") = '\0';
	assert_string_equal(first, second);
	free(first);
	free(second);
	unlink(direct);
	unlink(later);
}

static void a_session_is_saved_to_memory_and_to_a_file(void **state)
{
	struct kymo_trace *trace;
	struct kymo_session *session;
	static uint32_t name;
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("s.json"));
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "step"));
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(
		kymo_session_save(session, "memory://no such folder/s", NULL, NULL, NULL),
		KYMO_OK);
	assert_int_equal(kymo_session_save(session, "memory://", NULL, NULL, NULL),
			 KYMO_OK);
	/* Behind a protocol it is a name as any other. */
	assert_int_equal(kymo_session_save(session, "memory://s.kymo", NULL, NULL, NULL),
			 KYMO_OK);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_int_equal(kymo_trace_take("s.kymo", &trace, NULL), KYMO_OK);
	kymo_trace_destroy(trace);
	assert_int_equal(kymo_trace_take("", &trace, NULL), KYMO_OK);
	kymo_trace_destroy(trace);
	assert_int_equal(kymo_trace_take("no such folder/s", &trace, NULL), KYMO_OK);
	assert_int_equal(kymo_trace_end_of(trace)->ledger->spans, 1);
	kymo_trace_destroy(trace);
	unlink(path);
	assert_int_equal(count_files(), 0);
}

static void a_trace_in_memory_is_taken_once_the_last_one_of_its_name(void **state)
{
	const char *capture = make_capture();
	struct kymo_trace *trace;
	struct kymo_error error = {0};

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(kymo_timeline_export(&capture, 1, "memory://twice", NULL,
						      NULL, NULL),
				 KYMO_OK);
	unlink(capture);
	assert_int_equal(kymo_trace_take("twice", &trace, NULL), KYMO_OK);
	kymo_trace_destroy(trace);
	assert_int_equal(kymo_trace_take("twice", &trace, &error), KYMO_ERROR_NOT_FOUND);
	assert_null(trace);
	assert_int_equal(kymo_trace_take("never", &trace, &error), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_trace_take(NULL, &trace, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_trace_save(NULL, "x.json", NULL, NULL, &error),
			 KYMO_ERROR_INVALID);
	kymo_trace_destroy(NULL);
	assert_null(kymo_trace_event_at(NULL, 0));
}

static void wrong_arguments_are_refused(void **state)
{
	const char *capture = "x.kymo";
	struct kymo_output small = {.struct_size = 8, .path = "a.json"};
	struct kymo_output *const none[] = {NULL};
	struct kymo_output *const one[] = {&small, NULL};
	struct kymo_sink_ops ops = noting;
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_sink_register(NULL, &noting, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_sink_register("a b", &noting, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_sink_register("a", NULL, &error), KYMO_ERROR_INVALID);
	ops.close = NULL;
	assert_int_equal(kymo_sink_register("a", &ops, &error), KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "\"close\" is missing"));
	assert_int_equal(error.status, KYMO_ERROR_INVALID);
	assert_int_equal(kymo_sink_load("no_such_sink", &error), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_sink_load("/no/such.so", &error), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_sink_load(NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_sink_load("chrome", &error), KYMO_OK);
	assert_int_equal(kymo_timeline_export_all(&capture, 1, none, NULL, NULL, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_timeline_export_all(&capture, 1, NULL, NULL, NULL, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_timeline_export_all(&capture, 1, one, NULL, NULL, &error),
			 KYMO_ERROR_INVALID);
}

static void *register_many(void *context)
{
	const char *capture = "no_such.kymo";
	char protocol[16];

	for (int i = 0; i < 20; i++) {
		snprintf(protocol, sizeof(protocol), "p%d-%d", *(int *)context, i);
		assert_int_equal(kymo_sink_register(protocol, &noting, NULL), KYMO_OK);
		/* Looks through the list while others add to it. */
		kymo_timeline_export(&capture, 1, "p0-0://x", NULL, NULL, NULL);
	}
	return NULL;
}

static void *put_and_take(void *context)
{
	const char *capture = context;
	struct kymo_trace *trace;
	size_t taken = 0;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(kymo_timeline_export(&capture, 1, "memory://shared",
						      NULL, NULL, NULL),
				 KYMO_OK);
		if (kymo_trace_take("shared", &trace, NULL) != KYMO_OK)
			continue; /* another one was faster */
		assert_int_equal(kymo_trace_end_of(trace)->ledger->spans, 3);
		kymo_trace_destroy(trace);
		taken++;
	}
	return (void *)taken;
}

static void threads_put_and_take_one_name_at_once(void **state)
{
	const char *capture = make_capture();
	pthread_t threads[THREADS];
	size_t taken = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_and_take,
						(void *)(uintptr_t)capture),
				 0);
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		taken += (size_t)result;
	}
	assert_true(taken > 0);
	unlink(capture);
}

static void threads_register_at_once(void **state)
{
	const char *capture = make_capture();
	pthread_t threads[THREADS];
	int numbers[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(
			pthread_create(&threads[i], NULL, register_many, &numbers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++) {
		char url[32];

		snprintf(url, sizeof(url), "p%d-19://x", i);
		assert_int_equal(kymo_timeline_export(&capture, 1, url, NULL, NULL, NULL),
				 KYMO_OK);
	}
	unlink(capture);
}

/* The last of all, since memory:// is another thing from then on. */
static void a_built_in_sink_is_taken_over_with_a_warning(void **state)
{
	const char *capture = make_capture();
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_sink_register("Memory", &noting, &error), KYMO_OK);
	assert_non_null(strstr(error.message, "Memory:// was registered before"));
	assert_int_equal(
		kymo_timeline_export(&capture, 1, "memory://x", NULL, NULL, NULL),
		KYMO_OK);
	assert_string_equal(told.path, "x");
	unlink(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_registered_sink_is_found_in_any_case),
		cmocka_unit_test(a_suffix_is_known_in_any_case),
		cmocka_unit_test(the_last_one_of_a_protocol_wins_with_a_warning),
		cmocka_unit_test(an_unknown_protocol_lists_the_known),
		cmocka_unit_test(one_output_that_fails_leaves_the_others_whole),
		cmocka_unit_test(
			a_trace_in_memory_is_whole_and_saved_as_it_would_have_been),
		cmocka_unit_test(a_session_is_saved_to_memory_and_to_a_file),
		cmocka_unit_test(
			a_trace_in_memory_is_taken_once_the_last_one_of_its_name),
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(threads_put_and_take_one_name_at_once),
		cmocka_unit_test(threads_register_at_once),
		cmocka_unit_test(a_built_in_sink_is_taken_over_with_a_warning),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
