/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with marks that does what its arguments say, one after the other:
 *
 *     mark N          N spans             instants N    N moments
 *     ranges N        N ranges "epoch", with one span in each, "inside", and one behind
 *     across N        N ranges "epoch", begun here and ended in another thread
 *     order rest|record   to the recorder, whose answer is printed if it is an error
 *     thread N        N threads, 100 spans each
 *     storm N         N children, 10 spans each, forked while 4 threads record 2000 each
 *     aside           the first mark in another thread, while this one goes on
 *     fork ...        the rest in a child, for which this process waits
 *     daemon ...      the rest in a grandchild that is nobody's any more
 *     exec ...        the rest in a new image of the same process
 *     load PATH       a library               apart PATH   in a namespace of its own
 *     there N         N spans by the copy of libkymo that was loaded last
 *     work N          N pieces of work of the plug-in that was loaded last
 *     emit N          the same, whatever the gate says
 *     until on|off    waits until marks are recorded, or are not; not for ever
 *     still on|off    ends it with status 75 if they are not, or are: it was too slow
 *     forbid          every further connect() is death, by a filter of system calls
 *     close           closes every descriptor but the standard ones
 *     environment     prints its environment
 *     descriptors     prints how many descriptors and threads it has
 *     room N          prints whether it is given N MiB
 *     ready FILE      creates the file        wait FILE    until the file is there
 *     sleep MS        print TEXT              exit N       kill N  (itself)
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include <kymo/control.h>
#include <kymo/mark.h>

extern char **environ;

static void *library; /* loaded last */

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static void record_spans(long count)
{
	static uint32_t name;

	for (long i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end(begin, kymo_mark_name(&name, "span"));
	}
}

static void record_instants(long count)
{
	static uint32_t name;

	for (long i = 0; i < count; i++)
		kymo_mark_instant(kymo_mark_name(&name, "moment"));
}

static uint32_t range_name;

static void record_named(const char *text)
{
	uint64_t begin = kymo_mark_begin();

	kymo_mark_end(begin, kymo_mark_intern(text, strlen(text)));
}

static void record_ranges(long count)
{
	for (long i = 0; i < count; i++) {
		uint64_t begin = kymo_range_begin(kymo_mark_name(&range_name, "epoch"));

		record_named("inside");
		kymo_range_end(begin, range_name);
		record_named("behind");
	}
}

static void *end_range(void *begin)
{
	kymo_range_end(*(uint64_t *)begin, range_name);
	return NULL;
}

static void record_ranges_across(long count)
{
	for (long i = 0; i < count; i++) {
		uint64_t begin = kymo_range_begin(kymo_mark_name(&range_name, "epoch"));
		pthread_t thread;

		record_named("inside");
		if (pthread_create(&thread, NULL, end_range, &begin) != 0)
			exit(99);
		pthread_join(thread, NULL);
		record_named("behind");
	}
}

static void order(const char *what)
{
	struct kymo_error error;
	int32_t status;

	/* Busy: a process has not obeyed yet. */
	do {
		status = kymo_recorder_order(
			NULL,
			strcmp(what, "rest") == 0 ? KYMO_ORDER_REST : KYMO_ORDER_RECORD,
			&error);
	} while (status == KYMO_ERROR_BUSY);
	if (status != KYMO_OK)
		puts(error.message);
}

static void check_library(int is_there, const char *what)
{
	if (is_there)
		return;
	fprintf(stderr, "%s: %s\n", what, dlerror());
	exit(99);
}

static void load(const char *path, Lmid_t space)
{
	library = dlmopen(space, path, RTLD_NOW | RTLD_LOCAL);
	check_library(library != NULL, path);
}

static void find(const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	check_library(symbol != NULL, name);
	memcpy(function, &symbol, sizeof(symbol));
}

static void record_spans_there(long count)
{
	uint32_t (*intern)(const char *text, size_t size);
	void (*record)(uint64_t begin, uint32_t name);
	uint64_t (*ticks)(void);
	uint32_t name;

	find("kymo_mark_intern", &intern);
	find("kymo_mark_record", &record);
	find("kymo_mark_ticks", &ticks);
	name = intern("there", 5);
	while (count-- > 0) {
		uint64_t begin = ticks();

		if (begin != 0)
			record(begin, name);
	}
}

static void work(const char *function, long count)
{
	int (*work_there)(unsigned int count);

	find(function, &work_there);
	work_there((unsigned int)count);
}

static void *thread_body(void *unused)
{
	record_spans(100);
	return unused;
}

static void run_threads(long count)
{
	pthread_t threads[256];

	for (long i = 0; i < count && i < 256; i++)
		if (pthread_create(&threads[i], NULL, thread_body, NULL) != 0)
			exit(99);
	for (long i = 0; i < count && i < 256; i++)
		pthread_join(threads[i], NULL);
}

static void *storm_body(void *unused)
{
	for (int i = 0; i < 20; i++) {
		record_spans(100);
		sleep_ms(1);
	}
	return unused;
}

