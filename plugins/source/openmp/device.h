/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of OpenMP, by their numbers, and the track of each.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_DEVICE_H
#define KYMO_PLUGINS_SOURCE_OPENMP_DEVICE_H

#include <stdint.h>

#include "ompt.h"

/* OMPT's callback: keeps what it says for when the device is used. */
void ky_on_device_initialize(int device, const char *type, void *handle,
			     ky_ompt_lookup lookup, const char *documentation);

/*
 * Has the runtime told of this device? The host has a number too, but which one that is
 * cannot be asked: libomp says 0 to its tools, and counts its devices later.
 */
int ky_device_is_told(int device);

/*
 * The device's track, registered the first time. 0, which is a row of the source, for
 * what is no device, and where there are too many.
 */
uint32_t ky_device_track(int device);

/* In a forked child: the lock may be held by a thread that is not there. */
void ky_device_forked(void);

#endif
