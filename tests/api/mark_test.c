/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks, from the outside: what is written is what a trace shows. */
#define _GNU_SOURCE /* mkdtemp, gettid */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static struct kymo_session *session;
static struct memory_sink trace;

static void begin(void)
{
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
}

/* Ends the session and reads it into `trace`. */
static void end(void)
{
	const char *path = in_folder("mark.kymo");
	struct kymo_error error = {0};

	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	kymo_session_destroy(session);
	memory_free(&trace);
	if (kymo_timeline_export_to(&path, 1, &memory_ops, &trace, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
}

static const struct memory_value *find_value(const struct memory_event *event,
					     const char *key)
{
	for (size_t i = 0; i < event->value_count; i++)
		if (strcmp(event->values[i].key, key) == 0)
			return &event->values[i];
	fail_msg("no value \"%s\"", key);
	return NULL;
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void nothing_is_recorded_without_a_session(void **state)
{
	uint32_t name = 0;

	(void)state;
	assert_int_equal(kymo_mark_begin(), 0);
	assert_true(kymo_mark_is_off());
	kymo_mark_end(0, kymo_mark_name(&name, "early"));
	kymo_mark_end(12345, name);
	kymo_mark_instant(name);
	assert_int_equal(kymo_mark_open(name), 0);
	assert_int_equal(kymo_mark_end_values(0, name, NULL, 0), KYMO_OK);
	assert_int_equal(kymo_mark_end_values(1, name, NULL, 0), KYMO_ERROR_STATE);
	/* Numbers are there before any session and stay. */
	assert_int_not_equal(name, 0);
	assert_int_equal(kymo_mark_intern("early", 5), name);
	begin();
	kymo_mark_instant(name);
	end();
	assert_int_equal(trace.count, 1);
	assert_string_equal(trace.events[0].name, "early");
}

static void a_span_has_its_times_thread_and_values(void **state)
{
	uint16_t bytes = kymo_mark_key("bytes", KYMO_VALUE_UINT64, "bytes");
	uint16_t rate = kymo_mark_key("rate", KYMO_VALUE_DOUBLE, NULL);
	uint32_t name = 0;
	uint64_t start, before_ns;

	(void)state;
	begin();
	before_ns = monotonic_ns();
	start = kymo_mark_begin();
	assert_int_not_equal(start, 0);
	usleep(2000);
	kymo_mark_end2(start, kymo_mark_name(&name, "load"), bytes, UINT64_MAX, rate,
		       bits_of(0.25));
	end();
	assert_int_equal(trace.count, 1);
	assert_int_equal(trace.events[0].kind, KYMO_EVENT_SPAN);
	assert_in_range(trace.events[0].end_ns - trace.events[0].begin_ns, 1900000,
			2 * (monotonic_ns() - before_ns));
	assert_int_equal(trace.events[0].tid, gettid());
	assert_true(find_value(&trace.events[0], "bytes")->u == UINT64_MAX);
	assert_true(find_value(&trace.events[0], "rate")->u == bits_of(0.25));
}

static void a_key_of_zero_leaves_its_value_out(void **state)
{
	uint16_t key = kymo_mark_key("only", KYMO_VALUE_INT64, NULL);
	uint32_t name = 0;

	(void)state;
	begin();
	kymo_mark_end2(kymo_mark_begin(), kymo_mark_name(&name, "x"), 0, 1, key, 2);
	kymo_mark_end(kymo_mark_begin(), name);
	end();
	assert_int_equal(trace.count, 2);
	assert_int_equal(trace.events[0].value_count, 1);
	assert_int_equal(find_value(&trace.events[0], "only")->u, 2);
	assert_int_equal(trace.events[1].value_count, 0);
}

static void names_keep_every_byte(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} names[] = {
		{"", 0},
		{"quote \" back \\ slash", 20},
		{"line\nbreak\ttab\x01", 15},
		{"nul \0 inside", 12},
		{"\xff\xfe not UTF-8", 12},
		{"gr\xc3\xbc\xc3\x9f", 6},
	};
	static char large[100000];

	(void)state;
	memset(large, 'x', sizeof(large));
	begin();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		kymo_mark_instant(kymo_mark_intern(names[i].text, names[i].size));
	kymo_mark_instant(kymo_mark_intern(large, sizeof(large)));
	end();
	assert_int_equal(trace.count, 7);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(trace.events[i].name_size, names[i].size);
		assert_memory_equal(trace.events[i].name, names[i].text, names[i].size);
	}
	assert_int_equal(trace.events[6].name_size, sizeof(large));
}

static void a_key_is_its_name_type_and_unit(void **state)
{
	uint16_t key = kymo_mark_key("size", KYMO_VALUE_INT64, "bytes");

	(void)state;
	assert_int_not_equal(key, 0);
	assert_int_equal(kymo_mark_key("size", KYMO_VALUE_INT64, "bytes"), key);
	assert_int_equal(kymo_mark_key("size", KYMO_VALUE_UINT64, "bytes"), 0);
	assert_int_equal(kymo_mark_key("size", KYMO_VALUE_INT64, "pages"), 0);
	assert_int_equal(kymo_mark_key("size", KYMO_VALUE_INT64, NULL), 0);
	assert_int_equal(kymo_mark_key(NULL, KYMO_VALUE_INT64, NULL), 0);
	assert_int_equal(kymo_mark_key("", KYMO_VALUE_INT64, NULL), 0);
	assert_int_equal(kymo_mark_key("a", 0, NULL), 0);
	assert_int_equal(kymo_mark_key("a", KYMO_VALUE_TIME + 1, NULL), 0);
	assert_int_not_equal(kymo_mark_key("a", KYMO_VALUE_TIME, NULL), 0);
}

static void any_number_of_values_fits_up_to_the_limit(void **state)
{
	static struct kymo_value values[1501];
	static uint16_t keys[1501];
	static const size_t counts[] = {0, 1, 2, 3, 8, 9, 1500};
	char text[32];

	(void)state;
	for (size_t i = 0; i < 1501; i++) {
		snprintf(text, sizeof(text), "v%zu", i);
		keys[i] = kymo_mark_key(text, KYMO_VALUE_UINT64, NULL);
		values[i] = (struct kymo_value){
			.key = keys[i], .type = KYMO_VALUE_UINT64, .u64 = i + 1};
	}
	begin();
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(
			kymo_mark_end_values(kymo_mark_begin(), 0, values, counts[i]),
			KYMO_OK);
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 1501),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, NULL, 1),
			 KYMO_ERROR_INVALID);
	end();
	assert_int_equal(trace.count, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(trace.events[i].value_count, counts[i]);
		for (size_t v = 0; v < counts[i]; v++) {
			snprintf(text, sizeof(text), "v%zu", v);
			assert_int_equal(find_value(&trace.events[i], text)->u, v + 1);
		}
	}
}

