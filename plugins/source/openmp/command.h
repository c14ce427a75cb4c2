/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of the target runtime with what it did on a device, as two records that carry
 * one number.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_COMMAND_H
#define KYMO_PLUGINS_SOURCE_OPENMP_COMMAND_H

#include "thread.h"

struct ky_transfer {
	int operation; /* KY_OMPT_DATA_* */
	int source_device, destination_device;
	uint64_t source, destination, bytes;
};

struct ky_command {
	struct ky_open call; /* on the host */
	uint64_t end;
	enum ky_type type; /* what follows: on the device */
	uint32_t name;
	uint16_t flags;
	int device;
	int is_instant;                     /* when it ended is not told */
	unsigned int teams;                 /* of a kernel, as requested; 0: not said */
	const struct ky_transfer *transfer; /* NULL: a kernel */
};

void ky_command_emit(const struct ky_command *command);

#endif
