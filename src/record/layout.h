/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture: how the memory that a program writes is laid out, and how the same parts
 * stand in a .kymo file. FROZEN like <kymo/record.h>; docs/capture-format.md says the
 * same in words for people who write a reader.
 *
 * Memory, in this order, each part 4096-aligned (chunks 65536-aligned), offsets and
 * counts in the header:
 *
 *     header | anchors | writer slots | source counts | chunk states | chunk order
 *            | dictionary | chunks
 *
 * Who writes what: the header's identity, state and slots: the program (the recorder
 * fills the sizes before it hands the memory over, and says when it stops streaming);
 * chunk states: both, by compare-and-swap; everything else: the program. The recorder
 * trusts nothing of it.
 */
#ifndef KYMO_RECORD_LAYOUT_H
#define KYMO_RECORD_LAYOUT_H

#include <kymo/record.h>

#define KY_CAPTURE_MAGIC  0x4f4d594bu /* "KYMO" read as little endian */
#define KY_CHUNK_MAGIC    0x4b4e4843u /* "CHNK" */
#define KY_CHUNK_SIZE     65536u
#define KY_CHUNK_LINES    1023u /* behind the header line */
#define KY_ANCHOR_MAX     4096u /* a ring; the recorder takes them out in time */
#define KY_WRITER_MAX     4096u /* threads that hold a lease at one moment */
#define KY_SOURCE_MAX     64u   /* sources with counts of their own; 0: all others */
#define KY_LOST_REASONS   6u    /* KYMO_LOST_*, and 0 */
#define KY_LOST_FILTERED  0u    /* in place of a reason: not wanted, so no loss */
#define KY_BUDGET_DEFAULT (64u << 20)
#define KY_BUDGET_MIN     (10u << 20)
#define KY_BUDGET_MAX     ((uint64_t)1 << 40)
#define KY_DICTIONARY_MIN (8u << 20) /* also 1/8 of the budget where that is more */

/* Host ticks of a capture are read from: */
#define KY_TICKS_MONOTONIC 1u /* clock_gettime(CLOCK_MONOTONIC), ns */
#define KY_TICKS_TSC       2u /* rdtsc */
#define KY_TICKS_CNTVCT    3u /* cntvct_el0 */

/* Overflow policies. */
#define KY_OVERFLOW_DROP      1u
#define KY_OVERFLOW_OVERWRITE 2u
#define KY_OVERFLOW_STREAM    3u

/* Capture states, in the header's `state`; written by the program. */
#define KY_CAPTURE_NEW       0u
#define KY_CAPTURE_RECORDING 1u
#define KY_CAPTURE_STOPPED   2u /* every head is final */

/*
 * Chunk states. COLD: no page touched. FREE: warm and empty. LEASED: a thread writes.
 * PARTIAL: given on with room left. SEALED: full or given up, final. QUARANTINED: its
 * writer was still busy at the cut; never used again.
 */
#define KY_CHUNK_COLD        0u
#define KY_CHUNK_FREE        1u
#define KY_CHUNK_LEASED      2u
#define KY_CHUNK_PARTIAL     3u
#define KY_CHUNK_SEALED      4u
#define KY_CHUNK_QUARANTINED 5u

/* Why a recorder takes no more chunks out while the program runs. */
#define KY_STREAM_GOES_ON 0u
#define KY_STREAM_LIMIT   1u /* the file has reached its limit */
#define KY_STREAM_SPACE   2u /* the disk is nearly full */
#define KY_STREAM_FAILED  3u /* the file could not be written */

/* What a recorder commands; one that has not commanded anything wants it recorded. */
#define KY_COMMAND_RECORD 1u
#define KY_COMMAND_REST   2u
#define KY_COMMAND_STOP   3u /* for good: nothing comes after it */

/* Header flags. */
#define KY_CAPTURE_FOLLOW_FORKS 0x1u
#define KY_CAPTURE_CONTROLLED   0x2u
#define KY_CAPTURE_EMBEDDED     0x4u

struct ky_capture_header {
	uint32_t magic;
	uint16_t format_major, format_minor;
	uint32_t header_size; /* of this struct */
	uint32_t flags;

