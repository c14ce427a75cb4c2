/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which CUPTI. The one that the process has already is the right one, since it fits the
 * program's CUDA; beside a loaded CUDA runtime lies one that fits as well; what else
 * there is on the machine is tried from the newest down, and whoever subscribes finds
 * out whether it goes with the driver.
 */
#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Candidates ---- */

/* The number of its name, as 11.8 in libcupti.so.11.8: 1108. */
static unsigned number_of(const char *path)
{
	static const char head[] = "libcupti.so.";
	const char *at = strstr(path, head);
	unsigned long major = 0, minor = 0;
	char *rest;

	if (at) {
		major = strtoul(at + sizeof(head) - 1, &rest, 10);
		if (*rest == '.')
			minor = strtoul(rest + 1, NULL, 10);
	}
	return (unsigned)(major * 100 + minor);
}

static void add(struct ky_library_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->path[i], path) == 0)
			return;
	if (list->count < KY_LIBRARY_CANDIDATES && strlen(path) < PATH_MAX)
		snprintf(list->path[list->count++], PATH_MAX, "%s", path);
}

/* All that lie in folders of this pattern, the newest first. */
static void add_pattern(struct ky_library_list *list, const char *folder)
{
	const size_t first = list->count;
	char pattern[PATH_MAX + 32];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/libcupti.so.*", folder);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add(list, found.gl_pathv[i]);
	globfree(&found);
	for (size_t i = first + 1; i < list->count; i++) {
		char moved[PATH_MAX];
		size_t at = i;

		memcpy(moved, list->path[i], PATH_MAX);
		while (at > first && number_of(list->path[at - 1]) < number_of(moved)) {
			memcpy(list->path[at], list->path[at - 1], PATH_MAX);
			at--;
		}
		memcpy(list->path[at], moved, PATH_MAX);
	}
}

static void add_below(struct ky_library_list *list, const char *home)
{
	static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
	char path[PATH_MAX + 32];

	if (!home[0])
		return;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, folders[i]);
		add_pattern(list, path);
	}
}

/* What the user has put in front of what the system has: all majors of it. */
static void add_folders(struct ky_library_list *list, const char *folders)
{
	char folder[PATH_MAX];

	while (*folders) {
		const size_t size = strcspn(folders, ":;");

		snprintf(folder, sizeof(folder), "%.*s", (int)size, folders);
		if (folder[0] == '/')
			add_pattern(list, folder);
		folders += size + (folders[size] != '\0');
	}
}

/* What Python's packages have: nvidia/cuda_cupti/lib to 12, nvidia/cu13/lib then. */
static void add_packages(struct ky_library_list *list, const char *pattern)
{
	char path[PATH_MAX + 32];

	if (!pattern[0])
		return;
	snprintf(path, sizeof(path), "%s/nvidia/*/lib", pattern);
	add_pattern(list, path);
}

/* Whatever folder layout a loaded libcudart is part of, CUPTI has a place in it. */
static void add_beside_runtime(struct ky_library_list *list, const char *path)
{
	static const char *const folders[] = {
		"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64",
		"/../../../extras/CUPTI/lib64", /* targets/x86_64-linux/lib */
	};
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX + 64];

	for (size_t i = 0; slash && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(folder, sizeof(folder), "%.*s%s", (int)(slash - path), path,
			 folders[i]);
		add_pattern(list, folder);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int add_if_loaded(struct dl_phdr_info *info, size_t size, void *list)
{
	(void)size;
	if (strncmp(base_name(info->dlpi_name), "libcupti.so", 11) == 0)
		add(list, info->dlpi_name);
	return 0;
}

/* No file is looked for in here: the loader's lock is held. */
static int note_runtime(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strncmp(base_name(info->dlpi_name), "libcudart.so", 12) != 0)
		return 0;
	snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

void ky_library_read_environment(struct ky_library_places *places)
{
	static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT",
					    "CONDA_PREFIX"};
	const char *folders = secure_getenv("LD_LIBRARY_PATH");
	const char *python = secure_getenv("VIRTUAL_ENV");
	const char *conda = secure_getenv("CONDA_PREFIX");

	memset(places, 0, sizeof(*places));
	if (folders)
		snprintf(places->folders, sizeof(places->folders), "%s", folders);
	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		const char *home = secure_getenv(homes[i]);

		if (home && home[0] == '/')
			snprintf(places->home[i], PATH_MAX, "%s", home);
	}
	if (python && python[0] == '/')
		snprintf(places->python[0], PATH_MAX,
			 "%.4000s/lib/python3*/site-packages", python);
	if (conda && conda[0] == '/')
		snprintf(places->python[1], PATH_MAX,
			 "%.4000s/lib/python3*/site-packages", conda);
}

