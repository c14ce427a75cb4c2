/* SPDX-License-Identifier: BSD-3-Clause */
/* Files, with every result checked. Descriptors are close-on-exec throughout. */
#ifndef KYMO_BASE_FS_H
#define KYMO_BASE_FS_H

#include <sys/types.h>

#include <kymo/base.h>

/* Writes all of it or fails; EINTR and short writes are gone on with. 0 or an errno. */
int ky_write_all(int fd, const void *data, size_t size);
int ky_pread_all(int fd, void *data, size_t size, uint64_t offset, size_t *got);

/*
 * Gives the file its name in one step; what has that name already is replaced only if
 * `overwrite` says so, else EEXIST. 0 or an errno.
 */
int ky_move_file(const char *from, const char *to, int overwrite);

/*
 * The path of a file that lies beside another while that is being made: `.NAMETAIL`. The
 * name may be as long as a name can be, so it is cut where this one would be longer.
 * False if it does not fit into `out`.
 */
int ky_path_beside(const char *path, const char *tail, char *out, size_t size);

/* Reads a small file into `buffer`, always terminated; the size, or -errno. */
ssize_t ky_read_small(const char *path, char *buffer, size_t size);

/* A new private directory (0700) under XDG_RUNTIME_DIR, TMPDIR or /tmp. */
int32_t ky_private_dir(char *out, size_t size, struct kymo_error *error);

/* The absolute path of the object that holds `address`. */
int32_t ky_object_path(const void *address, char *out, size_t size);

#endif
