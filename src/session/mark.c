/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of the application: a source that needs no plug-in, called "app".
 *
 * The line is filled where it stays, between begin and commit, so what is read there must
 * be at hand: times are taken before. Everything that is slow (the gate's decision, the
 * source's entries in the dictionary) happens at the first mark of a process; the numbers
 * hold in children too.
 */
#include <kymo/mark.h>

#include <string.h>

#include "capture/lease.h"
#include "record/dictionary.h"
#include "registry/static_types.h"
#include "session/host.h"
#include "session/line.h"
#include "session/mark.h"
#include "session/mark_keys.h"
#include "session/mark_types.h"
#include "session/source.h"

#define VALUES_MAX    1500u
#define INLINE_VALUES 2u /* in the first line */
#define MORE_VALUES   6u /* in a MORE line */
#define PIECE_VALUES  7u /* 8 bytes each, in a BYTES line */

/*
 * The source "app", the handle of its user_annotation, what of that the quick way needs
 * (0 where plain marks are not wanted), and the recording that has been told of it.
 */
static uint32_t app_source;
static uint16_t app_handle, app_type;
static uint32_t app_epoch;

static void register_app(void)
{
	struct ky_state_entry state = {.state = KYMO_STATE_RECORDING};
	struct ky_type_entry type = {
		.name = ky_dictionary_text(ky_type_static_name(KY_TYPE_USER_ANNOTATION)),
		.shapes = KYMO_SHAPE_SPAN | KYMO_SHAPE_INSTANT,
		.side = KYMO_SIDE_HOST,
		.activity_type = KY_TYPE_USER_ANNOTATION,
	};
	uint32_t id;

	type.category = type.name;
	type.source = ky_mark_source();
	if (type.source == 0)
		return;
	__atomic_store_n(&app_source, type.source, __ATOMIC_RELAXED);
	state.source = type.source;
	ky_dictionary_intern(KY_ENTRY_STATE, &state, sizeof(state), &id);
	if (ky_dictionary_intern(KY_ENTRY_TYPE, &type, sizeof(type), &id) != KYMO_OK)
		return;
	__atomic_store_n(&app_handle, (uint16_t)id, __ATOMIC_RELAXED);
	if (ky_mark_plain_is_wanted())
		__atomic_store_n(&app_type, (uint16_t)id, __ATOMIC_RELAXED);
}

void ky_mark_forget_type(void)
{
	__atomic_store_n(&app_type, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&app_epoch, 0, __ATOMIC_RELAXED);
}

/*
 * For the slow ways, which the first mark of each thread in each recording takes: the
 * type, false while nothing is taken. A full dictionary leaves it 0: "none".
 */
static int find_own_type(uint16_t *type)
{
	uint32_t epoch;

	ky_gate_decide();
	epoch = ky_gate_epoch();
	if (epoch == 0)
		return 0;
	/* A handler that came in the middle of the dictionary leaves it to others. */
	if (__atomic_load_n(&app_epoch, __ATOMIC_RELAXED) != epoch &&
	    !ky_dictionary_is_entered()) {
		register_app();
		__atomic_store_n(&app_epoch, epoch, __ATOMIC_RELAXED);
	}
	*type = __atomic_load_n(&app_handle, __ATOMIC_RELAXED);
	return 1;
}

/* As ky_writer_begin, and gives the type that the record is to have. */
struct kymo_record *ky_mark_line(uint32_t lines, uint16_t *type)
{
	if (!find_own_type(type))
		return NULL;
	/* None was made by anybody yet, see there. */
	if (*type == 0 && ky_dictionary_is_entered()) {
		ky_writer_nested();
		return NULL;
	}
	return ky_writer_begin(lines);
}

/* What is not wanted is counted, and nothing more. */
static struct kymo_record *leave_out(void)
{
	uint16_t type;

	if (find_own_type(&type))
		ky_writer_filtered(__atomic_load_n(&app_source, __ATOMIC_RELAXED));
	return NULL;
}

/* Of a plain mark, unless the list of wanted types leaves those out. */
static struct kymo_record *begin_plain(uint32_t lines, uint16_t *type)
{
	return ky_mark_plain_is_wanted() ? ky_mark_line(lines, type) : leave_out();
}

/* What makes no sense is counted where something is recorded. */
static int32_t refuse(void)
{
	struct ky_source_counts *counts;
	uint16_t plain;

	if (find_own_type(&plain)) {
		counts = ky_gate_counts(__atomic_load_n(&app_source, __ATOMIC_RELAXED));
		if (counts)
			__atomic_fetch_add(&counts->invalid, 1, __ATOMIC_RELAXED);
	}
	return KYMO_ERROR_INVALID;
}

int32_t ky_mark_check_type(uint16_t type)
{
	return ky_mark_type_wish(type) != KY_MARK_UNKNOWN ? KYMO_OK : refuse();
}

/*
 * `*type` is one of kymo_mark_type, or 0 for a plain mark, which gets its own;
 * `*is_left_out` if it is not wanted.
 */
static struct kymo_record *begin_any(uint32_t lines, uint16_t *type, int *is_left_out)
{
	uint16_t plain;

	if (*type == 0) {
		*is_left_out = !ky_mark_plain_is_wanted();
		return begin_plain(lines, type);
	}
	*is_left_out = ky_mark_type_wish(*type) != KY_MARK_WANTED;
	return *is_left_out ? leave_out() : ky_mark_line(lines, &plain);
}

uint32_t kymo_mark_intern(const char *text, size_t size)
{
	/* A child must not touch the dictionary before it is its own. */
	ky_gate_decide();
	return text ? ky_dictionary_string((struct kymo_str){text, size})
		    : KY_STRING_NOT_KEPT;
}

__attribute__((noinline)) static uint64_t ticks_slowly(void)
{
	return ky_gate_decide() == KYMO_GATE_ON ? ky_ticks() : 0;
}

uint64_t kymo_mark_ticks(void)
{
	if (KYMO_UNLIKELY(ky_gate_word() != KYMO_GATE_ON || !ky_ticks_are_quick()))
		return ticks_slowly();
	return ky_ticks_quick();
}

/* The first mark of a process or thread, a full chunk, a clock that is not quick. */
__attribute__((noinline)) static void record_slowly(uint64_t begin, uint32_t name,
						    uint16_t key0, uint64_t value0,
						    uint16_t key1, uint64_t value1)
{
	const uint64_t end = ky_ticks();
	uint16_t type;
	struct kymo_record *line = begin_plain(1, &type);

	if (!line)
		return;
	*line = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.type = type,
		.name = name,
		.begin = begin,
		.end = end,
		.key = {key0, key1},
		.value = {value0, value1},
	};
	ky_writer_commit(1, 1);
}

