/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar of a configuration text, libkineto's: lines of KEY = value; '#' begins a
 * comment anywhere; blanks and tabs around key and value do not count. Besides, lines may
 * end with CR LF, the text may begin with a byte order mark, and the value of one of
 * Kymo's own keys (KYMO_...) may have '=' in it.
 */
#ifndef KYMO_CONFIG_TEXT_H
#define KYMO_CONFIG_TEXT_H

#include <kymo/base.h>

#define KY_TEXT_MAX (4u << 20) /* bytes of a whole text */

struct ky_entry {
	struct kymo_str key, value; /* borrowed from the text */
	uint32_t line;              /* from 1 */
};

/*
 * The entry that is next from `*at` on, which moves behind its line; `*line` is the
 * number of the line at `*at`, 1 in the beginning. KYMO_END where there is none;
 * KYMO_ERROR_CONFIG with `*line` at the one that is no entry.
 */
int32_t ky_text_next(struct kymo_str text, size_t *at, uint32_t *line,
		     struct ky_entry *out, struct kymo_error *error);

#endif
