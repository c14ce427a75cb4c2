/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_kinds.h"

#include <stddef.h>
#include <string.h>

/*
 * One letter for each reader, in the order of enum ky_check_reader: what it does where it
 * meets such a thing, as tried and read there.
 *
 *     . takes it   W draws or counts it wrongly   D drops what is concerned
 *     R refuses the file   H hangs
 */
#define MENDED NULL

const struct ky_check_kind_text ky_check_kinds[KY_CHECK_KIND_COUNT] = {
	/* The text */
	[KY_HANGING_VALUE] = {"hanging-value", KY_ERROR, "H.....",
			      "a value in the args of a counter or a name that Perfetto "
			      "reads for ever",
			      MENDED},
	[KY_SYNTAX] = {"syntax", KY_ERROR, "RRRRRR", "no JSON from here on",
		       "have the tool that wrote it mended"},
	[KY_UNREADABLE_EVENT] = {"unreadable-event", KY_ERROR, "RRRRRR",
				 "an event that is no JSON; the next line is read on",
				 MENDED},
	[KY_CUT_OBJECT] = {"cut-object", KY_ERROR, "RRRRRR",
			   "the file ends early: its writer was stopped", MENDED},
	[KY_CUT_ARRAY] = {"cut-array", KY_ERROR, "...RRR",
			  "the list of events has no end", MENDED},
	[KY_NON_FINITE] = {"non-finite", KY_ERROR, "DRR..R",
			   "NaN, Infinity or N/A, which JSON does not have", MENDED},
	[KY_NON_FINITE_OUTSIDE] = {"non-finite-outside", KY_ERROR, "RRR..R",
				   "NaN, Infinity or N/A outside of \"args\"", MENDED},
	[KY_ODD_NUMBER] = {"odd-number", KY_ERROR, "RRRRRR",
			   "no number of JSON, as 100. .5 +5 007 1_000", MENDED},
	[KY_ODD_WORD] = {"odd-word", KY_ERROR, "RRRRRR", "a word without quotes",
			 "have the tool that wrote it mended"},
	[KY_RAW_CONTROL] = {"raw-control", KY_ERROR, ".RRRRR", "a control byte in a text",
			    MENDED},
	[KY_BAD_ESCAPE] = {"bad-escape", KY_ERROR, "WRRRRR",
			   "a backslash that escapes nothing", MENDED},
	[KY_TEXT_OUTSIDE] = {"text-outside", KY_ERROR, "RRRRRR",
			     "a control byte or a bad escape in a text outside of events",
			     MENDED},
	[KY_SURROGATE_ESCAPE] =
		{"surrogate-escape", KY_ERROR, "R.....",
		 "\\uD800 to \\uDFFF in a name or another text of an event", MENDED},
	[KY_SURROGATE_IN_ARGS] =
		{"surrogate-in-args", KY_ERROR, "D.....",
		 "\\uD800 to \\uDFFF in \"args\", of which the rest is lost", MENDED},
	[KY_NUL] = {"nul", KY_ERROR, "W.....", "U+0000 in a text, which ends there",
		    MENDED},
	[KY_INVALID_UTF8] = {"invalid-utf8", KY_ERROR, "WW.RR.",
			     "bytes that are no UTF-8", MENDED},
	[KY_TRAILING_COMMA] = {"trailing-comma", KY_ERROR, ".RRRRR",
			       "a comma without an item", MENDED},
	[KY_DOUBLED_COMMA] = {"doubled-comma", KY_ERROR, "RRRRRR", "two commas", MENDED},
	[KY_MISSING_COMMA] = {"missing-comma", KY_ERROR, ".RRRRR",
			      "no comma between two items", MENDED},
	[KY_NDJSON] = {"ndjson", KY_ERROR, "DRRRRR",
		       "one event a line, without brackets around", MENDED},
	[KY_SECOND_DOCUMENT] = {"second-document", KY_ERROR, "DRRRRR",
				"a second trace behind the first", "cut the file in two"},
	[KY_DATA_BEHIND_END] = {"data-behind-end", KY_ERROR, "RRRRRR",
				"something stands behind the end", MENDED},
	[KY_BYTE_ORDER_MARK] = {"byte-order-mark", KY_ERROR, "R..RR.",
				"the file begins with U+FEFF", MENDED},
	[KY_FIRST_BYTES] = {"first-bytes", KY_ERROR, "R.....",
			    "begins neither with {\" nor with [{\"",
			    "write an event first that is not empty"},
	[KY_FOREIGN_FIRST_KEY] = {"foreign-first-key", KY_ERROR, "R.....",
				  "the first key makes it another format to Perfetto",
				  "put another key first"},
	/* gzip */
	[KY_GZIP_CUT] = {"gzip-cut", KY_ERROR, "RRRRRR", "the gzip data ends early",
			 MENDED},
	[KY_GZIP_BROKEN] = {"gzip-broken", KY_ERROR, "RRRRRR", "the gzip data is damaged",
			    MENDED},
	[KY_GZIP_BEHIND] = {"gzip-behind", KY_ERROR, "R.....",
			    "bytes behind the gzip data", MENDED},
	[KY_GZIP_MEMBERS] = {"gzip-members", KY_ERROR, ".DR...",
			     "several gzip members: only the first is read", MENDED},
	[KY_GZIP_AFTER_END] = {"gzip-after-end", KY_ERROR, "R.....",
			       "a gzip member behind the end of the trace", MENDED},
	/* The document */
	[KY_NO_TRACE_EVENTS] = {"no-trace-events", KY_ERROR, "DRRRRR",
				"no list \"traceEvents\": nothing is shown",
				"is it a trace?"},
	[KY_TRACE_EVENTS_TWICE] = {"trace-events-twice", KY_ERROR, ".DDDDD",
				   "\"traceEvents\" stands twice: only the last is read",
				   "make one list of them"},
	[KY_NOT_AN_EVENT] = {"not-an-event", KY_ERROR, "R.....",
			     "an item of \"traceEvents\" that is no object",
			     "leave it out"},
	[KY_DISPLAY_UNIT] = {"display-unit", KY_ERROR, ".R....",
			     "a \"displayTimeUnit\" other than \"ms\" and \"ns\"",
			     "write \"ms\""},
	[KY_DISPLAY_UNIT_NO_TEXT] = {"display-unit-no-text", KY_ERROR, "RR....",
				     "a \"displayTimeUnit\" that is no text",
				     "write \"ms\""},
	[KY_RANK_UNSEEN] = {"rank-unseen", KY_ERROR, "...W..",
			    "a rank without a space before it: read as rank 0",
			    "write \"rank\": 3"},
	[KY_RANK_ELSEWHERE] = {"rank-elsewhere", KY_ERROR, "...W..",
			       "another \"rank\" of the file, which is read for it",
			       "write \"distributedInfo\" first"},
	[KY_FIRST_EVENT] = {"first-event", KY_ERROR, ".....R",
			    "the first of a bare list lacks \"ph\", \"cat\" or \"args\"",
			    "write {\"traceEvents\": [...]}"},
	[KY_NO_ARGS] = {"no-args", KY_MINOR, "...R..", "no event has \"args\"",
			"give one event \"args\""},
	[KY_ONLY_NAMES] = {"only-names", KY_MINOR, "...R..",
			   "nothing but M events: there is nothing to analyse",
			   "record something"},
	[KY_NO_OPERATOR] = {"no-operator", KY_MINOR, "....W.",
			    "device work without a host event of \"cat\" cpu_op",
			    "write a cpu_op that spans the program, as kymo export "
			    "--compat tensorboard does"},
	/* Events */
	[KY_NO_PHASE] = {"no-phase", KY_ERROR, "DD....",
			 "no \"ph\", or one that is no text", "write \"ph\""},
	[KY_UNKNOWN_PHASE] = {"unknown-phase", KY_ERROR, "DD....",
			      "a \"ph\" that is not known",
			      "use X, B, E, i, C, b, e, n, s, t, f or M"},
	[KY_NO_NAME] = {"no-name", KY_ERROR, ".R.RRR",
			"no \"name\", or one that is no text", "name every event"},
	[KY_NO_CATEGORY] = {"no-category", KY_ERROR, "...DR.", "no \"cat\"",
			    "write \"cat\""},
	[KY_ARGS_NO_OBJECT] = {"args-no-object", KY_ERROR, "D.....",
			       "\"args\" that are no object", "write an object"},
	[KY_ARGS_NULL] = {"args-null", KY_ERROR, "....R.", "\"args\": null",
			  "leave it out"},
	[KY_BIG_NUMBER] = {"big-number", KY_ERROR, ".WW..W",
			   "an integer beyond 2^53, which a double can't hold",
			   "write it as a text"},
	[KY_LONG_FRACTION] = {"long-fraction", KY_ERROR, "W.....",
			      "more than 18 digits before or behind a point",
			      "write fewer digits"},
	[KY_HUGE_INTEGER] = {"huge-integer", KY_ERROR, "WWW..W",
			     "an integer beyond 2^63, which 64 bits can't hold",
			     "write it as a text"},
	[KY_TRACE_CATEGORY] = {"trace-category", KY_MINOR, "...D..",
			       "a span of \"cat\" Trace", "use another \"cat\""},
	[KY_PROFILER_STEPS] =
		{"profiler-steps", KY_MINOR, "...D..",
		 "several ProfilerStep: device work of the last one is left out",
		 "end with a step that does nothing"},
	/* Times */
	[KY_NO_TIME] = {"no-time", KY_ERROR, "DW....",
			"no \"ts\", or one that is no number", "write \"ts\""},
	[KY_TIME_TEXT] = {"time-text", KY_WARNING, "......", "a time written as a text",
			  MENDED},
	[KY_TIME_NEGATIVE] = {"time-negative", KY_ERROR, "D.....", "a time before 0",
			      "shift all times"},
	[KY_TIME_IMPOSSIBLE] = {"time-impossible", KY_ERROR, "D.....",
				"a time that 64 bits of ns can't hold",
				"write microseconds"},
	[KY_TIME_ZERO] = {"time-zero", KY_WARNING, "......",
			  "a span at 0 of length 0: it was never timed", "leave it out"},
	[KY_TIME_COARSE] = {"time-coarse", KY_ERROR, ".W....",
			    "a time beyond 2^42 us: a double has no ns left",
			    "count from a base near the first event"},
	[KY_TIME_ROUNDED] =
		{"time-rounded", KY_ERROR, "WWW...",
		 "a time beyond 2^43 us: rounded by 1 ns and more, overlaps come of it",
		 "count from a base near the first event"},
	[KY_NO_DURATION] = {"no-duration", KY_ERROR, "DWD...", "a span without \"dur\"",
			    "write \"dur\""},
	[KY_BAD_DURATION] =
		{"bad-duration", KY_ERROR, "R.....",
		 "a \"dur\", \"tts\" or \"tdur\" that is no number: Perfetto stops there",
		 MENDED},
	[KY_NEGATIVE_DURATION] = {"negative-duration", KY_ERROR, "DW....",
				  "a span that ends before it begins",
				  "find out which of the times is wrong"},
	[KY_ZERO_DURATION] = {"zero-duration", KY_MINOR, "..D...", "a span of length 0",
			      "write an instant"},
	[KY_OUT_OF_ORDER] = {"out-of-order", KY_NOTE, "......",
			     "stands before an event of its row that began earlier",
			     "sort by time"},
	/* Ids and rows */
	[KY_TEXT_ID] = {"text-id", KY_ERROR, "W.R...",
			"a \"pid\" or \"tid\" that is a text",
			"write a number, and the text as the name"},
	[KY_NO_ID] = {"no-id", KY_ERROR, "WW....", "no usable \"pid\" or \"tid\"",
		      "write both"},
	[KY_ID_BEYOND_31] = {"id-beyond-31", KY_ERROR, "W.....",
			     "a pid or tid that is negative or beyond 31 bits; beyond 32 "
			     "rows are merged",
			     "number the rows from 1"},
	[KY_ID_BEYOND_53] = {"id-beyond-53", KY_ERROR, "WW....",
			     "a pid or tid beyond 2^53: rows are merged",
			     "number the rows from 1"},
	[KY_TID_ZERO] = {"tid-zero", KY_ERROR, "W.....",
			 "tid 0, which becomes the main thread",
			 "number the rows from 1"},
	[KY_SHARED_PID] = {"shared-pid", KY_ERROR, "W.....",
			   "one pid for a process and a device",
			   "give devices pids of their own"},
	[KY_OVERLAP] = {"overlap", KY_ERROR, "DWW...",
			"a span that begins within another and ends behind it", MENDED},
	[KY_CHILD_FIRST] = {"child-first", KY_ERROR, ".W....",
			    "begins with its parent, but stands before it",
			    "write the longer one first"},
	[KY_END_ROUNDED] = {"end-rounded", KY_MINOR, ".WW...",
			    "ends with its parent, but not as a double",
			    "end it 1 ns earlier"},
	[KY_TOO_DEEP] = {"too-deep", KY_ERROR, "D.....", "nested deeper than 512",
			 "use further rows"},
	[KY_BAD_NAMING] = {"bad-naming", KY_ERROR, "D.....",
			   "a name or a sort index that is none",
			   "write a text; a number of 32 bits"},
	[KY_NAMING_NO_ARGS] = {"naming-no-args", KY_ERROR, "DR....",
			       "an M event without \"args\"", "write \"args\""},
	[KY_DEVICE_NUMBER] = {"device-number", KY_ERROR, "....R.",
			      "args.device beyond 63", "number devices from 0"},
	[KY_DEVICE_MISSING] = {"device-missing", KY_MINOR, "....D.",
			       "device work without args.device",
			       "write args.device, from 0"},
	[KY_STREAM_ON_HOST] = {"stream-on-host", KY_ERROR, "...W..",
			       "args.stream on the host: counted as work of a device",
			       "leave it out"},
	[KY_TID_NO_NUMBER] = {"tid-no-number", KY_ERROR, "....R.",
			      "an operator or annotation whose tid is no integer",
			      "number the rows from 1"},
	[KY_LABELS_IGNORED] = {"labels-ignored", KY_MINOR, "D.....", "process_labels",
			       "put them into process_name"},
	[KY_STREAM_NO_NUMBER] = {"stream-no-number", KY_ERROR, "...W..",
				 "args.stream that is no number: taken for the host",
				 "number the streams from 1"},
	/* B and E, instants, async, counters */
	[KY_END_NO_BEGIN] = {"end-no-begin", KY_ERROR, "D.....", "an E without its B",
			     "write both, or X"},
	[KY_BEGIN_NO_END] = {"begin-no-end", KY_ERROR, "WW....",
			     "a B without its E: drawn to the end of the trace",
			     "write both, or X"},
	[KY_END_MISPLACED] = {"end-misplaced", KY_ERROR, "W.....",
			      "an E for another B than the innermost", "write X"},
	[KY_EMPTY_PAIR] = {"empty-pair", KY_ERROR, "D.....",
			   "B and E at one time behind an X: the E is lost", "write X"},
	[KY_INSTANT_SCOPE] = {"instant-scope", KY_ERROR, ".D....",
			      "an instant whose scope is not g, p or t",
			      "write \"s\": \"t\""},
	[KY_INSTANT_NO_ROW] = {"instant-no-row", KY_ERROR, "D.....",
			       "an instant without the pid or tid of its row",
			       "write pid and tid"},
	[KY_ASYNC_NO_ID] = {"async-no-id", KY_ERROR, "D.....",
			    "b, e or n without an id that is an integer or a text",
			    "write \"id\""},
	[KY_ASYNC_NO_BEGIN] = {"async-no-begin", KY_ERROR, "D.....", "an e without its b",
			       "write both"},
	[KY_ASYNC_NO_END] = {"async-no-end", KY_ERROR, "WW....", "a b without its e",
			     "write both"},
	[KY_ASYNC_CROSSED] = {"async-crossed", KY_ERROR, "W.....",
			      "overlapping operations of one id",
			      "one id for each operation"},
	[KY_ASYNC_SHARED_ID] = {"async-shared-id", KY_ERROR, "W.....",
				"one async id in two processes",
				"use \"id2\": {\"local\": ...}"},
	[KY_COUNTER_VALUE] = {"counter-value", KY_ERROR, "DW....",
			      "a counter's value that is no number", "leave it out"},
	[KY_COUNTER_NO_ARGS] = {"counter-no-args", KY_ERROR, "DD....",
				"a counter without values", "leave it out"},
	[KY_COUNTER_LATE_SERIES] =
		{"counter-late-series", KY_ERROR, ".D....",
		 "a series that the counter's first sample does not have",
		 "write all series at first"},
	[KY_COUNTER_ID] = {"counter-id", KY_ERROR, "W.....",
			   "a counter's id that is a number: series are merged",
			   "write the id as a text"},
	/* Arrows and correlation */
	[KY_KERNEL_BEFORE_LAUNCH] = {"kernel-before-launch", KY_ERROR, "...W..",
				     "device work that begins before its launch",
				     "check the clocks"},
	[KY_ORDER_UNDECIDED] =
		{"order-undecided", KY_MINOR, "...W..",
		 "the same by less than the error that the file states for its clocks",
		 "none is needed"},
	[KY_CORRELATION_REPEATED] = {"correlation-repeated", KY_ERROR, "...D..",
				     "one correlation on two events of one side: no "
				     "queue lengths",
				     "number launches over the whole file"},
	[KY_ARROW_ID] = {"arrow-id", KY_ERROR, "D.....",
			 "an arrow's id that is no integer and no hexadecimal text",
			 "write an integer"},
	[KY_ARROW_ID_BEYOND_53] = {"arrow-id-beyond-53", KY_ERROR, ".W....",
				   "an arrow's id beyond 2^53: equal to others",
				   "number arrows from 1"},
	[KY_ARROW_NO_CATEGORY] = {"arrow-no-category", KY_ERROR, ".R....",
				  "an f without \"cat\" and \"bp\"",
				  "write \"cat\" and \"bp\": \"e\""},
	[KY_ARROW_NO_BP] = {"arrow-no-bp", KY_ERROR, "WW....",
			    "an f without \"bp\": \"e\": it points at the next span",
			    "write \"bp\": \"e\""},
	[KY_ARROW_NO_BEGIN] = {"arrow-no-begin", KY_ERROR, "DD....",
			       "an arrow's end without its begin", "write both"},
	[KY_ARROW_NO_END] = {"arrow-no-end", KY_ERROR, "DD....",
			     "an arrow's begin without its end", "write both"},
	[KY_ARROW_UNLIKE] = {"arrow-unlike", KY_ERROR, "DD....",
			     "begin and end of an arrow differ in name or cat",
			     "write equal ones"},
	[KY_ARROW_BACKWARD] = {"arrow-backward", KY_ERROR, "DD....",
			       "an arrow that ends before it begins", "check the clocks"},
	[KY_ARROW_FILE_ORDER] = {"arrow-file-order", KY_ERROR, "DD....",
				 "at one time, an f that stands before its s",
				 "write s first"},
	[KY_ARROW_BEFORE_EMPTY] = {"arrow-before-empty", KY_ERROR, "D.....",
				   "stands before the span of length 0 that it is for",
				   "write the span first"},
	[KY_ARROW_ID_REUSED] = {"arrow-id-reused", KY_ERROR, "WW....",
				"a second arrow of the same id, cat and name",
				"number arrows over the whole file"},
	[KY_ARROW_MANY_ENDS] = {"arrow-many-ends", KY_ERROR, ".D....",
				"a second end of one arrow", "one id for each end"},
	[KY_ARROW_UNBOUND] = {"arrow-unbound", KY_ERROR, "WD....",
			      "an arrow's end outside of any span of its row",
			      "put it at a span's begin"},
	[KY_ARROW_NO_DIRECTION] =
		{"arrow-no-direction", KY_ERROR, "D.....",
		 "\"bind_id\" without \"flow_in\" or \"flow_out\": true", "write true"},
	/*
	 * What Kymo says of its own files. No reader misses what was lost, or was left
	 * out on purpose, as it does what a damaged file had.
	 */
	[KY_INCOMPLETE] =
		{"incomplete", KY_ERROR, "DDDDDD",
		 "not all of the capture is there: its recorder was killed, or a part "
		 "of it is cut off or damaged",
		 "what can be read is whole; for the rest record again"},
	[KY_LOST_RECORDS] =
		{"lost-records", KY_WARNING, "......",
		 "records that were lost while recording",
		 "kymo info says where; a larger --buffer helps against \"full\""},
	[KY_LEFT_OUT] = {"left-out", KY_NOTE, "......",
			 "records that newer ones have overwritten, or of another time "
			 "than is wanted",
			 "none needed for what was not asked for; against "
			 "\"overwritten\" a larger buffer helps"},
	[KY_UNTIMED_RECORDS] = {"untimed-records", KY_NOTE, "......",
				"records whose times mean nothing: not drawn",
				"kymo info says of which source"},
	[KY_LOST_ARROWS] = {"lost-arrows", KY_NOTE, "......",
			    "arrows not drawn: back in time, or without a launch",
			    "kymo info says why"},
};

