/* SPDX-License-Identifier: BSD-3-Clause */
/* A file with a configuration: its text, and whether it is another one by now. */
#ifndef KYMO_CONFIG_FILE_H
#define KYMO_CONFIG_FILE_H

#include <sys/types.h>

#include <kymo/base.h>

/* What a file was when it was looked at. */
struct ky_config_file {
	char *path;
	int is_there;
	dev_t device;
	ino_t inode;
	off_t size;
	int64_t modified_ns;
};

void ky_config_file_fini(struct ky_config_file *file);

/*
 * Reads all of the file, at most KY_TEXT_MAX bytes; `text` is the caller's to free.
 * KYMO_ERROR_NOT_FOUND if there is none; `file` is filled in that case too, so that it is
 * known when there is one.
 */
int32_t ky_config_file_read(const char *path, struct ky_config_file *file,
			    struct kymo_str *text, struct kymo_error *error);

/* Whether the path leads to other bytes now, by inode, size and time. */
int ky_config_file_has_changed(const struct ky_config_file *file);

#endif
