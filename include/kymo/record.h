/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The record: what a source writes, once, and nothing converts until the program is
 * done. FROZEN: sizes, offsets and meaning never change; a new need is a new kind.
 *
 * A line is 64 bytes, little endian. A record is 1 to 255 lines that follow each other
 * in one chunk: a first line (kinds below 64) that says how many there are, then MORE,
 * VALUES or BYTES lines that belong to it. A line of zeros is never valid.
 *
 * Everything that repeats stands in the capture's dictionary and is referred to here by
 * number: track, type, domain, name, keys, attribute sets. Number 0 always means none;
 * track 0 means the thread that wrote the record. Times are raw ticks of the track's
 * clock and are stored as they came, even when they run backwards. Reserved members and
 * flags without a name are 0.
 */
#ifndef KYMO_RECORD_H
#define KYMO_RECORD_H

#include <kymo/base.h>

#define KYMO_LINE_SIZE        64u
#define KYMO_RECORD_LINES_MAX 255u

/* First lines. */
#define KYMO_KIND_SPAN    1u /* struct kymo_record: [begin, end) */
#define KYMO_KIND_INSTANT 2u /* struct kymo_record: end = begin */
#define KYMO_KIND_COUNTER 3u /* struct kymo_record_counter */
#define KYMO_KIND_LINK    4u /* struct kymo_record_link */
#define KYMO_KIND_LEASE   5u /* struct kymo_record_lease, written by the library only */
#define KYMO_KIND_GAP     6u /* struct kymo_record: nothing was recorded in [begin, end) */
#define KYMO_KIND_OPEN    7u /* struct kymo_record: a span's begin; its SPAN comes later */

/* Further lines. */
#define KYMO_KIND_MORE   64u /* struct kymo_record_more: keys with values */
#define KYMO_KIND_VALUES 65u /* struct kymo_record_values: further counter values */
#define KYMO_KIND_BYTES  66u /* struct kymo_record_bytes: one long value, in pieces */

#define KYMO_KIND_PAD 255u /* skipped by readers */

/* Flags of a record. */
#define KYMO_RECORD_ORIGIN      0x0001u /* it launched what carries its correlation */
#define KYMO_RECORD_TARGET      0x0002u /* it was launched by what carries it */
#define KYMO_RECORD_UNFINISHED  0x0004u /* not known to have ended: see below */
#define KYMO_RECORD_UNTIMED     0x0008u /* the source says that its times mean nothing */
#define KYMO_RECORD_HOST_CLOCK  0x0010u /* host ticks whatever the track's clock */
#define KYMO_RECORD_ERROR       0x0020u /* the activity itself failed */
#define KYMO_RECORD_END_BY_RULE 0x0040u /* the end was made up by a stated rule */
#define KYMO_RECORD_NAME_CODE   0x0080u /* `name` is a code address's number */

/* The `end` of an UNFINISHED one is the last moment when it was known to run. */

/*
 * What the 64 bits of a value hold. The type belongs to the key, not to the record.
 * An array type adds KYMO_VALUE_ARRAY and travels in BYTES lines or attribute sets. A
 * TIME stands in the record itself only.
 */
#define KYMO_VALUE_INT64  1u
#define KYMO_VALUE_UINT64 2u
#define KYMO_VALUE_DOUBLE 3u
#define KYMO_VALUE_BOOL   4u
#define KYMO_VALUE_STRING 5u /* a string's number in the dictionary */
#define KYMO_VALUE_CODE   6u /* a code address's number in the dictionary */
#define KYMO_VALUE_TIME   7u /* ticks of the track's clock, converted like begin */
#define KYMO_VALUE_ARRAY  0x100u

/*
 * A value of lists and dictionaries within each other, as words of 64 bits, which travel
 * like the elements of an array; <kymo/nested.h> makes them. LIST and DICT stand in these
 * words only, and in what sinks are told: no key has them.
 */
#define KYMO_VALUE_NESTED 0x108u
#define KYMO_VALUE_LIST   9u
#define KYMO_VALUE_DICT   10u

