/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The writing side of the dictionary: interns by content and gives dense numbers.
 *
 * The process has one, in private memory, which lives as long as the process, so that
 * numbers held at call sites stay valid from session to session. While a capture is
 * being recorded every entry is also appended to the capture's own region (the mirror),
 * which a recorder can read whenever the program dies. What belongs to one session only
 * (METADATA, STATE) stands in the mirror alone and is never found by content.
 *
 * Every function takes the dictionary's lock (a word on the wiped page) and may be called
 * from any thread, also from a signal handler: one that has interrupted the dictionary on
 * its own thread is turned away. After a fork the child calls ky_dictionary_recover()
 * before anything else: another thread may have been in the middle of an append.
 */
#ifndef KYMO_RECORD_DICTIONARY_H
#define KYMO_RECORD_DICTIONARY_H

#include <kymo/base.h>

#include "record/layout.h"

/*
 * Finds or appends an entry. KYMO_OK with its number in `*id`; KYMO_ERROR_NO_MEMORY when
 * the dictionary is full or the kind's numbers are used up (65535 for types, domains,
 * keys and link kinds); KYMO_ERROR_STATE for a kind of one session when nothing is
 * mirrored; KYMO_ERROR_BUSY when the calling thread is in the dictionary already. A
 * payload's padding must be zero, since it is compared whole.
 */
int32_t ky_dictionary_intern(uint16_t kind, const void *payload, size_t size,
			     uint32_t *id);

/*
 * The number of a string; never fails: 0 for {NULL, 0}, KY_STRING_NOT_KEPT when there is
 * no room, 0 when the calling thread is in the dictionary already; both are counted.
 */
uint32_t ky_dictionary_string(struct kymo_str text);
uint32_t ky_dictionary_text(const char *text); /* NULL gives 0 */

/*
 * Copies what is there into `region` and appends to both from now on; `tail` is where the
 * committed size is published and `not_kept` where losses of names are counted.
 * KYMO_ERROR_NO_MEMORY if it does not fit. NULL ends mirroring.
 */
int32_t ky_dictionary_mirror(void *region, size_t size, uint64_t *tail,
			     uint64_t *not_kept);

/* The source's number of a type; 0: unknown. Any thread, without the lock. */
uint32_t ky_dictionary_source_of(uint16_t type);

/* The type of a key's values, KYMO_VALUE_*; 0: unknown. Any thread, without the lock. */
extern uint16_t ky_dictionary_key_types[UINT16_MAX + 1];
static inline uint32_t ky_dictionary_key_type(uint16_t key)
{
	return __atomic_load_n(&ky_dictionary_key_types[key], __ATOMIC_RELAXED);
}

/* Its name, which stays where it is; none: unknown. Slow. */
struct kymo_str ky_dictionary_key_name(uint16_t key);

/* Whether the calling thread, which then is a signal handler, has interrupted itself. */
int ky_dictionary_is_entered(void);

/* Rebuilds the index from the committed entries, in a forked child. */
void ky_dictionary_recover(void);

/* Bytes committed; for tests and for `kymo info`. */
size_t ky_dictionary_size(void);

#endif
