/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses the fake device, if it is there, and marks. It does what its
 * arguments say, one after the other:
 *
 *     work N SEED      N calls of all sorts       launch N NS   N kernels of NS each
 *     storm T N        T threads, N calls each    wait          for both queues
 *     note TEXT        mark N                     N spans
 *     session PLUGIN   starts a session of its own with the plug-in at that path
 *     pause            has it rest        resume        has it go on
 *     stop             stops it and prints the milliseconds that this took
 *     save FILE        writes what it recorded
 *     fork ...         the rest in a child, for which this process waits
 *     sleep MS         exit N
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "fake_device.h"

static const struct fake_api *api;
static struct kymo_session *session;
static char **next_word;

static char *word(void)
{
	if (!*next_word) {
		fprintf(stderr, "fake_program: a word is missing\n");
		exit(99);
	}
	return *next_word++;
}

static uint64_t number(void)
{
	return strtoull(word(), NULL, 10);
}

static void need(int is_good, const char *what, const struct kymo_error *error)
{
	if (is_good)
		return;
	fprintf(stderr, "fake_program: %s: %s\n", what, error ? error->message : "");
	exit(99);
}

/* As a program of the vendor's would: by name, wherever the library came from. */
static void find_device(void *library)
{
	void *symbol = dlsym(library, FAKE_API_SYMBOL);
	fake_api_fn find;

	if (!symbol)
		return;
	memcpy(&find, &symbol, sizeof(find));
	api = find();
}

static void sleep_ms(uint64_t ms)
{
	struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static void launch(uint64_t count, uint64_t ns)
{
	const uint64_t size[3] = {8, 4, 1};
	struct fake_kernel *kernel = api->kernel("kernel_of_the_program", 21, size, size);

	need(kernel != NULL, "no kernel", NULL);
	for (uint64_t i = 0; i < count; i++)
		need(api->launch(0, kernel, ns) == FAKE_OK, "no launch", NULL);
}

static void mark(uint64_t count)
{
	static uint32_t name;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end(begin, kymo_mark_name(&name, "mark"));
	}
}

static void start_session(void)
{
	const char *const plugin = word();
	const char *const sources[] = {plugin, NULL};
	struct kymo_error error = {0};
	void *library;

	need(kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = sources),
				 &error) == KYMO_OK,
	     "create", &error);
	need(kymo_session_start(session, &error) == KYMO_OK, "start", &error);
	library = dlopen(plugin, RTLD_NOW | RTLD_NOLOAD);
	need(library != NULL, "the plug-in is not loaded", NULL);
	find_device(library);
}

static void pause_session(void)
{
	struct kymo_error error = {0};

	need(kymo_session_pause(session, &error) == KYMO_OK, "pause", &error);
}

static void resume_session(void)
{
	struct kymo_error error = {0};

	need(kymo_session_resume(session, &error) == KYMO_OK, "resume", &error);
}

static void stop_session(void)
{
	struct kymo_error error = {0};
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	need(kymo_session_stop(session, &error) == KYMO_OK, "stop", &error);
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("%lld\n", (after.tv_sec - before.tv_sec) * 1000LL +
				 (after.tv_nsec - before.tv_nsec) / 1000000);
	fflush(stdout);
}

static void save_session(void)
{
	const struct kymo_sink_options options = {.struct_size = sizeof(options),
						  .overwrite = 1};
	struct kymo_error error = {0};

	need(kymo_session_save(session, word(), &options, NULL, &error) == KYMO_OK,
	     "save", &error);
}

static void go_on_in_child(void)
{
	int status = 0;
	pid_t child = fork();

	need(child >= 0, "fork", NULL);
	if (child == 0)
		return;
	waitpid(child, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
}

static void use_device(const char *what)
{
	need(api != NULL, "there is no device", NULL);
	if (strcmp(what, "work") == 0) {
		uint64_t count = number();

		need(api->work(count, number()) == FAKE_OK, "work", NULL);
	} else if (strcmp(what, "launch") == 0) {
		uint64_t count = number();

		launch(count, number());
	} else if (strcmp(what, "storm") == 0) {
		uint32_t threads = (uint32_t)number();

		need(api->storm(threads, number()) == FAKE_OK, "storm", NULL);
	} else if (strcmp(what, "wait") == 0) {
		api->wait(0);
		api->wait(1);
	} else if (strcmp(what, "note") == 0) {
		const char *text = word();

		api->note(text, strlen(text));
	} else {
		need(0, what, NULL);
	}
}

static void do_next(void)
{
	const char *what = word();

	if (strcmp(what, "mark") == 0)
		mark(number());
	else if (strcmp(what, "session") == 0)
		start_session();
	else if (strcmp(what, "pause") == 0)
		pause_session();
	else if (strcmp(what, "resume") == 0)
		resume_session();
	else if (strcmp(what, "stop") == 0)
		stop_session();
	else if (strcmp(what, "save") == 0)
		save_session();
	else if (strcmp(what, "fork") == 0)
		go_on_in_child();
	else if (strcmp(what, "sleep") == 0)
		sleep_ms(number());
	else if (strcmp(what, "exit") == 0)
		exit((int)number());
	else
		use_device(what);
}

int main(int argc, char **argv)
{
	(void)argc;
	next_word = argv + 1;
	find_device(RTLD_DEFAULT);
	while (*next_word)
		do_next();
	return 0;
}
