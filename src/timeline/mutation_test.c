/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures in which random bytes were changed, with their checksums made right again so
 * that the damage gets through to the decoders, never crash, hang or break what a sink
 * may rely on. KYMO_MUTATIONS in the environment sets how many are tried.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/build_capture.h"
#include "support/test.h"
#include "timeline/memory_sink.h"
#include "timeline/timeline.h"

#define MUTATIONS 1500
#define T(ns)     (BUILD_ATTACH + (ns))

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Some of everything that a capture can hold. */
static void build_records(struct build *build, uint32_t queue, uint32_t group)
{
	struct kymo_record_more more = {.kind = KYMO_KIND_MORE,
					.used = 4,
					.key = {1, 2, 3, 4},
					.value = {9, 2, 1, T(3)}};
	struct kymo_record_bytes bytes = {
		.kind = KYMO_KIND_BYTES, .used = 56, .key = 5, .total = 56};
	struct kymo_record_values values = {.kind = KYMO_KIND_VALUES, .used = 7};
	struct kymo_record_counter counter = {.kind = KYMO_KIND_COUNTER,
					      .lines = 2,
					      .type = 1,
					      .count = 8,
					      .group = group,
					      .begin = T(50),
					      .end = T(50)};
	struct kymo_record_link link = {.kind = KYMO_KIND_LINK,
					.lines = 1,
					.link_kind = 1,
					.from_domain = 1,
					.to_domain = 1,
					.from = 1,
					.to = 2};
	struct kymo_record span = {.kind = KYMO_KIND_SPAN,
				   .lines = 3,
				   .type = 1,
				   .domain = 1,
				   .name = 1,
				   .attributes = 1,
				   .key = {1, 2},
				   .value = {3, 2}};

	for (uint64_t i = 0; i < 12; i++) {
		span.begin = T(i * 10);
		span.end = T(i * 10 + 15);
		span.correlation = i / 2 + 1;
		span.flags = i % 2 ? KYMO_RECORD_TARGET : KYMO_RECORD_ORIGIN;
		span.track = i % 2 ? queue : 0;
		build_lines(build, &span, 1);
		build_lines(build, &more, 1);
		build_lines(build, &bytes, 1);
	}
	build_record(build, KYMO_KIND_SPAN, /* which is projected on the queue */
		     (struct kymo_record){.type = 2, .begin = T(1), .end = T(100)});
	build_lines(build, &counter, 1);
	build_lines(build, &values, 1);
	build_lines(build, &link, 1);
	build_record(build, KYMO_KIND_OPEN,
		     (struct kymo_record){.type = 1, .name = 1, .begin = T(70)});
	build_record(build, KYMO_KIND_GAP,
		     (struct kymo_record){.type = 1, .begin = T(90), .end = T(95)});
}

static struct build *build_all(void)
{
	struct build *build = build_new();
	struct {
		struct ky_attribute attribute;
		uint64_t value[2];
	} set = {{5, 0, 2}, {6, 7}};
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[8];
	} group = {{.track = 1, .name = 1, .count = 8}, {{.name = 1, .value_type = 1}}};
	struct ky_code_entry code = {.address = 99, .object = 1, .symbol = 1};
	struct ky_state_entry fate = {.source = 1, .state = 3};
	uint32_t source, device, clock, queue;

	build_session(build, "run\0", 4);
	source = build_source(build, "fake");
	build_type(build, source, "kernel", 5);
	build_type(build, source, "user_annotation", 1);
	build_domain(build, source, "command", KYMO_DOMAIN_SOURCE);
	build_link_kind(build, "fwdbwd");
	build_key(build, "bytes", KYMO_VALUE_UINT64);
	build_key(build, "text", KYMO_VALUE_STRING);
	build_key(build, "code", KYMO_VALUE_CODE);
	build_key(build, "time", KYMO_VALUE_TIME);
	build_key(build, "grid", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY);
	build_key(build, "names", KYMO_VALUE_STRING | KYMO_VALUE_ARRAY);
	build_entry(build, KY_ENTRY_ATTRIBUTES, &set, sizeof(set));
	build_entry(build, KY_ENTRY_METADATA, &set, sizeof(set));
	build_entry(build, KY_ENTRY_CODE, &code, sizeof(code));
	build_entry(build, KY_ENTRY_STATE, &fate, sizeof(fate));
	build->sources[source].lost[1] = 3;
	build_thread(build, 501, "main");
	device = build_device(build, source, 0);
	clock = build_clock(build, KYMO_CLOCK_COUNTER, 48, 1000000000);
	queue = build_queue(build, device, 9, clock);
	build->header.ticks = KY_TICKS_TSC;
	for (uint64_t i = 0; i < 6; i++) {
		build_anchor(build, 0, T(i * 1000), T(i * 1000), T(i * 1000) + 20);
		build_anchor(build, clock, T(i * 1000), T(i * 1000), T(i * 1000) + 20);
	}
	build->writers[0].accepted = 17;
	build->writer_count = 1;
	build_lease(build, 1, T(0));
	build_records(build, queue,
		      build_entry(build, KY_ENTRY_GROUP, &group, sizeof(group)));
	build_finish(build, T(BUILD_SECOND));
	return build;
}

