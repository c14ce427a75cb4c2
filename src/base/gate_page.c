/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/gate_page.h"

#include <errno.h>
#include <sys/mman.h>

/*
 * Both are whole pages, so that nothing else is wiped with them, and zero, so that they
 * lie in anonymous memory: the kernel wipes no page of a file.
 *
 * A program that was not built as position-independent code holds the copy of kymo_gate
 * that counts; hence no "hidden" and no -Bsymbolic for it. For the same reason it is that
 * of another copy of this library, if the program has loaded one before: so the state
 * that is ours alone lies on a page of its own.
 */
__attribute__((aligned(KYMO_GATE_SIZE))) uint32_t kymo_gate[KYMO_GATE_SIZE / 4];
__attribute__((aligned(KYMO_GATE_SIZE))) uint32_t ky_gate_memory[KYMO_GATE_SIZE / 4];

KYMO_STATIC_ASSERT(sizeof(struct ky_gate_page) <= KYMO_GATE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct ky_gate_page, word) == 0);

/* The word that programs look at, and above it how many copies of the library record. */
typedef uint64_t __attribute__((may_alias)) shared_word;

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the word that programs look at has to be the lower half"
#endif

int ky_gate_protect(void)
{
	struct ky_gate_page *page = ky_gate();
	int kept = errno, number = 0;

	if (__atomic_load_n(&page->is_protected, __ATOMIC_RELAXED))
		return 0;
	if (madvise(kymo_gate, KYMO_GATE_SIZE, MADV_WIPEONFORK) != 0 ||
	    madvise(ky_gate_memory, KYMO_GATE_SIZE, MADV_WIPEONFORK) != 0)
		number = errno;
	else
		__atomic_store_n(&page->is_protected, 1, __ATOMIC_RELAXED);
	errno = kept;
	return number;
}

void ky_gate_set_word(uint32_t word)
{
	shared_word *shared = (void *)kymo_gate;
	uint32_t before = __atomic_exchange_n(&ky_gate()->word, word, __ATOMIC_RELEASE);
	uint64_t next, seen = __atomic_load_n(shared, __ATOMIC_RELAXED);

	/* No lock: another copy may do the same in a handler on this thread. */
	do {
		next = (seen >> 32) + (word == KYMO_GATE_ON) - (before == KYMO_GATE_ON);
		next = next << 32 | (next > 0 ? KYMO_GATE_ON : KYMO_GATE_OFF);
	} while (!__atomic_compare_exchange_n(shared, &seen, next, 0, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}
