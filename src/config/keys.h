/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keys of a configuration: libkineto's and Kymo's own, in one table. It also says
 * which of them do something in this version, and what, or why not.
 */
#ifndef KYMO_CONFIG_KEYS_H
#define KYMO_CONFIG_KEYS_H

#include <kymo/base.h>

#include "base/nearest.h"

/* Those that are used by name; the table has more behind them. */
enum ky_key_id {
	KY_KEY_SOURCES,
	KY_KEY_OUTPUT,
	KY_KEY_OVERWRITE,
	KY_KEY_BUFFER_SIZE,
	KY_KEY_OVERFLOW,
	KY_KEY_FILE_LIMIT,
	KY_KEY_FOLLOW_FORK,
	KY_KEY_COMPAT,
	KY_KEY_SINKS,
	KY_KEY_ACTIVITY_TYPES,
	KY_KEY_LOG_FILE,
	KY_KEY_DEVICE_BUFFER_MB,
	KY_KEY_DELAY,
	KY_KEY_DURATION,
	KY_KEY_DURATION_MS,
	KY_KEY_ITERATIONS,
	KY_KEY_WARMUP_S,
	KY_KEY_WARMUP_ITERATIONS,
	KY_KEY_START_TIME,
	KY_KEY_START_ITERATION,
	KY_KEY_START_ROUND_UP,
	KY_KEY_TRACE_ID,
	KY_KEY_GROUP_TRACE_ID,
	KY_KEY_INPUT_SHAPES, /* these five: for the client */
	KY_KEY_CLIENT_MEMORY,
	KY_KEY_STACK,
	KY_KEY_FLOPS,
	KY_KEY_MODULES,
};

enum ky_key_kind {
	KY_KIND_TEXT,     /* any bytes */
	KY_KIND_PATTERN,  /* of an output's name */
	KY_KIND_LIST,     /* separated by commas */
	KY_KIND_TYPES,    /* the same, of activity types */
	KY_KIND_BOOL,     /* n, no, f, false, 0; y, yes, t, true, 1; in any case */
	KY_KIND_CHOICE,   /* one of `choices` */
	KY_KIND_INTEGER,  /* decimal digits */
	KY_KIND_SIZE,     /* bytes: "64MiB", "1G", "65536" */
	KY_KIND_DURATION, /* ns: "500ms", "1.5s", "2" (seconds) */
};

struct ky_key {
	const char *name;
	const char *variable; /* of the environment, that sets it, or NULL */
	const char *fallback; /* as text: what holds where nothing sets it; NULL: "" */
	const char *unit;     /* NULL: "" */
	const char *choices;  /* "stream|drop|overwrite"; the number is 1, 2, ... */
	const char *use;      /* what it does in this version; NULL: nothing */
	const char *unused;   /* and why; NULL: it does something */
	uint64_t least, most; /* of INTEGER, SIZE and DURATION */
	enum ky_key_kind kind;
	int is_variable_only; /* texts cannot set it */
};

#define KY_KEY_MAX 64 /* there are not more */

/* NULL behind the last. */
const struct ky_key *ky_key_at(size_t index);

/*
 * The key of that name in a text, also of an older one or one in another unit, and what a
 * number given by that name is multiplied by; NULL: there is none.
 */
const struct ky_key *ky_key_find(struct kymo_str name, size_t *index, uint64_t *factor);

/* Offers the names that a text may have. */
void ky_keys_offer(struct ky_nearest *nearest);

#endif
