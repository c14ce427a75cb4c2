/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is shown for code addresses: "function+0x12 (file.c:34)". All of them are looked
 * up before the first event is written, one file after the other, so that one is open at
 * a time and the trace can begin with what was not found.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "timeline/model.h"
#include "timeline/symbols.h"

#define NOTES_MAX 16u /* files that are named; it may be all of a system's */

struct code {
	struct kymo_str object, build_id;
	uint64_t offset;
	int64_t seen_ns;
	struct kymo_str *text; /* where to put what is found */
};

struct codes {
	struct ky_model *model;
	struct code *items;
	size_t count;
	size_t not_named; /* files of which there is no note */
};

static int compare_texts(struct kymo_str a, struct kymo_str b)
{
	int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_files(const struct code *a, const struct code *b)
{
	int order = compare_texts(a->object, b->object);

	return order ? order : compare_texts(a->build_id, b->build_id);
}

static int compare_codes(const void *a, const void *b)
{
	const struct code *x = a, *y = b;
	int order = compare_files(x, y);

	return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* ---- Collecting ---- */

/* Captures of before do not say enough to be sure of the file. */
static void add_code(struct codes *codes, const struct ky_model_capture *capture,
		     uint32_t id)
{
	const struct ky_code_entry *entry = ky_catalog_find(
		capture->catalog, KY_ENTRY_CODE, id, sizeof(*entry), NULL);
	struct kymo_str object, build_id = KYMO_STR("");

	if (!entry)
		return;
	object = ky_catalog_string(capture->catalog, entry->object);
	if (entry->build_id != 0)
		build_id = ky_catalog_string(capture->catalog, entry->build_id);
	if (object.size == 0 || !build_id.data || memchr(object.data, '\0', object.size))
		return;
	codes->items[codes->count++] = (struct code){
		object, build_id, entry->offset,
		capture->capture->header.attach_realtime_ns, &capture->codes[id]};
}

static int32_t collect(struct codes *codes)
{
	struct ky_model *model = codes->model;
	size_t total = 0;

	for (size_t i = 0; i < model->capture_count; i++) {
		struct ky_model_capture *capture = &model->captures[i];

		capture->code_count =
			ky_catalog_count(capture->catalog, KY_ENTRY_CODE) + 1;
		capture->codes = ky_arena_take_zeroed(
			&model->arena, capture->code_count * sizeof(*capture->codes));
		if (!capture->codes) {
			capture->code_count = 0;
			return KYMO_ERROR_NO_MEMORY;
		}
		total += capture->code_count;
	}
	codes->items = calloc(total + 1, sizeof(*codes->items));
	if (!codes->items)
		return KYMO_ERROR_NO_MEMORY;
	for (size_t i = 0; i < model->capture_count; i++)
		for (uint32_t id = 1; id < model->captures[i].code_count; id++)
			add_code(codes, &model->captures[i], id);
	if (codes->count > 0)
		qsort(codes->items, codes->count, sizeof(*codes->items), compare_codes);
	return KYMO_OK;
}

/* ---- What was not found ---- */

static int32_t add_note(struct codes *codes, struct kymo_str text)
{
	struct kymo_str *note;

	if (!text.data)
		return KYMO_ERROR_NO_MEMORY;
	ky_log(KYMO_SEVERITY_WARNING, "code addresses have no names: %.*s",
	       (int)text.size, text.data);
	note = ky_arena_take(&codes->model->arena, sizeof(*note));
	if (!note)
		return KYMO_ERROR_NO_MEMORY;
	*note = text;
	return ky_list_add(&codes->model->unresolved, note);
}

static int32_t note_file(struct codes *codes, const char *path, const char *reason)
{
	if (codes->model->unresolved.count >= NOTES_MAX) {
		codes->not_named++;
		return KYMO_OK;
	}
	return add_note(codes,
			ky_arena_format(&codes->model->arena, "%s %s", path, reason));
}

/* ---- Looking up ---- */

static const char *name_of_object(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* {NULL, 0} where nothing is known; the values say then what the capture knows. */
static int32_t format_place(struct ky_arena *arena, const char *path, uint64_t offset,
			    const struct ky_symbols_place *place, struct kymo_str *out)
{
	char where[PATH_MAX + 16];
	char *plain;

	if (!place->function && !place->source)
		return KYMO_OK;
	if (place->source)
		snprintf(where, sizeof(where), "%s:%d", place->source, place->line);
	else
		snprintf(where, sizeof(where), "%s", name_of_object(path));
	if (!place->function) {
		*out = ky_arena_format(arena, "%s+0x%" PRIx64 " (%s)",
				       name_of_object(path), offset, where);
	} else {
		plain = ky_symbols_demangle(place->function);
		*out = ky_arena_format(arena, "%s+0x%" PRIx64 " (%s)",
				       plain ? plain : place->function, place->into,
				       where);
		free(plain);
	}
	return out->data ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
}

/* Before the first capture that knows of it, so none of them is of another file. */
static int64_t seen_first(const struct code *codes, size_t count)
{
	int64_t seen_ns = codes[0].seen_ns;

	for (size_t i = 1; i < count; i++)
		if (codes[i].seen_ns < seen_ns)
			seen_ns = codes[i].seen_ns;
	return seen_ns;
}

/* Of `count` addresses in one file. */
static int32_t find_in_file(struct codes *codes, const struct code *first, size_t count)
{
	struct ky_arena *arena = &codes->model->arena;
	char path[PATH_MAX], build_id[256];
	const struct ky_symbols_file file = {path, build_id, seen_first(first, count)};
	struct ky_symbols *symbols;
	struct ky_symbols_place place;
	int32_t status = KYMO_OK;
	const char *reason;

	if (first->object.size >= sizeof(path) ||
	    first->build_id.size >= sizeof(build_id))
		return KYMO_OK;
	snprintf(path, sizeof(path), "%.*s", (int)first->object.size, first->object.data);
	snprintf(build_id, sizeof(build_id), "%.*s", (int)first->build_id.size,
		 first->build_id.data);
	reason = ky_symbols_open(&symbols, &file);
	if (reason)
		return note_file(codes, path, reason);
	for (size_t i = 0; i < count && status == KYMO_OK; i++) {
		const struct code *code = &first[i];

		if (i > 0 && code->offset == code[-1].offset) {
			*code->text = *code[-1].text;
			continue;
		}
		ky_symbols_find(symbols, code->offset, &place);
		status = format_place(arena, path, code->offset, &place, code->text);
	}
	ky_symbols_close(symbols);
	return status;
}

static int32_t find_all(struct codes *codes)
{
	const char *remedy,
		*reason = codes->count > 0 ? ky_symbols_missing(&remedy) : NULL;
	int32_t status = KYMO_OK;

	if (reason)
		return add_note(codes, ky_arena_format(&codes->model->arena, "%s: %s",
						       reason, remedy));
	for (size_t i = 0, end; i < codes->count && status == KYMO_OK; i = end) {
		for (end = i + 1; end < codes->count; end++)
			if (compare_files(&codes->items[i], &codes->items[end]) != 0)
				break;
		status = find_in_file(codes, &codes->items[i], end - i);
	}
	if (status == KYMO_OK && codes->not_named > 0)
		status = add_note(codes, ky_arena_format(&codes->model->arena,
							 "and %zu more files",
							 codes->not_named));
	return status;
}

int32_t ky_model_find_codes(struct ky_model *model)
{
	struct codes codes = {.model = model};
	int32_t status = collect(&codes);

	if (status == KYMO_OK)
		status = find_all(&codes);
	free(codes.items);
	return status;
}
