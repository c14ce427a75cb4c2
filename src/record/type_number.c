/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/type_number.h"

#include "record/type_list.h"

#define CUSTOM_RANGE ((1u << 31) - KY_TYPE_CUSTOM_BEGIN)

/* FNV-1a of 32 bits. */
#define FNV_BEGIN 2166136261u
#define FNV_PRIME 16777619u

#define KINETO_BEGIN  216512456u
#define KINETO_FACTOR 1234u

/* With a look at the bytes, so that a name is read once. */
static uint32_t hash_name(uint32_t hash, struct kymo_str name, uint32_t *is_good)
{
	for (size_t i = 0; i < name.size; i++) {
		const uint8_t byte = (uint8_t)name.data[i];

		*is_good &= ky_type_letters[byte];
		hash = (hash ^ byte) * FNV_PRIME;
	}
	return hash;
}

uint32_t ky_type_number_first(struct kymo_str plugin, struct kymo_str name)
{
	uint32_t is_good = 1, hash;

	if (plugin.size - 1 >= KY_TYPE_NAME_MAX || name.size - 1 >= KY_TYPE_NAME_MAX)
		return 0;
	hash = hash_name(FNV_BEGIN, plugin, &is_good);
	hash = (hash ^ '.') * FNV_PRIME;
	hash = hash_name(hash, name, &is_good);
	return is_good ? KY_TYPE_CUSTOM_BEGIN + hash % CUSTOM_RANGE : 0;
}

uint32_t ky_type_number_next(uint32_t number)
{
	return number == INT32_MAX ? KY_TYPE_CUSTOM_BEGIN : number + 1;
}

static uint32_t kineto_hash(uint32_t hash, struct kymo_str text)
{
	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ (uint8_t)text.data[i]) * KINETO_FACTOR;
	return hash;
}

uint32_t ky_type_number_kineto(struct kymo_str plugin, struct kymo_str name)
{
	uint32_t hash = kineto_hash(KINETO_BEGIN, plugin);

	hash = kineto_hash(hash, KYMO_STR("."));
	hash = kineto_hash(hash, name);
	return KY_TYPE_STATIC_END + hash % (KY_TYPE_KINETO_END - KY_TYPE_STATIC_END);
}
