/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that $CUDA_SCENARIO names: what the program does, and how the driver and CUPTI
 * that stand in for the real ones misbehave. Each reads its own lines: the first word
 * says whose it is, "driver" or "cupti"; all others are the program's. README.md lists
 * them.
 */
#ifndef KYMO_TESTS_CUDA_SCENARIO_H
#define KYMO_TESTS_CUDA_SCENARIO_H

enum { SCENARIO_WORDS = 16 };

/*
 * Splits a line into words, in place; `words` ends with a null pointer. A word in quotes
 * may hold spaces, \n, \\, \" and \xHH. What stands behind a # is left out.
 */
int scenario_split(char *line, char *words[SCENARIO_WORDS + 1]);

/*
 * Calls `take` for each line that is `who`'s, without that word; no scenario: for none.
 */
void scenario_read(const char *who, void (*take)(char **words, int count));

#endif
