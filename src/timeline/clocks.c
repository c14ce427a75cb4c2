/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock maps of one capture: first host ticks against CLOCK_MONOTONIC, then each
 * device clock, whose anchors are bounds in host ticks.
 */
#include "timeline/model.h"

#define NS_PER_SECOND 1000000000ll
/* A recording's first and last records may lie a little outside of it. */
#define OUTSIDE_MAX_NS (10 * NS_PER_SECOND)
/* Without its end block a capture may go on unseen after the last anchor. */
#define UNSEEN_MAX_NS (3600 * NS_PER_SECOND)
/* How far apart the two readings in a capture's header may have been taken. */
#define ATTACH_BOUND_NS 100000

/* The anchors of all clocks, those of one clock together. */
struct sorted_anchors {
	struct ky_clock_anchor *items;
	size_t *first; /* per clock, and the end behind the last */
};

static int64_t to_signed(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static void free_sorted(struct sorted_anchors *sorted)
{
	free(sorted->items);
	free(sorted->first);
}

/* Makes room: `first` is filled in, `items` not yet. */
static int32_t count_anchors(const struct ky_model_capture *capture,
			     struct sorted_anchors *sorted)
{
	const struct ky_reader_capture *read = capture->capture;
	size_t total = 0;

	sorted->items = malloc((read->anchor_count + 1) * sizeof(*sorted->items));
	sorted->first = calloc(capture->clock_count + 1u, sizeof(*sorted->first));
	if (!sorted->items || !sorted->first) {
		free_sorted(sorted);
		return KYMO_ERROR_NO_MEMORY;
	}
	for (size_t i = 0; i < read->anchor_count; i++) {
		if (read->anchors[i].clock < capture->clock_count)
			sorted->first[read->anchors[i].clock + 1]++;
	}
	sorted->first[1]++; /* room for the pair in the header */
	for (uint32_t i = 1; i <= capture->clock_count; i++) {
		total += sorted->first[i];
		sorted->first[i] = total;
	}
	return KYMO_OK;
}

static int32_t map_host(struct ky_model_capture *capture, struct sorted_anchors *sorted)
{
	const struct ky_reader_capture *read = capture->capture;
	int64_t shift = capture->shift_ns;
	size_t count = 0;

	if (read->header.ticks == KY_TICKS_MONOTONIC) {
		ky_clock_map_init_fixed(&capture->clocks[0], -shift);
		return KYMO_OK;
	}
	for (size_t i = 0; i < read->anchor_count; i++) {
		const struct ky_anchor *anchor = &read->anchors[i];

		if (anchor->clock == 0)
			sorted->items[count++] = (struct ky_clock_anchor){
				anchor->device,
				ky_ns_add(to_signed(anchor->host_lo), shift),
				ky_ns_add(to_signed(anchor->host_hi), shift)};
	}
	if (count < 2 && read->header.attach_ticks != 0) {
		int64_t ns = ky_ns_add(read->header.attach_monotonic_ns, shift);

		sorted->items[count++] = (struct ky_clock_anchor){
			read->header.attach_ticks, ky_ns_add(ns, -ATTACH_BOUND_NS),
			ky_ns_add(ns, ATTACH_BOUND_NS)};
	}
	return ky_clock_map_init(&capture->clocks[0], sorted->items, count, 64,
				 (struct ky_clock_rate){0, 0});
}

/* Turns the device anchors' host ticks into times, clock by clock. */
static int32_t convert_anchors(struct ky_model_capture *capture,
			       struct sorted_anchors *sorted, size_t *used)
{
	const struct ky_reader_capture *read = capture->capture;
	struct ky_clock_map *host = &capture->clocks[0];

	for (size_t i = 0; i < read->anchor_count; i++) {
		const struct ky_anchor *anchor = &read->anchors[i];
		int64_t lo, hi, error;

		if (anchor->clock == 0 || anchor->clock >= capture->clock_count ||
		    ky_clock_map_convert(host, anchor->host_lo, 0, &lo) != 0 ||
		    ky_clock_map_convert(host, anchor->host_hi, 0, &hi) != 0)
			continue;
		error = to_signed(ky_clock_map_error_ns(host, lo));
		lo = lo > error ? lo - error : 0;
		error = to_signed(ky_clock_map_error_ns(host, hi));
		sorted->items[sorted->first[anchor->clock] + used[anchor->clock]++] =
			(struct ky_clock_anchor){anchor->device, lo,
						 ky_ns_add(hi, error)};
	}
	return KYMO_OK;
}

static int64_t realtime_offset(const struct ky_capture_header *header)
{
	return ky_ns_add(header->attach_realtime_ns,
			 -to_signed((uint64_t)header->attach_monotonic_ns));
}

uint64_t ky_model_realtime_step(const struct ky_model_capture *capture)
{
	const struct ky_reader_capture *read = capture->capture;
	int64_t offset = realtime_offset(&read->header);
	uint64_t largest = 0;

	for (size_t i = 0; i < read->anchor_count; i++) {
		const struct ky_anchor *anchor = &read->anchors[i];
		int64_t expected = ky_ns_add(to_signed(anchor->host_lo), offset);
		int64_t found = to_signed(anchor->realtime);
		uint64_t step = found > expected ? (uint64_t)found - (uint64_t)expected
						 : (uint64_t)expected - (uint64_t)found;

		if (anchor->clock == 0 && anchor->realtime != 0 && step > largest)
			largest = step;
	}
	return largest;
}

static int32_t map_device(struct ky_model_capture *capture, uint32_t id,
			  struct ky_clock_anchor *anchors, size_t count)
{
	const struct ky_clock_entry *entry = ky_catalog_find(
		capture->catalog, KY_ENTRY_CLOCK, id, sizeof(*entry), NULL);
	struct ky_clock_map *map = &capture->clocks[id];

	if (entry && entry->kind == KYMO_CLOCK_MONOTONIC) {
		ky_clock_map_init_fixed(map, -capture->shift_ns);
		return KYMO_OK;
	}
	if (entry && entry->kind == KYMO_CLOCK_REALTIME) {
		/* As it was at the attach: later steps make it as wrong. */
		ky_clock_map_init_fixed(
			map, ky_ns_add(realtime_offset(&capture->capture->header),
				       -capture->shift_ns));
		map->bound_ns = ky_model_realtime_step(capture);
		return KYMO_OK;
	}
	return ky_clock_map_init(
		map, anchors, count, entry ? entry->bits : 64,
		entry ? (struct ky_clock_rate){entry->ticks_num, entry->ticks_den}
		      : (struct ky_clock_rate){0, 0});
}

/* When the warm-up ended, as surely as the host's clock knows it. */
static int64_t find_recording(struct ky_model_capture *capture)
{
	const uint64_t ticks = capture->capture->header.begin_ticks;
	struct ky_clock_map *host = &capture->clocks[0];
	int64_t ns;

	if (ticks == 0 || ky_clock_map_convert(host, ticks, 0, &ns) != 0)
		return INT64_MIN;
	return ky_ns_add(ns, -to_signed(ky_clock_map_error_ns(host, ns)));
}

static void find_limits(struct ky_model_capture *capture)
{
	const struct ky_reader_capture *read = capture->capture;
	int64_t shift = capture->shift_ns, last = read->end.end_monotonic_ns;

	capture->earliest_ns = ky_ns_add(
		ky_ns_add(read->header.attach_monotonic_ns, shift), -OUTSIDE_MAX_NS);
	if (last > 0) {
		capture->latest_ns = ky_ns_add(ky_ns_add(last, shift), OUTSIDE_MAX_NS);
		return;
	}
	last = read->header.attach_monotonic_ns;
	for (size_t i = 0; i < read->anchor_count; i++) {
		const struct ky_anchor *anchor = &read->anchors[i];

		if (anchor->clock == 0 && to_signed(anchor->host_hi) > last)
			last = to_signed(anchor->host_hi);
	}
	capture->latest_ns = ky_ns_add(ky_ns_add(last, shift), UNSEEN_MAX_NS);
}

static void add_error(struct ky_model_track *track, const struct ky_clock_map *clock)
{
	uint64_t error = ky_clock_map_uncertainty_ns(clock);

	if (error > track->error_ns)
		track->error_ns = error;
}

void ky_model_find_errors(struct ky_model *model)
{
	for (size_t i = 0; i < model->capture_count; i++) {
		const struct ky_model_capture *capture = &model->captures[i];

		for (uint32_t id = 0; id < capture->track_count; id++) {
			const struct ky_capture_track *at = &capture->tracks[id];
			struct ky_model_track *track = model->tracks.items[at->track];

			if (at->clock < capture->clock_count)
				add_error(track, &capture->clocks[at->clock]);
			/* What a thread writes itself is in host ticks. */
			if (track->trace.kind == KYMO_TRACK_THREAD)
				add_error(track, &capture->clocks[0]);
		}
	}
}

int32_t ky_model_add_clocks(struct ky_model_capture *capture)
{
	struct sorted_anchors sorted;
	size_t *used = calloc(capture->clock_count, sizeof(*used));
	int32_t status;

	if (!used)
		return KYMO_ERROR_NO_MEMORY;
	status = count_anchors(capture, &sorted);
	if (status != KYMO_OK) {
		free(used);
		return status;
	}
	status = map_host(capture, &sorted);
	if (status == KYMO_OK)
		status = convert_anchors(capture, &sorted, used);
	for (uint32_t id = 1; id < capture->clock_count && status == KYMO_OK; id++)
		status = map_device(capture, id, sorted.items + sorted.first[id],
				    used[id]);
	find_limits(capture);
	capture->recording_ns = find_recording(capture);
	free_sorted(&sorted);
	free(used);
	return status;
}