static void storm(long children)
{
	pthread_t threads[4];
	int status;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, storm_body, NULL) != 0)
			exit(99);
	for (long i = 0; i < children; i++) {
		if (fork() == 0) {
			record_spans(10);
			_exit(0);
		}
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	while (wait(&status) > 0)
		if (status != 0)
			exit(99);
}

static void *first_mark(void *unused)
{
	record_spans(1);
	return unused;
}

static void mark_aside(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, first_mark, NULL) != 0)
		exit(99);
	pthread_detach(thread);
	sleep_ms(200); /* it is in the middle of attaching by then, if it has to wait */
}

static long count_entries(const char *path)
{
	DIR *folder = opendir(path);
	long count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count - 2; /* "." and ".." */
}

static void print_descriptors(void)
{
	/* One descriptor is that of the folder itself. */
	printf("%ld descriptors, %ld threads\n", count_entries("/proc/self/fd") - 1,
	       count_entries("/proc/self/task"));
	fflush(stdout);
}

static void forbid_connect(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		exit(99);
}

static void print_room(size_t mebibytes)
{
	void *memory = mmap(NULL, mebibytes << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	puts(memory == MAP_FAILED ? "no room" : "room");
}

static void wait_for(const char *path)
{
	while (access(path, F_OK) != 0)
		sleep_ms(5);
}

static void check_is_off(int is_off)
{
	if (kymo_mark_is_off() != is_off)
		exit(EX_TEMPFAIL);
}

static void wait_until_off(int is_off)
{
	for (int i = 0; i < 30000 && kymo_mark_is_off() != is_off; i++)
		sleep_ms(1);
	check_is_off(is_off);
}

/* Goes on in a child; the parent ends as that did. */
static void go_on_in_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		return;
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit(99);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void go_on_as_daemon(void)
{
	if (fork() > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
}

static void go_on_in_new_image(char *self, char **rest)
{
	*--rest = self;
	execv("/proc/self/exe", rest);
	exit(99);
}

/* A command with one argument; 0 if it is none. */
static int do_with_argument(const char *command, const char *argument)
{
	long number = strtol(argument, NULL, 10);

	if (strcmp(command, "mark") == 0)
		record_spans(number);
	else if (strcmp(command, "instants") == 0)
		record_instants(number);
	else if (strcmp(command, "ranges") == 0)
		record_ranges(number);
	else if (strcmp(command, "across") == 0)
		record_ranges_across(number);
	else if (strcmp(command, "order") == 0)
		order(argument);
	else if (strcmp(command, "thread") == 0)
		run_threads(number);
	else if (strcmp(command, "storm") == 0)
		storm(number);
	else if (strcmp(command, "load") == 0)
		load(argument, LM_ID_BASE);
	else if (strcmp(command, "apart") == 0)
		load(argument, LM_ID_NEWLM);
	else if (strcmp(command, "there") == 0)
		record_spans_there(number);
	else if (strcmp(command, "work") == 0)
		work("test_work", number);
	else if (strcmp(command, "emit") == 0)
		work("test_emit", number);
	else if (strcmp(command, "until") == 0)
		wait_until_off(strcmp(argument, "off") == 0);
	else if (strcmp(command, "still") == 0)
		check_is_off(strcmp(argument, "off") == 0);
	else if (strcmp(command, "sleep") == 0)
		sleep_ms(number);
	else if (strcmp(command, "ready") == 0)
		close(open(argument, O_CREAT | O_WRONLY, 0600));
	else if (strcmp(command, "wait") == 0)
		wait_for(argument);
	else if (strcmp(command, "room") == 0)
		print_room((size_t)number);
	else if (strcmp(command, "print") == 0)
		puts(argument);
	else if (strcmp(command, "kill") == 0)
		kill(getpid(), (int)number);
	else if (strcmp(command, "exit") == 0)
		exit((int)number);
	else
		return 0;
	return 1;
}

static void do_alone(const char *command, char *self, char **rest)
{
	if (strcmp(command, "fork") == 0) {
		go_on_in_child();
	} else if (strcmp(command, "daemon") == 0) {
		go_on_as_daemon();
	} else if (strcmp(command, "exec") == 0) {
		go_on_in_new_image(self, rest);
	} else if (strcmp(command, "forbid") == 0) {
		forbid_connect();
	} else if (strcmp(command, "close") == 0) {
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
	} else if (strcmp(command, "aside") == 0) {
		mark_aside();
	} else if (strcmp(command, "environment") == 0) {
		for (char **variable = environ; *variable; variable++)
			puts(*variable);
	} else if (strcmp(command, "descriptors") == 0) {
		print_descriptors();
	} else {
		fprintf(stderr, "no such command: %s\n", command);
		exit(98);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (i + 1 < argc && do_with_argument(argv[i], argv[i + 1]))
			i++;
		else
			do_alone(argv[i], argv[0], &argv[i + 1]);
	}
	return 0;
}
