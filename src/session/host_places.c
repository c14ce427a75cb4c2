/* SPDX-License-Identifier: BSD-3-Clause */
/* Where things happen: devices, tracks of queues and threads, rows of counters. */
#include "session/host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "capture/lease.h"
#include "record/dictionary.h"

#define COUNTERS_MAX 1024u /* of one group: more do not fit into a record */

int32_t ky_host_device(struct kymo_source_host *host, const struct kymo_device_desc *desc,
		       uint32_t *out)
{
	struct ky_device_entry entry = {0};

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, attributes))
		return KYMO_ERROR_INVALID;
	entry.native = desc->native;
	entry.source = host->number;
	entry.index = desc->index;
	entry.name = ky_dictionary_string(desc->name);
	entry.kind = ky_dictionary_string(desc->kind);
	entry.uuid = ky_dictionary_string(desc->uuid);
	entry.parent = desc->parent;
	entry.order = desc->order;
	entry.attributes = desc->attributes;
	return ky_dictionary_intern(KY_ENTRY_DEVICE, &entry, sizeof(entry), out);
}

/* A thread has its track: what a source may say of it is its name. */
static int is_good_track(const struct kymo_track_desc *desc)
{
	if (desc->kind == KYMO_TRACK_THREAD)
		return desc->native != 0 && desc->name.size > 0 && desc->device == 0;
	return desc->kind >= KYMO_TRACK_QUEUE && desc->kind <= KYMO_TRACK_COUNTER;
}

int32_t ky_host_track(struct kymo_source_host *host, const struct kymo_track_desc *desc,
		      uint32_t *out)
{
	struct ky_track_entry entry = {0};

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, name) || !is_good_track(desc))
		return KYMO_ERROR_INVALID;
	entry.native = desc->native;
	entry.kind = desc->kind;
	entry.source = host->number;
	entry.name = ky_dictionary_string(desc->name);
	entry.clock = desc->clock;
	entry.device = desc->device;
	entry.order = desc->order;
	entry.attributes = desc->attributes;
	return ky_dictionary_intern(KY_ENTRY_TRACK, &entry, sizeof(entry), out);
}

/*
 * The name of a thread of this process; "" if it has ended. Not below /proc/self/task:
 * the kernel has to give up what was looked up there both when the thread ends and when
 * the process does, and if that is at once whoever waits for the process spins meanwhile,
 * for seconds on a busy machine. At its own place it may be a thread of others: so it is
 * asked for first.
 */
static void read_thread_name(uint64_t tid, char *name, size_t size)
{
	char path[64];
	ssize_t got = -1;

	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)tid);
	if (tgkill(getpid(), (pid_t)tid, 0) == 0)
		got = ky_read_small(path, name, size);
	if (got <= 0)
		name[0] = '\0';
	else if (name[got - 1] == '\n')
		name[got - 1] = '\0';
}

int32_t ky_host_thread_track(struct kymo_source_host *host, uint64_t tid, uint32_t clock,
			     uint32_t *out)
{
	/* As the thread itself is described when it takes its first lease. */
	struct ky_track_entry entry = {
		.native = tid,
		.kind = KYMO_TRACK_THREAD,
		.clock = clock,
	};
	char name[32];
	int kept = errno;

	(void)host;
	*out = 0;
	if (tid == 0 && clock == 0) {
		*out = ky_thread_track();
		return *out ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
	}
	if (tid == 0)
		tid = entry.native = (uint64_t)gettid();
	read_thread_name(tid, name, sizeof(name));
	errno = kept;
	entry.name = ky_dictionary_text(name);
	return ky_dictionary_intern(KY_ENTRY_TRACK, &entry, sizeof(entry), out);
}

int32_t ky_host_counter_group(struct kymo_source_host *host, uint32_t track,
			      struct kymo_str name,
			      const struct kymo_counter_desc *const *counters,
			      size_t count, uint32_t *out)
{
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[COUNTERS_MAX];
	} entry = {.group = {.track = track, .count = (uint32_t)count}};

	*out = 0;
	if (count == 0 || count > COUNTERS_MAX)
		return KYMO_ERROR_INVALID;
	entry.group.name = ky_dictionary_string(name);
	entry.group.source = host->number;
	for (size_t i = 0; i < count; i++) {
		const struct kymo_counter_desc *counter = counters[i];

		if (!KYMO_HAS_FIELD(counter, unit) ||
		    counter->value_type < KYMO_VALUE_INT64 ||
		    counter->value_type > KYMO_VALUE_DOUBLE)
			return KYMO_ERROR_INVALID;
		entry.counters[i].name = ky_dictionary_string(counter->name);
		entry.counters[i].unit = ky_dictionary_string(counter->unit);
		entry.counters[i].value_type = counter->value_type;
	}
	return ky_dictionary_intern(
		KY_ENTRY_GROUP, &entry,
		sizeof(entry.group) + count * sizeof(entry.counters[0]), out);
}
