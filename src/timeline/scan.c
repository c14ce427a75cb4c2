/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/scan.h"

#include "timeline/records.h"

/* A number of the model, 0 where the capture's number means nothing. */
static uint32_t domain_of(const struct ky_model_capture *capture, uint16_t domain)
{
	return domain < capture->domain_count ? capture->domains[domain] : 0;
}

/*
 * A thread writes its records after what they tell of, so the latest time that was seen
 * in a lease is where a clock that wraps must be read from.
 */
static void begin_lease(struct ky_scan *scan, const struct ky_record *record)
{
	int64_t ns;

	scan->near_ns = record->capture->earliest_ns;
	if (record->lease_begin != 0 &&
	    ky_clock_map_convert(&record->capture->clocks[0], record->lease_begin, 0,
				 &ns) == 0)
		scan->near_ns = ns;
}

static uint64_t end_ticks(const struct kymo_record *record)
{
	return record->kind == KYMO_KIND_INSTANT || record->kind == KYMO_KIND_OPEN
		       ? record->begin
		       : record->end;
}

enum timing { TIMED, UNTIMED, OUTSIDE };

/* Whether the whole of it lies where the recording cannot have seen it. */
static int is_outside(const struct ky_model_capture *capture,
		      const struct ky_clock_map *clock, const struct ky_moment *when)
{
	if (when->begin_ns < capture->earliest_ns || when->end_ns > capture->latest_ns)
		return 1;
	return ky_ns_add(when->end_ns,
			 (int64_t)(ky_clock_map_error_ns(clock, when->end_ns) &
				   INT64_MAX)) < capture->recording_ns;
}

/* Both times, if they are TIMED. */
static enum timing convert_times(struct ky_scan *scan, const struct ky_record *record,
				 struct ky_moment *when)
{
	const struct kymo_record *first = record->first;
	const struct ky_model_capture *capture = record->capture;
	struct ky_clock_map *clock = ky_record_clock(capture, first);
	uint64_t end = end_ticks(first);

	if (!clock || (first->flags & KYMO_RECORD_UNTIMED) || first->begin == 0 ||
	    end == 0)
		return UNTIMED;
	if (ky_clock_map_convert(clock, first->begin, scan->near_ns, &when->begin_ns) !=
	    0)
		return UNTIMED;
	when->end_ns = when->begin_ns;
	if (end != first->begin &&
	    ky_clock_map_convert(clock, end, when->begin_ns, &when->end_ns) != 0)
		return UNTIMED;
	/* Compared as ticks too: two ticks can be one nanosecond. */
	if (when->end_ns < when->begin_ns || (clock->bits == 64 && end < first->begin))
		return UNTIMED;
	if (is_outside(capture, clock, when))
		return OUTSIDE;
	ky_clock_map_use(clock, when->begin_ns);
	ky_clock_map_use(clock, when->end_ns);
	return TIMED;
}

static void note_times(struct ky_scan *scan, const struct ky_record *record,
		       const struct ky_moment *when)
{
	int64_t *last = &scan->capture_last_ns[record->capture - scan->model->captures];

	if (when->begin_ns < scan->first_ns)
		scan->first_ns = when->begin_ns;
	if (when->end_ns > scan->last_ns)
		scan->last_ns = when->end_ns;
	if (when->end_ns > *last)
		*last = when->end_ns;
	if (when->end_ns > scan->near_ns)
		scan->near_ns = when->end_ns;
}

static const struct ky_capture_type *type_of(const struct ky_record *record)
{
	const struct ky_model_capture *capture = record->capture;
	uint16_t type = record->first->type;

	return &capture->types[type < capture->type_count ? type : 0];
}

static struct ky_model_source *source_of(const struct ky_record *record)
{
	const struct kymo_record_link *link = (const void *)record->first;
	const struct ky_model_capture *capture = record->capture;

	if (link->kind != KYMO_KIND_LINK)
		return type_of(record)->source;
	return link->source < capture->source_count ? capture->sources[link->source]
						    : NULL;
}

static void count_written(struct ky_scan *scan, const struct ky_record *record)
{
	struct ky_model_source *source = source_of(record);

	scan->ledger->written++;
	scan->capture_written[record->capture - scan->model->captures]++;
	if (source)
		source->trace.written++;
}

/* Drawn or untimed; a begin is taken back when its span has been found. */
static void count_event(struct ky_scan *scan, const struct ky_record *record)
{
	const struct ky_capture_type *type = type_of(record);

	/* A gap is no activity. */
	if (type->source && record->first->kind != KYMO_KIND_GAP)
		type->source->trace.events++;
	if (type->type == scan->model->unknown_type)
		scan->model->has_unknown_types = 1;
}

static int32_t take_link(struct ky_scan *scan, const struct ky_record *record,
			 struct kymo_error *error)
{
	const struct kymo_record_link *line = (const void *)record->first;
	const struct ky_model_capture *capture = record->capture;
	uint16_t kind = line->link_kind < capture->link_kind_count ? line->link_kind : 0;
	struct ky_link link = {.place = ky_place_make(record->line, KYMO_KIND_LINK, 0),
			       .name = capture->link_kinds[kind],
			       .from_domain = domain_of(capture, line->from_domain),
			       .to_domain = domain_of(capture, line->to_domain),
			       .from = line->from,
			       .to = line->to};

