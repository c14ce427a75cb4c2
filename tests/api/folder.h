/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for the files of one test program, which must be empty again at the end. */
#ifndef TEST_API_FOLDER_H
#define TEST_API_FOLDER_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/kymo-api-XXXXXX";

static inline const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Names of what is there, hidden files too; how many. */
static inline int count_files(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			count++;
	if (dir)
		closedir(dir);
	return count;
}

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

#endif
