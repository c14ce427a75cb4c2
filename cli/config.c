/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo config: each key of the configuration, what holds for it, and who says so. */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <kymo/config.h>

#include "say.h"

enum { OPTION_JSON = 256 };

static const struct option long_options[] = {
	{"all", no_argument, NULL, 'a'},
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo config [OPTION]... [FILE]\n"
	"\n"
	"Says what a recording would be configured with, and where each value comes\n"
	"from: the files of libkineto and Kymo, the environment, or the default. With\n"
	"FILE, that file is checked and shown in place of those two.\n"
	"\n"
	"  -a, --all   also keys that nothing sets and that nothing in this version "
	"uses\n"
	"      --json  all keys, as JSON\n"
	"  -h, --help  show this\n"
	"\n"
	"The exit status is 1 if the configuration is refused.\n";

struct arguments {
	bool all, json, help;
	const char *file; /* or NULL */
};

/* 0, or an exit status. */
static int read_arguments(int argc, char **argv, struct arguments *arguments)
{
	opterr = 0;
	for (;;) {
		const int option = getopt_long(argc, argv, ":ah", long_options, NULL);

		switch (option) {
		case -1:
			if (argc - optind > 1)
				return ky_say_error(KY_EXIT_USAGE,
						    "config: one file at a time, not "
						    "also \"%s\"",
						    argv[optind + 1]);
			arguments->file = argv[optind]; /* NULL behind the last */
			return 0;
		case 'a':
			arguments->all = true;
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

/* What is printed is a configuration itself; what nothing sets is a comment in it. */
static void print_line(const struct kymo_config_value *value)
{
	printf("%s%s = ", value->is_set ? "" : "#", value->key);
	ky_say_text(stdout, value->value);
	/* A time is not read without its unit. */
	if (strcmp(value->unit, "ns") == 0 && value->value[0])
		fputs(value->unit, stdout);
	fputs("  # ", stdout);
	if (value->unit[0])
		printf("%s; ", value->unit);
	ky_say_text(stdout, value->origin);
	if (value->use)
		printf("; %s\n", value->use);
	else
		printf("; not used: %s\n", value->unused);
}

static void print_json(const struct kymo_config *config)
{
	struct kymo_config_value value = {.struct_size = sizeof(value)};
	const char *warning;

	fputs("{\"keys\": [", stdout);
	for (size_t i = 0; kymo_config_at(config, i, &value) == KYMO_OK; i++) {
		ky_say_member(stdout, i ? ",\n  {" : "\n  {", "key", value.key);
		ky_say_member(stdout, ", ", "value", value.value);
		ky_say_member(stdout, ", ", "unit", value.unit);
		printf(", \"set\": %s", value.is_set ? "true" : "false");
		ky_say_member(stdout, ", ", "origin", value.origin);
		ky_say_member(stdout, ", ", "use", value.use);
		ky_say_member(stdout, ", ", "unused", value.unused);
		fputs("}", stdout);
	}
	fputs("\n], \"warnings\": [", stdout);
	for (size_t i = 0; (warning = kymo_config_warning(config, i)); i++) {
		fputs(i ? ", " : "", stdout);
		ky_say_json(stdout, warning);
	}
	fputs("]}\n", stdout);
}

static void print_text(const struct kymo_config *config, bool all)
{
	struct kymo_config_value value = {.struct_size = sizeof(value)};
	size_t left_out = 0;

	for (size_t i = 0; kymo_config_at(config, i, &value) == KYMO_OK; i++) {
		if (all || value.is_set || value.use)
			print_line(&value);
		else
			left_out++;
	}
	if (left_out > 0)
		printf("# and %zu keys of which nothing is set or used: --all\n",
		       left_out);
	ky_say_warnings(config);
}

int ky_cli_config(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct kymo_config_options options = {.struct_size = sizeof(options)};
	struct kymo_config *config = NULL;
	struct kymo_error error = {0};
	int status = read_arguments(argc, argv, &arguments);

	if (status != 0)
		return status;
	if (arguments.help) {
		fputs(usage, stdout);
		return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
	}
	options.file = arguments.file;
	if (kymo_config_create(&config, &options, &error) != KYMO_OK)
		return ky_say_error(KY_EXIT_FAILED, "%s", error.message);
	if (arguments.json)
		print_json(config);
	else
		print_text(config, arguments.all);
	kymo_config_destroy(config);
	return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
}
