/* SPDX-License-Identifier: BSD-3-Clause */
#include "program_session.h"

#include <stdio.h>
#include <stdlib.h>

#include <kymo/control.h>
#include <kymo/kymo.h>

static struct kymo_session *session;

static void need(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "cuda_program: %s: %s\n", what, error->message);
	exit(99);
}

void program_session_start(const char *options)
{
	const char *path = getenv("CUDA_SOURCE");
	const char *const sources[] = {path, NULL};
	char text[4200];
	const char *const with_options[] = {text, NULL};
	struct kymo_error error = {0};

	snprintf(text, sizeof(text), "%s:%s", path ? path : "", options ? options : "");
	need(kymo_session_create(
		     &session,
		     KYMO_SESSION_OPTIONS(.sources = options ? with_options : sources),
		     &error),
	     "create", &error);
	need(kymo_session_start(session, &error), "start", &error);
}

void program_session_pause(void)
{
	struct kymo_error error = {0};

	need(kymo_session_pause(session, &error), "pause", &error);
}

void program_session_resume(void)
{
	struct kymo_error error = {0};

	need(kymo_session_resume(session, &error), "resume", &error);
}

void program_session_stop(void)
{
	struct kymo_error error = {0};

	need(kymo_session_stop(session, &error), "stop", &error);
}

void program_session_save(const char *path)
{
	const struct kymo_sink_options options = {.struct_size = sizeof(options),
						  .overwrite = 1};
	struct kymo_error error = {0};

	need(kymo_session_save(session, path, &options, NULL, &error), "save", &error);
	kymo_session_destroy(session);
	session = NULL;
}

void program_order(int is_to_record)
{
	struct kymo_error error = {0};

	if (getenv("KYMO_AGENT"))
		need(kymo_recorder_order(
			     NULL, is_to_record ? KYMO_ORDER_RECORD : KYMO_ORDER_REST,
			     &error),
		     "order", &error);
}

uint64_t program_operation_begin(uint64_t number)
{
	kymo_link_push(KYMO_LINK_OP, number);
	return kymo_mark_begin();
}

void program_operation_end(uint64_t number, uint64_t begin, const char *name)
{
	uint32_t cache = 0;

	kymo_link_pop(KYMO_LINK_OP);
	if (begin)
		kymo_link_end(KYMO_LINK_OP, number, begin, kymo_mark_name(&cache, name),
			      NULL, 0);
}
