/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sources said about the whole trace; of a key said twice the last one holds. */
#include <string.h>

#include "timeline/model.h"
#include "timeline/values.h"

/* Less is how far apart two readings of two clocks may be. */
#define REALTIME_STEP_NS 10000000u

static int is_key(const struct kymo_trace_value *value, const char *key)
{
	return value->key.size == strlen(key) &&
	       memcmp(value->key.data, key, value->key.size) == 0;
}

static int64_t rank_of(const struct kymo_trace_value *value)
{
	int is_number =
		value->type == KYMO_VALUE_INT64 || value->type == KYMO_VALUE_UINT64;

	return is_number && value->i64 >= 0 ? value->i64 : -1;
}

/* These belong to the process that gave them, not to the whole trace. */
static int is_identity(const struct kymo_trace_value *value)
{
	return is_key(value, "rank") || is_key(value, "world_size");
}

static void note_rank(struct kymo_trace_process *process,
		      const struct kymo_trace_value *value)
{
	if (is_key(value, "rank"))
		process->rank = rank_of(value);
	if (is_key(value, "world_size"))
		process->world_size = rank_of(value);
}

/* Also what stands within libkineto's distributedInfo, as far as it is a rank. */
static void note_ranks(struct kymo_trace_process *process,
		       const struct kymo_trace_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct kymo_trace_value *value = &values[i];

		note_rank(process, value);
		if (value->type != KYMO_VALUE_DICT || !is_key(value, "distributedInfo"))
			continue;
		for (uint32_t j = 0; j < value->count; j++)
			if (rank_of(&value->items[j]) >= 0)
				note_rank(process, &value->items[j]);
	}
}

