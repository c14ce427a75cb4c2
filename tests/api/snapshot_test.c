/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a session that goes on: what is in them, what is counted, from many
 * threads. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

#define WRITERS   3
#define SNAPSHOTS 40
#define LAST_NS   2900000000u
#define BUFFER_SIZE                                                        \
	(10u << 20) /* the least: fast writers go round in it all the time \
		     */

static struct kymo_session *session;
static uint32_t is_over;
static uint16_t writer_key, number_key;

static void record(uint32_t writer, uint64_t number)
{
	static uint32_t name;
	const struct kymo_value values[] = {
		{.key = writer_key, .type = KYMO_VALUE_UINT64, .u64 = writer},
		{.key = number_key, .type = KYMO_VALUE_UINT64, .u64 = number},
	};

	kymo_mark_end_values(kymo_mark_begin(), kymo_mark_name(&name, "n"), values, 2);
}

static void begin(uint32_t overflow)
{
	struct kymo_error error = {0};

	if (kymo_session_create(&session,
				KYMO_SESSION_OPTIONS(.overflow = overflow,
						     .buffer_size = BUFFER_SIZE),
				&error) != KYMO_OK ||
	    kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	writer_key = kymo_mark_key("writer", KYMO_VALUE_UINT64, "");
	number_key = kymo_mark_key("number", KYMO_VALUE_UINT64, "");
	is_over = 0;
}

static void end(void)
{
	kymo_session_destroy(session);
	session = NULL;
}

static void snapshot(const char *path, uint64_t last_ns)
{
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.overwrite = 1,
	};
	struct kymo_error error = {0};

	if (kymo_session_snapshot(session, path, last_ns, &options, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
}

static void assert_balanced(const struct kymo_trace_ledger *ledger)
{
	assert_int_equal(ledger->accepted,
			 ledger->written + ledger->full + ledger->too_big +
				 ledger->nested + ledger->overwritten + ledger->late +
				 ledger->out_of_window + ledger->cut + ledger->invalid);
	assert_int_equal(ledger->offered, ledger->accepted + ledger->filtered);
}

/* What of one writer is in a snapshot. */
struct seen {
	uint64_t count, last;
};

/* Each number once, in order. */
static void look_at(const struct memory_sink *sink, struct seen seen[WRITERS])
{
	memset(seen, 0, WRITERS * sizeof(*seen));
	for (size_t i = 0; i < sink->count; i++) {
		const struct memory_event *event = &sink->events[i];
		struct seen *at;

		if (event->kind != KYMO_EVENT_SPAN)
			continue;
		assert_int_equal(event->value_count, 2);
		assert_true(event->values[0].u < WRITERS);
		at = &seen[event->values[0].u];
		/* They come in order of time, which is that of the numbers. */
		assert_true(at->count == 0 || event->values[1].u > at->last);
		at->last = event->values[1].u;
		at->count++;
	}
}

static struct memory_sink read_file(const char *path)
{
	struct memory_sink sink = {0};
	struct kymo_error error = {0};

	if (kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	return sink;
}

static void a_snapshot_has_what_there_is_and_the_session_goes_on(void **state)
{
	const char *path = in_folder("a.kymo");
	struct seen seen[WRITERS];

	(void)state;
	begin(KYMO_OVERFLOW_DROP);
	for (uint64_t i = 0; i < 3000; i++) {
		struct memory_sink sink;

		record(0, i);
		if (i % 1000 != 999)
			continue;
		snapshot(path, 0);
		sink = read_file(path);
		look_at(&sink, seen);
		assert_int_equal(seen[0].count, i + 1);
		assert_int_equal(sink.ledger.accepted, i + 1);
		assert_balanced(&sink.ledger);
		assert_int_equal(sink.ledger.cut_captures, 0);
		memory_free(&sink);
	}
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	snapshot(path, 0);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	unlink(path);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	unlink(path);
	end();
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Two batches, and a snapshot of the second; false if that came too late for it. */
static int take_last(struct kymo_summary *summary)
{
	/* Nearly all of it is for a busy machine, behind the last records. */
	const struct timespec between = {3, 0};
	uint32_t name = 0;
	uint64_t second_ns;

	begin(KYMO_OVERFLOW_OVERWRITE);
	for (uint64_t i = 0; i < 500; i++)
		record(0, i);
	kymo_mark_instant(kymo_mark_name(&name, "then"));
	nanosleep(&between, NULL);
	second_ns = monotonic_ns();
	for (uint64_t i = 500; i < 510; i++)
		record(0, i);
	assert_int_equal(kymo_session_snapshot(session, "memory://s", LAST_NS, NULL,
					       summary, NULL),
			 KYMO_OK);
	return monotonic_ns() - second_ns < LAST_NS;
}

static void the_last_of_it_is_cut_to_the_nanosecond(void **state)
{
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_trace *trace = NULL;
	const struct kymo_trace_ledger *ledger;
	uint64_t spans = 0;
	int is_in_time;

	(void)state;
	is_in_time = take_last(&summary);
	for (int i = 0; i < 4 && !is_in_time; i++) {
		end();
		assert_int_equal(kymo_trace_take("s", &trace, NULL), KYMO_OK);
		kymo_trace_destroy(trace);
		is_in_time = take_last(&summary);
	}
	assert_true(is_in_time);
	assert_int_equal(kymo_trace_take("s", &trace, NULL), KYMO_OK);
	for (size_t i = 0; i < kymo_trace_event_count(trace); i++) {
		const struct kymo_trace_event *event = kymo_trace_event_at(trace, i);

		if (event->kind == KYMO_EVENT_SPAN) {
			assert_int_equal(event->values[1].u64, 500 + spans);
			spans++;
		}
	}
	ledger = kymo_trace_end_of(trace)->ledger;
	assert_int_equal(spans, 10);
	assert_int_equal(summary.events, 10);
	assert_int_equal(summary.lost, 0);
	assert_int_equal(ledger->spans, 10);
	assert_int_equal(ledger->instants, 0);
	assert_int_equal(ledger->written, 10);
	assert_int_equal(ledger->out_of_window, 501);
	assert_balanced(ledger);
	for (uint32_t i = 0; i < kymo_trace_end_of(trace)->source_count; i++)
		assert_int_equal(kymo_trace_end_of(trace)->sources[i]->events, 10);
	assert_true(summary.duration_ns <= (int64_t)LAST_NS);
	kymo_trace_destroy(trace);
	/* All of it is still there. */
	assert_int_equal(
		kymo_session_snapshot(session, "memory://s", 0, NULL, &summary, NULL),
		KYMO_OK);
	assert_int_equal(summary.events, 511);
	end();
}

/* ---- While others write as fast as they can ---- */

static void *write_all(void *context)
{
	const uint32_t writer = (uint32_t)(uintptr_t)context;

	for (uint64_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++)
		record(writer, i);
	return NULL;
}

static uint64_t unknown; /* snapshots whose last numbers are not known */

static void *take_snapshots(void *context)
{
	const uint32_t taker = (uint32_t)(uintptr_t)context;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%u.kymo", folder, taker);
	for (int i = 0; i < SNAPSHOTS; i++) {
		struct seen seen[WRITERS];
		struct memory_sink sink;
		uint64_t offered = 0;

		snapshot(path, 0);
		sink = read_file(path);
		look_at(&sink, seen);
		assert_balanced(&sink.ledger);
		for (int writer = 0; writer < WRITERS; writer++)
			offered += seen[writer].count ? seen[writer].last + 1 : 0;
		/*
		 * All numbers up to the last are in the snapshot or counted, each in one
		 * of the two; what a writer was just putting in is cut. Where the newest
		 * chunk of a writer was overwritten before it was copied, its last
		 * number is not known.
		 */
		if (sink.ledger.accepted - sink.ledger.cut != offered)
			__atomic_add_fetch(&unknown, 1, __ATOMIC_RELAXED);
		assert_true(sink.ledger.accepted - sink.ledger.cut >= offered);
		assert_true(sink.ledger.cut <= WRITERS);
		memory_free(&sink);
	}
	unlink(path);
	return NULL;
}

static void each_number_is_there_once_or_counted_while_others_write(void **state)
{
	pthread_t writers[WRITERS], takers[2];

	(void)state;
	begin(KYMO_OVERFLOW_OVERWRITE);
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_all, (void *)i),
				 0);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&takers[i], NULL, take_snapshots, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(takers[i], NULL);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	/* Else nothing was compared. */
	assert_true(unknown < 2 * SNAPSHOTS);
	end();
	assert_int_equal(count_files(), 0);
}

static void only_what_records_gives_one(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_session_snapshot(NULL, "x.json", 0, NULL, NULL, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_snapshot(session, "x.json", 0, NULL, NULL, &error),
			 KYMO_ERROR_STATE);
	assert_non_null(strstr(error.message, "not prepared"));
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_snapshot(session, "", 0, NULL, NULL, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_snapshot(session, in_folder("none/x.json"), 0, NULL,
					       NULL, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "none/x.json"));
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_snapshot(session, "x.json", 0, NULL, NULL, &error),
			 KYMO_ERROR_STATE);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot_has_what_there_is_and_the_session_goes_on),
		cmocka_unit_test(the_last_of_it_is_cut_to_the_nanosecond),
		cmocka_unit_test(each_number_is_there_once_or_counted_while_others_write),
		cmocka_unit_test(only_what_records_gives_one),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
