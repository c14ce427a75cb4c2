/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cgroup.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* The two versions have other names for the same; what is cached, with groups within. */
struct names {
	const char *mount, *limit, *used, *inactive, *active;
};

static const struct names version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
				       "memory.usage_in_bytes", "\ntotal_inactive_file ",
				       "\ntotal_active_file "};
static const struct names version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
				       "\ninactive_file ", "\nactive_file "};

static ssize_t read_file(const char *folder, const char *name, char *out, size_t size)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return -1;
	return ky_read_small(path, out, size);
}

static uint64_t read_number(const char *folder, const char *name, uint64_t otherwise)
{
	char text[32];

	if (read_file(folder, name, text, sizeof(text)) <= 0 ||
	    !isdigit((unsigned char)text[0]))
		return otherwise;
	return strtoull(text, NULL, 10);
}

static uint64_t find_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t left_in(const char *folder, const struct names *names)
{
	const uint64_t limit = read_number(folder, names->limit, UINT64_MAX);
	uint64_t used = read_number(folder, names->used, 0), cached;
	char stat[8192] = "\n";

	if (limit == UINT64_MAX)
		return UINT64_MAX;
	read_file(folder, "memory.stat", stat + 1, sizeof(stat) - 1);
	cached = find_number(stat, names->inactive) + find_number(stat, names->active);
	used = used > cached ? used - cached : 0;
	return limit > used ? limit - used : 0;
}

/*
 * Of a group and those around it. What is not there is passed over: in a container the
 * path may be that of the host, and the container's own group the mount.
 */
static uint64_t left_around(const char *root, const char *group,
			    const struct names *names)
{
	uint64_t least = UINT64_MAX;
	char path[PATH_MAX];
	size_t mount = strlen(root) + strlen(names->mount);

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", root, names->mount, group) >=
	    sizeof(path))
		path[mount] = '\0';
	for (;;) {
		const uint64_t left = left_in(path, names);

		least = left < least ? left : least;
		if (strlen(path) <= mount)
			return least;
		*strrchr(path, '/') = '\0';
	}
}

/* "4:memory,cpu:/group": of version 1 if the controller is there, "0::/group": of 2. */
static uint64_t left_by_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *rest = NULL, *group, *name;

	group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group || group[1] != '/')
		return UINT64_MAX;
	*group++ = '\0';
	if (controllers[1] == '\0')
		return left_around(root, group, &version_2);
	name = strtok_r(controllers + 1, ",", &rest);
	while (name && strcmp(name, "memory") != 0)
		name = strtok_r(NULL, ",", &rest);
	return name ? left_around(root, group, &version_1) : UINT64_MAX;
}

uint64_t ky_cgroup_left(const char *root)
{
	uint64_t least = UINT64_MAX;
	char text[8192], *rest = NULL, *line;

	if (read_file(root, "proc/self/cgroup", text, sizeof(text)) <= 0)
		return UINT64_MAX;
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		const uint64_t left = left_by_line(root, line);

		least = left < least ? left : least;
	}
	return least;
}
