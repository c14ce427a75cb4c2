/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files, with every result checked. Descriptors are close-on-exec throughout. Needs
 * nothing of the library, so programs are built with it too.
 */
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

/*
 * A file of that folder without a name, to write and read; it is gone with its
 * descriptor, whatever ends the process. The descriptor, or -errno.
 */
int ky_open_nameless(const char *folder);

#endif
