/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace into several sinks, each with a fate of its own: one that fails is aborted
 * and told nothing more, the others go on. Only when none is left does the whole fail.
 *
 * Another thread may see that a sink's operation takes too long, and take the others from
 * the fan-out (ky_fanout_overtake). They are aborted when the operation has returned, if
 * it ever does, and the one goes on alone.
 */
#ifndef KYMO_SINK_FANOUT_H
#define KYMO_SINK_FANOUT_H

#include <kymo/sink.h>

struct ky_fanout_branch {
	const struct kymo_sink_ops *ops;
	void *sink;              /* opened; to be closed by whoever opened it */
	struct kymo_error error; /* status KYMO_OK: it is fine */
	struct kymo_sink_result result;
	uint32_t is_open; /* else nothing is there to be aborted and closed */
	uint32_t is_over; /* atomic: it has ended or failed, error and result are final */
};

struct ky_fanout {
	struct ky_fanout_branch *branches;
	size_t count;
	uint32_t calling; /* atomic: the branch whose operation is under way, + 1, or 0 */
	uint32_t calls;   /* atomic: changes with each */
};

/* begin, batch, end and abort; what they are handed as the sink is a struct ky_fanout. */
extern const struct kymo_sink_ops ky_fanout_ops;

/*
 * Around an operation of a branch that is not one of the four, which comes to `status`;
 * enter is false if the branch is not to be called any more.
 */
int ky_fanout_enter(struct ky_fanout *fanout, size_t index);
void ky_fanout_leave(struct ky_fanout *fanout, size_t index, int32_t status);

/* Those that are not over fail for the same reason; they are aborted already. */
void ky_fanout_fail(struct ky_fanout *fanout, int32_t status,
		    const struct kymo_error *reason);

/*
 * From another thread: takes all branches that are not over from it, but for the one
 * whose operation is under way as `calling` (read before). False: it has returned.
 */
int ky_fanout_overtake(struct ky_fanout *fanout, uint32_t calling);

/* From another thread: whether what became of the branch is final. */
int ky_fanout_is_over(const struct ky_fanout_branch *branch);

#endif
