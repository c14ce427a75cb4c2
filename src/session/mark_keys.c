/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/mark_keys.h"

#include <kymo/mark.h>

#include "base/error.h"
#include "base/lock.h"
#include "capture/gate.h"
#include "record/dictionary.h"
#include "record/known_keys.h"
#include "session/page.h"

#define KEYS_MAX 4096u

/* Only appended to; under mark_lock. */
static struct ky_mark_key keys[KEYS_MAX];
static uint32_t key_count;

/* The key of that name, or NULL. mark_lock held. */
static const struct ky_mark_key *find_name(uint32_t name)
{
	for (uint32_t i = 0; i < key_count; i++)
		if (keys[i].name == name)
			return &keys[i];
	return NULL;
}

/* Gives `key` its number. mark_lock held. */
static int32_t add_key(struct ky_mark_key *key)
{
	const struct ky_key_entry entry = {
		.name = key->name,
		.unit = key->unit,
		.value_type = key->value_type,
	};
	uint32_t id;

	if (key_count == KEYS_MAX ||
	    ky_dictionary_intern(KY_ENTRY_KEY, &entry, sizeof(entry), &id) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	key->key = (uint16_t)id;
	keys[key_count++] = *key;
	return KYMO_OK;
}

/* The key as it is registered then, also where that is another one. */
static int32_t find_or_add(struct ky_mark_key *key)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	const struct ky_mark_key *known;
	int32_t status = KYMO_OK;

	ky_lock(lock);
	known = find_name(key->name);
	if (!known)
		status = add_key(key);
	else if (known->unit != key->unit || known->value_type != key->value_type)
		status = KYMO_ERROR_EXISTS;
	if (known)
		*key = *known;
	ky_unlock(lock);
	return status;
}

int ky_mark_key_find(uint16_t key, struct ky_mark_key *out)
{
	uint32_t *lock = &ky_session_page()->mark_lock;
	int is_found = 0;

	ky_lock(lock);
	for (uint32_t i = 0; i < key_count && !is_found; i++) {
		is_found = keys[i].key == key;
		*out = keys[i];
	}
	ky_unlock(lock);
	return is_found;
}

static int32_t check(const struct kymo_key_desc *desc, struct kymo_error *error)
{
	if (!KYMO_HAS_FIELD(desc, unit) || !desc->name || !desc->name[0])
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "a key needs a name and a struct_size");
	if (!ky_value_type_is_one(desc->value_type))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the key \"%s\" has the type %#x, which is none: use "
				    "one of KYMO_VALUE_*",
				    desc->name, desc->value_type);
	return ky_known_key_check(desc->name, desc->value_type, error);
}

static int32_t say_exists(const struct kymo_key_desc *desc,
			  const struct ky_mark_key *known, struct kymo_error *error)
{
	char was[KY_TYPE_TEXT_MAX], said[KY_TYPE_TEXT_MAX];

	if (known->value_type == desc->value_type)
		return ky_error_set(error, KYMO_ERROR_EXISTS,
				    "the key \"%s\" is registered with another unit than "
				    "\"%s\": give it a name of its own",
				    desc->name, desc->unit ? desc->unit : "");
	return ky_error_set(error, KYMO_ERROR_EXISTS,
			    "the key \"%s\" is registered for values of %s, not %s: give "
			    "it a name of its own",
			    desc->name, ky_value_type_text(known->value_type, was),
			    ky_value_type_text(desc->value_type, said));
}

int32_t kymo_key_register(const struct kymo_key_desc *desc, uint16_t *key,
			  struct kymo_error *error)
{
	struct ky_mark_key wanted;
	int32_t status = KYMO_ERROR_NO_MEMORY;

	if (!desc || !key)
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"no description of a key, or no place for its number");
	*key = 0;
	if (check(desc, error) != KYMO_OK)
		return KYMO_ERROR_INVALID;
	/* A child must not touch the dictionary before it is its own. */
	ky_gate_decide();
	wanted = (struct ky_mark_key){
		.name = ky_dictionary_text(desc->name),
		.unit = ky_dictionary_text(desc->unit),
		.value_type = desc->value_type,
	};
	if (wanted.name != KY_STRING_NOT_KEPT && wanted.unit != KY_STRING_NOT_KEPT)
		status = find_or_add(&wanted);
	if (status == KYMO_ERROR_EXISTS)
		return say_exists(desc, &wanted, error);
	if (status != KYMO_OK)
		return ky_error_set(
			error, status,
			"no room for the key \"%s\": %u are the most, and names "
			"need some in the dictionary",
			desc->name, KEYS_MAX);
	*key = wanted.key;
	return KYMO_OK;
}

uint16_t kymo_mark_key(const char *name, uint32_t value_type, const char *unit)
{
	const struct kymo_key_desc desc = {
		.struct_size = sizeof(desc),
		.value_type = value_type,
		.name = name,
		.unit = unit,
	};
	uint16_t key;

	kymo_key_register(&desc, &key, NULL);
	return key;
}
