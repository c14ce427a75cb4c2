/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins what carries the same correlation: gives numbers to launches and to what they
 * launched, and makes the arrows between them and those that LINK records ask for.
 *
 *     add* -> run -> (next_number, next_arrow)*
 */
#ifndef KYMO_TIMELINE_JOIN_H
#define KYMO_TIMELINE_JOIN_H

#include "timeline/item.h"
#include "timeline/joined.h"
#include "timeline/model.h"

struct ky_link {
	uint64_t place; /* of the LINK record */
	uint32_t name;
	uint32_t from_domain, to_domain; /* of the model */
	uint64_t from, to;
};

/* Two records that an arrow would join, whether it can be drawn or not. */
struct ky_relation {
	struct ky_moment from, to;
	uint32_t from_track, to_track; /* of the model */
};

struct ky_join; /* opaque */

/* The ledger gets the arrows that are not drawn. */
int32_t ky_join_create(struct ky_join **out, const struct ky_model *model,
		       struct kymo_trace_ledger *ledger, struct kymo_error *error);
/*
 * The same, but that relations are handed to the sorter in place of numbers and arrows.
 */
void ky_join_relate(struct ky_join *join, struct ky_sorter *relations);
void ky_join_destroy(struct ky_join *join);

/* A record that is drawn, and one whose times are of no use. */
int32_t ky_join_add(struct ky_join *join, const struct ky_item *item, uint32_t lane,
		    struct kymo_error *error);
int32_t ky_join_add_untimed(struct ky_join *join, const struct ky_item *item,
			    struct kymo_error *error);
int32_t ky_join_add_link(struct ky_join *join, const struct ky_link *link,
			 struct kymo_error *error);

/* The record at `when` refers to what has that correlation. */
int32_t ky_join_add_reference(struct ky_join *join, const struct ky_moment *when,
			      uint32_t domain, uint64_t value, struct kymo_error *error);

int32_t ky_join_run(struct ky_join *join, struct kymo_error *error);

/*
 * The number of the record at `place`, or zeros; the next arrow that comes after it, or
 * KYMO_END. Places come in the order of their moments.
 */
int32_t ky_join_number(struct ky_join *join, const struct ky_moment *when,
		       uint64_t *correlation, uint64_t *launch, struct kymo_error *error);
int32_t ky_join_arrow(struct ky_join *join, const struct ky_moment *when,
		      struct ky_arrow *arrow, struct kymo_error *error);
/* The number of what the record at `when` refers to, or 0; in the same order. */
int32_t ky_join_referred(struct ky_join *join, const struct ky_moment *when,
			 uint64_t *number, struct kymo_error *error);

#endif
