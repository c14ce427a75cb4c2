/* SPDX-License-Identifier: BSD-3-Clause */
/* What was opened and never closed is unfinished; all else about OPEN is dropped. */
#include "timeline/opens.h"

#include <stdio.h>

#include "capture/build_capture.h"
#include "support/test.h"
#include "timeline/scan.h"

#define T(ns) (BUILD_ATTACH + (ns))

/*
 * O open, S span; o and s without a time; a span N of another name, T on another track, U
 * on its own track by its number; g a gap's begin, G a gap, H one on another track.
 * `chunk`: in which chunk it stands.
 */
struct row {
	char what;
	uint64_t begin, end;
	uint16_t type;
	uint64_t chunk;
};

static uint8_t kind_of(const struct row *row)
{
	if (strchr("gGH", row->what))
		return KYMO_KIND_GAP;
	return strchr("Oo", row->what) ? KYMO_KIND_OPEN : KYMO_KIND_SPAN;
}

static struct kymo_record record_of(const struct row *row)
{
	return (struct kymo_record){
		.flags = strchr("os", row->what) ? KYMO_RECORD_UNTIMED
			 : row->what == 'g'      ? KYMO_RECORD_UNFINISHED
						 : 0,
		.track = strchr("TH", row->what) ? 2 : row->what == 'U',
		.begin = T(row->begin),
		.end = T(row->end),
		.type = row->type,
		.name = row->what == 'N',
	};
}

static struct build *build_rows(const struct row *rows, size_t count)
{
	struct build *build = build_new();
	uint32_t thread = build_thread(build, 1, "t");
	uint32_t source = build_source(build, "fake");

	build_thread(build, 2, "other");
	build_type(build, source, "runtime", 7);
	build_type(build, source, "driver", 8);
	for (uint64_t chunk = 1; chunk <= 3; chunk++) {
		build->sequence = chunk - 1;
		build_lease(build, thread, T(0));
		for (size_t i = 0; i < count; i++) {
			if (rows[i].chunk == chunk)
				build_record(build, kind_of(&rows[i]),
					     record_of(&rows[i]));
		}
		build_chunk(build);
	}
	build_finish(build, T(1000));
	return build;
}

/* "begin-end " of the unfinished ones, then "begins/untimed/events of the source". */
static void resolve(struct build *build, char *out, size_t size)
{
	struct ky_reader *reader;
	struct ky_model *model;
	struct kymo_trace_ledger ledger = {0};
	int64_t last_ns[2] = {0};
	uint64_t written[2] = {0};
	struct ky_scan scan = {.ledger = &ledger,
			       .capture_last_ns = last_ns,
			       .capture_written = written};
	struct ky_sorter *unfinished;
	const void *next;

	assert_int_equal(ky_reader_open(&reader, build_save(build), NULL), KYMO_OK);
	assert_int_equal(ky_model_create(&model, &reader, 1, NULL), KYMO_OK);
	scan.model = model;
	assert_int_equal(ky_sorter_create(&scan.items, sizeof(struct ky_item),
					  ky_moment_compare, 1, NULL),
			 KYMO_OK);
	assert_int_equal(ky_join_create(&scan.join, model, &ledger, NULL), KYMO_OK);
	assert_int_equal(ky_opens_create(&scan.opens, model, &ledger, NULL), KYMO_OK);
	assert_int_equal(ky_scan_run(&scan, NULL), KYMO_OK);
	assert_int_equal(ky_sorter_finish(scan.items, NULL), KYMO_OK);
	last_ns[0] = (int64_t)T(1000);
	assert_int_equal(
		ky_opens_resolve(scan.opens, scan.items, last_ns, &unfinished, NULL),
		KYMO_OK);
	out[0] = '\0';
	if (unfinished)
		assert_int_equal(ky_sorter_finish(unfinished, NULL), KYMO_OK);
	while (unfinished && ky_sorter_next(unfinished, &next, NULL) == KYMO_OK) {
		const struct ky_item *item = next;
		size_t used = strlen(out);

		snprintf(out + used, size - used, "%lld-%lld ",
			 (long long)(item->when.begin_ns - (int64_t)T(0)),
			 (long long)(item->when.end_ns - (int64_t)T(0)));
	}
	snprintf(out + strlen(out), size - strlen(out), "%llu/%llu/%llu",
		 (unsigned long long)ledger.begins, (unsigned long long)ledger.untimed,
		 (unsigned long long)((const struct ky_model_source *)
					      model->sources.items[0])
			 ->trace.events);
	ky_sorter_destroy(unfinished);
	ky_opens_destroy(scan.opens);
	ky_join_destroy(scan.join);
	ky_sorter_destroy(scan.items);
	ky_model_destroy(model);
	ky_reader_close(reader);
	build_free(build);
}

