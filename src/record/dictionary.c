/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One region of entries and one table that finds them by content.
 *
 * The region is reserved once, in private memory, and only as much of it is touched as is
 * used. The table has a slot of 32 bits for each entry (its offset divided by 8, 0:
 * free), open addressing, and never grows: it is sized for the smallest entries that
 * could fill the region's bound. An entry is written whole before the tail is moved past
 * it, here and in the mirror, so that whoever reads up to the tail reads whole entries,
 * at any moment the process may die.
 */
#include "record/dictionary.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/crc32c.h"
#include "base/gate_page.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/reserve.h"

#define REGION_SIZE ((size_t)64 << 20)
#define TABLE_SLOTS ((size_t)1 << 22) /* more than REGION_SIZE / 24, the least entry */
#define HANDLE_MAX  0xffffu           /* types, domains, keys, link kinds are 16 bits */

struct mirror {
	uint8_t *region;
	size_t size, used;
	uint64_t *tail, *not_kept;
	uint32_t count[KY_ENTRY_KINDS]; /* of the kinds that stand here only */
};

static struct {
	uint8_t *region;
	uint32_t *table;
	size_t tail;
	uint32_t count[KY_ENTRY_KINDS]; /* the highest number of each kind */
	struct mirror mirror;
} dictionary;

/*
 * Set around the lock, so a handler never waits for its own thread. Not on the wiped
 * page: a child that a handler forks off goes on in the middle of what it interrupted.
 */
static __thread int is_entered __attribute__((tls_model("initial-exec")));

/* By type: its source's number, or 0; those that do not fit are of no use to anybody. */
static uint16_t type_sources[HANDLE_MAX + 1];

uint16_t ky_dictionary_key_types[HANDLE_MAX + 1];

static void enter(void)
{
	is_entered = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ky_lock(&ky_gate()->dictionary_lock);
}

static void leave(void)
{
	ky_unlock(&ky_gate()->dictionary_lock);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	is_entered = 0;
}

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static size_t slot_of(uint16_t kind, const void *payload, size_t size)
{
	return (size_t)ky_hash(payload, size, kind) & (TABLE_SLOTS - 1);
}

static const struct ky_dictionary_entry *entry_at(size_t offset)
{
	return (const void *)(dictionary.region + offset);
}

static uint32_t entry_crc(const struct ky_dictionary_entry *entry, const void *payload)
{
	uint32_t crc = ky_crc32c(0, entry, offsetof(struct ky_dictionary_entry, crc32c));

	return ky_crc32c(crc, payload, entry->size);
}

static void table_insert(size_t offset)
{
	const struct ky_dictionary_entry *entry = entry_at(offset);
	size_t slot = slot_of(entry->kind, entry + 1, entry->size);

	while (dictionary.table[slot])
		slot = (slot + 1) & (TABLE_SLOTS - 1);
	/* Offset 0 is the first entry: one is added, so that 0 means free. */
	dictionary.table[slot] = (uint32_t)(offset / 8) + 1;
}

static const struct ky_dictionary_entry *table_find(uint16_t kind, const void *payload,
						    size_t size)
{
	size_t slot = slot_of(kind, payload, size);

	for (; dictionary.table[slot]; slot = (slot + 1) & (TABLE_SLOTS - 1)) {
		const struct ky_dictionary_entry *entry =
			entry_at(((size_t)dictionary.table[slot] - 1) * 8);

		if (entry->kind == kind && entry->size == size &&
		    memcmp(entry + 1, payload, size) == 0)
			return entry;
	}
	return NULL;
}

static uint32_t highest_number(uint16_t kind)
{
	switch (kind) {
	case KY_ENTRY_TYPE:
	case KY_ENTRY_KEY:
	case KY_ENTRY_DOMAIN:
	case KY_ENTRY_LINK_KIND:
		return HANDLE_MAX;
	default:
		return UINT32_MAX;
	}
}

/* What happened in one session: not for the next one's capture. */
static int is_of_session(uint16_t kind)
{
	return kind == KY_ENTRY_METADATA || kind == KY_ENTRY_STATE;
}

static size_t whole_size(size_t size)
{
	return sizeof(struct ky_dictionary_entry) + padded(size);
}

static int mirror_has_room(size_t whole)
{
	return dictionary.mirror.used + whole <= dictionary.mirror.size;
}

