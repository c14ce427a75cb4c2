/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `kymo info` knows of a file. A trace and a capture fill in the same things, so
 * that both are shown by the same code; what a file doesn't say stays zero.
 */
#ifndef KYMO_CLI_INFO_H
#define KYMO_CLI_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

#define KY_NO_INDEX UINT64_MAX

/* What is kept of each kind: memory does not grow with the file. */
#define KY_INFO_KEPT_MAX  10000
#define KY_INFO_NAME_SIZE 256

/* Bytes of what was said of the whole trace. */
#define KY_INFO_VALUES_MAX ((size_t)1 << 20)

/* Texts are NULL where nothing is known. */
struct ky_info_process {
	char *pid, *name, *exe, *command_line, *host, *rank;
};

struct ky_info_source {
	char *name, *state, *reason, *remedy;
	uint64_t process; /* index, or KY_NO_INDEX */
	uint64_t events, written, lost;
	uint64_t late; /* those of `lost` that came too late */
	uint64_t overwritten, out_of_window, filtered, invalid;
};

struct ky_info_device {
	char *name, *kind, *source;
	uint64_t process; /* index, or KY_NO_INDEX */
};

/* An activity type that a source has brought. */
struct ky_info_type {
	uint64_t number;
	char *name, *category, *side, *shapes; /* the first is PLUGIN.TYPE */
};

/* A row: a thread, a queue, a lane of one. */
struct ky_info_track {
	char *name;
	char *owner; /* the process that it is of, or NULL */
	uint64_t events;
};

/* What viewers group by. */
struct ky_info_category {
	uint64_t spans, instants, counters;
	int64_t busy_ns; /* sum of its spans */
};

static inline uint64_t ky_info_count(const struct ky_info_category *category)
{
	return category->spans + category->instants + category->counters;
}

struct ky_info_clock {
	char *name, *kind, *source;
	uint64_t anchors, uncertainty_ns;
};

struct ky_info_entry {
	char *name;
	uint64_t value;
};

/* What was said of the whole trace: the value as JSON, also a nested one. */
struct ky_info_value {
	char *key, *json;
};

struct ky_info {
	const char *path;
	const char *format; /* "Chrome trace", "capture" */
	bool is_gzip, is_ours;
	bool is_quick;              /* no event was read: no rows, no types, no times */
	uint64_t file_bytes, bytes; /* as it lies there; unpacked */
	char *version, *command_line;

	struct ky_info_process *processes;
	struct ky_info_source *sources;
	struct ky_info_device *devices;
	struct ky_info_clock *clocks;
	struct ky_info_entry *ledger;
	struct ky_info_type *types;
	struct ky_info_value *values;
	size_t value_count, value_bytes;
	size_t process_count, source_count, device_count, clock_count, ledger_count;
	size_t type_count;

	struct ky_table track_keys, category_names; /* numbers index the lists below */
	struct ky_info_track *tracks;
	struct ky_info_category *categories;
	size_t track_capacity, category_capacity;
	struct ky_info_track other_rows; /* those for which there is no room */
	struct ky_info_category other_categories;
	uint64_t left_out; /* of the lists above, for the same reason */

	uint64_t spans, instants, counters, arrows, named, others;
	uint64_t projected; /* spans that follow from the rest; not among `spans` */
	bool has_time, has_base;
	int64_t first_ns, last_ns; /* since the base of the file's times */
	int64_t base_ns;           /* since the epoch */
};

/* ---- Its lists of objects, as traces and --json have them ---- */

enum ky_field_kind {
	KY_FIELD_TEXT,   /* char *: strings, and numbers as they stand there */
	KY_FIELD_NUMBER, /* uint64_t */
};

struct ky_field {
	const char *key;  /* in a trace */
	const char *name; /* in what `kymo info --json` prints */
	enum ky_field_kind kind;
	size_t offset;
};

#define KY_FIELD(type, key, kind, member)                         \
	{                                                         \
		key, #member, kind, offsetof(struct type, member) \
	}

struct ky_info_list {
	const char *key, *name; /* as of fields */
	const struct ky_field *fields;
	size_t field_count, item_size;
	size_t list_offset, count_offset; /* in struct ky_info */
	size_t process_offset;            /* of a process index, or 0 */
};

enum {
	KY_INFO_PROCESSES,
	KY_INFO_SOURCES,
	KY_INFO_DEVICES,
	KY_INFO_CLOCKS,
	KY_INFO_TYPES,
	KY_INFO_LIST_COUNT
};

extern const struct ky_info_list ky_info_lists[KY_INFO_LIST_COUNT];

/* ---- Filling it ---- */

/*
 * The row and the category of that key or name, made if need be; where there is no room
 * left, the one that stands for all others.
 */
struct ky_info_track *ky_info_track(struct ky_info *info, const void *key, size_t size);
struct ky_info_category *ky_info_category(struct ky_info *info, const char *name,
					  size_t size);

/* A name, of a long one the beginning. */
char *ky_info_copy_name(const char *name, size_t size);

/* One more zeroed item at the end of `*list`; its address. */
void *ky_info_append(void *list, size_t *count, size_t size);

/* A file may hold any numbers: these stay at the ends of the range. */
int64_t ky_info_add_ns(int64_t a_ns, int64_t b_ns);
int64_t ky_info_between_ns(int64_t begin_ns, int64_t end_ns);

/* Takes one span, instant or counter sample into account. */
void ky_info_note_time(struct ky_info *info, int64_t begin_ns, int64_t end_ns);

/* Of the ledger; 0 where it has no such entry. */
uint64_t ky_info_ledger(const struct ky_info *info, const char *name);

/* When events and ledger are read: what follows from the rest is no event of its own. */
void ky_info_part_projected(struct ky_info *info);

/* Whether what was recorded ends early, as far as the ledger says. */
bool ky_info_is_incomplete(const struct ky_info *info);

/* Each reads the file into `info`; 0, or KY_EXIT_FAILED with an error said. */
int ky_info_read_trace(struct ky_info *info);
int ky_info_read_capture(struct ky_info *info);
int ky_info_read_quick(struct ky_info *info); /* a trace of ours, its ends only */

void ky_info_print(const struct ky_info *info);
void ky_info_print_json(const struct ky_info *info);

#endif
