/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmocka with the headers it wants before it, skips that say why, and whether the thread
 * sanitizer is there, which forbids some of what programs do.
 */
#ifndef TEST_SUPPORT_TEST_H
#define TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif

/* Ends the running case as skipped; tools/run-tests lists it with the reason. */
#define skip_because(reason)                             \
	do {                                             \
		print_message("# skip: %s\n", (reason)); \
		skip();                                  \
	} while (0)

#endif
