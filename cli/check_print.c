/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found: for people, the most harmful first, and as one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_repair.h"
#include "say.h"

#define INDENT "         "

/* The worst that happens to any reader that was asked for. */
static enum ky_check_effect worst_of(const struct ky_check *check,
				     enum ky_check_kind kind)
{
	enum ky_check_effect worst = KY_FINE;
	int reader;

	for (reader = 0; reader < KY_READER_COUNT; reader++) {
		const enum ky_check_effect effect = ky_check_effect(kind, reader);

		if ((check->reader < 0 || check->reader == reader) && effect > worst)
			worst = effect;
	}
	return worst;
}

/* Kinds that are shown, the worst first, then in the order of the table. */
static size_t order_kinds(const struct ky_check *check,
			  enum ky_check_kind order[KY_CHECK_KIND_COUNT])
{
	int severity, effect, kind;
	size_t count = 0;

	for (severity = KY_ERROR; severity >= KY_NOTE; severity--) {
		for (effect = KY_HANGS; effect >= KY_FINE; effect--) {
			for (kind = 0; kind < KY_CHECK_KIND_COUNT; kind++) {
				const enum ky_check_kind k = (enum ky_check_kind)kind;

				if ((int)ky_check_severity(check, k) == severity &&
				    (int)worst_of(check, k) == effect &&
				    ky_check_shows(check, k))
					order[count++] = k;
			}
		}
	}
	return count;
}

/* ---- For people ---- */

/* "perfetto hangs; chrome and firefox refuse the file": the worst first. */
static void print_effects(const struct ky_check *check, enum ky_check_kind kind)
{
	const char *before = INDENT;
	int effect, reader;

	for (effect = KY_HANGS; effect > KY_FINE; effect--) {
		int readers[KY_READER_COUNT], count = 0, i;

		for (reader = 0; reader < KY_READER_COUNT; reader++) {
			if ((check->reader < 0 || check->reader == reader) &&
			    (int)ky_check_effect(kind, reader) == effect)
				readers[count++] = reader;
		}
		for (i = 0; i < count; i++)
			printf("%s%s",
			       i == 0           ? before
			       : i == count - 1 ? " and "
						: ", ",
			       ky_check_reader_name(readers[i]));
		if (count == 0)
			continue;
		printf(" %s",
		       ky_check_effect_words((enum ky_check_effect)effect, count > 1));
		before = "; ";
	}
	if (before[0] == ';')
		putchar('\n');
}

static void print_example(const struct ky_check_example *example)
{
	const struct ky_check_place *place = &example->place;

	fputs(INDENT, stdout);
	if (place->line > 0)
		printf("line %" PRIu64 ", byte %" PRIu64, place->line, place->byte);
	if (example->text[0]) {
		fputs(place->line > 0 ? ": " : "", stdout);
		ky_say_text(stdout, example->text);
	}
	fputc('\n', stdout);
}

static void print_finding(const struct ky_check *check, enum ky_check_kind kind)
{
	const struct ky_check_kind_text *text = &ky_check_kinds[kind];
	const struct ky_check_finding *finding = &check->findings[kind];
	char count[KY_SAY_SIZE];
	size_t i;

	printf("\n%-7s  %s (%s): %s\n",
	       ky_check_severity_word(ky_check_severity(check, kind)), text->id,
	       ky_say_count(count, finding->count), text->what);
	print_effects(check, kind);
	for (i = 0; i < finding->example_count; i++)
		print_example(&finding->examples[i]);
	if (finding->places > finding->example_count && finding->example_count > 0)
		printf(INDENT "and %s more\n",
		       ky_say_count(count, finding->places - finding->example_count));
	if (text->remedy)
		printf(INDENT "remedy: %s\n", text->remedy);
	else if (!check->edits)
		puts(INDENT "remedy: --repair OUT");
}

static void print_head(const struct ky_check *check)
{
	char text[KY_SAY_SIZE];

	ky_say_text(stdout, check->path);
	printf(": %s%s, %s", check->format, check->is_gzip ? ", gzip" : "",
	       ky_say_bytes(text, check->bytes));
	if (!check->is_capture)
		ky_say_number(stdout, ", ", check->events, "event", "events");
}

