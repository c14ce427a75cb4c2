/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

static uint32_t size_of(const void *object)
{
	uint32_t size;

	memcpy(&size, object, sizeof(size));
	return size;
}

static void set_size(void *object, size_t size)
{
	const uint32_t struct_size = (uint32_t)size;

	memcpy(object, &struct_size, sizeof(struct_size));
}

/* Members that were added after this library was built must say nothing. */
static int32_t check_tail(const void *options, size_t known_size,
			  struct kymo_error *error)
{
	const char *bytes = options;

	for (size_t i = known_size; i < size_of(options); i++)
		if (bytes[i])
			return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
					    "the options have a member that Kymo %s does "
					    "not know: a newer library is needed",
					    KYMO_VERSION_STRING);
	return KYMO_OK;
}

int32_t ky_options_read(const void *options, size_t known_size, size_t least_size,
			void *out, struct kymo_error *error)
{
	size_t size;
	int32_t status;

	memset(out, 0, known_size);
	set_size(out, known_size);
	if (!options)
		return KYMO_OK;
	size = size_of(options);
	if (size < least_size)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "struct_size of the options is %zu: set it to their "
				    "sizeof",
				    size);
	status = check_tail(options, known_size, error);
	if (status != KYMO_OK)
		return status;
	memcpy(out, options, size < known_size ? size : known_size);
	set_size(out, known_size);
	return KYMO_OK;
}

int32_t ky_result_check(const void *result, struct kymo_error *error)
{
	if (!result || size_of(result) >= sizeof(uint32_t))
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "struct_size of what is to be filled is %u: set it to its "
			    "sizeof",
			    size_of(result));
}

void ky_result_write(void *result, const void *whole, size_t known_size)
{
	size_t size;

	if (!result)
		return;
	size = size_of(result);
	memcpy(result, whole, size < known_size ? size : known_size);
	set_size(result, size);
}
