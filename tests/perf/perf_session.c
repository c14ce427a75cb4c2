/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that records itself, late: EARLY threads spin before the session begins, LATE
 * ones are started in it. All end before it does: the stop has 2 s, which a hundred
 * threads that spin may not leave to it.
 *
 *     perf_session PLUGIN FILE EARLY LATE
 *
 * It records for 400 ms, and until each thread has been on the CPU for 10 ms of it.
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
#define LEAST_NS    10000000u
#define THREADS_MAX 256

static atomic_int is_over;
static pthread_t threads[THREADS_MAX];

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

static void start_threads(int first, int count)
{
	for (int i = first; i < first + count; i++)
		need(!pthread_create(&threads[i], NULL, spin, NULL), "no thread", NULL);
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t thread_ns(int thread)
{
	clockid_t clock;

	need(!pthread_getcpuclockid(threads[thread], &clock), "no clock", NULL);
	return read_ns(clock);
}

static void work(int early, int late)
{
	const struct timespec recorded = {0, RECORDED_NS}, shortly = {0, LEAST_NS};
	uint64_t before[THREADS_MAX] = {0};

	for (int i = 0; i < early; i++)
		before[i] = thread_ns(i);
	start_threads(early, late);
	nanosleep(&recorded, NULL);
	for (int i = 0; i < early + late; i++)
		while (thread_ns(i) - before[i] < LEAST_NS)
			nanosleep(&shortly, NULL);
}

int main(int argc, char **argv)
{
	const int early = argc == 5 ? atoi(argv[3]) : 0;
	const int late = argc == 5 ? atoi(argv[4]) : 0;
	char stacks[4096], switches[4096];
	const char *const sources[] = {stacks, switches, NULL};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	uint64_t before, begin, end, after;

	need(argc == 5 && early + late <= THREADS_MAX, "bad arguments", NULL);
	snprintf(stacks, sizeof(stacks), "%s:stacks=999", argv[1]);
	snprintf(switches, sizeof(switches), "%s:switches=1", argv[1]);
	start_threads(0, early);
	need(!kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = sources),
				  &error),
	     "create", &error);
	before = cpu_ns();
	need(!kymo_session_start(session, &error), "start", &error);
	begin = cpu_ns();
	work(early, late);
	end = cpu_ns();
	atomic_store(&is_over, 1);
	for (int i = 0; i < early + late; i++)
		pthread_join(threads[i], NULL);
	need(!kymo_session_stop(session, &error), "stop", &error);
	after = cpu_ns();
	need(!kymo_session_save(session, argv[2], NULL, NULL, &error), "save", &error);
	kymo_session_destroy(session);
	printf("%llu %llu\n", (unsigned long long)(end - begin),
	       (unsigned long long)(after - before));
	return 0;
}
