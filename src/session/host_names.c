/* SPDX-License-Identifier: BSD-3-Clause */
/* What a source speaks of by number: its types, keys, domains, link kinds and clocks. */
#include "session/host.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "record/dictionary.h"
#include "registry/custom_type.h"
#include "registry/static_types.h"

#define FULL_NAME_MAX 130 /* two names of 64 and what separates them */

static int32_t intern_handle(uint16_t kind, const void *payload, size_t size,
			     uint16_t *out)
{
	uint32_t id;
	int32_t status = ky_dictionary_intern(kind, payload, size, &id);

	*out = (uint16_t)id; /* the dictionary keeps these below 65536 */
	return status;
}

static struct kymo_str str(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

/* Fills number, plug-in and category of a type with a name that the plug-in chose. */
static int32_t describe_custom(const struct kymo_source_host *host,
			       const struct kymo_type_desc *desc,
			       struct ky_type_entry *entry)
{
	const char *plugin = host->plugin->name;
	char full_name[FULL_NAME_MAX];
	uint32_t full;

	snprintf(full_name, sizeof(full_name), "%s.%s", plugin, desc->name);
	full = ky_dictionary_text(full_name);
	if (full == KY_STRING_NOT_KEPT)
		return KYMO_ERROR_NO_MEMORY;
	entry->plugin = ky_dictionary_text(plugin);
	if (!entry->category)
		entry->category = full;
	return ky_type_custom_claim(ky_type_custom_first(str(plugin), str(desc->name)),
				    full, &entry->activity_type);
}

static int32_t describe_type(const struct kymo_source_host *host,
			     const struct kymo_type_desc *desc,
			     struct ky_type_entry *entry)
{
	uint32_t number;

	*entry = (struct ky_type_entry){
		.source = host->number,
		.name = ky_dictionary_text(desc->name),
		.category = ky_dictionary_text(desc->category),
		.shapes = desc->shapes,
		.side = desc->side,
		.flags = desc->flags,
	};
	if (entry->name == KY_STRING_NOT_KEPT)
		return KYMO_ERROR_NO_MEMORY;
	if (ky_type_static_number(str(desc->name), &number) != KYMO_OK)
		return describe_custom(host, desc, entry);
	entry->activity_type = number;
	if (!entry->category)
		entry->category = ky_dictionary_text(ky_type_static_name(number));
	return KYMO_OK;
}

static int differ(uint32_t known, uint32_t said)
{
	return said != 0 && said != known;
}

/* The type of that name if it is registered; INVALID if it was described otherwise. */
static int32_t find_type(struct kymo_source_host *host, const struct kymo_type_desc *desc,
			 const struct ky_type_entry *entry, uint16_t *out)
{
	for (uint32_t i = 0; i < host->type_count; i++) {
		const struct ky_type_entry *known = &host->type_entries[i];

		if (known->name != entry->name)
			continue;
		if (differ(known->shapes, entry->shapes) ||
		    differ(known->side, entry->side) ||
		    differ(known->flags, entry->flags) ||
		    (desc->category && known->category != entry->category))
			return KYMO_ERROR_INVALID;
		*out = host->types[i];
		return KYMO_OK;
	}
	return KYMO_ERROR_NOT_FOUND;
}

static int32_t add_type(struct kymo_source_host *host, const struct ky_type_entry *entry,
			uint16_t *out)
{
	int32_t status;

	/* What is recorded was agreed on when the session was prepared. */
	if (host->is_frozen)
		return KYMO_ERROR_STATE;
	if (host->type_count == KY_HOST_TYPES_MAX)
		return KYMO_ERROR_NO_MEMORY;
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
	struct ky_type_entry entry;
	int32_t status;

	*out = 0;
	if (!KYMO_HAS_FIELD(desc, category) || !desc->name || !desc->name[0] ||
	    strlen(desc->name) > 64)
		return KYMO_ERROR_INVALID;
	status = describe_type(host, desc, &entry);
	if (status != KYMO_OK)
		return status;
	ky_lock(lock);
	status = find_type(host, desc, &entry, out);
	if (status == KYMO_ERROR_NOT_FOUND)
		status = add_type(host, &entry, out);
	ky_unlock(lock);
	return status;
}

int32_t ky_host_key(struct kymo_source_host *host, const struct kymo_key_desc *desc,
		    uint16_t *out)
{
	struct ky_key_entry entry = {0};

	(void)host;
	*out = 0;
	if (!KYMO_HAS_FIELD(desc, unit) || !desc->name || !desc->name[0])
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
