/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/ledger.h"

/* The numbers of a capture may be anything; sums stay at the end of the range. */
static void add(uint64_t *sum, uint64_t value)
{
	*sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
}

struct writer_sums {
	uint64_t accepted, full, too_big, nested, filtered, overwritten;
};

static struct writer_sums sum_writers(const struct ky_reader_capture *capture)
{
	const struct ky_capture_header *header = &capture->header;
	struct writer_sums sums = {.accepted = 0};

	for (size_t i = 0; i < capture->writer_count; i++) {
		const struct ky_writer_slot *slot = &capture->writers[i];

		add(&sums.accepted, slot->accepted);
		add(&sums.full, slot->lost_full);
		add(&sums.too_big, slot->lost_too_big);
		add(&sums.nested, slot->lost_nested);
		add(&sums.filtered, slot->filtered);
	}
	for (size_t i = 0; i < capture->source_count; i++)
		add(&sums.overwritten, capture->sources[i].overwritten);
	/* Threads without a writer are known to the header only. */
	add(&sums.full, header->lost_full_unowned);
	add(&sums.nested, header->lost_nested_unowned);
	add(&sums.filtered, header->filtered_unowned);
	/* A writer that is busy cannot count what a handler hands in as accepted. */
	add(&sums.accepted, header->lost_full_unowned);
	add(&sums.accepted, sums.nested);
	return sums;
}

static void add_losses(struct kymo_trace_ledger *ledger,
		       const struct ky_model_capture *capture)
{
	const struct ky_reader_capture *from = capture->capture;

	for (size_t i = 0; i < from->source_count; i++) {
		const uint64_t *lost = from->sources[i].lost;

		/* Refused by the host, so they had been handed in. */
		add(&ledger->invalid, from->sources[i].invalid);
		add(&ledger->accepted, from->sources[i].invalid);
		add(&ledger->late, lost[KYMO_LOST_LATE]);
		add(&ledger->accepted, lost[KYMO_LOST_LATE]);
		/* Never handed in, but counted one by one, if not "at least". */
		add(&ledger->source_at_least, lost[KYMO_LOST_VENDOR_AT_LEAST]);
		add(&ledger->source_exact, lost[KYMO_LOST_VENDOR]);
		add(&ledger->source_exact, lost[KYMO_LOST_UNTIMED]);
		add(&ledger->source_exact, lost[KYMO_LOST_PENDING]);
	}
}

/*
 * Of what the writers say they accepted, what is neither found nor counted as lost was
 * cut off (the file, a damaged block, a quarantined chunk). Counts that are older than
 * the records (a keeper died) are made to fit.
 */
static void add_writers(struct kymo_trace_ledger *ledger,
			const struct ky_model_capture *capture, uint64_t written)
{
	struct writer_sums sums = sum_writers(capture->capture);
	uint64_t known = written, missing;

	add(&known, sums.full);
	add(&known, sums.too_big);
	add(&known, sums.nested);
	add(&known, sums.overwritten);
	missing = sums.accepted > known ? sums.accepted - known : 0;
	add(&ledger->full, sums.full);
	add(&ledger->too_big, sums.too_big);
	add(&ledger->nested, sums.nested);
	add(&ledger->filtered, sums.filtered);
	add(&ledger->overwritten, sums.overwritten);
	add(&ledger->cut, missing);
	add(&ledger->accepted, known);
	add(&ledger->accepted, missing);
	add(&ledger->names_not_kept, capture->capture->header.names_not_kept);
	add(&ledger->cold_chunks, capture->capture->header.cold_chunks);
	add(&ledger->quarantined_chunks, capture->capture->header.quarantined_chunks);
}

void ky_ledger_add_captures(struct kymo_trace_ledger *ledger,
			    const struct ky_model *model, const uint64_t *written)
{
	for (size_t i = 0; i < model->capture_count; i++) {
		add_writers(ledger, &model->captures[i], written[i]);
		add_losses(ledger, &model->captures[i]);
		/* No reason is 0: there is no such block. */
		add(&ledger->cut_captures, model->captures[i].capture->end.reason == 0);
	}
	ledger->offered = ledger->accepted;
	add(&ledger->offered, ledger->filtered);
}

void ky_ledger_add_files(struct kymo_trace_ledger *ledger,
			 struct ky_reader *const *readers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(&ledger->bad_bytes, ky_reader_bad_bytes(readers[i]));
}

