/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All is done with sorted sequences, so memory does not grow with the number of records:
 *
 *     stream ---> annotations -------------------.
 *            \                                    > cover -> parts -> reduce -> out
 *             `-> join -> relations, by time ----'   |
 *                              `---- cover <- guests '
 *
 * A relation leads from a launch to what it launched, or from one end of a LINK to the
 * other. Where one that begins in an annotation leads to another thread, the annotation
 * is a guest there for as long as what it leads to lasts; guests are met in a second
 * round, since they may come long after.
 */
#include "timeline/project.h"

#include <string.h>

#include <kymo/record.h>

#include "base/error.h"

#define MEMORY  (8u << 20) /* of each sorter */
#define PENDING 64u        /* parts that may still grow; a power of two */

/* An annotation while it is open in a thread, its own or one where it is a guest. */
struct scope {
	int64_t begin_ns, end_ns;
	uint64_t place; /* of the annotation */
	uint32_t track, reserved0;
};

/* What an annotation covers on a queue, or a part of that. */
struct part {
	uint64_t place; /* of the annotation; 0: none */
	int64_t begin_ns, end_ns;
	uint32_t track, reserved0;
};

struct open_scopes {
	struct scope *items;
	uint32_t count, capacity;
};

struct ky_project {
	const struct ky_model *model;
	struct ky_join *join;
	struct kymo_trace_ledger ignored; /* the arrows are counted when they are drawn */
	struct ky_sorter *relations, *annotations, *guests, *parts;
	struct open_scopes *open; /* per track of the model */
	struct part pending[PENDING];
	struct kymo_error *error;
};

static int32_t no_memory(struct kymo_error *error)
{
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory for annotations");
}

