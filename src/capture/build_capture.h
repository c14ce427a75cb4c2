/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: builds a .kymo file block by block, so that readers can be tested without
 * whoever writes such files, and with files that nobody would write.
 */
#ifndef KYMO_CAPTURE_BUILD_CAPTURE_H
#define KYMO_CAPTURE_BUILD_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/plugin.h>

#include "base/crc32c.h"
#include "record/layout.h"

#define BUILD_SECOND   1000000000ull
#define BUILD_ATTACH   (100 * BUILD_SECOND)        /* CLOCK_MONOTONIC */
#define BUILD_REALTIME (1700000000 * BUILD_SECOND) /* at the same moment */

struct build_bytes {
	uint8_t *data;
	size_t size, capacity;
};

/* One file; the capture that is being built at the moment is part of it. */
struct build {
	struct build_bytes file;
	struct build_bytes dictionary;
	uint32_t entry_count[KY_ENTRY_KINDS];
	struct ky_capture_header header;
	struct ky_anchor anchors[4096];
	size_t anchor_count;
	struct ky_writer_slot writers[8];
	size_t writer_count;
	struct ky_source_counts sources[8];
	struct kymo_record lines[KY_CHUNK_LINES];
	uint32_t line_count;
	uint64_t sequence;
	char path[64];
};

static inline void build_append(struct build_bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = (bytes->size + size) * 2;
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (!bytes->data)
			abort();
	}
	if (size > 0)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static inline void build_block(struct build *build, uint32_t kind, uint64_t sequence,
			       const void *payload, size_t size)
{
	static const uint8_t zeros[64];
	struct ky_block_header header = {.magic = KY_BLOCK_MAGIC,
					 .kind = kind,
					 .size = size,
					 .capture = build->header.capture,
					 .sequence = sequence,
					 .payload_crc32c = ky_crc32c(0, payload, size)};

	if (kind == KY_BLOCK_SESSION)
		header.capture = 0;
	header.header_crc32c =
		ky_crc32c(0, &header, offsetof(struct ky_block_header, header_crc32c));
	build_append(&build->file, &header, sizeof(header));
	build_append(&build->file, payload, size);
	build_append(&build->file, zeros, (64 - size % 64) % 64);
}

/* Begins a capture of a process with MONOTONIC ticks; change build->header as wanted. */
static inline void build_capture(struct build *build, uint64_t number)
{
	build->header =
		(struct ky_capture_header){.magic = KY_CAPTURE_MAGIC,
					   .format_major = KYMO_CAPTURE_FORMAT_MAJOR,
					   .header_size = sizeof(build->header),
					   .ticks = KY_TICKS_MONOTONIC,
					   .overflow = KY_OVERFLOW_STREAM,
					   .capture = number,
					   .pid = 1000 + number,
					   .start_time = 5000,
					   .attach_ticks = BUILD_ATTACH,
					   .attach_monotonic_ns = (int64_t)BUILD_ATTACH,
					   .attach_realtime_ns = (int64_t)BUILD_REALTIME,
					   .host = "host",
					   .boot_id = "boot",
					   .exe = "/usr/bin/program",
					   .command_line_size = 11,
					   .command_line = "program\0-x\0"};
	build->dictionary.size = 0;
	memset(build->entry_count, 0, sizeof(build->entry_count));
	memset(build->sources, 0, sizeof(build->sources));
	build->anchor_count = build->writer_count = build->line_count = 0;
}

static inline struct build *build_new(void)
{
	struct build *build = calloc(1, sizeof(*build));
	struct ky_file_header header = {.magic = KY_FILE_MAGIC,
					.format_major = KYMO_CAPTURE_FORMAT_MAJOR,
					.header_size = sizeof(header)};

	if (!build)
		abort();
	header.header_crc32c =
		ky_crc32c(0, &header, offsetof(struct ky_file_header, header_crc32c));
	build_append(&build->file, &header, sizeof(header));
	build_capture(build, 1);
	return build;
}

