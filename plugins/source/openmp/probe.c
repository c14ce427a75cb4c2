/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe asks the real thing: it loads an OpenMP runtime with this plug-in as its tool
 * and looks which callbacks it has. There may be several runtimes: the one that programs
 * find by its name is tried, else the newest of those that compilers have brought.
 */
#include "probe.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "tool.h"

#define FOUND_MAX 16

/* Where Debian, Fedora, and LLVM's own builds put it. */
static const char *const places[] = {
	"/usr/lib/llvm-*/lib/libomp.so.5",
	"/usr/lib/*/libomp.so*",
	"/usr/lib64/libomp.so*",
	"/usr/lib64/llvm*/lib64/libomp.so*",
	"/usr/lib/libomp.so*",
	"/usr/local/lib/libomp.so*",
	"/opt/*/lib/libomp.so*",
};

struct found {
	char *path[FOUND_MAX]; /* real ones, each once */
	size_t count;
};

static int32_t answer(struct kymo_probe *out, uint32_t state, const char *why,
		      const char *remedy)
{
	out->state = state;
	snprintf(out->why, sizeof(out->why), "%s", why);
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy);
	return KYMO_OK;
}

static void add(struct found *found, const char *path)
{
	char *real = realpath(path, NULL);

	for (size_t i = 0; real && i < found->count; i++) {
		if (strcmp(found->path[i], real) == 0) {
			free(real);
			return;
		}
	}
	if (real && found->count < FOUND_MAX)
		found->path[found->count++] = real;
	else
		free(real);
}

/* Newer ones behind older ones, as far as their names sort so. */
static void find_all(struct found *found)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		glob_t matches = {.gl_pathc = 0};

		if (glob(places[i], 0, NULL, &matches) == 0)
			for (size_t j = 0; j < matches.gl_pathc; j++)
				add(found, matches.gl_pathv[j]);
		globfree(&matches);
	}
}

/* "14" of ".../llvm-14/lib/libomp-14.so.5", "" where the path does not say. */
static void version_of(const char *path, char *version, size_t size)
{
	const char *at = strstr(path, "libomp-");

	if (at)
		at += strlen("libomp-");
	else if ((at = strstr(path, "llvm-")) != NULL)
		at += strlen("llvm-");
	snprintf(version, size, "%.*s", at ? (int)strspn(at, "0123456789") : 0,
		 at ? at : "");
}

/* Its first call makes the runtime look for a tool. */
static int use(void *library)
{
	void *symbol = dlsym(library, "omp_get_max_threads");
	int (*get_max_threads)(void);

	if (!symbol)
		return 0;
	memcpy(&get_max_threads, &symbol, sizeof(symbol));
	return get_max_threads() > 0;
}

/* The path that the loader has given it. */
static const char *path_of(void *library)
{
	void *symbol = dlsym(library, "omp_get_max_threads");
	Dl_info info;

	return symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : "";
}

/* "libomp 14 (/path), also 16, 19". */
static void describe(struct kymo_probe *out, const struct found *found, const char *tried)
{
	char version[16], real[PATH_MAX];
	size_t used;

	if (!realpath(tried, real))
		snprintf(real, sizeof(real), "%s", tried);
	version_of(real, version, sizeof(version));
	snprintf(out->what, sizeof(out->what), "libomp%s%s (%s)", version[0] ? " " : "",
		 version, tried);
	for (size_t i = 0; i < found->count; i++) {
		used = strlen(out->what);
		if (strcmp(found->path[i], real) == 0)
			continue;
		version_of(found->path[i], version, sizeof(version));
		snprintf(out->what + used, sizeof(out->what) - used, ", also %s",
			 version[0] ? version : found->path[i]);
	}
}

/* Our own path, as the recorder would set it. */
static void ask_for_tool(void)
{
	Dl_info info;

	if (dladdr(&ky_openmp_plugin, &info) && info.dli_fname)
		setenv("OMP_TOOL_LIBRARIES", info.dli_fname, 1);
	ky_tool_try();
}

static int32_t judge(struct kymo_probe *out)
{
	const char *switched = getenv("OMP_TOOL");
	char missing[sizeof(out->why)], remedy[sizeof(out->remedy)];
	size_t used = strlen(out->what);

	if (!ky_tool_is_started() && switched && strcmp(switched, "disabled") == 0)
		return answer(out, KYMO_STATE_BUSY, "OMP_TOOL is \"disabled\"",
			      "take OMP_TOOL out of the environment");
	if (!ky_tool_is_started())
		return answer(out, KYMO_STATE_FAILED,
			      "this OpenMP runtime does not load tools (OMPT)",
			      "use libomp of LLVM 14 or newer, built with OMPT");
	if (!ky_tool_describe(missing, sizeof(missing), remedy, sizeof(remedy)))
		return answer(out, KYMO_STATE_PARTLY, missing, remedy);
	if (missing[0])
		snprintf(out->what + used, sizeof(out->what) - used,
			 ", no target constructs");
	return answer(out, KYMO_STATE_READY, "", "");
}

int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error)
{
	struct found found = {.count = 0};
	void *library;
	int32_t status;

	(void)error;
	ask_for_tool();
	find_all(&found);
	library = dlopen("libomp.so.5", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = found.count; !library && i > 0; i--)
		library = dlopen(found.path[i - 1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		status = answer(out, KYMO_STATE_ABSENT,
				"there is no libomp, and GCC's libgomp has no OMPT",
				"install LLVM's OpenMP runtime, for example libomp5-14; "
				"programs of GCC use it with -t openmp:preload=PATH");
	} else if (!use(library)) {
		status = answer(out, KYMO_STATE_FAILED, "libomp lacks functions",
				"use libomp of LLVM 14 or newer");
	} else {
		describe(out, &found, path_of(library));
		status = judge(out);
	}
	for (size_t i = 0; i < found.count; i++)
		free(found.path[i]);
	return status;
}
