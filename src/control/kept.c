/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/kept.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "control/command.h"
#include "control/process.h"

#define WARM_AHEAD     ((4u << 20) / KY_CHUNK_SIZE)
#define WARM_AHEAD_MIN 2u
#define WARM_IN_ALL    (16 * WARM_AHEAD)

int ky_kept_is_opened(const struct ky_kept *kept)
{
	return __atomic_load_n(&kept->capture.header->state, __ATOMIC_ACQUIRE) !=
	       KY_CAPTURE_NEW;
}

uint32_t ky_kept_end_reason(const struct ky_kept *kept)
{
	if (kept->pidfd >= 0 && ky_pidfd_ended(kept->pidfd))
		return KY_END_EXITED;
	return __atomic_load_n(&kept->capture.header->state, __ATOMIC_ACQUIRE) ==
			       KY_CAPTURE_STOPPED
		       ? KY_END_STOPPED
		       : KY_END_CUT;
}

struct ky_kept *ky_kept_find(const struct ky_kept_list *list, uint64_t number)
{
	struct ky_kept *kept = list->first;

	while (kept && kept->number != number)
		kept = kept->next;
	return kept;
}

struct ky_kept *ky_kept_find_spare(const struct ky_kept_list *list)
{
	struct ky_kept *kept = list->first;

	while (kept && (kept->pidfd >= 0 || ky_kept_is_opened(kept)))
		kept = kept->next;
	return kept;
}

int ky_kept_has_process(const struct ky_kept_list *list)
{
	for (const struct ky_kept *kept = list->first; kept; kept = kept->next)
		if (kept->pidfd >= 0)
			return 1;
	return 0;
}

/*
 * Whether its process has attached again: by exec, and then nobody is there to obey, or
 * with another copy of the library, which is asked instead.
 */
static int is_left(const struct ky_kept_list *list, const struct ky_kept *kept)
{
	const struct ky_capture_header *header = kept->capture.header, *other;

	for (const struct ky_kept *at = list->first; at; at = at->next) {
		other = at->capture.header;
		if (at->number > kept->number && other->pid == header->pid &&
		    other->start_time == header->start_time &&
		    other->pid_namespace == header->pid_namespace)
			return 1;
	}
	return 0;
}

void ky_kept_command(struct ky_kept_list *list, uint32_t command)
{
	for (struct ky_kept *kept = list->first; kept; kept = kept->next) {
		ky_command_give(&kept->capture, command);
		kept->is_commanded = 1;
	}
}

int ky_kept_is_to_obey(const struct ky_kept_list *list, const struct ky_kept *kept)
{
	return kept->is_commanded && !kept->has_left && kept->pidfd >= 0 &&
	       ky_kept_is_opened(kept) && !ky_command_is_done(&kept->capture) &&
	       !is_left(list, kept);
}

uint32_t ky_kept_count_to_obey(const struct ky_kept_list *list)
{
	uint32_t count = 0;

	for (const struct ky_kept *kept = list->first; kept; kept = kept->next)
		count += ky_kept_is_to_obey(list, kept) != 0;
	return count;
}

void ky_kept_find_left(struct ky_kept_list *list)
{
	for (struct ky_kept *kept = list->first; kept; kept = kept->next)
		if (ky_kept_is_to_obey(list, kept))
			kept->has_left =
				ky_pidfd_has_memory(kept->pidfd, kept->inode) == 0;
}

uint32_t ky_kept_warm(const struct ky_kept_list *list, struct ky_kept *kept)
{
	uint32_t ahead = WARM_IN_ALL / (list->count ? list->count : 1);

	if (ahead < WARM_AHEAD_MIN)
		ahead = WARM_AHEAD_MIN;
	return ky_capture_warm(&kept->capture, ahead < WARM_AHEAD ? ahead : WARM_AHEAD);
}

int32_t ky_kept_begin(struct ky_kept *kept, struct ky_spool *spool,
		      struct kymo_error *error)
{
	if (kept->spooled)
		return KYMO_OK;
	return ky_spool_add(spool, &kept->capture, kept->number, &kept->spooled, error);
}

void ky_kept_remove(struct ky_kept_list *list, struct ky_kept *kept)
{
	struct ky_kept **link = &list->first;

	while (*link != kept)
		link = &(*link)->next;
	*link = kept->next;
	list->count--;
	if (kept->pidfd >= 0)
		close(kept->pidfd);
	ky_capture_unmap(&kept->capture);
	free(kept);
}

int32_t ky_kept_add(struct ky_kept_list *list, uint64_t number, int fd,
		    const struct ky_capture_setup *setup, struct ky_kept **out,
		    struct kymo_error *error)
{
	struct ky_kept *kept = calloc(1, sizeof(*kept));
	struct ky_capture_setup numbered = *setup;
	struct stat found = {0};
	int32_t status;

	numbered.capture = number;
	if (kept)
		status = ky_capture_map_made(fd, &numbered, &kept->capture, error);
	else
		status = ky_error_no_memory(error);
	fstat(fd, &found);
	close(fd);
	if (!kept || status) {
		free(kept);
		return ky_error_wrap(error, "cannot keep a capture");
	}
	kept->number = number;
	kept->inode = found.st_ino;
	kept->pidfd = -1;
	kept->next = list->first;
	list->first = kept;
	list->count++;
	*out = kept;
	return KYMO_OK;
}
