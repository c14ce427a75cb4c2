/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a snapshot of a full flight recorder costs, and costs those who go on recording.
 * One line of JSON with medians of the rounds:
 *
 *     snapshot   of 64 MiB to a .kymo, while a thread records as fast as it can: how long
 *                it took, and the longest that a mark of that thread took meanwhile; the
 *                floors are writing as much to a file and to disk, and the longest mark
 *                of as much time without a snapshot
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#define ROUNDS_MAX 32
#define BUFFER     ((size_t)64 << 20)

static unsigned int rounds = 9;
static uint64_t longest_ns; /* of a mark since it was last set to 0 */
static uint32_t is_over;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void must(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "snapshot: cannot %s: %s\n", what, error->message);
	exit(1);
}

static void *record(void *context)
{
	static uint32_t name;
	uint64_t before = now_ns();

	(void)context;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		uint64_t now;

		kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "mark"));
		now = now_ns();
		if (now - before > __atomic_load_n(&longest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&longest_ns, now - before, __ATOMIC_RELAXED);
		before = now;
	}
	return NULL;
}

/* Of writing as much as there is, without a thought for what it is. */
static uint64_t measure_floor(const char *path)
{
	char *memory = malloc(BUFFER);
	FILE *file = fopen(path, "we");
	const uint64_t begin = now_ns();

	if (!memory || !file) {
		perror(path);
		exit(1);
	}
	memset(memory, 1, BUFFER);
	if (fwrite(memory, 1, BUFFER, file) != BUFFER || fflush(file) != 0 ||
	    fdatasync(fileno(file)) != 0)
		perror(path);
	fclose(file);
	free(memory);
	return now_ns() - begin;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median_us(uint64_t *values)
{
	qsort(values, rounds, sizeof(*values), compare);
	return (double)values[rounds / 2] / 1e3;
}

static void take_rounds(struct kymo_session *session, const char *path)
{
	const struct kymo_sink_options options = {.struct_size = sizeof(options),
						  .overwrite = 1};
	uint64_t floor[ROUNDS_MAX], took[ROUNDS_MAX], idle[ROUNDS_MAX], mark[ROUNDS_MAX];
	struct kymo_error error;

	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t begin;

		floor[i] = measure_floor(path);
		__atomic_store_n(&longest_ns, 0, __ATOMIC_RELAXED);
		usleep((useconds_t)(floor[i] / 1000));
		idle[i] = __atomic_exchange_n(&longest_ns, 0, __ATOMIC_RELAXED);
		begin = now_ns();
		must(kymo_session_snapshot(session, path, 0, &options, NULL, &error),
		     "take a snapshot", &error);
		took[i] = now_ns() - begin;
		mark[i] = __atomic_load_n(&longest_ns, __ATOMIC_RELAXED);
	}
	printf("{\"bench\": \"snapshot\", \"bytes\": %zu, \"floor_us\": %.0f, "
	       "\"took_us\": %.0f, \"longest_mark_floor_us\": %.0f, "
	       "\"longest_mark_us\": %.0f}\n",
	       BUFFER, median_us(floor), median_us(took), median_us(idle),
	       median_us(mark));
}

int main(void)
{
	char path[64];
	struct kymo_session *session;
	struct kymo_error error;
	pthread_t thread;

	if (getenv("KYMO_BENCH_QUICK"))
		rounds = 3;
	snprintf(path, sizeof(path), "/tmp/kymo-bench-snapshot-%d.kymo", (int)getpid());
	must(kymo_session_create(&session,
				 KYMO_SESSION_OPTIONS(.overflow = KYMO_OVERFLOW_OVERWRITE,
						      .buffer_size = BUFFER),
				 &error),
	     "create", &error);
	must(kymo_session_start(session, &error), "start", &error);
	if (pthread_create(&thread, NULL, record, NULL) != 0)
		return 1;
	usleep(200000); /* until it goes round */
	take_rounds(session, path);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	kymo_session_destroy(session);
	unlink(path);
	return 0;
}