static void write_entry(uint8_t *at, uint16_t kind, uint32_t id, const void *payload,
			size_t size)
{
	struct ky_dictionary_entry entry = {
		.size = (uint32_t)size,
		.kind = kind,
		.id = id,
	};

	entry.crc32c = entry_crc(&entry, payload);
	memset(at, 0, whole_size(size)); /* a child may find a half-written entry here */
	memcpy(at, &entry, sizeof(entry));
	memcpy(at + sizeof(entry), payload, size);
}

static void write_mirror(uint16_t kind, uint32_t id, const void *payload, size_t size)
{
	struct mirror *mirror = &dictionary.mirror;

	write_entry(mirror->region + mirror->used, kind, id, payload, size);
	mirror->used += whole_size(size);
	/* Pairs with the acquire load of whoever reads the mirror. */
	__atomic_store_n(mirror->tail, mirror->used, __ATOMIC_RELEASE);
}

static void note_source(uint32_t id, const struct ky_type_entry *type)
{
	if (type->source <= UINT16_MAX)
		__atomic_store_n(&type_sources[id], (uint16_t)type->source,
				 __ATOMIC_RELAXED);
}

static void note_type(uint32_t id, const struct ky_key_entry *key)
{
	__atomic_store_n(&ky_dictionary_key_types[id], (uint16_t)key->value_type,
			 __ATOMIC_RELAXED);
}

static int32_t append_of_session(uint16_t kind, const void *payload, size_t size,
				 uint32_t *id)
{
	if (!dictionary.mirror.region)
		return KYMO_ERROR_STATE;
	if (!mirror_has_room(whole_size(size)))
		return KYMO_ERROR_NO_MEMORY;
	*id = ++dictionary.mirror.count[kind];
	write_mirror(kind, *id, payload, size);
	return KYMO_OK;
}

static int32_t append(uint16_t kind, const void *payload, size_t size, uint32_t *id)
{
	const size_t whole = whole_size(size);

	if (dictionary.tail + whole > REGION_SIZE ||
	    dictionary.count[kind] >= highest_number(kind) ||
	    (dictionary.mirror.region && !mirror_has_room(whole)))
		return KYMO_ERROR_NO_MEMORY;
	*id = dictionary.count[kind] + 1;
	write_entry(dictionary.region + dictionary.tail, kind, *id, payload, size);
	table_insert(dictionary.tail);
	dictionary.count[kind]++;
	if (kind == KY_ENTRY_TYPE && size >= sizeof(struct ky_type_entry))
		note_source(*id, payload);
	if (kind == KY_ENTRY_KEY && size >= sizeof(struct ky_key_entry))
		note_type(*id, payload);
	/* Last, also for a child that is forked off at this moment. */
	__atomic_store_n(&dictionary.tail, dictionary.tail + whole, __ATOMIC_RELEASE);
	if (dictionary.mirror.region)
		write_mirror(kind, *id, payload, size);
	return KYMO_OK;
}

/*
 * The first use after a fork, known by the wiped page: the index may be torn, since
 * another thread may have been at it, and the mirror is the parent's.
 */
static void adopt(void)
{
	struct ky_gate_page *page = ky_gate();
	size_t offset = 0;

	if (page->dictionary_adopted)
		return;
	page->dictionary_adopted = 1;

	dictionary.mirror = (struct mirror){0};
	if (!dictionary.region)
		return;
	memset(dictionary.count, 0, sizeof(dictionary.count));
	/* Zeros again, without touching what was never used. */
	madvise(dictionary.table, TABLE_SLOTS * sizeof(uint32_t), MADV_DONTNEED);
	while (offset < dictionary.tail) {
		const struct ky_dictionary_entry *entry = entry_at(offset);

		table_insert(offset);
		dictionary.count[entry->kind] = entry->id;
		offset += sizeof(*entry) + padded(entry->size);
	}
}

/* Reserves region and table at the first use; string 1 is there from the beginning. */
static int32_t ensure_region(void)
{
	const size_t table_size = TABLE_SLOTS * sizeof(uint32_t);
	uint32_t id;
	void *memory;

	if (dictionary.region)
		return KYMO_OK;
	memory = ky_reserve(REGION_SIZE + table_size, -1);
	if (!memory)
		return KYMO_ERROR_NO_MEMORY;
	dictionary.table = (uint32_t *)(void *)((uint8_t *)memory + REGION_SIZE);
	dictionary.region = memory;
	return append(KY_ENTRY_STRING, KY_STRING_NOT_KEPT_TEXT,
		      sizeof(KY_STRING_NOT_KEPT_TEXT) - 1, &id);
}

