/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo export: a trace from captures, also from those of killed programs. */
#include "commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kymo/timeline.h>

#include "say.h"

#define OUTPUTS_MAX       16
#define PROGRESS_FIRST_MS 1000
#define PROGRESS_NEXT_MS  200

enum {
	OPTION_COMPAT = 256,
	OPTION_JSON,
	OPTION_SINK,
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"compat", required_argument, NULL, OPTION_COMPAT},
	{"json", no_argument, NULL, OPTION_JSON},
	{"sink", required_argument, NULL, OPTION_SINK},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo export CAPTURE... -o FILE [OPTION]...\n"
	"\n"
	"Puts captures (.kymo) on one timeline and writes it as a trace.\n"
	"\n"
	"  -o, --output FILE    .json or .json.gz, or what a sink is installed for; "
	"with\n"
	"                       %p, %h, %r, %t, %n, %q{NAME} as of kymo record; may be\n"
	"                       given more than once\n"
	"  -f, --force          replace FILE if it exists\n"
	"      --compat READER  add what a reader needs beyond what was recorded,\n"
	"                       flagged as synthetic: tensorboard\n"
	"      --sink FILE      load a sink that is not installed, by its path\n"
	"      --json           print the summary as JSON\n"
	"  -h, --help           show this\n";

struct arguments {
	struct kymo_output outputs[OUTPUTS_MAX];
	struct kymo_output *list[OUTPUTS_MAX + 1]; /* those that there are */
	size_t count;
	struct kymo_sink_options options;
	bool json, help;
};

/* 0, or an exit status. */
static int add_output(struct arguments *arguments, const char *pattern)
{
	struct kymo_output *output = &arguments->outputs[arguments->count];
	struct kymo_error error;
	char name[4096];

	if (arguments->count == OUTPUTS_MAX)
		return ky_say_error(KY_EXIT_USAGE, "export: more than %d outputs",
				    OUTPUTS_MAX);
	if (kymo_output_name(pattern, NULL, name, sizeof(name), &error) != KYMO_OK)
		return ky_say_error(KY_EXIT_USAGE, "export: %s", error.message);
	*output = (struct kymo_output){
		.struct_size = sizeof(*output),
		.status = KYMO_ERROR_STATE, /* until it is reached */
		.path = ky_must_copy(name, strlen(name)),
	};
	arguments->list[arguments->count++] = output;
	return 0;
}

static void free_outputs(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->count; i++)
		free((char *)(uintptr_t)arguments->outputs[i].path);
}

