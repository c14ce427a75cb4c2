/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sinks that take their time or never come back, beside one that does not: it has to be
 * whole in any case, and soon.
 */
#include "session/overtake.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "capture/build_capture.h"
#include "support/test.h"

#define MS          ((uint64_t)1000000)
#define LIFETIME_MS 60000

enum operation { NOWHERE, OPEN, BEGIN, BATCH, END };

/* What the sinks of this test are to do, and did. */
static struct {
	enum operation hangs_at;
	long hangs_ms; /* then it comes back; 0: not before it is released */
	sem_t released;
	uint32_t opened, ended, aborted, closed; /* atomic; of both */
	uint32_t quick_ended, quick_events;      /* of the one that does not hang */
} scene;

struct sink {
	int is_slow;
	uint32_t events;
};

static void maybe_hang(const struct sink *sink, enum operation operation)
{
	const struct timespec time = {scene.hangs_ms / 1000,
				      scene.hangs_ms % 1000 * 1000000};

	if (!sink->is_slow || scene.hangs_at != operation)
		return;
	if (scene.hangs_ms > 0)
		nanosleep(&time, NULL);
	else
		sem_wait(&scene.released);
}

static void count(uint32_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL);
}

static int32_t do_open(struct kymo_str path, const struct kymo_sink_options *options,
		       void **out, struct kymo_error *error)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	(void)options, (void)error;
	assert_non_null(sink);
	sink->is_slow = path.data[0] == 's';
	count(&scene.opened);
	maybe_hang(sink, OPEN);
	*out = sink;
	return KYMO_OK;
}

static int32_t do_begin(void *sink, const struct kymo_trace_header *header,
			struct kymo_error *error)
{
	(void)header, (void)error;
	maybe_hang(sink, BEGIN);
	return KYMO_OK;
}

static int32_t do_batch(void *opaque, const struct kymo_trace_event *const *events,
			size_t event_count, struct kymo_error *error)
{
	struct sink *sink = opaque;

	(void)error;
	maybe_hang(sink, BATCH);
	/* Also behind the hanging these have to be there. */
	for (size_t i = 0; i < event_count; i++)
		sink->events += events[i]->kind == KYMO_EVENT_SPAN;
	return KYMO_OK;
}

static int32_t do_end(void *opaque, const struct kymo_trace_end *end,
		      struct kymo_sink_result *result, struct kymo_error *error)
{
	struct sink *sink = opaque;

	(void)error;
	maybe_hang(sink, END);
	assert_int_equal(end->ledger->spans, sink->events);
	result->bytes = 7;
	count(&scene.ended);
	if (!sink->is_slow) {
		count(&scene.quick_ended);
		scene.quick_events = sink->events;
	}
	return KYMO_OK;
}

static void do_abort(void *sink)
{
	(void)sink;
	count(&scene.aborted);
}

static void do_close(void *sink)
{
	free(sink);
	count(&scene.closed);
}

static const struct kymo_sink_ops ops = {
	.struct_size = sizeof(ops),
	.open = do_open,
	.begin = do_begin,
	.batch = do_batch,
	.end = do_end,
	.abort = do_abort,
	.close = do_close,
};

/* ---- Exports ---- */

#define SPANS 10

static struct build *build;
static const char *capture;

static int make_capture(void **state)
{
	struct kymo_record span = {.kind = KYMO_KIND_SPAN, .lines = 1, .type = 1};

	(void)state;
	build = build_new();
	build_type(build, build_source(build, "app"), "work", 0);
	build_thread(build, 1, "main");
	build_chunk(build);
	build_lease(build, 1, BUILD_ATTACH);
	for (uint64_t i = 0; i < SPANS; i++) {
		span.begin = BUILD_ATTACH + 10 * i;
		span.end = span.begin + 5;
		build_lines(build, &span, 1);
	}
	build_finish(build, BUILD_ATTACH + 1000);
	capture = build_save(build);
	return kymo_sink_register("test", &ops, NULL);
}

static int drop_capture(void **state)
{
	(void)state;
	build_free(build);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memset(&scene, 0, sizeof(scene));
	return sem_init(&scene.released, 0, 0);
}

/* Nobody may be left behind with what the next case changes. */
static int end_case(void **state)
{
	const uint64_t due_ns = ky_monotonic_ns() + LIFETIME_MS * MS;

	(void)state;
	for (int i = 0; i < 8; i++)
		sem_post(&scene.released);
	while (__atomic_load_n(&scene.closed, __ATOMIC_ACQUIRE) <
	       __atomic_load_n(&scene.opened, __ATOMIC_ACQUIRE))
		if (ky_monotonic_ns() > due_ns)
			return -1;
	return 0;
}

static struct kymo_output slow, quick, other;

/* The slow one first, so that all others would wait for it. */
static int32_t run(struct ky_progress *progress, uint64_t stall_ms, uint64_t limit_ms,
		   struct kymo_error *error)
{
	struct kymo_output *outputs[] = {&slow, &quick, &other, NULL};
	const struct ky_export export = {
		.captures = &capture,
		.count = 1,
		.outputs = outputs,
		.progress = progress,
		.stall_ns = stall_ms * MS,
		.limit_ns = limit_ms * MS,
	};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	int32_t status;