static int32_t list_sources(struct ky_model *model, struct kymo_trace_end *end)
{
	const struct kymo_trace_source **list =
		ky_arena_take(&model->arena, (model->sources.count + 1) *
						     sizeof(struct kymo_trace_source *));

	if (!list)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < model->sources.count; i++) {
		struct ky_model_source *source = model->sources.items[i];

		/* One that says nothing of itself is known by its deeds. */
		if (source->state_capture == 0)
			source->trace.state = source->trace.written > 0
						      ? KYMO_STATE_RECORDING
						      : KYMO_STATE_READY;
		list[i] = &source->trace;
	}
	end->sources = list;
	end->source_count = (uint32_t)model->sources.count;
	return KYMO_OK;
}

static struct kymo_trace_clock *describe_clock(struct ky_model *model,
					       const struct ky_model_capture *capture,
					       uint32_t id)
{
	struct kymo_trace_clock *clock =
		ky_arena_take_zeroed(&model->arena, sizeof(*clock));
	const struct ky_clock_entry *entry = ky_catalog_find(
		capture->catalog, KY_ENTRY_CLOCK, id, sizeof(*entry), NULL);

	if (!clock)
		return NULL;
	clock->struct_size = sizeof(*clock);
	clock->process = capture->process;
	clock->anchor_count = capture->clocks[id].anchor_count;
	clock->uncertainty_ns = ky_clock_map_uncertainty_ns(&capture->clocks[id]);
	if (id == 0) {
		clock->kind = capture->capture->header.ticks == KY_TICKS_MONOTONIC
				      ? KYMO_CLOCK_MONOTONIC
				      : KYMO_CLOCK_COUNTER;
		clock->name = KYMO_STR("host");
	}
	if (entry) {
		clock->kind = entry->kind;
		clock->name = ky_catalog_string(capture->catalog, entry->name);
		if (entry->source < capture->source_count &&
		    capture->sources[entry->source])
			clock->source = capture->sources[entry->source]->trace.name;
	}
	return clock;
}

static int32_t list_clocks(struct ky_model *model, struct kymo_trace_end *end)
{
	const struct kymo_trace_clock **list;
	size_t total = 0;

	for (size_t i = 0; i < model->capture_count; i++)
		total += model->captures[i].clock_count;
	list = ky_arena_take(&model->arena,
			     (total + 1) * sizeof(struct kymo_trace_clock *));
	if (!list)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < model->capture_count; i++) {
		const struct ky_model_capture *capture = &model->captures[i];

		for (uint32_t id = 0; id < capture->clock_count; id++) {
			list[end->clock_count] = describe_clock(model, capture, id);
			if (!list[end->clock_count++])
				return KYMO_ERROR_NO_MEMORY;
		}
	}
	end->clocks = list;
	return KYMO_OK;
}

static int is_worth_telling(const struct ky_writer_slot *slot)
{
	return slot->lost_full || slot->lost_too_big || slot->lost_nested ||
	       slot->filtered;
}

static struct kymo_trace_writer *describe_writer(struct ky_model *model,
						 const struct ky_model_capture *capture,
						 const struct ky_writer_slot *slot)
{
	struct kymo_trace_writer *writer = ky_arena_take(&model->arena, sizeof(*writer));

	if (writer)
		*writer = (struct kymo_trace_writer){
			.struct_size = sizeof(*writer),
			.process = capture->process,
			.tid = slot->tid,
			.accepted = slot->accepted,
			.written = slot->written,
			.full = slot->lost_full,
			.too_big = slot->lost_too_big,
			.nested = slot->lost_nested,
			.filtered = slot->filtered,
		};
	return writer;
}

static int32_t list_writers(struct ky_model *model, struct kymo_trace_end *end)
{
	const struct kymo_trace_writer **list;
	size_t total = 0;

	for (size_t i = 0; i < model->capture_count; i++)
		total += model->captures[i].capture->writer_count;
	list = ky_arena_take(&model->arena,
			     (total + 1) * sizeof(struct kymo_trace_writer *));
	if (!list)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < model->capture_count; i++) {
		const struct ky_reader_capture *capture = model->captures[i].capture;

		for (size_t slot = 0; slot < capture->writer_count; slot++) {
			if (!is_worth_telling(&capture->writers[slot]))
				continue;
			list[end->writer_count] = describe_writer(
				model, &model->captures[i], &capture->writers[slot]);
			if (!list[end->writer_count++])
				return KYMO_ERROR_NO_MEMORY;
		}
	}
	end->writers = list;
	return KYMO_OK;
}

int32_t ky_ledger_end(struct ky_model *model, const struct kymo_trace_ledger *ledger,
		      struct kymo_trace_end *end)
{
	*end = (struct kymo_trace_end){.struct_size = sizeof(*end), .ledger = ledger};
	if (list_sources(model, end) != KYMO_OK || list_clocks(model, end) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	return list_writers(model, end);
}
