/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array that only grows and an index from number to place in it, both reserved at once
 * and touched as far as they are used. There is no index by name: a name's number is its
 * hash, or one of those that follow it in use.
 *
 * The index is a hint. A child that was forked in the middle of an addition finds in it a
 * place that was never counted, and there later another type: neither has the number that
 * is looked for, so the search goes on behind it.
 */
#include "registry/type_table.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/gate_page.h"
#include "base/lock.h"
#include "base/reserve.h"
#include "base/str.h"

#define INDEX_BITS 18u /* twice as many slots as types */
#define INDEX_SIZE (1u << INDEX_BITS)

KYMO_STATIC_ASSERT(KY_TYPES_MAX * 2 == INDEX_SIZE);

struct ky_type_table {
	uint32_t *lock; /* of all that follows */
	uint32_t own_lock;
	uint32_t count;
	ky_type_first_fn first;
	struct ky_type types[KY_TYPES_MAX];
	uint32_t index[INDEX_SIZE]; /* place + 1; 0: free */
};

static struct ky_type_table *process_table; /* set once, by compare-and-swap */

void ky_type_table_destroy(struct ky_type_table *table)
{
	if (table)
		munmap(table, sizeof(*table));
}

struct ky_type_table *ky_type_table_create(ky_type_first_fn first)
{
	/* Not malloc: this may be where an allocator's own points lead to. */
	struct ky_type_table *table = ky_reserve(sizeof(*table), -1);

	if (!table)
		return NULL;
	table->lock = &table->own_lock;
	table->first = first ? first : ky_type_number_first;
	return table;
}

struct ky_type_table *ky_types(void)
{
	struct ky_type_table *table = __atomic_load_n(&process_table, __ATOMIC_ACQUIRE);
	struct ky_type_table *nobody = NULL;

	if (table)
		return table;
	table = ky_type_table_create(NULL);
	if (!table)
		return NULL;
	table->lock = &ky_gate()->type_lock;
	if (__atomic_compare_exchange_n(&process_table, &nobody, table, 0,
					__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return table;
	ky_type_table_destroy(table);
	return nobody;
}

/* The type of that number, or NULL with the free slot in `*slot`. */
static struct ky_type *find_number(struct ky_type_table *table, uint32_t number,
				   uint32_t *slot)
{
	uint32_t at = number * 2654435769u >> (32 - INDEX_BITS);

	for (; table->index[at]; at = (at + 1) % INDEX_SIZE) {
		struct ky_type *type = &table->types[table->index[at] - 1];

		if (table->index[at] <= table->count && type->number == number)
			return type;
	}
	*slot = at;
	return NULL;
}

static int is_named(const struct ky_type *type, struct kymo_str plugin,
		    struct kymo_str name)
{
	return type->plugin_size == plugin.size &&
	       type->full_size == plugin.size + 1 + name.size &&
	       memcmp(type->full_name, plugin.data, plugin.size) == 0 &&
	       memcmp(type->full_name + plugin.size + 1, name.data, name.size) == 0;
}

/* The type of that name, or NULL with what it would have; number 0: it is no name. */
static struct ky_type *find_name(struct ky_type_table *table, struct kymo_str plugin,
				 struct kymo_str name, uint32_t *number, uint32_t *slot)
{
	struct ky_type *type;

	*number = table->first(plugin, name);
	while (*number != 0) {
		type = find_number(table, *number, slot);
		if (!type || is_named(type, plugin, name))
			return type;
		*number = ky_type_number_next(*number);
	}
	return NULL;
}

static struct ky_type *append(struct ky_type_table *table, struct kymo_str plugin,
			      struct kymo_str name, uint32_t number, uint32_t slot)
{
	struct ky_type *type = &table->types[table->count];

	memset(type, 0, sizeof(*type)); /* a child may find a half of one here */
	memcpy(type->full_name, plugin.data, plugin.size);
	type->full_name[plugin.size] = '.';
	memcpy(type->full_name + plugin.size + 1, name.data, name.size);
	type->plugin_size = (uint8_t)plugin.size;
	type->full_size = (uint8_t)(plugin.size + 1 + name.size);
	type->number = number;
	table->index[slot] = table->count + 1;
	/* Last, also for a child that is forked off at this moment. */
	__atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
	return type;
}

static const char *side_text(uint32_t side)
{
	return side == KYMO_SIDE_HOST ? "host" : "accelerator";
}

static int32_t contradict(struct kymo_error *error, const struct ky_type *type,
			  const char *what, const char *before, const char *now)
{
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "the activity type \"%s\" was registered with %s \"%s\", and "
			    "is now with \"%s\"",
			    type->full_name, what, before, now);
}

static int differ(uint32_t known, uint32_t said)
{
	return known != 0 && said != 0 && said != known;
}

static int32_t check_opinion(const struct ky_type *type,
			     const struct ky_type_opinion *opinion,
			     struct kymo_error *error)
{
	const struct kymo_str category = opinion->category;
	char before[16], now[KY_TYPE_NAME_MAX + 1];