	slow = (struct kymo_output){.struct_size = sizeof(slow), .path = "test://slow"};
	quick = (struct kymo_output){.struct_size = sizeof(quick), .path = "test://a"};
	other = (struct kymo_output){.struct_size = sizeof(other), .path = "test://b"};
	*error = (struct kymo_error){0};
	status = ky_export_run(&export, &summary, error);
	if (status == KYMO_OK)
		assert_int_equal(summary.events, SPANS);
	return status;
}

static void assert_quick_ones_are_whole(void)
{
	assert_int_equal(quick.status, KYMO_OK);
	assert_int_equal(other.status, KYMO_OK);
	assert_int_equal(quick.bytes, 7);
	assert_int_equal(scene.quick_ended, 2);
	assert_int_equal(scene.quick_events, SPANS);
}

/* A busy machine holds up a quick one as well: with time it is whole. */
static const uint64_t stalls_ms[] = {150, 1000, 5000};

#define STALLS (sizeof(stalls_ms) / sizeof(stalls_ms[0]))

/* Runs with a sink that hangs there, until the others were not held up. */
static int32_t run_hanging(void **state, enum operation operation, int comes_back,
			   struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	for (size_t i = 0; i < STALLS; i++) {
		const uint64_t stall_ms = stalls_ms[i];

		begin(state);
		scene.hangs_at = operation;
		scene.hangs_ms = comes_back ? 4 * (long)stall_ms : 0;
		status = run(NULL, stall_ms, comes_back ? 100000 : 3 * stall_ms, error);
		if (quick.status == KYMO_OK && other.status == KYMO_OK)
			break;
		assert_int_equal(end_case(state), 0);
	}
	assert_quick_ones_are_whole();
	return status;
}

static void one_pass_serves_all_that_do_not_hang(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(run(NULL, 100000, 100000, &error), KYMO_OK);
	assert_quick_ones_are_whole();
	assert_int_equal(slow.status, KYMO_OK);
	assert_int_equal(scene.opened, 3);
	assert_int_equal(scene.ended, 3);
	assert_int_equal(scene.aborted, 0);
}

static void one_that_never_comes_back_does_not_keep_the_others(void **state)
{
	static const enum operation operations[] = {OPEN, BEGIN, BATCH, END};
	struct kymo_error error;
	unsigned seconds;
	char last[2];

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		assert_int_equal(run_hanging(state, operations[i], 0, &error),
				 KYMO_ERROR_IO);
		assert_int_equal(slow.status, KYMO_ERROR_IO);
		/* 0 s, unless the machine is busy */
		assert_int_equal(sscanf(error.message,
					"output \"test://slow\": its sink has not come "
					"back for %u s, and is given %1[u]",
					&seconds, last),
				 2);
		assert_int_equal(end_case(state), 0);
		/* What comes back after all is told to give up, if it can be. */
		if (operations[i] != END)
			assert_int_equal(scene.ended, 2);
	}
}

static void one_that_is_slow_is_overtaken_and_comes_to_its_own_end(void **state)
{
	static const enum operation operations[] = {OPEN, BEGIN, BATCH, END};
	struct kymo_error error;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		assert_int_equal(run_hanging(state, operations[i], 1, &error), KYMO_OK);
		assert_int_equal(slow.status, KYMO_OK);
		assert_int_equal(slow.bytes, 7);
		assert_int_equal(scene.ended, 3);
		assert_int_equal(end_case(state), 0);
		/* What the first pass had of the others is gone. */
		assert_int_equal(scene.aborted, scene.opened - 3);
	}
}

static void *cancel_soon(void *progress)
{
	const struct timespec time = {0, 50000000};

	nanosleep(&time, NULL);
	ky_progress_cancel(progress);
	return NULL;
}

static void what_hangs_can_be_cancelled(void **state)
{
	struct ky_progress progress = {0};
	struct kymo_error error;
	pthread_t thread;

	(void)state;
	scene.hangs_at = BATCH;
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &progress), 0);
	assert_int_equal(run(&progress, 100000, 100000, &error), KYMO_ERROR_CANCELLED);
	pthread_join(thread, NULL);
	assert_int_equal(slow.status, KYMO_ERROR_CANCELLED);
	assert_int_equal(quick.status, KYMO_ERROR_CANCELLED);
	assert_int_equal(scene.ended, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_pass_serves_all_that_do_not_hang,
						begin, end_case),
		cmocka_unit_test(one_that_never_comes_back_does_not_keep_the_others),
		cmocka_unit_test(one_that_is_slow_is_overtaken_and_comes_to_its_own_end),
		cmocka_unit_test_setup_teardown(what_hangs_can_be_cancelled, begin,
						end_case),
	};

	return cmocka_run_group_tests(tests, make_capture, drop_capture);
}
