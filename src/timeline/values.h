/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys with their values, resolved: numbers become text, ticks become times. What is not
 * in the capture's catalogue gets a text that says so.
 */
#ifndef KYMO_TIMELINE_VALUES_H
#define KYMO_TIMELINE_VALUES_H

#include "timeline/model.h"

/* A list in the making. Set the first four members, zero the rest. */
struct ky_values {
	const struct ky_model_capture *capture;
	struct ky_arena *arena;     /* for all that is not the capture's own */
	struct ky_clock_map *clock; /* of TIME values; NULL leaves them out */
	int64_t near_ns;            /* a time close to them */
	/* By which references are resolved; NULL leaves them as they are. */
	const struct ky_model *model;
	const struct kymo_trace_track *track; /* that they are of */
	uint64_t referred; /* number of the correlation that they refer to; 0: none */

	struct kymo_trace_value *items;
	size_t count, capacity;
	int32_t status; /* the first failure; ky_values_take tells */
};

void ky_values_clear(struct ky_values *values);

/* Returns the text; notes the failure if there was no memory for it. */
struct kymo_str ky_values_keep(struct ky_values *values, struct kymo_str text);

/*
 * Fill in type and value of `value`, for an array also its `count` elements, of which
 * numbers stay where they are; -1 if they cannot be shown.
 */
int ky_values_set(struct ky_values *values, struct kymo_trace_value *value, uint32_t type,
		  uint64_t raw);
int ky_values_set_array(struct ky_values *values, struct kymo_trace_value *value,
			uint32_t element, const uint64_t *raw);

/* One value of 64 bits; key 0 adds nothing. */
void ky_values_add(struct ky_values *values, uint16_t key, uint64_t raw);
/* A value that came as bytes: an array, or a text. Borrowed until the arena is reset. */
void ky_values_add_bytes(struct ky_values *values, uint16_t key, const void *bytes,
			 size_t size);
/* An attribute set of the catalogue, by its number; 0 adds nothing. */
void ky_values_add_set(struct ky_values *values, uint32_t id);
/* A sequence of struct ky_attribute with their values. */
void ky_values_add_attributes(struct ky_values *values, const void *bytes, size_t size);
/* The values of a counter group, under the names of its counters. */
void ky_values_add_counters(struct ky_values *values, uint32_t group, const uint64_t *raw,
			    size_t count);

/* A copy of the list in the arena; the list itself is empty again. */
int32_t ky_values_take(struct ky_values *values, const struct kymo_trace_value **out,
		       size_t *count);

/* The text of 64 bits that a value has: STRING or CODE, by `type`. */
struct kymo_str ky_values_number(struct ky_values *values, uint32_t type, uint64_t raw);
/* The same of a code address: "function+0x12 (file.c:34)", or as much as is known. */
struct kymo_str ky_values_code(struct ky_values *values, uint64_t id);

#endif
