/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment. Reading it races with whoever changes it, so it is read in one place,
 * by the thread that asks for a session or a recording, and never later by another.
 */
#ifndef KYMO_BASE_ENV_H
#define KYMO_BASE_ENV_H

/* The value, borrowed until the program changes it; NULL: not set, or this program has
 * more privileges than whoever called it. */
const char *ky_env_get(const char *name);

#endif
