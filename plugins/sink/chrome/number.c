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

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

static inline char *put_pair(char *at, uint32_t value)
{
	memcpy(at, pairs + (size_t)2 * value, 2);
	return at + 2;
}

static inline char *put_four(char *at, uint32_t value)
{
	return put_pair(put_pair(at, value / 100), value % 100);
}

static inline char *put_eight(char *at, uint32_t value)
{
	return put_four(put_four(at, value / 10000), value % 10000);
}

/* Below 100, without a leading zero. */
static inline char *put_two_at_most(char *at, uint32_t value)
{
	if (value >= 10)
		return put_pair(at, value);
	*at = (char)('0' + value);
	return at + 1;
}

/*
 * Below 10^8, without leading zeros. Branches on the size and a table of pairs are
 * quicker here than the branchless ways: the numbers of one key have mostly one length.
 */
static inline char *put_small(char *at, uint32_t value)
{
	uint32_t high;

	if (value < 100)
		return put_two_at_most(at, value);
	if (value < 10000)
		return put_pair(put_two_at_most(at, value / 100), value % 100);
	high = value / 10000;
	if (high < 100)
		at = put_two_at_most(at, high);
	else
		at = put_pair(put_two_at_most(at, high / 100), high % 100);
	return put_four(at, value % 10000);
}

char *ky_put_u64(char *at, uint64_t value)
{
	const uint64_t unit = 100000000;
	uint64_t high;

	if (value < unit)
		return put_small(at, (uint32_t)value);
	high = value / unit;
	if (high < unit) {
		at = put_small(at, (uint32_t)high);
	} else {
		at = put_small(at, (uint32_t)(high / unit));
		at = put_eight(at, (uint32_t)(high % unit));
	}
	return put_eight(at, (uint32_t)(value % unit));
}

char *ky_put_i64(char *at, int64_t value)
{
	if (value >= 0)
		return ky_put_u64(at, (uint64_t)value);
	*at = '-';
	return ky_put_u64(at + 1, 0 - (uint64_t)value);
}

char *ky_put_us(char *at, uint64_t ns)
{
	uint32_t fraction = (uint32_t)(ns % 1000);

	at = ky_put_u64(at, ns / 1000);
	at[0] = '.';
	at[1] = (char)('0' + fraction / 100);
	at[2] = (char)('0' + fraction / 10 % 10);
	at[3] = (char)('0' + fraction % 10);
	return at + 4;
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

/* The decimal of least digits that reads back as c * 2^q; `closer`: c is a power of two.
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
	while (decimal.digits % 10 == 0) {
		decimal.digits /= 10;
		decimal.exponent++;
	}
	return decimal;
}

/* d.ddde+XX; a form without a point is legal but unknown to some readers. */
static char *put_exponent_form(char *at, const char *digits, int count, int exponent)
{
	*at++ = digits[0];
	*at++ = '.';
	if (count == 1)
		*at++ = '0';
	memcpy(at, digits + 1, DIGITS_MAX);
	at += count - 1;
	*at++ = 'e';
	*at++ = exponent < 0 ? '-' : '+';
	exponent = exponent < 0 ? -exponent : exponent;
	if (exponent < 10)
		*at++ = '0';
	return put_small(at, (uint32_t)exponent);
}

static char *put_decimal(char *at, struct decimal decimal)
{
	char digits[2 * KY_NUMBER_SIZE] = {0};
	const int count = (int)(ky_put_u64(digits, decimal.digits) - digits);
	const int point = count + decimal.exponent; /* digits in front of it */

	if (decimal.exponent >= 0 || point > DIGITS_MAX || -decimal.exponent > DIGITS_MAX)
		return put_exponent_form(at, digits, count, point - 1);
	if (point > 0) {
		memcpy(at, digits, DIGITS_MAX);
		at[point] = '.';
		memcpy(at + point + 1, digits + point, DIGITS_MAX);
		return at + count + 1;
	}
	memset(at, '0', DIGITS_MAX + 2);
	at[1] = '.';
	memcpy(at + 2 - point, digits, DIGITS_MAX);
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
	if (value < (double)KY_EXACT_MAX && (double)(uint64_t)value == value)
		return ky_put_u64(at, (uint64_t)value);
	return put_decimal(at, to_decimal(bits, powers));
}
