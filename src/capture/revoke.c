/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases that end without their thread: all of them at the cut, and those of idle threads
 * when others find no chunk.
 *
 * Both rest on the same two steps: the thread's epoch is made to be over, every core
 * passes a barrier, and then `busy` says whether the thread is inside. If it is, it may
 * have seen the old epoch, and its chunk is still its own. If it is not, its next record
 * sees the new one and goes to pool_lock for another lease.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "capture/pool.h"
#include "capture/writers.h"

#define CUT_WAIT_NS      10000000u
#define CUT_STEP_NS      50000
#define REVOKE_PERIOD_NS 1000000u /* from a look that found nobody to the next one */
#define HELD_PART        4u /* of the chunks, in leases: threads starve each other */

/* Every core sees what we wrote before; 0, or -1 where the system has no such thing. */
static int pass_barrier(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
		return 0;
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ? 0 : -1;
}

static int is_busy(const struct ky_writer *writer)
{
	return (int)__atomic_load_n(&writer->busy, __ATOMIC_ACQUIRE);
}

static uint32_t epoch_of(const struct ky_writer *writer)
{
	return __atomic_load_n(&writer->epoch, __ATOMIC_RELAXED);
}

static void set_epoch(struct ky_writer *writer, uint32_t epoch)
{
	__atomic_store_n(&writer->epoch, epoch, __ATOMIC_RELAXED);
}

/* ---- Idle threads; pool_lock held ---- */

static uint32_t head_of(const struct ky_writer *writer)
{
	return __atomic_load_n(writer->head, __ATOMIC_RELAXED);
}

/* Whether it has not written since it was looked at last. */
static int is_idle(const struct ky_writer *writer)
{
	return writer->seen_chunk == writer->chunk &&
	       writer->seen_head == head_of(writer);
}

static int holds_room(const struct ky_writer *writer, uint32_t epoch)
{
	return epoch_of(writer) == epoch && writer->chunk && !is_busy(writer) &&
	       KY_CHUNK_LINES - head_of(writer) >= 2;
}

/* Makes the epoch over for those that would do; how many. */
static uint32_t mark(uint32_t epoch, int only_idle)
{
	uint32_t marked = 0;

	for (uint32_t i = 0; i < ky_writers.used; i++) {
		struct ky_writer *writer = &ky_writers.all[i];

		if (!holds_room(writer, epoch) || (only_idle && !is_idle(writer)))
			continue;
		writer->marked_epoch = epoch;
		set_epoch(writer, KY_EPOCH_NONE);
		marked++;
	}
	return marked;
}

/* Takes the chunks of those that are marked and not inside; how many. */
static uint32_t collect(struct ky_capture *capture, uint32_t epoch, int may_take)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < ky_writers.used; i++) {
		struct ky_writer *writer = &ky_writers.all[i];

		if (writer->marked_epoch != epoch)
			continue;
		writer->marked_epoch = 0;
		if (!may_take || is_busy(writer)) {
			set_epoch(writer, epoch);
			continue;
		}
		ky_lease_give_all(capture, writer);
		taken++;
	}
	return taken;
}

static uint32_t take_leases(struct ky_capture *capture, uint32_t epoch, int only_idle)
{
	if (mark(epoch, only_idle) == 0)
		return 0;
	return collect(capture, epoch, pass_barrier() == 0);
}

/* Remembers how far each thread has come; how many hold a chunk. */
static uint32_t look_at_all(uint32_t epoch)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < ky_writers.used; i++) {
		struct ky_writer *writer = &ky_writers.all[i];

		if (epoch_of(writer) != epoch || !writer->chunk)
			continue;
		writer->seen_chunk = writer->chunk;
		writer->seen_head = head_of(writer);
		held++;
	}
	return held;
}

uint32_t ky_lease_revoke_idle(struct ky_capture *capture, uint64_t now_ns)
{
	uint32_t epoch = ky_gate()->epoch, taken, held;

	if (epoch == 0 || now_ns - capture->in_vain_ns < REVOKE_PERIOD_NS)
		return 0;
	taken = take_leases(capture, epoch, 1);
	held = look_at_all(epoch);
	/* With so many threads each gives its chunk on to whoever writes now. */
	if (taken == 0 && held >= capture->chunk_count / HELD_PART)
		taken = take_leases(capture, epoch, 0);
	if (taken == 0)
		capture->in_vain_ns = now_ns;
	return taken;
}

/* ---- The cut ---- */

static int is_inside(const struct ky_writer *writer, uint32_t epoch)
{
	return epoch != 0 && is_busy(writer) && epoch_of(writer) == epoch;
}

static void wait_for_writers(uint32_t epoch)
{
	const struct timespec step = {0, CUT_STEP_NS};
	uint64_t until = ky_monotonic_ns() + CUT_WAIT_NS;
	/* Without the lock: whoever gets a writer now finds that the epoch is over. */
	uint32_t used = __atomic_load_n(&ky_writers.used, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < used; i++) {
		while (is_inside(&ky_writers.all[i], epoch) && ky_monotonic_ns() < until)
			nanosleep(&step, NULL);
	}
}

void ky_capture_cut(struct ky_capture *capture)
{
	struct ky_gate_page *page = ky_gate();
	const struct timespec limit = {0, CUT_WAIT_NS};
	uint32_t epoch = ky_gate_epoch(), chunks = 0;
	int kept = errno;

	if (epoch == 0)
		epoch = __atomic_load_n(&page->paused_epoch, __ATOMIC_ACQUIRE);
	ky_gate_close();
	/* Where no core can be told, each will have seen it by itself. */
	if (pass_barrier() != 0)
		nanosleep(&limit, NULL);
	wait_for_writers(epoch);

	ky_lock(&page->pool_lock);
	for (uint32_t i = 0; i < ky_writers.used; i++) {
		struct ky_writer *writer = &ky_writers.all[i];

		if (!is_inside(writer, epoch))
			continue;
		/* Without a chunk it still is at its slot, and at the header. */
		capture->quarantined++;
		if (writer->chunk) {
			capture->states[writer->chunk - 1] = KY_CHUNK_QUARANTINED;
			chunks++;
		}
	}
	for (uint32_t i = 0; i < capture->chunk_count; i++) {
		uint32_t *state = &capture->states[i];

		if (*state == KY_CHUNK_LEASED || *state == KY_CHUNK_PARTIAL)
			__atomic_store_n(state, KY_CHUNK_SEALED, __ATOMIC_RELEASE);
	}
	capture->partial_count = 0;
	capture->header->quarantined_chunks += chunks;
	ky_capture_host_anchor(capture);
	__atomic_store_n(&capture->header->state, KY_CAPTURE_STOPPED, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
	errno = kept;
}