void kymo_mark_record2(uint64_t begin, uint32_t name, uint16_t key0, uint64_t value0,
		       uint16_t key1, uint64_t value1)
{
	const uint16_t type = __atomic_load_n(&app_type, __ATOMIC_RELAXED);
	struct ky_writer *writer = ky_writer_self;

	if (KYMO_UNLIKELY(type == 0 || !ky_ticks_are_quick() || !ky_line_begin(writer))) {
		record_slowly(begin, name, key0, value0, key1, value1);
		return;
	}
	*writer->cursor = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.type = type,
		.name = name,
		.begin = begin,
		.end = ky_ticks_quick(),
		.key = {key0, key1},
		.value = {value0, value1},
	};
	ky_line_commit(writer);
}

void kymo_mark_record(uint64_t begin, uint32_t name)
{
	kymo_mark_record2(begin, name, 0, 0, 0, 0);
}

/* A record whose begin is its end. */
static void record_moment(uint8_t kind, uint32_t name, uint64_t now)
{
	uint16_t type;
	struct kymo_record *line = begin_plain(1, &type);

	if (KYMO_UNLIKELY(!line))
		return;
	*line = (struct kymo_record){
		.kind = kind,
		.lines = 1,
		.type = type,
		.name = name,
		.begin = now,
		.end = now,
	};
	ky_writer_commit(1, 1);
}

static void record_gap(uint64_t begin, uint64_t end, uint16_t flags, const char *why)
{
	const uint32_t name = ky_dictionary_text(why);
	uint16_t type;
	struct kymo_record *line = ky_mark_line(1, &type);

	if (!line)
		return;
	*line = (struct kymo_record){
		.kind = KYMO_KIND_GAP,
		.lines = 1,
		.flags = flags,
		.type = type,
		.name = name,
		.begin = begin,
		.end = end,
	};
	ky_writer_commit(1, 1);
}

void ky_mark_gap(uint64_t begin, const char *why)
{
	record_gap(begin, ky_ticks(), 0, why);
}

uint64_t ky_mark_rest(const char *why, uint64_t deadline_ns)
{
	uint64_t now;

	ky_sources_pause(1, deadline_ns);
	now = ky_ticks();
	record_gap(now, now, KYMO_RECORD_UNFINISHED, why);
	ky_gate_pause();
	return now;
}

/*
 * In this order: a program that waits for the gate may use its device, or end, as soon as
 * it is on; and of the time that sources take nothing is recorded either.
 */
void ky_mark_resume(uint64_t begin, const char *why, uint64_t deadline_ns)
{
	ky_gate_shut();
	ky_sources_pause(0, deadline_ns);
	ky_mark_gap(begin, why);
	ky_gate_resume();
}

void kymo_mark_record_instant(uint32_t name)
{
	uint64_t now = kymo_mark_ticks();

	if (now != 0)
		record_moment(KYMO_KIND_INSTANT, name, now);
}

uint64_t kymo_mark_record_open(uint32_t name)
{
	uint64_t now = kymo_mark_ticks();

	if (now != 0)
		record_moment(KYMO_KIND_OPEN, name, now);
	return now;
}

static int is_scalar(const struct kymo_value *value)
{
	return value->key != 0 && !(value->type & KYMO_VALUE_ARRAY);
}

