/* SPDX-License-Identifier: BSD-3-Clause */
/* What several captures say of processes, tracks, devices and types is put together. */
#include "timeline/model.h"

#include "support/test.h"
#include "timeline/trace_setup.h"

static void tracks_are_announced_and_described(void **state)
{
	struct setup s = begin();
	const struct memory_event *thread, *queue;
	struct memory_sink sink;

	(void)state;
	build_thread(s.build, 777, "never used");
	add_span(&s, 0, 10, 20);
	add_span(&s, s.queue, 15, 20);
	sink = run(&s);
	thread = memory_find(&sink, KYMO_EVENT_TRACK, 0);
	queue = memory_find(&sink, KYMO_EVENT_TRACK, 1);
	assert_null(memory_find(&sink, KYMO_EVENT_TRACK, 2));
	assert_int_equal(thread->track.kind, KYMO_TRACK_THREAD);
	assert_int_equal(thread->track.native, 501);
	assert_int_equal(thread->track.number, 0);
	assert_null(thread->track.device);
	assert_int_equal(queue->track.kind, KYMO_TRACK_QUEUE);
	assert_int_equal(queue->track.native, 0x7f0000001234);
	assert_int_equal(queue->track.number, 1);
	assert_non_null(queue->track.device);
	assert_int_equal(sink.header.device_count, 1);
	memory_free(&sink);
}

static void the_last_name_of_a_thread_holds(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	build_lease(s.build, build_thread(s.build, 501, "worker"), T(30));
	add_span(&s, 0, 40, 50);
	build_thread(s.build, 501, NULL); /* says nothing, so it takes no name away */
	sink = run(&s);
	assert_int_equal(sink.seen[KYMO_EVENT_TRACK], 1);
	assert_int_equal(memory_find(&sink, KYMO_EVENT_TRACK, 0)->track.name.size, 6);
	memory_free(&sink);
}

/* Whoever speaks of a thread says its own name, when it comes to that. */
static void a_name_that_a_source_gave_a_thread_outlasts_its_own(void **state)
{
	struct setup s = begin();
	const struct ky_track_entry named = {
		.native = 501,
		.kind = KYMO_TRACK_THREAD,
		.source = s.source,
		.name = build_text(s.build, "main, initial thread"),
	};
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	build_entry(s.build, KY_ENTRY_TRACK, &named, sizeof(named));
	build_thread(s.build, 501, "other");
	sink = run(&s);
	assert_int_equal(sink.seen[KYMO_EVENT_TRACK], 1);
	assert_int_equal(memory_find(&sink, KYMO_EVENT_TRACK, 0)->track.name.size,
			 strlen("main, initial thread"));
	memory_free(&sink);
}

static uint32_t build_thread_on(struct build *build, uint64_t tid, uint32_t clock)
{
	struct ky_track_entry entry = {
		.native = tid, .kind = KYMO_TRACK_THREAD, .clock = clock};

	return build_entry(build, KY_ENTRY_TRACK, &entry, sizeof(entry));
}

static void a_thread_is_one_row_whatever_the_clocks_of_its_tracks(void **state)
{
	struct setup s = begin();
	uint32_t clock = build_clock(s.build, KYMO_CLOCK_COUNTER, 64, 1000000000);
	uint32_t track = build_thread_on(s.build, 501, clock);
	struct memory_sink sink;
	char found[256];

	(void)state;
	for (uint64_t at = 0; at <= BUILD_SECOND; at += BUILD_SECOND / 10)
		build_anchor(s.build, clock, T(at) + 7000, T(at), T(at));
	add_span(&s, 0, 10, 90);
	add_span(&s, track, 7020, 7030); /* by its own clock within the first */
	sink = run(&s);
	describe(&sink, found, sizeof(found));
	assert_string_equal(found, "501.0 10-90, 501.0 20-30");
	assert_int_equal(sink.seen[KYMO_EVENT_TRACK], 1);
	memory_free(&sink);
}

static void a_lane_knows_the_row_that_it_belongs_to(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	add_span(&s, s.queue, 10, 20);
	add_span(&s, s.queue, 15, 25);
	add_span(&s, s.queue, 17, 27);
	sink = run(&s);
	for (size_t i = 0; i < 3; i++) {
		const struct memory_event *track =
			memory_find(&sink, KYMO_EVENT_TRACK, i);

		assert_int_equal(track->track.lane, i);
		assert_int_equal(track->base,
				 memory_find(&sink, KYMO_EVENT_TRACK, 0)->track.index);
	}
	memory_free(&sink);
}

static void a_type_that_nobody_knows_is_listed_only_if_it_is_used(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	sink = run(&s);
	assert_int_equal(sink.header.type_count, 3);
	memory_free(&sink);
	s = begin();
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.type = 900, .begin = T(10), .end = T(20)});
	sink = run(&s);
	assert_int_equal(sink.header.type_count, 4);
	memory_free(&sink);
}

