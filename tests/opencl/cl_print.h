/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the demo programs print of OpenCL's answers: no time, no address, so that runs can
 * be compared byte for byte.
 */
#ifndef KYMO_TESTS_OPENCL_CL_PRINT_H
#define KYMO_TESTS_OPENCL_CL_PRINT_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Prints the outcome of a call, and returns it. */
cl_int call(const char *name, cl_int error);

/* The same of one that launches a command, counted if it did. Any thread. */
void command(const char *name, cl_int error);
void count_command(void);
void print_commands(void);

void nap(void);

/* A driver drops its references a moment after a command is complete: until none goes. */
void settle(cl_context context, cl_command_queue queue);

/* All that the object says of itself. */
void print_queue(const char *name, cl_command_queue queue);
void print_event(const char *name, cl_event event);

/* Each question of an event, with room, with too little, and without a value. */
void ask_event(const char *name, cl_event event);

#endif
