/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading plug-ins. A plug-in is loaded once per process and never unloaded: a vendor's
 * callbacks and thread-local destructors may come at any time later.
 */
#ifndef KYMO_PLUGIN_LOADER_H
#define KYMO_PLUGIN_LOADER_H

#include <kymo/plugin.h>
#include <kymo/sink.h>

/*
 * Loads and checks the plug-in at an absolute path. KYMO_ERROR_NOT_FOUND when there is no
 * file, KYMO_ERROR_UNSUPPORTED when it is no plug-in of ours (no entry), _VERSION and
 * _PLUGIN when it is a bad one, _STATE when it has closed descriptors of this process,
 * which should come to its end then.
 */
int32_t ky_plugin_load(const char *path, const struct kymo_plugin **out,
		       struct kymo_error *error);

/* Of "NAME" or "PATH", each with ":OPTION=VALUE" or without: whether it is a path, which
 * has a '/'; and where the option begins, which of a path is behind ".so", or the end. */
int ky_plugin_is_path(const char *item);
const char *ky_plugin_option(const char *item);

/* The absolute path of a plug-in: `name` itself if it has a '/', against the working
 * directory if need be, else folder/name.so. */
int32_t ky_plugin_path(const char *kind, const char *name, char *out, size_t size,
		       struct kymo_error *error);

/*
 * Visits every .so of the folder in order of name, with its path, until visit is not 0.
 */
typedef int (*ky_plugin_file_fn)(void *context, const char *path);
int32_t ky_plugin_each(const char *kind, ky_plugin_file_fn visit, void *context,
		       struct kymo_error *error);

#endif
