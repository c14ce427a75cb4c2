/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow side of leases. A writer belongs to a thread for as long as that lives, a slot
 * of counts for as long as a session lasts, a chunk until it is full. All three are taken
 * and given back under pool_lock.
 *
 * Writers lie in private memory that is reserved once and never given back, so a thread
 * that was stopped between two instructions for a whole session still finds its own: it
 * sees that its epoch is over and takes a new lease. When a thread ends, a pthread key's
 * destructor gives its chunk on to the next thread, which writes behind it under a LEASE
 * line of its own. A thread that is idle may lose its lease to others (revoke.c).
 *
 * Not handled: threads that end by a bare exit system call keep their lease to the end.
 */
#include "capture/lease.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/reserve.h"
#include "capture/pool.h"
#include "capture/writers.h"
#include "record/dictionary.h"

#define WRITERS_MAX      65536u    /* threads alive at one moment, over all sessions */
#define ANCHOR_PERIOD_NS 10000000u /* of host ticks, at chunk switches */
#define TRY_AGAIN        1024u     /* losses after which a full pool is looked at again */

__thread struct ky_writer *ky_writer_self __attribute__((tls_model("initial-exec")));

struct ky_writers ky_writers;

static pthread_key_t key; /* whose destructor gives writers back */
static uint32_t has_key;

static uint32_t epoch_of(const struct ky_writer *writer)
{
	return __atomic_load_n(&writer->epoch, __ATOMIC_RELAXED);
}

/* Whether it takes part in what is recorded now: then it has a slot. */
static int is_current(const struct ky_writer *writer)
{
	return epoch_of(writer) == ky_gate_epoch();
}

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---- Writers ---- */

static uint32_t intern_own_track(uint32_t tid)
{
	struct ky_track_entry track = {.native = tid, .kind = KYMO_TRACK_THREAD};
	char name[16] = "";
	uint32_t id = 0;

	prctl(PR_GET_NAME, name, 0, 0, 0);
	track.name = ky_dictionary_text(name);
	ky_dictionary_intern(KY_ENTRY_TRACK, &track, sizeof(track), &id);
	return id;
}

/* The writer's chunk goes back to the pool. */
static void give_chunk(struct ky_capture *capture, struct ky_writer *writer)
{
	if (writer->chunk) {
		/* A lease line and one record: less is not worth being given on. */
		ky_pool_give(capture, writer->chunk, writer->limit - writer->cursor >= 2);
		writer->slot->chunk = 0;
	}
	writer->chunk = 0;
	writer->cursor = writer->limit = NULL;
}

void ky_lease_give_all(struct ky_capture *capture, struct ky_writer *writer)
{
	give_chunk(capture, writer);
	ky_pool_give_slot(capture, writer->slot);
	writer->slot = NULL;
}

/* The epoch that leases of the capture have, also while it rests. pool_lock held. */
static uint32_t lease_epoch(const struct ky_gate_page *page)
{
	return page->epoch ? page->epoch : page->paused_epoch;
}

/* The destructor of the key: the thread ends. */
static void thread_ends(void *context)
{
	struct ky_gate_page *page = ky_gate();
	struct ky_writer *writer = context;

	ky_writer_self = KY_WRITER_MAKING;
	ky_lock(&page->pool_lock);
	if (writer->epoch == lease_epoch(page) && page->capture && writer->slot)
		ky_lease_give_all(page->capture, writer);
	__atomic_store_n(&writer->epoch, KY_EPOCH_NONE, __ATOMIC_RELAXED);
	writer->slot = NULL;
	writer->next_free = ky_writers.free;
	ky_writers.free = (uint32_t)(writer - ky_writers.all) + 1;
	ky_unlock(&page->pool_lock);
	ky_writer_self = NULL;
}

/* A writer for this thread, or NULL. pool_lock held. */
static struct ky_writer *take_writer(void)
{
	struct ky_writer *writer;

