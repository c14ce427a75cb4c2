/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that record numbered spans, and say in a shared file how many of these were
 * taken and how many refused: what a recording is held against, however it ended.
 *
 *     producer FILE THREADS [ms=N] [count=N] [rate=N] [idle=N] [each=N]
 *
 * Each thread records until `ms` have passed or `count` spans are done, at most `rate` a
 * second (0: as many as it can). `idle`: so many more threads record one span and then
 * wait. `each`: that many threads one after the other instead of all at once. FILE has
 * one struct tally for each thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kymo/mark.h>
#include <kymo/plugin.h>

#define NS_PER_S  1000000000u
#define NS_PER_MS 1000000u

/* As the tests read it: "<QQQQQQ16x". */
struct tally {
	uint64_t tid;
	uint64_t offered;    /* handed in, taken or not */
	uint64_t taken;      /* committed for certain */
	uint64_t refused;    /* the buffer was full */
	uint64_t unrecorded; /* nothing recorded at the time */
	uint64_t slowest_ns; /* of one call */
	uint64_t reserved[2];
};

struct job {
	uint64_t until_ns; /* 0: for ever */
	uint64_t count;    /* 0: no end */
	uint64_t rate;
};

struct worker {
	pthread_t thread;
	const struct job *job;
	struct tally *tally;
	int is_idle;
};

static uint16_t number_key;
static pthread_barrier_t idle_ready;
static int may_idle_end;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle_wake = PTHREAD_COND_INITIALIZER;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void add(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
}

static void record_one(struct tally *tally)
{
	static uint32_t name;
	const struct kymo_value value = {
		.key = number_key,
		.type = KYMO_VALUE_UINT64,
		.u64 = tally->offered + 1,
	};
	uint64_t begin = kymo_mark_begin();
	int32_t status =
		kymo_mark_end_values(begin, kymo_mark_name(&name, "numbered"), &value, 1);

	add(&tally->offered);
	if (status == KYMO_OK)
		add(&tally->taken);
	else if (status == KYMO_ERROR_NO_MEMORY)
		add(&tally->refused);
	else
		add(&tally->unrecorded);
}

/* Waits until it is this record's turn. */
static void keep_rate(const struct job *job, uint64_t begin_ns, uint64_t done)
{
	uint64_t due_ns;
	struct timespec due;

	if (job->rate == 0)
		return;
	due_ns = begin_ns + done * NS_PER_S / job->rate;
	if (due_ns <= now_ns())
		return;
	due = (struct timespec){(time_t)(due_ns / NS_PER_S), (long)(due_ns % NS_PER_S)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

static void record_many(const struct job *job, struct tally *tally)
{
	uint64_t begin_ns = now_ns(), before_ns = begin_ns;

	for (uint64_t done = 0; job->count == 0 || done < job->count; done++) {
		uint64_t after_ns;

		keep_rate(job, begin_ns, done);
		if (job->rate != 0)
			before_ns = now_ns();
		record_one(tally);
		after_ns = now_ns();
		if (after_ns - before_ns > tally->slowest_ns)
			tally->slowest_ns = after_ns - before_ns;
		before_ns = after_ns;
		if (job->until_ns != 0 && after_ns >= job->until_ns)
			break;
	}
}

static void *work(void *context)
{
	struct worker *worker = context;

	worker->tally->tid = (uint64_t)syscall(SYS_gettid);
	if (!worker->is_idle) {
		record_many(worker->job, worker->tally);
		return NULL;
	}
	record_one(worker->tally);
	pthread_barrier_wait(&idle_ready);
	pthread_mutex_lock(&idle_lock);
	while (!may_idle_end)
		pthread_cond_wait(&idle_wake, &idle_lock);
	pthread_mutex_unlock(&idle_lock);
	return NULL;
}

static void start(struct worker *worker)
{
	pthread_attr_t attributes;
	int number;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	number = pthread_create(&worker->thread, &attributes, work, worker);
	pthread_attr_destroy(&attributes);
	if (number != 0) {
		fprintf(stderr, "producer: no thread: %s\n", strerror(number));
		exit(1);
	}
}

static void run_one_by_one(struct worker *workers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		start(&workers[i]);
		pthread_join(workers[i].thread, NULL);
	}
}

static void run_together(struct worker *workers, size_t count, size_t idle)
{
	pthread_barrier_init(&idle_ready, NULL, (unsigned int)idle + 1);
	for (size_t i = count; i < count + idle; i++) {
		workers[i].is_idle = 1;
		start(&workers[i]);
	}
	if (idle > 0)
		pthread_barrier_wait(&idle_ready);
	for (size_t i = 0; i < count; i++)
		start(&workers[i]);
	for (size_t i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_mutex_lock(&idle_lock);
	may_idle_end = 1;
	pthread_cond_broadcast(&idle_wake);
	pthread_mutex_unlock(&idle_lock);
	for (size_t i = count; i < count + idle; i++)
		pthread_join(workers[i].thread, NULL);
}

static struct tally *share(const char *path, size_t count)
{
	size_t size = (count ? count : 1) * sizeof(struct tally);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		fprintf(stderr, "producer: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
	return memory;
}

static uint64_t option(int argc, char **argv, const char *name)
{
	size_t size = strlen(name);

	for (int i = 3; i < argc; i++)
		if (strncmp(argv[i], name, size) == 0 && argv[i][size] == '=')
			return strtoull(argv[i] + size + 1, NULL, 10);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t ms = option(argc, argv, "ms"), each = option(argc, argv, "each");
	size_t idle = option(argc, argv, "idle");
	size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct job job = {
		.count = option(argc, argv, "count"),
		.rate = option(argc, argv, "rate"),
	};
	struct worker *workers;
	struct tally *tallies;

	if (argc < 3)
		return 2;
	if (each > 0)
		count = each;
	tallies = share(argv[1], count + idle);
	workers = calloc(count + idle + 1, sizeof(*workers));
	if (!workers)
		return 1;
	for (size_t i = 0; i < count + idle; i++)
		workers[i] = (struct worker){.job = &job, .tally = &tallies[i]};
	number_key = kymo_mark_key("number", KYMO_VALUE_UINT64, NULL);
	if (ms > 0)
		job.until_ns = now_ns() + ms * NS_PER_MS;
	if (each > 0)
		run_one_by_one(workers, count);
	else
		run_together(workers, count, idle);
	free(workers);
	return 0;
}
