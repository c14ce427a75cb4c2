/* SPDX-License-Identifier: BSD-3-Clause */
#include "other_tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(IS_SANITIZED)
#define IS_SANITIZED 1
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/*
 * LLVM's libarcher, which the runtime loads by itself in such a program. Without it the
 * sanitizer sees races where there are none, and changes the program's status for them.
 */
static int is_thread_sanitizer_there(void)
{
	return !IS_SANITIZED && dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

/* What is loaded under that name, or NULL; it is not held. */
static void *find_loaded(const char *name, size_t size)
{
	char path[PATH_MAX];
	void *handle;

	if (size >= sizeof(path))
		return NULL;
	memcpy(path, name, size);
	path[size] = '\0';
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		dlclose(handle);
	return handle;
}

/*
 * The first of OMP_TOOL_LIBRARIES that is not this file, however it is spelled: its size,
 * 0 if there is none.
 */
static size_t find_listed(const char *list, const char *own, const char **out)
{
	const void *this = find_loaded(own, strlen(own));

	while (*list) {
		const size_t size = strcspn(list, ":");

		if (size > 0 && (!this || find_loaded(list, size) != this)) {
			*out = list;
			return size;
		}
		list += size + (list[size] == ':');
	}
	return 0;
}

static int find(struct ky_other_tool *out)
{
	const char *list = secure_getenv("OMP_TOOL_LIBRARIES"), *other = NULL;
	size_t size;
	Dl_info own;

	if (is_thread_sanitizer_there()) {
		snprintf(out->who, sizeof(out->who),
			 "the thread sanitizer has a tool of its own (libarcher)");
		out->remedy = "record the program built without -fsanitize=thread";
		return 1;
	}
	if (!list || !dladdr(&ky_openmp_plugin, &own))
		return 0;
	size = find_listed(list, own.dli_fname, &other);
	snprintf(out->who, sizeof(out->who),
		 "OMP_TOOL_LIBRARIES names another tool: %.*s", (int)size,
		 size > 0 ? other : "");
	out->remedy = "take the other tool out of OMP_TOOL_LIBRARIES";
	return size > 0;
}

int ky_other_tool_find(struct ky_other_tool *out)
{
	const int kept = errno;
	const int is_found = find(out);

	errno = kept;
	return is_found;
}