	if (!ky_writers.all)
		ky_writers.all = ky_reserve(WRITERS_MAX * sizeof(struct ky_writer), -1);
	if (!ky_writers.all)
		return NULL;
	if (!has_key)
		has_key = pthread_key_create(&key, thread_ends) == 0;
	if (ky_writers.free) {
		writer = &ky_writers.all[ky_writers.free - 1];
		ky_writers.free = writer->next_free;
	} else if (ky_writers.used < WRITERS_MAX) {
		writer = &ky_writers.all[ky_writers.used];
		__atomic_store_n(&ky_writers.used, ky_writers.used + 1, __ATOMIC_RELEASE);
	} else {
		return NULL;
	}
	/* A cut may be looking at these two, without the lock. */
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&writer->epoch, KY_EPOCH_NONE, __ATOMIC_RELAXED);
	writer->cursor = writer->limit = NULL;
	writer->slot = NULL;
	writer->chunk = 0;
	writer->regions.count = 0;
	for (uint32_t i = 0; i < KY_REGION_STACKS; i++)
		writer->regions.depth[i] = 0;
	return writer;
}

void ky_lease_forked(void)
{
	/* The list may have been torn in the middle of a change; used never is. */
	ky_writers.free = 0;
	if (ky_writer_self == KY_WRITER_MAKING)
		ky_writer_self = NULL;
}

/* The thread's writer, made if need be; NULL when there is none to be had. */
static struct ky_writer *own_writer(void)
{
	struct ky_gate_page *page = ky_gate();
	struct ky_writer *writer = ky_writer_self;

	if ((uintptr_t)writer > 1)
		return writer;
	ky_writer_self = KY_WRITER_MAKING; /* a handler on this thread stays out */
	ky_lock(&page->pool_lock);
	writer = take_writer();
	ky_unlock(&page->pool_lock);
	if (writer && has_key)
		pthread_setspecific(key, writer);
	ky_writer_self = writer;
	return writer;
}

struct ky_writer *ky_writer_of_thread(int is_made)
{
	struct ky_writer *writer = ky_writer_self;

	if (writer == KY_WRITER_MAKING)
		return NULL;
	return writer || !is_made ? writer : own_writer();
}

/* ---- Leases ---- */

static void write_lease_line(struct ky_capture *capture, struct ky_writer *writer)
{
	struct ky_chunk_header *header =
		ky_capture_chunk_header(capture, writer->chunk - 1);
	struct kymo_record_lease *line = (void *)writer->cursor;
	const uint64_t sequence = capture->header->lease_sequence + 1;

	/* Whoever copies the header reads it without the lock. */
	__atomic_store_n(&capture->header->lease_sequence, sequence, __ATOMIC_RELAXED);
	if (header->sequence == 0) {
		header->writer = (uint32_t)(writer->slot - capture->slots);
		capture->order[writer->chunk - 1] = sequence;
		/* Whoever reads it finds the head of this lease, or none yet. */
		__atomic_store_n(&header->sequence, sequence, __ATOMIC_RELEASE);
	}
	*line = (struct kymo_record_lease){
		.kind = KYMO_KIND_LEASE,
		.lines = 1,
		.track = writer->track,
		.writer = (uint32_t)(writer->slot - capture->slots),
		.tid = writer->tid,
		.begin = ky_ticks_of(capture->header->ticks),
		.sequence = sequence,
	};
	writer->cursor++;
	__atomic_store_n(writer->head, (uint32_t)(writer->cursor - writer->first),
			 __ATOMIC_RELEASE);
}

