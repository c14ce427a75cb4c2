/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the commands speak: errors of one line, numbers and texts for people and for JSON.
 */
#ifndef KYMO_CLI_SAY_H
#define KYMO_CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <kymo/config.h>
#include <kymo/session.h>

struct option;

#define KY_EXIT_FAILED 1 /* the request failed */
#define KY_EXIT_USAGE  2

#define KY_SAY_SIZE 64 /* of a number made readable */

/* "kymo: ..." and a line feed to standard error; returns `status`. */
int ky_say_error(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * What getopt_long (with opterr 0 and a leading ':') has just found wrong: one line;
 * returns `status`. argv[0] is the command's name.
 */
int ky_say_usage(int status, int option, char **argv, const struct option *options);

/* Behind a message of the library, where an option of the command is the remedy. */
const char *ky_say_option(int32_t status);

/* Each fills `out` and returns it: "12,345"; "1.20 ms"; "3.4 MB". */
const char *ky_say_count(char out[KY_SAY_SIZE], uint64_t count);
const char *ky_say_duration(char out[KY_SAY_SIZE], int64_t ns);
const char *ky_say_bytes(char out[KY_SAY_SIZE], uint64_t bytes);

/* "1 event", "12,345 events", with something in front. */
void ky_say_number(FILE *out, const char *before, uint64_t count, const char *one,
		   const char *many);

/*
 * The end of a command's last line: what is not drawn, what was lost (`reasons`: "" or
 * why) and whether the capture ends early. ", nothing lost" where all is well.
 */
void ky_say_losses(FILE *out, const struct kymo_summary *summary, const char *reasons);

#define KY_SAY_INCOMPLETE                                             \
	"the capture ends early (recorder killed or file cut): what " \
	"follows is missing"

/* "2026-11-29 20:15:01 UTC" of ns since the epoch. */
const char *ky_say_time(char out[KY_SAY_SIZE], int64_t epoch_ns);

/*
 * Text as one line for a terminal: control characters and what is not UTF-8 become '?'.
 */
void ky_say_text(FILE *out, const char *text);

/* As a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void ky_say_json(FILE *out, const char *text);

/* The same of a text that is terminated and may hold further zeros. */
void ky_say_json_text(FILE *out, const char *text, size_t size);

/* `before`, then "KEY": and the text as such a string, or null. */
void ky_say_member(FILE *out, const char *before, const char *key, const char *text);

/* Warnings of the configuration, one a line, to standard error. */
void ky_say_warnings(const struct kymo_config *config);

/* Flushes; false, with an error said, if anything could not be written. */
bool ky_say_end(FILE *out);

/* Memory, or the end of the command with an error, and KY_EXIT_FAILED or `status`. */
void ky_must_exit_with(int status);
void *ky_must_grow(void *list, size_t count, size_t size);
char *ky_must_copy(const char *text, size_t size);

#endif
