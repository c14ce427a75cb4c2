/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses the machine in known amounts. It does what its arguments say, one
 * after the other:
 *
 *     spin MS          on the CPU for so long, in spin_hot
 *     sleep MS         faults N        touches N fresh pages
 *     switches N       gives the CPU up N times, each for a moment
 *     threads T MS     T threads at once, each spinning; waits for them
 *     crowd T          T threads that sleep a moment and end, 50 at a time
 *     waiting T        T threads that wait until the process ends; goes on when all run
 *     report           prints as JSON what its threads have used since main began
 *     hop N            changes from one CPU to another N times
 *     call FILE F MS   loads a library, calls F(MS) in it, and unloads it
 *     files KIND       closes every descriptor but the first three, and puts others of
 *                      its own in their places: a filled "pipe", or a "text"
 *     unstolen         says whether all that was written into the pipe is still there
 *     next             prints the number of the next descriptor
 *     user N           becomes another user
 *     fork ...         the rest in a child, for which this process waits
 *     exec ...         the rest in this program, begun anew
 *     exit N
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CROWD_AT_ONCE 50u

struct usage {
	uint64_t cpu_ns, minor, voluntary, involuntary;
};

static struct usage at_begin, of_threads; /* of those that have ended */
static pthread_mutex_t usage_lock = PTHREAD_MUTEX_INITIALIZER;
static char **next_word;
static sem_t waiting;
static int pipe_ends[2];

static char *word(void)
{
	if (!*next_word) {
		fprintf(stderr, "perf_program: a word is missing\n");
		exit(99);
	}
	return *next_word++;
}

static uint64_t number(void)
{
	return strtoull(word(), NULL, 10);
}

static void need(int is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "perf_program: %s: %s\n", what, strerror(errno));
	exit(99);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct usage thread_usage(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return (struct usage){thread_cpu_ns(), (uint64_t)used.ru_minflt,
			      (uint64_t)used.ru_nvcsw, (uint64_t)used.ru_nivcsw};
}

/* The place where samples are to be found: nothing is called in here. */
uint64_t spin_hot(uint64_t rounds);
__attribute__((noinline)) uint64_t spin_hot(uint64_t rounds)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++)
		sum = sum + i;
	return sum;
}

static void spin(uint64_t ms)
{
	const uint64_t end = thread_cpu_ns() + ms * 1000000;

	volatile uint64_t rounds = 100000; /* not a clone of it with the number in it */

	while (thread_cpu_ns() < end)
		spin_hot(rounds);
}

static void sleep_ns(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void touch_pages(uint64_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(memory != MAP_FAILED, "no pages");
	madvise(memory, count * page, MADV_NOHUGEPAGE);
	for (uint64_t i = 0; i < count; i++)
		memory[i * page] = 1;
}

static void *run_spinner(void *ms)
{
	struct usage used;

	spin(*(const uint64_t *)ms);
	used = thread_usage();
	pthread_mutex_lock(&usage_lock);
	of_threads.cpu_ns += used.cpu_ns;
	of_threads.minor += used.minor;
	of_threads.voluntary += used.voluntary;
	of_threads.involuntary += used.involuntary;
	pthread_mutex_unlock(&usage_lock);
	return NULL;
}

static void *run_shortly(void *unused)
{
	sleep_ns(100000);
	return unused;
}

static void *run_waiting(void *unused)
{
	sem_post(&waiting);
	pause();
	return unused;
}

static void run_threads(uint64_t count, void *(*run)(void *), void *context)
{
	pthread_t threads[CROWD_AT_ONCE];

	for (uint64_t done = 0; done < count; done += CROWD_AT_ONCE) {
		const uint64_t left = count - done;
		const uint64_t now = left < CROWD_AT_ONCE ? left : CROWD_AT_ONCE;

		for (uint64_t i = 0; i < now; i++)
			need(!pthread_create(&threads[i], NULL, run, context),
			     "no thread");
		for (uint64_t i = 0; i < now; i++)
			pthread_join(threads[i], NULL);
	}
}

static void leave_waiting(uint64_t count)
{
	pthread_t thread;

	need(sem_init(&waiting, 0, 0) == 0, "no semaphore");
	for (uint64_t i = 0; i < count; i++)
		need(!pthread_create(&thread, NULL, run_waiting, NULL), "no thread");
	while (count-- > 0)
		while (sem_wait(&waiting) != 0)
			;
}

static void report(void)
{
	const struct usage now = thread_usage();

	printf("{\"cpu_ns\": %llu, \"minor\": %llu, \"voluntary\": %llu, "
	       "\"involuntary\": %llu}\n",
	       (unsigned long long)(now.cpu_ns - at_begin.cpu_ns + of_threads.cpu_ns),
	       (unsigned long long)(now.minor - at_begin.minor + of_threads.minor),
	       (unsigned long long)(now.voluntary - at_begin.voluntary +
				    of_threads.voluntary),
	       (unsigned long long)(now.involuntary - at_begin.involuntary +
				    of_threads.involuntary));
	fflush(stdout);
}

/* As a daemon does; then its own come where somebody's may have been. */
static void replace_files(const char *kind)
{
	static const char text[] = "1 99999999 3 total=4\n total=5\n";
	char bytes[4096];

	memset(bytes, 'x', sizeof(bytes));
	need(close_range(3, ~0u, 0) == 0, "close_range");
	if (strcmp(kind, "pipe") == 0) {
		need(pipe(pipe_ends) == 0, "pipe");
		need(write(pipe_ends[1], bytes, sizeof(bytes)) == sizeof(bytes), "write");
	} else {
		pipe_ends[0] = memfd_create("text", 0);
		need(write(pipe_ends[0], text, sizeof(text)) > 0, "write");
	}
	for (int fd = 5; fd < 1000; fd++)
		dup2(pipe_ends[0], fd);
}

static void look_for_thefts(void)
{
	char bytes[8192];

	need(fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK) == 0, "fcntl");
	printf("%zd bytes\n", read(pipe_ends[0], bytes, sizeof(bytes)));
}