void ky_library_find(struct ky_library_list *list, const char *setting,
		     const struct ky_library_places *places)
{
	static const char *const names[] = {
		"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
		"libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
		"libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
		"libcupti.so.11.1", "libcupti.so.11.0", "libcupti.so"};
	char runtime[PATH_MAX] = "";

	list->count = 0;
	if (setting && setting[0]) {
		add(list, setting);
		return;
	}
	dl_iterate_phdr(add_if_loaded, list);
	if (list->count > 0)
		return;
	dl_iterate_phdr(note_runtime, runtime);
	add_beside_runtime(list, runtime);
	add_folders(list, places->folders);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add(list, names[i]);
	for (size_t i = 0; i < 4; i++)
		add_below(list, places->home[i]);
	add_packages(list, places->python[0]);
	add_packages(list, places->python[1]);
	add_below(list, "/usr/local/cuda");
	add_below(list, "/usr/local/cuda-*");
	add_packages(list, "/usr/local/lib/python3*/dist-packages");
}

/* ---- The one that was taken ---- */

#define FUNCTION(name, required)                                           \
	{                                                                  \
		"cupti" #name, offsetof(struct ky_library, name), required \
	}

static const struct {
	const char *name;
	size_t offset;
	int is_required;
} functions[] = {
	FUNCTION(GetVersion, 1),
	FUNCTION(GetTimestamp, 1),
	FUNCTION(GetResultString, 1),
	FUNCTION(GetCallbackName, 1),
	FUNCTION(Subscribe, 1),
	FUNCTION(Unsubscribe, 1),
	FUNCTION(ActivityRegisterCallbacks, 1),
	FUNCTION(ActivityEnable, 1),
	FUNCTION(ActivityDisable, 1),
	FUNCTION(ActivityFlushAll, 1),
	FUNCTION(ActivityGetNextRecord, 1),
	FUNCTION(ActivityGetNumDroppedRecords, 1),
	FUNCTION(Subscribe_v2, 0),
	FUNCTION(GetDeviceId, 0),
	FUNCTION(EnableCallback, 0),
	FUNCTION(Finalize, 0),
	FUNCTION(SetThreadIdType, 0),
	FUNCTION(ActivityEnableAndDump, 0),
	FUNCTION(ActivityRegisterTimestampCallback, 0),
	FUNCTION(ActivityPushExternalCorrelationId, 0),
	FUNCTION(ActivityPopExternalCorrelationId, 0),
	FUNCTION(ActivityEnableLatencyTimestamps, 0),
	FUNCTION(ActivityEnableCudaEventDeviceTimestamps, 0),
	FUNCTION(ActivityConfigureUnifiedMemoryCounter, 0),
};

void ky_library_version_text(uint32_t version, char *text, size_t size)
{
	static const struct {
		uint32_t version;
		const char *text;
	} old[] = {
		{28, "12.9.1"}, {27, "12.9"}, {26, "12.8"}, {24, "12.6"}, {23, "12.5"},
		{22, "12.4"},   {21, "12.3"}, {20, "12.2"}, {19, "12.0"}, {18, "11.8"},
		{17, "11.6"},   {16, "11.5"}, {15, "11.2"}, {14, "11.1"}, {13, "11.0"},
	};

	if (version >= CUPTI_SINCE_13_0) {
		snprintf(text, size, "%u.%u", version / 10000, version / 100 % 100);
		return;
	}
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		if (old[i].version <= version) {
			snprintf(text, size, "%s", old[i].text);
			return;
		}
	}
	snprintf(text, size, "of API %u", version);
}

void ky_library_close(struct ky_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	memset(library, 0, sizeof(*library));
}

static int find_functions(struct ky_library *library, char *why, size_t size)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = dlsym(library->handle, functions[i].name);

		if (!symbol && functions[i].is_required) {
			snprintf(why, size, "it has no function %s", functions[i].name);
			return 0;
		}
		memcpy((char *)library + functions[i].offset, &symbol, sizeof(symbol));
	}
	return 1;
}

int ky_library_open(struct ky_library *library, const char *path, char *why, size_t size)
{
	if (library->handle && strcmp(library->path, path) == 0)
		return 1;
	ky_library_close(library);
	/* For good: the driver may keep what it was told of a library that it refused. */
	library->handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!library->handle) {
		const char *error = dlerror();

		snprintf(why, size, "%s", error ? error : "it cannot be loaded");
		return 0;
	}
	snprintf(library->path, sizeof(library->path), "%s", path);
	if (!find_functions(library, why, size))
		goto fail;
	if (library->GetVersion(&library->version) != CUPTI_RC_SUCCESS) {
		snprintf(why, size, "it does not tell its version");
		goto fail;
	}
	if (library->version < CUPTI_SINCE_11_0) {
		snprintf(why, size, "it is of API %u, older than CUDA 11",
			 library->version);
		goto fail;
	}
	return 1;
fail:
	ky_library_close(library);
	return 0;
}
