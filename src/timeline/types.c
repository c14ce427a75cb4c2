/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's sources, types, keys, domains and link kinds. */
#include "timeline/model.h"

#include <string.h>

#include "record/type_number.h"

static struct kymo_str text_of(const struct ky_model_capture *capture, uint32_t id)
{
	return ky_catalog_string(capture->catalog, id);
}

/* Zeroed, with room for item 0; `count` gets the number of items. */
static void *make_table(struct ky_model *model, const struct ky_model_capture *capture,
			uint16_t kind, size_t item_size, uint32_t *count)
{
	*count = ky_catalog_count(capture->catalog, kind) + 1;
	return ky_arena_take_zeroed(&model->arena, *count * item_size);
}

static struct ky_model_source *
add_source(struct ky_model *model, struct ky_model_capture *capture, struct kymo_str name)
{
	uint64_t key[] = {'S', capture->process->index, ky_model_text(model, name)};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));
	struct ky_model_source *source;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	source = ky_arena_take_zeroed(&model->arena, sizeof(*source));
	if (!source || ky_list_add(&model->sources, source) != KYMO_OK)
		return NULL;
	source->trace.struct_size = sizeof(source->trace);
	source->trace.process = capture->process;
	source->trace.name = name;
	*slot = source;
	return source;
}

static int32_t add_sources(struct ky_model *model, struct ky_model_capture *capture)
{
	capture->sources =
		make_table(model, capture, KY_ENTRY_SOURCE,
			   sizeof(struct ky_model_source *), &capture->source_count);
	if (!capture->sources)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 1; id < capture->source_count; id++) {
		const struct ky_source_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_SOURCE, id, sizeof(*entry), NULL);

		if (!entry)
			continue;
		capture->sources[id] =
			add_source(model, capture, text_of(capture, entry->name));
		if (!capture->sources[id])
			return KYMO_ERROR_NO_MEMORY;
	}
	return KYMO_OK;
}

static int has_source(const struct ky_model *model, struct kymo_str name)
{
	for (size_t i = 0; i < model->sources.count; i++) {
		const struct ky_model_source *source = model->sources.items[i];

		if (source->trace.name.size == name.size &&
		    memcmp(source->trace.name.data, name.data, name.size) == 0)
			return 1;
	}
	return 0;
}

static int32_t add_absent(struct ky_model *model, struct kymo_str name)
{
	struct ky_model_source *source =
		ky_arena_take_zeroed(&model->arena, sizeof(*source));

	if (!source || ky_list_add(&model->sources, source) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	source->trace.struct_size = sizeof(source->trace);
	source->trace.name = name;
	source->trace.state = KYMO_STATE_ABSENT;
	source->trace.reason = KYMO_STR("never loaded by the program");
	source->state_capture = KY_STATE_BY_RECORDER;
	return KYMO_OK;
}

int32_t ky_model_add_absent(struct ky_model *model, const struct ky_reader *reader)
{
	struct kymo_str names = ky_reader_sources(reader);

	while (names.size > 0) {
		const char *comma = memchr(names.data, ',', names.size);
		struct kymo_str name = {names.data, comma ? (size_t)(comma - names.data)
							  : names.size};
		size_t whole = name.size + (comma ? 1 : 0);

		if (name.size > 0 && !has_source(model, name) &&
		    add_absent(model, name) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
		names.data += whole;
		names.size -= whole;
	}
	return KYMO_OK;
}

static struct ky_model_source *source_of(const struct ky_model_capture *capture,
					 uint32_t id)
{
	return id < capture->source_count ? capture->sources[id] : NULL;
}

static struct kymo_str full_name(struct ky_model *model, struct kymo_str plugin,
				 struct kymo_str name)
{
	if (plugin.size == 0 || plugin.size > INT32_MAX || name.size > INT32_MAX)
		return name;
	return ky_arena_format(&model->arena, "%.*s.%.*s", (int)plugin.size, plugin.data,
			       (int)name.size, name.data);
}

static struct kymo_trace_type *make_type(struct ky_model *model, struct kymo_str source,
					 struct kymo_str name, struct kymo_str category)
{
	struct kymo_trace_type *type = ky_arena_take_zeroed(&model->arena, sizeof(*type));

	if (!type || !category.data)
		return NULL;
	type->struct_size = sizeof(*type);
	type->source = source;
	type->name = type->full_name = name;
	type->category = category;
	return ky_list_add(&model->types, type) == KYMO_OK ? type : NULL;
}

/* Number 0 is a type's, and that of what has none. */
static int is_static(const struct ky_type_entry *entry, struct kymo_str name)
{
	if (entry->activity_type == 0)
		return name.size == 6 && memcmp(name.data, "cpu_op", 6) == 0;
	return entry->activity_type < KY_TYPE_STATIC_END;
}

/* What is told again adds what was not said before. */
static void take_attributes(struct kymo_trace_type *type,
			    const struct ky_type_entry *entry)
{
	if (type->shapes == 0)
		type->shapes = entry->shapes;
	if (type->side == 0)
		type->side = entry->side;
	type->flags |= entry->flags;
}

static const struct kymo_trace_type *add_type(struct ky_model *model,
					      const struct ky_model_capture *capture,
					      const struct ky_type_entry *entry)
{
	const struct ky_model_source *source = source_of(capture, entry->source);
	struct kymo_str source_name = source ? source->trace.name : KYMO_STR("");
	struct kymo_str name = text_of(capture, entry->name);
	struct kymo_str plugin = text_of(capture, entry->plugin);
	struct kymo_str category = text_of(capture, entry->category);
	uint64_t key[] = {'T',
			  ky_model_text(model, source_name),
			  ky_model_text(model, plugin),
			  ky_model_text(model, name),
			  ky_model_text(model, category),
			  entry->activity_type};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));
	struct kymo_trace_type *type;
	struct kymo_str full;

	if (!slot)
		return NULL;
	type = *slot;
	if (type) {
		take_attributes(type, entry);
		return type;
	}
	/* As its number, never as another type. */
	if (!name.data)
		name = ky_arena_format(&model->arena, "activity type %u",
				       entry->activity_type);
	full = is_static(entry, name) ? name : full_name(model, plugin, name);
	type = make_type(model, source_name, name, category.data ? category : full);
	if (!type)
		return NULL;
	type->activity_type = entry->activity_type;
	type->is_static = (uint32_t)is_static(entry, name);
	type->plugin = plugin;
	type->full_name = full;
	type->kineto_id = type->is_static ? entry->activity_type
					  : ky_type_number_kineto(plugin, name);
	take_attributes(type, entry);
	*slot = type;
	return type;
}

