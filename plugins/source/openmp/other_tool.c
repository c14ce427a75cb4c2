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

/* What is loaded under that name, or NULL; to be closed. */
static void *open_loaded(const char *name, size_t size)
{
	char path[PATH_MAX];

	if (size >= sizeof(path))
		return NULL;
	memcpy(path, name, size);
	path[size] = '\0';
	return dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

static int is_name_of(const void *object, const char *name, size_t size)
{
	void *found = object ? open_loaded(name, size) : NULL;
	const int is_it = found && found == object;

	if (found)
		dlclose(found);
	return is_it;
}

/*
 * The first of OMP_TOOL_LIBRARIES that is not this file, however it is spelled: its size,
 * 0 if there is none.
 */
static size_t find_listed(const char *list, const char *own, const char **out)
{
	void *this = open_loaded(own, strlen(own));
	size_t size = 0;

	while (*list) {
		size = strcspn(list, ":");
		*out = list;
		if (size > 0 && !is_name_of(this, list, size))
			break;
		list += size + (list[size] == ':');
		size = 0;
	}
	if (this)
		dlclose(this);
	return size;
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
