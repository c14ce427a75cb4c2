/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything with a correlation is sorted by (value, domain), so that a group stands
 * together: first its origin, then what it launched in order of time, then the ends of
 * LINK records. Only the first of each is kept while a group goes by, however large it
 * is. What comes out is sorted by time again, to meet the records.
 */
#include "timeline/join.h"

#include "base/error.h"

#define MEMORY (16u << 20) /* of each sorter */

/* Parts in a group, in the order in which they must come. */
#define PART_ORIGIN         0u
#define PART_ORIGIN_UNTIMED 1u
#define PART_OTHER          2u
#define PART_OTHER_UNTIMED  3u
#define PART_TARGET         4u
#define PART_TARGET_UNTIMED 5u
#define PART_LINK_FROM      6u
#define PART_LINK_TO        7u
#define PART_REFERENCE      8u

/* Of the ends of a link, `when.place` is the LINK record's and `row.track` its name. */
struct member {
	int64_t value;        /* its bits: that equal ones meet is all that matters */
	uint64_t domain_part; /* domain << 8 | PART_* */
	struct ky_moment when;
	struct ky_row row;
};

#define END_DRAWN   0u
#define END_UNTIMED 1u
#define END_MISSING 2u

/* What a link's end was found to be. */
struct link_end {
	uint64_t place; /* place of the LINK record; sorted stably: from, to */
	struct ky_moment when;
	struct ky_row row;
	uint32_t side, state; /* 0 from, 1 to; END_* */
	uint32_t name, reserved0;
};

struct group {
	int64_t value;
	uint64_t domain, number;
	struct member origin, first; /* first: what a link's end means */
	int has_origin, has_untimed_origin, has_first, has_untimed, has_target;
	int is_expecting, has_result; /* a launch that did not fail; what came of it */
	uint64_t shown;               /* the first number of it; 0: nothing is drawn */
	uint64_t single[2]; /* of host, device: the other one may share it; 0: none */
};

struct ky_join {
	const struct ky_model *model;
	struct kymo_trace_ledger *ledger;
	struct ky_sorter *members, *link_ends;
	struct ky_joined out;
	struct ky_sorter *relations; /* borrowed; NULL: numbers and arrows are wanted */
	uint64_t last_number;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->domain_part != b->domain_part)
		return a->domain_part < b->domain_part ? -1 : 1;
	return ky_moment_compare(&a->when, &b->when);
}

static int compare_link_ends(const void *left, const void *right)
{
	const struct link_end *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->side < b->side ? -1 : a->side > b->side;
}

/* ---- Adding ---- */

static int32_t add_member(struct ky_join *join, const struct ky_item *item, uint32_t lane,
			  uint32_t part, struct kymo_error *error)
{
	struct member member = {.value = (int64_t)item->value,
				.domain_part = (uint64_t)item->domain << 8 | part,
				.when = item->when,
				.row = {item->track, lane}};

	return ky_sorter_push(join->members, &member, error);
}

static uint32_t part_of(const struct ky_item *item)
{
	uint32_t role = ky_place_role(item->when.place);

	if (role & KY_ROLE_ORIGIN)
		return PART_ORIGIN;
	return role & KY_ROLE_TARGET ? PART_TARGET : PART_OTHER;
}

int32_t ky_join_add(struct ky_join *join, const struct ky_item *item, uint32_t lane,
		    struct kymo_error *error)
{
	return add_member(join, item, lane, part_of(item), error);
}

int32_t ky_join_add_untimed(struct ky_join *join, const struct ky_item *item,
			    struct kymo_error *error)
{
	return add_member(join, item, 0, part_of(item) + 1, error);
}

int32_t ky_join_add_link(struct ky_join *join, const struct ky_link *link,
			 struct kymo_error *error)
{
	struct ky_item item = {.when = {.place = link->place},
			       .track = link->name,
			       .domain = link->from_domain,
			       .value = link->from};
	int32_t status = add_member(join, &item, 0, PART_LINK_FROM, error);

	item.domain = link->to_domain;
	item.value = link->to;
	if (status == KYMO_OK)
		status = add_member(join, &item, 0, PART_LINK_TO, error);
	return status;
}

int32_t ky_join_add_reference(struct ky_join *join, const struct ky_moment *when,
			      uint32_t domain, uint64_t value, struct kymo_error *error)
{
	const struct ky_item item = {.when = *when, .domain = domain, .value = value};

	return add_member(join, &item, 0, PART_REFERENCE, error);
}

/* ---- Joining ---- */

static int32_t give_number(struct ky_join *join, struct group *group,
			   const struct member *member, uint64_t number, uint64_t launch,
			   struct kymo_error *error)
{
	struct ky_number item = {member->when, number, launch};

	if (group->shown == 0)
		group->shown = number;
	if (join->relations)
		return KYMO_OK;
	return ky_joined_push_number(&join->out, &item, error);
}

static int32_t make_arrow(struct ky_join *join, struct ky_arrow *arrow,
			  const struct ky_moment *from, const struct ky_moment *to,
			  struct kymo_error *error)
{
	struct ky_relation relation = {*from, *to, arrow->from.track, arrow->to.track};

