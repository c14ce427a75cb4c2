/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a .kymo file through Kymo's own reader, in the lines that tools/read_capture.py
 * prints, so that the two can be compared byte for byte.
 */
#include "dump.h"

#include <string.h>

#include "capture/block.h"

static void put_named_i64(const char *name, int64_t number)
{
	printf(",\"%s\":", name);
	put_i64(number);
}

static void put_named_text(const char *name, const char *terminated)
{
	printf(",\"%s\":", name);
	put_text(terminated, strlen(terminated));
}

/* A list of what is ended (or, the last one, not) by `mark`. */
static void put_list(const char *name, const char *text, size_t size, char mark)
{
	int any = 0;

	printf(",\"%s\":[", name);
	while (size > 0) {
		const char *end = memchr(text, mark, size);
		size_t part = end ? (size_t)(end - text) : size;

		put_comma(&any);
		put_text(text, part);
		text += part + (end != NULL);
		size -= part + (end != NULL);
	}
	putchar(']');
}

/* ---- Session and capture ---- */

static void dump_session(const struct ky_reader *reader,
			 const struct ky_file_header *header)
{
	const struct ky_session_block *session = ky_reader_session(reader);

	printf("{\"line\":\"session\",\"format\":[%u,%u]", header->format_major,
	       header->format_minor);
	put_member("session", header->session);
	if (session) {
		struct kymo_str command = ky_reader_command_line(reader);
		struct kymo_str sources = ky_reader_sources(reader);

		put_named_i64("start_monotonic_ns", session->start_monotonic_ns);
		put_named_i64("start_realtime_ns", session->start_realtime_ns);
		put_member("recorder_pid", session->recorder_pid);
		put_member("overflow", session->overflow);
		put_list("command_line", command.data, command.size, '\0');
		put_list("sources", sources.data, sources.size, ',');
	}
	put("}\n");
}

#define MEMBER(name) put_member(#name, header->name)

static void put_layout(const struct ky_capture_header *header)
{
	MEMBER(format_major);
	MEMBER(format_minor);
	MEMBER(header_size);
	MEMBER(flags);
	MEMBER(total_size);
	MEMBER(anchors_offset);
	MEMBER(writers_offset);
	MEMBER(sources_offset);
	MEMBER(states_offset);
	MEMBER(order_offset);
	MEMBER(dictionary_offset);
	MEMBER(dictionary_size);
	MEMBER(chunks_offset);
	MEMBER(anchor_capacity);
	MEMBER(writer_capacity);
	MEMBER(source_capacity);
	MEMBER(chunk_count);
	MEMBER(chunk_size);
}

static void put_identity(const struct ky_capture_header *header)
{
	MEMBER(ticks);
	MEMBER(overflow);
	MEMBER(session);
	MEMBER(capture);
	MEMBER(pid);
	MEMBER(parent_pid);
	MEMBER(start_time);
	MEMBER(attach_ticks);
	put_named_i64("attach_monotonic_ns", header->attach_monotonic_ns);
	put_named_i64("attach_realtime_ns", header->attach_realtime_ns);
}

static void put_live(const struct ky_capture_header *header)
{
	MEMBER(state);
	MEMBER(command);
	MEMBER(command_sequence);
	MEMBER(writer_count);
	MEMBER(lease_sequence);
	MEMBER(dictionary_tail);
	MEMBER(anchor_tail);
	MEMBER(chunks_freed);
	MEMBER(names_not_kept);
	MEMBER(cold_chunks);
	MEMBER(quarantined_chunks);
	MEMBER(filtered_unowned);
	MEMBER(lost_full_unowned);
	MEMBER(lost_nested_unowned);
	put_named_i64("stream_stopped_ns", header->stream_stopped_ns);
	MEMBER(stream_stopped);
	MEMBER(command_line_size);
}

static void dump_capture(const struct ky_reader_capture *capture)
{
	const struct ky_capture_header *header = &capture->header;
	uint64_t lines = 0;

	for (size_t i = 0; i < capture->chunk_count; i++)
		lines += capture->chunks[i].line_count;
	put("{\"line\":\"capture\"");
	put_layout(header);
	put_identity(header);
	put_live(header);
	put_named_text("host", header->host);
	put_named_text("boot_id", header->boot_id);
	put_named_text("library_version", header->library_version);
	put_named_text("exe", header->exe);
	put_list("command_line", header->command_line, header->command_line_size, '\0');
	put_member("pid_namespace", header->pid_namespace);
	put_member("command_done", header->command_done);
	put_member("begin_ticks", header->begin_ticks);
	put_member("lines", lines);
	put("}\n");
}

static void dump_anchors(const struct dump *dump)
{
	for (size_t i = 0; i < dump->capture->anchor_count; i++) {
		const struct ky_anchor *anchor = &dump->capture->anchors[i];

		put("{\"line\":\"anchor\"");
		put_member("sequence", anchor->sequence);
		put(",\"clock\":");
		put_number(dump, KY_ENTRY_CLOCK, anchor->clock);
		put_member("flags", anchor->flags);
		put_member("device", anchor->device);
		put_member("host_lo", anchor->host_lo);
		put_member("host_hi", anchor->host_hi);
		put_member("realtime", anchor->realtime);
		put("}\n");
	}
}

