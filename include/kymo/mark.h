/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks: what an application itself wants to see on the timeline.
 *
 *     static uint32_t name;                              once per call site
 *     uint64_t begin = kymo_mark_begin();
 *     ...
 *     kymo_mark_end(begin, kymo_mark_name(&name, "load batch"));
 *
 * Nothing has to be set up: under `kymo record` the first mark attaches, and a mark costs
 * one load while nothing is recorded. Every function may be called from any thread, in a
 * forked child and between sessions. errno is kept.
 *
 * In a signal handler: begin, end, end2, end_values, end_typed, instant, instant_typed
 * and open, with names, keys and types that were interned before, whatever the handler
 * has interrupted. Where that is this library itself, on the same thread, a mark may be
 * lost, and is counted as nested.
 * Two first times belong outside of handlers: that of a process (and of a forked child),
 * which attaches and starts sources, and that of a thread in a program with more than 31
 * keys of pthread_key_create, for which the C library takes memory.
 */
#ifndef KYMO_MARK_H
#define KYMO_MARK_H

#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

/*
 * The gate. Word 0 is KYMO_GATE_UNDECIDED, _OFF or _ON; the rest is the library's own.
 * The object fills whole pages, which the kernel wipes in forked children. Its size is
 * part of the ABI, since programs may hold the only copy of it.
 */
#if defined(__x86_64__)
#define KYMO_GATE_SIZE 4096
#elif defined(__aarch64__)
#define KYMO_GATE_SIZE 65536 /* the largest page that such a system may have */
#else
#error "Kymo does not know how large a page is here"
#endif
KYMO_API extern uint32_t kymo_gate[KYMO_GATE_SIZE / 4];

static inline int kymo_mark_is_off(void)
{
	return __atomic_load_n(kymo_gate, __ATOMIC_RELAXED) == KYMO_GATE_OFF;
}

/*
 * The number of a name, interned at the first call and kept in `*cache` (initially 0),
 * which the call site owns. Numbers stay valid for the life of the process and in its
 * children. When no more names can be kept: the number of "(name not kept)".
 */
KYMO_API uint32_t kymo_mark_intern(const char *text, size_t size);
static inline uint32_t kymo_mark_name(uint32_t *cache, const char *text)
{
	uint32_t number = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (KYMO_UNLIKELY(number == 0)) {
		size_t size = 0;

		while (text[size])
			size++;
		number = kymo_mark_intern(text, size);
		__atomic_store_n(cache, number, __ATOMIC_RELAXED);
	}
	return number;
}

/*
 * A metadata key: its name, the type of its values (KYMO_VALUE_*, also of arrays) and
 * their unit (or NULL). 0 where kymo_key_register (<kymo/key.h>) fails, which says why:
 * the name has another type or unit already, readers know it with another type, or no
 * more keys fit.
 */
KYMO_API uint16_t kymo_mark_key(const char *name, uint32_t value_type, const char *unit);

/* Host ticks, or 0 while nothing is recorded. */
KYMO_API uint64_t kymo_mark_ticks(void);
static inline uint64_t kymo_mark_begin(void)
{
	return kymo_mark_is_off() ? 0 : kymo_mark_ticks();
}

/* The span from `begin` (of kymo_mark_begin; 0 records nothing) to now. */
KYMO_API void kymo_mark_record(uint64_t begin, uint32_t name);
static inline void kymo_mark_end(uint64_t begin, uint32_t name)
{
	if (begin != 0)
		kymo_mark_record(begin, name);
}

/* The same with up to two values; a key of 0 leaves its value out. */
KYMO_API void kymo_mark_record2(uint64_t begin, uint32_t name, uint16_t key0,
				uint64_t value0, uint16_t key1, uint64_t value1);
static inline void kymo_mark_end2(uint64_t begin, uint32_t name, uint16_t key0,
				  uint64_t value0, uint16_t key1, uint64_t value1)
{
	if (begin != 0)
		kymo_mark_record2(begin, name, key0, value0, key1, value1);
}

/*
 * The same with any number of values, up to 1500; arrays are copied. KYMO_OK also for a
 * `begin` of 0. KYMO_ERROR_INVALID, counted: a value is of another type than its key's,
 * or a key is there twice. KYMO_ERROR_NO_MEMORY: a loss was counted. KYMO_ERROR_STATE:
 * the recording has ended since `begin`.
 */
KYMO_API int32_t kymo_mark_end_values(uint64_t begin, uint32_t name,
				      const struct kymo_value *values, size_t count);

/*
 * A type for marks other than plain ones, which are "user_annotation": of any number that
 * <kymo/activity_type.h> knows, for use as `type` below. Holds for the life of the
 * process, and in its children. KYMO_ERROR_NOT_FOUND: nobody has that number;
 * KYMO_ERROR_NO_MEMORY: no more fit, marks and sources of a process having 65535
 * together. Then `*type` is 0, which is no type, and the log is told as well.
 */
KYMO_API int32_t kymo_mark_type(uint32_t activity_type, uint16_t *type,
				struct kymo_error *error);

/*
 * The span, or a moment, with a type of kymo_mark_type. Values and outcome as of
 * kymo_mark_end_values; what the list of wanted types leaves out is counted as filtered,
 * and KYMO_OK. KYMO_ERROR_INVALID, counted: the type is none of kymo_mark_type, like 0.
 */
KYMO_API int32_t kymo_mark_end_typed(uint64_t begin, uint16_t type, uint32_t name,
				     const struct kymo_value *values, size_t count);
KYMO_API int32_t kymo_mark_instant_typed(uint16_t type, uint32_t name,
					 const struct kymo_value *values, size_t count);

/* A moment. */
KYMO_API void kymo_mark_record_instant(uint32_t name);
static inline void kymo_mark_instant(uint32_t name)
{
	if (!kymo_mark_is_off())
		kymo_mark_record_instant(name);
}

/*
 * Records that a span has begun, so that it is shown as unfinished if the program dies
 * or hangs in it: for steps and other long work. kymo_mark_end completes it.
 */
KYMO_API uint64_t kymo_mark_record_open(uint32_t name);
static inline uint64_t kymo_mark_open(uint32_t name)
{
	return kymo_mark_is_off() ? 0 : kymo_mark_record_open(name);
}

/*
 * Tells that an iteration of what is called `name` (a profiler, a loop) was traced from
 * `begin` to now, with so many operations, as libkineto's trace spans do: a span "NAME
 * (ITERATION)" of category "Trace", and at its begin a moment of the whole trace,
 * "Iteration Start: NAME". KYMO_OK also for a `begin` of 0; else as kymo_mark_end_values.
 */
KYMO_API int32_t kymo_mark_trace_span(uint64_t begin, const char *name,
				      uint64_t iteration, uint64_t op_count);

/*
 * A range is a mark whose begin has the name too, so that one can be chosen as what a
 * process records of itself (capture_range in session.h and control.h): its begin begins
 * the recording and its end, in whichever thread, ends it; both wait for the sources to
 * go on and to rest. Other ranges are spans of the thread that ends them. They cost a
 * call, and make other marks no dearer. Not in signal handlers.
 */
KYMO_API uint64_t kymo_range_begin(uint32_t name);
KYMO_API void kymo_range_end(uint64_t begin, uint32_t name);

KYMO_END_DECLS

#endif
