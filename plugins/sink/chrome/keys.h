/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metadata as the members of a JSON object, and what must be known of keys at the end:
 * the unit of each, and which had integers that were written as strings.
 */
#ifndef KYMO_CHROME_KEYS_H
#define KYMO_CHROME_KEYS_H

#include <stdbool.h>

#include <kymo/sink.h>

#include "json.h"
#include "set.h"

/* Keys are few; beyond this many distinct ones they are counted, not listed. */
#define KY_KEYS_MAX 4096u

struct ky_key {
	char *text, *unit; /* unit: NULL for none */
	size_t text_size, unit_size;
	uint64_t hash;
	bool is_big, is_series;
};

/*
 * A key that was written not long ago, known by its addresses, which mean the same only
 * within a batch: ky_keys_forget() is due at each batch's end.
 */
struct ky_recent_key {
	const char *data, *unit;
	size_t size;
	uint64_t bit;   /* as in struct ky_names; 0: none */
	uint32_t ready; /* bytes of `text` that are all of the key; 0: look at it again */
	char text[44];  /* the key in quotes, a colon and a blank */
};

struct ky_keys {
	struct ky_key *list;
	size_t count, capacity;
	uint64_t unlisted;
	struct ky_recent_key recent[64];
	uint64_t base_ns; /* of times */
	bool hides_rank;  /* in front of the rank, no key within a value is "rank" */
	int32_t status;   /* KYMO_ERROR_NO_MEMORY once that has happened */
};

void ky_keys_forget(struct ky_keys *keys);
void ky_keys_fini(struct ky_keys *keys);

/*
 * Integers: as numbers where every reader is exact, else as strings and noted. These and
 * what follows go from place to place, as in json.h; a number into the room that was made
 * for its key.
 */
char *ky_keys_put_u64(struct ky_keys *keys, char *at, struct kymo_str key,
		      uint64_t value);
char *ky_keys_put_i64(struct ky_keys *keys, char *at, struct kymo_str key, int64_t value);

/* The value alone, of any type. */
char *ky_keys_put_any_value(struct ky_keys *keys, struct ky_json *json, char *at,
			    const struct kymo_trace_value *value);

/*
 * The same; most are integers, which look alike with and without a sign if not negative.
 */
static inline char *ky_keys_put_value(struct ky_keys *keys, struct ky_json *json,
				      char *at, const struct kymo_trace_value *value)
{
	if ((value->type == KYMO_VALUE_UINT64 || value->type == KYMO_VALUE_INT64) &&
	    value->u64 <= KY_EXACT_MAX)
		return ky_put_u64(at, value->u64);
	return ky_keys_put_any_value(keys, json, at, value);
}

/*
 * The keys that an object has already. One that comes again gets its place in the list
 * of values, as in "bytes (3)": readers keep only one of two equal keys. So does one that
 * readers would misunderstand, whether it is there or not.
 */
struct ky_names {
	uint64_t filter; /* one bit for each: most keys are new, and seen to be so at once
			  */
	size_t reserved_count, count;
	const struct kymo_str *reserved; /* whose bits are in the filter already */
	struct kymo_str taken[12];       /* before the values */
};

static inline uint64_t ky_names_bit(struct kymo_str key)
{
	return UINT64_C(1) << ((key.size +
				(key.size ? 8u * (unsigned char)key.data[0] : 0)) &
			       63);
}

static inline void ky_names_take(struct ky_names *names, struct kymo_str key)
{
	names->filter |= ky_names_bit(key);
	names->taken[names->count++] = key;
}

/* For counters, whose keys may be written as something else: their unit. */
void ky_keys_note_series(struct ky_keys *keys, const struct kymo_trace_value *value);

/* By the top six bits of a product, since the addresses of keys may be close together. */
static inline struct ky_recent_key *ky_keys_recent(struct ky_keys *keys,
						   const struct kymo_trace_value *value)
{
	const uint64_t mixed = (uintptr_t)value->key.data ^ (uintptr_t)value->unit.data;

	return &keys->recent[mixed * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/* Any key. */
char *ky_keys_put_any_key(struct ky_keys *keys, struct ky_names *names,
			  struct ky_json *json, char *at,
			  const struct kymo_trace_value *values, size_t i);

/* The key of values[i], a colon and a blank. Its unit is noted. */
static inline char *ky_keys_put_key(struct ky_keys *keys, struct ky_names *names,
				    struct ky_json *json, char *at,
				    const struct kymo_trace_value *values, size_t i)
{
	const struct kymo_trace_value *value = &values[i];
	const struct ky_recent_key *recent = ky_keys_recent(keys, value);

	if (KYMO_UNLIKELY(recent->data != value->key.data ||
			  recent->unit != value->unit.data ||
			  recent->size != value->key.size || recent->ready == 0 ||
			  (names->filter & recent->bit)))
		return ky_keys_put_any_key(keys, names, json, at, values, i);
	names->filter |= recent->bit;
	memcpy(at, recent->text, sizeof(recent->text)); /* a constant size is quicker */
	return at + recent->ready;
}

#endif
