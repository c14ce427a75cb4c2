/* SPDX-License-Identifier: BSD-3-Clause */
/* The kymo command: finds the named command and hands the rest of the words to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/base.h>

#include "base/nearest.h"
#include "commands.h"
#include "say.h"

static int run_help(int argc, char **argv);
static int run_version(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"record", ky_cli_record,
	 "run a program, record it and its children, write a trace"},
	{"export", ky_cli_export, "make a trace of captures (.kymo)"},
	{"info", ky_cli_info, "say what is in a trace or a capture"},
	{"check", ky_cli_check,
	 "say what is wrong with a trace of any tool, and mend it"},
	{"doctor", ky_cli_doctor, "say what can be recorded here, and why not"},
	{"config", ky_cli_config, "say what is configured, and where that comes from"},
	{"types", ky_cli_types, "list the activity types that can be recorded"},
	{"version", run_version, "print the version"},
	{"help", run_help, "say what a command does"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* ---- Finding a command ---- */

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int refuse_command(const char *name)
{
	struct ky_nearest nearest = {.word = {name, strlen(name)}};
	size_t i;

	for (i = 0; i < COMMAND_COUNT; i++)
		ky_nearest_offer(&nearest, commands[i].name);
	if (ky_nearest_found(&nearest))
		return ky_say_error(KY_EXIT_USAGE,
				    "no command \"%s\"; did you mean \"kymo %s\"?", name,
				    ky_nearest_found(&nearest));
	return ky_say_error(KY_EXIT_USAGE, "no command \"%s\"; kymo help lists them",
			    name);
}

/* ---- Commands of this file ---- */

static void print_usage(FILE *out)
{
	size_t i;

	fputs("usage: kymo COMMAND [ARGUMENT]...\n"
	      "\n"
	      "One timeline for every accelerator: records what host and devices did.\n"
	      "\n",
	      out);
	for (i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "kymo COMMAND --help says more about each. Most often wanted:\n"
	      "\n"
	      "  kymo record -o trace.json.gz -- ./program    then open it in "
	      "ui.perfetto.dev\n",
	      out);
}

static int run_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("kymo %s\n", kymo_version());
	if (strcmp(kymo_version(), KYMO_VERSION_STRING) != 0)
		printf("(the command itself: %s)\n", KYMO_VERSION_STRING);
	return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
}

static int run_help(int argc, char **argv)
{
	static char help[] = "--help";
	const struct command *command;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
	}
	command = find_command(argv[1]);
	if (!command)
		return refuse_command(argv[1]);
	if (command->run == run_help || command->run == run_version) {
		printf("kymo %s: %s\n", command->name, command->summary);
		return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
	}
	return command->run(2, (char *[]){argv[1], help, NULL});
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return KY_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return run_version(argc - 1, argv + 1);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return run_help(1, argv + 1);
	command = find_command(argv[1]);
	if (!command)
		return refuse_command(argv[1]);
	return command->run(argc - 1, argv + 1);
}
