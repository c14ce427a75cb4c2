/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a session of its own that uses the accelerator of the plug-in guide:
 * within the session, and after it; with a third argument also before it. Its first two
 * are the plug-in and the trace.
 */
#include <stdio.h>

#include <kymo/kymo.h>
#include <npu.h>

static void work(void)
{
	uint64_t job = 0;

	for (int i = 0; i < 10; i++)
		job = npu_run("matmul", 100000, npu_copy(4096, 0));
	npu_wait(job);
}

static int32_t record(struct kymo_session *session, const char *path,
		      struct kymo_error *error)
{
	const struct kymo_sink_options replace = {.struct_size = sizeof(replace),
						  .overwrite = 1};
	int32_t status = kymo_session_start(session, error);

	if (status == KYMO_OK) {
		work();
		status = kymo_session_stop(session, error);
	}
	work();
	if (status == KYMO_OK)
		status = kymo_session_save(session, path, &replace, NULL, error);
	return status;
}

int main(int argc, char **argv)
{
	const char *const sources[] = {argv[1], NULL};
	const struct kymo_session_options options = {.struct_size = sizeof(options),
						     .sources = sources};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	int32_t status;

	if (argc < 3)
		return 2;
	if (argc > 3)
		work();
	status = kymo_session_create(&session, &options, &error);
	if (status == KYMO_OK)
		status = record(session, argv[2], &error);
	if (status != KYMO_OK)
		fprintf(stderr, "%s\n", error.message);
	kymo_session_destroy(session);
	return status != KYMO_OK;
}
