/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mended copy: the bytes of the input but for edits, each of which is told of. Edits
 * may come in any order; of those that touch the same bytes the first in the file holds.
 */
#ifndef KYMO_CLI_CHECK_REPAIR_H
#define KYMO_CLI_CHECK_REPAIR_H

#include "check.h"

struct ky_edits *ky_edits_create(void);
void ky_edits_destroy(struct ky_edits *edits);

#define KY_TO_THE_END UINT64_MAX

/*
 * Has `size` bytes from `byte` on replaced by `text` ("" for none), as the mend of one
 * finding that was counted. Does nothing unless the file is to be mended.
 */
void ky_check_mend(struct ky_check *check, enum ky_check_kind kind,
		   struct ky_check_place place, uint64_t byte, uint64_t size,
		   const char *text);

/* The same as a further part of the last mend. */
void ky_check_mend_too(struct ky_check *check, uint64_t byte, uint64_t size,
		       const char *text);

/* The file is written anew although no byte of the text changes. */
void ky_check_mend_form(struct ky_check *check, enum ky_check_kind kind);

/* How many edits there are. */
uint64_t ky_check_edits(const struct ky_check *check);

/* Whether the copy could be written: 0, or an exit status with an error said. */
int ky_check_try_repaired(struct ky_check *check, const char *path, bool overwrite);

/*
 * Writes the copy, also where there is no edit, and lists the changes on standard output,
 * unless `quiet`. 0, or an exit status with an error said and no file left behind.
 */
int ky_check_write_repaired(struct ky_check *check, const char *path, bool overwrite,
			    bool quiet);

#endif
