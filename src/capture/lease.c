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
 * line of its own.
 *
 * Not handled: threads that end by a bare exit system call keep their lease to the end.
 */
#include "capture/lease.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "record/dictionary.h"

#define WRITERS_MAX      65536u    /* threads alive at one moment, over all sessions */
#define ANCHOR_PERIOD_NS 10000000u /* of host ticks, at chunk switches */
#define CUT_WAIT_NS      10000000u
#define CUT_STEP_NS      50000

__thread struct ky_writer *ky_writer_self __attribute__((tls_model("initial-exec")));

/* The writers of this process, and the key whose destructor gives them back. */
static struct {
	struct ky_writer *all;
	uint32_t used;
	uint32_t free; /* index + 1 of the first one given back */
	pthread_key_t key;
	uint32_t has_key;
} writers;

static struct ky_capture *current_capture(void)
{
	return __atomic_load_n(&ky_gate()->capture, __ATOMIC_ACQUIRE);
}

static uint32_t current_epoch(void)
{
	return __atomic_load_n(&ky_gate()->epoch, __ATOMIC_ACQUIRE);
}

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---- Chunks; all with pool_lock held ---- */

static uint32_t *state_of(struct ky_capture *capture, uint32_t index)
{
	return &capture->states[index];
}

static int take_chunk_in_state(struct ky_capture *capture, uint32_t index, uint32_t state)
{
	return __atomic_compare_exchange_n(state_of(capture, index), &state,
					   KY_CHUNK_LEASED, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static struct ky_chunk_header *chunk_header(struct ky_capture *capture, uint32_t index)
{
	return (struct ky_chunk_header *)(void *)ky_capture_chunk(capture, index);
}

/* A chunk given on with room for `lines`; index + 1, or 0. */
static uint32_t take_partial(struct ky_capture *capture, uint32_t lines)
{
	uint32_t left = capture->partial_count;

	for (uint32_t i = 0; left > 0 && i < capture->chunk_count; i++) {
		if (*state_of(capture, i) != KY_CHUNK_PARTIAL)
			continue;
		left--;
		if (KY_CHUNK_LINES - chunk_header(capture, i)->head < lines)
			continue;
		if (take_chunk_in_state(capture, i, KY_CHUNK_PARTIAL)) {
			capture->partial_count--;
			return i + 1;
		}
	}
	return 0;
}

/* The next chunk in that state, going round; index + 1, or 0. */
static uint32_t take_in_state(struct ky_capture *capture, uint32_t state)
{
	for (uint32_t n = 0; n < capture->chunk_count; n++) {
		uint32_t i = capture->next_chunk + n;

		if (i >= capture->chunk_count)
			i -= capture->chunk_count;
		if (__atomic_load_n(state_of(capture, i), __ATOMIC_RELAXED) == state &&
		    take_chunk_in_state(capture, i, state)) {
			capture->next_chunk = i + 1 == capture->chunk_count ? 0 : i + 1;
			return i + 1;
		}
	}
	return 0;
}

/* Prepares a fresh chunk's header and makes this process's page tables know it. */
static void begin_chunk(struct ky_capture *capture, uint32_t index)
{
	struct ky_chunk_header *header = chunk_header(capture, index);

#ifdef MADV_POPULATE_WRITE
	madvise(header, KY_CHUNK_SIZE,
		MADV_POPULATE_WRITE); /* no fault while recording */
#endif
	memset(header, 0, sizeof(*header));
	header->magic = KY_CHUNK_MAGIC;
	header->index = index;
}

/* Index + 1 of a chunk with room for `lines`, LEASED now; 0 and remembered if none. */
static uint32_t take_chunk(struct ky_capture *capture, uint32_t lines)
{
	uint64_t freed =
		__atomic_load_n(&capture->header->chunks_freed, __ATOMIC_ACQUIRE);
	uint32_t chunk;

	chunk = take_partial(capture, lines);
	if (chunk)
		return chunk;
	chunk = take_in_state(capture, KY_CHUNK_FREE);
	if (!chunk) {
		chunk = take_in_state(capture, KY_CHUNK_COLD);
		if (chunk)
			count(&capture->header->cold_chunks);
	}
	if (chunk)
		begin_chunk(capture, chunk - 1);
	else
		__atomic_store_n(&capture->empty_at, freed + 1, __ATOMIC_RELAXED);
	return chunk;
}

static void give_chunk(struct ky_capture *capture, struct ky_writer *writer)
{
	uint32_t state = KY_CHUNK_SEALED;

	if (!writer->chunk)
		return;
	/* A lease line and one record: less is not worth being given on. */
	if (writer->limit - writer->cursor >= 2) {
		state = KY_CHUNK_PARTIAL;
		capture->partial_count++;
	}
	__atomic_store_n(state_of(capture, writer->chunk - 1), state, __ATOMIC_RELEASE);
	writer->chunk = 0;
	writer->slot->chunk = 0;
	writer->cursor = writer->limit = NULL;
}

static int pool_is_empty(const struct ky_capture *capture)
{
	uint64_t empty_at = __atomic_load_n(&capture->empty_at, __ATOMIC_RELAXED);

	return empty_at != 0 &&
	       empty_at ==
		       __atomic_load_n(&capture->header->chunks_freed, __ATOMIC_RELAXED) +
			       1;
}

/* ---- Slots and tracks ---- */

/* A slot of counts for this session, or NULL. pool_lock held. */
static struct ky_writer_slot *take_slot(struct ky_capture *capture)
{
	struct ky_writer_slot *slot;
	uint32_t index = capture->free_slot;

	if (index) {
		slot = &capture->slots[index - 1];
		/* A slot given back holds the next free one in `chunk`. */
		capture->free_slot = slot->chunk;
	} else {
		index = capture->header->writer_count;
		if (index >= capture->writer_capacity)
			return NULL;
		slot = &capture->slots[index];
		__atomic_store_n(&capture->header->writer_count, index + 1,
				 __ATOMIC_RELEASE);
	}
	slot->chunk = 0;
	__atomic_store_n(&slot->state, 1, __ATOMIC_RELEASE);
	return slot;
}

static void give_slot(struct ky_capture *capture, struct ky_writer_slot *slot)
{
	slot->chunk = capture->free_slot;
	capture->free_slot = (uint32_t)(slot - capture->slots) + 1;
	__atomic_store_n(&slot->state, 0, __ATOMIC_RELEASE);
}

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

/* ---- Writers ---- */

static void give_lease(struct ky_writer *writer)
{
	struct ky_gate_page *page = ky_gate();

	if (writer->epoch != page->epoch || !page->capture || !writer->slot)
		return;
	give_chunk(page->capture, writer);
	give_slot(page->capture, writer->slot);
}

/* The destructor of the key: the thread ends. */
static void thread_ends(void *context)
{
	struct ky_gate_page *page = ky_gate();
	struct ky_writer *writer = context;

	ky_writer_self = KY_WRITER_MAKING;
	ky_lock(&page->pool_lock);
	give_lease(writer);
	writer->epoch = 0;
	writer->slot = NULL;
	writer->next_free = writers.free;
	writers.free = (uint32_t)(writer - writers.all) + 1;
	ky_unlock(&page->pool_lock);
	ky_writer_self = NULL;
}

/* A writer for this thread, or NULL. pool_lock held. */
static struct ky_writer *take_writer(void)
{
	struct ky_writer *writer;
	void *memory;

	if (!writers.all) {
		memory = mmap(NULL, WRITERS_MAX * sizeof(struct ky_writer),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		writers.all = memory;
	}
	if (!writers.has_key)
		writers.has_key = pthread_key_create(&writers.key, thread_ends) == 0;
	if (writers.free) {
		writer = &writers.all[writers.free - 1];
		writers.free = writer->next_free;
	} else if (writers.used < WRITERS_MAX) {
		writer = &writers.all[writers.used++];
	} else {
		return NULL;
	}
	memset(writer, 0, sizeof(*writer));
	writer->tid = (uint32_t)syscall(SYS_gettid);
	return writer;
}

void ky_lease_forked(void)
{
	/* The list may have been torn in the middle of a change; used never is. */
	writers.free = 0;
	if ((uintptr_t)ky_writer_self > 1)
		ky_writer_self->tid = (uint32_t)syscall(SYS_gettid);
	else
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
	if (writer && writers.has_key)
		pthread_setspecific(writers.key, writer);
	ky_writer_self = writer;
	return writer;
}

/* ---- Leases ---- */

static void write_lease_line(struct ky_capture *capture, struct ky_writer *writer)
{
	struct ky_chunk_header *header = chunk_header(capture, writer->chunk - 1);
	struct kymo_record_lease *line = (void *)writer->cursor;
	uint64_t sequence = ++capture->header->lease_sequence;

	if (header->sequence == 0) {
		header->sequence = sequence;
		header->writer = (uint32_t)(writer->slot - capture->slots);
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
	writer->chunk = take_chunk(capture, lines + 1);
	if (!writer->chunk)
		return 0;
	header = chunk_header(capture, writer->chunk - 1);
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
	writer->slot = take_slot(capture);
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
 * Makes the writer, which is busy, hold a lease with room for `lines` of the session of
 * now. False when nothing is recorded or the loss has been counted.
 */
static int renew(struct ky_writer *writer, uint32_t lines)
{
	struct ky_gate_page *page = ky_gate();
	struct ky_capture *capture;
	uint32_t track = 0;
	int done = 0;

	/* Outside the lock: the dictionary has its own. */
	if (writer->epoch != current_epoch())
		track = intern_own_track(writer->tid);
	ky_lock(&page->pool_lock);
	capture = page->capture;
	if (!capture)
		goto out;
	if (writer->epoch != page->epoch &&
	    !join_session(capture, writer, page->epoch, track)) {
		count(&capture->header->lost_full_unowned);
		goto out;
	}
	if ((size_t)(writer->limit - writer->cursor) >= lines ||
	    lease_chunk(capture, writer, lines)) {
		done = 1;
		goto out;
	}
	writer->slot->accepted++;
	writer->slot->lost_full++;
out:
	ky_unlock(&page->pool_lock);
	return done;
}

struct kymo_record *ky_writer_refill(struct ky_writer *writer, uint32_t lines)
{
	struct ky_capture *capture;
	int kept = errno;

	if (ky_gate_word() == KYMO_GATE_UNDECIDED)
		ky_gate_decide();
	if (ky_gate_word() != KYMO_GATE_ON)
		goto none;
	/* A full capture must stay cheap. Only the thread's own session is looked at. */
	capture = current_capture();
	if (capture && writer->epoch == current_epoch() && pool_is_empty(capture)) {
		writer->slot->accepted++;
		writer->slot->lost_full++;
		goto none;
	}
	if (!renew(writer, lines))
		goto none;
	errno = kept;
	return writer->cursor;
none:
	ky_writer_leave(writer);
	errno = kept;
	return NULL;
}

struct kymo_record *ky_writer_without(uint32_t lines)
{
	struct ky_writer *writer = ky_writer_self;
	struct ky_capture *capture = current_capture();
	int kept = errno;

	if ((uintptr_t)writer > 1 && __atomic_load_n(&writer->busy, __ATOMIC_RELAXED) &&
	    capture) {
		/* Inside already: we are a handler, or called by what filling a lease
		 * calls. */
		count(writer->epoch == current_epoch()
			      ? &writer->slot->lost_nested
			      : &capture->header->lost_nested_unowned);
		return NULL;
	}
	if (writer == KY_WRITER_MAKING) {
		if (capture)
			count(&capture->header->lost_nested_unowned);
		return NULL;
	}
	if (ky_gate_word() == KYMO_GATE_UNDECIDED)
		ky_gate_decide();
	if (ky_gate_word() != KYMO_GATE_ON)
		return NULL;
	writer = own_writer();
	errno = kept;
	if (writer)
		return ky_writer_begin(lines);
	capture = current_capture();
	if (capture)
		count(&capture->header->lost_full_unowned);
	return NULL;
}

/* ---- Emit ---- */

/* How many whole records of the batch take at most `room` lines, and their lines. */
static uint32_t measure(const struct kymo_record *lines, uint32_t line_count, size_t room,
			uint32_t *records)
{
	uint32_t at = 0;

	*records = 0;
	while (at < line_count) {
		uint32_t next = lines[at].lines;

		if (next == 0 || next > line_count - at || at + next > room)
			break;
		at += next;
		++*records;
	}
	return at;
}

int32_t ky_emit(const struct kymo_record *lines, uint32_t line_count)
{
	int32_t status = KYMO_OK;

	while (line_count > 0) {
		uint32_t first = lines->lines, taken = first, records = 1;
		struct kymo_record *to;

		if (first == 0 || first > line_count)
			return KYMO_ERROR_INVALID;
		to = ky_writer_begin(first);
		if (!to) {
			status = ky_gate_word() == KYMO_GATE_ON ? KYMO_ERROR_NO_MEMORY
								: KYMO_ERROR_STATE;
		} else {
			if (first < line_count)
				taken = measure(lines, line_count,
						(size_t)(ky_writer_self->limit - to),
						&records);
			memcpy(to, lines, (size_t)taken * KYMO_LINE_SIZE);
			ky_writer_commit(taken, records);
		}
		lines += taken;
		line_count -= taken;
	}
	return status;
}

/* The calling thread's slot in the session of now, or NULL. */
static struct ky_writer_slot *own_slot(void)
{
	struct ky_writer *writer = ky_writer_self;

	if ((uintptr_t)writer <= 1 || writer->epoch != current_epoch())
		return NULL;
	return writer->slot;
}

void ky_writer_filtered(void)
{
	struct ky_writer_slot *slot = own_slot();
	struct ky_capture *capture = current_capture();

	if (slot)
		slot->filtered++;
	else if (capture)
		count(&capture->header->filtered_unowned);
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

	if ((uintptr_t)writer > 1 && writer->epoch == current_epoch())
		return writer->track;
	return intern_own_track((uint32_t)syscall(SYS_gettid));
}

/* ---- The cut ---- */

/* After this, every core has seen that the epoch is over. */
static void pass_barrier(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static int writer_is_inside(const struct ky_writer *writer, uint32_t epoch)
{
	return __atomic_load_n(&writer->busy, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&writer->epoch, __ATOMIC_RELAXED) == epoch;
}

static void wait_for_writers(uint32_t epoch)
{
	const struct timespec step = {0, CUT_STEP_NS};
	uint64_t until = ky_monotonic_ns() + CUT_WAIT_NS;

	for (uint32_t i = 0; i < writers.used; i++) {
		while (writer_is_inside(&writers.all[i], epoch) &&
		       ky_monotonic_ns() < until)
			nanosleep(&step, NULL);
	}
}

void ky_capture_cut(struct ky_capture *capture)
{
	struct ky_gate_page *page = ky_gate();
	uint32_t epoch = current_epoch();
	int kept = errno;

	ky_gate_close();
	pass_barrier();
	wait_for_writers(epoch);

	ky_lock(&page->pool_lock);
	for (uint32_t i = 0; i < writers.used; i++) {
		struct ky_writer *writer = &writers.all[i];

		if (writer->chunk && writer_is_inside(writer, epoch)) {
			*state_of(capture, writer->chunk - 1) = KY_CHUNK_QUARANTINED;
			capture->quarantined++;
		}
	}
	for (uint32_t i = 0; i < capture->chunk_count; i++) {
		uint32_t *state = state_of(capture, i);

		if (*state == KY_CHUNK_LEASED || *state == KY_CHUNK_PARTIAL)
			__atomic_store_n(state, KY_CHUNK_SEALED, __ATOMIC_RELEASE);
	}
	capture->partial_count = 0;
	ky_capture_host_anchor(capture);
	__atomic_store_n(&capture->header->state, KY_CAPTURE_STOPPED, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
	errno = kept;
}
