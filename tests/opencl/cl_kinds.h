/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each kind of command that gives an event, enqueued in all the wrong ways and well.
 */
#ifndef KYMO_TESTS_OPENCL_CL_KINDS_H
#define KYMO_TESTS_OPENCL_CL_KINDS_H

#include "cl_print.h"

/* What a command is given; the wrong ways replace some of it. */
struct given {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem buffer, other, image, other_image;
	void *shared, *other_shared, *host;
	size_t size;
	cl_uint dimensions, wait_count;
	const cl_event *wait_list;
	cl_event *event;
};

/* Each kind: its errors, then twice well, with and without an event that is asked all. */
void try_all_kinds(const struct given *good);

cl_int enqueue_launch(const struct given *given);

#endif
