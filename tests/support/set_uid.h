/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test program does where privilege is crossed: a set-uid copy of it is run. */
#ifndef KYMO_TESTS_SUPPORT_SET_UID_H
#define KYMO_TESTS_SUPPORT_SET_UID_H

#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define TEST_NOBODY 65534u /* who runs it */

/*
 * Runs a copy of this program in `folder` (which anybody may enter), set-uid to us, as
 * nobody, with `words`; what it prints goes to `said`. False where we are not root.
 */
static inline int run_set_uid(const char *folder, const char *words, char *said,
			      size_t size)
{
	char command[2048];
	FILE *output;

	if (getuid() != 0)
		return 0;
	snprintf(command, sizeof(command),
		 "cp /proc/%d/exe %.256s/root && chmod 4755 %.256s/root && "
		 "setpriv --reuid %u %.256s/root %.512s 2>&1; rm -f %.256s/root",
		 (int)getpid(), folder, folder, TEST_NOBODY, folder, words, folder);
	output = popen(command, "r");
	if (!output)
		return 0;
	said[fread(said, 1, size - 1, output)] = '\0';
	pclose(output);
	return 1;
}

#endif
