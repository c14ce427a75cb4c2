/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of threads only grows, at its head; a thread that ends leaves its place to the
 * next. So it is read without a lock, and a forked child goes on with what there is.
 *
 * Whether a thread is inside of a callback is a plain store in front of a load, which the
 * processor may swap. Who ends the recording has the kernel put a barrier into all
 * running threads (membarrier) instead; where it cannot, the threads pay for one each
 * time.
 */
#include "thread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "code.h"
#include "emit.h"
#include "ompt.h"
#include "region.h"
#include "role.h"

#define DEPTH_FIRST 32u
#define DEPTH_MAX   8192u /* a recursion of tasks; what is deeper is counted as lost */

/* A thread takes so many numbers at a time. */
#define NUMBERS_TAKEN 1024u

#define NAP_NS 20000

/*
 * In the program's static TLS: the dynamic one would take the loader's lock in a thread's
 * first callback, which another thread may hold while it waits for this one.
 */
static __thread struct ky_thread *own __attribute__((tls_model("initial-exec")));

static struct ky_thread *_Atomic list;
static atomic_uint_fast64_t last_number;
static int needs_fence;

uint64_t ky_thread_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* ---- A thread's own ---- */

/* One that was left by a thread that has ended, else a new one, else NULL. */
static struct ky_thread *find_place(void)
{
	struct ky_thread *thread;

	for (thread = atomic_load(&list); thread; thread = thread->next) {
		unsigned expected = 0;

		if (atomic_load_explicit(&thread->is_used, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&thread->is_used, &expected, 1))
			return thread;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->open = calloc(DEPTH_FIRST, sizeof(*thread->open));
	if (!thread->open) {
		free(thread);
		return NULL;
	}
	thread->capacity = DEPTH_FIRST;
	atomic_init(&thread->is_used, 1);
	thread->next = atomic_load(&list);
	while (!atomic_compare_exchange_weak(&list, &thread->next, thread))
		;
	return thread;
}

static void set_identity(struct ky_thread *thread, uint32_t role)
{
	atomic_store(&thread->identity, (uint64_t)role << 32 | (uint32_t)gettid());
}

/* What an earlier thread has left in the place is of an earlier session, or closed. */
static struct ky_thread *make_own(void)
{
	const int saved_errno = errno;
	struct ky_thread *thread = find_place();

