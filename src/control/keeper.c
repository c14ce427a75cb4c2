/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread, one loop: what the front hands over, pidfds of processes, and a tick in
 * which chunks are warmed and, where that is the policy, streamed to the file. The tick
 * is short while programs use chunks up and long while they do not; while there is
 * something to stream there is none.
 *
 * A capture is written to the file when its process has ended and is given up then: the
 * memory held is that of the processes that live. What is left at FINISH is written as it
 * is then. A failure to write is kept until the end and told there; what could not be
 * written is lost, what was written before is in the file.
 */
#include "control/keeper.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "capture/spool.h"
#include "control/channel.h"
#include "control/delivery.h"
#include "control/kept.h"
#include "control/left.h"
#include "control/loop.h"
#include "control/protocol.h"
#include "control/stream.h"

#define TICK_MIN_MS   1
#define TICK_MAX_MS   50
#define STREAM_MAX_MS 10          /* in which a thread could not fill a capture */
#define PERIOD_NS     1000000000u /* of anchors, and of snapshots where it streams */

struct keeper {
	const struct ky_keeper_setup *setup;
	struct ky_loop loop;
	struct ky_watch front_watch;
	int is_ready, is_orphan, must_finish, must_look, is_abandoned;
	struct ky_spool *spool;
	struct ky_stream stream; /* of use where that is the policy */
	struct ky_kept_list captures;
	int tick_ms;
	uint64_t period_ns; /* when the last one began */
	uint64_t obey_ns;   /* until when a command should be done; 0: there is none */
	uint64_t command;   /* number of the last one */
	struct ky_delivery delivery;
	struct kymo_error failure; /* the first one; status KYMO_OK: none */
};

static void tell(struct keeper *keeper, const struct ky_told *told)
{
	/* ENDED comes often, and its rest says nothing. */
	size_t size = told->kind == KY_TOLD_ENDED || told->kind == KY_TOLD_OBEYED
			      ? KY_TOLD_SHORT_SIZE
			      : sizeof(*told);

	/* A front that is gone is noticed where it is read from. */
	if (!keeper->is_orphan)
		ky_packet_send(KY_KEEPER_FRONT_FD, told, size, -1);
}

static void note_failure(struct keeper *keeper, const struct kymo_error *error)
{
	if (!keeper->failure.status)
		keeper->failure = *error;
}

/* ---- Captures ---- */

static void give_up(struct keeper *keeper, struct ky_kept *kept)
{
	keeper->stream.held -= kept->capture.size;
	if (kept->pidfd >= 0)
		ky_loop_remove(&keeper->loop, kept->pidfd);
	ky_kept_remove(&keeper->captures, kept);
}

static void tell_ended(struct keeper *keeper, uint64_t number)
{
	const struct ky_told told = {.kind = KY_TOLD_ENDED, .number = number};

	tell(keeper, &told);
}

/* Writes all of it that can be written; the capture is given up. */
static void end_capture(struct keeper *keeper, struct ky_kept *kept, uint32_t reason)
{
	uint64_t number = kept->number;
	struct kymo_error error = {0};
	int32_t status;

	if (ky_kept_is_opened(kept)) {
		ky_capture_host_anchor(&kept->capture);
		status = ky_kept_begin(kept, keeper->spool, &error);
		if (!status)
			status = ky_spool_finish(kept->spooled, reason, &error);
		if (status)
			note_failure(keeper, &error);
	}
	give_up(keeper, kept);
	tell_ended(keeper, number);
}

/* What fails here is tried again, and told of, in the end. */
static void keep_anchors(struct keeper *keeper, struct ky_kept *kept)
{
	ky_capture_host_anchor(&kept->capture);
	if (ky_kept_begin(kept, keeper->spool, NULL) == KYMO_OK)
		ky_spool_anchors(kept->spooled, NULL);
}

/* Takes chunks out of a capture whose process lives; how many. */
static uint32_t stream(struct keeper *keeper, struct ky_kept *kept, int is_period)
{
	struct kymo_error error = {0};
	uint32_t freed = 0;
	int32_t status;

	if (keeper->setup->overflow != KY_OVERFLOW_STREAM)
		return 0;
	if (!ky_stream_goes_on(&keeper->stream)) {
		ky_stream_mark(&keeper->stream, &kept->capture);
		return 0;
	}
	status = ky_kept_begin(kept, keeper->spool, &error);
	if (!status)
		status = ky_spool_drain(kept->spooled, &freed, &error);
	if (!status && is_period)
		status = ky_spool_snapshot(kept->spooled, &error);
	if (status) {
		note_failure(keeper, &error);
		ky_stream_stop(&keeper->stream, KY_STREAM_FAILED);
	}
	return freed;
}

