/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types as a trace has them: told by the capture alone, of plug-ins that are not
 * there. Rows of what belongs to a device, and the windows of counters.
 */
#include "timeline/model.h"

#include <math.h>

#include "record/type_number.h"
#include "support/test.h"

#include "timeline/trace_setup.h"

static uint16_t build_full_type(struct build *build, struct ky_type_entry entry,
				const char *plugin, const char *name)
{
	entry.plugin = plugin ? build_text(build, plugin) : 0;
	entry.name = name ? build_text(build, name) : 0;
	return (uint16_t)build_entry(build, KY_ENTRY_TYPE, &entry, sizeof(entry));
}

static struct ky_model *open_model(struct build *build, struct ky_reader **reader)
{
	struct ky_model *model = NULL;

	build_finish(build, T(BUILD_SECOND));
	assert_int_equal(ky_reader_open(reader, build_save(build), NULL), KYMO_OK);
	assert_int_equal(ky_model_create(&model, reader, 1, NULL), KYMO_OK);
	return model;
}

static void close_model(struct ky_model *model, struct ky_reader *reader,
			struct build *build)
{
	ky_model_destroy(model);
	ky_reader_close(reader);
	build_free(build);
}

static void assert_text(struct kymo_str text, const char *expected)
{
	assert_int_equal(text.size, strlen(expected));
	assert_memory_equal(text.data, expected, text.size);
}

static void types_are_told_by_the_capture_alone(void **state)
{
	struct build *build = build_new();
	const uint32_t source = build_source(build, "npu");
	const struct ky_type_entry entry = {.source = source};
	struct ky_type_entry dma = entry, static_type = entry, nameless = entry;
	struct ky_type_entry unknown = entry;
	struct ky_reader *reader;
	struct ky_model *model;
	const struct kymo_trace_type *type;
	uint16_t ids[6];

	(void)state;
	dma.activity_type = 606626482;
	ids[0] = build_full_type(build, dma, "npu", "dma");
	dma.side = KYMO_SIDE_ACCELERATOR; /* said later */
	dma.flags = KYMO_TYPE_OPT_IN;
	ids[1] = build_full_type(build, dma, "npu", "dma");
	static_type.activity_type = 7;
	static_type.category = build_text(build, "vendor_runtime");
	ids[2] = build_full_type(build, static_type, NULL, "runtime");
	ids[3] = build_full_type(build, entry, NULL, "cpu_op");
	nameless.activity_type = 70001;
	ids[4] = build_full_type(build, nameless, "npu", NULL);
	unknown.activity_type = 44; /* kept for static types that this Kymo lacks */
	ids[5] = build_full_type(build, unknown, NULL, "of_the_future");
	model = open_model(build, &reader);

	type = model->captures[0].types[ids[0]].type;
	assert_ptr_equal(model->captures[0].types[ids[1]].type, type);
	assert_text(type->name, "dma");
	assert_text(type->plugin, "npu");
	assert_text(type->full_name, "npu.dma");
	assert_text(type->category, "npu.dma");
	assert_int_equal(type->kineto_id, 120);
	assert_int_equal(type->side, KYMO_SIDE_ACCELERATOR);
	assert_int_equal(type->flags, KYMO_TYPE_OPT_IN);
	assert_int_equal(type->is_static, 0);

	type = model->captures[0].types[ids[2]].type;
	assert_text(type->full_name, "runtime");
	assert_text(type->category, "vendor_runtime");
	assert_int_equal(type->kineto_id, 7);
	assert_int_equal(type->is_static, 1);
	assert_int_equal(model->captures[0].types[ids[3]].type->is_static, 1);
	assert_text(model->captures[0].types[ids[3]].type->category, "cpu_op");
	assert_text(model->captures[0].types[ids[4]].type->name, "activity type 70001");
	assert_text(model->captures[0].types[ids[5]].type->full_name, "of_the_future");
	close_model(model, reader, build);
}

/* What names no track, of a type that belongs to a device. */
static struct ky_type_entry on_device(uint32_t source, uint32_t number)
{
	return (struct ky_type_entry){
		.source = source,
		.activity_type = number,
		.side = KYMO_SIDE_ACCELERATOR,
	};
}

static void add_trackless(struct build *build, uint16_t type, uint64_t at)
{
	build_record(
		build, KYMO_KIND_SPAN,
		(struct kymo_record){.type = type, .begin = T(at), .end = T(at + 5)});
}

