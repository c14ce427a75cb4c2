/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and texts as JSON, exactly as Python's json module writes them. */
#include "dump.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void put(const char *text)
{
	fputs(text, stdout);
}

void put_u64(uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	fwrite(digits + at, 1, sizeof(digits) - at, stdout);
}

void put_i64(int64_t number)
{
	if (number < 0)
		putchar('-');
	put_u64(number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void put_double(uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	if (isnan(number))
		put("\"nan\"");
	else if (isinf(number))
		put(number < 0 ? "\"-inf\"" : "\"inf\"");
	else
		printf("%.17g", number);
}

void put_comma(int *any)
{
	if (*any)
		putchar(',');
	*any = 1;
}

void put_member(const char *name, uint64_t number)
{
	printf(",\"%s\":%" PRIu64, name, number);
}

/* ---- Text ---- */

/* Bytes of the UTF-8 sequence at `text` and its code point; 0: there is none. */
static size_t decode(const uint8_t *text, size_t size, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t count = text[0] < 0xc0   ? 0
		       : text[0] < 0xe0 ? 2
		       : text[0] < 0xf0 ? 3
		       : text[0] < 0xf8 ? 4
					: 0;

	if (count == 0 || count > size)
		return 0;
	*point = text[0] & (0x7fu >> count);
	for (size_t i = 1; i < count; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (text[i] & 0x3f);
	}
	if (*point < least[count] || *point > 0x10ffff ||
	    (*point >= 0xd800 && *point < 0xe000))
		return 0;
	return count;
}

static void put_ascii(uint8_t byte)
{
	static const char escapes[] = "\bb\tt\nn\ff\rr\"\"\\\\";

	for (size_t i = 0; i < sizeof(escapes) - 1; i += 2) {
		if (byte == (uint8_t)escapes[i]) {
			putchar('\\');
			putchar(escapes[i + 1]);
			return;
		}
	}
	if (byte < 0x20 || byte == 0x7f)
		printf("\\u%04x", byte);
	else
		putchar(byte);
}

static void put_point(uint32_t point)
{
	if (point >= 0x10000)
		printf("\\u%04x\\u%04x", 0xd800 + ((point - 0x10000) >> 10),
		       0xdc00 + (point & 0x3ff));
	else
		printf("\\u%04x", point);
}

void put_text(const void *data, size_t size)
{
	const uint8_t *text = data;
	uint32_t point;

	putchar('"');
	for (size_t at = 0; at < size;) {
		size_t count = decode(text + at, size - at, &point);

		if (text[at] < 0x80) {
			put_ascii(text[at]);
			count = 1;
		} else if (count == 0) {
			put_point(0xdc00u + text[at]);
			count = 1;
		} else {
			put_point(point);
		}
		at += count;
	}
	putchar('"');
}
