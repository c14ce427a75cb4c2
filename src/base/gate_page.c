/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/gate_page.h"

#include <errno.h>
#include <sys/mman.h>

/*
 * Whole pages, so that nothing else is wiped with it, and zero, so that it lies in
 * anonymous memory: the kernel wipes no page of a file. A program that was not built as
 * position-independent code holds the copy that counts; hence no "hidden" and no
 * -Bsymbolic for it.
 */
__attribute__((aligned(KYMO_GATE_SIZE))) uint32_t kymo_gate[KYMO_GATE_SIZE / 4];

KYMO_STATIC_ASSERT(sizeof(struct ky_gate_page) <= KYMO_GATE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct ky_gate_page, word) == 0);

int ky_gate_protect(void)
{
	struct ky_gate_page *page = ky_gate();
	int kept = errno, number = 0;

	if (__atomic_load_n(&page->is_protected, __ATOMIC_RELAXED))
		return 0;
	if (madvise(kymo_gate, KYMO_GATE_SIZE, MADV_WIPEONFORK) != 0)
		number = errno;
	else
		__atomic_store_n(&page->is_protected, 1, __ATOMIC_RELAXED);
	errno = kept;
	return number;
}
