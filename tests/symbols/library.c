/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared object of coder.c. */
typedef void (*function)(void);

function library_function(void);

static volatile int calls;

static void hidden_function(void)
{
	calls++; /* LINE library */
}

function library_function(void)
{
	return hidden_function;
}
