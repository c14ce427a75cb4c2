/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From captures to a trace: what `kymo export` and `kymo info` do.
 */
#ifndef KYMO_TIMELINE_H
#define KYMO_TIMELINE_H

#include <kymo/save.h>
#include <kymo/session.h>
#include <kymo/sink.h>

KYMO_BEGIN_DECLS

/*
 * Puts the captures of the given .kymo files on one timeline and writes it to `path`
 * through the sink that its suffix names. summary may be NULL. Not for signal handlers;
 * several exports may run in several threads.
 */
KYMO_API int32_t kymo_timeline_export(const char *const *captures, size_t count,
				      const char *path,
				      const struct kymo_sink_options *options,
				      struct kymo_summary *summary,
				      struct kymo_error *error);

/* One of the outputs of an export. Set struct_size and path, zero the rest. */
struct kymo_output {
	uint32_t struct_size;
	int32_t status;          /* filled: KYMO_OK: it is whole and in place */
	const char *path;        /* as for kymo_timeline_export */
	uint64_t bytes;          /* filled: of the file */
	struct kymo_error error; /* filled: why it is not */

	/* End of ABI 1.0 */
};

/*
 * The same to several outputs in one go; `outputs` ends with NULL. Each has a fate of its
 * own: one that fails is removed, the others are completed. KYMO_OK if all are; else what
 * the first failed with, and its path. The summary has the bytes of all that were
 * written.
 */
KYMO_API int32_t kymo_timeline_export_all(const char *const *captures, size_t count,
					  struct kymo_output *const *outputs,
					  const struct kymo_sink_options *options,
					  struct kymo_summary *summary,
					  struct kymo_error *error);

/*
 * The same in the background: see save.h. Captures, outputs and the text of options have
 * to stay until it has ended; what it fills in of outputs is whole then.
 */
KYMO_API int32_t kymo_timeline_export_start(const char *const *captures, size_t count,
					    struct kymo_output *const *outputs,
					    const struct kymo_sink_options *options,
					    struct kymo_save **out,
					    struct kymo_error *error);

/*
 * The same into operations of the caller's own, in this thread: `sink` is handed to each
 * as it is; open and close are not called.
 */
KYMO_API int32_t kymo_timeline_export_to(const char *const *captures, size_t count,
					 const struct kymo_sink_ops *ops, void *sink,
					 struct kymo_sink_result *result,
					 struct kymo_error *error);

KYMO_END_DECLS

#endif
