/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that records itself, late: EARLY threads spin before the session begins, LATE
 * ones are started in it.
 *
 *     perf_session PLUGIN FILE EARLY LATE
 *
 * It prints the ns that all of them have been on the CPU between start and stop, and with
 * these two.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kymo/kymo.h>

#define RECORDED_NS 400000000u

static atomic_int is_over;

static void *spin(void *unused)
{
	while (!atomic_load_explicit(&is_over, memory_order_relaxed))
		;
	return unused;
}

static void need(int is_good, const char *what, const struct kymo_error *error)
{
	if (is_good)
		return;
	fprintf(stderr, "perf_session: %s: %s\n", what, error ? error->message : "");
	exit(99);
}

static void start_threads(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		need(!pthread_create(&threads[i], NULL, spin, NULL), "no thread", NULL);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct timespec recorded = {0, RECORDED_NS};
	const int early = argc == 5 ? atoi(argv[3]) : 0;
	const int late = argc == 5 ? atoi(argv[4]) : 0;
	char stacks[4096], switches[4096];
	const char *const sources[] = {stacks, switches, NULL};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	pthread_t threads[256];
	uint64_t before, begin, end, after;

	need(argc == 5 && early + late <= 256, "bad arguments", NULL);
	snprintf(stacks, sizeof(stacks), "%s:stacks=999", argv[1]);
	snprintf(switches, sizeof(switches), "%s:switches=1", argv[1]);
	start_threads(threads, early);
	need(!kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = sources),
				  &error),
	     "create", &error);
	before = cpu_ns();
	need(!kymo_session_start(session, &error), "start", &error);
	begin = cpu_ns();
	start_threads(threads + early, late);
	nanosleep(&recorded, NULL);
	end = cpu_ns();
	need(!kymo_session_stop(session, &error), "stop", &error);
	after = cpu_ns();
	atomic_store(&is_over, 1);
	for (int i = 0; i < early + late; i++)
		pthread_join(threads[i], NULL);
	need(!kymo_session_save(session, argv[2], NULL, NULL, &error), "save", &error);
	kymo_session_destroy(session);
	printf("%llu %llu\n", (unsigned long long)(end - begin),
	       (unsigned long long)(after - before));
	return 0;
}
