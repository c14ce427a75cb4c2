/* SPDX-License-Identifier: BSD-3-Clause */
/* Annotations are shown on the queues where what they launched was done. */
#include "support/test.h"

#include "timeline/project.h"
#include "timeline/trace_setup.h"

/*
 * A annotation, a one that never ended, G gap, O launch, o one without a time, S another
 * span, T kernel, L a LINK from `value` to `end`. Hosts are threads 1 and 2, devices' are
 * queues 1 and 2.
 */
struct row {
	char what;
	uint32_t where;
	uint64_t begin, end, value;
};

struct world {
	struct setup s;
	uint32_t threads[3], queues[3];
	uint16_t annotation, kind;
};

static struct world make_world(void)
{
	struct world world = {.s = begin()};
	struct build *build = world.s.build;

	world.annotation = build_type(build, world.s.source, "user_annotation", 1);
	world.kind = build_link_kind(build, "fwdbwd");
	world.threads[1] = world.s.thread;
	world.threads[2] = build_thread(build, 502, "backward");
	world.queues[1] = world.s.queue;
	world.queues[2] = build_queue(build, world.s.device, 0x7f0000005678, 0);
	return world;
}

static void add_row(struct world *world, const struct row *row)
{
	struct setup *s = &world->s;
	struct kymo_record record = {.track = world->threads[row->where],
				     .type = s->runtime,
				     .domain = row->value ? s->domain : 0,
				     .name = s->name,
				     .begin = T(row->begin),
				     .end = T(row->end),
				     .correlation = row->value};
	struct kymo_record_link link = {.kind = KYMO_KIND_LINK,
					.lines = 1,
					.link_kind = world->kind,
					.from_domain = s->domain,
					.to_domain = s->domain,
					.from = row->value,
					.to = row->end};

	if (row->what == 'L') {
		build_lines(s->build, &link, 1);
		return;
	}
	if (row->what == 'A' || row->what == 'a' || row->what == 'G')
		record.type = world->annotation;
	if (row->what == 'O' || row->what == 'o')
		record.flags = KYMO_RECORD_ORIGIN;
	if (row->what == 'o')
		record.flags |= KYMO_RECORD_UNTIMED;
	if (row->what == 'T') {
		record.flags = KYMO_RECORD_TARGET;
		record.track = world->queues[row->where];
		record.type = s->kernel;
	}
	build_record(s->build,
		     row->what == 'a'   ? KYMO_KIND_OPEN
		     : row->what == 'G' ? KYMO_KIND_GAP
					: KYMO_KIND_SPAN,
		     record);
}

static struct memory_sink run_rows(const struct row *rows, size_t count)
{
	struct world world = make_world();

	for (size_t i = 0; i < count; i++)
		add_row(&world, &rows[i]);
	return run(&world.s);
}

/* "queue.lane begin-end" of the projections, in order. */
static void describe_projected(const struct memory_sink *sink, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < sink->count; i++) {
		const struct memory_event *at = &sink->events[i];
		size_t used = strlen(out);

		if (at->event.flags & KYMO_EVENT_PROJECTED)
			snprintf(out + used, size - used, "%s%u.%u %d-%d",
				 used ? ", " : "", at->track.number, at->track.lane,
				 (int)(at->event.begin_ns - (int64_t)T(0)),
				 (int)(at->event.end_ns - (int64_t)T(0)));
	}
}

