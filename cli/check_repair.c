/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "check_sort.h"
#include "input.h"
#include "place.h"
#include "say.h"

#define EDIT_TEXT   46
#define SORT_MEMORY (8u << 20)
#define BLOCK       (64u << 10)

struct edit {
	uint64_t byte, size, order; /* order: of those at one byte */
	uint64_t line;
	uint16_t kind; /* KY_CHECK_KIND_COUNT: part of the mend before */
	char text[EDIT_TEXT];
};

struct ky_edits {
	struct ky_sorter *sorter;
	uint64_t count;
};

/* ---- Collecting ---- */

static int compare_edits(const void *a, const void *b)
{
	const struct edit *left = a, *right = b;

	if (left->byte != right->byte)
		return left->byte < right->byte ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

/* Long texts take several edits at one place; the last one removes. */
static void add(struct ky_check *check, struct edit edit, const char *text)
{
	const uint64_t size = edit.size;
	size_t left = strlen(text);

	edit.size = 0;
	do {
		const size_t part = left < EDIT_TEXT ? left : EDIT_TEXT - 1;

		memset(edit.text, 0, sizeof(edit.text));
		memcpy(edit.text, text, part);
		text += part;
		left -= part;
		edit.order = check->edits->count++;
		edit.size = left == 0 ? size : 0;
		ky_sorter_add(check->edits->sorter, &edit);
		edit.kind = KY_CHECK_KIND_COUNT;
	} while (left > 0);
}

void ky_check_mend(struct ky_check *check, enum ky_check_kind kind,
		   struct ky_check_place place, uint64_t byte, uint64_t size,
		   const char *text)
{
	const struct edit edit = {
		.byte = byte, .size = size, .line = place.line, .kind = (uint16_t)kind};

	if (!check->edits)
		return;
	check->findings[kind].mended++;
	add(check, edit, text);
}

void ky_check_mend_too(struct ky_check *check, uint64_t byte, uint64_t size,
		       const char *text)
{
	const struct edit edit = {
		.byte = byte, .size = size, .kind = KY_CHECK_KIND_COUNT};

	if (check->edits)
		add(check, edit, text);
}

void ky_check_mend_form(struct ky_check *check, enum ky_check_kind kind)
{
	if (!check->edits)
		return;
	check->findings[kind].mended++;
	check->edits->count++;
}

uint64_t ky_check_edits(const struct ky_check *check)
{
	return check->edits ? check->edits->count : 0;
}

void ky_edits_destroy(struct ky_edits *edits)
{
	if (!edits)
		return;
	ky_sorter_destroy(edits->sorter);
	free(edits);
}

struct ky_edits *ky_edits_create(void)
{
	struct ky_edits *edits = ky_must_grow(NULL, 1, sizeof(*edits));

	edits->sorter = ky_sorter_create(sizeof(struct edit), SORT_MEMORY, compare_edits);
	edits->count = 0;
	return edits;
}

/* ---- The copy ---- */

struct copy {
	struct ky_check *check;
	const char *path;
	struct ky_input input;
	struct ky_place place;
	gzFile gzip; /* NULL: not packed */
	unsigned char block[BLOCK];
	size_t at, size;
	uint64_t byte; /* of the text: how far the input is taken */
	bool is_ended, quiet;
	uint64_t listed[KY_CHECK_KIND_COUNT];
};

static int fail(const struct copy *copy, const char *what, int number)
{
	return ky_say_error(KY_EXIT_USAGE, "cannot %s \"%s\": %s", what, copy->path,
			    strerror(number));
}

static int put(struct copy *copy, const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t put;

		if (copy->gzip)
			put = gzwrite(copy->gzip, bytes, (unsigned)size);
		else
			put = write(copy->place.fd, bytes, size);
		if (put < 0 && errno == EINTR && !copy->gzip)
			continue;
		if (put <= 0)
			return fail(copy, "write", errno ? errno : EIO);
		bytes += put;
		size -= (size_t)put;
	}
	return 0;
}

/* Up to `end` of the text, written or left out. What can't be unpacked is the end. */
static int advance(struct copy *copy, uint64_t end, bool keep)
{
	char reason[KY_JSON_REASON_SIZE];
	int status = 0;

	while (copy->byte < end && !copy->is_ended && status == 0) {
		size_t size = copy->size - copy->at;

		if (size == 0) {
			const ptrdiff_t got =
				ky_input_read(&copy->input, copy->block, BLOCK, reason);

			if (got < 0 && copy->input.damage == KY_INPUT_UNREADABLE)
				return ky_say_error(KY_EXIT_USAGE,
						    "cannot read \"%s\": %s",
						    copy->check->path, reason);
			copy->at = 0;
			copy->size = got > 0 ? (size_t)got : 0;
			copy->is_ended = got <= 0;
			continue;
		}
		if (size > end - copy->byte)
			size = (size_t)(end - copy->byte);
		if (keep)
			status = put(copy, copy->block + copy->at, size);
		copy->at += size;
		copy->byte += size;
	}
	return status;
}