/* Of one key the last holds. */
static int32_t add_value(struct ky_model *model, struct ky_list *all,
			 const struct kymo_trace_value *value)
{
	const uint64_t key[] = {'M', ky_model_text(model, value->key)};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));

	if (!slot || model->status != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	if (!*slot) {
		if (ky_list_add(all, NULL) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
		*slot = (void *)(uintptr_t)all->count;
	}
	all->items[(uintptr_t)*slot - 1] = (void *)(uintptr_t)value;
	return KYMO_OK;
}

static int32_t add_capture(struct ky_model *model, struct ky_model_capture *capture,
			   struct ky_list *all)
{
	struct ky_values values = {.capture = capture,
				   .arena = &model->arena,
				   .clock = &capture->clocks[0],
				   .near_ns = capture->earliest_ns};
	uint32_t entries = ky_catalog_count(capture->catalog, KY_ENTRY_METADATA);
	const struct kymo_trace_value *taken;
	size_t count;
	int32_t status;

	for (uint32_t id = 1; id <= entries; id++) {
		size_t size;
		const void *bytes = ky_catalog_find(capture->catalog, KY_ENTRY_METADATA,
						    id, 0, &size);

		ky_values_add_attributes(&values, bytes, size);
	}
	status = ky_values_take(&values, &taken, &count);
	ky_values_clear(&values);
	if (status != KYMO_OK)
		return status;
	note_ranks(capture->process, taken, count);
	for (size_t i = 0; i < count && status == KYMO_OK; i++)
		if (!is_identity(&taken[i]))
			status = add_value(model, all, &taken[i]);
	return status;
}

/* Not what a source said: that the recorder ceased to stream. */
static int32_t add_stopped(struct ky_model *model, struct ky_list *all)
{
	static const char *const reasons[] = {
		[KY_STREAM_LIMIT] = "the capture file reached its limit",
		[KY_STREAM_SPACE] = "the disk was nearly full",
		[KY_STREAM_FAILED] = "the capture file could not be written",
	};
	struct kymo_trace_value *value;
	uint32_t reason = KY_STREAM_GOES_ON;

	for (size_t i = 0; i < model->capture_count && reason == KY_STREAM_GOES_ON; i++)
		reason = model->captures[i].capture->header.stream_stopped;
	if (reason == KY_STREAM_GOES_ON || reason > KY_STREAM_FAILED)
		return KYMO_OK;
	value = ky_arena_take_zeroed(&model->arena, sizeof(*value));
	if (!value)
		return KYMO_ERROR_NO_MEMORY;
	value->key = KYMO_STR("streaming stopped");
	value->type = KYMO_VALUE_STRING;
	value->text = (struct kymo_str){reasons[reason], strlen(reasons[reason])};
	return ky_list_add(all, value);
}

/* What the recorder was asked to record: why there is a gap, or nothing. */
static int32_t add_window(struct ky_model *model, struct ky_list *all)
{
	struct kymo_trace_value *value;

	if (model->window.size == 0)
		return KYMO_OK;
	value = ky_arena_take_zeroed(&model->arena, sizeof(*value));
	if (!value)
		return KYMO_ERROR_NO_MEMORY;
	value->key = KYMO_STR("window");
	value->type = KYMO_VALUE_STRING;
	value->text = model->window;
	return ky_list_add(all, value);
}

/* Somebody set the clock: times since the epoch are by the one that it was at first. */
static int32_t add_realtime_step(struct ky_model *model, struct ky_list *all)
{
	struct kymo_trace_value *value;
	uint64_t largest = 0;

	for (size_t i = 0; i < model->capture_count; i++) {
		uint64_t step = ky_model_realtime_step(&model->captures[i]);

		largest = step > largest ? step : largest;
	}
	if (largest < REALTIME_STEP_NS)
		return KYMO_OK;
	value = ky_arena_take_zeroed(&model->arena, sizeof(*value));
	if (!value)
		return KYMO_ERROR_NO_MEMORY;
	value->key = KYMO_STR("realtime stepped (ns)");
	value->type = KYMO_VALUE_UINT64;
	value->u64 = largest;
	return ky_list_add(all, value);
}

/* In which files functions and lines were not found, and why. */
static int32_t add_unresolved(struct ky_model *model, struct ky_list *all)
{
	const size_t count = model->unresolved.count;
	struct kymo_trace_value *value;
	struct kymo_str *texts;

	if (count == 0)
		return KYMO_OK;
	value = ky_arena_take_zeroed(&model->arena, sizeof(*value));
	texts = ky_arena_take(&model->arena, count * sizeof(*texts));
	if (!value || !texts)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < count; i++)
		texts[i] = *(const struct kymo_str *)model->unresolved.items[i];
	value->key = KYMO_STR("symbols missing");
	value->type = KYMO_VALUE_STRING | KYMO_VALUE_ARRAY;
	value->count = (uint32_t)count;
	value->text_array = texts;
	return ky_list_add(all, value);
}

int32_t ky_model_metadata(struct ky_model *model, struct kymo_trace_value **out,
			  size_t *count)
{
	struct ky_list all = {NULL, 0, 0};
	int32_t status = KYMO_OK;

	*out = NULL;
	*count = 0;
	for (size_t i = 0; i < model->capture_count && status == KYMO_OK; i++)
		status = add_capture(model, &model->captures[i], &all);
	if (status == KYMO_OK)
		status = add_stopped(model, &all);
	if (status == KYMO_OK)
		status = add_window(model, &all);
	if (status == KYMO_OK)
		status = add_realtime_step(model, &all);
	if (status == KYMO_OK)
		status = add_unresolved(model, &all);
	if (status == KYMO_OK && all.count > 0) {
		*out = ky_arena_take(&model->arena, all.count * sizeof(**out));
		if (!*out)
			status = KYMO_ERROR_NO_MEMORY;
	}
	for (size_t i = 0; i < all.count && status == KYMO_OK; i++)
		(*out)[i] = *(const struct kymo_trace_value *)all.items[i];
	if (status == KYMO_OK)
		*count = all.count;
	ky_list_clear(&all);
	return status;
}
