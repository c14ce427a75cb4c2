/* SPDX-License-Identifier: BSD-3-Clause */
/* Equal correlations are joined, and what does not fit together never stops the rest. */
#include "timeline/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/record.h>

#include "support/test.h"

/* Two tracks: 0 of the host, 1 of a device. */
struct world {
	struct ky_model model;
	struct ky_model_track host, queue;
	struct kymo_trace_device device;
	struct kymo_trace_ledger ledger;
	struct ky_join *join;
};

static void begin(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->queue.trace.device = &world->device;
	assert_int_equal(ky_list_add(&world->model.tracks, &world->host), KYMO_OK);
	assert_int_equal(ky_list_add(&world->model.tracks, &world->queue), KYMO_OK);
	assert_int_equal(
		ky_join_create(&world->join, &world->model, &world->ledger, NULL),
		KYMO_OK);
}

static void end(struct world *world)
{
	ky_join_destroy(world->join);
	ky_list_clear(&world->model.tracks);
}

/* A member: O origin, E failed one, T target, N neither; lower case: untimed. */
struct row {
	char role;
	uint32_t track;
	int64_t begin;
	uint32_t domain;
	uint64_t value;
};

static struct ky_item item_of(const struct row *row, uint64_t line)
{
	uint32_t role = KY_ROLE_NONE;

	if (row->role == 'O' || row->role == 'o')
		role = KY_ROLE_ORIGIN;
	if (row->role == 'E' || row->role == 'e')
		role = KY_ROLE_ORIGIN | KY_ROLE_FAILED;
	if (row->role == 'T' || row->role == 't')
		role = KY_ROLE_TARGET;
	return (struct ky_item){.when = {row->begin, row->begin + 5,
					 ky_place_make(line, KYMO_KIND_SPAN, role)},
				.track = row->track,
				.domain = row->domain,
				.value = row->value};
}

/* Adds in the order given, reads in the order of time: "number/launch>arrows ". */
static void join_rows(struct world *world, const struct row *rows, size_t count,
		      char *out, size_t size)
{
	struct ky_item items[16] = {{.track = 0}};

	for (size_t i = 0; i < count; i++) {
		items[i] = item_of(&rows[i], i + 1);
		if (strchr("oetn", rows[i].role))
			assert_int_equal(
				ky_join_add_untimed(world->join, &items[i], NULL),
				KYMO_OK);
		else
			assert_int_equal(ky_join_add(world->join, &items[i], 0, NULL),
					 KYMO_OK);
	}
	assert_int_equal(ky_join_run(world->join, NULL), KYMO_OK);
	qsort(items, count, sizeof(items[0]), ky_moment_compare);
	out[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		uint64_t number, launch;
		struct ky_arrow arrow;
		int arrows = 0;
		size_t used = strlen(out);

		assert_int_equal(ky_join_number(world->join, &items[i].when, &number,
						&launch, NULL),
				 KYMO_OK);
		while (ky_join_arrow(world->join, &items[i].when, &arrow, NULL) ==
		       KYMO_OK) {
			assert_true(arrow.from_ns <= arrow.to_ns);
			arrows++;
		}
		snprintf(out + used, size - used, "%llu/%llu>%d ",
			 (unsigned long long)number, (unsigned long long)launch, arrows);
	}
}