KYMO_BEGIN_DECLS

/*
 * SPAN, INSTANT, OPEN and GAP: what happened, where, when, to what it belongs. A SPAN
 * completes the OPEN of equal track, type and begin. A GAP that is UNFINISHED and ends
 * where it begins is a begin, too: the GAP of equal type and begin completes it.
 */
struct kymo_record {
	uint8_t kind, lines;
	uint16_t flags;
	uint32_t track;
	uint16_t type;        /* stands for one (source, activity type) pair */
	uint16_t domain;      /* of the correlation; equal values of two domains differ */
	uint32_t name;        /* a string's number */
	uint64_t begin, end;  /* ticks */
	uint64_t correlation; /* 0: none */
	uint32_t attributes;  /* an attribute set's number */
	uint16_t key[2];      /* 0: the value is unused */
	uint64_t value[2];
};

/* COUNTER: the values of one counter group over [begin, end), or at begin = end. */
struct kymo_record_counter {
	uint8_t kind, lines;
	uint16_t flags;
	uint32_t track;
	uint16_t type;
	uint16_t count; /* values in this record, in the group's order */
	uint32_t group;
	uint64_t begin, end;
	uint64_t value[4]; /* the rest in VALUES lines */
};

/*
 * LINK: an arrow between the activities that carry `from` and `to`: of each the one that
 * is no TARGET, if there is one.
 */
struct kymo_record_link {
	uint8_t kind, lines;
	uint16_t flags;
	uint32_t track;
	uint16_t link_kind;
	uint16_t from_domain, to_domain;
	uint16_t source; /* its number, filled in by the host */
	uint64_t time;
	uint64_t from, to; /* correlations */
	uint32_t attributes;
	uint16_t key[2];
	uint64_t value[2];
};

/* MORE: six keys with values. */
struct kymo_record_more {
	uint8_t kind, used; /* keys in use, from the first */
	uint16_t reserved0;
	uint16_t key[6];
	uint64_t value[6];
};

/* VALUES: seven counter values. */
struct kymo_record_values {
	uint8_t kind, used;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t value[7];
};

/*
 * BYTES: a piece of one value; equal keys of following lines are its further pieces. Of
 * an ARRAY key: the elements. Of a STRING key: the text itself, for what does not repeat.
 * Key 0: the record's name, for the same reason.
 */
struct kymo_record_bytes {
	uint8_t kind, used; /* bytes in this line, 1 to 56 */
	uint16_t key;
	uint32_t total; /* bytes of the whole value */
	uint8_t byte[56];
};

/* LEASE: from here on the lines of this chunk are this thread's. */
struct kymo_record_lease {
	uint8_t kind, lines;
	uint16_t flags;
	uint32_t track;  /* the thread's track: what track 0 means below */
	uint32_t writer; /* slot of the thread's counts */
	uint32_t tid;
	uint64_t begin;    /* host ticks */
	uint64_t sequence; /* orders all leases of one capture */
	uint64_t reserved[4];
};

/* Any line: what an array of lines is declared as. */
union kymo_line {
	struct kymo_record record;
	struct kymo_record_counter counter;
	struct kymo_record_link link;
	struct kymo_record_more more;
	struct kymo_record_values values;
	struct kymo_record_bytes bytes;
};

KYMO_STATIC_ASSERT(sizeof(union kymo_line) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, track) == 4);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, type) == 8);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, name) == 12);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, begin) == 16);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, correlation) == 32);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, attributes) == 40);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, key) == 44);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record, value) == 48);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_counter) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_counter, value) == 32);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_link) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_link, time) == 16);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_link, value) == 48);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_more) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_more, value) == 16);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_values) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_values, value) == 8);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_bytes) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_bytes, byte) == 8);
KYMO_STATIC_ASSERT(sizeof(struct kymo_record_lease) == KYMO_LINE_SIZE);
KYMO_STATIC_ASSERT(offsetof(struct kymo_record_lease, sequence) == 24);

KYMO_END_DECLS

#endif
