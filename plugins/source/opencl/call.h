/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped calls: under which name each is recorded on the calling thread, and what
 * the command it launches is called on the device.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_CALL_H
#define KYMO_PLUGINS_SOURCE_OPENCL_CALL_H

#include <stdint.h>

/* The activity types of this source, in the order of its tables. */
enum ky_type {
	KY_TYPE_RUNTIME,
	KY_TYPE_KERNEL,
	KY_TYPE_COPY,
	KY_TYPE_FILL,
	KY_TYPE_MARKER,
	KY_TYPE_COUNT,
};

/* Where one function launches differently named commands it has several rows. */
enum ky_call {
	KY_CALL_NDRANGE_KERNEL,
	KY_CALL_TASK,
	KY_CALL_NATIVE_KERNEL,
	KY_CALL_COMMAND_BUFFER,
	KY_CALL_READ_BUFFER,
	KY_CALL_WRITE_BUFFER,
	KY_CALL_COPY_BUFFER,
	KY_CALL_FILL_BUFFER,
	KY_CALL_READ_BUFFER_RECT,
	KY_CALL_WRITE_BUFFER_RECT,
	KY_CALL_COPY_BUFFER_RECT,
	KY_CALL_MAP_BUFFER,
	KY_CALL_READ_IMAGE,
	KY_CALL_WRITE_IMAGE,
	KY_CALL_COPY_IMAGE,
	KY_CALL_FILL_IMAGE,
	KY_CALL_COPY_IMAGE_TO_BUFFER,
	KY_CALL_COPY_BUFFER_TO_IMAGE,
	KY_CALL_MAP_IMAGE,
	KY_CALL_UNMAP,
	KY_CALL_MIGRATE,
	KY_CALL_MIGRATE_TO_HOST,
	KY_CALL_SVM_FREE,
	KY_CALL_SVM_COPY,
	KY_CALL_SVM_FILL,
	KY_CALL_SVM_MAP,
	KY_CALL_SVM_UNMAP,
	KY_CALL_SVM_MIGRATE,
	KY_CALL_SVM_MIGRATE_TO_HOST,
	KY_CALL_USM_COPY,
	KY_CALL_USM_FILL,
	KY_CALL_USM_MIGRATE,
	KY_CALL_USM_ADVISE,
	KY_CALL_ACQUIRE_GL,
	KY_CALL_RELEASE_GL,
	KY_CALL_MARKER,
	KY_CALL_MARKER_WITH_WAIT_LIST,
	KY_CALL_BARRIER_WITH_WAIT_LIST,

	/* Calls of the host without a command of their own. */
	KY_CALL_BARRIER,
	KY_CALL_QUEUE_WAIT,
	KY_CALL_FLUSH,
	KY_CALL_FINISH,
	KY_CALL_WAIT_FOR_EVENTS,
	KY_CALL_SET_USER_EVENT_STATUS,
	KY_CALL_RELEASE_QUEUE,
	KY_CALL_BUILD_PROGRAM,
	KY_CALL_COMPILE_PROGRAM,
	KY_CALL_LINK_PROGRAM,
	KY_CALL_COUNT,
};

/* `bytes` of a call whose size is not known, or of which it is unknown what moved. */
#define KY_BYTES_UNKNOWN UINT64_MAX

struct ky_call_desc {
	const char *function; /* the host span's name */
	const char *command;  /* the device span's name; NULL: the kernel's, or none */
	uint8_t type;         /* of the command, enum ky_type */
	uint8_t has_rate;     /* its bytes did move, so bytes by time is a bandwidth */
	uint8_t may_block;    /* its begin is recorded too, to be seen when it hangs */
};

extern const struct ky_call_desc ky_call_descs[KY_CALL_COUNT];

#endif