static inline void build_session(struct build *build, const char *arguments, size_t size)
{
	uint8_t block[256] = {0};
	struct ky_session_block session = {.start_monotonic_ns = (int64_t)BUILD_ATTACH,
					   .start_realtime_ns = (int64_t)BUILD_REALTIME,
					   .command_line_size = (uint32_t)size};

	memcpy(block, &session, sizeof(session));
	memcpy(block + sizeof(session), arguments, size);
	build_block(build, KY_BLOCK_SESSION, 0, block, sizeof(session) + size);
}

/* Appends a dictionary entry; its number. */
static inline uint32_t build_entry(struct build *build, uint16_t kind,
				   const void *payload, size_t size)
{
	static const uint8_t zeros[8];
	struct ky_dictionary_entry entry = {
		.size = (uint32_t)size, .kind = kind, .id = ++build->entry_count[kind]};

	entry.crc32c = ky_crc32c(0, &entry, offsetof(struct ky_dictionary_entry, crc32c));
	entry.crc32c = ky_crc32c(entry.crc32c, payload, size);
	build_append(&build->dictionary, &entry, sizeof(entry));
	build_append(&build->dictionary, payload, size);
	build_append(&build->dictionary, zeros, (8 - size % 8) % 8);
	return entry.id;
}

static inline uint32_t build_text(struct build *build, const char *text)
{
	return build_entry(build, KY_ENTRY_STRING, text, strlen(text));
}

static inline uint32_t build_source(struct build *build, const char *name)
{
	struct ky_source_entry entry = {.name = build_text(build, name)};

	return build_entry(build, KY_ENTRY_SOURCE, &entry, sizeof(entry));
}

static inline uint16_t build_type(struct build *build, uint32_t source, const char *name,
				  uint32_t activity_type)
{
	struct ky_type_entry entry = {.source = source,
				      .name = build_text(build, name),
				      .plugin = build_text(build, "plug"),
				      .activity_type = activity_type};

	return (uint16_t)build_entry(build, KY_ENTRY_TYPE, &entry, sizeof(entry));
}

static inline uint16_t build_key(struct build *build, const char *name, uint32_t type)
{
	struct ky_key_entry entry = {.name = build_text(build, name), .value_type = type};

	return (uint16_t)build_entry(build, KY_ENTRY_KEY, &entry, sizeof(entry));
}

static inline uint16_t build_domain(struct build *build, uint32_t source,
				    const char *name, uint32_t scope)
{
	struct ky_domain_entry entry = {
		.name = build_text(build, name), .source = source, .scope = scope};

	return (uint16_t)build_entry(build, KY_ENTRY_DOMAIN, &entry, sizeof(entry));
}

static inline uint16_t build_link_kind(struct build *build, const char *name)
{
	struct ky_link_kind_entry entry = {.name = build_text(build, name)};

	return (uint16_t)build_entry(build, KY_ENTRY_LINK_KIND, &entry, sizeof(entry));
}

static inline uint32_t build_clock(struct build *build, uint32_t kind, uint32_t bits,
				   uint64_t ticks_per_second)
{
	struct ky_clock_entry entry = {.name = build_text(build, "clock"),
				       .kind = kind,
				       .bits = bits,
				       .ticks_num = ticks_per_second,
				       .ticks_den = ticks_per_second ? 1 : 0};

	return build_entry(build, KY_ENTRY_CLOCK, &entry, sizeof(entry));
}

static inline uint32_t build_device(struct build *build, uint32_t source, uint32_t index)
{
	struct ky_device_entry entry = {.native = 7000 + index,
					.source = source,
					.index = index,
					.name = build_text(build, "device")};

	return build_entry(build, KY_ENTRY_DEVICE, &entry, sizeof(entry));
}

static inline uint32_t build_thread(struct build *build, uint64_t tid, const char *name)
{
	struct ky_track_entry entry = {.native = tid,
				       .kind = KYMO_TRACK_THREAD,
				       .name = name ? build_text(build, name) : 0};

	return build_entry(build, KY_ENTRY_TRACK, &entry, sizeof(entry));
}

static inline uint32_t build_queue(struct build *build, uint32_t device, uint64_t native,
				   uint32_t clock)
{
	struct ky_track_entry entry = {.native = native,
				       .kind = KYMO_TRACK_QUEUE,
				       .name = build_text(build, "queue"),
				       .clock = clock,
				       .device = device};

	return build_entry(build, KY_ENTRY_TRACK, &entry, sizeof(entry));
}