static void hop(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		cpu_set_t cpus;

		CPU_ZERO(&cpus);
		CPU_SET(i % 2, &cpus);
		need(sched_setaffinity(0, sizeof(cpus), &cpus) == 0, "no such CPU");
		sleep_ns(1000);
	}
}

static void call_library(const char *file, const char *function, uint64_t ms)
{
	void *library = dlopen(file, RTLD_NOW);
	void *symbol = library ? dlsym(library, function) : NULL;
	void (*call)(uint64_t ms);

	need(symbol != NULL, "no such function");
	memcpy(&call, &symbol, sizeof(call));
	call(ms);
	dlclose(library);
}

static void print_next(void)
{
	const int fd = open("/", O_RDONLY | O_DIRECTORY);

	printf("next %d\n", fd);
	close(fd);
}

static void fork_here(void)
{
	const pid_t child = fork();
	int status = 0;

	need(child >= 0, "fork");
	if (child == 0) {
		at_begin = thread_usage();
		of_threads = (struct usage){.cpu_ns = 0};
		return;
	}
	need(waitpid(child, &status, 0) == child, "waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static void exec_here(void)
{
	next_word[-1] = (char *)"perf_program";
	fflush(stdout);
	execv("/proc/self/exe", next_word - 1);
	need(0, "exec");
}

static void do_work(const char *verb)
{
	if (strcmp(verb, "spin") == 0) {
		spin(number());
	} else if (strcmp(verb, "sleep") == 0) {
		sleep_ns(number() * 1000000);
	} else if (strcmp(verb, "faults") == 0) {
		touch_pages(number());
	} else if (strcmp(verb, "switches") == 0) {
		for (uint64_t i = number(); i > 0; i--)
			sleep_ns(1000);
	} else if (strcmp(verb, "threads") == 0) {
		const uint64_t count = number();
		uint64_t ms = number();

		run_threads(count, run_spinner, &ms);
	} else if (strcmp(verb, "crowd") == 0) {
		run_threads(number(), run_shortly, NULL);
	} else if (strcmp(verb, "hop") == 0) {
		hop(number());
	} else if (strcmp(verb, "call") == 0) {
		const char *file = word(), *function = word();

		call_library(file, function, number());
	} else if (strcmp(verb, "waiting") == 0) {
		leave_waiting(number());
	} else {
		fprintf(stderr, "perf_program: no such word: %s\n", verb);
		exit(99);
	}
}

static void do_word(const char *verb)
{
	if (strcmp(verb, "report") == 0)
		report();
	else if (strcmp(verb, "files") == 0)
		replace_files(word());
	else if (strcmp(verb, "unstolen") == 0)
		look_for_thefts();
	else if (strcmp(verb, "next") == 0)
		print_next();
	else if (strcmp(verb, "user") == 0)
		need(setuid((uid_t)number()) == 0, "setuid");
	else if (strcmp(verb, "fork") == 0)
		fork_here();
	else if (strcmp(verb, "exec") == 0)
		exec_here();
	else if (strcmp(verb, "exit") == 0)
		exit((int)number());
	else
		do_work(verb);
}

int main(int argc, char **argv)
{
	(void)argc;
	at_begin = thread_usage();
	next_word = argv + 1;
	while (*next_word)
		do_word(word());
	return 0;
}