static struct kymo_trace_type *add_projected(struct ky_model *model,
					     const struct kymo_trace_type *annotation)
{
	uint64_t key[] = {'P', ky_model_text(model, annotation->source)};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));
	struct kymo_trace_type *type;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	type = make_type(model, annotation->source, KYMO_STR("gpu_user_annotation"),
			 KYMO_STR("gpu_user_annotation"));
	if (!type)
		return NULL;
	type->activity_type = type->kineto_id = KY_TYPE_PROJECTED_ANNOTATION;
	type->shapes = KYMO_SHAPE_SPAN;
	type->side = KYMO_SIDE_ACCELERATOR;
	type->is_static = 1;
	*slot = type;
	return type;
}

int32_t ky_model_add_projected(struct ky_model *model)
{
	for (size_t i = 0; i < model->capture_count; i++) {
		const struct ky_model_capture *capture = &model->captures[i];

		for (uint32_t id = 0; id < capture->type_count; id++) {
			struct ky_capture_type *type = &capture->types[id];

			if (!type->type->is_static ||
			    type->type->activity_type != KY_TYPE_ANNOTATION)
				continue;
			type->projected = add_projected(model, type->type);
			if (!type->projected)
				return KYMO_ERROR_NO_MEMORY;
		}
	}
	return KYMO_OK;
}

/* For records whose type is 0 or not in the catalogue; shown only if there are any. */
static int32_t add_unknown_type(struct ky_model *model)
{
	if (!model->unknown_type)
		model->unknown_type =
			make_type(model, KYMO_STR(""), KYMO_STR("(unknown type)"),
				  KYMO_STR("(unknown type)"));
	return model->unknown_type ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
}

static int32_t add_type_table(struct ky_model *model, struct ky_model_capture *capture)
{
	capture->types = make_table(model, capture, KY_ENTRY_TYPE,
				    sizeof(*capture->types), &capture->type_count);
	if (!capture->types || add_unknown_type(model) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	capture->types[0].type = model->unknown_type;
	for (uint32_t id = 1; id < capture->type_count; id++) {
		const struct ky_type_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_TYPE, id, sizeof(*entry), NULL);

		capture->types[id].type =
			entry ? add_type(model, capture, entry) : model->unknown_type;
		if (!capture->types[id].type)
			return KYMO_ERROR_NO_MEMORY;
		if (entry)
			capture->types[id].source = source_of(capture, entry->source);
	}
	return KYMO_OK;
}

static int32_t add_keys(struct ky_model *model, struct ky_model_capture *capture)
{
	capture->keys = make_table(model, capture, KY_ENTRY_KEY, sizeof(*capture->keys),
				   &capture->key_count);
	if (!capture->keys)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 1; id < capture->key_count; id++) {
		const struct ky_key_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_KEY, id, sizeof(*entry), NULL);
		struct ky_capture_key *key = &capture->keys[id];

		if (!entry)
			continue;
		key->name = text_of(capture, entry->name);
		key->unit = text_of(capture, entry->unit);
		key->type = entry->value_type;
		key->reference = ky_known_key_reference(key->name);
		if (key->reference == KY_REFERENCE_CORRELATION)
			capture->has_references = 1;
	}
	return KYMO_OK;
}

/*
 * The number of the model's thing named `name`, made in `list` if need be; 0: no memory.
 */
