/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "decode.h"
#include "place.h"

#define BUFFER_SIZE   ((size_t)1 << 20)
#define BUFFERS_LEAST 2u

static pthread_mutex_t decode_lock = PTHREAD_MUTEX_INITIALIZER; /* all of decode.h */

static atomic_uint out_count; /* buffers that CUPTI has */
static atomic_uint out_limit;
static atomic_uint has_told_full;
static uint64_t earliest;     /* time that can be true */
static uint32_t told_unknown; /* kinds that were told of, by bit; decode_lock */

static void log_text(uint32_t severity, const char *text)
{
	ky_source.host->log(ky_source.self, severity, kymo_text(text));
}

void ky_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	const int kept = errno;

	*buffer = NULL;
	*size = 0;
	*max_records = 0;
	if (!atomic_load(&ky_source.is_attached))
		goto out;
	if (atomic_fetch_add(&out_count, 1) < atomic_load(&out_limit))
		*buffer = ky_source.host->buffer_take(ky_source.self, BUFFER_SIZE);
	if (*buffer) {
		*size = BUFFER_SIZE;
		goto out;
	}
	atomic_fetch_sub(&out_count, 1);
	if (!atomic_exchange(&has_told_full, 1))
		log_text(KYMO_SEVERITY_WARNING,
			 "CUPTI has all of its buffers and dropped records: see what is "
			 "counted as lost");
out:
	errno = kept;
}

void ky_buffer_count_dropped(void)
{
	size_t dropped = 0;

	if (ky_source.library.ActivityGetNumDroppedRecords(NULL, 0, &dropped) ==
		    CUPTI_RC_SUCCESS &&
	    dropped > 0)
		ky_source.host->lost(ky_source.self, KYMO_LOST_VENDOR, dropped);
}

/* decode_lock held. */
static void tell_of_unknown(uint32_t kind)
{
	char text[96];

	if (told_unknown & 1u << (kind & 31))
		return;
	told_unknown |= 1u << (kind & 31);
	snprintf(text, sizeof(text),
		 "records of CUPTI's kind %u are not known and skipped", kind);
	log_text(KYMO_SEVERITY_WARNING, text);
}

static void decode(uint8_t *buffer, size_t valid)
{
	const struct ky_decoded result =
		ky_decode_buffer(buffer, valid, earliest, ky_clock_now());

	if (result.unknown)
		tell_of_unknown(result.unknown);
	if (!result.is_broken)
		return;
	ky_source.host->lost(ky_source.self, KYMO_LOST_VENDOR_AT_LEAST, 1);
	log_text(KYMO_SEVERITY_WARNING,
		 "CUPTI handed over a buffer that ends in what is no record");
}

/* What comes under another session's number, or is none of ours, is not believed. */
void ky_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid)
{
	const int kept = errno;
	uint32_t epoch = 0, late = 0;

	(void)context, (void)stream, (void)size;
	if (!buffer ||
	    ky_source.host->buffer_epoch(ky_source.self, buffer, &epoch) != KYMO_OK)
		goto out;
	if (valid > BUFFER_SIZE)
		valid = BUFFER_SIZE;
	pthread_mutex_lock(&decode_lock);
	if (valid > 0 && epoch == atomic_load(&ky_source.epoch))
		decode(buffer, valid);
	else if (valid > 0)
		late = ky_decode_count(buffer, valid);
	pthread_mutex_unlock(&decode_lock);
	ky_source.host->buffer_give(ky_source.self, buffer);
	atomic_fetch_sub(&out_count, 1);
	if (late > 0)
		ky_source.host->lost(ky_source.self, KYMO_LOST_LATE, late);
	ky_buffer_count_dropped();
	ky_clock_anchor();
out:
	errno = kept;
}

void ky_buffer_begin(uint64_t memory_limit, int threads_are_system, uint64_t clock_now)
{
	uint64_t limit = memory_limit / BUFFER_SIZE;

	atomic_store(&out_limit, limit > BUFFERS_LEAST ? (unsigned)limit : BUFFERS_LEAST);
	atomic_store(&has_told_full, 0);
	pthread_mutex_lock(&decode_lock);
	earliest = clock_now > KY_SLACK_NS ? clock_now - KY_SLACK_NS : 0;
	told_unknown = 0;
	ky_decode_begin(ky_source.library.version, threads_are_system);
	pthread_mutex_unlock(&decode_lock);
}

void ky_buffer_settle(uint64_t age_ns)
{
	const uint64_t now = ky_clock_now();

	pthread_mutex_lock(&decode_lock);
	ky_decode_settle(now > age_ns ? now - age_ns : 0);
	pthread_mutex_unlock(&decode_lock);
}

void ky_buffer_end(void)
{
	pthread_mutex_lock(&decode_lock);
	ky_decode_end();
	pthread_mutex_unlock(&decode_lock);
}

uint32_t ky_buffer_device(uint32_t id, int is_made_up)
{
	const struct ky_device *device = NULL;
	uint32_t number;

	pthread_mutex_lock(&decode_lock);
	if (is_made_up || ky_place_knows(id))
		device = ky_place_device(id);
	number = device ? device->number : 0;
	pthread_mutex_unlock(&decode_lock);
	return number;
}

/* Whoever held the lock does not exist here, and may have been anywhere. */
void ky_buffer_forked(void)
{
	pthread_mutex_init(&decode_lock, NULL);
	atomic_store(&out_count, 0);
	ky_call_forget();
	ky_event_forget();
	ky_kernel_forget();
	ky_copy_forget();
	ky_place_forget();
}