	if (join->relations)
		return ky_sorter_push(join->relations, &relation, error);
	if (to->begin_ns < from->begin_ns) {
		join->ledger->arrows_backward++;
		return KYMO_OK;
	}
	arrow->from_ns = from->begin_ns;
	arrow->to_ns = to->begin_ns;
	arrow->when = ky_moment_compare(from, to) > 0 ? *from : *to;
	arrow->other_place = arrow->when.place == to->place ? from->place : to->place;
	return ky_joined_push_arrow(&join->out, arrow, error);
}

/* By the clocks' errors nobody can tell which of two close ones was first. */
static int is_before_launch(const struct ky_join *join, const struct member *launch,
			    const struct member *target)
{
	uint64_t error = ky_model_track(join->model, launch->row.track)->error_ns;
	uint64_t other = ky_model_track(join->model, target->row.track)->error_ns;
	int64_t launched = launch->when.begin_ns, began = target->when.begin_ns;

	return began < launched && (uint64_t)(launched - began) > error &&
	       (uint64_t)(launched - began) - error > other;
}

static uint32_t launch_name(const struct ky_model *model, uint32_t from, uint32_t to)
{
	int to_device = !ky_model_track(model, from)->trace.device &&
			ky_model_track(model, to)->trace.device;

	return to_device ? KY_ARROW_TO_DEVICE : KY_ARROW_LAUNCH;
}

static int32_t join_target(struct ky_join *join, struct group *group,
			   const struct member *target, struct kymo_error *error)
{
	struct ky_arrow arrow = {.reserved0 = 0};
	int32_t status;

	if (!group->has_origin) {
		if (group->has_untimed_origin)
			join->ledger->arrows_untimed++;
		else
			join->ledger->arrows_no_launch++;
		return give_number(join, group, target, ++join->last_number, 0, error);
	}
	if (!group->has_target)
		status = give_number(join, group, target, group->number, 0, error);
	else
		status = give_number(join, group, target, ++join->last_number,
				     group->number, error);
	group->has_target = 1;
	if (status != KYMO_OK)
		return status;
	arrow.from = group->origin.row;
	arrow.to = target->row;
	arrow.name = launch_name(join->model, arrow.from.track, arrow.to.track);
	if (is_before_launch(join, &group->origin, target))
		join->ledger->before_launch++;
	return make_arrow(join, &arrow, &group->origin.when, &target->when, error);
}

/* Where nothing was launched, a call shares its number with what a device tells of it. */
static int32_t join_other(struct ky_join *join, struct group *group,
			  const struct member *member, struct kymo_error *error)
{
	const int side =
		ky_model_track(join->model, member->row.track)->trace.device != NULL;
	uint64_t number = group->single[!side];

	group->single[!side] = 0;
	if (number == 0) {
		number = ++join->last_number;
		if (!group->has_origin && group->single[side] == 0)
			group->single[side] = number;
	}
	return give_number(join, group, member, number, group->number, error);
}

static int32_t find_link_end(struct ky_join *join, const struct group *group,
			     const struct member *member, uint32_t side,
			     struct kymo_error *error)
{
	struct link_end end = {.place = member->when.place,
			       .side = side,
			       .state = END_MISSING,
			       .name = member->row.track};

	if (group->has_first) {
		end.state = END_DRAWN;
		end.when = group->first.when;
		end.row = group->first.row;
	} else if (group->has_untimed) {
		end.state = END_UNTIMED;
	}
	return ky_sorter_push(join->link_ends, &end, error);
}

static int32_t join_origin(struct ky_join *join, struct group *group,
			   const struct member *member, struct kymo_error *error)
{
	uint64_t number = ++join->last_number;

	/* A second origin has nothing to launch: the first one has it all. */
	join->ledger->launches_twice += (uint64_t)group->has_origin;
	if (!group->has_origin) {
		group->has_origin = 1;
		group->origin = *member;
		group->number = number;
	}
	return give_number(join, group, member, number, 0, error);
}

static int32_t find_referred(struct ky_join *join, const struct group *group,
			     const struct member *member, struct kymo_error *error)
{
	const struct ky_referred referred = {member->when, group->shown};

	return group->shown ? ky_joined_push_referred(&join->out, &referred, error)
			    : KYMO_OK;
}

/* Also of what cannot be drawn: it is there. */
static void note_result(struct group *group, const struct member *member, uint32_t part)
{
	if (part == PART_ORIGIN || part == PART_ORIGIN_UNTIMED)
		group->is_expecting |=
			!(ky_place_role(member->when.place) & KY_ROLE_FAILED);
	else if (part == PART_TARGET || part == PART_TARGET_UNTIMED)
		group->has_result = 1;
}

static void end_group(struct ky_join *join, const struct group *group)
{
	if (group->is_expecting && !group->has_result)
		join->ledger->launches_without_result++;
}

