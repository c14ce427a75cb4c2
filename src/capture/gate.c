/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision is made by one thread; others that come meanwhile wait for it, except the
 * deciding thread itself, when something it calls (a source, a signal handler) reaches a
 * point: that finds the gate off. So does a handler that interrupted the dictionary,
 * which a decision needs.
 *
 * The word is published last, the epoch before it: hot paths look at the epoch only.
 */
#include "capture/gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "capture/capture.h"
#include "capture/lease.h"
#include "record/dictionary.h"

/* Not on the wiped page: what a child inherits. */
static uint32_t has_decided;
static uint32_t last_epoch;

/* Until the page says who decides: a handler must not wait for its own thread. */
static __thread int is_waiting __attribute__((tls_model("initial-exec")));

uint32_t ky_gate_decide(void)
{
	struct ky_gate_page *page = ky_gate();
	uint32_t tid, word = __atomic_load_n(&page->word, __ATOMIC_ACQUIRE);
	int kept = errno;

	if (word != KYMO_GATE_UNDECIDED)
		return word;
	tid = (uint32_t)syscall(SYS_gettid);
	if (__atomic_load_n(&page->decide_owner, __ATOMIC_RELAXED) == tid || is_waiting ||
	    ky_dictionary_is_entered())
		return KYMO_GATE_OFF;
	is_waiting = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ky_lock(&page->decide_lock);
	if (ky_gate_word() == KYMO_GATE_UNDECIDED) {
		__atomic_store_n(&page->decide_owner, tid, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		is_waiting = 0;
		/* Undecided, though it was decided once: the page was wiped by a fork. */
		if (has_decided) {
			ky_lease_forked();
			ky_dictionary_recover();
		}
		has_decided = 1;
		ky_agent_decide();
		if (ky_gate_word() == KYMO_GATE_UNDECIDED)
			ky_gate_set_word(KYMO_GATE_OFF);
		__atomic_store_n(&page->decide_owner, 0, __ATOMIC_RELAXED);
	}
	word = ky_gate_word();
	ky_unlock(&page->decide_lock);
	is_waiting = 0;
	errno = kept;
	return word;
}

int32_t ky_gate_take(struct ky_capture *capture)
{
	struct ky_gate_page *page = ky_gate();

	if (ky_gate_protect() != 0)
		return KYMO_ERROR_UNSUPPORTED;
	/* What the cut relies on; without it the cut falls back to waiting. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	has_decided = 1;

	ky_lock(&page->pool_lock);
	if (++last_epoch >= KY_EPOCH_NONE)
		last_epoch = 1;
	__atomic_store_n(&page->capture, capture, __ATOMIC_RELEASE);
	__atomic_store_n(&page->counts, capture->sources, __ATOMIC_RELEASE);
	__atomic_store_n(&page->ticks, capture->header->ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&page->paused_epoch, last_epoch, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
	return KYMO_OK;
}

int32_t ky_gate_prepare(struct ky_capture *capture)
{
	const int32_t status = ky_gate_take(capture);

	if (status == KYMO_OK)
		ky_gate_set_word(KYMO_GATE_OFF);
	return status;
}

int32_t ky_gate_open(struct ky_capture *capture)
{
	const int32_t status = ky_gate_take(capture);

	if (status == KYMO_OK)
		ky_gate_resume();
	return status;
}

void ky_gate_pause(void)
{
	struct ky_gate_page *page = ky_gate();

	ky_gate_set_word(KYMO_GATE_OFF);
	ky_lock(&page->pool_lock);
	__atomic_store_n(&page->paused_epoch, page->epoch, __ATOMIC_RELEASE);
	__atomic_store_n(&page->epoch, 0, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
}

/* Writers may write again, if they may not already. */
static void take_records(void)
{
	struct ky_gate_page *page = ky_gate();

	ky_lock(&page->pool_lock);
	if (page->paused_epoch != 0)
		__atomic_store_n(&page->epoch, page->paused_epoch, __ATOMIC_RELEASE);
	__atomic_store_n(&page->paused_epoch, 0, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
}

void ky_gate_resume(void)
{
	take_records();
	ky_gate_set_word(KYMO_GATE_ON);
}

void ky_gate_shut(void)
{
	ky_gate_set_word(KYMO_GATE_OFF);
	take_records();
}

void ky_gate_forget(const struct ky_capture *capture)
{
	struct ky_source_counts *counts = capture->sources;

	__atomic_compare_exchange_n(&ky_gate()->counts, &counts, NULL, 0,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void ky_gate_close(void)
{
	struct ky_gate_page *page = ky_gate();

	ky_gate_set_word(KYMO_GATE_OFF);
	ky_lock(&page->pool_lock);
	__atomic_store_n(&page->epoch, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&page->paused_epoch, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&page->capture, NULL, __ATOMIC_RELEASE);
	ky_unlock(&page->pool_lock);
}
