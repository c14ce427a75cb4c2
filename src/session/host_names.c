/* SPDX-License-Identifier: BSD-3-Clause */
/* What a source speaks of by number: its types, keys, domains, link kinds and clocks. */
#include "session/host.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "record/dictionary.h"
#include "record/known_keys.h"
#include "registry/static_types.h"
#include "registry/type_table.h"

static int32_t intern_handle(uint16_t kind, const void *payload, size_t size,
			     uint16_t *out)
{
	uint32_t id;
	int32_t status = ky_dictionary_intern(kind, payload, size, &id);

	*out = (uint16_t)id; /* the dictionary keeps these below 65536 */
	return status;
}

/* A static type is the same for all; what is said of it is the source's own affair. */
static int32_t agree_on_static(struct kymo_source_host *host, uint32_t number,
			       const struct ky_type_opinion *opinion, struct ky_type *out,
			       struct kymo_error *error)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	struct ky_type *type = &host->static_types[number];
	int32_t status;

	ky_lock(lock);
	type->number = number;
	snprintf(type->full_name, sizeof(type->full_name), "%s",
		 ky_type_static_name(number));
	status = ky_type_agree(type, opinion, error);
	*out = *type;
	ky_unlock(lock);
	return status;
}

static int32_t agree_on_type(struct kymo_source_host *host,
			     const struct kymo_type_desc *desc, struct ky_type *out,
			     struct kymo_error *error)
{
	const int is_frozen = (int)__atomic_load_n(&host->is_frozen, __ATOMIC_RELAXED);
	const struct ky_type_opinion opinion = ky_type_opinion_of(desc);
	uint32_t number;
	int alias;

	if (ky_type_static_find(kymo_text(desc->name), 0, &number, &alias) == KYMO_OK) {
		ky_type_alias_warn(alias);
		return agree_on_static(host, number, &opinion, out, error);
	}
	if (!ky_types())
		return KYMO_ERROR_NO_MEMORY;
	return ky_type_table_add(ky_types(), kymo_text(host->plugin->name),
				 kymo_text(desc->name), &opinion, is_frozen, out, error);
}

int32_t ky_type_entry_make(const struct ky_type *type, uint32_t source,
			   struct ky_type_entry *out)
{
	const char *name = type->full_name;

	*out = (struct ky_type_entry){
		.source = source,
		.shapes = type->shapes,
		.side = type->side,
		.flags = type->flags,
		.activity_type = type->number,
		.category = ky_dictionary_text(type->category_size > 0 ? type->category
								       : name),
	};
	if (type->number >= KY_TYPE_STATIC_END) {
		out->plugin = ky_dictionary_string(ky_type_plugin(type));
		out->name = ky_dictionary_string(ky_type_name(type));
	} else {
		out->name = ky_dictionary_text(name);
	}
	return out->name == KY_STRING_NOT_KEPT ? KYMO_ERROR_NO_MEMORY : KYMO_OK;
}

/*
 * The handle of that type if it has one. What has been said in addition is told to
 * readers by one more entry, while the handle, which records bear already, stays.
 */
static int32_t find_type(struct kymo_source_host *host, const struct ky_type_entry *entry,
			 uint16_t *out)
{
	for (uint32_t i = 0; i < host->type_count; i++) {
		struct ky_type_entry *known = &host->type_entries[i];
		uint16_t further;

		if (known->activity_type != entry->activity_type)
			continue;
		if (known->shapes != entry->shapes || known->side != entry->side ||
		    known->flags != entry->flags) {
			known->shapes = entry->shapes;
			known->side = entry->side;
			known->flags = entry->flags;
			intern_handle(KY_ENTRY_TYPE, known, sizeof(*known), &further);
		}
		*out = host->types[i];
		return KYMO_OK;
	}
	return KYMO_ERROR_NOT_FOUND;
}

static int32_t add_type(struct kymo_source_host *host, const struct ky_type_entry *entry,
			uint16_t *out, struct kymo_error *error)
{
	int32_t status;

	/* What is recorded was agreed on when the session was prepared. */
	if (__atomic_load_n(&host->is_frozen, __ATOMIC_RELAXED))
		return KYMO_ERROR_STATE;
	if (host->type_count == KY_HOST_TYPES_MAX)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "a source can have %u types, which it has",
				    KY_HOST_TYPES_MAX);
	status = intern_handle(KY_ENTRY_TYPE, entry, sizeof(*entry), out);
	if (status == KYMO_OK) {
		host->types[host->type_count] = *out;
		host->type_entries[host->type_count] = *entry;
		host->type_count++;
	}
	return status;
}