	if (thread) {
		set_identity(thread, 0);
		own = thread;
	}
	errno = saved_errno;
	return thread;
}

void ky_thread_leave(struct ky_thread *thread)
{
	/* Pairs with the acquire of whoever closes all. */
	atomic_store_explicit(&thread->is_inside, 0, memory_order_release);
}

/* Then looks again whether anything is recorded, since only now it counts. */
static int go_inside(struct ky_thread *thread)
{
	if (needs_fence) {
		atomic_exchange(&thread->is_inside, 1);
		return atomic_load(&ky_state.recording) != 0;
	}
	atomic_store_explicit(&thread->is_inside, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load_explicit(&ky_state.recording, memory_order_acquire) != 0;
}

struct ky_thread *ky_thread_go_in(void)
{
	struct ky_thread *thread = own ? own : make_own();
	uint32_t epoch;

	if (!thread)
		return NULL;
	if (!go_inside(thread)) {
		ky_thread_leave(thread);
		return NULL;
	}
	epoch = atomic_load_explicit(&ky_state.epoch, memory_order_relaxed);
	if (KYMO_UNLIKELY(thread->epoch != epoch)) {
		thread->epoch = epoch;
		thread->depth = 0;
		thread->acquire.begin = 0;
	}
	return thread;
}

uint64_t ky_thread_number(struct ky_thread *thread)
{
	if (thread->next_number % NUMBERS_TAKEN == 0)
		thread->next_number =
			1 + atomic_fetch_add_explicit(&last_number, NUMBERS_TAKEN,
						      memory_order_relaxed);
	return thread->next_number++;
}

/* ---- What is open in it ---- */

static int has_room(struct ky_thread *thread)
{
	const int saved_errno = errno;
	struct ky_open *grown;

	if (thread->depth < thread->capacity)
		return 1;
	if (thread->capacity >= DEPTH_MAX)
		return 0;
	grown = realloc(thread->open, 2 * thread->capacity * sizeof(*grown));
	errno = saved_errno;
	if (!grown)
		return 0;
	thread->open = grown;
	thread->capacity *= 2;
	return 1;
}

struct ky_open *ky_thread_open(struct ky_thread *thread, enum ky_type type, uint32_t name)
{
	struct ky_open *open = &thread->spare;

	if (has_room(thread))
		open = &thread->open[thread->depth++];
	else
		ky_state.host->lost(ky_state.source, KYMO_LOST_PENDING, 1);
	*open = (struct ky_open){.name = name, .type = (uint8_t)type};
	open->begin = ky_state.host->now();
	return open;
}

static int is_task(const struct ky_open *open)
{
	return open->type == KY_TYPE_TASK || open->type == KY_TYPE_IMPLICIT_TASK;
}

/* What lies outside of these belongs to another task. */
static int is_border(const struct ky_open *open)
{
	return is_task(open) || open->type == KY_TYPE_PARALLEL;
}

static uint32_t find_task(const struct ky_thread *thread, uint32_t depth)
{
	while (depth > 0 && !is_task(&thread->open[depth - 1]))
		depth--;
	return depth;
}

uint32_t ky_thread_task(const struct ky_thread *thread)
{
	return find_task(thread, thread->depth);
}

uint32_t ky_thread_find(const struct ky_thread *thread, enum ky_type type, uint64_t word)
{
	const struct ky_open wanted = {.type = (uint8_t)type};
	const int may_cross = is_border(&wanted);

	for (uint32_t depth = thread->depth; depth > 0; depth--) {
		const struct ky_open *open = &thread->open[depth - 1];

		if (open->type == type && (word == 0 || open->word == word))
			return depth;
		if (!may_cross && is_border(open))
			return 0;
	}
	return 0;
}

/* Of a worker's implicit task and of the barriers that may be its last: see region.h. */
static int ends_with_region(const struct ky_open *open)
{
	if (open->type == KY_TYPE_IMPLICIT_TASK)
		return 1;
	return (open->type == KY_TYPE_SYNC || open->type == KY_TYPE_WAIT) &&
	       (open->kind == KY_OMPT_SYNC_BARRIER ||
		open->kind == KY_OMPT_SYNC_BARRIER_IMPLICIT ||
		open->kind == KY_OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL ||
		open->kind == KY_OMPT_SYNC_BARRIER_TEAMS);
}

/* When the construct at `depth` ended, if it is seen to be over `now`. */
static uint64_t end_of(const struct ky_thread *thread, uint32_t depth, uint64_t now,
		       uint16_t *flags)
{
	const struct ky_open *open = &thread->open[depth - 1];
	const struct ky_open *task;
	uint64_t ended;

	if (!ends_with_region(open))
		return now;
	depth = find_task(thread, depth);
	task = depth ? &thread->open[depth - 1] : open;
	if (task->type != KY_TYPE_IMPLICIT_TASK || task->value[KY_IMPLICIT_REGION] == 0 ||
	    task->value[KY_IMPLICIT_THREAD] == 0)
		return now;
	ended = ky_region_ended(task->value[KY_IMPLICIT_REGION], now);
	if (ended == KY_REGION_RUNS)
		return now;
	*flags = KYMO_RECORD_END_BY_RULE;
	if (ended == KY_REGION_LOST || ended < thread->last_end)
		ended = thread->last_end;
	return ended < open->begin ? open->begin : ended;
}

/* Takes away all from `depth` on; what lies in the outermost of it ends by rule. */
static void close_from(struct ky_thread *thread, uint32_t depth, uint64_t now,
		       uint32_t track, uint16_t flags)
{
	while (thread->depth >= depth) {
		uint16_t rule =
			thread->depth > depth && !flags ? KYMO_RECORD_END_BY_RULE : flags;
		uint16_t by_region = 0;
		uint64_t end = end_of(thread, thread->depth, now, &by_region);

		ky_emit_open(&thread->open[thread->depth - 1], end, track,
			     by_region ? by_region : rule);
		thread->last_end = end;
		thread->depth--;
	}
}

void ky_thread_close(struct ky_thread *thread, uint32_t depth)
{
	close_from(thread, depth, ky_state.host->now(), 0, 0);
}

struct ky_open ky_thread_take(struct ky_thread *thread, uint32_t depth, uint64_t *end)
{
	*end = ky_state.host->now();
	if (thread->depth > depth)
		close_from(thread, depth + 1, *end, 0, KYMO_RECORD_END_BY_RULE);
	thread->last_end = *end;
	thread->depth--;
	return thread->open[depth - 1];
}

void ky_thread_begin(uint32_t role)
{
	struct ky_thread *thread = own ? own : make_own();

	if (!thread)
		return;
	set_identity(thread, role);
	ky_role_tell(thread);
}

void ky_thread_end(void)
{
	struct ky_thread *thread = ky_thread_enter();

	if (thread) {
		if (thread->depth > 0)
			close_from(thread, 1, ky_state.host->now(), 0,
				   KYMO_RECORD_END_BY_RULE);
		ky_thread_leave(thread);
	}
	thread = own;
	own = NULL;
	if (thread)
		atomic_store_explicit(&thread->is_used, 0, memory_order_release);
}

/* ---- All threads ---- */

void ky_thread_tell_roles(void)
{
	for (struct ky_thread *thread = atomic_load(&list); thread; thread = thread->next)
		if (atomic_load_explicit(&thread->is_used, memory_order_acquire))
			ky_role_tell(thread);
}

static int wait_until_outside(const struct ky_thread *thread, uint64_t deadline_ns)
{
	const struct timespec nap = {0, NAP_NS};

	while (atomic_load(&thread->is_inside)) {
		if (ky_thread_monotonic_ns() >= deadline_ns)
			return 0;
		nanosleep(&nap, NULL);
	}
	return 1;
}

void ky_thread_close_all(uint64_t deadline_ns)
{
	const uint32_t epoch = atomic_load(&ky_state.epoch);
	const int saved_errno = errno;

	if (!needs_fence)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	for (struct ky_thread *thread = atomic_load(&list); thread;
	     thread = thread->next) {
		uint32_t track = 0;

		if (!wait_until_outside(thread, deadline_ns) || thread->epoch != epoch ||
		    thread->depth == 0)
			continue;
		if (ky_state.host->thread_track(ky_state.source, ky_thread_tid(thread), 0,
						&track) == KYMO_OK)
			close_from(thread, 1, ky_state.host->now(), track,
				   KYMO_RECORD_UNFINISHED);
		thread->depth = 0;
		thread->acquire.begin = 0;
	}
	errno = saved_errno;
}

void ky_thread_prepare(void)
{
	const int saved_errno = errno;

	needs_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
	errno = saved_errno;
}

/*
 * Only the calling thread is left, under another number. The others' places are lost,
 * since nobody can tell theirs from those of threads that the child has made. Who was
 * inside of a callback never leaves it; who is the child's has not come in yet, since
 * this comes first.
 */
void ky_thread_forked(void)
{
	for (struct ky_thread *thread = atomic_load(&list); thread; thread = thread->next)
		atomic_store(&thread->is_inside, 0);
	if (own)
		set_identity(own, ky_thread_role(own));
}
