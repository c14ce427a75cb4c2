/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with one event, seen alone. */
#ifndef KYMO_CLI_CHECK_RULES_H
#define KYMO_CLI_CHECK_RULES_H

#include "check_event.h"

/* A number, or a text that is one. */
bool ky_word_is_time(const struct ky_word *word);

/* The number that the reader has just read, somewhere in args. */
void ky_rule_number(struct ky_check_reading *reading);

/* All rules, then the event's records for the sorter. */
void ky_rules_judge(struct ky_check_reading *reading);

/* Of check_records.c: hands the event to the sorter. Times that are no times stay out. */
void ky_check_put_records(struct ky_check_reading *reading, int64_t begin_ns,
			  int64_t end_ns);

#endif
