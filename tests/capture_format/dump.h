/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kymo's own side of the comparison with tools/read_capture.py, whose first comment says
 * what each line is. Everything is printed to stdout.
 */
#ifndef TEST_CAPTURE_FORMAT_DUMP_H
#define TEST_CAPTURE_FORMAT_DUMP_H

#include <stdint.h>
#include <stdio.h>

#include "capture/reader.h"

#define KIND_COUNT 9u /* index of dump_kind_names */

extern const char *const dump_kind_names[KIND_COUNT];

/* One capture and what was found in its chunks. */
struct dump {
	const struct ky_reader *reader;
	const struct ky_reader_capture *capture;
	const struct ky_catalog *catalog;
	uint64_t counts[KIND_COUNT];
	uint64_t stray_lines;
	uint64_t lease; /* its sequence; 0: none yet in this chunk */
	uint32_t lease_track;
};

/* ---- json.c ---- */

void put(const char *text);
void put_u64(uint64_t number);
void put_i64(int64_t number);
void put_double(uint64_t bits);
void put_text(const void *data, size_t size);
/* Puts a comma before all but the first item of a list; `*any` is 0 at its begin. */
void put_comma(int *any);
/* `"name":number,` with and without the comma in front. */
void put_member(const char *name, uint64_t number);

/* ---- entries.c ---- */

void dump_entries(const struct dump *dump);
/* [number, name] */
void put_number(const struct dump *dump, uint16_t kind, uint64_t number);
/* The name alone, or null. */
void put_name(const struct dump *dump, uint16_t kind, uint64_t number);

/* ---- values.c ---- */

void put_scalar(const struct dump *dump, uint32_t type, uint64_t bits);
void put_keyed(const struct dump *dump, uint16_t key, uint64_t bits);
void put_keyed_bytes(const struct dump *dump, uint16_t key, const uint8_t *bytes,
		     size_t size);
void put_attributes(const struct dump *dump, const uint8_t *bytes, size_t size);
void put_set(const struct dump *dump, uint32_t number);
/* The counter `index` of the group, known or not, with its value. */
void put_counter(const struct dump *dump, uint32_t group, size_t index, uint64_t bits);
/* How many counters of the group are described; `*out` is the first of them. */
size_t find_counters(const struct dump *dump, uint32_t group,
		     const struct ky_counter_entry **out);

/* ---- records.c ---- */

/* 0, or -1 where the file cannot be read. */
int dump_records(struct dump *dump);

#endif
