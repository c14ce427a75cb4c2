/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device may be told before there is a host to register it with, and again after the
 * runtime has ended and begun anew; what is told last holds.
 */
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

#define DEVICE_MAX 256

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* types; no call is made in it */
static struct {
	atomic_uint track;
	atomic_uint is_told;
	char type[64]; /* as the runtime says it: "generic-64bit", "sm_80" */
} devices[DEVICE_MAX];

int ky_device_is_told(int device)
{
	return device >= 0 && device < DEVICE_MAX &&
	       atomic_load_explicit(&devices[device].is_told, memory_order_relaxed);
}

void ky_on_device_initialize(int device, const char *type, void *handle,
			     ky_ompt_lookup lookup, const char *documentation)
{
	(void)handle, (void)lookup, (void)documentation;
	if (device < 0 || device >= DEVICE_MAX)
		return;
	pthread_mutex_lock(&lock);
	snprintf(devices[device].type, sizeof(devices[device].type), "%s",
		 type ? type : "");
	pthread_mutex_unlock(&lock);
	atomic_store(&devices[device].track, 0);
	atomic_store(&devices[device].is_told, 1);
}

/* Twice at once does no harm: the host gives the same numbers for the same thing. */
static uint32_t add_track(int device)
{
	const struct kymo_host *host = ky_state.host;
	char type[sizeof(devices[0].type)], name[128];
	uint32_t number = 0, track = 0;

	pthread_mutex_lock(&lock);
	memcpy(type, devices[device].type, sizeof(type));
	pthread_mutex_unlock(&lock);
	snprintf(name, sizeof(name),
		 type[0] ? "OpenMP device %d (%s)" : "OpenMP device %d", device, type);

	const struct kymo_device_desc device_desc = {
		.struct_size = sizeof(device_desc),
		.index = (uint32_t)device,
		.native = (uint64_t)device,
		.name = kymo_text(name),
		.kind = KYMO_STR("device"),
		.order = (uint32_t)device,
	};
	struct kymo_track_desc track_desc = {
		.struct_size = sizeof(track_desc),
		.kind = KYMO_TRACK_QUEUE,
		.name = KYMO_STR("target"),
	};

	if (host->device(ky_state.source, &device_desc, &number) != KYMO_OK)
		return 0;
	track_desc.device = number;
	if (host->track(ky_state.source, &track_desc, &track) != KYMO_OK)
		return 0;
	atomic_store(&devices[device].track, track);
	return track;
}

uint32_t ky_device_track(int device)
{
	const int saved_errno = errno;
	uint32_t track;

	if (device < 0 || device >= DEVICE_MAX)
		return 0;
	track = atomic_load_explicit(&devices[device].track, memory_order_relaxed);
	if (!track)
		track = add_track(device);
	errno = saved_errno;
	return track;
}

void ky_device_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}