static const char *const reader_names[KY_READER_COUNT] = {
	[KY_PERFETTO] = "perfetto",       [KY_CHROME] = "chrome",
	[KY_SPEEDSCOPE] = "speedscope",   [KY_HTA] = "hta",
	[KY_TENSORBOARD] = "tensorboard", [KY_FIREFOX] = "firefox",
};

const char *ky_check_reader_name(int reader)
{
	return reader_names[reader];
}

int ky_check_reader_of(const char *name)
{
	int reader;

	for (reader = 0; reader < KY_READER_COUNT; reader++) {
		if (strcmp(reader_names[reader], name) == 0)
			return reader;
	}
	return -1;
}

enum ky_check_effect ky_check_effect(enum ky_check_kind kind, int reader)
{
	static const char letters[] = ".WDRH";

	return (enum ky_check_effect)(
		strchr(letters, ky_check_kinds[kind].effects[reader]) - letters);
}

const char *ky_check_effect_words(enum ky_check_effect effect, bool several)
{
	static const char *const words[][2] = {
		[KY_FINE] = {"takes it", "take it"},
		[KY_WRONG] = {"draws it wrongly", "draw it wrongly"},
		[KY_DROPS] = {"drops it", "drop it"},
		[KY_REFUSES] = {"refuses the file", "refuse the file"},
		[KY_HANGS] = {"hangs", "hang"},
	};

	return words[effect][several];
}

const char *ky_check_severity_word(enum ky_check_severity severity)
{
	static const char *const words[] = {
		[KY_NOTE] = "note",
		[KY_MINOR] = "minor",
		[KY_WARNING] = "warning",
		[KY_ERROR] = "error",
	};

	return words[severity];
}
