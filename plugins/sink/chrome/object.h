/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON objects of which the members come one by one; braces are the caller's affair. */
#ifndef KYMO_CHROME_OBJECT_H
#define KYMO_CHROME_OBJECT_H

#include <stdbool.h>

#include <kymo/base.h>

struct ky_chrome;

struct ky_object {
	struct ky_chrome *chrome;
	const char *indent; /* line feed and blanks; NULL: all on one line */
	bool has_members;
};

/* What goes between two members. */
void ky_object_begin_line(struct ky_object *object);

/* Up to the value. */
void ky_object_begin_member(struct ky_object *object, struct kymo_str key);

void ky_object_add_u64(struct ky_object *object, struct kymo_str key, uint64_t value);
void ky_object_add_i64(struct ky_object *object, struct kymo_str key, int64_t value);

/* Nothing where there is no text. */
void ky_object_add_text(struct ky_object *object, struct kymo_str key,
			struct kymo_str text);

#endif
