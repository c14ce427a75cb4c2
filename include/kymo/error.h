/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every function of Kymo reports its outcome.
 *
 * A status is 0 for done, negative for an error, positive for an outcome that is not
 * an error. Where a person will want the reason, the last argument is the caller's
 * struct kymo_error (or NULL). It is filled once, where most is known; each caller on
 * the way up puts its own context in front of the message.
 */
#ifndef KYMO_ERROR_H
#define KYMO_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are stable for ever; new ones are only added. */
enum kymo_status {
	KYMO_OK = 0,

	KYMO_ERROR_INVALID = -1,     /* an argument makes no sense */
	KYMO_ERROR_NO_MEMORY = -2,   /* memory, or a bound of the capture, is used up */
	KYMO_ERROR_NOT_FOUND = -3,   /* the named thing does not exist */
	KYMO_ERROR_EXISTS = -4,      /* it exists already and was not to be replaced */
	KYMO_ERROR_STATE = -5,       /* not in this state, or not in this order */
	KYMO_ERROR_UNSUPPORTED = -6, /* not known to this version or this system */
	KYMO_ERROR_VERSION = -7,     /* two sides speak different majors */
	KYMO_ERROR_IO = -8,          /* the system failed to read or write */
	KYMO_ERROR_PERMISSION = -9,  /* the system refused */
	KYMO_ERROR_BUSY = -10,       /* somebody else holds it */
	KYMO_ERROR_CONFIG = -11,     /* a setting has a bad value */
	KYMO_ERROR_PLUGIN = -12,     /* a plug-in broke its contract */
	KYMO_ERROR_CANCELLED = -13,  /* somebody asked for it to be given up */

	KYMO_END = 1,   /* nothing more to read */
	KYMO_AGAIN = 2, /* not yet, ask later */
};

/* Frozen: 512 bytes, never more. The message is one line of UTF-8, always terminated. */
struct kymo_error {
	int32_t status; /* enum kymo_status */
	char message[508];
};

/*
 * Names a status in a few lower-case words ("not found"). The text is static; an
 * unknown number gives "unknown status". Any thread, any time.
 */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const char *
kymo_status_text(int32_t status);

#ifdef __cplusplus
}
#endif

#endif
