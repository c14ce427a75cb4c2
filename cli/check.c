/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo check: what is wrong with a trace or a capture, and a mended copy. */
#include "check.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_between.h"
#include "check_repair.h"
#include "check_sort.h"
#include "commands.h"
#include "input.h"
#include "say.h"

#define SORT_MEMORY      (12u << 20)
#define EXAMPLES_DEFAULT 3

enum {
	OPTION_REPAIR = 256,
	OPTION_READER,
	OPTION_JSON,
};

static const struct option long_options[] = {
	{"repair", required_argument, NULL, OPTION_REPAIR},
	{"force", no_argument, NULL, 'f'},
	{"reader", required_argument, NULL, OPTION_READER},
	{"examples", required_argument, NULL, 'n'},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo check FILE... [OPTION]...\n"
	"\n"
	"Says what is wrong with Chrome traces (.json, .json.gz; of any tool) and\n"
	"captures (.kymo), which reader suffers, and what helps.\n"
	"\n"
	"      --repair OUT   write a copy with all mended that takes no guess\n"
	"  -f, --force        replace OUT if it exists\n"
	"      --reader perfetto|chrome|speedscope|hta|tensorboard|firefox\n"
	"                     only what matters to that one\n"
	"  -n, --examples N   show N places of each finding (3)\n"
	"      --json         print one JSON object for each file\n"
	"  -h, --help         show this\n"
	"\n"
	"Exit status: 0 good, 1 an error or a warning, 2 not readable or bad usage.\n";

struct arguments {
	const char *repair;
	size_t examples;
	int reader;
	bool json, force, help;
};

/* What is wrong between events, all of them having been handed to the sorter. */
static void look_between(struct ky_check *check)
{
	struct ky_tracks *tracks = ky_tracks_create(check);
	struct ky_links *links = ky_links_create(check);
	const struct ky_check_record *record;

	while ((record = ky_sorter_next(check->sorter))) {
		if (record->group == KY_OF_TRACK)
			ky_tracks_take(tracks, record);
		else
			ky_links_take(links, record);
	}
	ky_tracks_finish(tracks);
	ky_links_finish(links);
	ky_tracks_destroy(tracks);
	ky_links_destroy(links);
}

/* ---- One file ---- */

/* 0 and whether it is a capture, or an exit status. */
static int look_at(const char *path, bool *is_capture)
{
	struct ky_input input;
	const int number = ky_input_open(&input, path);

	if (number != 0)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s", path,
				    ky_input_reason(number));
	*is_capture = ky_input_is_capture(&input);
	ky_input_close(&input);
	return 0;
}

static int read_trace(struct ky_check *check)
{
	const struct ky_check_closing *closing = &check->closing;
	int status;

	check->sorter = ky_sorter_create(sizeof(struct ky_check_record), SORT_MEMORY,
					 ky_record_compare);
	status = ky_check_read_trace(check);
	if (status == 0)
		look_between(check);
	/* Behind the names of new lanes, which stand at the same place. */
	if (status == 0 && closing->text && closing->kind == KY_NDJSON)
		ky_check_mend_too(check, closing->byte, KY_TO_THE_END, closing->text);
	else if (status == 0 && closing->text)
		ky_check_mend(check, closing->kind, closing->place, closing->byte,
			      KY_TO_THE_END, closing->text);
	ky_sorter_destroy(check->sorter);
	check->sorter = NULL;
	return status;
}

static int repair(struct ky_check *check, const struct arguments *arguments)
{
	const int status = ky_check_write_repaired(check, arguments->repair,
						   arguments->force, arguments->json);

	if (status == 0 && !arguments->json)
		ky_check_print_mended(check, arguments->repair);
	return status;
}

static int check_file(const char *path, const struct arguments *arguments)
{
	struct ky_check check = {
		.path = path,
		.examples_max = arguments->examples,
		.reader = arguments->reader,
	};
	int status = look_at(path, &check.is_capture);

	if (status != 0)
		return status;
	if (arguments->repair && check.is_capture)
		return ky_say_error(KY_EXIT_USAGE,
				    "check: --repair is for traces; kymo export makes "
				    "one of \"%s\"",
				    path);
	/* Before a large file is read for minutes. */
	if (arguments->repair)
		status = ky_check_try_repaired(&check, arguments->repair,
					       arguments->force);
	if (status != 0)
		return status;
	check.edits = arguments->repair ? ky_edits_create() : NULL;
	status = check.is_capture ? ky_check_read_capture(&check) : read_trace(&check);
	if (status == 0 && !arguments->json)
		ky_check_print(&check);
	if (status == 0 && arguments->repair)
		status = repair(&check, arguments);
	if (status == 0 && arguments->json)
		ky_check_print_json(&check, arguments->repair);
	if (status == 0)
		status = ky_check_is_clean(&check) ? 0 : KY_EXIT_FAILED;
	ky_edits_destroy(check.edits);
	ky_check_free(&check);
	return status;
}

/* ---- The command ---- */

static int read_number(const char *text, size_t *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		return ky_say_error(KY_EXIT_USAGE,
				    "check: --examples wants a number, not \"%s\"", text);
	return 0;
}

static int read_reader(const char *name, int *reader)
{
	*reader = ky_check_reader_of(name);
	if (*reader < 0)
		return ky_say_error(KY_EXIT_USAGE,
				    "check: no reader \"%s\"; there are perfetto, "
				    "chrome, speedscope, hta, tensorboard, firefox",
				    name);
	return 0;
}

/* 0, or an exit status. */
static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	int status = 0;

	opterr = 0;
	while (status == 0) {
		const int option = getopt_long(argc, argv, ":fn:h", long_options, NULL);

		switch (option) {
		case -1:
			return 0;
		case OPTION_REPAIR:
			arguments->repair = optarg;
			break;
		case 'f':
			arguments->force = true;
			break;
		case OPTION_READER:
			status = read_reader(optarg, &arguments->reader);
			break;
		case 'n':
			status = read_number(optarg, &arguments->examples);
			break;
		case OPTION_JSON:
			arguments->json = true;
			break;
		case 'h':
			arguments->help = true;
			return 0;
		default:
			return ky_say_usage(KY_EXIT_USAGE, option, argv, long_options);
		}
	}
	return status;
}

int ky_cli_check(int argc, char **argv)
{
	struct arguments arguments = {.examples = EXAMPLES_DEFAULT, .reader = -1};
	int status, worst = 0, i;

	ky_must_exit_with(KY_EXIT_USAGE); /* 1 would be a finding */
	status = read_arguments(argc, argv, &arguments);
	if (status != 0)
		return status;
	if (arguments.help) {
		fputs(usage, stdout);
		return ky_say_end(stdout) ? 0 : KY_EXIT_USAGE;
	}
	if (optind >= argc)
		return ky_say_error(KY_EXIT_USAGE,
				    "check: no file; see kymo check --help");
	if (arguments.repair && argc - optind != 1)
		return ky_say_error(KY_EXIT_USAGE,
				    "check: --repair wants one FILE, not %d",
				    argc - optind);
	for (i = optind; i < argc; i++) {
		if (i > optind && !arguments.json)
			fputc('\n', stdout);
		status = check_file(argv[i], &arguments);
		worst = status > worst ? status : worst;
	}
	return ky_say_end(stdout) ? worst : KY_EXIT_USAGE;
}
