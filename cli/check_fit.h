/* SPDX-License-Identifier: BSD-3-Clause */
/* What single readers want of a trace beyond what the format does. */
#ifndef KYMO_CLI_CHECK_FIT_H
#define KYMO_CLI_CHECK_FIT_H

#include "check_event.h"

/* Kernels, copies and fills; what the host did. Other events are neither. */
bool ky_event_is_device_work(const struct ky_event *event);
bool ky_event_is_of_host(const struct ky_event *event);

/* The text as it is read: one reader looks for a rank in it, whatever it belongs to. */
void ky_fit_scan(struct ky_check_fit *fit, const char *text, size_t size);

/* The rank that the file gives itself, which has just been read. */
void ky_fit_take_rank(struct ky_check_reading *reading);

/* An event that is whole. */
void ky_fit_take(struct ky_check_reading *reading);

/* The first event of a list that stands alone. */
void ky_fit_take_first(struct ky_check_reading *reading);

/* All has come. */
void ky_fit_finish(struct ky_check_reading *reading);

#endif