static void queues_are_numbered_within_their_device(void **state)
{
	struct setup s = begin();
	uint32_t second = build_device(s.build, s.source, 1);
	uint32_t tracks[] = {build_queue(s.build, s.device, 5, 0),
			     build_queue(s.build, second, 5, 0),
			     build_queue(s.build, second, 6, 0), s.queue};
	static const uint32_t numbers[] = {2, 1, 2, 1};
	struct memory_sink sink;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		add_span(&s, tracks[i], 10 + i, 20);
	sink = run(&s);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(memory_find(&sink, KYMO_EVENT_TRACK, i)->track.number,
				 numbers[i]);
	memory_free(&sink);
}

static void unknown_numbers_are_shown_as_such(void **state)
{
	struct setup s = begin();
	const struct memory_event *event;
	struct memory_sink sink;

	(void)state;
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.track = 900,
					  .type = 901,
					  .domain = 902,
					  .name = 903,
					  .begin = T(10),
					  .end = T(20),
					  .correlation = 5,
					  .attributes = 904,
					  .key = {905},
					  .value = {906},
					  .flags = KYMO_RECORD_HOST_CLOCK});
	sink = run(&s);
	event = memory_find(&sink, KYMO_EVENT_SPAN, 0);
	assert_string_equal(event->name, "(unknown name 903)");
	assert_string_equal(event->type, "(unknown type)");
	assert_string_equal(event->values, "(unknown key 905)=906");
	assert_memory_equal(event->track.name.data, "(unknown track)", 15);
	memory_free(&sink);
}

static void an_empty_argument_does_not_end_the_command_line(void **state)
{
	static const char arguments[] = "program\0\0\0-x";
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	memcpy(s.build->header.command_line, arguments, sizeof(arguments));
	s.build->header.command_line_size = sizeof(arguments);
	add_span(&s, 0, 10, 20);
	sink = run(&s);
	assert_string_equal(sink.processes, "program(1001)[program   -x] ");
	memory_free(&sink);
}

static void captures_of_one_process_share_its_tracks(void **state)
{
	struct setup s = begin();
	uint64_t pid = s.build->header.pid;
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	build_finish(s.build, T(BUILD_SECOND));
	build_capture(s.build, 2);
	s.build->header.pid = pid;
	s.source = build_source(s.build, "fake");
	s.runtime = build_type(s.build, s.source, "runtime", 7);
	build_lease(s.build, build_thread(s.build, 501, "main"), T(0));
	add_span(&s, 0, 30, 40);
	sink = run(&s);
	assert_int_equal(sink.header.process_count, 1);
	assert_int_equal(sink.seen[KYMO_EVENT_TRACK], 1);
	assert_string_equal(sink.sources, "fake:3:2:0: ");
	memory_free(&sink);
}

static void another_boots_times_are_shifted_by_realtime(void **state)
{
	struct setup s = begin(), other = begin();
	struct build *builds[2] = {s.build, other.build};
	struct memory_sink sink;
	char found[256];

	(void)state;
	add_span(&s, 0, 10, 20);
	build_finish(s.build, T(BUILD_SECOND));
	/* Booted so that its CLOCK_MONOTONIC is 5 s behind at the same real time. */
	strcpy(other.build->header.boot_id, "other boot");
	other.build->header.attach_realtime_ns += 5000000000;
	add_span(&other, 0, 30, 40);
	build_finish(other.build, T(BUILD_SECOND));
	sink = run_files(builds, 2);
	describe(&sink, found, sizeof(found));
	assert_string_equal(found, "501.0 10-20, 501.0 5000000030-5000000040");
	memory_free(&sink);
}

static void an_anchor_is_as_uncertain_as_the_hosts_clock_was(void **state)
{
	/* The recorder died after a second; a device's clock was read after so long. */
	static const struct {
		uint64_t after, error_ns;
	} rows[] = {{0, 0}, {BUILD_SECOND, 0}, {101 * BUILD_SECOND, 10000000}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		uint32_t clock = build_clock(s.build, KYMO_CLOCK_COUNTER, 64, 1000000000);
		uint32_t queue = build_queue(s.build, s.device, 9, clock);
		uint64_t at = T(rows[i].after);
		struct memory_sink sink;

		s.build->header.ticks = KY_TICKS_TSC;
		build_anchor(s.build, 0, T(0), T(0), T(0));
		build_anchor(s.build, 0, T(BUILD_SECOND), T(BUILD_SECOND),
			     T(BUILD_SECOND));
		build_anchor(s.build, clock, at, at, at);
		add_span(&s, queue, rows[i].after, rows[i].after + 10);
		build_finish(s.build, T(0) + 200 * BUILD_SECOND);
		sink = run_files(&s.build, 1);
		assert_int_equal(sink.ledger.spans, 1);
		assert_in_range(sink.clock_uncertainty[1], rows[i].error_ns,
				rows[i].error_ns + rows[i].error_ns / 1000 + 10);
		memory_free(&sink);
	}
}

