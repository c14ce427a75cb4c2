/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the whole plug-in shares: the host it speaks to, the numbers the host gave, and
 * whether anything is to be recorded. There is one of it, since OMPT's callbacks have no
 * room for a pointer of ours.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_STATE_H
#define KYMO_PLUGINS_SOURCE_OPENMP_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include <kymo/plugin.h>

#include "name.h"

/* The activity types, in the order of the tables. */
enum ky_type {
	KY_TYPE_PARALLEL,
	KY_TYPE_IMPLICIT_TASK,
	KY_TYPE_WORK,
	KY_TYPE_TASK,
	KY_TYPE_TASK_CREATE,
	KY_TYPE_SYNC,
	KY_TYPE_WAIT,
	KY_TYPE_MUTEX,
	KY_TYPE_TARGET,
	KY_TYPE_RUNTIME,
	KY_TYPE_KERNEL,
	KY_TYPE_COPY,
	KY_TYPE_MEMORY,
	KY_TYPE_COUNT,
};

enum ky_key {
	KY_KEY_REGION,
	KY_KEY_THREADS,
	KY_KEY_THREAD,
	KY_KEY_COUNT_OF_WORK,
	KY_KEY_CODE,
	KY_KEY_ENDED,
	KY_KEY_LOCK,
	KY_KEY_BYTES,
	KY_KEY_SOURCE,
	KY_KEY_DESTINATION,
	KY_KEY_FROM_DEVICE,
	KY_KEY_TO_DEVICE,
	KY_KEY_TARGET_DEVICE,
	KY_KEY_TEAMS,
	KY_KEY_COUNT,
};

enum ky_domain {
	KY_DOMAIN_CREATION, /* the creation of a task */
	KY_DOMAIN_TASK,     /* its execution; the same number */
	KY_DOMAIN_COMMAND,  /* a call of the target runtime, and what the device did */
	KY_DOMAIN_COUNT,
};

struct ky_state {
	const struct kymo_host *host; /* NULL: nobody attached us */
	struct kymo_source_host *source;
	/* Between start and stop and not paused. Stored after all that it stands for. */
	atomic_uint recording;
	atomic_uint epoch; /* counts sessions; what was opened in another is forgotten */
	atomic_ullong last_command;
	uint8_t is_wanted[KY_TYPE_COUNT];
	const uint16_t *type, *key, *domain; /* by the enumerations above */
	uint16_t creation_link;
	uint32_t name[KY_NAME_COUNT];
};

extern struct ky_state ky_state;

/* Our tables. Never asked of kymo_plugin_entry_v1(), which may be another plug-in's. */
extern const struct kymo_plugin ky_openmp_plugin;

#endif
