/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace into several sinks, each with a fate of its own: one that fails is aborted
 * and told nothing more, the others go on. Only when none is left does the whole fail.
 */
#ifndef KYMO_SINK_FANOUT_H
#define KYMO_SINK_FANOUT_H

#include <kymo/sink.h>

struct ky_fanout_branch {
	const struct kymo_sink_ops *ops;
	void *sink;              /* opened; to be closed by whoever opened it */
	struct kymo_error error; /* status KYMO_OK: it is fine */
	struct kymo_sink_result result;
};

struct ky_fanout {
	struct ky_fanout_branch *branches;
	size_t count;
};

/* begin, batch, end and abort; what they are handed as the sink is a struct ky_fanout. */
extern const struct kymo_sink_ops ky_fanout_ops;

#endif