static void take_memory(struct keeper *keeper, uint64_t number, int fd)
{
	struct ky_told told = {.kind = KY_TOLD_READY, .number = number};
	struct ky_kept *kept;

	if (ky_kept_add(&keeper->captures, number, fd, keeper->setup->captures, &kept,
			&told.outcome.error) == KYMO_OK) {
		keeper->stream.held += kept->capture.size;
		ky_kept_warm(&keeper->captures, kept);
	} else {
		note_failure(keeper, &told.outcome.error);
	}
	if (!keeper->is_ready)
		tell(keeper, &told);
	keeper->is_ready = 1;
}

static void process_ends(void *owner, struct ky_watch *watch)
{
	struct ky_kept *kept =
		(struct ky_kept *)(void *)((char *)watch -
					   offsetof(struct ky_kept, watch));

	end_capture(owner, kept, KY_END_EXITED);
}

static void take_process(struct keeper *keeper, uint64_t number, int fd)
{
	struct ky_kept *kept = ky_kept_find(&keeper->captures, number);
	struct kymo_error error;
	int failed;

	if (!kept || kept->pidfd >= 0) {
		close(fd);
		return;
	}
	kept->pidfd = fd;
	kept->watch = (struct ky_watch){.ready = process_ends, .owner = keeper};
	ky_capture_host_anchor(&kept->capture);
	failed = ky_loop_add(&keeper->loop, fd, EPOLLIN, &kept->watch);
	if (failed) {
		ky_error_set_errno(&error, failed, "cannot watch a process");
		note_failure(keeper, &error);
	}
}

static void release(struct keeper *keeper, uint64_t number, uint32_t flags)
{
	struct ky_kept *kept = ky_kept_find(&keeper->captures, number);

	if (!kept || (flags & KY_RELEASE_IF_UNUSED && ky_kept_is_opened(kept)))
		return;
	give_up(keeper, kept);
	tell_ended(keeper, number);
}

/* ---- Commands ---- */

static void command(struct keeper *keeper, uint64_t number, uint32_t command)
{
	keeper->obey_ns = ky_monotonic_ns() + KY_PROTOCOL_WAIT_NS;
	keeper->command = number;
	ky_kept_command(&keeper->captures, command);
}

/* Tells when all processes have obeyed, or time is up. */
static void look_who_obeys(struct keeper *keeper)
{
	struct ky_told told = {.kind = KY_TOLD_OBEYED, .number = keeper->command};

	if (keeper->obey_ns == 0)
		return;
	told.not_count = ky_kept_count_to_obey(&keeper->captures);
	if (told.not_count > 0 && ky_monotonic_ns() < keeper->obey_ns) {
		keeper->tick_ms = TICK_MIN_MS;
		return;
	}
	if (told.not_count > 0) {
		ky_kept_find_left(&keeper->captures);
		told.not_count = ky_kept_count_to_obey(&keeper->captures);
	}
	keeper->obey_ns = 0;
	tell(keeper, &told);
}

/* ---- The loop ---- */

static void obey(struct keeper *keeper, const struct ky_handover *handover, int fd)
{
	switch (handover->kind) {
	case KY_HANDOVER_MEMORY:
		if (fd >= 0)
			take_memory(keeper, handover->number, fd);
		return;
	case KY_HANDOVER_PROCESS:
		if (fd >= 0)
			take_process(keeper, handover->number, fd);
		return;
	case KY_HANDOVER_RELEASE:
		release(keeper, handover->number, handover->flags);
		return;
	case KY_HANDOVER_COMMAND:
		command(keeper, handover->number, handover->flags);
		return;
	case KY_HANDOVER_FINISH:
		keeper->must_finish = 1;
		keeper->must_look = handover->flags & KY_FINISH_LOOK_AROUND;
		return;
	case KY_HANDOVER_ABANDON:
		keeper->is_abandoned = 1;
		return;
	}
}

