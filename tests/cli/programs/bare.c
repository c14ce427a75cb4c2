/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that knows nothing of Kymo, with a runtime that loads what KYMO_TEST_RUNTIME
 * lists, as those of vendors do:
 *
 *     bare N          N pieces of work
 *     bare N fork M   and M in a child
 *     bare N kill     and then kills itself
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*work_fn)(unsigned int count);

static work_fn load_runtime(void)
{
	const char *list = getenv("KYMO_TEST_RUNTIME");
	const char *last = list ? strrchr(list, ':') : NULL;
	void *object =
		list ? dlopen(last ? last + 1 : list, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = object ? dlsym(object, "test_work") : NULL;
	work_fn work = NULL;

	if (symbol)
		memcpy(&work, &symbol, sizeof(work));
	else if (list)
		fprintf(stderr, "%s\n", dlerror());
	return work;
}

static void run(work_fn work, const char *count)
{
	if (work)
		printf("%d\n", work((unsigned int)strtoul(count, NULL, 10)));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	work_fn work = load_runtime();

	run(work, argc > 1 ? argv[1] : "0");
	if (argc > 3 && strcmp(argv[2], "fork") == 0) {
		pid_t child = fork();

		if (child == 0)
			run(work, argv[3]);
		else
			waitpid(child, NULL, 0);
	}
	if (argc > 2 && strcmp(argv[2], "kill") == 0)
		kill(getpid(), SIGKILL);
	return 0;
}
