/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts any number of records of one size in bounded memory: full buffers are sorted and
 * put into a file without a name, in TMPDIR or /var/tmp, and read back merged.
 *
 *     add* -> next* (the first one ends the adding)
 *
 * What goes wrong ends the command with an error.
 */
#ifndef KYMO_CLI_CHECK_SORT_H
#define KYMO_CLI_CHECK_SORT_H

#include <stddef.h>

struct ky_sorter;

typedef int (*ky_sort_compare_fn)(const void *a, const void *b);

struct ky_sorter *ky_sorter_create(size_t record_size, size_t memory,
				   ky_sort_compare_fn compare);
void ky_sorter_destroy(struct ky_sorter *sorter);

void ky_sorter_add(struct ky_sorter *sorter, const void *record);

/* The next one in order, valid until the next call; NULL behind the last. */
const void *ky_sorter_next(struct ky_sorter *sorter);

#endif
