/* SPDX-License-Identifier: BSD-3-Clause */
/* What values refer to by the numbers of a source has those of the trace there. */
#include "record/known_keys.h"

#include "support/test.h"
#include "timeline/trace_setup.h"

/* The name of the first known key of that kind. */
static const char *find_reference(enum ky_reference kind)
{
	const struct kymo_key_desc *key;

	for (size_t i = 0; (key = kymo_key_known_at(i)); i++)
		if (ky_known_key_reference(kymo_text(key->name)) == kind)
			return key->name;
	return NULL;
}

/* On the queue; the keys are in a line of their own, behind `bytes`. */
static void add_wait(struct setup *s, uint64_t begin_ns, const uint16_t *keys,
		     uint64_t queue, uint64_t correlation)
{
	struct kymo_record lines[2] = {{.kind = KYMO_KIND_SPAN,
					.lines = 2,
					.track = s->queue,
					.type = s->kernel,
					.domain = s->domain,
					.begin = T(begin_ns),
					.end = T(begin_ns + 10),
					.correlation = begin_ns,
					.key = {s->bytes, s->bytes},
					.value = {1, 2}}};
	const struct kymo_record_more more = {.kind = KYMO_KIND_MORE,
					      .used = 2,
					      .key = {keys[0], keys[1]},
					      .value = {queue, correlation}};

	memcpy(&lines[1], &more, sizeof(more));
	build_lines(s->build, lines, 2);
}

static void assert_refers(const struct memory_sink *sink, size_t span, int64_t queue,
			  uint64_t correlation)
{
	const struct memory_event *wait = memory_find(sink, KYMO_EVENT_SPAN, span);
	char expected[256];

	snprintf(expected, sizeof(expected), "bytes=1 bytes=2 %s=%" PRId64 " %s=%" PRId64,
		 find_reference(KY_REFERENCE_QUEUE), queue,
		 find_reference(KY_REFERENCE_CORRELATION), (int64_t)correlation);
	assert_string_equal(wait->values, expected);
}

/* Waits know it by the source's numbers, readers by those of the file. */
static void what_a_value_refers_to_has_its_number_in_the_trace(void **state)
{
	struct setup s = begin();
	const uint16_t keys[] = {
		build_key(s.build, find_reference(KY_REFERENCE_QUEUE), KYMO_VALUE_INT64),
		build_key(s.build, find_reference(KY_REFERENCE_CORRELATION),
			  KYMO_VALUE_INT64)};
	struct memory_sink sink;

	(void)state;
	build_queue(s.build, s.device, 9, 0);
	add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 70000);
	add_correlated(&s, 0, 200, 0, 80000);
	add_wait(&s, 300, keys, 9, 80000);
	add_wait(&s, 400, keys, 0x7f0000001234, 80000);
	add_wait(&s, 500, keys, 9, 70000);
	add_wait(&s, 600, keys, 1, 12345);               /* which nobody has */
	add_wait(&s, 700, keys, UINT64_MAX, UINT64_MAX); /* not known to the source */
	sink = run(&s);
	for (size_t i = 0; i < 2; i++)
		assert_int_not_equal(
			memory_find(&sink, KYMO_EVENT_SPAN, i)->event.correlation, 0);
	assert_refers(&sink, 2, 2,
		      memory_find(&sink, KYMO_EVENT_SPAN, 1)->event.correlation);
	assert_refers(&sink, 3, 1,
		      memory_find(&sink, KYMO_EVENT_SPAN, 1)->event.correlation);
	assert_refers(&sink, 4, 2,
		      memory_find(&sink, KYMO_EVENT_SPAN, 0)->event.correlation);
	assert_refers(&sink, 5, -1, UINT64_MAX);
	assert_refers(&sink, 6, -1, UINT64_MAX);
	memory_free(&sink);
}

static uint32_t add_queue_beside(struct setup *s, uint64_t native, uint64_t beside)
{
	const char *name = find_reference(KY_REFERENCE_BESIDE);
	const uint16_t key = build_key(s->build, name, KYMO_VALUE_INT64);
	const struct {
		struct ky_attribute attribute;
		uint64_t value;
	} set = {{key, 0, 0}, beside};
	const struct ky_track_entry track = {
		.native = native,
		.kind = KYMO_TRACK_QUEUE,
		.device = s->device,
		.attributes =
			build_entry(s->build, KY_ENTRY_ATTRIBUTES, &set, sizeof(set)),
	};

	return build_entry(s->build, KY_ENTRY_TRACK, &track, sizeof(track));
}

static void a_row_beside_a_queue_has_its_number(void **state)
{
	struct setup s = begin();
	const uint32_t of_none = add_queue_beside(&s, 11, 12345);
	const uint32_t beside = add_queue_beside(&s, 12, 9);
	const uint32_t other = build_queue(s.build, s.device, 9, 0);
	const uint32_t tracks[] = {s.queue, beside, other, of_none};
	static const uint32_t numbers[] = {1, 2, 2, 3};
	struct memory_sink sink;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add_span(&s, tracks[i], 100 * i, 100 * i + 10);
	sink = run(&s);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(memory_find(&sink, KYMO_EVENT_SPAN, i)->track.number,
				 numbers[i]);
	/* Which is announced before it, though nothing has happened there yet. */
	assert_true(memory_find(&sink, KYMO_EVENT_SPAN, 1)->track.index >
		    memory_find(&sink, KYMO_EVENT_SPAN, 2)->track.index);
	memory_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_value_refers_to_has_its_number_in_the_trace),
		cmocka_unit_test(a_row_beside_a_queue_has_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