static uint32_t add_named(struct ky_model *model, struct ky_list *list,
			  const uint64_t *key, size_t key_size, struct kymo_str name)
{
	void **slot = ky_index_slot(&model->things, key, key_size);
	struct kymo_str *named;

	if (!slot)
		return 0;
	if (!*slot) {
		named = ky_arena_take(&model->arena, sizeof(*named));
		if (!named || ky_list_add(list, named) != KYMO_OK)
			return 0;
		*named = name;
		*slot = (void *)(uintptr_t)list->count;
	}
	return (uint32_t)(uintptr_t)*slot;
}

static int32_t add_domains(struct ky_model *model, struct ky_model_capture *capture)
{
	capture->domains = make_table(model, capture, KY_ENTRY_DOMAIN,
				      sizeof(*capture->domains), &capture->domain_count);
	if (!capture->domains)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 1; id < capture->domain_count; id++) {
		const struct ky_domain_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_DOMAIN, id, sizeof(*entry), NULL);
		const struct ky_model_source *source;
		struct kymo_str name;

		if (!entry)
			continue;
		name = text_of(capture, entry->name);
		source = source_of(capture, entry->source);
		/* Values are equal only where the domain says that they are. */
		uint64_t key[] = {'D', entry->scope, ky_model_text(model, name),
				  entry->scope == KYMO_DOMAIN_GLOBAL
					  ? UINT64_MAX
					  : capture->process->index,
				  entry->scope != KYMO_DOMAIN_SOURCE || !source
					  ? UINT64_MAX
					  : ky_model_text(model, source->trace.name)};

		capture->domains[id] =
			add_named(model, &model->domains, key, sizeof(key), name);
		if (capture->domains[id] == 0)
			return KYMO_ERROR_NO_MEMORY;
	}
	return KYMO_OK;
}

static uint32_t add_arrow_name(struct ky_model *model, struct kymo_str name)
{
	uint64_t key[] = {'A', ky_model_text(model, name)};

	return add_named(model, &model->arrow_names, key, sizeof(key), name);
}

static int32_t add_link_kinds(struct ky_model *model, struct ky_model_capture *capture)
{
	/* The first two, in this order: KY_ARROW_*. */
	if (add_arrow_name(model, KYMO_STR("ac2g")) == 0 ||
	    add_arrow_name(model, KYMO_STR("launch")) == 0)
		return KYMO_ERROR_NO_MEMORY;
	capture->link_kinds =
		make_table(model, capture, KY_ENTRY_LINK_KIND,
			   sizeof(*capture->link_kinds), &capture->link_kind_count);
	if (!capture->link_kinds)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 0; id < capture->link_kind_count; id++) {
		const struct ky_link_kind_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_LINK_KIND, id, sizeof(*entry), NULL);
		struct kymo_str name = {NULL, 0};
		uint32_t number;

		if (entry)
			name = text_of(capture, entry->name);
		if (!name.data)
			name = KYMO_STR("(unknown link kind)");
		number = add_arrow_name(model, name);
		if (number == 0)
			return KYMO_ERROR_NO_MEMORY;
		capture->link_kinds[id] = number - 1;
	}
	return KYMO_OK;
}

int32_t ky_model_add_types(struct ky_model *model, struct ky_model_capture *capture)
{
	if (add_sources(model, capture) != KYMO_OK ||
	    add_type_table(model, capture) != KYMO_OK ||
	    add_keys(model, capture) != KYMO_OK ||
	    add_domains(model, capture) != KYMO_OK ||
	    add_link_kinds(model, capture) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	return KYMO_OK;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static void add_counts(struct kymo_trace_source *source,
		       const struct ky_source_counts *counts)
{
	for (uint32_t reason = 1; reason < KY_LOST_REASONS; reason++)
		source->lost = add_up(source->lost, counts->lost[reason]);
	source->late = add_up(source->late, counts->lost[KYMO_LOST_LATE]);
	source->overwritten = add_up(source->overwritten, counts->overwritten);
	source->filtered = add_up(source->filtered, counts->lost[KY_LOST_FILTERED]);
	source->invalid = add_up(source->invalid, counts->invalid);
}

void ky_model_add_states(struct ky_model_capture *capture, uint64_t number)
{
	uint32_t states = ky_catalog_count(capture->catalog, KY_ENTRY_STATE);

	for (uint32_t id = 1; id <= states; id++) {
		const struct ky_state_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_STATE, id, sizeof(*entry), NULL);
		struct ky_model_source *source =
			entry ? source_of(capture, entry->source) : NULL;

		if (!source)
			continue;
		source->state_capture = number + 1;
		source->trace.state = entry->state;
		source->trace.reason = text_of(capture, entry->reason);
		source->trace.remedy = text_of(capture, entry->remedy);
	}
	for (size_t i = 0; i < capture->capture->source_count; i++) {
		const struct ky_source_counts *counts = &capture->capture->sources[i];
		struct ky_model_source *source = source_of(capture, (uint32_t)i);

		if (source)
			add_counts(&source->trace, counts);
	}
}
