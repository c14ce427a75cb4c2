/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses CUDA: does what the lines of the scenario say (README.md lists
 * them), and prints what it has done, which must be the same with and without a recorder.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program_session.h"
#include "scenario.h"
#include "stub.h"

enum { STREAMS = 32, LINES = 512, MEMORY = 1 << 20 };

struct line {
	char *words[SCENARIO_WORDS + 1];
	int count;
};

static struct line lines[LINES];
static int line_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUmodule module;
static CUcontext contexts[8];
static CUstream streams[8][STREAMS];
static CUdeviceptr memory;
static char host_memory[MEMORY];

static _Thread_local CUdevice device;
static _Thread_local int uses_driver;
static _Thread_local CUevent last_event;

static long number(const struct line *line, int index, long otherwise)
{
	return line->count > index ? strtol(line->words[index], NULL, 0) : otherwise;
}

static CUresult say(const struct line *line, CUresult result)
{
	if (result != CUDA_SUCCESS)
		printf("%s: %d\n", line->words[0], (int)result);
	return result;
}

/* Stream 0 is the null one; others are made when first used. */
static CUstream stream_of(const struct line *line, int index)
{
	long which = number(line, index, 0);
	CUstream *stream = &streams[device][which % STREAMS];

	pthread_mutex_lock(&lock);
	if (which && !*stream)
		say(line, cuStreamCreate(stream, 0));
	pthread_mutex_unlock(&lock);
	return *stream;
}

/* ---- What a line does ---- */

static void use_device(const struct line *line)
{
	device = (CUdevice)number(line, 1, 0) % 8;
	pthread_mutex_lock(&lock);
	if (!contexts[device])
		say(line, cuDevicePrimaryCtxRetain(&contexts[device], device));
	pthread_mutex_unlock(&lock);
	say(line, cuCtxSetCurrent(contexts[device]));
}

static void launch(const struct line *line)
{
	long times = number(line, 2, 1);
	CUstream stream = stream_of(line, 3);
	unsigned int threads = (unsigned int)number(line, 4, 128);
	CUfunction function;

	pthread_mutex_lock(&lock);
	say(line, cuModuleGetFunction(&function, module, line->words[1]));
	pthread_mutex_unlock(&lock);
	for (long i = 0; i < times; i++) {
		dim3 grid = {64, 2, 1}, block = {threads, 1, 1};

		if (uses_driver)
			say(line,
			    cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x,
					   block.y, block.z, 256, stream, NULL, NULL));
		else
			say(line, (CUresult)cudaLaunchKernel(function, grid, block, NULL,
							     256, stream));
	}
}

static void copy(const struct line *line)
{
	const char *way = line->words[1];
	size_t size = (size_t)number(line, 2, 4096) % MEMORY;
	CUstream stream = stream_of(line, 4);

	for (long i = 0; i < number(line, 3, 1); i++) {
		void *on_device = (void *)(uintptr_t)memory;

		if (strcmp(way, "dtod") == 0)
			say(line, cuMemcpyDtoDAsync(memory, memory, size, stream));
		else if (strcmp(way, "htod") == 0 && uses_driver)
			say(line, cuMemcpyHtoDAsync(memory, host_memory, size, stream));
		else if (strcmp(way, "htod") == 0)
			say(line,
			    (CUresult)cudaMemcpyAsync(on_device, host_memory, size,
						      cudaMemcpyHostToDevice, stream));
		else if (uses_driver)
			say(line, cuMemcpyDtoHAsync(host_memory, memory, size, stream));
		else
			say(line,
			    (CUresult)cudaMemcpyAsync(host_memory, on_device, size,
						      cudaMemcpyDeviceToHost, stream));
	}
}

static void copy_to_peer(const struct line *line)
{
	say(line, cuMemcpyPeerAsync(memory, contexts[1], memory, contexts[0],
				    (size_t)number(line, 1, 4096) % MEMORY,
				    stream_of(line, 2)));
}

static void set(const struct line *line)
{
	say(line, cuMemsetD32Async(memory, 7, (size_t)number(line, 1, 4096) % MEMORY / 4,
				   stream_of(line, 2)));
}

static void record_event(const struct line *line)
{
	if (!last_event)
		say(line, cuEventCreate(&last_event, 0));
	say(line, cuEventRecord(last_event, stream_of(line, 1)));
}