static inline void build_anchor(struct build *build, uint32_t clock, uint64_t device,
				uint64_t lo, uint64_t hi)
{
	build->anchors[build->anchor_count] =
		(struct ky_anchor){.clock = clock,
				   .device = device,
				   .host_lo = lo,
				   .host_hi = hi,
				   .sequence = build->anchor_count + 1};
	build->anchor_count++;
}

/* Ends the chunk that is being filled. */
static inline void build_chunk(struct build *build)
{
	uint8_t block[KY_CHUNK_SIZE] = {0};
	size_t size = build->line_count * sizeof(build->lines[0]);
	struct ky_chunk_header header = {.magic = KY_CHUNK_MAGIC,
					 .sequence = ++build->sequence,
					 .crc32c = ky_crc32c(0, build->lines, size),
					 .head = build->line_count};

	if (build->line_count == 0)
		return;
	memcpy(block, &header, sizeof(header));
	memcpy(block + sizeof(header), build->lines, size);
	build_block(build, KY_BLOCK_CHUNK, header.sequence, block, sizeof(header) + size);
	build->line_count = 0;
}

static inline void build_lease(struct build *build, uint32_t track, uint64_t begin)
{
	struct kymo_record_lease lease = {.kind = KYMO_KIND_LEASE,
					  .lines = 1,
					  .track = track,
					  .begin = begin,
					  .sequence = build->sequence + 1};

	build_chunk(build);
	memcpy(&build->lines[build->line_count++], &lease, sizeof(lease));
}

/* Appends lines as they are; a new chunk (without a lease) is begun when one is full. */
static inline void build_lines(struct build *build, const void *lines, uint32_t count)
{
	if (build->line_count + count > KY_CHUNK_LINES) {
		struct kymo_record lease = build->lines[0];

		build_chunk(build);
		if (lease.kind == KYMO_KIND_LEASE)
			build->lines[build->line_count++] = lease;
	}
	memcpy(&build->lines[build->line_count], lines,
	       count * sizeof(struct kymo_record));
	build->line_count += count;
}

/* A record of one line: kind and lines are set here. */
static inline void build_record(struct build *build, uint8_t kind,
				struct kymo_record record)
{
	record.kind = kind;
	record.lines = 1;
	build_lines(build, &record, 1);
}

/* Writes what the capture has beside its chunks. `end_ns` 0: no end block. */
static inline void build_finish(struct build *build, uint64_t end_ns)
{
	struct ky_end_block end = {.reason = KY_END_EXITED,
				   .end_monotonic_ns = (int64_t)end_ns};

	build_chunk(build);
	build_block(build, KY_BLOCK_DICTIONARY, 0, build->dictionary.data,
		    build->dictionary.size);
	build_block(build, KY_BLOCK_ANCHORS, 0, build->anchors,
		    build->anchor_count * sizeof(build->anchors[0]));
	build_block(build, KY_BLOCK_WRITERS, 0, build->writers,
		    build->writer_count * sizeof(build->writers[0]));
	build_block(build, KY_BLOCK_SOURCES, 0, build->sources, sizeof(build->sources));
	build_block(build, KY_BLOCK_CAPTURE, 0, &build->header, sizeof(build->header));
	if (end_ns > 0)
		build_block(build, KY_BLOCK_END, 0, &end, sizeof(end));
}

/* Writes the file as far as it is built, to a fresh path; the path. */
static inline const char *build_save(struct build *build)
{
	int fd;

	if (build->path[0])
		unlink(build->path);
	strcpy(build->path, "/tmp/kymo-build-XXXXXX");
	fd = mkstemp(build->path);
	if (fd < 0 ||
	    write(fd, build->file.data, build->file.size) != (ssize_t)build->file.size)
		abort();
	close(fd);
	return build->path;
}

static inline void build_free(struct build *build)
{
	if (build->path[0])
		unlink(build->path);
	free(build->file.data);
	free(build->dictionary.data);
	free(build);
}

#endif
