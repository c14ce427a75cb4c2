/* SPDX-License-Identifier: BSD-3-Clause */
#include "object.h"

#include "chrome.h"

void ky_object_begin_line(struct ky_object *object)
{
	struct ky_json *json = &object->chrome->json;
	const char *blank = object->has_members ? " " : "";

	if (object->has_members)
		KY_JSON_LITERAL(json, ",");
	if (object->indent)
		blank = object->indent;
	ky_json_raw(json, blank, strlen(blank));
	object->has_members = true;
}

void ky_object_begin_member(struct ky_object *object, struct kymo_str key)
{
	struct ky_json *json = &object->chrome->json;

	ky_object_begin_line(object);
	ky_json_string(json, key);
	KY_JSON_LITERAL(json, ": ");
}

void ky_object_add_u64(struct ky_object *object, struct kymo_str key, uint64_t value)
{
	struct ky_json *json = &object->chrome->json;

	ky_object_begin_member(object, key);
	json->at = ky_keys_put_u64(&object->chrome->keys, json->at, key, value);
}

void ky_object_add_i64(struct ky_object *object, struct kymo_str key, int64_t value)
{
	struct ky_json *json = &object->chrome->json;

	ky_object_begin_member(object, key);
	json->at = ky_keys_put_i64(&object->chrome->keys, json->at, key, value);
}

void ky_object_add_text(struct ky_object *object, struct kymo_str key,
			struct kymo_str text)
{
	if (text.size == 0)
		return;
	ky_object_begin_member(object, key);
	ky_json_string(&object->chrome->json, text);
}