static void a_key_that_is_there_twice_is_refused(void **state)
{
	static struct kymo_value values[1500];
	char text[32];

	(void)state;
	for (size_t i = 0; i < 1500; i++) {
		snprintf(text, sizeof(text), "v%zu", i);
		values[i].key = kymo_mark_key(text, KYMO_VALUE_UINT64, NULL);
	}
	values[1499].key = values[0].key;
	begin();
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 1499),
			 KYMO_OK);
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 1500),
			 KYMO_ERROR_INVALID);
	values[1].key = values[0].key;
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 2),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_mark_instant_typed(0, 0, values, 2), KYMO_ERROR_INVALID);
	/* What kymo_mark_key gives where it fails costs the values, not the mark. */
	values[0].key = values[1].key = 0;
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 3), KYMO_OK);
	end();
	assert_int_equal(trace.count, 2);
	assert_int_equal(trace.events[1].value_count, 1);
}

static void arrays_are_copied_whole(void **state)
{
	enum { COUNT = 200 };
	uint16_t shape =
		kymo_mark_key("shape", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, NULL);
	uint16_t empty =
		kymo_mark_key("empty", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, NULL);
	uint16_t batch = kymo_mark_key("batch", KYMO_VALUE_INT64, NULL);
	uint16_t names =
		kymo_mark_key("names", KYMO_VALUE_STRING | KYMO_VALUE_ARRAY, NULL);
	uint16_t label = kymo_mark_key("label", KYMO_VALUE_STRING, NULL);
	uint64_t array[COUNT], strings[2];
	struct kymo_value values[] = {
		{.key = shape,
		 .type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY,
		 .count = COUNT},
		{.key = batch, .type = KYMO_VALUE_INT64, .i64 = -3},
		{.key = names, .type = KYMO_VALUE_STRING | KYMO_VALUE_ARRAY, .count = 2},
		{.key = label, .type = KYMO_VALUE_STRING},
		{.key = empty, .type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, .count = 0},
	};
	const struct memory_value *value;

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++)
		array[i] = i * i;
	strings[0] = kymo_mark_intern("one", 3);
	strings[1] = kymo_mark_intern("two", 3);
	values[0].array = array;
	values[2].array = strings;
	values[3].u64 = kymo_mark_intern("a \"label\"", 9);
	begin();
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, values, 5), KYMO_OK);
	memset(array, 0, sizeof(array));
	end();
	assert_int_equal(trace.count, 1);
	value = find_value(&trace.events[0], "shape");
	assert_int_equal(value->count, COUNT);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(value->array[i], i * i);
	assert_int_equal((int64_t)find_value(&trace.events[0], "batch")->u, -3);
	assert_int_equal(find_value(&trace.events[0], "names")->count, 2);
	assert_string_equal(find_value(&trace.events[0], "label")->text, "a \"label\"");
	assert_int_equal(trace.events[0].value_count, 4); /* none for an empty one */
}

