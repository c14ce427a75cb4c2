/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/delivery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kymo/timeline.h>

#include "base/error.h"
#include "base/fs.h"
#include "control/output.h"
#include "control/outputs.h"
#include "session/export.h"
#include "session/sinks.h"

static int flush_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), number = 0;

	if (fd < 0)
		return errno;
	if (fsync(fd) < 0)
		number = errno;
	close(fd);
	return number;
}

/* Which of the outputs is the capture itself; behind the last: none. */
static size_t find_capture(const struct ky_keeper_setup *setup)
{
	size_t index = 0;

	while (setup->outputs[index] && !ky_is_capture_path(setup->outputs[index]))
		index++;
	return index;
}

/* Counted before, should nobody have: if we die at it, another keeper finds the file in
 * place. */
static int32_t deliver_capture(const struct ky_delivery *delivery, size_t index,
			       struct ky_outcome *outcome, struct kymo_error *error)
{
	const char *target = delivery->setup->outputs[index];
	struct kymo_summary *summary = &outcome->summary;
	int32_t status = KYMO_OK;
	int number;

	if (summary->bytes == 0)
		status = ky_export_count(delivery->capture, delivery->setup->progress,
					 summary, error);
	if (status)
		return status;
	number = flush_file(delivery->capture);
	if (!number)
		number = ky_move_file(delivery->capture, target,
				      (int)delivery->setup->overwrite);
	if (number)
		return ky_error_set_errno(error, number, "cannot make \"%s\"", target);
	outcome->written |= 1u << index;
	return KYMO_OK;
}

/* All outputs that are no capture, in one go. */
static int32_t deliver_traces(const struct ky_delivery *delivery,
			      struct ky_outcome *outcome, struct kymo_error *error)
{
	const struct ky_keeper_setup *setup = delivery->setup;
	const char *paths[] = {delivery->capture};
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.overwrite = setup->overwrite,
		.compat = {setup->compat, setup->compat ? strlen(setup->compat) : 0},
	};
	struct kymo_output outputs[KY_OUTPUTS_MAX];
	struct kymo_output *list[KY_OUTPUTS_MAX + 1] = {NULL};
	const struct ky_export export = {
		.captures = paths,
		.count = 1,
		.outputs = list,
		.options = &options,
		/* The capture file, which goes last. */
		.others_wait = setup->outputs[find_capture(setup)] != NULL,
		.progress = setup->progress,
	};
	size_t count = 0;
	int32_t status;

	for (size_t i = 0; setup->outputs[i]; i++) {
		outputs[i] = (struct kymo_output){.struct_size = sizeof(outputs[i]),
						  .status = KYMO_END,
						  .path = setup->outputs[i]};
		if (!ky_is_capture_path(setup->outputs[i]))
			list[count++] = &outputs[i];
	}
	if (count == 0)
		return KYMO_OK;
	status = ky_export_run(&export, &outcome->summary, error);
	for (size_t i = 0; setup->outputs[i]; i++)
		if (outputs[i].status == KYMO_OK)
			outcome->written |= 1u << i;
	return status;
}

/* The capture file goes last: it is what others are made from. */
static int32_t deliver(const struct ky_delivery *delivery, struct ky_outcome *outcome)
{
	const size_t capture = find_capture(delivery->setup);
	struct kymo_error later = {0};
	int32_t status = deliver_traces(delivery, outcome, &outcome->error);
	int32_t second = KYMO_OK;

	if (delivery->setup->outputs[capture])
		second = deliver_capture(delivery, capture, outcome, &later);
	else if (!status)
		unlink(delivery->capture);
	if (status || !second)
		return status;
	outcome->error = later;
	return second;
}

int32_t ky_delivery_open(struct ky_delivery *out, const struct ky_keeper_setup *setup,
			 struct ky_spool **spool, struct kymo_error *error)
{
	const struct ky_spool_session session = {
		.session = setup->session,
		.overflow = setup->overflow,
		.command_line = setup->command_line,
		.sources = kymo_text(setup->wanted),
		.window = kymo_text(setup->window),
	};
	int32_t status;

	*spool = NULL;
	out->setup = setup;
	status = ky_output_capture_path(setup->outputs[0], setup->recorder, out->capture,
					sizeof(out->capture), error);
	if (status)
		return status;
	if (setup->generation > 1 && (setup->has_file || access(out->capture, F_OK) == 0))
		return ky_spool_resume(spool, out->capture, setup->session, error);
	return ky_spool_create(spool, out->capture, &session, error);
}

void ky_delivery_finish(struct ky_delivery *delivery, const struct kymo_error *failure,
			struct ky_outcome *outcome)
{
	const struct ky_keeper_setup *setup = delivery->setup;
	struct kymo_error missing = {0};
	int32_t status;

	*setup->progress = (struct ky_progress){0}; /* a keeper before may have begun */
	outcome->summary.struct_size = sizeof(outcome->summary);
	ky_report_make(delivery->capture, setup->wanted, setup->require, &outcome->report,
		       &missing);
	status = deliver(delivery, outcome);
	if (status) {
		outcome->error.status = status;
		if (access(delivery->capture, F_OK) == 0)
			memcpy(outcome->capture, delivery->capture,
			       sizeof(outcome->capture));
		return;
	}
	/* Less than was asked for, though what there is is complete. */
	if (failure->status) {
		outcome->error = *failure;
		/* Something is missing, even if no count tells what. */
		if (outcome->summary.lost == 0)
			outcome->summary.incomplete = 1;
	} else if (missing.status) {
		outcome->error = missing;
	}
}

void ky_delivery_abandon(struct ky_delivery *delivery)
{
	unlink(delivery->capture);
}
