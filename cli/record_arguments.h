/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of kymo record. */
#ifndef KYMO_CLI_RECORD_ARGUMENTS_H
#define KYMO_CLI_RECORD_ARGUMENTS_H

#include <kymo/control.h>

#define KY_EXIT_NOT_RECORDED 125 /* as env(1) and timeout(1) have it */

struct ky_record_arguments {
	struct kymo_recorder_options options;
	/* As options has them, but ours. */
	char **sources, **require, **more_outputs;
	int is_strict;
	int is_help; /* only the usage is wanted */
};

extern const char ky_record_usage[];

/* Zero the object before. 0, or an exit status, with the reason said. */
int ky_record_read(int argc, char **argv, struct ky_record_arguments *arguments);
void ky_record_free(struct ky_record_arguments *arguments);

#endif
