/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks from everywhere at once: threads, signal handlers that interrupt them, children
 * of fork, of clone, and of vfork, whose marks are their parent's. Counts in a shared
 * file what was taken and what refused, as producer.c does.
 *
 *     storm FILE MS [forks]
 *
 * Without `forks`: threads and signals only.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/mark.h>
#include <kymo/plugin.h>

#define THREADS   4
#define PER_CHILD 20
#define HITS      8 /* signals in a row */

/* The first members of producer.c's tally; one for all, added to atomically. */
struct tally {
	uint64_t tid, offered, taken, refused, unrecorded, slowest_ns;
	uint64_t children, reserved;
};

static struct tally *tally;
static uint32_t name;
static int must_end;

static void add(uint64_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void record_one(void)
{
	uint64_t begin = kymo_mark_begin();
	int32_t status = kymo_mark_end_values(begin, name, NULL, 0);

	add(&tally->offered);
	if (status == KYMO_OK)
		add(&tally->taken);
	else if (status == KYMO_ERROR_NO_MEMORY)
		add(&tally->refused);
	else
		add(&tally->unrecorded);
}

static void hit(int number)
{
	int kept = errno;

	(void)number;
	record_one();
	errno = kept;
}

static void *record_all_the_time(void *context)
{
	(void)context;
	while (!__atomic_load_n(&must_end, __ATOMIC_RELAXED))
		record_one();
	return NULL;
}

static void be_a_child(void)
{
	for (int i = 0; i < PER_CHILD; i++)
		record_one();
	_exit(0);
}

static void wait_for(pid_t child)
{
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (child > 0)
		add(&tally->children);
}

static void make_children(void)
{
	pid_t child = fork();

	if (child == 0)
		be_a_child();
	wait_for(child);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		be_a_child();
	wait_for(child);
	/* What a child of vfork records, this thread has recorded. */
	child = vfork();
	if (child == 0) {
		record_one();
		_exit(0);
	}
	wait_for(child);
}

static void storm(uint64_t until_ns, int with_forks)
{
	pthread_t threads[THREADS];
	struct timespec now;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, record_all_the_time, NULL) != 0)
			exit(1);
	do {
		const struct timespec pause = {0, 20000};

		for (int i = 0; i < HITS * THREADS; i++)
			pthread_kill(threads[i % THREADS], SIGUSR1);
		nanosleep(&pause, NULL);
		if (with_forks)
			make_children();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < until_ns);
	__atomic_store_n(&must_end, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = hit, .sa_flags = SA_RESTART};
	struct timespec now;
	int fd;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*tally)) != 0)
		return 1;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (tally == MAP_FAILED)
		return 1;
	close(fd);
	/* Before the first handler: names take a lock, and so does the first mark. */
	name = kymo_mark_intern("storm", 5);
	record_one();
	sigaction(SIGUSR1, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	storm((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
		      strtoull(argv[2], NULL, 10) * 1000000u,
	      argc > 3 && strcmp(argv[3], "forks") == 0);
	return 0;
}
