/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/env.h"

#include <stdlib.h>

const char *ky_env_get(const char *name)
{
	return secure_getenv(name);
}
