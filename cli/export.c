/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo export: a trace from captures, also from those of killed programs. */
#include "commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kymo/timeline.h>

#include "say.h"

enum {
	OPTION_COMPAT = 256,
	OPTION_JSON,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"compat", required_argument, NULL, OPTION_COMPAT},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo export CAPTURE... -o FILE [OPTION]...\n"
	"\n"
	"Puts captures (.kymo) on one timeline and writes it as a trace.\n"
	"\n"
	"  -o, --output FILE    .json or .json.gz\n"
	"  -f, --force          replace FILE if it exists\n"
	"      --compat READER  add what a reader needs beyond what was recorded,\n"
	"                       flagged as synthetic: tensorboard\n"
	"      --json           print the summary as JSON\n"
	"  -h, --help           show this\n";

struct arguments {
	const char *output;
	struct kymo_sink_options options;
	bool json, help;
};

/* 0, or an exit status. */
static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	opterr = 0;
	for (;;) {
		const int option = getopt_long(argc, argv, ":o:fh", long_options, NULL);

		switch (option) {
		case -1:
			return 0;
		case 'o':
			arguments->output = optarg;
			break;
		case 'f':
			arguments->options.overwrite = 1;
			break;
		case OPTION_COMPAT:
			arguments->options.compat =
				(struct kymo_str){optarg, strlen(optarg)};
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
}

static void print_json(FILE *to, const char *path, const struct kymo_summary *summary)
{
	fputs("{\"file\": ", to);
	ky_say_json(to, path);
	fprintf(to,
		", \"bytes\": %" PRIu64 ", \"processes\": %" PRIu32
		", \"events\": %" PRIu64 ", \"kernels\": %" PRIu64
		", \"copies\": %" PRIu64 ", \"arrows\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"untimed\": %" PRIu64 ", \"launches_without_result\": %" PRIu64
		", \"incomplete\": %s, \"duration_ns\": %" PRId64 "}\n",
		summary->bytes, summary->process_count, summary->events, summary->kernels,
		summary->copies, summary->arrows, summary->lost, summary->untimed,
		summary->launches_without_result, summary->incomplete ? "true" : "false",
		summary->duration_ns);
}

/* True if what was written went where we print: then a line would be in its middle. */
static bool is_stdout(const char *path)
{
	const char *scheme = strstr(path, "://");
	struct stat file, out;

	return stat(scheme ? scheme + strlen("://") : path, &file) == 0 &&
	       fstat(STDOUT_FILENO, &out) == 0 && file.st_dev == out.st_dev &&
	       file.st_ino == out.st_ino;
}

static void print_line(FILE *to, const char *path, const struct kymo_summary *summary)
{
	char duration[KY_SAY_SIZE], bytes[KY_SAY_SIZE];

	ky_say_text(to, path);
	ky_say_number(to, ": ", summary->events, "event", "events");
	if (summary->kernels > 0)
		ky_say_number(to, ", ", summary->kernels, "kernel", "kernels");
	fprintf(to, ", %s, %s", ky_say_duration(duration, summary->duration_ns),
		ky_say_bytes(bytes, summary->bytes));
	ky_say_losses(to, summary, "");
	fputc('\n', to);
}

int ky_cli_export(int argc, char **argv)
{
	struct arguments arguments = {
		.options = {.struct_size = sizeof(arguments.options)},
	};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};
	int status = read_arguments(argc, argv, &arguments);
	FILE *to;

	if (status != 0)
		return status;
	if (arguments.help) {
		fputs(usage, stdout);
		return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
	}
	if (optind >= argc)
		return ky_say_error(KY_EXIT_USAGE,
				    "export: no capture; see kymo export --help");
	if (!arguments.output)
		return ky_say_error(
			KY_EXIT_USAGE,
			"export: no output; say -o FILE, as in -o trace.json.gz");
	if (kymo_timeline_export((const char *const *)argv + optind,
				 (size_t)(argc - optind), arguments.output,
				 &arguments.options, &summary, &error) != KYMO_OK)
		return ky_say_error(KY_EXIT_FAILED, "%s", error.message);
	to = is_stdout(arguments.output) ? stderr : stdout;
	if (arguments.json)
		print_json(to, arguments.output, &summary);
	else
		print_line(to, arguments.output, &summary);
	return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
}