static void what_was_never_closed_is_unfinished(void **state)
{
	static const struct {
		const char *what;
		struct row rows[8];
		const char *expected;
	} cases[] = {
		{"closed", {{'O', 10, 0, 1, 1}, {'S', 10, 20, 1, 1}}, "1/0/1"},
		{"closed in a later chunk",
		 {{'O', 10, 0, 1, 1}, {'S', 10, 20, 1, 3}},
		 "1/0/1"},
		{"closed in a chunk that was begun before",
		 {{'O', 10, 0, 1, 3}, {'S', 10, 20, 1, 1}},
		 "1/0/1"},
		{"never closed", {{'O', 10, 0, 1, 1}}, "10-1000 0/0/1"},
		{"another type",
		 {{'O', 10, 0, 1, 1}, {'S', 10, 20, 2, 1}},
		 "10-1000 0/0/2"},
		{"another type, in the other order",
		 {{'O', 10, 0, 2, 1}, {'S', 10, 20, 1, 1}},
		 "10-1000 0/0/2"},
		{"another begin",
		 {{'O', 10, 0, 1, 1}, {'S', 11, 20, 1, 1}},
		 "10-1000 0/0/2"},
		{"another track",
		 {{'O', 10, 0, 1, 1}, {'T', 10, 20, 1, 1}},
		 "10-1000 0/0/2"},
		{"the same track by its number",
		 {{'O', 10, 0, 1, 1}, {'U', 10, 20, 1, 1}},
		 "1/0/1"},
		{"another name", {{'O', 10, 0, 1, 1}, {'N', 10, 20, 1, 1}}, "1/0/1"},
		{"both without a time",
		 {{'o', 10, 0, 1, 1}, {'s', 10, 20, 1, 1}},
		 "1/1/1"},
		{"one without a time, never closed", {{'o', 10, 0, 1, 1}}, "0/1/1"},
		{"opened twice, closed once",
		 {{'O', 10, 0, 1, 1}, {'O', 10, 0, 1, 1}, {'S', 10, 20, 1, 1}},
		 "10-1000 1/0/2"},
		{"within its parent",
		 {{'O', 15, 0, 1, 1}, {'S', 10, 20, 2, 1}},
		 "15-20 0/0/2"},
		{"within the innermost parent",
		 {{'O', 15, 0, 1, 1},
		  {'S', 10, 90, 2, 1},
		  {'S', 12, 30, 2, 1},
		  {'S', 13, 14, 2, 1}},
		 "15-30 0/0/4"},
		{"after its parent",
		 {{'O', 25, 0, 1, 1}, {'S', 10, 20, 2, 1}},
		 "25-1000 0/0/2"},
		{"one in another",
		 {{'O', 10, 0, 1, 1}, {'O', 20, 0, 2, 1}},
		 "10-1000 20-1000 0/0/2"},
		{"a gap", {{'g', 10, 10, 1, 1}, {'G', 10, 20, 1, 2}}, "1/0/0"},
		{"a gap that ends on another track",
		 {{'g', 10, 10, 1, 1}, {'H', 10, 20, 1, 2}},
		 "1/0/0"},
		{"a gap to the end, whatever span it is in",
		 {{'g', 15, 15, 1, 1}, {'S', 10, 20, 1, 1}},
		 "15-1000 0/0/1"},
		{"a gap and a span that begin together",
		 {{'g', 10, 10, 1, 1}, {'S', 10, 20, 1, 1}},
		 "10-1000 0/0/1"},
		{"a span and a gap that begin together",
		 {{'O', 10, 0, 1, 1}, {'G', 10, 20, 1, 1}},
		 "10-1000 0/0/1"},
		{"a gap and the next one",
		 {{'g', 10, 10, 1, 1}, {'G', 10, 20, 1, 1}, {'g', 30, 30, 1, 1}},
		 "30-1000 1/0/0"},
		{"a gap that has its end, and is unfinished all the same",
		 {{'g', 10, 20, 1, 1}},
		 "0/0/0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char found[256];
		size_t count = 0;

		while (count < 8 && cases[i].rows[count].what)
			count++;
		resolve(build_rows(cases[i].rows, count), found, sizeof(found));
		if (strcmp(found, cases[i].expected) != 0)
			fail_msg("%s: %s", cases[i].what, found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_never_closed_is_unfinished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
