/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmocka with the headers it wants before it, and skips that say why.
 */
#ifndef TEST_SUPPORT_TEST_H
#define TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Ends the running case as skipped; tools/run-tests lists it with the reason. */
#define skip_because(reason)                             \
	do {                                             \
		print_message("# skip: %s\n", (reason)); \
		skip();                                  \
	} while (0)

#endif