/* Gives the full chunk away and leases one with room for `lines`. pool_lock held. */
static int lease_chunk(struct ky_capture *capture, struct ky_writer *writer,
		       uint32_t lines)
{
	struct ky_chunk_header *header;
	uint64_t now = ky_monotonic_ns();

	give_chunk(capture, writer);
	writer->chunk = ky_pool_take(capture, lines + 1);
	if (!writer->chunk && ky_lease_revoke_idle(capture, now) > 0)
		writer->chunk = ky_pool_take(capture, lines + 1);
	if (!writer->chunk) {
		ky_pool_note_empty(capture);
		return 0;
	}
	header = ky_capture_chunk_header(capture, writer->chunk - 1);
	writer->first = (struct kymo_record *)(void *)header + 1;
	writer->head = &header->head;
	writer->cursor = writer->first + header->head;
	writer->limit = writer->first + KY_CHUNK_LINES;
	writer->slot->chunk = writer->chunk;
	write_lease_line(capture, writer);
	if (now - capture->anchor_ns > ANCHOR_PERIOD_NS) {
		capture->anchor_ns = now;
		ky_capture_host_anchor(capture);
	}
	return 1;
}

/* Takes part in the session of the gate: slot and track. pool_lock held. */
static int join_session(struct ky_capture *capture, struct ky_writer *writer,
			uint32_t epoch, uint32_t track)
{
	writer->slot = ky_pool_take_slot(capture);
	if (!writer->slot)
		return 0;
	writer->chunk = 0;
	writer->cursor = writer->limit = NULL;
	writer->track = track;
	writer->slot->tid = writer->tid;
	writer->slot->track = track;
	__atomic_store_n(&writer->epoch, epoch, __ATOMIC_RELAXED);
	return 1;
}

/*
 * Makes the writer hold a lease of `epoch` with room for `lines`. KYMO_AGAIN: another
 * epoch has begun; KYMO_ERROR_STATE: nothing is recorded; KYMO_ERROR_NO_MEMORY: the loss
 * has been counted.
 */
static int32_t renew_in(struct ky_writer *writer, uint32_t lines, uint32_t epoch,
			uint32_t track)
{
	struct ky_gate_page *page = ky_gate();
	int32_t status = KYMO_OK;
	struct ky_capture *capture;

	ky_lock(&page->pool_lock);
	capture = page->capture;
	if (!capture || page->epoch == 0) {
		status = KYMO_ERROR_STATE;
	} else if (page->epoch != epoch) {
		status = KYMO_AGAIN;
	} else if (writer->epoch != epoch &&
		   !join_session(capture, writer, epoch, track)) {
		count(&capture->header->lost_full_unowned);
		status = KYMO_ERROR_NO_MEMORY;
	} else if ((size_t)(writer->limit - writer->cursor) < lines &&
		   !lease_chunk(capture, writer, lines)) {
		writer->slot->accepted++;
		writer->slot->lost_full++;
		status = KYMO_ERROR_NO_MEMORY;
	}
	ky_unlock(&page->pool_lock);
	return status;
}

/* The same for whatever is recorded now, so never KYMO_AGAIN; the writer is busy. */
static int32_t renew(struct ky_writer *writer, uint32_t lines)
{
	int32_t status;

	do {
		uint32_t epoch = ky_gate_epoch(), track = 0;

		if (epoch == 0)
			return KYMO_ERROR_STATE;
		if (epoch_of(writer) != epoch) {
			/* We are a handler, and the thread is in there itself. */
			if (ky_dictionary_is_entered()) {
				ky_writer_nested();
				return KYMO_ERROR_NO_MEMORY;
			}
			/* Again: in a forked child it is another one. */
			writer->tid = (uint32_t)syscall(SYS_gettid);
			/* Outside the lock: the dictionary has its own. */
			track = intern_own_track(writer->tid);
		}
		status = renew_in(writer, lines, epoch, track);
	} while (status == KYMO_AGAIN);
	return status;
}

static void say_off(int *is_off)
{
	if (is_off)
		*is_off = 1;
}