	if (differ(type->side, opinion->side))
		return contradict(error, type, "side", side_text(type->side),
				  side_text(opinion->side));
	if (differ(type->shapes, opinion->shapes)) {
		snprintf(before, sizeof(before), "%#x", type->shapes);
		snprintf(now, sizeof(now), "%#x", opinion->shapes);
		return contradict(error, type, "shapes", before, now);
	}
	if (type->category_size == 0 || category.size == 0 ||
	    (type->category_size == category.size &&
	     memcmp(type->category, category.data, category.size) == 0))
		return KYMO_OK;
	snprintf(now, sizeof(now), "%.*s", (int)category.size, category.data);
	return contradict(error, type, "category", type->category, now);
}

static void take_opinion(struct ky_type *type, const struct ky_type_opinion *opinion)
{
	if (opinion->side)
		type->side = opinion->side;
	if (opinion->shapes)
		type->shapes = opinion->shapes;
	type->flags |= opinion->flags;
	if (opinion->category.size == 0 || type->category_size > 0)
		return;
	memcpy(type->category, opinion->category.data, opinion->category.size);
	type->category_size = (uint8_t)opinion->category.size;
}

static int32_t refuse_names(struct kymo_str plugin, struct kymo_str name,
			    struct kymo_error *error)
{
	const struct kymo_str bad = ky_type_name_is_good(plugin) ? name : plugin;

	char quoted[KY_QUOTE_SIZE];

	return ky_error_set(
		error, KYMO_ERROR_INVALID,
		"\"%s\" is no name of %s: 1 to %u letters, digits, _ and - are",
		ky_quote(quoted, bad),
		bad.data == plugin.data ? "a plug-in" : "an activity type",
		KY_TYPE_NAME_MAX);
}

/* Whether there can be such an opinion at all. */
static int32_t check_values(const struct ky_type_opinion *opinion,
			    struct kymo_error *error)
{
	if (opinion->side <= KYMO_SIDE_ACCELERATOR &&
	    !(opinion->shapes & ~KY_TYPE_SHAPES) &&
	    !(opinion->flags & ~KYMO_TYPE_OPT_IN) &&
	    opinion->category.size <= KY_TYPE_NAME_MAX)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "no activity type has side %u, shapes %#x, flags %#x and a "
			    "category of %zu bytes",
			    opinion->side, opinion->shapes, opinion->flags,
			    opinion->category.size);
}

static int has_opinion(const struct ky_type_opinion *opinion)
{
	return opinion->side || opinion->shapes || opinion->flags ||
	       opinion->category.size;
}

int32_t ky_type_agree(struct ky_type *type, const struct ky_type_opinion *opinion,
		      struct kymo_error *error)
{
	int32_t status = check_values(opinion, error);

	if (status == KYMO_OK)
		status = check_opinion(type, opinion, error);
	if (status == KYMO_OK)
		take_opinion(type, opinion);
	return status;
}

/* Locked. */
static int32_t add(struct ky_type_table *table, struct kymo_str plugin,
		   struct kymo_str name, int is_frozen, struct ky_type **type,
		   struct kymo_error *error)
{
	uint32_t number, slot = 0;

	*type = find_name(table, plugin, name, &number, &slot);
	if (*type)
		return KYMO_OK;
	if (number == 0)
		return refuse_names(plugin, name, error);
	if (is_frozen)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "the activity type \"%.*s.%.*s\" is new, and a "
				    "session goes on: register it before, or after",
				    (int)plugin.size, plugin.data, (int)name.size,
				    name.data);
	if (table->count == KY_TYPES_MAX)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no room for the activity type \"%.*s.%.*s\": "
				    "there are %u",
				    (int)plugin.size, plugin.data, (int)name.size,
				    name.data, KY_TYPES_MAX);
	*type = append(table, plugin, name, number, slot);
	return KYMO_OK;
}

int32_t ky_type_table_add(struct ky_type_table *table, struct kymo_str plugin,
			  struct kymo_str name, const struct ky_type_opinion *opinion,
			  int is_frozen, struct ky_type *out, struct kymo_error *error)
{
	struct ky_type *type = NULL;
	/* A bad opinion must not leave a new type behind. */
	int32_t status = check_values(opinion, error);

	if (status != KYMO_OK)
		return status;
	ky_lock(table->lock);
	status = add(table, plugin, name, is_frozen, &type, error);
	if (status == KYMO_OK && has_opinion(opinion))
		status = ky_type_agree(type, opinion, error);
	if (status == KYMO_OK)
		*out = *type;
	ky_unlock(table->lock);
	return status;
}

int32_t ky_type_table_get(struct ky_type_table *table, uint32_t number,
			  struct ky_type *out)
{
	const struct ky_type *type;
	uint32_t slot;

	ky_lock(table->lock);
	type = find_number(table, number, &slot);
	if (type)
		*out = *type;
	ky_unlock(table->lock);
	return type ? KYMO_OK : KYMO_ERROR_NOT_FOUND;
}

int32_t ky_type_table_at(struct ky_type_table *table, uint32_t index, struct ky_type *out)
{
	int is_there;

	ky_lock(table->lock);
	is_there = index < table->count;
	if (is_there)
		*out = table->types[index];
	ky_unlock(table->lock);
	return is_there ? KYMO_OK : KYMO_ERROR_NOT_FOUND;
}

uint32_t ky_type_table_count(const struct ky_type_table *table)
{
	return __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
}
