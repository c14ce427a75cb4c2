/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the perf source costs, in CPU time of the whole process, its own thread included.
 * Each line is one JSON object; what is compared with is measured in the same run.
 *
 *     perf_tick      a tick of the default counters, beside one pread of /proc/self/statm
 *     perf_switch    a context switch between two threads, beside the same unrecorded
 *     perf_thread    a thread that is created and ends, beside the same unrecorded
 *
 *     perf_cost PLUGIN
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#define TICK_NS     1000000u /* of "interval=1ms" */
#define OPTIONS_MAX 3u

static unsigned switches = 40000, threads = 1000, reads = 200000, rounds = 5;
static const char *plugin;
static int pipes[2][2];

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void must(int is_good, const char *what, const struct kymo_error *error)
{
	if (is_good)
		return;
	fprintf(stderr, "perf_cost: cannot %s: %s\n", what, error ? error->message : "");
	exit(1);
}

/* ---- What is measured ---- */

static void pass_on(int from, int to)
{
	char byte = 0;

	must(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1, "pass a byte", NULL);
}

static void *answer(void *unused)
{
	for (unsigned i = 0; i < switches / 2; i++)
		pass_on(pipes[0][0], pipes[1][1]);
	return unused;
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* CPU ns of one switch. */
static double switch_threads(void)
{
	const uint64_t begin = cpu_ns();
	pthread_t other;
	char byte = 0;

	must(!pthread_create(&other, NULL, answer, NULL), "start a thread", NULL);
	for (unsigned i = 0; i < switches / 2; i++)
		must(write(pipes[0][1], &byte, 1) == 1 &&
			     read(pipes[1][0], &byte, 1) == 1,
		     "pass a byte", NULL);
	pthread_join(other, NULL);
	return (double)(cpu_ns() - begin) / switches;
}

/* CPU ns of one thread. */
static double start_threads(void)
{
	const uint64_t begin = cpu_ns();

	for (unsigned i = 0; i < threads; i++) {
		pthread_t thread;

		must(!pthread_create(&thread, NULL, end_at_once, NULL), "start a thread",
		     NULL);
		pthread_join(thread, NULL);
	}
	return (double)(cpu_ns() - begin) / threads;
}

/* Of some rounds the best: the machine may have others to serve. */
static double best_of(double (*measure)(void))
{
	double best = measure();

	for (unsigned i = 1; i < rounds; i++) {
		const double next = measure();

		best = next < best ? next : best;
	}
	return best;
}

/* ---- Sessions ---- */

static struct kymo_session *begin(const char *const *options)
{
	char texts[OPTIONS_MAX][4096];
	const char *sources[OPTIONS_MAX + 1] = {plugin};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	for (unsigned i = 0; i < OPTIONS_MAX && options[i]; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%s:%s", plugin, options[i]);
		sources[i] = texts[i];
	}
	must(!kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = sources),
				  &error) &&
		     !kymo_session_start(session, &error),
	     "begin a session", &error);
	return session;
}

static void end(struct kymo_session *session)
{
	struct kymo_error error = {0};

	must(!kymo_session_stop(session, &error), "stop", &error);
	kymo_session_destroy(session);
}

static void measure_tick(void)
{
	const struct timespec rest = {rounds / 5, 500000000};
	const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	struct kymo_session *session;
	uint64_t cpu, wall;
	double floor, tick;
	char text[256];

	must(file >= 0, "open /proc/self/statm", NULL);
	cpu = cpu_ns();
	for (unsigned i = 0; i < reads; i++)
		must(pread(file, text, sizeof(text), 0) > 0, "read", NULL);
	floor = (double)(cpu_ns() - cpu) / reads;
	close(file);
	session = begin((const char *const[]){"interval=1ms", NULL});
	wall = now_ns(CLOCK_MONOTONIC);
	cpu = cpu_ns();
	nanosleep(&rest, NULL);
	tick = (double)(cpu_ns() - cpu) /
	       ((double)(now_ns(CLOCK_MONOTONIC) - wall) / TICK_NS);
	end(session);
	printf("{\"bench\": \"perf_tick\", \"ns\": %.0f, \"floor_ns\": %.0f, "
	       "\"ratio\": %.1f}\n",
	       tick, floor, tick / floor);
}

static void tell(const char *bench, const char *options, double recorded, double plain)
{
	printf("{\"bench\": \"%s\", \"options\": \"%s\", \"ns\": %.0f, "
	       "\"floor_ns\": %.0f, \"ratio\": %.2f}\n",
	       bench, options, recorded, plain, recorded / plain);
}

static void measure_program(void)
{
	static const char *const cases[][OPTIONS_MAX] = {
		{NULL}, {"stacks=99"}, {"switches=1"}, {"stacks=99", "switches=1"}};
	static const char *const names[] = {"", "stacks=99", "switches=1",
					    "stacks=99,switches=1"};
	const double plain_switch = best_of(switch_threads);
	const double plain_thread = best_of(start_threads);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_session *session = begin(cases[i]);

		tell("perf_switch", names[i], best_of(switch_threads), plain_switch);
		tell("perf_thread", names[i], best_of(start_threads), plain_thread);
		end(session);
	}
}

int main(int argc, char **argv)
{
	cpu_set_t one;

	must(argc == 2, "run without the plug-in's path", NULL);
	plugin = argv[1];
	if (getenv("KYMO_BENCH_QUICK")) {
		switches = 2000;
		threads = 50;
		reads = 1000;
		rounds = 1;
	}
	must(!pipe(pipes[0]) && !pipe(pipes[1]), "make pipes", NULL);
	measure_tick();
	/* On one CPU each byte is a switch. */
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	measure_program();
	return 0;
}