	uint64_t total_size;
	uint64_t anchors_offset, writers_offset, sources_offset;
	uint64_t states_offset, order_offset;
	uint64_t dictionary_offset, dictionary_size;
	uint64_t chunks_offset;
	uint32_t anchor_capacity, writer_capacity, source_capacity;
	uint32_t chunk_count, chunk_size;
	uint32_t reserved0;

	uint32_t ticks;    /* KY_TICKS_* */
	uint32_t overflow; /* KY_OVERFLOW_* */
	uint64_t session;  /* the recording this belongs to, random */
	uint64_t capture;  /* this one's number within the recording, from 1 */
	uint64_t pid;      /* the program's own view */
	uint64_t parent_pid;
	uint64_t start_time; /* of the process, in clock ticks since boot (/proc/PID/stat)
			      */
	uint64_t attach_ticks;
	int64_t attach_monotonic_ns, attach_realtime_ns;

	/* Live words. */
	uint32_t state;                     /* KY_CAPTURE_* */
	uint32_t command, command_sequence; /* KY_COMMAND_*; by the recorder */
	uint32_t writer_count;              /* slots ever used */
	uint64_t lease_sequence;
	uint64_t dictionary_tail; /* bytes committed */
	uint64_t anchor_tail;     /* anchors ever written; index modulo capacity */
	uint64_t chunks_freed;    /* times that a chunk became FREE again */
	uint64_t names_not_kept;
	uint64_t cold_chunks; /* taken before they were warm */
	uint64_t quarantined_chunks;
	/* Activities of threads that had no writer: no slot left, or in a handler. */
	uint64_t filtered_unowned, lost_full_unowned, lost_nested_unowned;
	/* By the recorder, when it ceases to stream. */
	int64_t stream_stopped_ns; /* CLOCK_MONOTONIC */
	uint32_t stream_stopped;   /* KY_STREAM_* */

	/* Identity as the program saw it; texts are terminated. */
	uint32_t command_line_size;
	char host[64];
	char boot_id[40];
	char library_version[24];
	char exe[1024];
	char command_line[2048]; /* arguments, each ended by NUL; may be cut */
	uint64_t pid_namespace;  /* inode; 0: not known */
	uint32_t command_done;   /* command_sequence of the last one obeyed */
	uint32_t reserved1;
	uint64_t begin_ticks; /* of a warm-up's end, when recording began; 0: at once */
};

/* The line in front of a chunk's lines. */
struct ky_chunk_header {
	uint32_t magic, index;
	uint64_t sequence; /* of the lease under which it was first written */
	uint32_t writer;
	uint32_t first; /* line that stands behind this header; files only, 0 in memory */
	uint64_t reserved[4];
	uint32_t crc32c; /* of the lines behind it; files only, 0 in memory */
	uint32_t head;   /* lines committed, release store */
};

/* Counts of one writer: a thread, then the next thread that takes the slot over. */
struct ky_writer_slot {
	uint64_t accepted; /* activities handed in, nested ones excepted */
	uint64_t written;  /* activities committed */
	uint64_t lost_full, lost_too_big, lost_nested, filtered;
	uint32_t tid, track;
	uint32_t chunk; /* index + 1, 0: none */
	uint32_t state; /* 0 free, 1 in use */
};

/*
 * Counts of one source, by its number; of all that have no place here: 0. Any thread of
 * the program adds to them.
 */
struct ky_source_counts {
	uint64_t overwritten; /* records in chunks that were taken for newer ones */
	uint64_t invalid; /* handed in, but no records, or of types that it does not have
			   */
	uint64_t lost[KY_LOST_REASONS]; /* as the source reported it; KY_LOST_FILTERED */
};

/* A bound of a clock, or for clock 0 of host ticks, against CLOCK_MONOTONIC. */
struct ky_anchor {
	uint32_t clock; /* a clock's number; 0: host ticks */
	uint32_t flags;
	uint64_t device;           /* the clock's reading (clock 0: host ticks) */
	uint64_t host_lo, host_hi; /* host ticks (clock 0: CLOCK_MONOTONIC ns) */
	uint64_t realtime;         /* CLOCK_REALTIME ns beside it, or 0 */
	uint64_t sequence; /* its number + 1, written last; else it is not complete */
	uint64_t reserved[2];
};

