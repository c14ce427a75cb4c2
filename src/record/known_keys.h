/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that readers of traces know by name; <kymo/key.h> is what others see of them. */
#ifndef KYMO_RECORD_KNOWN_KEYS_H
#define KYMO_RECORD_KNOWN_KEYS_H

#include <kymo/key.h>

#define KY_TYPE_TEXT_MAX 32u

/* "int64", "array of strings", ...; the text is `out`. */
const char *ky_value_type_text(uint32_t type, char out[KY_TYPE_TEXT_MAX]);

/* Whether keys can have values of that type. */
int ky_value_type_is_one(uint32_t type);

/* Whether readers take them to be the same: integers are alike, and times. */
int ky_value_types_are_alike(uint32_t type, uint32_t other);

/*
 * KYMO_ERROR_INVALID, and what is expected, if the key's name is known and its values are
 * of another type.
 */
int32_t ky_known_key_check(const char *name, uint32_t type, struct kymo_error *error);

/*
 * What the values of a key are by which readers find another event. A source says it as
 * it knows it itself; a trace has numbers of its own for both.
 */
enum ky_reference {
	KY_REFERENCE_NONE,
	KY_REFERENCE_QUEUE,       /* `native` of a queue of the same device */
	KY_REFERENCE_CORRELATION, /* in the domain of the record */
	KY_REFERENCE_BESIDE,      /* of a track: a queue that it is a further row of */
};

enum ky_reference ky_known_key_reference(struct kymo_str name);

#endif
