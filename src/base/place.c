/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/place.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/error.h"

int32_t ky_private_dir(char *out, size_t size, struct kymo_error *error)
{
	const char *const parents[] = {ky_env_get("XDG_RUNTIME_DIR"),
				       ky_env_get("TMPDIR"), "/tmp", "/dev/shm"};
	int number = ENOENT;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		if (!parents[i] || parents[i][0] != '/')
			continue;
		if ((size_t)snprintf(out, size, "%s/kymo-XXXXXX", parents[i]) >= size)
			continue;
		if (mkdtemp(out)) /* mode 0700 */
			return KYMO_OK;
		number = errno;
	}
	out[0] = '\0';
	return ky_error_set_errno(error, number,
				  "cannot make a private directory in XDG_RUNTIME_DIR, "
				  "TMPDIR, /tmp or /dev/shm (TMPDIR may name any other "
				  "folder)");
}

int32_t ky_object_path(const void *address, char *out, size_t size)
{
	char resolved[PATH_MAX];
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return KYMO_ERROR_NOT_FOUND;
	if (!realpath(info.dli_fname, resolved))
		return ky_status_from_errno(errno);
	if ((size_t)snprintf(out, size, "%s", resolved) >= size)
		return KYMO_ERROR_NO_MEMORY;
	return KYMO_OK;
}