int32_t ky_host_type(struct kymo_source_host *host, const struct kymo_type_desc *desc,
		     uint16_t *out)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	struct kymo_error error = {0};
	struct ky_type_entry entry;
	struct ky_type type;
	int32_t status;

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, category) ||
	    !ky_type_name_is_good(kymo_text(desc->name)))
		return KYMO_ERROR_INVALID;
	status = agree_on_type(host, desc, &type, &error);
	if (status == KYMO_OK)
		status = ky_type_entry_make(&type, host->number, &entry);
	if (status == KYMO_OK) {
		ky_lock(lock);
		status = find_type(host, &entry, out);
		if (status == KYMO_ERROR_NOT_FOUND)
			status = add_type(host, &entry, out, &error);
		ky_unlock(lock);
	}
	if (status != KYMO_OK)
		ky_log(KYMO_SEVERITY_WARNING, "source \"%s\": no type \"%s\": %s",
		       host->desc->name, desc->name,
		       error.message[0] ? error.message : kymo_status_text(status));
	return status;
}

int32_t ky_host_key_check(const struct kymo_source_host *host,
			  const struct kymo_key_desc *desc, struct kymo_error *error)
{
	const struct kymo_key_desc *const *known = host->desc->keys;
	char was[KY_TYPE_TEXT_MAX], said[KY_TYPE_TEXT_MAX];

	if (!KYMO_HAS_FIELD(desc, unit) || !desc->name || !desc->name[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "a key has no name");
	if (!ky_value_type_is_one(desc->value_type))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "its key \"%.64s\" is of type %#x, which is none",
				    desc->name, desc->value_type);
	while (known && *known && strcmp((*known)->name, desc->name) != 0)
		known++;
	if (known && *known && (*known)->value_type != desc->value_type)
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"its key \"%.64s\" is declared for values of %s, not %s",
			desc->name, ky_value_type_text((*known)->value_type, was),
			ky_value_type_text(desc->value_type, said));
	return ky_known_key_check(desc->name, desc->value_type, error);
}

int32_t ky_host_key(struct kymo_source_host *host, const struct kymo_key_desc *desc,
		    uint16_t *out)
{
	struct ky_key_entry entry = {0};

	*out = 0;
	if (ky_host_key_check(host, desc, NULL) != KYMO_OK)
		return KYMO_ERROR_INVALID;
	entry.name = ky_dictionary_text(desc->name);
	entry.unit = ky_dictionary_text(desc->unit);
	entry.value_type = desc->value_type;
	return intern_handle(KY_ENTRY_KEY, &entry, sizeof(entry), out);
}

int32_t ky_host_domain(struct kymo_source_host *host, const struct kymo_domain_desc *desc,
		       uint16_t *out)
{
	struct ky_domain_entry entry = {0};

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, name) || !desc->name || !desc->name[0] ||
	    desc->scope > KYMO_DOMAIN_GLOBAL)
		return KYMO_ERROR_INVALID;
	entry.name = ky_dictionary_text(desc->name);
	entry.scope = desc->scope;
	/* What several sources share must be the same entry for all of them. */
	if (desc->scope == KYMO_DOMAIN_SOURCE)
		entry.source = host->number;
	return intern_handle(KY_ENTRY_DOMAIN, &entry, sizeof(entry), out);
}

int32_t ky_host_link_kind(struct kymo_source_host *host,
			  const struct kymo_link_kind_desc *desc, uint16_t *out)
{
	struct ky_link_kind_entry entry = {0};

	(void)host;
	*out = 0;
	if (!KYMO_HAS_FIELD(desc, name) || !desc->name || !desc->name[0])
		return KYMO_ERROR_INVALID;
	entry.name = ky_dictionary_text(desc->name);
	return intern_handle(KY_ENTRY_LINK_KIND, &entry, sizeof(entry), out);
}

/* Remembers a clock, so that it is sampled when a session begins and ends. */
static void add_clock(struct kymo_source_host *host, uint32_t clock)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	uint32_t i = 0;

	ky_lock(lock);
	while (i < host->clock_count && host->clocks[i] != clock)
		i++;
	if (i == host->clock_count && i < KY_HOST_CLOCKS_MAX)
		host->clocks[host->clock_count++] = clock;
	ky_unlock(lock);
}

size_t ky_host_clocks(struct kymo_source_host *host, uint32_t *clocks)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	size_t count;

	ky_lock(lock);
	count = host->clock_count;
	memcpy(clocks, host->clocks, count * sizeof(clocks[0]));
	ky_unlock(lock);
	return count;
}

int32_t ky_host_clock(struct kymo_source_host *host, const struct kymo_clock_desc *desc,
		      uint32_t *out)
{
	struct ky_clock_entry entry = {0};
	int32_t status;

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, device) || desc->kind < KYMO_CLOCK_COUNTER ||
	    desc->kind > KYMO_CLOCK_REALTIME || desc->bits == 0 || desc->bits > 64 ||
	    desc->ticks_num == 0 || desc->ticks_den == 0)
		return KYMO_ERROR_INVALID;
	entry.name = ky_dictionary_string(desc->name);
	entry.source = host->number;
	entry.kind = desc->kind;
	entry.bits = desc->bits;
	entry.flags = desc->flags;
	entry.device = desc->device;
	entry.ticks_num = desc->ticks_num;
	entry.ticks_den = desc->ticks_den;
	status = ky_dictionary_intern(KY_ENTRY_CLOCK, &entry, sizeof(entry), out);
	if (status == KYMO_OK && desc->kind == KYMO_CLOCK_COUNTER)
		add_clock(host, *out);
	return status;
}