static void a_record_that_is_too_big_is_counted(void **state)
{
	static uint64_t array[2000];
	uint16_t key = kymo_mark_key("huge", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, NULL);
	struct kymo_value value = {.key = key,
				   .type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY,
				   .count = 254 * 7};

	(void)state;
	value.array = array;
	begin();
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, &value, 1), KYMO_OK);
	value.count++;
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, &value, 1),
			 KYMO_ERROR_NO_MEMORY);
	value.count = UINT32_MAX;
	assert_int_equal(kymo_mark_end_values(kymo_mark_begin(), 0, &value, 1),
			 KYMO_ERROR_NO_MEMORY);
	end();
	assert_int_equal(trace.count, 1);
	assert_int_equal(trace.ledger.too_big, 2);
	assert_int_equal(trace.ledger.accepted, 3);
}

static void what_was_open_at_the_end_is_unfinished(void **state)
{
	uint32_t done = 0, hung = 0;
	uint64_t start;

	(void)state;
	begin();
	start = kymo_mark_open(kymo_mark_name(&done, "done"));
	kymo_mark_end(start, done);
	assert_int_not_equal(kymo_mark_open(kymo_mark_name(&hung, "hung")), 0);
	end();
	assert_int_equal(trace.count, 2);
	assert_string_equal(trace.events[0].name, "done");
	assert_false(trace.events[0].flags & KYMO_RECORD_UNFINISHED);
	assert_string_equal(trace.events[1].name, "hung");
	assert_true(trace.events[1].flags & KYMO_RECORD_UNFINISHED);
}

static void errno_is_kept(void **state)
{
	uint32_t name = 0;

	(void)state;
	begin();
	errno = 4711;
	kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "errno"));
	kymo_mark_instant(name);
	kymo_mark_key("errno", KYMO_VALUE_INT64, NULL);
	kymo_mark_open(name);
	assert_int_equal(errno, 4711);
	end();
}

static uint32_t in_handler, in_program;
static int handled;

static void mark_in_handler(int number)
{
	(void)number;
	kymo_mark_end(kymo_mark_begin(), in_handler);
	handled++;
}