/* ---- Dictionary ---- */

/*
 * An entry: this header, `size` bytes of payload, zero bytes up to a multiple of 8. Ids
 * are dense per kind from 1, in the order of the entries. crc32c covers size, kind,
 * flags, id and payload.
 */
struct ky_dictionary_entry {
	uint32_t size;
	uint16_t kind; /* KY_ENTRY_* */
	uint16_t flags;
	uint32_t id;
	uint32_t crc32c;
};

#define KY_ENTRY_STRING     1u  /* the bytes */
#define KY_ENTRY_SOURCE     2u  /* struct ky_source_entry */
#define KY_ENTRY_TYPE       3u  /* struct ky_type_entry */
#define KY_ENTRY_KEY        4u  /* struct ky_key_entry */
#define KY_ENTRY_DOMAIN     5u  /* struct ky_domain_entry */
#define KY_ENTRY_LINK_KIND  6u  /* struct ky_link_kind_entry */
#define KY_ENTRY_CLOCK      7u  /* struct ky_clock_entry */
#define KY_ENTRY_DEVICE     8u  /* struct ky_device_entry */
#define KY_ENTRY_TRACK      9u  /* struct ky_track_entry */
#define KY_ENTRY_GROUP      10u /* struct ky_group_entry, then its counters */
#define KY_ENTRY_ATTRIBUTES 11u /* a sequence of struct ky_attribute */
#define KY_ENTRY_CODE       12u /* struct ky_code_entry */
#define KY_ENTRY_METADATA   13u /* one struct ky_attribute, of the whole capture */
#define KY_ENTRY_STATE      14u /* struct ky_state_entry: the last one of a source holds */
#define KY_ENTRY_KINDS      15u

/* String 1 stands for every name that was not kept. */
#define KY_STRING_NOT_KEPT      1u
#define KY_STRING_NOT_KEPT_TEXT "(name not kept)"

/* Numbers below are string ids unless they say otherwise; 0: none. */
struct ky_source_entry {
	uint32_t name, plugin, version, description;
};

struct ky_type_entry {
	uint32_t source; /* a source's number */
	uint32_t name, category, plugin;
	uint32_t shapes, side, flags;
	uint32_t activity_type; /* stable number; 0: not assigned */
};

struct ky_key_entry {
	uint32_t name, unit, value_type, reserved0;
};

struct ky_domain_entry {
	uint32_t name, source, scope, reserved0;
};

struct ky_link_kind_entry {
	uint32_t name, reserved0;
};

struct ky_clock_entry {
	uint32_t name, source, kind, bits;
	uint32_t flags;
	uint32_t device; /* a device's number, or 0 */
	uint64_t ticks_num, ticks_den;
};

struct ky_device_entry {
	uint64_t native;
	uint32_t source, index, name, kind, uuid, parent, order, attributes;
};

struct ky_track_entry {
	uint64_t native; /* thread id or vendor handle */
	uint32_t kind, source, name, clock;
	uint32_t device, order, attributes, reserved0;
};

struct ky_counter_entry {
	uint32_t name, unit, value_type, reserved0;
};

struct ky_group_entry {
	uint32_t track, name, count, source;
};

/* Then max(1, count) values of 8 bytes; count 0 means one scalar. */
struct ky_attribute {
	uint16_t key;
	uint16_t reserved0;
	uint32_t count;
};

struct ky_code_entry {
	uint64_t address;
	uint32_t object; /* the mapped file */
	uint32_t symbol; /* the nearest one; captures of today have none */
	uint64_t offset; /* the address as the file itself numbers it */
	/* What captures of before had ends here. */
	uint32_t build_id; /* of the file, in hexadecimal digits */
	uint32_t reserved0;
};

#define KY_CODE_ENTRY_LEAST offsetof(struct ky_code_entry, build_id)

struct ky_state_entry {
	uint32_t source; /* a source's number */
	uint32_t state;  /* KYMO_STATE_* */
	uint32_t reason, remedy;
	uint64_t sequence; /* so that a state that comes again is a new entry */
};

/* ---- .kymo file ---- */

