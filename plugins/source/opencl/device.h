/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices that queues were made for, each with a clock of its own.
 *
 * OpenCL has no device timer that all drivers implement, but each command's QUEUED stamp
 * was taken by the device's clock while the host was inside the enqueue call. So every
 * command bounds the offset of the two clocks by the duration of a call, and the best of
 * a few commands does so within a microsecond.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_DEVICE_H
#define KYMO_PLUGINS_SOURCE_OPENCL_DEVICE_H

#include "layer.h"

/* Functions of extensions; each platform has its own. */
enum ky_extension {
	KY_EXTENSION_CREATE_QUEUE,
	KY_EXTENSION_ENQUEUE_COMMAND_BUFFER,
	KY_EXTENSION_CREATE_COMMAND_BUFFER,
	KY_EXTENSION_USM_COPY,
	KY_EXTENSION_USM_FILL,
	KY_EXTENSION_USM_MIGRATE,
	KY_EXTENSION_USM_ADVISE,
	KY_EXTENSION_COUNT,
};

extern const char *const ky_extension_names[KY_EXTENSION_COUNT];

struct ky_device {
	struct ky_device *next;
	cl_device_id handle;
	const struct ky_layer *layer;
	uint32_t index;
	atomic_uint number, clock; /* the host's; 0 until ky_device_describe */
	atomic_ullong calibrated;  /* CLOCK_MONOTONIC in ns of the last time, 0: never */
	atomic_uint calibrated_epoch;
	void *_Atomic extensions[KY_EXTENSION_COUNT]; /* NULL: not asked for yet */
};

/* The best anchor of the latest commands of one queue. */
struct ky_anchor {
	struct kymo_clock_pair best;
	uint32_t count;        /* of commands since the last one given; 0: best is void */
	uint64_t given_device; /* the device's time then */
};

/* The device's entry, made at its first use and kept for ever. NULL: out of memory. */
struct ky_device *ky_device_get(const struct ky_layer *layer, cl_device_id handle);

/* The function below this layer, or NULL where the device's platform has none. */
void *ky_device_extension(struct ky_device *device, enum ky_extension extension);

/* Tells the host about device and clock, once. */
void ky_device_describe(struct ky_device *device);

/*
 * Takes anchors with markers on a queue of its own, if this has not been done in this
 * session or min_age_ns ago. May take some milliseconds, never waits for a busy device.
 * `context` must be known to be alive and to have the device.
 */
void ky_device_calibrate(struct ky_device *device, cl_context context,
			 uint64_t min_age_ns);

/* Takes a command's bound; one in 64, or in 10 ms, goes to the host: the narrowest. */
void ky_anchor_add(struct ky_anchor *anchor, const struct ky_device *device,
		   const struct kymo_clock_pair *pair);
/* Gives what has not been given yet. */
void ky_anchor_flush(struct ky_anchor *anchor, const struct ky_device *device);

/* In a forked child: the lock may be held by a thread of the parent. */
void ky_device_forked(void);

#endif