static void handlers_may_mark_too(void **state)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = mark_in_handler};
	struct sigaction before;
	uint64_t marks = 0, shown = 0;

	(void)state;
	kymo_mark_name(&in_handler, "in handler");
	kymo_mark_name(&in_program, "in program");
	handled = 0;
	begin();
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	while (handled < 2000 && marks < 300000) {
		kymo_mark_end(kymo_mark_begin(), in_program);
		marks++;
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	end();
	for (size_t i = 0; i < trace.count; i++) {
		int is_handlers = strcmp(trace.events[i].name, "in handler") == 0;

		assert_true(is_handlers ||
			    strcmp(trace.events[i].name, "in program") == 0);
		shown += (uint64_t)!is_handlers;
	}
	assert_int_equal(shown, marks);
	/* A handler that met its own thread inside is not recorded, but counted. */
	assert_int_equal(trace.count + trace.ledger.nested, marks + (uint64_t)handled);
}

/* The handler's mark is often the thread's first one in the session. */
static void handlers_may_mark_while_names_are_made(void **state)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = mark_in_handler};
	struct sigaction before;
	char text[32];

	(void)state;
	kymo_mark_name(&in_handler, "in handler");
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	for (int i = 0; i < 100; i++) {
		begin();
		handled = 0;
		assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
		for (int n = 0; n < 5000 && handled < 5; n++) {
			snprintf(text, sizeof(text), "made %d %d", i, n % 100);
			kymo_mark_intern(text, strlen(text));
		}
		assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
		end();
		/* None is without its type, and none is missing. */
		for (size_t n = 0; n < trace.count; n++)
			assert_string_equal(trace.events[n].name, "in handler");
		assert_int_equal(trace.ledger.accepted,
				 trace.ledger.written + trace.ledger.nested);
		assert_in_range(trace.ledger.accepted, 0, handled);
	}
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

static void a_child_marks_into_nothing(void **state)
{
	uint32_t name = 0;
	int status;
	pid_t pid;

	(void)state;
	begin();
	kymo_mark_instant(kymo_mark_name(&name, "parent"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		uint32_t other = 0;

		kymo_mark_instant(name);
		kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&other, "child"));
		kymo_mark_end2(12345, other, 0, 0, 0, 0);
		_exit(kymo_mark_is_off() && kymo_mark_begin() == 0 &&
				      kymo_mark_intern("parent", 6) == name
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end();
	assert_int_equal(trace.count, 1);
}

static void *make_names(void *context)
{
	static uint32_t numbers[4][500];
	uint32_t *own = numbers[*(int *)context];
	char text[32];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "shared %d", i);
		own[i] = kymo_mark_intern(text, strlen(text));
	}
	return own;
}

static void all_threads_see_the_same_numbers(void **state)
{
	pthread_t threads[4];
	int index[4];
	void *numbers[4];

	(void)state;
	begin();
	for (int i = 0; i < 4; i++) {
		index[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, make_names, &index[i]),
				 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], &numbers[i]);
	for (int i = 1; i < 4; i++)
		assert_memory_equal(numbers[0], numbers[i], 500 * sizeof(uint32_t));
	end();
}

static int tear_down(void **state)
{
	memory_free(&trace);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_recorded_without_a_session),
		cmocka_unit_test(a_span_has_its_times_thread_and_values),
		cmocka_unit_test(a_key_of_zero_leaves_its_value_out),
		cmocka_unit_test(names_keep_every_byte),
		cmocka_unit_test(a_key_is_its_name_type_and_unit),
		cmocka_unit_test(any_number_of_values_fits_up_to_the_limit),
		cmocka_unit_test(a_key_that_is_there_twice_is_refused),
		cmocka_unit_test(arrays_are_copied_whole),
		cmocka_unit_test(a_record_that_is_too_big_is_counted),
		cmocka_unit_test(what_was_open_at_the_end_is_unfinished),
		cmocka_unit_test(errno_is_kept),
		cmocka_unit_test(handlers_may_mark_too),
		cmocka_unit_test(handlers_may_mark_while_names_are_made),
		cmocka_unit_test(a_child_marks_into_nothing),
		cmocka_unit_test(all_threads_see_the_same_numbers),
	};

	return cmocka_run_group_tests(tests, make_folder, tear_down);
}
