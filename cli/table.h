/* SPDX-License-Identifier: BSD-3-Clause */
/* Names to dense numbers: the first new name gets 0, the next one 1. */
#ifndef KYMO_CLI_TABLE_H
#define KYMO_CLI_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is an empty table. */
struct ky_table {
	struct ky_table_name {
		char *text; /* terminated; may hold further zeros */
		size_t size;
	} * names; /* by number */
	size_t count, capacity;
	uint32_t *slots; /* open addressing; number + 1, 0: free */
	size_t slot_count;
};

#define KY_TABLE_FULL SIZE_MAX

/* The number of a name, which is added if it is new and there are less than `max`. */
size_t ky_table_number(struct ky_table *table, const void *name, size_t size, size_t max);
void ky_table_fini(struct ky_table *table);

#endif
