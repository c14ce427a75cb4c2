/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program asks to be loaded by. */
#ifndef KYMO_CONTROL_INTERPRETER_H
#define KYMO_CONTROL_INTERPRETER_H

#include <stddef.h>

/*
 * The loader of the program, which is found as exec finds it, where it is not the GNU C
 * library's, else "": there our plug-ins cannot be preloaded, the program would not
 * start. A static program has none; of a script it is not looked for.
 */
void ky_foreign_loader(const char *program, char *loader, size_t size);

#endif