static void wait_for_event(const struct line *line)
{
	if (line->count > 1)
		say(line, cuStreamWaitEvent(stream_of(line, 1), last_event, 0));
	else
		say(line, cuEventSynchronize(last_event));
}

static void synchronize(const struct line *line)
{
	if (line->count > 1)
		say(line, (CUresult)cudaStreamSynchronize(stream_of(line, 1)));
	else
		say(line, (CUresult)cudaDeviceSynchronize());
}

/* So many kernels and a copy, captured and launched so often. */
static void launch_graph(const struct line *line)
{
	CUstream stream = stream_of(line, 3);
	CUgraphExec executable;
	CUfunction function;
	CUgraph graph;

	say(line, cuModuleGetFunction(&function, module, "node"));
	say(line, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	for (long i = 0; i < number(line, 1, 1); i++)
		say(line,
		    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	say(line, cuMemcpyDtoDAsync(memory, memory, 512, stream));
	say(line, cuStreamEndCapture(stream, &graph));
	say(line, cuGraphInstantiateWithFlags(&executable, graph, 0));
	for (long i = 0; i < number(line, 2, 1); i++)
		say(line, (CUresult)cudaGraphLaunch(executable, stream));
	say(line, cuGraphExecDestroy(executable));
	say(line, cuGraphDestroy(graph));
}

/* Of a tool of its own, as a framework does: only where CUPTI is there already. */
static void correlate(const struct line *line)
{
	void *cupti = NULL;
	int (*push)(int kind, uint64_t id) = NULL;
	int (*pop)(int kind, uint64_t *id) = NULL;
	static const char *const names[] = {"libcupti.so.11.8", "libcupti.so.12",
					    "libcupti.so.13"};

	for (int i = 0; i < 3 && !cupti; i++)
		cupti = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
	if (!cupti)
		return;
	*(void **)&push = dlsym(cupti, "cuptiActivityPushExternalCorrelationId");
	*(void **)&pop = dlsym(cupti, "cuptiActivityPopExternalCorrelationId");
	if (line->count > 2)
		push((int)number(line, 1, 0), strtoull(line->words[2], NULL, 0));
	else
		pop((int)number(line, 1, 0), NULL);
}

static void sleep_ms(const struct line *line)
{
	long ms = number(line, 1, 1);
	struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&wait, NULL);
}

static void print(const struct line *line)
{
	puts(line->words[1]);
}

static void leave(const struct line *line)
{
	exit((int)number(line, 1, 0));
}

static void leave_at_once(const struct line *line)
{
	fflush(stdout);
	_exit((int)number(line, 1, 0));
}

static void die(const struct line *line)
{
	fflush(stdout);
	kill(getpid(), (int)number(line, 1, SIGKILL));
}

static void set_way(const struct line *line)
{
	uses_driver = strcmp(line->words[1], "driver") == 0;
}

static void set_duration(const struct line *line)
{
	stub_set_duration((uint64_t)number(line, 1, 0));
}

static void record(const struct line *line)
{
	char *words[SCENARIO_WORDS + 1];

	memcpy(words, line->words, sizeof(words));
	stub_record(words + 1, line->count - 1);
}

static void order(const struct line *line)
{
	program_order(strcmp(line->words[1], "record") == 0);
}

static void run_session(const struct line *line)
{
	const char *what = line->words[1];

	if (strcmp(what, "start") == 0)
		program_session_start(line->words[2]);
	else if (strcmp(what, "pause") == 0)
		program_session_pause();
	else if (strcmp(what, "resume") == 0)
		program_session_resume();
	else if (strcmp(what, "stop") == 0)
		program_session_stop();
	else
		program_session_save(line->words[2]);
}

/* ---- Lines around others, up to "end" ---- */

static void run(int from, int to);

static int is_block(const char *word)
{
	return !strcmp(word, "threads") || !strcmp(word, "fork") ||
	       !strcmp(word, "repeat") || !strcmp(word, "operation");
}

static int end_of(int from)
{
	int depth = 1;

	for (int i = from; i < line_count; i++) {
		if (is_block(lines[i].words[0]))
			depth++;
		else if (strcmp(lines[i].words[0], "end") == 0 && --depth == 0)
			return i;
	}
	return line_count;
}

static void *run_thread(void *context)
{
	const struct line *line = context;
	int from = (int)(line - lines) + 1;

	cuCtxSetCurrent(contexts[0]);
	run(from, end_of(from));
	return NULL;
}

static void run_threads(int at)
{
	pthread_t threads[64];
	long count = number(&lines[at], 1, 1) % 65;

	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run_thread, &lines[at]);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void run_child(int at)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		run(at + 1, end_of(at + 1));
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void run_operation(int at)
{
	uint64_t id = strtoull(lines[at].words[1], NULL, 0);
	uint64_t begin = program_operation_begin(id);

	run(at + 1, end_of(at + 1));
	program_operation_end(id, begin, lines[at].words[2]);
}

static const struct verb {
	const char *name;
	void (*run)(const struct line *line);
} verbs[] = {
	{"device", use_device},
	{"launch", launch},
	{"copy", copy},
	{"peer", copy_to_peer},
	{"set", set},
	{"event", record_event},
	{"wait", wait_for_event},
	{"sync", synchronize},
	{"graph", launch_graph},
	{"correlate", correlate},
	{"sleep", sleep_ms},
	{"print", print},
	{"exit", leave},
	{"_exit", leave_at_once},
	{"die", die},
	{"use", set_way},
	{"duration", set_duration},
	{"record", record},
	{"order", order},
	{"session", run_session},
};

static void run_line(const struct line *line)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, line->words[0]) != 0)
			continue;
		verbs[i].run(line);
		return;
	}
	fprintf(stderr, "no such verb: %s\n", line->words[0]);
	exit(2);
}

