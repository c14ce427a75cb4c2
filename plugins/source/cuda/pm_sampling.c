/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device writes raw counts to its memory; the library decodes them into an image of
 * ours, a bounded number at once; of the image each sample is asked for its times and its
 * values.
 *
 * Samples follow each other without a gap, so after an overflow the time that is missing
 * tells how many are. It is a lower bound: the library says that some are gone, not
 * which.
 */
#include "pm_sampling.h"

#include <string.h>

#include "clock.h"

#define LINE_VALUES 4u /* of a counter record's first line, and of each further one */
#define MORE_VALUES 7u
#define LINES_MAX   (1u + (PM_METRICS_MAX - LINE_VALUES + MORE_VALUES - 1) / MORE_VALUES)

static void lose(struct pm_device *device, const struct pm_out *out, uint32_t reason,
		 uint64_t count)
{
	device->counts.lost += count;
	out->host->lost(out->self, reason, count);
}

/* ---- One sample ---- */

static void put_values(union kymo_line *lines, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t behind = i - LINE_VALUES;
		struct kymo_record_values *more;

		if (i < LINE_VALUES) {
			lines[0].counter.value[i] = kymo_double_bits(values[i]);
			continue;
		}
		more = &lines[1 + behind / MORE_VALUES].values;
		more->kind = KYMO_KIND_VALUES;
		more->value[more->used++] = kymo_double_bits(values[i]);
	}
}

static void emit(const struct pm_device *device, const struct pm_out *out,
		 const struct pm_sample_info *info, const double *values)
{
	const size_t count = device->set.count;
	const size_t behind = count > LINE_VALUES ? count - LINE_VALUES : 0;
	const size_t line_count = 1 + (behind + MORE_VALUES - 1) / MORE_VALUES;
	union kymo_line lines[LINES_MAX];

	memset(lines, 0, line_count * sizeof(lines[0]));
	lines[0].counter = (struct kymo_record_counter){
		.kind = KYMO_KIND_COUNTER,
		.lines = (uint8_t)line_count,
		.track = device->track,
		.type = out->type,
		.count = (uint16_t)count,
		.group = device->group,
		.begin = info->start,
		.end = info->end,
	};
	if (info->start == 0 || info->end < info->start)
		lines[0].counter.flags = KYMO_RECORD_UNTIMED;
	put_values(lines, values, count);
	out->host->emit(out->self, lines, (uint32_t)line_count);
}

/* What is missing between two samples, in samples as long as the one before. */
static uint64_t count_missing(const struct pm_device *device, uint64_t begin)
{
	const uint64_t length = device->last_end - device->last_begin;

	if (device->last_end == 0 || length == 0 || begin <= device->last_end)
		return 0;
	return (begin - device->last_end) / length;
}

/* An overflow is told with the samples behind it, the first of which ends the hole. */
static void close_hole(struct pm_device *device, const struct pm_out *out, uint64_t begin)
{
	const uint64_t missing = count_missing(device, begin);

	device->has_hole = 0;
	if (!out->is_paused)
		lose(device, out, KYMO_LOST_VENDOR_AT_LEAST, missing ? missing : 1);
}

static int32_t read_sample(struct pm_device *device, const struct pm_out *out, size_t i,
			   struct pm_sample_info *info, double *values)
{
	struct pm_host_evaluate evaluate = {PM_SIZED(pm_host_evaluate, values),
					    .host = device->set.host,
					    .data = device->data,
					    .size = device->data_size,
					    .sample = i,
					    .metrics = device->set.metrics,
					    .count = device->set.count,
					    .values = values};
	int32_t rc;

	*info = (struct pm_sample_info){PM_SIZED(pm_sample_info, end),
					.sampler = device->sampler, .data = device->data,
					.size = device->data_size, .sample = i};
	rc = out->cupti->sample_info(info);
	return rc == PM_RC_SUCCESS ? out->cupti->host_evaluate(&evaluate) : rc;
}

/* False: the device has no row, and will have none. */
static int take_sample(struct pm_device *device, const struct pm_out *out, size_t i,
		       struct pm_problem *problem)
{
	double values[PM_METRICS_MAX];
	struct pm_sample_info info;

	if (read_sample(device, out, i, &info, values) != PM_RC_SUCCESS) {
		device->counts.unevaluated++;
		lose(device, out, KYMO_LOST_VENDOR, 1);
		return 1;
	}
	if (device->has_hole)
		close_hole(device, out, info.start);
	if (info.end > info.start) {
		device->last_begin = info.start;
		device->last_end = info.end;
	}
	/* The first one covers the time of switching on; the vendor says to ignore it. */
	if (!device->has_begun || out->is_paused) {
		const int is_first = !device->has_begun;

		device->has_begun = 1;
		device->counts.skipped++;
		return !is_first || out->place(device, info.start, problem);
	}
	device->counts.samples++;
	emit(device, out, &info, values);
	return 1;
}

/* ---- One round ---- */

static int fail(const struct pm_out *out, struct pm_device *device, const char *call,
		int32_t rc, struct pm_problem *problem)
{
	pm_cupti_explain(out->cupti, call, rc, problem);
	lose(device, out, KYMO_LOST_VENDOR_AT_LEAST, 1);
	device->state = PM_LEFT;
	return 0;
}