struct kymo_record *ky_writer_refill(struct ky_writer *writer, uint32_t lines,
				     int *is_off)
{
	struct ky_capture *capture;
	int kept = errno;
	int32_t status;

	if (ky_gate_word() == KYMO_GATE_UNDECIDED)
		ky_gate_decide();
	/* A full capture must stay cheap. Only the thread's own session is looked at. */
	capture = ky_gate_capture();
	if (capture && is_current(writer) && ky_pool_is_empty(capture) &&
	    writer->slot->lost_full % TRY_AGAIN != 0) {
		writer->slot->accepted++;
		writer->slot->lost_full++;
		goto none;
	}
	status = renew(writer, lines);
	if (status == KYMO_ERROR_STATE)
		say_off(is_off);
	if (status != KYMO_OK)
		goto none;
	errno = kept;
	return writer->cursor;
none:
	ky_writer_leave(writer);
	errno = kept;
	return NULL;
}

void ky_writer_nested(void)
{
	struct ky_writer *writer = ky_writer_self;
	struct ky_capture *capture = ky_gate_capture();

	/* Inside, so that its slot stays its own. */
	if ((uintptr_t)writer > 1 && __atomic_load_n(&writer->busy, __ATOMIC_RELAXED) &&
	    is_current(writer))
		count(&writer->slot->lost_nested);
	else if (capture)
		count(&capture->header->lost_nested_unowned);
}

struct kymo_record *ky_writer_without(uint32_t lines, int *is_off)
{
	struct ky_writer *writer = ky_writer_self;
	struct ky_capture *capture;
	int kept = errno;

	if ((uintptr_t)writer > 1 && __atomic_load_n(&writer->busy, __ATOMIC_RELAXED) &&
	    ky_gate_capture()) {
		/* Inside already: we are a handler, or called by what filling a lease
		 * calls. */
		ky_writer_nested();
		return NULL;
	}
	if (writer == KY_WRITER_MAKING) {
		ky_writer_nested();
		return NULL;
	}
	if (ky_gate_word() == KYMO_GATE_UNDECIDED)
		ky_gate_decide();
	if (ky_gate_epoch() == 0) {
		say_off(is_off);
		return NULL;
	}
	writer = own_writer();
	errno = kept;
	if (writer)
		return ky_writer_begin_or(lines, is_off);
	capture = ky_gate_capture();
	if (capture)
		count(&capture->header->lost_full_unowned);
	return NULL;
}

/* ---- Counts ---- */

static int count_filtered(void)
{
	struct ky_writer *writer = ky_writer_self;
	struct ky_capture *capture = ky_gate_capture();
	uint32_t was_busy;
	int is_counted = 1;

	if ((uintptr_t)writer <= 1) {
		if (capture)
			count(&capture->header->filtered_unowned);
		return capture != NULL;
	}
	/* Inside, or the slot might be given on meanwhile. */
	was_busy = __atomic_load_n(&writer->busy, __ATOMIC_RELAXED);
	__atomic_store_n(&writer->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (is_current(writer))
		writer->slot->filtered++;
	else if (capture)
		count(&capture->header->filtered_unowned);
	else
		is_counted = 0;
	if (!was_busy)
		ky_writer_leave(writer);
	return is_counted;
}

int ky_writer_filtered(uint32_t source)
{
	struct ky_source_counts *counts = ky_gate_counts(source);

	if (!count_filtered())
		return 0;
	if (counts)
		count(&counts->lost[KY_LOST_FILTERED]);
	return 1;
}

void ky_writer_too_big(void)
{
	struct ky_writer_slot *slot;

	/* A line of nothing makes sure that there is a slot. */
	if (!ky_writer_begin(1))
		return;
	slot = ky_writer_self->slot;
	slot->accepted++;
	slot->lost_too_big++;
	ky_writer_leave(ky_writer_self);
}

uint32_t ky_thread_track(void)
{
	struct ky_writer *writer = ky_writer_self;

	if ((uintptr_t)writer > 1 && is_current(writer))
		return writer->track;
	return intern_own_track((uint32_t)syscall(SYS_gettid));
}
