/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest digits are found by Schubfach (R. Giulietti, "The Schubfach way to render
 * doubles", 2020): scale the double and the bounds of what rounds to it by a power of
 * ten, then take the one decimal of least digits between the bounds. It needs 128 bits of
 * each power of ten; those are computed here with plain long arithmetic, in some
 * microseconds a trace, rather than carried as a table that nobody could check.
 *
 * The form is bounded by the readers: one gathers digits in 64 bits without checking for
 * overflow, so a number with a point has at most 17 digits on either side of it; what
 * does not fit is written with an exponent.
 */
#include "number.h"

#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define DIGITS_MAX 17 /* of any double, shortest form */

/* ---- Integers ---- */

#define TRIPLE(a, b, c) '0' + (a), '0' + (b), '0' + (c), (a) ? 0 : (b) ? 1 : 2
#define TRIPLES(a, b)                                                               \
	TRIPLE(a, b, 0), TRIPLE(a, b, 1), TRIPLE(a, b, 2), TRIPLE(a, b, 3),         \
		TRIPLE(a, b, 4), TRIPLE(a, b, 5), TRIPLE(a, b, 6), TRIPLE(a, b, 7), \
		TRIPLE(a, b, 8), TRIPLE(a, b, 9)
#define HUNDRED(a)                                                                 \
	TRIPLES(a, 0), TRIPLES(a, 1), TRIPLES(a, 2), TRIPLES(a, 3), TRIPLES(a, 4), \
		TRIPLES(a, 5), TRIPLES(a, 6), TRIPLES(a, 7), TRIPLES(a, 8),        \
		TRIPLES(a, 9)

const char ky_triples[4 * 1000] = {HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3),
				   HUNDRED(4), HUNDRED(5), HUNDRED(6), HUNDRED(7),
				   HUNDRED(8), HUNDRED(9)};

/* Below 1000, with its leading zeros. */
static inline char *put_triple(char *at, uint32_t value)
{
	memcpy(at, ky_triples + (size_t)4 * value, 4);
	return at + 3;
}

/*
 * Branches on the size are quicker here than the branchless ways: the numbers of one key
 * have mostly one length.
 */
char *ky_put_large(char *at, uint64_t value)
{
	const uint64_t billion = 1000000000;
	uint32_t low = (uint32_t)value;

	if (value < 1000000)
		return put_triple(ky_put_small(at, low / 1000), low % 1000);
	if (value < billion) {
		at = ky_put_small(at, low / 1000000);
	} else {
		at = ky_put_u64(at, value / billion);
		low = (uint32_t)(value % billion);
		at = put_triple(at, low / 1000000);
	}
	low %= 1000000;
	return put_triple(put_triple(at, low / 1000), low % 1000);
}

char *ky_put_us(char *at, uint64_t ns)
{
	at = ky_put_u64(at, ns / 1000);
	*at = '.';
	return put_triple(at + 1, (uint32_t)(ns % 1000));
}

/* ---- Powers of ten ---- */

/* Enough for 5^324, and for 129 bits of 2^863 / 5^292. Lowest word first. */
#define LONG_WORDS 27

/*
 * The top 128 bits of a long number, and whether anything was cut off below. Ten to the k
 * and five to the k have the same leading bits.
 */
static bool top_bits(const uint32_t *words, uint64_t *high, uint64_t *low)
{
	int last = LONG_WORDS - 1, shift = 0, i;
	u128 value = 0;
	uint32_t next;
	bool more = false;

	while (words[last] == 0)
		last--;
	while (!(words[last] << shift & 0x80000000u))
		shift++;
	for (i = 0; i < 4; i++)
		value = value << 32 | (last - i >= 0 ? words[last - i] : 0);
	next = last >= 4 ? words[last - 4] : 0;
	if (shift > 0)
		value = value << shift | next >> (32 - shift);
	more = (uint32_t)(next << shift) != 0;
	for (i = last - 5; i >= 0; i--)
		more |= words[i] != 0;
	*high = (uint64_t)(value >> 64);
	*low = (uint64_t)value;
	return more;
}

static void set_power(struct ky_powers *powers, int k, const uint32_t *words,
		      bool inexact)
{
	uint64_t high, low;

	inexact |= top_bits(words, &high, &low);
	low += inexact;
	high += inexact && low == 0;
	powers->of[k - KY_POWER_MIN].high = high;
	powers->of[k - KY_POWER_MIN].low = low;
}

