/* SPDX-License-Identifier: BSD-3-Clause */
/* A session with marks in it, and what is found in it when it is read back. */
#ifndef TEST_API_RECORDED_H
#define TEST_API_RECORDED_H

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static uint32_t step_name;

static inline void mark(int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end(begin, kymo_mark_name(&step_name, "step"));
	}
}

static inline struct kymo_session *new_session(void)
{
	struct kymo_session *session = NULL;

	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_non_null(session);
	return session;
}

/* A stopped session with so many marks. */
static inline struct kymo_session *record(int marks)
{
	struct kymo_session *session = new_session();
	struct kymo_error error = {0};

	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	mark(marks);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	return session;
}

/* Saves as .kymo and reads it back. */
static inline void look_at(struct kymo_session *session, struct memory_sink *sink)
{
	const char *path = in_folder("look.kymo");
	struct kymo_error error = {0};

	memset(sink, 0, sizeof(*sink));
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	if (kymo_timeline_export_to(&path, 1, &memory_ops, sink, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
}

#endif