static const struct {
	const char *what;
	struct row rows[8];
	const char *expected;
} cases[] = {
	{"from the first to the last of what it launched",
	 {{'A', 1, 100, 200, 0},
	  {'O', 1, 110, 120, 1},
	  {'O', 1, 130, 140, 2},
	  {'T', 1, 500, 600, 1},
	  {'T', 1, 700, 800, 2}},
	 "1.0 500-800"},
	{"not of a gap, which covers nothing",
	 {{'G', 1, 100, 200, 0}, {'O', 1, 110, 120, 1}, {'T', 1, 500, 600, 1}},
	 ""},
	{"once on each queue",
	 {{'A', 1, 100, 200, 0},
	  {'O', 1, 110, 120, 1},
	  {'O', 1, 130, 140, 2},
	  {'T', 1, 500, 600, 1},
	  {'T', 2, 700, 800, 2}},
	 "1.0 500-600, 2.0 700-800"},
	{"not what was launched before it or from its end on",
	 {{'O', 1, 99, 105, 1},
	  {'A', 1, 100, 200, 0},
	  {'O', 1, 200, 210, 2},
	  {'T', 1, 150, 160, 1},
	  {'T', 1, 250, 260, 2}},
	 ""},
	{"what ran long after it, by its launch and not by its time",
	 {{'A', 1, 100, 200, 0}, {'O', 1, 199, 300, 1}, {'T', 1, 90000, 90010, 1}},
	 "1.0 90000-90010"},
	{"all kernels of one launch",
	 {{'A', 1, 100, 200, 0},
	  {'O', 1, 110, 120, 1},
	  {'T', 1, 500, 600, 1},
	  {'T', 1, 600, 900, 1},
	  {'T', 2, 450, 650, 1}},
	 "2.0 450-650, 1.0 500-900"},
	{"around what is as long as it is",
	 {{'A', 1, 100, 200, 0}, {'O', 1, 110, 120, 1}, {'T', 1, 500, 600, 1}},
	 "1.0 500-600"},
	{"what another thread launched under its number, after it was closed",
	 {{'A', 1, 100, 200, 7},
	  {'O', 2, 300, 310, 1},
	  {'T', 1, 500, 600, 1},
	  {'L', 0, 0, 1, 7}},
	 "1.0 500-600"},
	{"the same where the launch took no time, on two queues",
	 {{'A', 1, 100, 200, 7},
	  {'O', 2, 300, 300, 1},
	  {'T', 1, 500, 600, 1},
	  {'T', 2, 700, 800, 1},
	  {'L', 0, 0, 1, 7}},
	 "1.0 500-600, 2.0 700-800"},
	{"the same in its own thread, before it",
	 {{'O', 1, 50, 60, 1},
	  {'A', 1, 100, 200, 7},
	  {'T', 1, 500, 600, 1},
	  {'L', 0, 0, 1, 7}},
	 "1.0 500-600"},
	{"nothing later of what something else in it leads to",
	 {{'A', 1, 100, 200, 0},
	  {'S', 1, 110, 120, 7},
	  {'O', 2, 300, 310, 1},
	  {'T', 1, 500, 600, 1},
	  {'L', 0, 0, 1, 7}},
	 ""},
	{"nested ones",
	 {{'A', 1, 100, 200, 0},
	  {'A', 1, 120, 150, 0},
	  {'O', 1, 110, 115, 1},
	  {'O', 1, 130, 140, 2},
	  {'T', 1, 500, 600, 1},
	  {'T', 1, 700, 800, 2}},
	 "1.0 500-800, 1.0 700-800"},
	{"one that never ended",
	 {{'a', 1, 100, 0, 0}, {'O', 1, 110, 120, 1}, {'T', 1, 500, 600, 1}},
	 "1.0 500-600"},
	{"a launch without a time is in nothing",
	 {{'A', 1, 100, 200, 0}, {'o', 1, 110, 120, 1}, {'T', 1, 500, 600, 1}},
	 ""},
	{"another thread's launches are its own affair",
	 {{'A', 1, 100, 200, 0}, {'O', 2, 110, 120, 1}, {'T', 1, 500, 600, 1}},
	 ""},
	{"but where a link leads there, they are covered",
	 {{'A', 1, 100, 200, 0},
	  {'S', 1, 110, 120, 8},
	  {'L', 1, 0, 9, 8},
	  {'S', 2, 150, 190, 9},
	  {'O', 2, 160, 170, 1},
	  {'T', 1, 500, 600, 1}},
	 "1.0 500-600"},
	{"also one straight to the launch",
	 {{'A', 1, 100, 200, 8},
	  {'L', 1, 0, 1, 8},
	  {'O', 2, 160, 170, 1},
	  {'T', 1, 500, 600, 1}},
	 "1.0 500-600"},
	{"while what it leads to lasts",
	 {{'A', 1, 100, 300, 0},
	  {'S', 1, 110, 120, 8},
	  {'L', 1, 0, 9, 8},
	  {'S', 2, 150, 190, 9},
	  {'O', 2, 190, 195, 1},
	  {'T', 1, 500, 600, 1}},
	 ""},
	{"and while the annotation is open",
	 {{'A', 1, 100, 130, 0},
	  {'S', 1, 110, 120, 8},
	  {'L', 1, 0, 9, 8},
	  {'S', 2, 150, 190, 9},
	  {'O', 2, 160, 170, 1},
	  {'T', 1, 500, 600, 1}},
	 ""},
};

