/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recorder that takes orders:
 *
 *     controlled OUTPUT SOURCE PROGRAM ARGUMENTS...
 */
#include <stdio.h>

#include <kymo/control.h>

int main(int argc, char **argv)
{
	const char *const sources[] = {argc > 2 ? argv[2] : NULL, NULL};
	struct kymo_recorder_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	struct kymo_recorder_options options = {
		.struct_size = sizeof(options),
		.overwrite = 1,
		.sources = sources,
		.controlled = 1,
	};

	if (argc < 4)
		return 2;
	options.output = argv[1];
	options.arguments = &argv[3];
	if (kymo_recorder_run(&options, &result, NULL, &error) != KYMO_OK) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	return result.exit_status;
}