static void print_sum(const struct ky_check *check, const uint64_t *kinds)
{
	static const char *const one[] = {"note", "minor finding", "warning", "error"};
	static const char *const many[] = {"notes", "minor findings", "warnings",
					   "errors"};
	const char *before = ": ";
	int severity;

	for (severity = KY_ERROR; severity >= KY_NOTE; severity--) {
		if (kinds[severity] == 0)
			continue;
		ky_say_number(stdout, before, kinds[severity], one[severity],
			      many[severity]);
		before = ", ";
	}
	if (before[0] == ':')
		fputs(": nothing found", stdout);
	else if (ky_check_is_clean(check))
		fputs(kinds[KY_MINOR] > 0
			      ? "; good, but for a trifle to the readers that are named"
			      : "; good",
		      stdout);
	fputc('\n', stdout);
}

void ky_check_print(const struct ky_check *check)
{
	enum ky_check_kind order[KY_CHECK_KIND_COUNT];
	const size_t count = order_kinds(check, order);
	uint64_t kinds[KY_ERROR + 1] = {0};
	size_t i;

	for (i = 0; i < count; i++)
		kinds[ky_check_severity(check, order[i])] +=
			check->findings[order[i]].count;
	print_head(check);
	print_sum(check, kinds);
	for (i = 0; i < count; i++)
		print_finding(check, order[i]);
}

void ky_check_print_mended(const struct ky_check *check, const char *path)
{
	uint64_t mended = 0, left = 0;
	char text[KY_SAY_SIZE];
	int kind;

	for (kind = 0; kind < KY_CHECK_KIND_COUNT; kind++) {
		const struct ky_check_finding *finding = &check->findings[kind];

		mended += finding->mended;
		if (ky_check_kinds[kind].severity > KY_MINOR)
			left += finding->count - finding->mended;
	}
	putchar('\n');
	ky_say_text(stdout, path);
	if (ky_check_edits(check) == 0)
		fputs(": nothing mended, so it is the same", stdout);
	else
		ky_say_number(stdout, ": ", mended, "finding mended", "findings mended");
	if (left > 0)
		printf(", %s left that %s a guess", ky_say_count(text, left),
		       left == 1 ? "takes" : "take");
	putchar('\n');
}

/* ---- For programs ---- */

static void print_json_finding(const struct ky_check *check, enum ky_check_kind kind)
{
	const struct ky_check_kind_text *text = &ky_check_kinds[kind];
	const struct ky_check_finding *finding = &check->findings[kind];
	const char *comma = "";
	size_t i;
	int reader;

	printf("  {\"id\": \"%s\", \"severity\": \"%s\", \"count\": %" PRIu64
	       ", \"mended\": %" PRIu64 ", \"mendable\": %s, \"what\": ",
	       text->id, ky_check_severity_word(ky_check_severity(check, kind)),
	       finding->count, finding->mended, text->remedy ? "false" : "true");
	ky_say_json(stdout, text->what);
	fputs(",\n   \"readers\": {", stdout);
	for (reader = 0; reader < KY_READER_COUNT; reader++) {
		static const char *const words[] = {"", "wrong", "drops", "refuses",
						    "hangs"};
		const enum ky_check_effect effect = ky_check_effect(kind, reader);

		if (effect == KY_FINE)
			continue;
		printf("%s\"%s\": \"%s\"", comma, ky_check_reader_name(reader),
		       words[effect]);
		comma = ", ";
	}
	fputs("},\n   \"examples\": [", stdout);
	for (i = 0; i < finding->example_count; i++) {
		const struct ky_check_example *example = &finding->examples[i];

		printf("%s{\"line\": %" PRIu64 ", \"byte\": %" PRIu64, i ? ", " : "",
		       example->place.line, example->place.byte);
		if (example->place.event != KY_CHECK_NO_EVENT)
			printf(", \"event\": %" PRIu64, example->place.event);
		fputs(", \"text\": ", stdout);
		ky_say_json(stdout, example->text);
		fputc('}', stdout);
	}
	fputs("]}", stdout);
}

void ky_check_print_json(const struct ky_check *check, const char *repaired)
{
	enum ky_check_kind order[KY_CHECK_KIND_COUNT];
	const size_t count = order_kinds(check, order);
	size_t i;

	fputs("{\"file\": ", stdout);
	ky_say_json(stdout, check->path);
	printf(", \"format\": \"%s\", \"gzip\": %s, \"bytes\": %" PRIu64
	       ", \"events\": %" PRIu64 ", \"clean\": %s",
	       check->format, check->is_gzip ? "true" : "false", check->bytes,
	       check->events, ky_check_is_clean(check) ? "true" : "false");
	if (repaired) {
		fputs(", \"repaired\": ", stdout);
		ky_say_json(stdout, repaired);
	}
	fputs(",\n \"findings\": [", stdout);
	for (i = 0; i < count; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		print_json_finding(check, order[i]);
	}
	fputs("]}\n", stdout);
}