static void dump_writers(const struct dump *dump)
{
	for (size_t i = 0; i < dump->capture->writer_count; i++) {
		const struct ky_writer_slot *slot = &dump->capture->writers[i];

		put("{\"line\":\"writer\"");
		put_member("slot", i);
		put_member("accepted", slot->accepted);
		put_member("written", slot->written);
		put_member("lost_full", slot->lost_full);
		put_member("lost_too_big", slot->lost_too_big);
		put_member("lost_nested", slot->lost_nested);
		put_member("filtered", slot->filtered);
		put_member("tid", slot->tid);
		put(",\"track\":");
		put_number(dump, KY_ENTRY_TRACK, slot->track);
		put_member("chunk", slot->chunk);
		put_member("state", slot->state);
		put("}\n");
	}
}

static void dump_sources(const struct dump *dump)
{
	for (size_t i = 0; i < dump->capture->source_count; i++) {
		const struct ky_source_counts *counts = &dump->capture->sources[i];
		int any = 0;

		put("{\"line\":\"source\",\"source\":");
		put_number(dump, KY_ENTRY_SOURCE, i);
		put_member("overwritten", counts->overwritten);
		put_member("invalid", counts->invalid);
		put_member("filtered", counts->lost[KY_LOST_FILTERED]);
		put(",\"lost\":[");
		for (size_t n = 1; n < sizeof(counts->lost) / sizeof(counts->lost[0]);
		     n++) {
			put_comma(&any);
			put_u64(counts->lost[n]);
		}
		put("]}\n");
	}
}

/* ---- End ---- */

/* Sums of numbers that may be anything are kept to 64 bits on both sides. */
static void put_ledger(const struct dump *dump, uint64_t found)
{
	const struct ky_capture_header *header = &dump->capture->header;
	struct ky_writer_slot sum = {.accepted = 0};
	uint64_t handed_in;

	for (size_t i = 0; i < dump->capture->writer_count; i++) {
		const struct ky_writer_slot *slot = &dump->capture->writers[i];

		sum.accepted += slot->accepted;
		sum.written += slot->written;
		sum.lost_full += slot->lost_full;
		sum.lost_too_big += slot->lost_too_big;
		sum.lost_nested += slot->lost_nested;
		sum.filtered += slot->filtered;
	}
	sum.lost_full += header->lost_full_unowned;
	sum.lost_nested += header->lost_nested_unowned;
	sum.filtered += header->filtered_unowned;
	handed_in = sum.accepted + sum.lost_nested + header->lost_full_unowned;

	put(",\"ledger\":{\"offered\":");
	put_u64(handed_in + sum.filtered);
	put_member("handed_in", handed_in);
	put_member("written", sum.written);
	put_member("found", found);
	put_member("full", sum.lost_full);
	put_member("too_big", sum.lost_too_big);
	put_member("nested", sum.lost_nested);
	put_member("filtered", sum.filtered);
	putchar('}');
}

static void dump_end(const struct dump *dump)
{
	const struct ky_end_block *end = &dump->capture->end;
	uint64_t found = 0;
	int any = 0;

	put("{\"line\":\"end\"");
	put_member("capture", dump->capture->header.capture);
	put_member("reason", end->reason);
	put_named_i64("end_monotonic_ns", end->end_monotonic_ns);
	put_named_i64("end_realtime_ns", end->end_realtime_ns);
	put(",\"records\":{");
	for (size_t kind = 1; kind < KIND_COUNT; kind++) {
		put_comma(&any);
		printf("\"%s\":", dump_kind_names[kind]);
		put_u64(dump->counts[kind]);
		if (kind != KYMO_KIND_LEASE)
			found += dump->counts[kind];
	}
	putchar('}');
	put_ledger(dump, found);
	put(",\"left_out\":{\"dictionary_bytes\":");
	put_u64(ky_catalog_bad_bytes(dump->catalog));
	put_member("lines", dump->stray_lines);
	put("}}\n");
}

/* ---- File ---- */

static int dump_file(const struct ky_reader *reader, FILE *file)
{
	size_t count = ky_reader_capture_count(reader);
	struct ky_file_header header;

	if (fread(&header, sizeof(header), 1, file) != 1 || fseek(file, 0, SEEK_END) != 0)
		return -1;
	if (header.header_crc32c != ky_file_header_crc(&header))
		header = (struct ky_file_header){.format_major =
							 KYMO_CAPTURE_FORMAT_MAJOR};
	dump_session(reader, &header);
	for (size_t i = 0; i < count; i++) {
		struct dump dump = {.reader = reader,
				    .capture = ky_reader_capture(reader, i)};

		dump.catalog = dump.capture->catalog;
		dump_capture(dump.capture);
		dump_entries(&dump);
		dump_anchors(&dump);
		dump_writers(&dump);
		dump_sources(&dump);
		if (dump_records(&dump) != 0)
			return -1;
		dump_end(&dump);
	}
	put("{\"line\":\"file\"");
	put_member("size", (uint64_t)ftell(file));
	put_member("captures", count);
	put_member("left_out_bytes", ky_reader_bad_bytes(reader));
	put("}\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct ky_reader *reader;
	struct kymo_error error;
	int failed;
	FILE *file;

	if (argc != 2) {
		fprintf(stderr, "usage: dump FILE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	if (ky_reader_open(&reader, argv[1], &error) != KYMO_OK) {
		fprintf(stderr, "dump: %s\n", error.message);
		return 1;
	}
	file = fopen(argv[1], "rb");
	failed = !file || dump_file(reader, file) != 0 || fflush(stdout) != 0;
	if (file)
		fclose(file);
	ky_reader_close(reader);
	return failed;
}