int32_t ky_dictionary_intern(uint16_t kind, const void *payload, size_t size,
			     uint32_t *id)
{
	const struct ky_dictionary_entry *entry;
	int kept = errno;
	int32_t status = KYMO_OK;

	*id = 0;
	if (kind == 0 || kind >= KY_ENTRY_KINDS || size > REGION_SIZE)
		return KYMO_ERROR_INVALID;
	if (is_entered)
		return KYMO_ERROR_BUSY;
	enter();
	adopt();
	status = ensure_region();
	if (status == KYMO_OK && is_of_session(kind)) {
		status = append_of_session(kind, payload, size, id);
	} else if (status == KYMO_OK) {
		entry = table_find(kind, payload, size);
		if (entry)
			*id = entry->id;
		else
			status = append(kind, payload, size, id);
	}
	leave();
	errno = kept;
	return status;
}

int ky_dictionary_is_entered(void)
{
	return is_entered;
}

uint32_t ky_dictionary_source_of(uint16_t type)
{
	return __atomic_load_n(&type_sources[type], __ATOMIC_RELAXED);
}

/* Looks at every entry, so only for what goes wrong. The dictionary is entered. */
static const struct ky_dictionary_entry *find_number(uint16_t kind, uint32_t id)
{
	const struct ky_dictionary_entry *entry;

	for (size_t offset = 0; offset < dictionary.tail;
	     offset += whole_size(entry->size)) {
		entry = entry_at(offset);
		if (entry->kind == kind && entry->id == id)
			return entry;
	}
	return NULL;
}

struct kymo_str ky_dictionary_key_name(uint16_t key)
{
	const struct ky_dictionary_entry *entry, *name = NULL;
	struct kymo_str out = {0};

	if (is_entered)
		return out;
	enter();
	adopt();
	entry = find_number(KY_ENTRY_KEY, key);
	if (entry && entry->size >= sizeof(struct ky_key_entry))
		name = find_number(KY_ENTRY_STRING,
				   ((const struct ky_key_entry *)(entry + 1))->name);
	if (name)
		out = (struct kymo_str){(const char *)(name + 1), name->size};
	leave();
	return out;
}

uint32_t ky_dictionary_string(struct kymo_str text)
{
	uint64_t *not_kept;
	int32_t status;
	uint32_t id;

	if (!text.data)
		return 0;
	status = ky_dictionary_intern(KY_ENTRY_STRING, text.data, text.size, &id);
	if (status == KYMO_OK)
		return id;
	not_kept = __atomic_load_n(&dictionary.mirror.not_kept, __ATOMIC_RELAXED);
	if (not_kept)
		__atomic_fetch_add(not_kept, 1, __ATOMIC_RELAXED);
	/* Later there may be room for it: whoever keeps the number must ask again. */
	return status == KYMO_ERROR_BUSY ? 0 : KY_STRING_NOT_KEPT;
}

uint32_t ky_dictionary_text(const char *text)
{
	return ky_dictionary_string((struct kymo_str){text, text ? strlen(text) : 0});
}

int32_t ky_dictionary_mirror(void *region, size_t size, uint64_t *tail,
			     uint64_t *not_kept)
{
	int32_t status;

	if (is_entered)
		return KYMO_ERROR_BUSY;
	enter();
	adopt();
	status = ensure_region();
	if (status == KYMO_OK && region && dictionary.tail > size)
		status = KYMO_ERROR_NO_MEMORY;
	if (status == KYMO_OK) {
		dictionary.mirror = (struct mirror){
			.region = region,
			.size = size,
			.used = dictionary.tail,
			.tail = tail,
			.not_kept = not_kept,
		};
		if (region) {
			memcpy(region, dictionary.region, dictionary.tail);
			__atomic_store_n(tail, dictionary.tail, __ATOMIC_RELEASE);
		}
	}
	leave();
	return status;
}

void ky_dictionary_recover(void)
{
	enter();
	adopt();
	leave();
}

size_t ky_dictionary_size(void)
{
	return dictionary.tail;
}
