/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Projects the annotations of users on the queues of devices: on each queue from the
 * begin of the first to the end of the last activity that an annotation covers. It covers
 * what was launched while it was open,
 *
 *   - by a call that its own thread made, or
 *   - by a call that another thread made for it: a LINK, or a launch, leads to that call
 *     or to something around it in its thread, from something that the annotation's own
 *     thread began while it was open (from a forward pass to its backward pass), or
 *   - by any call that a LINK leads to from the annotation itself, at whatever time: its
 *     number was pushed there.
 *
 * What counts is when a call began; the device's times decide nothing. One step to
 * another thread is followed, not a chain of them.
 */
#ifndef KYMO_TIMELINE_PROJECT_H
#define KYMO_TIMELINE_PROJECT_H

#include "timeline/join.h"
#include "timeline/stream.h"

#define KY_PROJECT_OPEN_MAX 512u /* annotations open in a thread; more are left out */

struct ky_project; /* opaque */

/*
 *     create -> add_link* -> run -> destroy
 */
int32_t ky_project_create(struct ky_project **out, const struct ky_model *model,
			  struct kymo_error *error);
void ky_project_destroy(struct ky_project *project);

int32_t ky_project_add_link(struct ky_project *project, const struct ky_link *link,
			    struct kymo_error *error);

/*
 * Reads the stream and gives the projections, struct ky_item with KY_ROLE_PROJECTED, to a
 * new sorter, which is NULL where there are none.
 */
int32_t ky_project_run(struct ky_project *project, struct ky_stream *stream,
		       struct ky_sorter **out, struct kymo_error *error);

#endif
