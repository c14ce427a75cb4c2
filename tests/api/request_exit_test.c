/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of programs that end: in children that really exit. */
#define _GNU_SOURCE /* mkdtemp, tgkill */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "requests.h"
#include "support/test.h"

#define MARKS  100
#define STATUS 7
#define SLOW_S 60

/* ---- A sink that takes a minute, and one that exits ---- */

static int32_t open_slow(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	(void)path, (void)options, (void)sink, (void)error;
	return KYMO_OK;
}

static int32_t begin_slow(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	sleep(SLOW_S);
	return KYMO_OK;
}

static int32_t begin_and_exit(void *sink, const struct kymo_trace_header *header,
			      struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	exit(STATUS);
}

static int32_t take_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count, (void)error;
	return KYMO_OK;
}

static int32_t end_slow(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result, (void)error;
	return KYMO_OK;
}

static void do_nothing(void *sink)
{
	(void)sink;
}

#define OPS(its_begin)                                                          \
	{                                                                       \
		.struct_size = sizeof(struct kymo_sink_ops), .open = open_slow, \
		.begin = (its_begin), .batch = take_batch, .end = end_slow,     \
		.abort = do_nothing, .close = do_nothing,                       \
	}

static const struct kymo_sink_ops slow_ops = OPS(begin_slow);
static const struct kymo_sink_ops exiting_ops = OPS(begin_and_exit);

/* ---- A source whose driver is gone when the program exits ---- */

#define DRAINED 5

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	uint16_t type;
} device;

static void drain(void *source, uint64_t deadline_ns)
{
	const union kymo_line line = {.record = {.kind = KYMO_KIND_SPAN,
						 .lines = 1,
						 .type = device.type,
						 .begin = device.host->now(),
						 .end = device.host->now()}};

	(void)source, (void)deadline_ns;
	for (int i = 0; i < DRAINED; i++)
		device.host->emit(device.self, &line, 1);
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error, (void)source;
	device.host = host;
	device.self = self;
	device.type = numbers->types[0];
	/* Its handler comes before that of the request, and so runs after it. */
	return host->at_exit(self, drain, NULL);
}

static pid_t interrupted; /* the thread to be, while the source starts; 0: none */

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	if (interrupted) {
		tgkill(getpid(), interrupted, SIGUSR1);
		sleep(60);
	}
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	abort();
}

static const struct kymo_type_desc type = {.struct_size = sizeof(type), .name = "dma"};
static const struct kymo_type_desc *const types[] = {&type, NULL};
static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops), .create = create, .start = start, .stop = stop};
static const struct kymo_source_desc source = {
	.struct_size = sizeof(source), .name = "device", .types = types, .ops = &ops};
static const struct kymo_source_desc *const sources[] = {&source, NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "device",
	.version = "1",
	.license = "MIT",
	.sources = sources,
};

/* ---- The programs ---- */

static char path[PATH_MAX];

static void say_end(void *context, const struct kymo_request_status *status)
{
	char name[PATH_MAX];
	FILE *file;

	(void)context;
	snprintf(name, sizeof(name), "%s/end", folder);
	file = fopen(name, "w");
	if (!file)
		abort();
	fprintf(file, "%u %s|%s", status->state, status->reason,
		status->path[0] ? "kept" : "nothing");
	fclose(file);
}

/* Submits it and marks, if it is recorded at once. */
static void ask(struct kymo_request_options options)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	uint64_t id = 0;

	options.struct_size = sizeof(options);
	options.path = path;
	options.ended = say_end;
	kymo_session_step(); /* without one there are no iterations */
	if (kymo_request_submit(&options, &id, NULL) != KYMO_OK)
		abort();
	if (options.warmup_ms > 0)
		return;
	do {
		usleep(1000);
		kymo_session_step();
		kymo_request_poll(id, &status);
	} while (status.state < KYMO_REQUEST_RECORDING);
	for (int i = 0; i < MARKS; i++)
		mark(1);
}

static void leave_while_it_records(void)
{
	ask((struct kymo_request_options){.duration_ms = 3600000});
}

static void leave_with_a_source(void)
{
	const struct kymo_host *host;

	if (kymo_agent_attach_v1(&plugin, &host, NULL) != KYMO_OK)
		abort();
	leave_while_it_records();
}

static void leave_while_it_warms_up(void)
{
	ask((struct kymo_request_options){.duration_ms = 1, .warmup_ms = 3600000});
}

static void leave_while_it_is_saved(void)
{
	ask((struct kymo_request_options){.iterations = 1});
	kymo_session_step();
	usleep(100000);
}

static void leave_another_way(void)
{
	leave_while_it_records();
	_exit(STATUS);
}

static void leave_out_of_its_own_thread(void)
{
	ask((struct kymo_request_options){.iterations = 1});
	kymo_session_step();
	sleep(60);
}

static void exit_at_once(int number)
{
	(void)number;
	exit(STATUS);
}

/* The thread that steps has the lock of requests while it prepares. */
static void leave_out_of_a_handler_of_signals(void)
{
	const struct kymo_request_options options = {
		.struct_size = sizeof(options), .path = path, .iterations = 1};
	const struct kymo_host *host;

	interrupted = gettid();
	signal(SIGUSR1, exit_at_once);
	kymo_session_step();
	if (kymo_agent_attach_v1(&plugin, &host, NULL) != KYMO_OK ||
	    kymo_request_submit(&options, NULL, NULL) != KYMO_OK)
		abort();
	kymo_session_step();
	kymo_session_step();
	sleep(60);
}

