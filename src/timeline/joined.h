/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a join gives out, sorted by time again, to meet the records as they come.
 *
 *     push_* -> begin -> (number, arrow, referred)*
 */
#ifndef KYMO_TIMELINE_JOINED_H
#define KYMO_TIMELINE_JOINED_H

#include <kymo/error.h>

#include "timeline/item.h"
#include "timeline/sorter.h"

/* Where an end of an arrow is, once lanes are given. */
struct ky_row {
	uint32_t track, lane;
};

/* What the record at `when` is shown with; 0: none. */
struct ky_number {
	struct ky_moment when;
	uint64_t correlation, launch;
};

/* `when` is that of the later end, after which the arrow comes. */
struct ky_arrow {
	struct ky_moment when;
	int64_t from_ns, to_ns;
	uint64_t other_place; /* of the earlier end */
	struct ky_row from, to;
	uint32_t name; /* of the model's arrow names */
	uint32_t reserved0;
};

/* What the record at `when` refers to is shown with that number. */
struct ky_referred {
	struct ky_moment when;
	uint64_t number;
};

/* Zeroed memory can be cleared. */
struct ky_joined {
	struct ky_sorter *numbers, *arrows, *referred;
	/* Their heads. */
	const struct ky_number *number;
	const struct ky_arrow *arrow;
	const struct ky_referred *reference;
	struct ky_arrow last_arrow; /* to leave out another one like it */
	uint64_t *arrows_twice;     /* the caller's: counts these */
};

void ky_joined_clear(struct ky_joined *joined);
int32_t ky_joined_init(struct ky_joined *joined, uint64_t *arrows_twice,
		       struct kymo_error *error);

int32_t ky_joined_push_number(struct ky_joined *joined, const struct ky_number *number,
			      struct kymo_error *error);
int32_t ky_joined_push_arrow(struct ky_joined *joined, const struct ky_arrow *arrow,
			     struct kymo_error *error);
int32_t ky_joined_push_referred(struct ky_joined *joined,
				const struct ky_referred *referred,
				struct kymo_error *error);

/* Nothing is pushed any more. */
int32_t ky_joined_begin(struct ky_joined *joined, struct kymo_error *error);

/* As of <timeline/join.h>. */
int32_t ky_joined_number(struct ky_joined *joined, const struct ky_moment *when,
			 uint64_t *correlation, uint64_t *launch,
			 struct kymo_error *error);
int32_t ky_joined_arrow(struct ky_joined *joined, const struct ky_moment *when,
			struct ky_arrow *arrow, struct kymo_error *error);
int32_t ky_joined_referred(struct ky_joined *joined, const struct ky_moment *when,
			   uint64_t *number, struct kymo_error *error);

#endif