/* 0, or an exit status. */
static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	struct kymo_error error;
	int status;

	opterr = 0;
	for (;;) {
		const int option = getopt_long(argc, argv, ":o:fh", long_options, NULL);

		switch (option) {
		case -1:
			return 0;
		case 'o':
			status = add_output(arguments, optarg);
			if (status)
				return status;
			break;
		case 'f':
			arguments->options.overwrite = 1;
			break;
		case OPTION_COMPAT:
			arguments->options.compat =
				(struct kymo_str){optarg, strlen(optarg)};
			break;
		case OPTION_SINK:
			if (kymo_sink_load(optarg, &error) != KYMO_OK)
				return ky_say_error(KY_EXIT_FAILED, "--sink: %s",
						    error.message);
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

static void print_json(FILE *to, const struct kymo_output *output,
		       const struct kymo_summary *summary)
{
	fputs("{\"file\": ", to);
	ky_say_json(to, output->path);
	fprintf(to,
		", \"bytes\": %" PRIu64 ", \"processes\": %" PRIu32
		", \"events\": %" PRIu64 ", \"kernels\": %" PRIu64
		", \"copies\": %" PRIu64 ", \"arrows\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"untimed\": %" PRIu64 ", \"launches_without_result\": %" PRIu64
		", \"incomplete\": %s, \"duration_ns\": %" PRId64 "}\n",
		output->bytes, summary->process_count, summary->events, summary->kernels,
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

static void print_line(FILE *to, const struct kymo_output *output,
		       const struct kymo_summary *summary)
{
	char duration[KY_SAY_SIZE], bytes[KY_SAY_SIZE];

	ky_say_text(to, output->path);
	ky_say_number(to, ": ", summary->events, "event", "events");
	if (summary->kernels > 0)
		ky_say_number(to, ", ", summary->kernels, "kernel", "kernels");
	fprintf(to, ", %s, %s", ky_say_duration(duration, summary->duration_ns),
		ky_say_bytes(bytes, output->bytes));
	ky_say_losses(to, summary, "");
	fputc('\n', to);
}

/* What is being written, for who ends the process meanwhile. */
static const struct arguments *under_way;

/*
 * A sink has called exit(), or a library of its. This runs in its thread, before buffers
 * of anybody are written to a half file, and the status is not the sink's to choose.
 */
static void tell_early_end(void)
{
	if (!under_way)
		return;
	fputs("kymo: export: a sink has ended this process while it wrote ", stderr);
	for (size_t i = 0; i < under_way->count; i++) {
		fputs(i > 0 ? ", \"" : "\"", stderr);
		ky_say_text(stderr, under_way->list[i]->path);
		fputc('"', stderr);
	}
	fputs(": do not rely on what is there; the captures are as they were\n", stderr);
	_exit(KY_EXIT_FAILED);
}

/* Writes the outputs and, where somebody looks, says how far that is. */
static int32_t write_outputs(struct arguments *arguments, const char *const *captures,
			     size_t count, struct kymo_summary *summary,
			     struct kymo_error *error)
{
	const bool is_seen = isatty(STDERR_FILENO);
	struct kymo_save *save;
	uint32_t percent, shown = 0;
	int32_t status = kymo_timeline_export_start(captures, count, arguments->list,
						    &arguments->options, &save, error);

	if (status != KYMO_OK)
		return status;
	/* What is done at once says nothing. */
	status = kymo_save_wait(save, PROGRESS_FIRST_MS, summary, error);
	while (status == KYMO_AGAIN) {
		if (is_seen) {
			kymo_save_poll(save, &percent);
			fprintf(stderr, "\r%3" PRIu32 " %%", percent);
			shown = 1;
		}
		status = kymo_save_wait(save, PROGRESS_NEXT_MS, summary, error);
	}
	if (shown)
		fputs("\r\033[K", stderr);
	kymo_save_destroy(save);
	return status;
}

static int export(struct arguments *arguments, const char *const *captures, size_t count)
{
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};
	FILE *to = stdout;
	int status = 0;

	if (atexit(tell_early_end) == 0)
		under_way = arguments;
	if (write_outputs(arguments, captures, count, &summary, &error) != KYMO_OK)
		status = ky_say_error(KY_EXIT_FAILED, "%s%s", error.message,
				      ky_say_option(error.status));
	under_way = NULL;
	for (size_t i = 0; i < arguments->count; i++)
		if (is_stdout(arguments->list[i]->path))
			to = stderr;
	for (size_t i = 0; i < arguments->count; i++) {
		const struct kymo_output *output = arguments->list[i];

		if (output->status != KYMO_OK)
			continue;
		if (arguments->json)
			print_json(to, output, &summary);
		else
			print_line(to, output, &summary);
	}
	return ky_say_end(stdout) ? status : KY_EXIT_FAILED;
}

int ky_cli_export(int argc, char **argv)
{
	struct arguments arguments = {
		.options = {.struct_size = sizeof(arguments.options)},
	};
	int status = read_arguments(argc, argv, &arguments);

	if (status == 0 && arguments.help) {
		fputs(usage, stdout);
		status = ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
	} else if (status == 0 && optind >= argc) {
		status = ky_say_error(KY_EXIT_USAGE,
				      "export: no capture; see kymo export --help");
	} else if (status == 0 && arguments.count == 0) {
		status = ky_say_error(
			KY_EXIT_USAGE,
			"export: no output; say -o FILE, as in -o trace.json.gz");
	} else if (status == 0) {
		status = export(&arguments, (const char *const *)argv + optind,
				(size_t)(argc - optind));
	}
	free_outputs(&arguments);
	return status;
}