static const struct {
	const char *what;
	struct row rows[6];
	const char *expected;
	uint64_t backward, no_launch, untimed;
} cases[] = {
	{"a pair", {{'O', 0, 10, 1, 7}, {'T', 1, 20, 1, 7}}, "1/0>0 1/0>1 ", 0, 0, 0},
	{"the target was told first",
	 {{'T', 1, 20, 1, 7}, {'O', 0, 10, 1, 7}},
	 "1/0>0 1/0>1 ",
	 0,
	 0,
	 0},
	{"three of one launch",
	 {{'O', 0, 10, 1, 7}, {'T', 1, 20, 1, 7}, {'T', 1, 30, 1, 7}, {'T', 1, 40, 1, 7}},
	 "1/0>0 1/0>1 2/1>1 3/1>1 ",
	 0,
	 0,
	 0},
	{"other domain, other value",
	 {{'O', 0, 10, 1, 7}, {'T', 1, 20, 2, 7}, {'T', 1, 30, 1, 8}},
	 "1/0>0 2/0>0 3/0>0 ",
	 0,
	 2,
	 0},
	{"backward", {{'O', 0, 20, 1, 7}, {'T', 1, 10, 1, 7}}, "1/0>0 1/0>0 ", 1, 0, 0},
	{"at one time: after both",
	 {{'T', 1, 10, 1, 7}, {'O', 0, 10, 1, 7}},
	 "1/0>0 1/0>1 ",
	 0,
	 0,
	 0},
	{"two origins: the first in time has the target",
	 {{'O', 0, 12, 1, 7}, {'O', 0, 10, 1, 7}, {'T', 1, 20, 1, 7}},
	 "1/0>0 2/0>0 1/0>1 ",
	 0,
	 0,
	 0},
	{"untimed origin",
	 {{'o', 0, 0, 1, 7}, {'T', 1, 20, 1, 7}},
	 "0/0>0 1/0>0 ",
	 0,
	 0,
	 1},
	{"untimed target",
	 {{'O', 0, 10, 1, 7}, {'t', 1, 0, 1, 7}},
	 "0/0>0 1/0>0 ",
	 0,
	 0,
	 1},
	{"neither", {{'N', 0, 10, 1, 7}, {'N', 0, 20, 1, 7}}, "1/0>0 2/0>0 ", 0, 0, 0},
	{"neither, a call and what devices tell of it: the first one",
	 {{'N', 0, 10, 1, 7}, {'N', 0, 11, 1, 7}, {'N', 1, 12, 1, 7}, {'N', 1, 13, 1, 7}},
	 "1/0>0 2/0>0 1/0>0 3/0>0 ",
	 0,
	 0,
	 0},
	{"neither, on a device first",
	 {{'N', 1, 10, 1, 7}, {'N', 1, 11, 1, 7}, {'N', 0, 12, 1, 7}},
	 "1/0>0 2/0>0 1/0>0 ",
	 0,
	 0,
	 0},
	{"neither, beside a launch and on a device",
	 {{'O', 0, 10, 1, 7}, {'N', 1, 20, 1, 7}},
	 "1/0>0 2/1>0 ",
	 0,
	 0,
	 0},
	{"neither, beside a launch",
	 {{'O', 0, 10, 1, 7}, {'N', 0, 20, 1, 7}},
	 "1/0>0 2/1>0 ",
	 0,
	 0,
	 0},
	{"64-bit values",
	 {{'O', 0, 10, 1, UINT64_MAX}, {'T', 1, 20, 1, UINT64_MAX}},
	 "1/0>0 1/0>1 ",
	 0,
	 0,
	 0},
};

static void groups_are_joined(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world;
		char found[256];
		size_t count = 0;

		begin(&world);
		while (count < 6 && cases[i].rows[count].role)
			count++;
		join_rows(&world, cases[i].rows, count, found, sizeof(found));
		if (strcmp(found, cases[i].expected) != 0 ||
		    world.ledger.arrows_backward != cases[i].backward ||
		    world.ledger.arrows_no_launch != cases[i].no_launch ||
		    world.ledger.arrows_untimed != cases[i].untimed)
			fail_msg("%s: %s", cases[i].what, found);
		end(&world);
	}
}

