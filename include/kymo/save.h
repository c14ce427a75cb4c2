/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Saving a stopped session in the background, while the program goes on (and, with
 * kymo_timeline_export_start(), exporting captures):
 *
 *     struct kymo_save *save = NULL;
 *
 *     status = kymo_save_start(session, "trace.json.gz", NULL, &save, &error);
 *     ...
 *     status = kymo_save_wait(save, -1, &summary, &error);
 *     kymo_save_destroy(save);
 *
 * One thread of the library ("kymo", every signal blocked) does it, in a bounded amount
 * of memory whatever was recorded. The session stays as it is: it may be saved again, and
 * several saves of it may go on at once. kymo_session_destroy() waits for them; one that
 * fails while it waits leaves the capture as a request does (request.h), and its reason
 * says where. A program that ends meanwhile leaves what it recorded beside the target, as
 * .NAME.kymo-PID, which `kymo export` reads.
 *
 * Any thread may call anything, but for destroy, after which the save is gone. In a
 * forked child the save is the parent's: there it has failed, and can only be destroyed.
 */
#ifndef KYMO_SAVE_H
#define KYMO_SAVE_H

#include <kymo/session.h>

KYMO_BEGIN_DECLS

struct kymo_save; /* opaque */

/*
 * Begins what kymo_session_save() does; what can be known to be wrong is refused at once.
 * The save is the caller's, to be destroyed.
 */
KYMO_API int32_t kymo_save_start(struct kymo_session *session, const char *path,
				 const struct kymo_sink_options *options,
				 struct kymo_save **out, struct kymo_error *error);

/*
 * KYMO_AGAIN while it goes on, then what it ended with, for ever the same: KYMO_OK,
 * KYMO_ERROR_CANCELLED, or why it failed. `percent` (may be NULL) never falls.
 */
KYMO_API int32_t kymo_save_poll(const struct kymo_save *save, uint32_t *percent);

/*
 * The same when it has ended, with its summary and the reason (each may be NULL);
 * KYMO_AGAIN if that takes longer. -1: for ever.
 */
KYMO_API int32_t kymo_save_wait(const struct kymo_save *save, int64_t timeout_ms,
				struct kymo_summary *summary, struct kymo_error *error);

/*
 * Asks for it to be given up, which is looked at with every batch that is read or
 * written; it leaves no file then. What is whole already stays, and ends with KYMO_OK.
 * KYMO_ERROR_STATE if it has ended.
 */
KYMO_API int32_t kymo_save_cancel(struct kymo_save *save, struct kymo_error *error);

/* Cancels it if it has not ended, and waits for that. NULL is allowed. */
KYMO_API void kymo_save_destroy(struct kymo_save *save);

KYMO_END_DECLS

#endif