static void *leave_from_a_thread(void *unused)
{
	(void)unused;
	exit(STATUS);
}

static void leave_in_another_thread(void)
{
	pthread_t thread;

	leave_while_it_records();
	pthread_create(&thread, NULL, leave_from_a_thread, NULL);
	sleep(60);
}

/* A child of the program, which has its parent's handlers, and a request of its own. */
static void leave_with_a_child(void)
{
	pid_t child;

	leave_while_it_records();
	child = fork();
	if (child == 0)
		exit(0);
	if (waitpid(child, NULL, 0) != child || access(path, F_OK) == 0)
		abort();
}

/* What the program has kept of its request when it has ended; in `*took_s` seconds. */
static const char *run(void (*program)(void), double *took_s)
{
	static char said[PATH_MAX];
	struct timespec before, after;
	FILE *file;
	int result;
	pid_t child;

	clock_gettime(CLOCK_MONOTONIC, &before);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		program();
		exit(STATUS);
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(WIFEXITED(result));
	assert_int_equal(WEXITSTATUS(result), STATUS);
	if (took_s)
		*took_s = (double)(after.tv_sec - before.tv_sec) +
			  (double)(after.tv_nsec - before.tv_nsec) / 1e9;
	file = fopen(in_folder("end"), "r");
	said[0] = '\0';
	if (file) {
		said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
		fclose(file);
		unlink(in_folder("end"));
	}
	return said;
}

static void assert_spans(const char *capture, uint64_t count)
{
	struct memory_sink sink = read_back(capture);

	assert_int_equal(sink.ledger.spans, count);
	assert_int_equal(sink.ledger.late, 0);
	assert_int_equal(sink.ledger.cut_captures, 0);
	memory_free(&sink);
}

static void set_path(const char *text)
{
	snprintf(path, sizeof(path), "%s", text);
}

/* The only file that is there. */
static const char *find_file(void)
{
	static char name[PATH_MAX];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	name[0] = '\0';
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
	if (dir)
		closedir(dir);
	return name;
}

/*
 * A program that says nothing ends sooner than one that waits as long as is allowed. That
 * one takes so long each time; a machine is not busy each time.
 */
static void assert_not_held_up(void (*program)(void), double limit_s, int is_kept)
{
	double took_s = limit_s;

	for (int i = 0; i < 5 && took_s >= limit_s; i++) {
		assert_string_equal(run(program, &took_s), "");
		assert_int_equal(count_files(), is_kept);
		if (is_kept)
			assert_spans(find_file(), MARKS);
	}
	assert_true(took_s < limit_s);
}

/* ---- Tests ---- */

static void what_is_recorded_when_the_program_exits_is_saved(void **state)
{
	static void (*const programs[])(void) = {
		leave_while_it_records, leave_in_another_thread, leave_with_a_child};

	(void)state;
	set_path(in_folder("exit.kymo"));
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		assert_string_equal(run(programs[i], NULL),
				    "7 the program has ended|kept");
		assert_spans(path, MARKS);
	}
}

static void a_source_is_drained_and_not_stopped(void **state)
{
	(void)state;
	set_path(in_folder("exit.kymo"));
	assert_string_equal(run(leave_with_a_source, NULL),
			    "7 the program has ended|kept");
	assert_spans(path, MARKS + DRAINED);
}

static void what_was_only_waited_for_is_cancelled(void **state)
{
	(void)state;
	set_path(in_folder("exit.kymo"));
	assert_string_equal(run(leave_while_it_warms_up, NULL),
			    "7 the program has ended|nothing");
	assert_int_equal(count_files(), 0);
}

static void what_cannot_be_saved_in_time_is_kept_as_a_capture(void **state)
{
	double took_s;

	(void)state;
	snprintf(path, sizeof(path), "slow://%s/exit", folder);
	assert_int_equal(kymo_sink_register("slow", &slow_ops, NULL), KYMO_OK);
	assert_string_equal(run(leave_while_it_is_saved, &took_s), "");
	assert_true(took_s < SLOW_S);
	assert_int_equal(count_files(), 1);
	assert_spans(find_file(), MARKS);
}

static void a_program_that_exits_out_of_the_saving_is_not_held_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "exiting://%s/exit", folder);
	assert_int_equal(kymo_sink_register("exiting", &exiting_ops, NULL), KYMO_OK);
	assert_not_held_up(leave_out_of_its_own_thread, 5, 1);
}

static void a_program_that_exits_in_the_middle_of_a_call_is_not_held_up(void **state)
{
	(void)state;
	set_path(in_folder("exit.kymo"));
	/* 2 s are the drain's, which finds its source occupied. */
	assert_not_held_up(leave_out_of_a_handler_of_signals, 7, 0);
}

static void nothing_is_saved_where_no_exit_handler_runs(void **state)
{
	(void)state;
	set_path(in_folder("exit.kymo"));
	assert_string_equal(run(leave_another_way, NULL), "");
	assert_int_equal(count_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_recorded_when_the_program_exits_is_saved),
		cmocka_unit_test(a_source_is_drained_and_not_stopped),
		cmocka_unit_test(what_was_only_waited_for_is_cancelled),
		cmocka_unit_test(what_cannot_be_saved_in_time_is_kept_as_a_capture),
		cmocka_unit_test(a_program_that_exits_out_of_the_saving_is_not_held_up),
		cmocka_unit_test(
			a_program_that_exits_in_the_middle_of_a_call_is_not_held_up),
		cmocka_unit_test(nothing_is_saved_where_no_exit_handler_runs),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
