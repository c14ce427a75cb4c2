/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo doctor: what can be recorded on this machine, what cannot, why, and the remedy. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/doctor.h>

#include "say.h"

static const struct option long_options[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo doctor [SOURCE]... [--json]\n"
	"\n"
	"Asks every installed source whether it can record here, and says why not and\n"
	"what to do, what a recorded program is given, and what the machine has. SOURCE\n"
	"(a name, or the path of a plug-in, with a /): asks these alone. Each is loaded\n"
	"and asked in a process of its own, which has 5 seconds: one that crashes or\n"
	"hangs is told, and harms nothing.\n"
	"\n"
	"      --json  print one JSON object\n"
	"  -h, --help  show this\n"
	"\n"
	"The exit status is 0 if at least one source can record, else 1.\n";

#define NAME_WIDTH  10
#define STATE_WIDTH 8

/*
 * In the order in which they are told; a file that cannot be used is among the sources.
 */
static const struct {
	uint32_t kind;
	const char *title;
} sections[] = {
	{KYMO_FINDING_SOURCE, "sources"},
	{KYMO_FINDING_SINK, "sinks"},
	{KYMO_FINDING_MACHINE, "machine"},
};

struct report {
	int is_json;
	size_t begun;   /* sections */
	int is_told;    /* one of them */
	uint32_t count; /* findings in the last of them */
	uint32_t sources, usable;
	int is_named;   /* plug-ins are, so it is not all that there is */
	uint32_t sinks; /* that are usable */
};

static int is_usable(const struct kymo_finding *finding)
{
	return finding->state == KYMO_STATE_READY || finding->state == KYMO_STATE_PARTLY;
}

static const char *state_word(const struct kymo_finding *finding)
{
	static const char *const words[] = {
		[KYMO_STATE_ABSENT] = "absent", [KYMO_STATE_READY] = "usable",
		[KYMO_STATE_PARTLY] = "partly", [KYMO_STATE_RECORDING] = "usable",
		[KYMO_STATE_BUSY] = "busy",     [KYMO_STATE_DENIED] = "denied",
		[KYMO_STATE_FAILED] = "failed",
	};

	return finding->state < sizeof(words) / sizeof(words[0]) ? words[finding->state]
								 : "unknown";
}

/* ---- For people ---- */

/* "; " between what is there of a line. */
static void add_part(const char *text, int *is_begun)
{
	if (!text[0])
		return;
	fputs(*is_begun ? "; " : "", stdout);
	ky_say_text(stdout, text);
	*is_begun = 1;
}

static void print_detail(const char *label, const char *text)
{
	if (!text[0])
		return;
	printf("  %-*s %-*s ", NAME_WIDTH, "", STATE_WIDTH, label);
	ky_say_text(stdout, text);
	fputc('\n', stdout);
}

/* What was printed, line by line. */
static void print_said(const char *text)
{
	while (text[0]) {
		const size_t size = strcspn(text, "\n");
		char *line = ky_must_copy(text, size);

		print_detail("said", line);
		free(line);
		text += size + (text[size] == '\n');
	}
}

/* Of a file that cannot be used: what it would be called. */
static char *name_of(const struct kymo_finding *finding)
{
	const char *slash = strrchr(finding->path, '/');
	const char *file = slash ? slash + 1 : finding->path;
	const char *dot = strrchr(file, '.');

	if (finding->name[0])
		return ky_must_copy(finding->name, strlen(finding->name));
	return ky_must_copy(file, dot ? (size_t)(dot - file) : strlen(file));
}

/* Sources and plug-ins can record, what is else can merely be. */
static const char *shown_state(const struct kymo_finding *finding)
{
	if (finding->state == KYMO_STATE_READY && finding->kind != KYMO_FINDING_SOURCE)
		return "ok";
	return state_word(finding);
}

static void print_finding(const struct kymo_finding *finding)
{
	char *name = name_of(finding);
	const int size = (int)strlen(name);
	int is_begun = 0;

	fputs("  ", stdout);
	ky_say_text(stdout, name);
	printf("%*s %-*s ", size < NAME_WIDTH ? NAME_WIDTH - size : 0, "", STATE_WIDTH,
	       shown_state(finding));
	free(name);
	add_part(finding->what, &is_begun);
	add_part(finding->why, &is_begun);
	if (finding->flags & KYMO_SOURCE_EXPLICIT)
		add_part("recorded only when named by -t", &is_begun);
	if (!is_begun)
		ky_say_text(stdout, finding->description);
	fputc('\n', stdout);
	print_detail("remedy", finding->remedy);
	for (size_t i = 0; finding->variables[i]; i++)
		print_detail("sets", finding->variables[i]);
	print_said(finding->said);
}

static void print_end(const struct report *report)
{
	char all[KY_SAY_SIZE], usable[KY_SAY_SIZE];

	fputs(report->begun ? "\n" : "", stdout);
	if (report->sources == 0)
		printf("no source is %s; a program's own marks need none\n",
		       report->is_named ? "among them" : "installed");
	else
		printf("%s of %s source%s can record here; a program's own marks need "
		       "none\n",
		       ky_say_count(usable, report->usable),
		       ky_say_count(all, report->sources),
		       report->sources == 1 ? "" : "s");
}

/* ---- For programs ---- */

static void add_member(const char *key, const char *text)
{
	if (text[0])
		ky_say_member(stdout, ", ", key, text);
}

static void add_variables(const char *const *variables)
{
	if (!variables[0])
		return;
	fputs(", \"variables\": {", stdout);
	for (size_t i = 0; variables[i]; i++) {
		const size_t size = strcspn(variables[i], "=");
		char *name = ky_must_copy(variables[i], size);

		ky_say_member(stdout, i > 0 ? ", " : "", name, variables[i] + size + 1);
		free(name);
	}
	fputc('}', stdout);
}

static void print_object(const struct kymo_finding *finding)
{
	printf("{\"state\": \"%s\"", state_word(finding));
	add_member("name", finding->name);
	add_member("what", finding->what);
	add_member("why", finding->why);
	add_member("remedy", finding->remedy);
	add_member("description", finding->description);
	add_member("plugin", finding->plugin);
	add_member("version", finding->version);
	add_member("path", finding->path);
	add_member("said", finding->said);
	if (finding->kind == KYMO_FINDING_SOURCE)
		printf(", \"explicit\": %s",
		       finding->flags & KYMO_SOURCE_EXPLICIT ? "true" : "false");
	add_variables(finding->variables);
	fputc('}', stdout);
}

/* ---- The command ---- */

/* Goes on to the section of that kind; as JSON those passed over are empty lists. */
static void begin_section(struct report *report, uint32_t kind)
{
	while (report->begun == 0 || sections[report->begun - 1].kind != kind) {
		const char *title = sections[report->begun].title;
		const int is_wanted = sections[report->begun++].kind == kind;

		if (report->is_json)
			printf("%s\"%s\": [", report->begun == 1 ? "{" : "],\n ", title);
		else if (is_wanted)
			printf("%s%s\n", report->is_told ? "\n" : "", title);
		report->is_told |= is_wanted;
		report->count = 0;
	}
}

static int32_t tell(void *context, const struct kymo_finding *finding)
{
	struct report *report = context;
	const int is_source = finding->kind == KYMO_FINDING_SOURCE ||
			      finding->kind == KYMO_FINDING_PLUGIN;

	if (finding->kind > KYMO_FINDING_MACHINE)
		return KYMO_OK; /* of a newer library */
	begin_section(report, is_source ? KYMO_FINDING_SOURCE : finding->kind);
	report->sources += (uint32_t)is_source;
	report->usable += (uint32_t)(is_source && is_usable(finding));
	if (finding->kind == KYMO_FINDING_SINK && is_usable(finding))
		report->sinks++;
	if (report->is_json) {
		fputs(report->count++ > 0 ? ",\n  " : "\n  ", stdout);
		print_object(finding);
	} else {
		print_finding(finding);
	}
	fflush(stdout); /* the next one may take its time */
	return KYMO_OK;
}

static int examine(const char *const *sources, int is_json)
{
	struct report report = {.is_json = is_json, .is_named = sources != NULL};
	struct kymo_error error = {0};
	const int32_t status = kymo_doctor_run(sources, tell, &report, &error);

	if (is_json)
		puts(report.begun ? "]}" : "{\"sources\": []}");
	else if (!status)
		print_end(&report);
	if (!ky_say_end(stdout))
		return KY_EXIT_FAILED;
	if (status)
		return ky_say_error(KY_EXIT_FAILED, "doctor: %s", error.message);
	if (report.usable > 0 || (report.is_named && report.sinks > 0))
		return 0;
	return KY_EXIT_FAILED;
}

int ky_cli_doctor(int argc, char **argv)
{
	int is_json = 0, option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":jh", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
		}
		if (option != 'j')
			return ky_say_usage(KY_EXIT_USAGE, option, argv, long_options);
		is_json = 1;
	}
	return examine(optind < argc ? (const char *const *)argv + optind : NULL,
		       is_json);
}