static void annotations_are_projected_on_queues(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct memory_sink sink;
		char found[256];
		size_t count = 0;

		while (count < 8 && cases[i].rows[count].what)
			count++;
		sink = run_rows(cases[i].rows, count);
		describe_projected(&sink, found, sizeof(found));
		if (strcmp(found, cases[i].expected) != 0)
			fail_msg("%s: \"%s\"", cases[i].what, found);
		memory_free(&sink);
	}
}

static void a_projection_is_a_span_that_is_no_record(void **state)
{
	static const struct row rows[] = {
		{'A', 1, 100, 200, 5}, {'O', 1, 110, 120, 1}, {'T', 1, 500, 600, 1}};
	struct memory_sink sink = run_rows(rows, 3);
	const struct memory_event *projected;

	(void)state;
	/* Before the kernel, which is as long and was captured later. */
	projected = memory_find(&sink, KYMO_EVENT_SPAN, 2);
	assert_int_equal(projected->event.flags, KYMO_EVENT_PROJECTED);
	assert_string_equal(projected->name, "launch \"x\"\n");
	assert_string_equal(projected->type, "gpu_user_annotation");
	assert_int_equal(projected->event.correlation, 0);
	assert_string_equal(projected->values, "");
	assert_int_equal(sink.ledger.projected, 1);
	assert_int_equal(sink.ledger.spans, 3);
	assert_int_equal(sink.ledger.written, 3);
	/* The kernel is on the same row, so arrows lead there. */
	assert_int_equal(memory_find(&sink, KYMO_EVENT_ARROW, 0)->track.lane, 0);
	memory_free(&sink);
}

static void a_trace_without_projections_has_no_type_for_them(void **state)
{
	static const struct row rows[] = {{'A', 1, 100, 200, 0}, {'O', 1, 300, 400, 1}};
	struct memory_sink with, sink = run_rows(rows, 2);

	(void)state;
	with = run_rows(cases[0].rows, 5);
	assert_int_equal(with.header.type_count, sink.header.type_count + 1);
	memory_free(&with);
	memory_free(&sink);
}

/* Many parts meet, and more annotations are open than are followed. */
static void many_annotations_and_launches_are_projected(void **state)
{
	struct world world = make_world();
	struct memory_sink sink;
	char found[64];

	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		add_row(&world, &(struct row){'A', 1, 10 + i, 100000 - i, 0});
	for (uint64_t i = 1; i <= 500; i++) {
		uint32_t queue = 1 + (uint32_t)i % 2;

		add_row(&world, &(struct row){'O', 1, 1000 + i * 10, 1001 + i * 10, i});
		add_row(&world,
			&(struct row){'T', queue, 200000 - i * 10, 200005 - i * 10, i});
	}
	sink = run(&world.s);
	assert_int_equal(sink.ledger.projected, 2 * KY_PROJECT_OPEN_MAX);
	describe_projected(&sink, found, sizeof(found));
	assert_memory_equal(found, "1.0 195000-199985, ", 19);
	memory_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(annotations_are_projected_on_queues),
		cmocka_unit_test(a_projection_is_a_span_that_is_no_record),
		cmocka_unit_test(a_trace_without_projections_has_no_type_for_them),
		cmocka_unit_test(many_annotations_and_launches_are_projected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
