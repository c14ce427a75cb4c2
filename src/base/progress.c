/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/progress.h"

#include "base/error.h"

void ky_progress_step(struct ky_progress *progress, uint32_t to, uint64_t total)
{
	if (!progress)
		return;
	progress->from = progress->to;
	progress->to = to;
	progress->done = 0;
	progress->total = total;
	__atomic_store_n(&progress->percent, progress->from, __ATOMIC_RELAXED);
}

int32_t ky_progress_add(struct ky_progress *progress, uint64_t pieces,
			struct kymo_error *error)
{
	uint64_t left, share = 0;

	if (!progress)
		return KYMO_OK;
	/* What was foreseen may have been too little. */
	left = progress->total - progress->done;
	progress->done += pieces < left ? pieces : left;
	if (progress->total > 0)
		share = (uint64_t)((double)(progress->to - progress->from) *
				   (double)progress->done / (double)progress->total);
	__atomic_store_n(&progress->percent, progress->from + (uint32_t)share,
			 __ATOMIC_RELAXED);
	if (__atomic_load_n(&progress->is_cancelled, __ATOMIC_RELAXED))
		return ky_error_set(error, KYMO_ERROR_CANCELLED, "it was cancelled");
	return KYMO_OK;
}

void ky_progress_finish(struct ky_progress *progress)
{
	if (progress)
		__atomic_store_n(&progress->percent, 100, __ATOMIC_RELAXED);
}

uint32_t ky_progress_percent(const struct ky_progress *progress)
{
	return __atomic_load_n(&progress->percent, __ATOMIC_RELAXED);
}

void ky_progress_cancel(struct ky_progress *progress)
{
	__atomic_store_n(&progress->is_cancelled, 1, __ATOMIC_RELAXED);
}
