/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three-state futex lock: 0 open, 1 held, 2 held and waited for. The futex is not
 * private to the process object but to its address space, so a wiped page starts anew.
 */
#include "base/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/gate_page.h"

int ky_try_lock(uint32_t *word)
{
	uint32_t seen = 0;

	ky_gate_protect();
	return __atomic_compare_exchange_n(word, &seen, 1, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void ky_lock(uint32_t *word)
{
	int kept = errno;

	if (ky_try_lock(word))
		return;
	/* Whoever waits sets 2, so that the holder knows to wake somebody. */
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	errno = kept;
}

void ky_unlock(uint32_t *word)
{
	int kept = errno;

	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = kept;
}