static int32_t join_member(struct ky_join *join, struct group *group,
			   const struct member *member, struct kymo_error *error)
{
	uint32_t part = (uint32_t)(member->domain_part & 0xff);

	note_result(group, member, part);
	/* An end that is no target holds also where it cannot be drawn. */
	if (part == PART_ORIGIN || part == PART_OTHER ||
	    (part == PART_TARGET && !group->has_untimed)) {
		if (!group->has_first)
			group->first = *member;
		group->has_first = 1;
	}
	switch (part) {
	case PART_ORIGIN:
		return join_origin(join, group, member, error);
	case PART_OTHER:
		return join_other(join, group, member, error);
	case PART_TARGET:
		return join_target(join, group, member, error);
	case PART_LINK_FROM:
	case PART_LINK_TO:
		return find_link_end(join, group, member, part - PART_LINK_FROM, error);
	case PART_REFERENCE:
		return find_referred(join, group, member, error);
	case PART_ORIGIN_UNTIMED:
		group->has_untimed_origin = 1;
		break;
	case PART_TARGET_UNTIMED:
		join->ledger->arrows_untimed++;
		break;
	default:
		break;
	}
	group->has_untimed = 1;
	return KYMO_OK;
}

static int32_t join_members(struct ky_join *join, struct kymo_error *error)
{
	struct group group = {.domain = UINT64_MAX};
	const void *item;
	int32_t status = ky_sorter_finish(join->members, error);

	while (status == KYMO_OK) {
		const struct member *member;

		status = ky_sorter_next(join->members, &item, error);
		if (status != KYMO_OK)
			break;
		member = item;
		if (member->domain_part >> 8 != group.domain ||
		    member->value != group.value) {
			end_group(join, &group);
			group = (struct group){.domain = member->domain_part >> 8,
					       .value = member->value};
		}
		status = join_member(join, &group, member, error);
	}
	end_group(join, &group);
	return status == KYMO_END ? KYMO_OK : status;
}

static int32_t join_link(struct ky_join *join, const struct link_end *from,
			 const struct link_end *to, struct kymo_error *error)
{
	struct ky_arrow arrow = {.from = from->row, .to = to->row, .name = from->name};

	if (from->state == END_MISSING || to->state == END_MISSING) {
		join->ledger->arrows_no_launch++;
		return KYMO_OK;
	}
	if (from->state == END_UNTIMED || to->state == END_UNTIMED) {
		join->ledger->arrows_untimed++;
		return KYMO_OK;
	}
	return make_arrow(join, &arrow, &from->when, &to->when, error);
}

static int32_t join_links(struct ky_join *join, struct kymo_error *error)
{
	struct link_end from = {.side = 1};
	const void *item;
	int32_t status = ky_sorter_finish(join->link_ends, error);

	while (status == KYMO_OK) {
		const struct link_end *end;

		status = ky_sorter_next(join->link_ends, &item, error);
		if (status != KYMO_OK)
			break;
		end = item;
		if (end->side == 0)
			from = *end;
		else
			status = join_link(join, &from, end, error);
	}
	return status == KYMO_END ? KYMO_OK : status;
}

/* ---- Handing out ---- */

int32_t ky_join_run(struct ky_join *join, struct kymo_error *error)
{
	int32_t status = join_members(join, error);

	ky_sorter_destroy(join->members);
	join->members = NULL;
	if (status == KYMO_OK)
		status = join_links(join, error);
	ky_sorter_destroy(join->link_ends);
	join->link_ends = NULL;
	return status == KYMO_OK ? ky_joined_begin(&join->out, error) : status;
}

int32_t ky_join_number(struct ky_join *join, const struct ky_moment *when,
		       uint64_t *correlation, uint64_t *launch, struct kymo_error *error)
{
	return ky_joined_number(&join->out, when, correlation, launch, error);
}

int32_t ky_join_arrow(struct ky_join *join, const struct ky_moment *when,
		      struct ky_arrow *arrow, struct kymo_error *error)
{
	return ky_joined_arrow(&join->out, when, arrow, error);
}

int32_t ky_join_referred(struct ky_join *join, const struct ky_moment *when,
			 uint64_t *number, struct kymo_error *error)
{
	return ky_joined_referred(&join->out, when, number, error);
}

void ky_join_relate(struct ky_join *join, struct ky_sorter *relations)
{
	join->relations = relations;
}

void ky_join_destroy(struct ky_join *join)
{
	if (!join)
		return;
	ky_sorter_destroy(join->members);
	ky_sorter_destroy(join->link_ends);
	ky_joined_clear(&join->out);
	free(join);
}

int32_t ky_join_create(struct ky_join **out, const struct ky_model *model,
		       struct kymo_trace_ledger *ledger, struct kymo_error *error)
{
	struct ky_join *join = calloc(1, sizeof(*join));
	int32_t status;

	*out = NULL;
	if (!join)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory to join records");
	join->model = model;
	join->ledger = ledger;
	status = ky_sorter_create(&join->members, sizeof(struct member), compare_members,
				  MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&join->link_ends, sizeof(struct link_end),
					  compare_link_ends, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_joined_init(&join->out, &ledger->arrows_twice, error);
	if (status == KYMO_OK)
		*out = join;
	else
		ky_join_destroy(join);
	return status;
}