static void list_change(struct copy *copy, const struct edit *edit)
{
	const char *text = edit->text + (edit->text[0] == '\n'); /* a line of its own */

	if (copy->quiet || edit->kind == KY_CHECK_KIND_COUNT ||
	    copy->listed[edit->kind]++ >= copy->check->examples_max)
		return;
	printf("  line %" PRIu64 ", byte %" PRIu64 ": %s: ", edit->line, edit->byte,
	       ky_check_kinds[edit->kind].id);
	if (edit->size == KY_TO_THE_END)
		fputs("the rest is ", stdout);
	else if (edit->size > 0)
		printf("%" PRIu64 " %s ", edit->size,
		       edit->size == 1 ? "byte is" : "bytes are");
	if (text[0] && edit->size > 0)
		fputs("replaced by ", stdout);
	else
		fputs(text[0] ? "put in: " : "left out", stdout);
	ky_say_text(stdout, text);
	fputc('\n', stdout);
}

/* What an earlier edit has left out is not edited again. */
static int apply(struct copy *copy)
{
	const struct edit *edit;
	int status = 0;

	while (status == 0 && (edit = ky_sorter_next(copy->check->edits->sorter))) {
		const uint64_t end = edit->size == KY_TO_THE_END
					     ? KY_TO_THE_END
					     : edit->byte + edit->size;

		if (edit->byte < copy->byte)
			continue;
		status = advance(copy, edit->byte, true);
		if (status == 0)
			status = put(copy, edit->text, strlen(edit->text));
		if (status == 0)
			status = advance(copy, end, false);
		list_change(copy, edit);
	}
	return status == 0 ? advance(copy, KY_TO_THE_END, true) : status;
}

static void list_rest(const struct copy *copy)
{
	const uint64_t max = copy->check->examples_max;
	char text[KY_SAY_SIZE];
	int kind;

	for (kind = 0; kind < KY_CHECK_KIND_COUNT && !copy->quiet; kind++) {
		if (copy->listed[kind] > max)
			printf("  and %s more: %s\n",
			       ky_say_count(text, copy->listed[kind] - max),
			       ky_check_kinds[kind].id);
	}
}

static bool ends_with(const char *path, const char *suffix)
{
	const size_t size = strlen(path), tail = strlen(suffix);

	return size >= tail && strcmp(path + size - tail, suffix) == 0;
}

static int open_copy(struct copy *copy, bool overwrite)
{
	struct stat input;
	int number = ky_input_open(&copy->input, copy->check->path);

	if (number != 0)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s",
				    copy->check->path, ky_input_reason(number));
	if (fstat(copy->input.fd, &input) < 0)
		return fail(copy, "write", errno);
	number = ky_place_open(&copy->place, copy->path, overwrite, &input);
	if (number == EDEADLK)
		return ky_say_error(KY_EXIT_USAGE,
				    "check: --repair would replace what it reads; name "
				    "another file");
	if (number == EEXIST)
		return ky_say_error(KY_EXIT_USAGE,
				    "\"%s\" exists already: name another file, or set "
				    "overwrite (-f)",
				    copy->path);
	if (number == ENOTSUP)
		return ky_say_error(KY_EXIT_USAGE,
				    "\"%s\" is no regular file: --repair replaces no "
				    "other",
				    copy->path);
	if (number != 0)
		return fail(copy, "write", number);
	if (ends_with(copy->path, ".gz")) {
		const int packed = dup(copy->place.fd);

		copy->gzip = packed >= 0 ? gzdopen(packed, "wb") : NULL;
		if (!copy->gzip && packed >= 0)
			close(packed);
		if (!copy->gzip)
			return fail(copy, "write", errno ? errno : ENOMEM);
	}
	return 0;
}

/* The copy is in place when this returns 0. */
static int finish(struct copy *copy)
{
	int number;

	if (copy->gzip) {
		const int result = gzclose(copy->gzip);

		copy->gzip = NULL;
		if (result != Z_OK)
			return fail(copy, "write", errno ? errno : EIO);
	}
	number = ky_place_commit(&copy->place);
	return number == 0 ? 0 : fail(copy, "write", number);
}

static void open_none(struct copy *copy, struct ky_check *check, const char *path)
{
	memset(copy, 0, sizeof(*copy));
	copy->check = check;
	copy->path = path;
	copy->place.fd = copy->input.fd = -1;
}

static void close_copy(struct copy *copy)
{
	if (copy->gzip)
		gzclose(copy->gzip);
	ky_place_close(&copy->place);
	ky_input_close(&copy->input);
}

int ky_check_try_repaired(struct ky_check *check, const char *path, bool overwrite)
{
	static struct copy copy; /* large */
	int status;

	open_none(&copy, check, path);
	status = open_copy(&copy, overwrite);
	close_copy(&copy);
	return status;
}

int ky_check_write_repaired(struct ky_check *check, const char *path, bool overwrite,
			    bool quiet)
{
	static struct copy copy; /* large */
	int status;

	open_none(&copy, check, path);
	copy.quiet = quiet;
	status = open_copy(&copy, overwrite);
	if (status == 0 && !quiet && check->edits->count > 0)
		puts("\nmended");
	if (status == 0)
		status = apply(&copy);
	if (status == 0)
		status = finish(&copy);
	if (status == 0)
		list_rest(&copy);
	close_copy(&copy);
	return status;
}
