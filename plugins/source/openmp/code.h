/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code addresses: the numbers that the host has given them, and a word that names a
 * construct by its address and a number of its own.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_CODE_H
#define KYMO_PLUGINS_SOURCE_OPENMP_CODE_H

#include <stdint.h>

/*
 * A small index for the address that a call returns to: the same one for the same
 * address, 0 where there is none or no room for one more. The first time it asks the
 * host; after that it is a look into a table, without a lock.
 */
uint32_t ky_code_index(const void *address);

/* The host's number for what the index stands for; 0: none. */
uint32_t ky_code_number(uint32_t index);

/*
 * What OMPT's words hold: a number that no other construct has, and the index of the code
 * that it came from. Never 0.
 */
#define KY_CODE_BITS    15u
#define KY_WORD_INITIAL UINT64_MAX /* of an initial task, which is not recorded */
#define KY_WORD_STARTED (1u << KY_CODE_BITS) /* of a task: it has run before */

static inline uint64_t ky_word_make(uint64_t number, uint32_t code_index)
{
	return number << (KY_CODE_BITS + 1) | code_index;
}

static inline uint64_t ky_word_number(uint64_t word)
{
	return word >> (KY_CODE_BITS + 1);
}

static inline uint32_t ky_word_code(uint64_t word)
{
	return ky_code_number((uint32_t)(word & ((1u << KY_CODE_BITS) - 1)));
}

#endif