#define KY_FILE_MAGIC  0x0a4f4d594b0a1a89ull
#define KY_BLOCK_MAGIC 0x4b4c424bu /* "KBLK" */

#define KY_BLOCK_SESSION    1u /* struct ky_session_block */
#define KY_BLOCK_CAPTURE    2u /* struct ky_capture_header, as it was then; last holds */
#define KY_BLOCK_DICTIONARY 3u /* bytes of the dictionary from `sequence` on */
#define KY_BLOCK_CHUNK      4u /* struct ky_chunk_header, lines `first` to `head` */
#define KY_BLOCK_ANCHORS    5u /* struct ky_anchor each */
#define KY_BLOCK_WRITERS    6u /* struct ky_writer_slot each, from slot 0; last holds */
#define KY_BLOCK_END        7u /* struct ky_end_block; last holds */
#define KY_BLOCK_SOURCES    8u /* struct ky_source_counts each, from 0; last holds */

struct ky_file_header {
	uint64_t magic; /* KY_FILE_MAGIC */
	uint16_t format_major, format_minor;
	uint32_t header_size;
	uint64_t session;
	uint32_t reserved[9];
	uint32_t header_crc32c; /* of the 60 bytes before it, in all majors */
};

/* In front of each block; `size` bytes follow, then zeros up to a multiple of 64. */
struct ky_block_header {
	uint32_t magic; /* KY_BLOCK_MAGIC */
	uint32_t kind;  /* KY_BLOCK_* */
	uint64_t size;
	uint64_t capture;  /* its number, 0 for the whole recording */
	uint64_t sequence; /* chunk: lease sequence; dictionary: byte offset */
	uint32_t reserved[6];
	uint32_t payload_crc32c;
	uint32_t header_crc32c; /* of the 60 bytes before it */
};

struct ky_session_block {
	int64_t start_monotonic_ns, start_realtime_ns;
	uint64_t recorder_pid;
	uint32_t overflow, command_line_size;
	uint32_t sources_size, window_size;
	/* then the command line, each argument ended by NUL, the names of the wanted
	 * sources, separated by ',', and what is to be recorded of the program's life */
};

#define KY_END_EXITED  1u /* the process ended, however */
#define KY_END_STOPPED 2u /* it was told to stop and went on */
#define KY_END_CUT     3u /* it went on without being told */

struct ky_end_block {
	uint32_t reason; /* KY_END_* */
	uint32_t reserved0;
	int64_t end_monotonic_ns, end_realtime_ns;
};

KYMO_STATIC_ASSERT(sizeof(struct ky_capture_header) <= 4096);
KYMO_STATIC_ASSERT(sizeof(struct ky_chunk_header) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct ky_chunk_header, head) == 60);
KYMO_STATIC_ASSERT(KY_CHUNK_SIZE == (KY_CHUNK_LINES + 1) * KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(sizeof(struct ky_writer_slot) == 64);
KYMO_STATIC_ASSERT(sizeof(struct ky_source_counts) == 64);
KYMO_STATIC_ASSERT(sizeof(struct ky_anchor) == 64);
KYMO_STATIC_ASSERT(sizeof(struct ky_dictionary_entry) == 16);
KYMO_STATIC_ASSERT(sizeof(struct ky_source_entry) == 16);
KYMO_STATIC_ASSERT(sizeof(struct ky_type_entry) == 32);
KYMO_STATIC_ASSERT(sizeof(struct ky_clock_entry) == 40);
KYMO_STATIC_ASSERT(sizeof(struct ky_device_entry) == 40);
KYMO_STATIC_ASSERT(sizeof(struct ky_track_entry) == 40);
KYMO_STATIC_ASSERT(sizeof(struct ky_attribute) == 8);
KYMO_STATIC_ASSERT(sizeof(struct ky_code_entry) == 32);
KYMO_STATIC_ASSERT(sizeof(struct ky_state_entry) == 24);
KYMO_STATIC_ASSERT(sizeof(struct ky_file_header) == 64);
KYMO_STATIC_ASSERT(sizeof(struct ky_block_header) == 64);
KYMO_STATIC_ASSERT(sizeof(struct ky_session_block) == 40);
KYMO_STATIC_ASSERT(sizeof(struct ky_end_block) == 24);

#endif
