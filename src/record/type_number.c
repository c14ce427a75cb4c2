/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/type_number.h"

#include "base/hash.h"

#define CUSTOM_RANGE ((1u << 31) - KY_TYPE_CUSTOM_BEGIN)

#define KINETO_BEGIN  216512456u
#define KINETO_FACTOR 1234u

uint32_t ky_type_number_first(struct kymo_str plugin, struct kymo_str name)
{
	uint32_t hash = ky_fnv1a(KY_FNV1A_BEGIN, plugin.data, plugin.size);

	hash = ky_fnv1a(hash, ".", 1);
	hash = ky_fnv1a(hash, name.data, name.size);
	return KY_TYPE_CUSTOM_BEGIN + hash % CUSTOM_RANGE;
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