static void launches_of_which_nothing_came_are_counted(void **state)
{
	static const struct {
		const char *carriers; /* of one value, as in struct row */
		uint64_t without_result;
	} sets[] = {
		{"O", 1}, {"OT", 0}, {"Ot", 0}, {"o", 1},  {"ot", 0}, {"E", 0}, {"e", 0},
		{"T", 0}, {"N", 0},  {"ON", 1}, {"OO", 1}, {"EO", 1}, {"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		/* Of two values, so that a group is ended by another and by the end. */
		for (uint32_t values = 1; values <= 2; values++) {
			struct row rows[8] = {{0}};
			struct world world;
			char found[256];
			size_t count = 0;

			begin(&world);
			for (uint64_t value = 1; value <= values; value++)
				for (const char *at = sets[i].carriers; *at; at++) {
					rows[count] = (struct row){
						*at, 0, 10 * (int64_t)count, 1, value};
					count++;
				}
			join_rows(&world, rows, count, found, sizeof(found));
			if (world.ledger.launches_without_result !=
			    values * sets[i].without_result)
				fail_msg("\"%s\": %llu", sets[i].carriers,
					 (unsigned long long)
						 world.ledger.launches_without_result);
			end(&world);
		}
	}
}

static void arrows_are_named_by_where_they_lead(void **state)
{
	static const struct {
		uint32_t from, to, name;
	} rows[] = {{0, 1, KY_ARROW_TO_DEVICE},
		    {0, 0, KY_ARROW_LAUNCH},
		    {1, 1, KY_ARROW_LAUNCH},
		    {1, 0, KY_ARROW_LAUNCH}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct row origin = {'O', rows[i].from, 10, 1, 7};
		struct row target = {'T', rows[i].to, 20, 1, 7};
		struct ky_item from = item_of(&origin, 1), to = item_of(&target, 2);
		struct ky_arrow arrow;
		struct world world;

		begin(&world);
		assert_int_equal(ky_join_add(world.join, &from, 3, NULL), KYMO_OK);
		assert_int_equal(ky_join_add(world.join, &to, 4, NULL), KYMO_OK);
		assert_int_equal(ky_join_run(world.join, NULL), KYMO_OK);
		assert_int_equal(ky_join_arrow(world.join, &to.when, &arrow, NULL),
				 KYMO_OK);
		assert_int_equal(arrow.name, rows[i].name);
		assert_int_equal(arrow.from.lane, 3);
		assert_int_equal(arrow.to.lane, 4);
		assert_int_equal(arrow.to.track, rows[i].to);
		end(&world);
	}
}

static void links_lead_from_activity_to_activity(void **state)
{
	struct row rows[] = {{'N', 0, 10, 1, 1},
			     {'N', 0, 20, 1, 2},
			     {'O', 0, 30, 1, 3},
			     {'T', 1, 40, 1, 3},
			     {'n', 0, 0, 1, 4}};
	struct ky_link links[] = {
		{ky_place_make(20, KYMO_KIND_LINK, 0), 5, 1, 1, 1, 2},
		{ky_place_make(21, KYMO_KIND_LINK, 0), 6, 1, 1, 1, 3}, /* the launch */
		{ky_place_make(22, KYMO_KIND_LINK, 0), 6, 1, 1, 2, 1}, /* backward */
		{ky_place_make(23, KYMO_KIND_LINK, 0), 6, 1, 1, 9, 1}, /* nothing there */
		{ky_place_make(24, KYMO_KIND_LINK, 0), 6, 1, 1, 1, 4}, /* untimed */
	};
	struct ky_arrow arrow;
	struct world world;

	(void)state;
	begin(&world);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(ky_join_add_link(world.join, &links[i], NULL), KYMO_OK);
	for (size_t i = 0; i < 5; i++) {
		struct ky_item item = item_of(&rows[i], i + 1);

		if (i == 4)
			assert_int_equal(ky_join_add_untimed(world.join, &item, NULL),
					 KYMO_OK);
		else
			assert_int_equal(ky_join_add(world.join, &item, 0, NULL),
					 KYMO_OK);
	}
	assert_int_equal(ky_join_run(world.join, NULL), KYMO_OK);
	for (size_t i = 1; i < 4; i++) {
		struct ky_item item = item_of(&rows[i], i + 1);
		static const uint32_t names[] = {0, 5, 6, KY_ARROW_TO_DEVICE};

		assert_int_equal(ky_join_arrow(world.join, &item.when, &arrow, NULL),
				 KYMO_OK);
		assert_int_equal(arrow.name, names[i]);
		assert_int_equal(ky_join_arrow(world.join, &item.when, &arrow, NULL),
				 KYMO_END);
	}
	assert_int_equal(world.ledger.arrows_backward, 1);
	assert_int_equal(world.ledger.arrows_no_launch, 1);
	assert_int_equal(world.ledger.arrows_untimed, 1);
	end(&world);
}

/* Of what carries a link's end: the one that is no target, if there is one. */
static void a_link_leads_to_what_is_no_target(void **state)
{
	static const struct {
		const char *carriers; /* as in struct row; `*` at the one that is meant */
		int64_t to_ns;        /* 0: not drawn */
		uint64_t untimed, no_launch;
	} rows[] = {
		{"T", 10, 0, 0},   {"TT", 10, 0, 0},  {"TN", 20, 0, 0}, {"TO", 20, 0, 0},
		{"NO", 20, 0, 0},  {"TNO", 30, 0, 0}, {"oT", 0, 2, 0},  {"nT", 0, 1, 0},
		{"nTN", 30, 0, 0}, {"tT", 20, 1, 0},  {"t", 0, 2, 0},   {"", 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row from = {'N', 0, 1, 1, 1};
		struct ky_item item = item_of(&from, 1);
		const struct ky_link link = {
			ky_place_make(99, KYMO_KIND_LINK, 0), 5, 1, 1, 1, 2};
		int64_t found = 0;
		struct world world;

		begin(&world);
		assert_int_equal(ky_join_add(world.join, &item, 0, NULL), KYMO_OK);
		assert_int_equal(ky_join_add_link(world.join, &link, NULL), KYMO_OK);
		for (size_t j = 0; rows[i].carriers[j]; j++) {
			struct row row = {rows[i].carriers[j], 0, 10 * (int64_t)j + 10, 1,
					  2};

			item = item_of(&row, j + 2);
			assert_int_equal(
				strchr("otn", row.role)
					? ky_join_add_untimed(world.join, &item, NULL)
					: ky_join_add(world.join, &item, 0, NULL),
				KYMO_OK);
		}
		world.ledger = (struct kymo_trace_ledger){0};
		assert_int_equal(ky_join_run(world.join, NULL), KYMO_OK);
		for (size_t j = 0; rows[i].carriers[j]; j++) {
			struct row row = {rows[i].carriers[j], 0, 10 * (int64_t)j + 10, 1,
					  2};
			struct ky_arrow arrow;

			item = item_of(&row, j + 2);
			while (ky_join_arrow(world.join, &item.when, &arrow, NULL) ==
			       KYMO_OK)
				if (arrow.name == 5)
					found = arrow.to_ns;
		}
		if (found != rows[i].to_ns ||
		    world.ledger.arrows_untimed != rows[i].untimed)
			fail_msg("\"%s\": %lld, untimed %llu", rows[i].carriers,
				 (long long)found,
				 (unsigned long long)world.ledger.arrows_untimed);
		end(&world);
	}
}

static void what_comes_twice_is_drawn_once_and_counted(void **state)
{
	struct row rows[] = {{'N', 0, 10, 1, 1}, {'N', 0, 20, 1, 2}, {'O', 0, 30, 1, 3},
			     {'O', 0, 31, 1, 3}, {'O', 0, 32, 1, 3}, {'T', 1, 40, 1, 3},
			     {'T', 1, 41, 1, 3}};
	struct ky_link links[] = {
		{ky_place_make(20, KYMO_KIND_LINK, 0), 5, 1, 1, 1, 2},
		{ky_place_make(21, KYMO_KIND_LINK, 0), 6, 1, 1, 1, 2}, /* another kind */
		{ky_place_make(22, KYMO_KIND_LINK, 0), 5, 1, 1, 1, 2},
		{ky_place_make(23, KYMO_KIND_LINK, 0), 5, 1, 1, 1, 2},
		{ky_place_make(24, KYMO_KIND_LINK, 0), 6, 1, 1, 1, 2},
	};
	static const int expected[] = {0, 2, 0, 0, 0, 1, 1};
	struct kymo_error error = {0};
	struct ky_arrow arrow;
	struct world world;

	(void)state;
	begin(&world);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		assert_int_equal(ky_join_add_link(world.join, &links[i], NULL), KYMO_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ky_item item = item_of(&rows[i], i + 1);

		assert_int_equal(ky_join_add(world.join, &item, 0, NULL), KYMO_OK);
	}
	assert_int_equal(ky_join_run(world.join, &error), KYMO_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ky_item item = item_of(&rows[i], i + 1);
		int arrows = 0;

		while (ky_join_arrow(world.join, &item.when, &arrow, NULL) == KYMO_OK)
			arrows++;
		assert_int_equal(arrows, expected[i]);
	}
	assert_int_equal(world.ledger.arrows_twice, 3);
	assert_int_equal(world.ledger.launches_twice, 2);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_joined),
		cmocka_unit_test(launches_of_which_nothing_came_are_counted),
		cmocka_unit_test(arrows_are_named_by_where_they_lead),
		cmocka_unit_test(links_lead_from_activity_to_activity),
		cmocka_unit_test(what_comes_twice_is_drawn_once_and_counted),
		cmocka_unit_test(a_link_leads_to_what_is_no_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
