/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Status and error text. Formatting is vsnprintf into the caller's fixed buffer: nothing
 * is allocated, so errors can be told about when memory is what is missing. A message
 * that does not fit loses its end, never its beginning.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <kymo/version.h>

const char *kymo_version(void)
{
	return KYMO_VERSION_STRING;
}

const char *kymo_status_text(int32_t status)
{
	switch (status) {
	case KYMO_OK:
		return "done";
	case KYMO_ERROR_INVALID:
		return "invalid argument";
	case KYMO_ERROR_NO_MEMORY:
		return "no memory left";
	case KYMO_ERROR_NOT_FOUND:
		return "not found";
	case KYMO_ERROR_EXISTS:
		return "exists already";
	case KYMO_ERROR_STATE:
		return "not possible in this state";
	case KYMO_ERROR_UNSUPPORTED:
		return "not supported";
	case KYMO_ERROR_VERSION:
		return "version does not match";
	case KYMO_ERROR_IO:
		return "input/output failed";
	case KYMO_ERROR_PERMISSION:
		return "not permitted";
	case KYMO_ERROR_BUSY:
		return "in use by somebody else";
	case KYMO_ERROR_CONFIG:
		return "bad setting";
	case KYMO_ERROR_PLUGIN:
		return "plug-in broke its contract";
	case KYMO_ERROR_CANCELLED:
		return "cancelled";
	case KYMO_END:
		return "at the end";
	case KYMO_AGAIN:
		return "not yet";
	default:
		return "unknown status";
	}
}

int32_t ky_status_from_errno(int number)
{
	switch (number) {
	case 0:
		return KYMO_OK;
	case ENOMEM:
		return KYMO_ERROR_NO_MEMORY;
	case ENOENT:
	case ENOTDIR:
		return KYMO_ERROR_NOT_FOUND;
	case EEXIST:
		return KYMO_ERROR_EXISTS;
	case EACCES:
	case EPERM:
	case EROFS:
		return KYMO_ERROR_PERMISSION;
	case EBUSY:
		return KYMO_ERROR_BUSY;
	case EINVAL:
	case ENAMETOOLONG:
		return KYMO_ERROR_INVALID;
	case ENOSYS:
	case EOPNOTSUPP:
		return KYMO_ERROR_UNSUPPORTED;
	default:
		return KYMO_ERROR_IO;
	}
}

static void format_message(struct kymo_error *error, const char *format, va_list list)
	KY_PRINTF(2, 0);

static void format_message(struct kymo_error *error, const char *format, va_list list)
{
	vsnprintf(error->message, sizeof(error->message), format, list);
}

int32_t(ky_error_set)(struct kymo_error *error, int32_t status, const char *format, ...)
{
	va_list list;

	if (!error)
		return status;
	error->status = status;
	va_start(list, format);
	format_message(error, format, list);
	va_end(list);
	return status;
}

int32_t(ky_error_no_memory)(struct kymo_error *error)
{
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "%s",
			    kymo_status_text(KYMO_ERROR_NO_MEMORY));
}

int32_t(ky_error_exists)(struct kymo_error *error, const char *path)
{
	return ky_error_set(error, KYMO_ERROR_EXISTS,
			    "\"%s\" exists already: name another file, or set overwrite",
			    path);
}

int32_t(ky_error_set_errno)(struct kymo_error *error, int number, const char *format, ...)
{
	int32_t status = ky_status_from_errno(number);
	char text[128];
	size_t size;
	va_list list;

	if (!error)
		return status;
	error->status = status;
	va_start(list, format);
	format_message(error, format, list);
	va_end(list);
	size = strlen(error->message);
	/* The GNU strerror_r: thread-safe, and the text is not always in `text`. */
	snprintf(error->message + size, sizeof(error->message) - size, ": %s",
		 strerror_r(number, text, sizeof(text)));
	return status;
}

int32_t ky_error_wrap(struct kymo_error *error, const char *format, ...)
{
	struct kymo_error inner;
	size_t size;
	va_list list;

	if (!error)
		return KYMO_ERROR_INVALID;
	inner = *error;
	va_start(list, format);
	format_message(error, format, list);
	va_end(list);
	size = strlen(error->message);
	snprintf(error->message + size, sizeof(error->message) - size, ": %s",
		 inner.message);
	return error->status;
}