/*
 * Where the oldest are kept, a full memory ends the counting: it is begun again. What is
 * in it is gone with that.
 */
static int restart(struct pm_device *device, const struct pm_out *out,
		   struct pm_problem *problem)
{
	struct pm_sampler sampler = {PM_SIZED(pm_sampler, sampler),
				     .sampler = device->sampler};
	int32_t rc;

	if (device->state != PM_SAMPLING)
		return 1;
	rc = out->cupti->stop(&sampler);
	if (rc == PM_RC_SUCCESS)
		rc = out->cupti->start(&sampler);
	return rc == PM_RC_SUCCESS
		       ? 1
		       : fail(out, device, "cuptiPmSamplingStart", rc, problem);
}

static int take_samples(struct pm_device *device, const struct pm_out *out,
			struct pm_problem *problem)
{
	struct pm_data_info info = {PM_SIZED(pm_data_info, completed),
				    .data = device->data, .size = device->data_size};
	int32_t rc = out->cupti->data_info(&info);

	if (rc != PM_RC_SUCCESS)
		return fail(out, device, "cuptiPmSamplingGetCounterDataInfo", rc,
			    problem);
	for (size_t i = 0; i < info.completed && i < device->max_samples; i++)
		if (!take_sample(device, out, i, problem)) {
			device->state = PM_LEFT;
			return 0;
		}
	rc = pm_device_empty(device, out->cupti);
	return rc == PM_RC_SUCCESS
		       ? 1
		       : fail(out, device, "cuptiPmSamplingCounterDataImageInitialize",
			      rc, problem);
}

int pm_sampling_decode(struct pm_device *device, const struct pm_out *out,
		       uint64_t deadline_ns, int *is_drained, struct pm_problem *problem)
{
	*is_drained = 0;
	do {
		struct pm_decode decode = {
			PM_SIZED(pm_decode, overflow), .sampler = device->sampler,
			.data = device->data, .size = device->data_size};
		const int32_t rc = out->cupti->decode(&decode);
		const int is_full = rc == PM_RC_OUT_OF_MEMORY;
		const uint32_t overflows = is_full || decode.overflow;

		if (rc != PM_RC_SUCCESS && !is_full)
			return fail(out, device, "cuptiPmSamplingDecodeData", rc,
				    problem);
		/* What is gone is older than what the latest are kept of, else newer. */
		device->counts.overflows += overflows;
		device->has_hole |= overflows && device->append == PM_KEEP_LATEST;
		if (!take_samples(device, out, problem))
			return 0;
		device->has_hole |= overflows && device->append == PM_KEEP_OLDEST;
		if (is_full)
			return restart(device, out, problem);
		*is_drained = decode.stop_reason == PM_STOPPED_AT_THE_END;
		if (decode.stop_reason != PM_STOPPED_FULL) {
			device->counts.early_ends += !*is_drained;
			return 1;
		}
	} while (ky_monotonic_ns() < deadline_ns);
	return 1;
}

/* ---- The end ---- */

/* By the clock, of all that there should be; at least one. */
static uint64_t count_pending(const struct pm_device *device)
{
	const struct pm_counts *counts = &device->counts;
	const uint64_t had = counts->samples + counts->lost + counts->skipped;
	const uint64_t length = device->trigger == PM_TRIGGER_TIME
					? device->interval
					: device->last_end - device->last_begin;
	const uint64_t expected =
		length ? (device->stopped_ns - device->started_ns) / length : 0;

	return expected > had ? expected - had : 1;
}

/* All that is ready, unless the device stops getting on. */
static int drain(struct pm_device *device, const struct pm_out *out, uint64_t deadline_ns,
		 struct pm_problem *problem)
{
	struct pm_counts *counts = &device->counts;
	uint64_t before, after = 0;
	int is_drained;

	do {
		before = counts->samples + counts->lost + counts->skipped;
		if (!pm_sampling_decode(device, out, deadline_ns, &is_drained, problem))
			return 0;
		after = counts->samples + counts->lost + counts->skipped;
	} while (!is_drained && after > before && ky_monotonic_ns() < deadline_ns);
	if (!is_drained) {
		counts->pending = count_pending(device);
		lose(device, out, KYMO_LOST_PENDING, counts->pending);
	}
	return 1;
}

int pm_sampling_stop(struct pm_device *device, const struct pm_out *out,
		     uint64_t deadline_ns, struct pm_problem *problem)
{
	struct pm_sampler stop = {PM_SIZED(pm_sampler, sampler),
				  .sampler = device->sampler};
	const int32_t rc = out->cupti->stop(&stop);

	device->stopped_ns = ky_monotonic_ns();
	device->state = PM_STOPPED;
	if (rc != PM_RC_SUCCESS)
		return fail(out, device, "cuptiPmSamplingStop", rc, problem);
	if (!drain(device, out, deadline_ns, problem))
		return 0;
	if (device->has_hole) /* and no sample behind it */
		lose(device, out, KYMO_LOST_VENDOR_AT_LEAST, 1);
	return 1;
}