static int is_array(const struct kymo_value *value)
{
	return value->key != 0 && (value->type & KYMO_VALUE_ARRAY) && value->count > 0;
}

/* Lines that the record takes; more than KYMO_RECORD_LINES_MAX if it is too big. */
static uint64_t count_lines(const struct kymo_value *values, size_t count)
{
	uint64_t scalars = 0, lines = 1;

	for (size_t i = 0; i < count; i++) {
		if (is_scalar(&values[i]))
			scalars++;
		else if (is_array(&values[i]))
			lines += ((uint64_t)values[i].count + PIECE_VALUES - 1) /
				 PIECE_VALUES;
	}
	if (scalars > INLINE_VALUES)
		lines += (scalars - INLINE_VALUES + MORE_VALUES - 1) / MORE_VALUES;
	return lines;
}

/* Puts scalars into the first line, then into MORE lines; the line behind the last. */
static struct kymo_record *put_scalars(struct kymo_record *first,
				       const struct kymo_value *values, size_t count)
{
	struct kymo_record_more *more = (struct kymo_record_more *)(void *)first;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t place = (used - INLINE_VALUES) % MORE_VALUES;

		if (!is_scalar(&values[i]))
			continue;
		if (used < INLINE_VALUES) {
			first->key[used] = values[i].key;
			first->value[used] = values[i].u64;
		} else {
			if (place == 0)
				*++more =
					(struct kymo_record_more){.kind = KYMO_KIND_MORE};
			more->key[place] = values[i].key;
			more->value[place] = values[i].u64;
			more->used++;
		}
		used++;
	}
	return (struct kymo_record *)(void *)(more + 1);
}

static struct kymo_record *put_array(struct kymo_record *to,
				     const struct kymo_value *value)
{
	const uint32_t total = value->count * (uint32_t)sizeof(uint64_t);
	const uint8_t *bytes = value->array;

	for (uint32_t at = 0; at < total; to++) {
		struct kymo_record_bytes piece = {
			.kind = KYMO_KIND_BYTES,
			.key = value->key,
			.total = total,
		};
		uint32_t size = total - at;

		if (size > sizeof(piece.byte))
			size = sizeof(piece.byte);
		piece.used = (uint8_t)size;
		memcpy(piece.byte, bytes + at, size);
		memcpy(to, &piece, sizeof(piece));
		at += size;
	}
	return to;
}

int32_t ky_mark_record(struct kymo_record to, const struct kymo_value *values,
		       size_t count)
{
	struct kymo_record *line, *next;
	int is_left_out = 0;
	uint64_t lines;

	if (count > VALUES_MAX || (count > 0 && !values) ||
	    ky_host_find_misfit(values, count))
		return refuse();
	lines = count_lines(values, count);
	if (lines > KYMO_RECORD_LINES_MAX) {
		ky_writer_too_big();
		return KYMO_ERROR_NO_MEMORY;
	}
	to.lines = (uint8_t)lines;
	to.end = ky_ticks();
	if (to.kind == KYMO_KIND_INSTANT)
		to.begin = to.end;
	line = begin_any((uint32_t)lines, &to.type, &is_left_out);
	if (is_left_out)
		return KYMO_OK;
	if (!line)
		return ky_gate_epoch() != 0 ? KYMO_ERROR_NO_MEMORY : KYMO_ERROR_STATE;
	*line = to;
	next = put_scalars(line, values, count);
	for (size_t i = 0; i < count; i++)
		if (is_array(&values[i]))
			next = put_array(next, &values[i]);
	ky_writer_commit((uint32_t)lines, 1);
	return KYMO_OK;
}

int32_t kymo_mark_end_typed(uint64_t begin, uint16_t type, uint32_t name,
			    const struct kymo_value *values, size_t count)
{
	const struct kymo_record record = {
		.kind = KYMO_KIND_SPAN,
		.type = type,
		.name = name,
		.begin = begin,
	};
	int32_t status;

	if (begin == 0)
		return KYMO_OK;
	status = ky_mark_check_type(type);
	return status == KYMO_OK ? ky_mark_record(record, values, count) : status;
}

int32_t kymo_mark_end_values(uint64_t begin, uint32_t name,
			     const struct kymo_value *values, size_t count)
{
	const struct kymo_record record = {
		.kind = KYMO_KIND_SPAN,
		.name = name,
		.begin = begin,
	};

	return begin == 0 ? KYMO_OK : ky_mark_record(record, values, count);
}

int32_t kymo_mark_instant_typed(uint16_t type, uint32_t name,
				const struct kymo_value *values, size_t count)
{
	const struct kymo_record record = {
		.kind = KYMO_KIND_INSTANT,
		.type = type,
		.name = name,
	};
	int32_t status;

	if (kymo_mark_ticks() == 0)
		return KYMO_OK;
	status = ky_mark_check_type(type);
	return status == KYMO_OK ? ky_mark_record(record, values, count) : status;
}
