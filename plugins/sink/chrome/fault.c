/* SPDX-License-Identifier: BSD-3-Clause */
#include "fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

/* File names may hold any bytes, and cutting the message may have split a character. */
static void make_printable(char *message)
{
	unsigned char *text = (unsigned char *)message;
	size_t size = strlen(message), i = 0;

	while (i < size) {
		unsigned bad = 1, length = 1;

		if (text[i] >= 0x80)
			length = ky_utf8_character(text + i, size - i, &bad);
		else if (text[i] < 0x20 || text[i] == 0x7f)
			length = 0;
		if (length == 0)
			memset(text + i, '?', bad);
		i += length ? length : bad;
	}
}

int32_t ky_fault_set(struct kymo_error *error, int32_t status, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return status;
	error->status = status;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	make_printable(error->message);
	return status;
}

static int32_t status_of(int number)
{
	switch (number) {
	case EACCES:
	case EPERM:
	case EROFS:
		return KYMO_ERROR_PERMISSION;
	case ENOENT:
	case ENOTDIR:
		return KYMO_ERROR_NOT_FOUND;
	case ENOMEM:
		return KYMO_ERROR_NO_MEMORY;
	default:
		return KYMO_ERROR_IO;
	}
}

static const char *remedy_of(int number)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT:
		return "; make room there, or write elsewhere";
	case EFBIG:
		return "; raise the limit of file sizes (ulimit -f), or write elsewhere";
	case EACCES:
	case EPERM:
	case EROFS:
		return "; name a folder that you may write to";
	case ENOENT:
	case ENOTDIR:
		return "; name a folder that exists";
	default:
		return "";
	}
}

int32_t ky_fault_set_errno(struct kymo_error *error, int number, const char *verb,
			   const char *path)
{
	char buffer[128];

	if (number == EEXIST)
		return ky_fault_set(error, KYMO_ERROR_EXISTS,
				    "\"%s\" exists already: name another file, or set "
				    "overwrite",
				    path);
	return ky_fault_set(error, status_of(number), "cannot %s \"%s\": %s%s", verb,
			    path, strerror_r(number, buffer, sizeof(buffer)),
			    remedy_of(number));
}
