/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/mark_types.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "capture/gate.h"
#include "record/dictionary.h"
#include "registry/static_types.h"
#include "session/host.h"
#include "session/mark.h"
#include "session/wanted_types.h"

struct mark_type {
	uint32_t number, flags;
	uint32_t wish; /* enum ky_mark_wish; atomic, and the last to be set */
};

/*
 * By their handles in the dictionary, which are the numbers that callers have; changed
 * under mark_lock. Memory is only there as far as it is used: handles are dense.
 */
static struct mark_type types[UINT16_MAX + 1];
static uint32_t types_end; /* behind the last that there is */

static uint32_t plain_is_left_out; /* atomic */

uint32_t ky_mark_source(void)
{
	const struct ky_source_entry source = {
		.name = ky_dictionary_text("app"),
		.plugin = ky_dictionary_text("app"),
		.version = ky_dictionary_text(kymo_version()),
		.description = ky_dictionary_text("marks of the application itself"),
	};
	uint32_t id = 0;

	ky_dictionary_intern(KY_ENTRY_SOURCE, &source, sizeof(source), &id);
	return id;
}

int ky_mark_plain_is_wanted(void)
{
	return !__atomic_load_n(&plain_is_left_out, __ATOMIC_RELAXED);
}

static void choose(struct mark_type *type)
{
	const int is_wanted = ky_wanted_types_has("app", type->number, type->flags);

	__atomic_store_n(&type->wish, is_wanted ? KY_MARK_WANTED : KY_MARK_LEFT_OUT,
			 __ATOMIC_RELEASE);
}

void ky_mark_choose_types(void)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	const int is_wanted = ky_wanted_types_has("app", KY_TYPE_USER_ANNOTATION, 0);

	__atomic_store_n(&plain_is_left_out, !is_wanted, __ATOMIC_RELAXED);
	ky_mark_forget_type();
	ky_lock(lock);
	for (uint32_t i = 0; i < types_end; i++)
		if (types[i].wish != KY_MARK_UNKNOWN)
			choose(&types[i]);
	ky_unlock(lock);
}

static int32_t describe(uint32_t number, struct ky_type *out, struct kymo_error *error)
{
	const char *name = ky_type_static_name(number);

	if (!name && !ky_types())
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for the table of activity types");
	if (!name && ky_type_table_get(ky_types(), number, out) != KYMO_OK)
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "no type of marks: no activity type has the number "
				    "%u here; kymo_activity_type_register gives them",
				    number);
	if (!name)
		return KYMO_OK;
	*out = (struct ky_type){.number = number, .side = KYMO_SIDE_HOST};
	snprintf(out->full_name, sizeof(out->full_name), "%s", name);
	return KYMO_OK;
}

static int32_t make_handle(const struct ky_type *type, uint32_t *handle,
			   struct kymo_error *error)
{
	struct ky_type_entry entry;
	int32_t status = ky_type_entry_make(type, ky_mark_source(), &entry);

	if (status == KYMO_OK)
		status = ky_dictionary_intern(KY_ENTRY_TYPE, &entry, sizeof(entry),
					      handle);
	if (status == KYMO_ERROR_BUSY)
		return ky_error_set(error, status,
				    "no type of marks \"%s\": asked for in a signal "
				    "handler, ask before",
				    type->full_name);
	if (status != KYMO_OK)
		return ky_error_set(error, status,
				    "no type of marks \"%s\": no more types of marks and "
				    "sources fit; 65535 do, if their names do",
				    type->full_name);
	return KYMO_OK;
}

static void add_type(uint32_t handle, const struct ky_type *type)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	struct mark_type *added = &types[handle];

	ky_lock(lock);
	added->number = type->number;
	added->flags = type->flags;
	choose(added);
	if (handle >= types_end)
		types_end = handle + 1;
	ky_unlock(lock);
}

int32_t kymo_mark_type(uint32_t activity_type, uint16_t *type, struct kymo_error *error)
{
	const uint32_t number = ky_type_static_canonical(activity_type);
	struct kymo_error own = {0};
	struct ky_type known;
	uint32_t handle;
	int32_t status;

	if (!error)
		error = &own;
	if (!type)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the type");
	*type = 0;
	/* A child must not touch the dictionary before it is its own. */
	ky_gate_decide();
	status = describe(number, &known, error);
	if (status == KYMO_OK)
		status = make_handle(&known, &handle, error);
	if (status != KYMO_OK) {
		ky_log(KYMO_SEVERITY_WARNING, "%s", error->message);
		return status;
	}
	add_type(handle, &known);
	*type = (uint16_t)handle; /* the dictionary keeps these below 65536 */
	return KYMO_OK;
}

enum ky_mark_wish ky_mark_type_wish(uint16_t type)
{
	return (enum ky_mark_wish)__atomic_load_n(&types[type].wish, __ATOMIC_ACQUIRE);
}
