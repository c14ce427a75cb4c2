/* SPDX-License-Identifier: BSD-3-Clause */
/* One event of a trace as it stands there, and what it leaves for the sorted passes. */
#ifndef KYMO_CLI_CHECK_EVENT_H
#define KYMO_CLI_CHECK_EVENT_H

#include "check.h"

enum ky_event_word {
	KY_PH,
	KY_NAME,
	KY_CAT,
	KY_PID,
	KY_TID,
	KY_TS,
	KY_DUR,
	KY_TTS,
	KY_TDUR,
	KY_ID,
	KY_BP,
	KY_SCOPE,
	KY_BIND_ID,
	KY_FLOW_IN,
	KY_FLOW_OUT,
	KY_ARGS,
	KY_ID2,
	KY_ARG_NAME, /* from here on in args */
	KY_ARG_SORT_INDEX,
	KY_ARG_CORRELATION,
	KY_ARG_STREAM,
	KY_ARG_DEVICE,
	KY_ARG_LABELS,
	KY_WORD_COUNT,
};

#define KY_WORD_TEXT 64

/* A value; of texts and numbers the beginning, and a hash of all. */
struct ky_word {
	enum ky_json_token token; /* KY_JSON_END: it is not there */
	uint64_t begin, end, hash;
	char text[KY_WORD_TEXT];
};

#define KY_SERIES_MAX   64
#define KY_PROBLEMS_MAX 32
#define KY_CUTS_MAX     16

struct ky_event {
	struct ky_check_place place;
	uint64_t end;
	struct ky_word words[KY_WORD_COUNT];
	bool is_local; /* id2.local */

	/* Of args: the keys, for counters. */
	uint64_t series[KY_SERIES_MAX];
	size_t series_count;
	uint64_t bad_values; /* that no counter may have */

	/* What stands in the event and is judged when its phase is known. */
	struct ky_event_problem {
		struct ky_check_place place;
		enum ky_json_problem_kind kind;
		bool in_args, has_mend;
		uint64_t size;
		char text[KY_WORD_TEXT], mend[KY_WORD_TEXT];
	} problems[KY_PROBLEMS_MAX];
	size_t problem_count;

	/* Members that can be left out, with what separates them. */
	struct ky_event_cut {
		uint64_t begin, end;
		bool in_args, is_open;
	} cuts[KY_CUTS_MAX];
	size_t cut_count;
};

static inline char ky_event_phase(const struct ky_event *event)
{
	const struct ky_word *word = &event->words[KY_PH];

	return word->token == KY_JSON_STRING ? word->text[0] : '\0';
}

static inline bool ky_word_is_text(const struct ky_word *word, const char *text)
{
	return word->token == KY_JSON_STRING && __builtin_strcmp(word->text, text) == 0;
}

#define KY_CHECK_PIDS 4096

enum { KY_AT_TOP, KY_IN_EVENT, KY_IN_ARGS };

#define KY_FIT_SEAM 64

/* What single readers look for, see check_fit.c. */
struct ky_check_fit {
	uint64_t events, names, spans, operators, steps, device_work, without_device;
	bool has_args;
	struct ky_word named_pid, process_name; /* of the last process_name */
	struct ky_check_place first, first_span, first_work, last_step;

	bool has_rank, has_own_rank; /* found in the text; of distributedInfo */
	uint64_t rank, own_rank;
	struct ky_check_place own_rank_place;
	char seam[KY_FIT_SEAM]; /* the end of the text so far */
	size_t seam_size;
};

/* The file while it is read. */
struct ky_check_reading {
	struct ky_check *check;
	struct ky_json_reader *reader;
	int level; /* KY_AT_TOP ... */
	struct ky_event event;
	bool has_span; /* an X has come */
	struct ky_check_fit fit;

	/* Of the event: what a cut needs to know of the members around. */
	struct ky_event_members {
		uint64_t begin, previous_end; /* of the present one; of the one before */
		bool has_kept;
	} members;

	/* In the list of events: what is missing before the one that is being read. */
	bool is_in_list;
	struct ky_event_problem comma; /* has_mend: there is one */

	/* What is known of pids, in the slot of their hash. */
	struct ky_check_pid {
		uint64_t pid;
		unsigned seen;
	} pids[KY_CHECK_PIDS];
};

/* Tells of what the lenient reader met: a ky_json_problem_fn. */
void ky_check_tell(void *context, const struct ky_json_problem *problem);

/* What came behind a missing comma has come whole, or it is not wanted without it. */
void ky_check_tell_comma(struct ky_check_reading *reading, bool is_wanted);

void ky_event_begin(struct ky_check_reading *reading);

/* After a key: its value, if it is one of an event's, else passes over it. */
enum ky_json_token ky_event_read_member(struct ky_check_reading *reading);

/* After `}`, where the members were read one by one. */
void ky_event_end(struct ky_check_reading *reading);

/* After `{`: up to and with `}`. */
enum ky_json_token ky_event_read(struct ky_check_reading *reading);

/* All of it has come: what is wrong with it, and its records for the sorter. */
void ky_event_judge(struct ky_check_reading *reading);

/* ---- What is sorted ---- */

enum ky_record_group {
	KY_OF_TRACK, /* key: pid and tid */
	KY_OF_ARROW, /* key: id; sub: cat and name */
	KY_OF_ASYNC, /* key: cat and id */
	KY_OF_COUNTER,
	KY_OF_CORRELATION,
};

#define KY_RECORD_DEVICE   1u /* of the device; else of the host */
#define KY_RECORD_SEEN_X   2u /* B: an X stands before it in the file */
#define KY_RECORD_NO_BP    4u /* f */
#define KY_RECORD_TEXT_PID 8u
#define KY_RECORD_BOUND    16u /* by bind_id */

struct ky_check_record {
	uint64_t key, sub;
	int64_t begin_ns, end_ns;
	uint64_t event, line, byte;
	uint64_t word; /* B, E: the name; async: the name; counter: the series */
	int64_t pid;
	uint32_t tid_at; /* from `byte` on */
	uint8_t tid_size;
	uint8_t group, phase, flags;
};

static inline struct ky_check_place ky_record_place(const struct ky_check_record *record)
{
	return (struct ky_check_place){record->line, record->byte, record->event};
}

int ky_record_compare(const void *a, const void *b);

/* The name of a row, for lanes that a mend opens; it may stand in JSON as it is. */
const char *ky_check_track_name(const struct ky_check *check, uint64_t key);

#endif
