/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that records itself: three steps, each with the number of its bytes, and in
 * each a part of its own. Open the file it writes in https://ui.perfetto.dev.
 *
 *     cc session.c $(pkg-config --cflags --libs kymo) -o session
 *     ./session trace.json
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <stdio.h>
#include <time.h>

#include <kymo/kymo.h>

static void work(long milliseconds)
{
	const struct timespec time = {0, milliseconds * 1000000};

	nanosleep(&time, NULL);
}

static void load(void)
{
	static uint32_t name;
	uint64_t begin = kymo_mark_begin();

	work(3);
	kymo_mark_end(begin, kymo_mark_name(&name, "load"));
}

static void step(uint64_t number, uint16_t number_key, uint16_t bytes_key)
{
	static uint32_t name;
	uint64_t begin = kymo_mark_begin();

	load();
	work(5);
	kymo_mark_end2(begin, kymo_mark_name(&name, "step"), number_key, number,
		       bytes_key, number << 20);
}

static int record(struct kymo_session *session, const char *path,
		  struct kymo_error *error)
{
	const uint16_t number_key = kymo_mark_key("step", KYMO_VALUE_UINT64, NULL);
	const uint16_t bytes_key = kymo_mark_key("bytes", KYMO_VALUE_UINT64, "bytes");
	struct kymo_summary summary = {.struct_size = sizeof(summary)};

	if (kymo_session_start(session, error) != KYMO_OK)
		return 1;
	for (uint64_t number = 1; number <= 3; number++)
		step(number, number_key, bytes_key);
	if (kymo_session_stop(session, error) != KYMO_OK ||
	    kymo_session_save(session, path, NULL, &summary, error) != KYMO_OK)
		return 1;
	printf("%s: %llu events in %.1f ms\n", path, (unsigned long long)summary.events,
	       (double)summary.duration_ns / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	int status = 1;

	if (argc != 2) {
		fprintf(stderr, "usage: session FILE.json|FILE.json.gz|FILE.kymo\n");
		return 2;
	}
	if (kymo_session_create(&session, NULL, &error) == KYMO_OK)
		status = record(session, argv[1], &error);
	if (status != 0)
		fprintf(stderr, "session: %s\n", error.message);
	kymo_session_destroy(session);
	return status;
}
