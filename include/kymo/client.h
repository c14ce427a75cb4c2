/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The framework's own profiler, as a client of sessions: it is told when to collect what
 * only it can (operators, shapes, stacks, allocations), and hands it in as marks or
 * through a source.
 *
 * For each session, whoever began it, the calls are prepare, start, stop, each once and
 * in this order; one that is prepared and never started has no start and no stop, and one
 * whose prepare is refused has no call at all. All come from the thread that changes the
 * session, one at a time, and may record marks but must not call kymo_session_* or
 * kymo_request_*, which would wait for themselves. What a recorder records from outside
 * is no session of the program's: nothing is called then, and marks are what there is
 * (kymo_mark_is_off).
 */
#ifndef KYMO_CLIENT_H
#define KYMO_CLIENT_H

#include <kymo/base.h>

KYMO_BEGIN_DECLS

/* What a session wants collected: struct kymo_session_options, `client_flags`. */
#define KYMO_CLIENT_INPUT_SHAPES ((uint64_t)1 << 0)
#define KYMO_CLIENT_MEMORY       ((uint64_t)1 << 1)
#define KYMO_CLIENT_STACK        ((uint64_t)1 << 2)
#define KYMO_CLIENT_FLOPS        ((uint64_t)1 << 3)
#define KYMO_CLIENT_MODULES      ((uint64_t)1 << 4)

/* Members may be NULL. `context` is what was given to kymo_client_register. */
struct kymo_client_ops {
	uint32_t struct_size;
	uint32_t reserved0;
	/* Once in the process, before anything else; in a forked child not again. */
	void (*init)(void *context);
	void (*prepare)(void *context, uint64_t flags);
	void (*start)(void *context);
	void (*stop)(void *context);
	/* For kymo_client_memory_snapshot, in this order. */
	int32_t (*start_memory)(void *context, struct kymo_error *error);
	int32_t (*export_memory)(void *context, const char *path,
				 struct kymo_error *error);
	void (*stop_memory)(void *context);
	/* End of ABI 1.0 */
};

/*
 * Registers the client of this process; `ops` must stay. There is one: a second is
 * refused with KYMO_ERROR_EXISTS, the same again is KYMO_OK.
 */
KYMO_API int32_t kymo_client_register(const struct kymo_client_ops *ops, void *context,
				      struct kymo_error *error);

/*
 * Has the client watch its memory for that long and write what it saw to `path`; returns
 * then. KYMO_ERROR_NOT_FOUND without a client, KYMO_ERROR_UNSUPPORTED if it cannot,
 * KYMO_ERROR_BUSY while another thread is at it.
 */
KYMO_API int32_t kymo_client_memory_snapshot(uint64_t duration_ms, const char *path,
					     struct kymo_error *error);

KYMO_END_DECLS

#endif