static void device_types_without_a_track_have_rows_of_their_source(void **state)
{
	struct build *build = build_new();
	const uint32_t npu = build_source(build, "npu"), vpu = build_source(build, "vpu");
	const uint32_t many = build_source(build, "many");
	const uint16_t of_npu =
		build_full_type(build, on_device(npu, 70001), "npu", "dma");
	const uint16_t of_vpu =
		build_full_type(build, on_device(vpu, 70002), "vpu", "dma");
	const uint16_t of_many =
		build_full_type(build, on_device(many, 70003), "many", "dma");
	struct ky_type_entry host_type = {.source = npu, .activity_type = 70004};
	const uint16_t of_host = build_full_type(build, host_type, "npu", "wait");
	struct memory_sink sink;

	(void)state;
	/* Equal indexes, equal native numbers: not the same device. */
	build_device(build, npu, 0);
	build_device(build, vpu, 0);
	build_device(build, many, 0);
	build_device(build, many, 1);
	build_lease(build, build_thread(build, 501, "main"), T(0));
	add_trackless(build, of_npu, 10);
	add_trackless(build, of_vpu, 20);
	add_trackless(build, of_many, 30);
	add_trackless(build, of_host, 40);
	build_finish(build, T(BUILD_SECOND));
	sink = run_files(&build, 1);
	assert_int_equal(sink.count - sink.seen[KYMO_EVENT_TRACK], 4);
	for (size_t i = 0; i < 3; i++) {
		const struct memory_event *event = memory_find(&sink, KYMO_EVENT_SPAN, i);

		assert_int_equal(event->track.kind, KYMO_TRACK_QUEUE);
		assert_int_equal(event->track.device != NULL, i < 2);
	}
	assert_ptr_not_equal(memory_find(&sink, KYMO_EVENT_SPAN, 0)->track.device,
			     memory_find(&sink, KYMO_EVENT_SPAN, 1)->track.device);
	assert_int_equal(memory_find(&sink, KYMO_EVENT_SPAN, 3)->track.native, 501);
	memory_free(&sink);
}

static uint64_t bits_of(double value)
{
	return kymo_double_bits(value);
}

static void windows_of_hardware_counters_are_kept(void **state)
{
	struct setup s = begin();
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[3];
	} group = {
		{.track = s.queue, .name = build_text(s.build, "pm"), .count = 3},
		{{.name = build_text(s.build, "sm__cycles.sum"),
		  .unit = build_text(s.build, "cycles"),
		  .value_type = KYMO_VALUE_DOUBLE},
		 {.name = build_text(s.build, "broken"), .value_type = KYMO_VALUE_DOUBLE},
		 {.name = build_text(s.build, "large"),
		  .value_type = KYMO_VALUE_UINT64}}};
	const uint32_t number =
		build_entry(s.build, KY_ENTRY_GROUP, &group, sizeof(group));
	const uint16_t type = build_full_type(
		s.build, (struct ky_type_entry){.source = s.source, .activity_type = 28},
		NULL, "gpu_pm_counter");
	const struct memory_event *event;
	struct memory_sink sink;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct kymo_record_counter sample = {
			.kind = KYMO_KIND_COUNTER,
			.lines = 1,
			.type = type,
			.count = 3,
			.group = number,
			.begin = T(100 * i),
			.end = T(100 * i + 90),
			.value = {bits_of(1.5 + (double)i), bits_of(NAN), UINT64_MAX}};

		build_lines(s.build, &sample, 1);
	}
	sink = run(&s);
	for (uint64_t i = 0; i < 3; i++) {
		event = memory_find(&sink, KYMO_EVENT_COUNTER, i);
		assert_int_equal(event->event.begin_ns, (int64_t)T(100 * i));
		assert_int_equal(event->event.end_ns, (int64_t)T(100 * i + 90));
		assert_int_equal(event->event.value_count, 3);
		assert_int_equal(event->track.kind, KYMO_TRACK_QUEUE);
		assert_string_equal(event->type, "gpu_pm_counter");
	}
	assert_non_null(strstr(memory_find(&sink, KYMO_EVENT_COUNTER, 2)->values,
			       "sm__cycles.sum=3.5 broken="));
	assert_int_equal(sink.ledger.counters, 3);
	memory_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_told_by_the_capture_alone),
		cmocka_unit_test(device_types_without_a_track_have_rows_of_their_source),
		cmocka_unit_test(windows_of_hardware_counters_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