void ky_powers_init(struct ky_powers *powers)
{
	uint32_t words[LONG_WORDS] = {1};
	int k, i;

	for (k = 0; k <= KY_POWER_MAX; k++) {
		uint64_t carry = 0;

		set_power(powers, k, words, false);
		for (i = 0; i < LONG_WORDS; i++) {
			carry += (uint64_t)words[i] * 5;
			words[i] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	memset(words, 0, sizeof(words));
	words[LONG_WORDS - 1] = 0x80000000u;
	for (k = -1; k >= KY_POWER_MIN; k--) {
		uint64_t rest = 0;

		for (i = LONG_WORDS - 1; i >= 0; i--) {
			rest = rest << 32 | words[i];
			words[i] = (uint32_t)(rest / 5);
			rest %= 5;
		}
		/* Two to the n over five to the k never comes out even. */
		set_power(powers, k, words, true);
	}
}

/* ---- Doubles ---- */

/* digits * 10^exponent */
struct decimal {
	uint64_t digits;
	int32_t exponent;
};

/* The product's top 64 bits, the last of which remembers whether anything lies below. */
static uint64_t round_to_odd(uint64_t high, uint64_t low, uint64_t factor)
{
	u128 upper = (u128)high * factor + (uint64_t)((u128)low * factor >> 64);

	return (uint64_t)(upper >> 64) | ((uint64_t)upper > 1);
}

/*
 * The decimal of least digits that reads back as c * 2^q; `closer`: c is a power of two.
 */
static struct decimal shortest(uint64_t c, int32_t q, bool closer,
			       const struct ky_powers *powers)
{
	/* floor(log10(2^q)), of 3/4 * 2^q if the lower bound is closer;
	 * floor(log2(10^-k)) */
	const int32_t k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
	const int32_t shift = q + ((-k * 1741647) >> 19) + 1;
	const uint64_t high = powers->of[-k - KY_POWER_MIN].high;
	const uint64_t low = powers->of[-k - KY_POWER_MIN].low;
	const uint64_t odd = c & 1; /* bounds themselves round to an even one only */
	const uint64_t lower =
		round_to_odd(high, low, (4 * c - 2 + closer) << shift) + odd;
	const uint64_t value = round_to_odd(high, low, (4 * c) << shift);
	const uint64_t upper = round_to_odd(high, low, (4 * c + 2) << shift) - odd;
	const uint64_t s = value / 4;
	bool down, up;

	if (s >= 10) {
		const uint64_t tens = s / 10;

		down = lower <= 40 * tens;
		up = 40 * tens + 40 <= upper;
		if (down != up)
			return (struct decimal){tens + up, k + 1};
	}
	down = lower <= 4 * s;
	up = 4 * s + 4 <= upper;
	if (down == up)
		up = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1));
	return (struct decimal){s + up, k};
}

static struct decimal to_decimal(uint64_t bits, const struct ky_powers *powers)
{
	const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
	const int32_t biased = (int32_t)(bits >> 52 & 0x7ff);
	struct decimal decimal;

	if (biased == 0)
		decimal = shortest(fraction, -1074, false, powers);
	else
		decimal = shortest(fraction | UINT64_C(1) << 52, biased - 1075,
				   fraction == 0 && biased > 1, powers);
	if (decimal.digits % 100000000 == 0) { /* doubles of few digits: at once */
		decimal.digits /= 100000000;
		decimal.exponent += 8;
	}
	while (decimal.digits % 10 == 0) {
		decimal.digits /= 10;
		decimal.exponent++;
	}
	return decimal;
}

/* Digits that are to stand further on; all that there can be, and what is behind them. */
static inline void move_digits(char *to, const char *from)
{
	char digits[DIGITS_MAX];

	memcpy(digits, from, sizeof(digits));
	memcpy(to, digits, sizeof(digits));
}

/* d.ddde+XX; a form without a point is legal but unknown to some readers. */
static char *put_exponent_form(char *at, int count, int exponent)
{
	if (count == 1)
		at[count++] = '0';
	move_digits(at + 2, at + 1);
	at[1] = '.';
	at += count + 1;
	*at++ = 'e';
	*at++ = exponent < 0 ? '-' : '+';
	exponent = exponent < 0 ? -exponent : exponent;
	if (exponent < 10)
		*at++ = '0';
	return ky_put_small(at, (uint32_t)exponent);
}

static char *put_decimal(char *at, struct decimal decimal)
{
	const int count = (int)(ky_put_u64(at, decimal.digits) - at);
	const int point = count + decimal.exponent; /* digits in front of it */

	if (decimal.exponent >= 0 || point > DIGITS_MAX || -decimal.exponent > DIGITS_MAX)
		return put_exponent_form(at, count, point - 1);
	if (point > 0) {
		move_digits(at + point + 1, at + point);
		at[point] = '.';
		return at + count + 1;
	}
	move_digits(at + 2 - point, at);
	memset(at, '0', (size_t)(2 - point));
	at[1] = '.';
	return at + 2 - point + count;
}

char *ky_put_double(char *at, double value, const struct ky_powers *powers)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (bits >> 63) {
		*at++ = '-';
		value = -value;
		bits &= ~(UINT64_C(1) << 63);
		/* "-0" would be read as the integer, which has no sign. */
		if (bits == 0) {
			memset(at, '0', 3);
			at[1] = '.';
			return at + 3;
		}
	}
	if (value < (double)KY_EXACT_MAX && (double)(int64_t)value == value)
		return ky_put_u64(at, (uint64_t)value);
	return put_decimal(at, to_decimal(bits, powers));
}
