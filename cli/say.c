/* SPDX-License-Identifier: BSD-3-Clause */
#include "say.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/nearest.h"

/* ---- Numbers ---- */

const char *ky_say_count(char out[KY_SAY_SIZE], uint64_t count)
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	int i, used = 0;

	for (i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return out;
}

const char *ky_say_duration(char out[KY_SAY_SIZE], int64_t ns)
{
	if (ns >= 100 * INT64_C(1000000000))
		snprintf(out, KY_SAY_SIZE, "%.0f s", (double)ns / 1e9);
	else if (ns >= 1000000000)
		snprintf(out, KY_SAY_SIZE, "%.2f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(out, KY_SAY_SIZE, "%.2f ms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(out, KY_SAY_SIZE, "%.2f us", (double)ns / 1e3);
	else
		snprintf(out, KY_SAY_SIZE, "%" PRId64 " ns", ns);
	return out;
}

const char *ky_say_bytes(char out[KY_SAY_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	int unit = -1;

	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	if (unit < 0)
		snprintf(out, KY_SAY_SIZE, "%" PRIu64 " bytes", bytes);
	else
		snprintf(out, KY_SAY_SIZE, value < 9.95 ? "%.1f %s" : "%.0f %s", value,
			 units[unit]);
	return out;
}

const char *ky_say_time(char out[KY_SAY_SIZE], int64_t epoch_ns)
{
	const time_t seconds = (time_t)(epoch_ns / 1000000000);
	struct tm parts;

	if (!gmtime_r(&seconds, &parts) ||
	    strftime(out, KY_SAY_SIZE, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		snprintf(out, KY_SAY_SIZE, "unknown time");
	return out;
}

void ky_say_number(FILE *out, const char *before, uint64_t count, const char *one,
		   const char *many)
{
	char text[KY_SAY_SIZE];

	fprintf(out, "%s%s %s", before, ky_say_count(text, count),
		count == 1 ? one : many);
}

/* Names may be lost where no event is; the last two, only the export sees. */
static void say_reasons(FILE *out, const struct kymo_summary *summary,
			const char *reasons)
{
	const char *before = " (";
	char text[KY_SAY_SIZE];

	if (reasons[0]) {
		fprintf(out, "%s%s", before, reasons);
		before = ", ";
	}
	if (summary->cut > 0) {
		fprintf(out, "%scut off %s", before, ky_say_count(text, summary->cut));
		before = ", ";
	}
	if (summary->out_of_window > 0) {
		fprintf(out, "%sof another time %s", before,
			ky_say_count(text, summary->out_of_window));
		before = ", ";
	}
	if (before[0] == ',')
		fputs(")", out);
}

void ky_say_losses(FILE *out, const struct kymo_summary *summary, const char *reasons)
{
	char text[KY_SAY_SIZE];

	if (summary->untimed > 0)
		fprintf(out, ", %s untimed", ky_say_count(text, summary->untimed));
	if (summary->launches_without_result > 0)
		ky_say_number(out, ", ", summary->launches_without_result,
			      "launch without a result", "launches without a result");
	if (summary->lost > 0)
		fprintf(out, ", lost %s", ky_say_count(text, summary->lost));
	else if (!summary->incomplete)
		fputs(", nothing lost", out);
	say_reasons(out, summary, reasons);
	if (summary->incomplete)
		fputs("; " KY_SAY_INCOMPLETE, out);
}

/* ---- Texts ---- */

/* The size of the UTF-8 character at `text` (terminated), or 0 if that is none. */
static size_t character_size(const unsigned char *text)
{
	const unsigned first = text[0];
	const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	size_t i;

	if (first >= 0x80 && (first < 0xc2 || first > 0xf4))
		return 0;
	for (i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
	    (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
		return 0;
	return size;
}

/* C0, DEL, and C1 in its two bytes: what a terminal might obey. */
static bool is_control(const unsigned char *text)
{
	return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

void ky_say_text(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		size_t size = character_size(at);

		if (size == 0 || is_control(at))
			fputc('?', out);
		else
			fwrite(at, 1, size, out);
		at += size ? size : 1;
	}
}

void ky_say_json_text(FILE *out, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text, *const end = at + size;

	fputc('"', out);
	while (at < end) {
		size = character_size(at);
		if (size == 0)
			fputs("\xef\xbf\xbd", out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, size, out);
		at += size ? size : 1;
	}
	fputc('"', out);
}

void ky_say_json(FILE *out, const char *text)
{
	ky_say_json_text(out, text, strlen(text));
}

void ky_say_member(FILE *out, const char *before, const char *key, const char *text)
{
	fputs(before, out);
	ky_say_json(out, key);
	fputs(": ", out);
	if (text)
		ky_say_json(out, text);
	else
		fputs("null", out);
}

/* ---- Errors ---- */

/* Names of files may hold anything, so it goes the way of all texts. */
int ky_say_error(int status, const char *format, ...)
{
	char text[8192];
	va_list arguments;

	va_start(arguments, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, one line above */
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fputs("kymo: ", stderr);
	ky_say_text(stderr, text);
	fputc('\n', stderr);
	return status;
}

const char *ky_say_option(int32_t status)
{
	return status == KYMO_ERROR_EXISTS ? " (-f)" : "";
}

int ky_say_usage(int status, int option, char **argv, const struct option *options)
{
	const char letter[] = {'-', (char)optopt, '\0'};
	const char *word = argv[optind - 1]; /* the one that was just read */
	const bool is_long = strncmp(word, "--", 2) == 0;
	struct ky_nearest nearest = {0};

	if (is_long)
		nearest.word = (struct kymo_str){word + 2, strcspn(word + 2, "=")};
	for (; is_long && options->name; options++)
		ky_nearest_offer(&nearest, options->name);
	if (option == ':')
		return ky_say_error(status, "%s: %s wants a value; see kymo %s --help",
				    argv[0], word, argv[0]);
	if (is_long && optopt != 0)
		return ky_say_error(status, "%s: %.*s takes no value; see kymo %s --help",
				    argv[0], (int)strcspn(word, "="), word, argv[0]);
	if (ky_nearest_found(&nearest))
		return ky_say_error(status, "%s: unknown option %s; did you mean --%s?",
				    argv[0], word, ky_nearest_found(&nearest));
	/* Of letters in one word only getopt knows which it was. */
	return ky_say_error(status, "%s: unknown option %s; see kymo %s --help", argv[0],
			    is_long ? word : letter, argv[0]);
}

bool ky_say_end(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return true;
	ky_say_error(0, "cannot write the output: %s", strerror(errno));
	return false;
}

/* ---- Memory ---- */

static int no_memory = KY_EXIT_FAILED;

void ky_must_exit_with(int status)
{
	no_memory = status;
}

void *ky_must_grow(void *list, size_t count, size_t size)
{
	void *grown = NULL;

	if (count <= SIZE_MAX / size)
		grown = realloc(list, count * size);
	if (!grown)
		exit(ky_say_error(no_memory, "out of memory"));
	return grown;
}

char *ky_must_copy(const char *text, size_t size)
{
	char *copy = ky_must_grow(NULL, size + 1, 1);

	if (size > 0)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

void ky_say_warnings(const struct kymo_config *config)
{
	const char *warning;

	for (size_t i = 0; (warning = kymo_config_warning(config, i)); i++)
		ky_say_error(0, "%s", warning);
}
