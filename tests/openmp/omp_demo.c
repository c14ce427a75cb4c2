/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     omp_demo [all | fork | exit | kill | short | library PATH]
 *
 * An OpenMP program for openmp_e2e.py, which builds it with the compilers that there are.
 * It says how many constructs it went through in what it does, not in what it prints.
 */
#include <dlfcn.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;

static void work(long count)
{
	for (long i = 0; i < count; i++)
		sink = sink + i;
}

/*
 * 4 threads: loop, sections, single with 5 tasks that have one more each, critical, lock.
 */
static long constructs(omp_lock_t *lock)
{
	long sum = 0;

#pragma omp parallel num_threads(4) reduction(+ : sum)
	{
#pragma omp for schedule(dynamic)
		for (int i = 0; i < 8; i++)
			sum += i;
#pragma omp sections
		{
#pragma omp section
			work(100);
#pragma omp section
			work(100);
		}
#pragma omp single
		for (int i = 0; i < 5; i++) {
#pragma omp task
			{
				work(1000);
#pragma omp task
				work(1000);
#pragma omp taskwait
			}
		}
#pragma omp critical
		work(100);
		omp_set_lock(lock);
		work(100);
		omp_unset_lock(lock);
	}
	return sum;
}

/* 2 threads, each of which begins a region of 2. */
static void nested(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		work(100);
#pragma omp parallel num_threads(2)
		work(1000);
	}
}

static void regions(int count)
{
	for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(4)
		work(10);
	}
}

static int fork_in_between(void)
{
	int status;
	pid_t child;

	regions(2);
	child = fork();
	if (child == 0) {
		regions(3);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		return 1;
	regions(1);
	return status;
}

/* Its constructor has a region: threads begin while the loader's lock is held. */
static int use_library(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(path, RTLD_NOW);

		if (!library || dlclose(library) != 0) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	omp_lock_t lock;

	if (strcmp(what, "fork") == 0)
		return fork_in_between();
	if (strcmp(what, "library") == 0 && argc > 2)
		return use_library(argv[2]);
	if (strcmp(what, "short") == 0) {
		regions(1000);
		return 0;
	}
	if (strcmp(what, "exit") == 0 || strcmp(what, "kill") == 0) {
#pragma omp parallel num_threads(2)
		if (omp_get_thread_num() == 1) {
			work(100000);
			if (what[0] == 'k')
				kill(getpid(), SIGKILL);
			exit(5);
		} else {
			pause();
		}
	}
	omp_init_lock(&lock);
	printf("%ld\n", constructs(&lock));
	nested();
	omp_destroy_lock(&lock);
	return 3;
}