static void steps_of_realtime_are_told_and_not_applied(void **state)
{
	static const struct {
		int64_t step_ns;
		const char *metadata;
	} rows[] = {{0, ""},
		    {1000000, ""}, /* two readings are never of one moment */
		    {2000000000, "realtime stepped (ns)=2000000000"},
		    {-3600000000000, "realtime stepped (ns)=3600000000000"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		uint32_t clock = build_clock(s.build, KYMO_CLOCK_REALTIME, 64, 0);
		uint32_t queue = build_queue(s.build, s.device, 9, clock);
		struct memory_sink sink;
		char found[64];

		for (uint64_t at = 0; at < 3; at++) {
			build_anchor(s.build, 0, T(at), T(at), T(at));
			s.build->anchors[at].realtime = BUILD_REALTIME + at;
		}
		s.build->anchors[2].realtime += (uint64_t)rows[i].step_ns;
		build_record(s.build, KYMO_KIND_SPAN,
			     (struct kymo_record){.track = queue,
						  .type = s.kernel,
						  .begin = BUILD_REALTIME + 100,
						  .end = BUILD_REALTIME + 200});
		sink = run(&s);
		describe(&sink, found, sizeof(found));
		assert_string_equal(found, "9.0 100-200");
		assert_string_equal(sink.metadata, rows[i].metadata);
		assert_int_equal(sink.clock_uncertainty[1], llabs(rows[i].step_ns));
		memory_free(&sink);
	}
}

static void metadata_gives_ranks(void **state)
{
	struct setup s = begin();
	struct {
		struct ky_attribute attribute;
		uint64_t value;
	} entry = {{build_key(s.build, "rank", KYMO_VALUE_INT64), 0, 0}, 3};
	struct memory_sink sink;

	(void)state;
	build_entry(s.build, KY_ENTRY_METADATA, &entry, sizeof(entry));
	entry.value = 5;
	build_entry(s.build, KY_ENTRY_METADATA, &entry, sizeof(entry));
	sink = run(&s);
	assert_int_equal(sink.rank, 5);
	assert_string_equal(sink.metadata, "");
	memory_free(&sink);
}

static void what_is_said_of_the_ranks_gives_them_too(void **state)
{
	struct setup s = begin();
	const uint32_t rank = build_text(s.build, "rank");
	const uint32_t size = build_text(s.build, "world_size");
	const uint16_t key = build_key(s.build, "distributedInfo", KYMO_VALUE_NESTED);
	struct {
		struct ky_attribute attribute;
		uint64_t words[16];
	} entry = {.attribute = {.key = key}};
	struct kymo_nested said;
	struct memory_sink sink;

	(void)state;
	kymo_nested_begin(&said, entry.words, 16, KYMO_VALUE_DICT);
	kymo_nested_put(&said, rank, KYMO_VALUE_INT64, 7);
	kymo_nested_put(&said, rank, KYMO_VALUE_STRING, size); /* is none */
	kymo_nested_put(&said, size, KYMO_VALUE_UINT64, 9);
	entry.attribute.count = kymo_nested_value(&said, key).count;
	build_entry(s.build, KY_ENTRY_METADATA, &entry,
		    sizeof(entry.attribute) + entry.attribute.count * sizeof(uint64_t));
	sink = run(&s);
	assert_int_equal(sink.rank, 7);
	memory_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracks_are_announced_and_described),
		cmocka_unit_test(the_last_name_of_a_thread_holds),
		cmocka_unit_test(a_name_that_a_source_gave_a_thread_outlasts_its_own),
		cmocka_unit_test(a_thread_is_one_row_whatever_the_clocks_of_its_tracks),
		cmocka_unit_test(a_lane_knows_the_row_that_it_belongs_to),
		cmocka_unit_test(a_type_that_nobody_knows_is_listed_only_if_it_is_used),
		cmocka_unit_test(queues_are_numbered_within_their_device),
		cmocka_unit_test(unknown_numbers_are_shown_as_such),
		cmocka_unit_test(an_empty_argument_does_not_end_the_command_line),
		cmocka_unit_test(captures_of_one_process_share_its_tracks),
		cmocka_unit_test(another_boots_times_are_shifted_by_realtime),
		cmocka_unit_test(an_anchor_is_as_uncertain_as_the_hosts_clock_was),
		cmocka_unit_test(steps_of_realtime_are_told_and_not_applied),
		cmocka_unit_test(metadata_gives_ranks),
		cmocka_unit_test(what_is_said_of_the_ranks_gives_them_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