static void hear_front(void *owner, struct ky_watch *watch)
{
	struct keeper *keeper = owner;
	struct ky_handover handover;
	int fd;
	ssize_t size =
		ky_packet_receive(KY_KEEPER_FRONT_FD, &handover, sizeof(handover), &fd);

	(void)watch;
	if (size == (ssize_t)sizeof(handover)) {
		obey(keeper, &handover, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (size == 0 || (size < 0 && size != -EAGAIN)) {
		keeper->is_orphan = 1;
		ky_loop_remove(&keeper->loop, KY_KEEPER_FRONT_FD);
	}
}

static void set_tick(struct keeper *keeper, uint32_t warmed, uint32_t freed)
{
	const int is_streaming = keeper->setup->overflow == KY_OVERFLOW_STREAM;
	const int most_ms = is_streaming ? STREAM_MAX_MS : TICK_MAX_MS;
	const int next_ms = keeper->tick_ms * 2 + 1;

	if (freed > 0)
		keeper->tick_ms = 0;
	else if (warmed > 0)
		keeper->tick_ms = TICK_MIN_MS;
	else
		keeper->tick_ms = next_ms < most_ms ? next_ms : most_ms;
}

static void look_after_all(struct keeper *keeper)
{
	uint64_t now = ky_monotonic_ns();
	uint32_t warmed = 0, freed = 0;
	int is_period = now - keeper->period_ns >= PERIOD_NS;

	for (struct ky_kept *kept = keeper->captures.first; kept; kept = kept->next) {
		warmed += ky_kept_warm(&keeper->captures, kept);
		if (kept->pidfd < 0 || !ky_kept_is_opened(kept))
			continue;
		if (is_period)
			keep_anchors(keeper, kept);
		freed += stream(keeper, kept, is_period);
	}
	if (is_period)
		keeper->period_ns = now;
	set_tick(keeper, warmed, freed);
	look_who_obeys(keeper);
}

static int is_over(const struct keeper *keeper)
{
	return keeper->must_finish || keeper->is_abandoned ||
	       (keeper->is_orphan && !ky_kept_has_process(&keeper->captures));
}

/* For whoever goes on, though all have ended that the front knows. */
static void look_around(struct keeper *keeper, struct ky_outcome *outcome)
{
	struct ky_kept *spare = ky_kept_find_spare(&keeper->captures);

	if (keeper->must_look && !keeper->is_abandoned)
		ky_left_tell(keeper->setup->socket, spare ? &spare->capture : NULL,
			     outcome->left, sizeof(outcome->left));
}

static void keep(struct keeper *keeper, struct ky_outcome *outcome)
{
	while (!is_over(keeper)) {
		ky_loop_step(&keeper->loop, keeper->tick_ms);
		look_after_all(keeper);
	}
	look_around(keeper, outcome);
	while (keeper->captures.first && !keeper->is_abandoned)
		end_capture(keeper, keeper->captures.first,
			    ky_kept_end_reason(keeper->captures.first));
}

/* ---- Birth and end ---- */

/* What the front would have removed. */
static void clean_up_for_front(const struct ky_keeper_setup *setup)
{
	unlink(setup->socket);
	rmdir(setup->folder);
}

static int32_t open_all(struct keeper *keeper, struct kymo_error *error)
{
	const struct ky_keeper_setup *setup = keeper->setup;
	int32_t status =
		ky_delivery_open(&keeper->delivery, setup, &keeper->spool, error);
	int number;

	if (status)
		return status;
	ky_stream_open(&keeper->stream, keeper->spool, setup->file_limit);
	if (setup->generation == 1 && setup->overflow == KYMO_OVERFLOW_STREAM)
		status = ky_stream_check_room(&keeper->stream, setup->captures->budget,
					      error);
	if (!status)
		status = ky_loop_open(&keeper->loop, error);
	if (status)
		goto fail;
	keeper->front_watch = (struct ky_watch){.ready = hear_front, .owner = keeper};
	number = ky_loop_add(&keeper->loop, KY_KEEPER_FRONT_FD, EPOLLIN,
			     &keeper->front_watch);
	if (!number)
		return KYMO_OK;
	status = ky_error_set_errno(error, number, "cannot watch the recorder");
fail:
	/* Only now is there a file that is ours alone. */
	if (setup->generation == 1)
		ky_delivery_abandon(&keeper->delivery);
	return status;
}

void ky_keeper_run(const struct ky_keeper_setup *setup)
{
	struct keeper keeper = {
		.setup = setup,
		.loop = {.epoll_fd = -1},
		.tick_ms = TICK_MIN_MS,
	};
	struct ky_told told = {.kind = KY_TOLD_OUTCOME};
	int32_t status = open_all(&keeper, &told.outcome.error);

	if (!status) {
		keep(&keeper, &told.outcome);
		if (!keeper.is_abandoned)
			status = ky_spool_put_back(keeper.spool, keeper.delivery.capture,
						   &told.outcome.error);
		ky_spool_close(keeper.spool);
		if (keeper.is_abandoned)
			ky_delivery_abandon(&keeper.delivery);
		else if (!status)
			ky_delivery_finish(&keeper.delivery, &keeper.failure,
					   &told.outcome);
	}
	if (keeper.is_orphan)
		clean_up_for_front(setup);
	tell(&keeper, &told);
}
