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
#include "session/export.h"

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

static int32_t deliver_capture(const struct ky_delivery *delivery,
			       struct kymo_summary *summary, struct kymo_error *error)
{
	const struct ky_keeper_setup *setup = delivery->setup;
	/* Counted before: should we die at it, another keeper finds the file in place. */
	int32_t status = ky_export_count(delivery->capture, summary, error);
	int number;

	if (status)
		return status;
	number = flush_file(delivery->capture);
	if (!number)
		number = ky_move_file(delivery->capture, setup->output,
				      (int)setup->overwrite);
	if (number)
		return ky_error_set_errno(error, number, "cannot make \"%s\"",
					  setup->output);
	return KYMO_OK;
}

static int32_t deliver_trace(const struct ky_delivery *delivery,
			     struct kymo_summary *summary, struct kymo_error *error)
{
	const struct ky_keeper_setup *setup = delivery->setup;
	const char *paths[] = {delivery->capture};
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.overwrite = setup->overwrite,
		.compat = {setup->compat, setup->compat ? strlen(setup->compat) : 0},
	};
	int32_t status =
		kymo_timeline_export(paths, 1, setup->output, &options, summary, error);

	if (!status)
		unlink(delivery->capture);
	return status;
}

int32_t ky_delivery_open(struct ky_delivery *out, const struct ky_keeper_setup *setup,
			 struct ky_spool **spool, struct kymo_error *error)
{
	const struct ky_spool_session session = {
		.session = setup->session,
		.overflow = setup->overflow,
		.command_line = setup->command_line,
		.sources = kymo_text(setup->wanted),
	};
	int32_t status;

	*spool = NULL;
	out->setup = setup;
	status = ky_output_capture_path(setup->output, setup->recorder, out->capture,
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

	outcome->summary.struct_size = sizeof(outcome->summary);
	ky_report_make(delivery->capture, setup->wanted, setup->require, &outcome->report,
		       &missing);
	if (ky_output_is_capture(setup->output))
		status = deliver_capture(delivery, &outcome->summary, &outcome->error);
	else
		status = deliver_trace(delivery, &outcome->summary, &outcome->error);
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
