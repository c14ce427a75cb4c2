/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads, each with a queue of its own, while the process forks, spawns and execs.
 * Each process that launches prints "launched PID COUNT" when all of it is over.
 *
 *   storm   8 threads; meanwhile 10 children that use OpenCL only to let go of a queue,
 * and 6 that run `leaf`, by turns spawned and forked and exec'ed leaf    2 threads kill
 * 8 threads; in their middle prints "finished COUNT", which are certainly over, and kills
 * itself
 */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS      8
#define LEAF_THREADS 2
#define ROUNDS       100
#define BATCH        50
#define FORKS        10
#define LEAVES       6
#define KILL_AT      10000

extern char **environ;

static const char *const source =
	"kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n";

static cl_device_id device;
static cl_context context;
static cl_program program;
static atomic_uint launched, finished;

static int set_up(void)
{
	const char *text = source;
	cl_platform_id platform;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return 0;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
	return clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS;
}

static void *run_thread(void *data)
{
	const size_t size = 8;
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	cl_kernel kernel = clCreateKernel(program, "add", NULL);

	clSetKernelArg(kernel, 0, sizeof(memory), &memory);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < BATCH; i++) {
			atomic_fetch_add(&launched, 1);
			if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0,
						   NULL, NULL) != CL_SUCCESS)
				abort();
		}
		clFinish(queue);
		atomic_fetch_add(&finished, BATCH);
	}
	clReleaseKernel(kernel);
	clReleaseMemObject(memory);
	clReleaseCommandQueue(queue);
	return data;
}

/* What destructors of objects do in a child; a driver's threads are not there. */
static int let_go(cl_command_queue queue)
{
	const pid_t child = fork();
	int status = -1;

	if (child == 0) {
		alarm(30);
		_exit(clReleaseCommandQueue(queue) == CL_SUCCESS ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return status;
}

static pid_t start_leaf(char *self, int is_spawned)
{
	char leaf[] = "leaf";
	char *const arguments[] = {self, leaf, NULL};
	pid_t child = -1;

	if (is_spawned)
		return posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0
			       ? child
			       : -1;
	child = fork();
	if (child == 0) {
		execv(self, arguments);
		_exit(127);
	}
	return child;
}

static int have_children(char *self)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	pid_t leaves[LEAVES];
	int failed = 0, status;

	for (int i = 0; i < FORKS; i++) {
		if (i < LEAVES)
			leaves[i] = start_leaf(self, i % 2);
		failed += let_go(queue) != 0;
	}
	for (int i = 0; i < LEAVES; i++) {
		status = -1;
		waitpid(leaves[i], &status, 0);
		failed += status != 0;
	}
	clReleaseCommandQueue(queue);
	return failed;
}

static void kill_in_the_middle(void)
{
	char text[64];

	while (atomic_load(&finished) < KILL_AT)
		usleep(100);
	snprintf(text, sizeof(text), "finished %u\n", atomic_load(&finished));
	if (write(STDOUT_FILENO, text, strlen(text)) > 0)
		raise(SIGKILL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int count = strcmp(mode, "leaf") == 0 ? LEAF_THREADS : THREADS;
	pthread_t threads[THREADS];
	int failed = 0;

	if (!set_up()) {
		puts("skip: no OpenCL device");
		return 77;
	}
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	if (strcmp(mode, "storm") == 0)
		failed = have_children(argv[0]);
	else if (strcmp(mode, "kill") == 0)
		kill_in_the_middle();
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("launched %d %u\n", (int)getpid(), atomic_load(&launched));
	return failed;
}
