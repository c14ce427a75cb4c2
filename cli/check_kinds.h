/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of findings of `kymo check`: what each is called, and what it does to whom.
 * Ids are stable: programs go by them.
 */
#ifndef KYMO_CLI_CHECK_KINDS_H
#define KYMO_CLI_CHECK_KINDS_H

#include <stdbool.h>

enum ky_check_reader {
	KY_PERFETTO,
	KY_CHROME,
	KY_SPEEDSCOPE,
	KY_HTA,
	KY_TENSORBOARD,
	KY_FIREFOX,
	KY_READER_COUNT,
};

enum ky_check_effect {
	KY_FINE,
	KY_WRONG,   /* draws or counts it wrongly */
	KY_DROPS,   /* leaves out what is concerned */
	KY_REFUSES, /* does not open the file */
	KY_HANGS,
};

enum ky_check_severity {
	KY_NOTE,    /* good to know; no reader suffers */
	KY_MINOR,   /* one reader's wish, or a trifle: see the manual */
	KY_WARNING, /* against the format; no reader is known to suffer */
	KY_ERROR,   /* a reader suffers */
};

enum ky_check_kind {
	/* The text */
	KY_HANGING_VALUE,
	KY_SYNTAX,
	KY_UNREADABLE_EVENT,
	KY_CUT_OBJECT,
	KY_CUT_ARRAY,
	KY_NON_FINITE,
	KY_NON_FINITE_OUTSIDE,
	KY_ODD_NUMBER,
	KY_ODD_WORD,
	KY_RAW_CONTROL,
	KY_BAD_ESCAPE,
	KY_TEXT_OUTSIDE,
	KY_SURROGATE_ESCAPE,
	KY_SURROGATE_IN_ARGS,
	KY_NUL,
	KY_INVALID_UTF8,
	KY_TRAILING_COMMA,
	KY_DOUBLED_COMMA,
	KY_MISSING_COMMA,
	KY_NDJSON,
	KY_SECOND_DOCUMENT,
	KY_DATA_BEHIND_END,
	KY_BYTE_ORDER_MARK,
	KY_FIRST_BYTES,
	KY_FOREIGN_FIRST_KEY,
	/* gzip */
	KY_GZIP_CUT,
	KY_GZIP_BROKEN,
	KY_GZIP_BEHIND,
	KY_GZIP_MEMBERS,
	KY_GZIP_AFTER_END,
	/* The document */
	KY_NO_TRACE_EVENTS,
	KY_TRACE_EVENTS_TWICE,
	KY_NOT_AN_EVENT,
	KY_DISPLAY_UNIT,
	KY_DISPLAY_UNIT_NO_TEXT,
	KY_RANK_UNSEEN,
	KY_RANK_ELSEWHERE,
	KY_FIRST_EVENT,
	KY_NO_ARGS,
	KY_ONLY_NAMES,
	KY_NO_OPERATOR,
	/* Events */
	KY_NO_PHASE,
	KY_UNKNOWN_PHASE,
	KY_NO_NAME,
	KY_NO_CATEGORY,
	KY_ARGS_NO_OBJECT,
	KY_ARGS_NULL,
	KY_BIG_NUMBER,
	KY_HUGE_INTEGER,
	KY_TRACE_CATEGORY,
	KY_PROFILER_STEPS,
	KY_LONG_FRACTION,
	/* Times */
	KY_NO_TIME,
	KY_TIME_TEXT,
	KY_TIME_NEGATIVE,
	KY_TIME_IMPOSSIBLE,
	KY_TIME_ZERO,
	KY_TIME_COARSE,
	KY_TIME_ROUNDED,
	KY_NO_DURATION,
	KY_BAD_DURATION,
	KY_NEGATIVE_DURATION,
	KY_ZERO_DURATION,
	KY_OUT_OF_ORDER,
	/* Ids and rows */
	KY_TEXT_ID,
	KY_NO_ID,
	KY_ID_BEYOND_31,
	KY_ID_BEYOND_53,
	KY_TID_ZERO,
	KY_SHARED_PID,
	KY_OVERLAP,
	KY_CHILD_FIRST,
	KY_END_ROUNDED,
	KY_TOO_DEEP,
	KY_BAD_NAMING,
	KY_NAMING_NO_ARGS,
	KY_DEVICE_NUMBER,
	KY_DEVICE_MISSING,
	KY_STREAM_ON_HOST,
	KY_TID_NO_NUMBER,
	KY_LABELS_IGNORED,
	KY_STREAM_NO_NUMBER,
	/* B and E, instants, async, counters */
	KY_END_NO_BEGIN,
	KY_BEGIN_NO_END,
	KY_END_MISPLACED,
	KY_EMPTY_PAIR,
	KY_INSTANT_SCOPE,
	KY_INSTANT_NO_ROW,
	KY_ASYNC_NO_ID,
	KY_ASYNC_NO_BEGIN,
	KY_ASYNC_NO_END,
	KY_ASYNC_CROSSED,
	KY_ASYNC_SHARED_ID,
	KY_COUNTER_VALUE,
	KY_COUNTER_NO_ARGS,
	KY_COUNTER_LATE_SERIES,
	KY_COUNTER_ID,
	/* Arrows and correlation */
	KY_KERNEL_BEFORE_LAUNCH,
	KY_ORDER_UNDECIDED,
	KY_CORRELATION_REPEATED,
	KY_ARROW_ID,
	KY_ARROW_ID_BEYOND_53,
	KY_ARROW_NO_CATEGORY,
	KY_ARROW_NO_BP,
	KY_ARROW_NO_BEGIN,
	KY_ARROW_NO_END,
	KY_ARROW_UNLIKE,
	KY_ARROW_BACKWARD,
	KY_ARROW_FILE_ORDER,
	KY_ARROW_BEFORE_EMPTY,
	KY_ARROW_ID_REUSED,
	KY_ARROW_MANY_ENDS,
	KY_ARROW_UNBOUND,
	KY_ARROW_NO_DIRECTION,
	/* What Kymo says of its own files */
	KY_INCOMPLETE,
	KY_LOST_RECORDS,
	KY_LEFT_OUT,
	KY_UNTIMED_RECORDS,
	KY_LOST_ARROWS,
	KY_CHECK_KIND_COUNT,
};

struct ky_check_kind_text {
	const char *id;
	enum ky_check_severity severity;
	const char *effects; /* a letter for each reader */
	const char *what;    /* a short line of prose */
	const char *remedy;  /* NULL: --repair mends it */
};

extern const struct ky_check_kind_text ky_check_kinds[KY_CHECK_KIND_COUNT];

const char *ky_check_reader_name(int reader);
int ky_check_reader_of(const char *name); /* -1: no such reader */

enum ky_check_effect ky_check_effect(enum ky_check_kind kind, int reader);

/* "hangs", "draws it wrongly" ...; of several: "hang" */
const char *ky_check_effect_words(enum ky_check_effect effect, bool several);
const char *ky_check_severity_word(enum ky_check_severity severity);

#endif