static void run_block(int at)
{
	const char *word = lines[at].words[0];

	if (strcmp(word, "threads") == 0)
		run_threads(at);
	else if (strcmp(word, "fork") == 0)
		run_child(at);
	else if (strcmp(word, "operation") == 0)
		run_operation(at);
	else
		for (long n = number(&lines[at], 1, 1); n > 0; n--)
			run(at + 1, end_of(at + 1));
}

static void run(int from, int to)
{
	for (int i = from; i < to; i++) {
		if (!is_block(lines[i].words[0])) {
			run_line(&lines[i]);
			continue;
		}
		run_block(i);
		i = end_of(i + 1);
	}
}

/* ---- The program ---- */

static void read_scenario(void)
{
	const char *path = getenv("CUDA_SCENARIO");
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t size = 0;
	char *text = NULL;

	if (!file) {
		fputs("CUDA_SCENARIO names no file\n", stderr);
		exit(2);
	}
	while (line_count < LINES && getline(&text, &size, file) > 0) {
		struct line *line = &lines[line_count];

		line->count = scenario_split(text, line->words);
		if (!line->count || !strcmp(line->words[0], "cupti") ||
		    !strcmp(line->words[0], "driver"))
			continue;
		text = NULL; /* the words lie in it */
		line_count++;
	}
	free(text);
	fclose(file);
}

static void print_counts(void)
{
	static const char *const names[STUB_WORK_KINDS] = {"kernels", "copies", "peers",
							   "sets",    "events", "graphs"};
	const struct stub_counts *counts = stub_get_counts();

	printf("runtime %llu driver %llu nested %llu syncs %llu",
	       (unsigned long long)counts->calls[STUB_RUNTIME],
	       (unsigned long long)counts->calls[STUB_DRIVER],
	       (unsigned long long)counts->nested, (unsigned long long)counts->syncs);
	for (int i = 0; i < STUB_WORK_KINDS; i++)
		printf(" %s %llu", names[i], (unsigned long long)counts->work[i]);
	putchar('\n');
}

/* As a server does: the work is a child's, and CUDA has not been used before. */
static void go_on_in_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		return;
	waitpid(child, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(void)
{
	CUresult result;
	int devices = 0;

	read_scenario();
	if (line_count > 0 && strcmp(lines[0].words[0], "fork-first") == 0)
		go_on_in_child();
	result = cuInit(0);
	if (result != CUDA_SUCCESS) {
		printf("cuInit: %d\n", (int)result);
		return 3;
	}
	cuDeviceGetCount(&devices);
	for (device = devices; device-- > 0;) {
		cuDevicePrimaryCtxRetain(&contexts[device], device);
		cuCtxSetCurrent(contexts[device]);
	}
	device = 0;
	cuModuleLoadData(&module, "");
	cuMemAlloc(&memory, MEMORY);
	run(line_count > 0 && strcmp(lines[0].words[0], "fork-first") == 0, line_count);
	print_counts();
	return 0;
}