static int compare_scopes(const void *left, const void *right)
{
	const struct scope *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int compare_relations(const void *left, const void *right)
{
	const struct ky_relation *a = left, *b = right;

	return ky_moment_compare(&a->from, &b->from);
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static int is_device(const struct ky_project *project, uint32_t track)
{
	return ky_model_track(project->model, track)->trace.device != NULL;
}

/* ---- From the stream ---- */

static int32_t take_item(struct ky_project *project, const struct ky_item *item)
{
	const struct scope scope = {item->when.begin_ns, item->when.end_ns,
				    item->when.place, item->track, 0};
	int32_t status = KYMO_OK;

	if ((ky_place_role(item->when.place) & KY_ROLE_ANNOTATION) &&
	    !is_device(project, item->track))
		status = ky_sorter_push(project->annotations, &scope, project->error);
	if (status == KYMO_OK && item->domain != 0)
		status = ky_join_add(project->join, item, 0, project->error);
	return status;
}

static int32_t read_stream(struct ky_project *project, struct ky_stream *stream)
{
	int32_t status = ky_stream_begin(stream, project->error);

	while (status == KYMO_OK) {
		struct ky_item item;

		status = ky_stream_read(stream, &item, project->error);
		if (status == KYMO_OK)
			status = take_item(project, &item);
	}
	return status == KYMO_END ? ky_join_run(project->join, project->error) : status;
}

/* ---- What covers what ---- */

static void forget_closed(struct open_scopes *open, int64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < open->count; i++) {
		if (open->items[i].end_ns > now_ns)
			open->items[kept++] = open->items[i];
	}
	open->count = kept;
}

static int32_t open_scope(struct ky_project *project, const struct scope *scope)
{
	struct open_scopes *open = &project->open[scope->track];

	if (open->count == open->capacity)
		forget_closed(open, scope->begin_ns);
	if (open->count == KY_PROJECT_OPEN_MAX)
		return KYMO_OK;
	if (open->count == open->capacity) {
		uint32_t capacity = open->capacity ? open->capacity * 2 : 8;
		struct scope *items = realloc(open->items, capacity * sizeof(*items));

		if (!items)
			return no_memory(project->error);
		open->items = items;
		open->capacity = capacity;
	}
	open->items[open->count++] = *scope;
	return KYMO_OK;
}

/* A launch after the other adds to the same few parts, so these are kept at hand. */
static int32_t add_part(struct ky_project *project, const struct part *part)
{
	uint64_t line = ky_place_line(part->place);
	struct part *at = &project->pending[(line ^ part->track) & (PENDING - 1)];
	int32_t status = KYMO_OK;

	if (at->place == part->place && at->track == part->track) {
		if (part->begin_ns < at->begin_ns)
			at->begin_ns = part->begin_ns;
		if (part->end_ns > at->end_ns)
			at->end_ns = part->end_ns;
		return KYMO_OK;
	}
	if (at->place != 0)
		status = ky_sorter_push(project->parts, at, project->error);
	*at = *part;
	return status;
}

/* Whether it was said of the annotation itself, by its number: times decide nothing. */
static int is_named(const struct ky_relation *relation, const struct scope *scope)
{
	return relation->from.place == scope->place;
}

/* What leads to another thread, or to where the annotation is not open. */
static int leads_elsewhere(const struct ky_relation *relation, const struct scope *scope)
{
	return relation->to_track != relation->from_track ||
	       (is_named(relation, scope) && (relation->to.begin_ns < scope->begin_ns ||
					      relation->to.begin_ns >= scope->end_ns));
}

static int32_t add_guest(struct ky_project *project, const struct scope *scope,
			 const struct ky_relation *relation)
{
	struct scope guest = {relation->to.begin_ns, relation->to.end_ns, scope->place,
			      relation->to_track, 0};

	/* A launch may take no time; it is covered from its begin on. */
	if (is_named(relation, scope)) {
		guest.end_ns += guest.end_ns == guest.begin_ns;
		return ky_sorter_push(project->guests, &guest, project->error);
	}
	if (guest.begin_ns < scope->begin_ns)
		guest.begin_ns = scope->begin_ns;
	if (guest.end_ns > scope->end_ns)
		guest.end_ns = scope->end_ns;
	return guest.begin_ns < guest.end_ns
		       ? ky_sorter_push(project->guests, &guest, project->error)
		       : KYMO_OK;
}

static int32_t cover(struct ky_project *project, const struct ky_relation *relation,
		     int with_guests)
{
	struct open_scopes *open = &project->open[relation->from_track];
	int32_t status = KYMO_OK;

	forget_closed(open, relation->from.begin_ns);
	for (uint32_t i = 0; i < open->count && status == KYMO_OK; i++) {
		const struct part part = {open->items[i].place, relation->to.begin_ns,
					  relation->to.end_ns, relation->to_track, 0};

		if (is_device(project, relation->to_track))
			status = add_part(project, &part);
		else if (with_guests && leads_elsewhere(relation, &open->items[i]))
			status = add_guest(project, &open->items[i], relation);
	}
	return status;
}

/* The next item of a sorter, or NULL at its end. */
static int32_t next(struct ky_project *project, struct ky_sorter *sorter,
		    const void **item)
{
	int32_t status = ky_sorter_next(sorter, item, project->error);

	if (status != KYMO_OK)
		*item = NULL;
	return status == KYMO_END ? KYMO_OK : status;
}

/* One round: the scopes and the relations, both by their begin. */
static int32_t cover_all(struct ky_project *project, struct ky_sorter *scopes,
			 int with_guests)
{
	const void *head = NULL, *item = NULL;
	int32_t status = ky_sorter_finish(scopes, project->error);

	for (size_t i = 0; i < project->model->tracks.count; i++)
		project->open[i].count = 0;
	if (status == KYMO_OK)
		status = ky_sorter_finish(project->relations, project->error);
	if (status == KYMO_OK)
		status = next(project, scopes, &head);
	while (status == KYMO_OK) {
		const struct ky_relation *relation;
		const struct scope *scope = head;

		status = next(project, project->relations, &item);
		relation = item;
		if (status != KYMO_OK || !relation)
			break;
		while (status == KYMO_OK && scope &&
		       scope->begin_ns <= relation->from.begin_ns) {
			status = open_scope(project, scope);
			if (status == KYMO_OK)
				status = next(project, scopes, &head);
			scope = head;
		}
		if (status == KYMO_OK)
			status = cover(project, relation, with_guests);
	}
	return status;
}

/* ---- What comes of it ---- */

static int32_t push_projection(struct ky_project *project, const struct part *whole,
			       struct ky_sorter *out)
{
	const struct ky_item item = {.when = {whole->begin_ns, whole->end_ns,
					      whole->place | KY_ROLE_PROJECTED},
				     .track = whole->track};

	return whole->place != 0 ? ky_sorter_push(out, &item, project->error) : KYMO_OK;
}

/* Joins the parts of each annotation on each queue. */
static int32_t reduce(struct ky_project *project, struct ky_sorter *out)
{
	struct part whole = {.place = 0};
	const void *item = NULL;
	int32_t status = KYMO_OK;

	for (size_t i = 0; i < PENDING && status == KYMO_OK; i++) {
		if (project->pending[i].place != 0)
			status = ky_sorter_push(project->parts, &project->pending[i],
						project->error);
	}
	if (status == KYMO_OK)
		status = ky_sorter_finish(project->parts, project->error);
	while (status == KYMO_OK) {
		const struct part *part;

		status = next(project, project->parts, &item);
		part = item;
		if (status != KYMO_OK || !part)
			break;
		if (part->place != whole.place || part->track != whole.track) {
			status = push_projection(project, &whole, out);
			whole = *part;
			continue;
		}
		if (part->begin_ns < whole.begin_ns)
			whole.begin_ns = part->begin_ns;
		if (part->end_ns > whole.end_ns)
			whole.end_ns = part->end_ns;
	}
	return status == KYMO_OK ? push_projection(project, &whole, out) : status;
}

int32_t ky_project_add_link(struct ky_project *project, const struct ky_link *link,
			    struct kymo_error *error)
{
	return ky_join_add_link(project->join, link, error);
}

int32_t ky_project_run(struct ky_project *project, struct ky_stream *stream,
		       struct ky_sorter **out, struct kymo_error *error)
{
	int32_t status;

	*out = NULL;
	project->error = error;
	status = read_stream(project, stream);
	if (status == KYMO_OK)
		status = cover_all(project, project->annotations, 1);
	if (status == KYMO_OK && ky_sorter_count(project->guests) > 0)
		status = cover_all(project, project->guests, 0);
	if (status == KYMO_OK)
		status = ky_sorter_create(out, sizeof(struct ky_item), ky_moment_compare,
					  MEMORY, error);
	if (status == KYMO_OK)
		status = reduce(project, *out);
	if (status != KYMO_OK || ky_sorter_count(*out) == 0) {
		ky_sorter_destroy(*out);
		*out = NULL;
	}
	return status;
}

void ky_project_destroy(struct ky_project *project)
{
	if (!project)
		return;
	for (size_t i = 0; project->open && i < project->model->tracks.count; i++)
		free(project->open[i].items);
	free(project->open);
	ky_join_destroy(project->join);
	ky_sorter_destroy(project->relations);
	ky_sorter_destroy(project->annotations);
	ky_sorter_destroy(project->guests);
	ky_sorter_destroy(project->parts);
	free(project);
}

int32_t ky_project_create(struct ky_project **out, const struct ky_model *model,
			  struct kymo_error *error)
{
	struct ky_project *project = calloc(1, sizeof(*project));
	int32_t status = KYMO_OK;

	*out = NULL;
	if (!project)
		return no_memory(error);
	project->model = model;
	project->open = calloc(model->tracks.count + 1, sizeof(*project->open));
	if (!project->open)
		status = no_memory(error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&project->relations, sizeof(struct ky_relation),
					  compare_relations, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&project->annotations, sizeof(struct scope),
					  compare_scopes, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&project->guests, sizeof(struct scope),
					  compare_scopes, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&project->parts, sizeof(struct part),
					  compare_parts, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_join_create(&project->join, model, &project->ignored, error);
	if (status == KYMO_OK) {
		ky_join_relate(project->join, project->relations);
		*out = project;
	} else {
		ky_project_destroy(project);
	}
	return status;
}
