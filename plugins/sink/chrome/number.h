/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as JSON text: integers, times, and doubles by the shortest digits that read
 * back as the same double. No libc formatting: it is an order slower and writes a comma
 * where the embedding program's locale says so.
 */
#ifndef KYMO_CHROME_NUMBER_H
#define KYMO_CHROME_NUMBER_H

#include <stdint.h>
#include <string.h>

/*
 * Room that writing any number takes; more than its text, since moves are of fixed size.
 */
#define KY_NUMBER_SIZE 48u

/*
 * Integers up to here are exact in the doubles that most readers keep numbers in; larger
 * ones are written as strings.
 */
#define KY_EXACT_MAX (UINT64_C(1) << 53)

#define KY_POWER_MIN (-292)
#define KY_POWER_MAX 324

/* The first 128 bits of each power of ten that a double can need, rounded up. */
struct ky_powers {
	struct {
		uint64_t high, low;
	} of[KY_POWER_MAX - KY_POWER_MIN + 1];
};
void ky_powers_init(struct ky_powers *powers);

/* Of each number below 1000 its three digits, and how many of them lead with zero. */
extern const char ky_triples[4 * 1000];

/* Each writes at `at` (KY_NUMBER_SIZE bytes of room) and returns the end. */
static inline char *ky_put_small(char *at, uint32_t value) /* below 1000 */
{
	const char *triple = ky_triples + (size_t)4 * value;
	const int zeros = (unsigned char)triple[3];

	memcpy(at, triple + zeros, 4);
	return at + 3 - zeros;
}

char *ky_put_large(char *at, uint64_t value); /* from 1000 */

static inline char *ky_put_u64(char *at, uint64_t value)
{
	return value < 1000 ? ky_put_small(at, (uint32_t)value) : ky_put_large(at, value);
}

static inline char *ky_put_i64(char *at, int64_t value)
{
	if (value >= 0)
		return ky_put_u64(at, (uint64_t)value);
	*at = '-';
	return ky_put_u64(at + 1, 0 - (uint64_t)value);
}

/* Nanoseconds as microseconds with three decimals: the unit of `ts`. */
char *ky_put_us(char *at, uint64_t ns);

/* A finite double. Integral ones below 2^53 have no point, all others have one. */
char *ky_put_double(char *at, double value, const struct ky_powers *powers);

#endif