	int32_t status = ky_project_add_link(scan->project, &link, error);

	scan->correlated++;
	return status == KYMO_OK ? ky_join_add_link(scan->join, &link, error) : status;
}

static void find_correlation(const struct ky_record *record, struct ky_item *item)
{
	const struct kymo_record *first = record->first;

	/* A counter has values where others have their correlation. */
	if (first->kind == KYMO_KIND_COUNTER || first->correlation == 0)
		return;
	item->domain = domain_of(record->capture, first->domain);
	item->value = first->correlation;
}

static uint32_t launch_role(const struct kymo_record *record)
{
	if (record->flags & KYMO_RECORD_ORIGIN)
		return record->flags & KYMO_RECORD_ERROR ? KY_ROLE_ORIGIN | KY_ROLE_FAILED
							 : KY_ROLE_ORIGIN;
	return record->flags & KYMO_RECORD_TARGET ? KY_ROLE_TARGET : KY_ROLE_NONE;
}

static uint32_t role_of(struct ky_scan *scan, const struct ky_record *record)
{
	const struct kymo_trace_type *type = type_of(record)->type;
	uint32_t role;

	if (record->first->kind == KYMO_KIND_COUNTER)
		return KY_ROLE_NONE;
	role = launch_role(record->first);
	if (type->is_static && type->activity_type == KY_TYPE_ANNOTATION &&
	    record->first->kind != KYMO_KIND_GAP) {
		scan->annotations++;
		role |= KY_ROLE_ANNOTATION;
	}
	return role;
}

/* Found, but neither shown nor written: it is not of this recording. */
static void count_outside(struct ky_scan *scan, const struct ky_record *record)
{
	struct ky_model_source *source = source_of(record);

	scan->ledger->written--;
	scan->ledger->out_of_window++;
	if (source) {
		source->trace.written--;
		source->trace.out_of_window++;
	}
}

/* One that cannot be drawn, which others may still be correlated with. */
static int32_t take_undrawn(struct ky_scan *scan, const struct ky_record *record,
			    const struct ky_item *item, struct kymo_error *error)
{
	if (ky_record_is_open(record->first))
		return ky_opens_add_untimed(scan->opens, record, item, error);
	if (item->domain == 0)
		return KYMO_OK;
	scan->correlated++;
	return ky_join_add_untimed(scan->join, item, error);
}

/* What it refers to gets its number when all has been seen. */
static int32_t take_reference(struct ky_scan *scan, const struct ky_record *record,
			      const struct ky_item *item, struct kymo_error *error)
{
	const uint64_t value = item->domain != 0 ? ky_record_reference(record) : 0;

	if (value == 0)
		return KYMO_OK;
	return ky_join_add_reference(scan->join, &item->when, item->domain, value, error);
}

static int32_t take_event(struct ky_scan *scan, const struct ky_record *record,
			  struct kymo_error *error)
{
	const struct kymo_record *first = record->first;
	struct ky_item item = {.when = {.place = ky_place_make(record->line, first->kind,
							       role_of(scan, record))},
			       .track = ky_record_row(record)};
	const enum timing timing = convert_times(scan, record, &item.when);
	int32_t status;

	find_correlation(record, &item);
	/* A begin is part of the span that completes it, wherever that lies. */
	if (timing == OUTSIDE && !ky_record_is_open(first)) {
		count_outside(scan, record);
		return take_undrawn(scan, record, &item, error);
	}
	count_event(scan, record);
	if (timing != TIMED) {
		scan->ledger->untimed++;
		return take_undrawn(scan, record, &item, error);
	}
	note_times(scan, record, &item.when);
	if (ky_record_is_open(first))
		return ky_opens_add(scan->opens, record, &item, error);
	if (item.domain != 0)
		scan->correlated++;
	status = take_reference(scan, record, &item, error);
	return status == KYMO_OK ? ky_sorter_push(scan->items, &item, error) : status;
}

static int32_t visit(void *context, const struct ky_record *record,
		     struct kymo_error *error)
{
	struct ky_scan *scan = context;

	if (record->new_lease)
		begin_lease(scan, record);
	count_written(scan, record);
	switch (record->first->kind) {
	case KYMO_KIND_SPAN:
	case KYMO_KIND_INSTANT:
	case KYMO_KIND_COUNTER:
	case KYMO_KIND_GAP:
	case KYMO_KIND_OPEN:
		return take_event(scan, record, error);
	case KYMO_KIND_LINK:
		return take_link(scan, record, error);
	default:
		return KYMO_OK; /* of a later minor */
	}
}

int32_t ky_scan_run(struct ky_scan *scan, struct kymo_error *error)
{
	scan->first_ns = INT64_MAX;
	scan->last_ns = INT64_MIN;
	return ky_records_walk(scan->model, visit, scan, error);
}
