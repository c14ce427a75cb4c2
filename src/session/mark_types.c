/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/mark_types.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "capture/gate.h"
#include "record/dictionary.h"
#include "registry/static_types.h"
#include "session/host.h"
#include "session/wanted_types.h"

#define TYPES_MAX 1024u

struct mark_type {
	uint32_t number, flags;
	uint32_t handle; /* 0: left out by the list of wanted types; atomic */
	uint32_t own_handle;
};

/* Only appended to, the count last; under mark_lock. */
static struct mark_type types[TYPES_MAX];
static uint32_t type_count;

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

	__atomic_store_n(&type->handle, is_wanted ? type->own_handle : 0,
			 __ATOMIC_RELAXED);
}

void ky_mark_choose_types(void)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	const int is_wanted = ky_wanted_types_has("app", KY_TYPE_USER_ANNOTATION, 0);

	__atomic_store_n(&plain_is_left_out, !is_wanted, __ATOMIC_RELAXED);
	ky_mark_forget_type();
	ky_lock(lock);
	for (uint32_t i = 0; i < type_count; i++)
		choose(&types[i]);
	ky_unlock(lock);
}

static int32_t describe(uint32_t number, struct ky_type *out)
{
	const char *name = ky_type_static_name(number);

	if (!name)
		return ky_types() ? ky_type_table_get(ky_types(), number, out)
				  : KYMO_ERROR_NO_MEMORY;
	*out = (struct ky_type){.number = number, .side = KYMO_SIDE_HOST};
	snprintf(out->full_name, sizeof(out->full_name), "%s", name);
	return KYMO_OK;
}

/* Under mark_lock; 0: no more fit. */
static uint16_t add_type(const struct ky_type *type, uint32_t handle)
{
	struct mark_type *added;

	for (uint32_t i = 0; i < type_count; i++)
		if (types[i].number == type->number)
			return (uint16_t)(i + 1);
	if (type_count == TYPES_MAX)
		return 0;
	added = &types[type_count];
	*added = (struct mark_type){
		.number = type->number,
		.flags = type->flags,
		.own_handle = handle,
	};
	choose(added);
	__atomic_store_n(&type_count, type_count + 1, __ATOMIC_RELEASE);
	return (uint16_t)type_count;
}

uint16_t kymo_mark_type(uint32_t activity_type)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	struct ky_type_entry entry;
	struct ky_type type;
	uint32_t handle;
	uint16_t result;

	/* A child must not touch the dictionary before it is its own. */
	ky_gate_decide();
	if (describe(ky_type_static_canonical(activity_type), &type) != KYMO_OK ||
	    ky_type_entry_make(&type, ky_mark_source(), &entry) != KYMO_OK ||
	    ky_dictionary_intern(KY_ENTRY_TYPE, &entry, sizeof(entry), &handle) !=
		    KYMO_OK)
		return 0;
	ky_lock(lock);
	result = add_type(&type, handle);
	ky_unlock(lock);
	return result;
}

uint16_t ky_mark_type_handle(uint16_t type)
{
	if (type > __atomic_load_n(&type_count, __ATOMIC_ACQUIRE))
		return 0;
	return (uint16_t)__atomic_load_n(&types[type - 1].handle, __ATOMIC_RELAXED);
}