/* Entry sizes are taken from the undamaged dictionary, so that all are found again. */
static void repair_dictionary(uint8_t *bytes, const uint8_t *good, size_t size)
{
	for (size_t at = 0; at + sizeof(struct ky_dictionary_entry) <= size;) {
		struct ky_dictionary_entry entry, before;
		uint32_t crc;

		memcpy(&before, good + at, sizeof(before));
		memcpy(&entry, bytes + at, sizeof(entry));
		entry.size = before.size;
		crc = ky_crc32c(0, &entry, offsetof(struct ky_dictionary_entry, crc32c));
		entry.crc32c = ky_crc32c(crc, bytes + at + sizeof(entry), entry.size);
		memcpy(bytes + at, &entry, sizeof(entry));
		at += sizeof(entry) + ((entry.size + 7u) & ~7u);
	}
}

static void repair(struct build_bytes *file, const struct build_bytes *good)
{
	for (size_t at = sizeof(struct ky_file_header); at < file->size;) {
		struct ky_block_header block, before;
		uint8_t *payload = file->data + at + sizeof(block);

		memcpy(&before, good->data + at, sizeof(before));
		memcpy(&block, file->data + at, sizeof(block));
		block.magic = before.magic;
		block.size = before.size;
		if (before.kind == KY_BLOCK_DICTIONARY)
			repair_dictionary(payload, good->data + at + sizeof(block),
					  before.size);
		block.payload_crc32c = ky_crc32c(0, payload, block.size);
		block.header_crc32c = ky_crc32c(
			0, &block, offsetof(struct ky_block_header, header_crc32c));
		memcpy(file->data + at, &block, sizeof(block));
		at += sizeof(block) + ((block.size + 63u) & ~63u);
	}
}

static void damage(struct build_bytes *file)
{
	for (uint64_t flips = 1 + next_random() % 6; flips > 0; flips--) {
		size_t at = next_random() % file->size;
		uint64_t how = next_random();

		switch (how % 4) {
		case 0:
			file->data[at] ^= (uint8_t)(1u << (how >> 8) % 8);
			break;
		case 1:
			file->data[at] = 0xff;
			break;
		case 2:
			memset(file->data + at, 0xff,
			       file->size - at < 8 ? file->size - at : 8);
			break;
		default:
			file->data[at] = (uint8_t)(how >> 8);
			break;
		}
	}
}

static void run_one(struct build *build)
{
	struct memory_sink sink = {.keep = 1};
	struct kymo_error error = {0};
	struct ky_reader *reader;

	if (ky_reader_open(&reader, build_save(build), &error) != KYMO_OK)
		return;
	if (ky_timeline_run(&reader, 1, &memory_ops, &sink, NULL, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	assert_true(sink.ended);
	ky_reader_close(reader);
	memory_free(&sink);
}

static void damaged_captures_never_crash(void **state)
{
	struct build *build = build_all();
	struct build_bytes good = {NULL, 0, 0};
	const char *wanted = getenv("KYMO_MUTATIONS");
	long count = wanted ? strtol(wanted, NULL, 10) : MUTATIONS;

	(void)state;
	build_append(&good, build->file.data, build->file.size);
	if (!good.data)
		abort();
	run_one(build);
	for (long i = 0; i < count; i++) {
		memcpy(build->file.data, good.data, good.size);
		damage(&build->file);
		if (i % 8 != 0)
			repair(&build->file, &good);
		run_one(build);
	}
	free(good.data);
	build_free(build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_captures_never_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
