/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the document. `metadata` is the one key that Perfetto keeps, as flat texts
 * and numbers, so the short truth stands there; `kymo` has all of it.
 */
#include "chrome.h"

/* An object being written: where its members go and how they are indented. */
struct object {
	struct ky_chrome *chrome;
	const char *indent; /* line feed and blanks; NULL: all on one line */
	bool has_members;
};

static void begin_line(struct object *object)
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

static void begin_member(struct object *object, struct kymo_str key)
{
	struct ky_json *json = &object->chrome->json;

	begin_line(object);
	ky_json_string(json, key);
	KY_JSON_LITERAL(json, ": ");
}

static void add_u64(struct object *object, struct kymo_str key, uint64_t value)
{
	struct ky_json *json = &object->chrome->json;

	begin_member(object, key);
	json->at = ky_keys_put_u64(&object->chrome->keys, json, json->at, key, value);
}

static void add_i64(struct object *object, struct kymo_str key, int64_t value)
{
	struct ky_json *json = &object->chrome->json;

	begin_member(object, key);
	json->at = ky_keys_put_i64(&object->chrome->keys, json, json->at, key, value);
}

static void add_text(struct object *object, struct kymo_str key, struct kymo_str text)
{
	if (text.size == 0)
		return;
	begin_member(object, key);
	ky_json_string(&object->chrome->json, text);
}

static struct kymo_str text_of(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

/* ---- Names of numbers ---- */

static struct kymo_str state_name(uint32_t state)
{
	static const char *const names[] = {
		[KYMO_STATE_ABSENT] = "absent", [KYMO_STATE_READY] = "ready",
		[KYMO_STATE_PARTLY] = "partly", [KYMO_STATE_RECORDING] = "recording",
		[KYMO_STATE_BUSY] = "busy",     [KYMO_STATE_DENIED] = "denied",
		[KYMO_STATE_FAILED] = "failed",
	};

	return text_of(state < sizeof(names) / sizeof(names[0]) ? names[state]
								: "unknown");
}

static struct kymo_str clock_kind_name(uint32_t kind)
{
	switch (kind) {
	case KYMO_CLOCK_COUNTER:
		return KYMO_STR("counter");
	case KYMO_CLOCK_MONOTONIC:
		return KYMO_STR("monotonic");
	case KYMO_CLOCK_REALTIME:
		return KYMO_STR("realtime");
	default:
		return KYMO_STR("unknown");
	}
}

/* ---- The ledger ---- */

#define LEDGER_FIELD(field)                                       \
	{                                                         \
#field, offsetof(struct kymo_trace_ledger, field) \
	}

static const struct {
	const char *name;
	size_t offset;
} ledger_fields[] = {
	LEDGER_FIELD(offered),
	LEDGER_FIELD(filtered),
	LEDGER_FIELD(accepted),
	LEDGER_FIELD(written),
	LEDGER_FIELD(full),
	LEDGER_FIELD(too_big),
	LEDGER_FIELD(nested),
	LEDGER_FIELD(overwritten),
	LEDGER_FIELD(late),
	LEDGER_FIELD(out_of_window),
	LEDGER_FIELD(cut),
	LEDGER_FIELD(source_exact),
	LEDGER_FIELD(source_at_least),
	LEDGER_FIELD(untimed),
	LEDGER_FIELD(unfinished),
	LEDGER_FIELD(names_not_kept),
	LEDGER_FIELD(arrows),
	LEDGER_FIELD(arrows_backward),
	LEDGER_FIELD(arrows_no_launch),
	LEDGER_FIELD(arrows_untimed),
	LEDGER_FIELD(spans),
	LEDGER_FIELD(instants),
	LEDGER_FIELD(counters),
	LEDGER_FIELD(kernels),
	LEDGER_FIELD(copies),
	LEDGER_FIELD(cold_chunks),
	LEDGER_FIELD(quarantined_chunks),
	LEDGER_FIELD(begins),
	LEDGER_FIELD(cut_captures),
	LEDGER_FIELD(bad_bytes),
	LEDGER_FIELD(launches_without_result),
	LEDGER_FIELD(invalid),
};

#define LEDGER_COUNT (sizeof(ledger_fields) / sizeof(ledger_fields[0]))

/* Those that say that something is missing from the trace. */
static bool is_loss(size_t field)
{
	const size_t offset = ledger_fields[field].offset;

	return (offset >= offsetof(struct kymo_trace_ledger, full) &&
		offset <= offsetof(struct kymo_trace_ledger, source_at_least)) ||
	       offset == offsetof(struct kymo_trace_ledger, invalid);
}

/* Begins and what follows are told only where there are any: few traces have them. */
static bool is_shown(size_t field, uint64_t value)
{
	return value > 0 ||
	       ledger_fields[field].offset < offsetof(struct kymo_trace_ledger, begins);
}

static uint64_t ledger_value(const struct kymo_trace_ledger *ledger, size_t field)
{
	uint64_t value = 0;

	if (ledger_fields[field].offset + sizeof(value) <= ledger->struct_size)
		memcpy(&value, (const char *)ledger + ledger_fields[field].offset,
		       sizeof(value));
	return value;
}

static bool is_incomplete(const struct kymo_trace_ledger *ledger)
{
	return (KYMO_HAS_FIELD(ledger, cut_captures) && ledger->cut_captures > 0) ||
	       (KYMO_HAS_FIELD(ledger, bad_bytes) && ledger->bad_bytes > 0);
}

static const struct kymo_trace_ledger *ledger_of(const struct kymo_trace_end *end)
{
	static const struct kymo_trace_ledger nothing;

	return end->ledger ? end->ledger : &nothing;
}

static uint64_t lost_in_all(const struct kymo_trace_ledger *ledger)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < LEDGER_COUNT; i++)
		lost += is_loss(i) ? ledger_value(ledger, i) : 0;
	return lost;
}

/* ---- The short truth ---- */

static void add_source_line(struct object *object, const struct kymo_trace_source *source)
{
	struct ky_json *json = &object->chrome->json;

	begin_line(object);
	KY_JSON_LITERAL(json, "\"source ");
	ky_json_text(json, source->name);
	if (source->process &&
	    source->process->index < object->chrome->tracks.process_count) {
		KY_JSON_LITERAL(json, " in ");
		ky_json_u64(json,
			    object->chrome->tracks.processes[source->process->index].pid);
	}
	KY_JSON_LITERAL(json, "\": \"");
	ky_json_text(json, state_name(source->state));
	if (source->reason.size > 0) {
		KY_JSON_LITERAL(json, ": ");
		ky_json_text(json, source->reason);
	}
	KY_JSON_LITERAL(json, "\"");
}

static void write_short(struct ky_chrome *chrome, const struct kymo_trace_end *end)
{
	const struct kymo_trace_process *process = ky_head_rank(chrome->header);
	struct object object = {.chrome = chrome, .indent = "\n    "};
	const struct kymo_trace_ledger *ledger = ledger_of(end);
	size_t i;

	KY_JSON_LITERAL(&chrome->json, ",\n  \"metadata\": {");
	add_text(&object, KYMO_STR("kymo version"), KYMO_STR(KYMO_VERSION_STRING));
	add_text(&object, KYMO_STR("command"), chrome->header->command_line);
	if (chrome->header->process_count > 0)
		add_text(&object, KYMO_STR("host"), chrome->header->processes[0]->host);
	if (process)
		add_i64(&object, KYMO_STR("rank"), process->rank);
	add_i64(&object, KYMO_STR("base time (ns)"), chrome->base_epoch_ns);
	add_u64(&object, KYMO_STR("events"), chrome->counts.activities);
	add_u64(&object, KYMO_STR("arrows"), chrome->counts.arrows);
	add_u64(&object, KYMO_STR("lost"), lost_in_all(ledger));
	for (i = 0; i < LEDGER_COUNT; i++) {
		if (is_loss(i) && ledger_value(ledger, i) > 0) {
			begin_member(&object, text_of(ledger_fields[i].name));
			ky_json_u64(&chrome->json, ledger_value(ledger, i));
		}
	}
	if (is_incomplete(ledger))
		add_text(&object, KYMO_STR("incomplete"),
			 KYMO_STR("the capture ends early (recorder killed or file cut): "
				  "what follows is missing"));
	for (i = 0; i < end->source_count; i++)
		add_source_line(&object, end->sources[i]);
	KY_JSON_LITERAL(&chrome->json, "\n  }");
}

/* ---- All of it ---- */

/* Lists of objects, one a line. */
static void begin_list(struct object *object, struct kymo_str key)
{
	begin_member(object, key);
	KY_JSON_LITERAL(&object->chrome->json, "[");
}

static struct object begin_item(struct ky_chrome *chrome, size_t i)
{
	if (i > 0)
		KY_JSON_LITERAL(&chrome->json, ",");
	KY_JSON_LITERAL(&chrome->json, "\n      {");
	return (struct object){.chrome = chrome};
}

static void end_list(struct ky_chrome *chrome, bool has_items)
{
	if (has_items)
		KY_JSON_LITERAL(&chrome->json, "\n    ]");
	else
		KY_JSON_LITERAL(&chrome->json, "]");
}

static void write_processes(struct object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	const struct kymo_trace_header *header = chrome->header;
	uint32_t i;

	begin_list(kymo, KYMO_STR("processes"));
	for (i = 0; i < header->process_count; i++) {
		const struct kymo_trace_process *process = header->processes[i];
		struct object item = begin_item(chrome, i);

		add_u64(&item, KYMO_STR("pid"), process->pid);
		add_u64(&item, KYMO_STR("pid in trace"), chrome->tracks.processes[i].pid);
		add_text(&item, KYMO_STR("name"), process->name);
		add_text(&item, KYMO_STR("exe"), process->exe);
		add_text(&item, KYMO_STR("command line"), process->command_line);
		add_text(&item, KYMO_STR("host"), process->host);
		add_text(&item, KYMO_STR("boot id"), process->boot_id);
		if (process->rank >= 0)
			add_i64(&item, KYMO_STR("rank"), process->rank);
		if (process->world_size >= 0)
			add_i64(&item, KYMO_STR("world size"), process->world_size);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, header->process_count > 0);
}

static void write_sources(struct object *kymo, const struct kymo_trace_end *end)
{
	struct ky_chrome *chrome = kymo->chrome;
	uint32_t i;

	begin_list(kymo, KYMO_STR("sources"));
	for (i = 0; i < end->source_count; i++) {
		const struct kymo_trace_source *source = end->sources[i];
		struct object item = begin_item(chrome, i);

		add_text(&item, KYMO_STR("name"), source->name);
		add_text(&item, KYMO_STR("state"), state_name(source->state));
		if (source->process)
			add_u64(&item, KYMO_STR("process"), source->process->index);
		add_text(&item, KYMO_STR("reason"), source->reason);
		add_text(&item, KYMO_STR("remedy"), source->remedy);
		if (KYMO_HAS_FIELD(source, events))
			add_u64(&item, KYMO_STR("events"), source->events);
		add_u64(&item, KYMO_STR("written"), source->written);
		add_u64(&item, KYMO_STR("lost"), source->lost);
		add_u64(&item, KYMO_STR("late"), source->late);
		add_u64(&item, KYMO_STR("overwritten"), source->overwritten);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, end->source_count > 0);
}

static void write_types(struct object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	const struct kymo_trace_header *header = chrome->header;
	size_t i, written = 0;

	begin_list(kymo, KYMO_STR("activity types"));
	for (i = 0; i < header->type_count; i++) {
		const struct kymo_trace_type *type = header->types[i];
		struct object item;

		if (type->is_static)
			continue;
		item = begin_item(chrome, written++);
		add_u64(&item, KYMO_STR("number"), type->activity_type);
		add_text(&item, KYMO_STR("source"), type->source);
		add_text(&item, KYMO_STR("name"), type->name);
		add_text(&item, KYMO_STR("category"), type->category);
		add_u64(&item, KYMO_STR("shapes"), type->shapes);
		add_u64(&item, KYMO_STR("side"), type->side);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, written > 0);
}

static void write_clocks(struct object *kymo, const struct kymo_trace_end *end)
{
	struct ky_chrome *chrome = kymo->chrome;
	size_t i;

	begin_list(kymo, KYMO_STR("clocks"));
	for (i = 0; i < end->clock_count; i++) {
		const struct kymo_trace_clock *clock = end->clocks[i];
		struct object item = begin_item(chrome, i);

		add_text(&item, KYMO_STR("name"), clock->name);
		add_text(&item, KYMO_STR("kind"), clock_kind_name(clock->kind));
		add_text(&item, KYMO_STR("source"), clock->source);
		if (clock->process)
			add_u64(&item, KYMO_STR("process"), clock->process->index);
		add_u64(&item, KYMO_STR("anchors"), clock->anchor_count);
		add_u64(&item, KYMO_STR("uncertainty (ns)"), clock->uncertainty_ns);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, end->clock_count > 0);
}

static struct object begin_object(struct object *kymo, struct kymo_str key)
{
	begin_member(kymo, key);
	KY_JSON_LITERAL(&kymo->chrome->json, "{");
	return (struct object){.chrome = kymo->chrome, .indent = "\n      "};
}

static void end_object(struct object *object)
{
	if (object->has_members)
		KY_JSON_LITERAL(&object->chrome->json, "\n    }");
	else
		KY_JSON_LITERAL(&object->chrome->json, "}");
}

static void write_ledger(struct object *kymo, const struct kymo_trace_ledger *ledger)
{
	struct object object = begin_object(kymo, KYMO_STR("ledger"));
	size_t i;

	for (i = 0; i < LEDGER_COUNT; i++) {
		uint64_t value = ledger_value(ledger, i);

		if (is_shown(i, value))
			add_u64(&object, text_of(ledger_fields[i].name), value);
	}
	end_object(&object);
}

static struct kymo_str key_text(const struct ky_key *key)
{
	return (struct kymo_str){key->text, key->text_size};
}

static void write_units(struct object *kymo)
{
	const struct ky_keys *keys = &kymo->chrome->keys;
	struct object object = begin_object(kymo, KYMO_STR("units"));
	size_t i;

	for (i = 0; i < keys->count; i++) {
		const struct ky_key *key = &keys->list[i];

		if (key->unit)
			add_text(&object, key_text(key),
				 (struct kymo_str){key->unit, key->unit_size});
	}
	end_object(&object);
}

static void write_big_keys(struct object *kymo)
{
	const struct ky_keys *keys = &kymo->chrome->keys;
	struct ky_json *json = &kymo->chrome->json;
	const char *between = "";
	size_t i;

	begin_member(kymo, KYMO_STR("big number keys"));
	KY_JSON_LITERAL(json, "[");
	for (i = 0; i < keys->count; i++) {
		if (!keys->list[i].is_big)
			continue;
		ky_json_raw(json, between, strlen(between));
		ky_json_string(json, key_text(&keys->list[i]));
		between = ", ";
	}
	KY_JSON_LITERAL(json, "]");
}

/* Last, so that the replacements in all the texts before are counted in it. */
static void write_sink(struct object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	struct object object = begin_object(kymo, KYMO_STR("sink"));

	add_text(&object, KYMO_STR("name"), KYMO_STR("chrome"));
	add_u64(&object, KYMO_STR("events"), chrome->counts.activities);
	add_u64(&object, KYMO_STR("arrows"), chrome->counts.arrows);
	add_u64(&object, KYMO_STR("not drawn"), chrome->counts.not_drawn);
	add_u64(&object, KYMO_STR("counter values not finite"),
		chrome->counts.non_finite);
	add_u64(&object, KYMO_STR("synthetic events"), chrome->counts.synthetic);
	add_u64(&object, KYMO_STR("keys not listed"), chrome->keys.unlisted);
	add_u64(&object, KYMO_STR("invalid utf-8 replaced"), chrome->json.invalid_utf8);
	add_u64(&object, KYMO_STR("nul replaced"), chrome->json.nul);
	end_object(&object);
}

static void write_kymo(struct ky_chrome *chrome, const struct kymo_trace_end *end)
{
	struct object kymo = {.chrome = chrome, .indent = "\n    "};

	KY_JSON_LITERAL(&chrome->json, ",\n  \"kymo\": {");
	add_text(&kymo, KYMO_STR("version"), KYMO_STR(KYMO_VERSION_STRING));
	add_text(&kymo, KYMO_STR("command line"), chrome->header->command_line);
	write_processes(&kymo);
	write_sources(&kymo, end);
	write_types(&kymo);
	write_clocks(&kymo, end);
	write_ledger(&kymo, ledger_of(end));
	write_units(&kymo);
	write_big_keys(&kymo);
	write_sink(&kymo);
	KY_JSON_LITERAL(&chrome->json, "\n  }");
}

/* As libkineto has it, but with numbers for pid and tid. */
static void write_window_end(struct ky_chrome *chrome)
{
	struct ky_json *json = &chrome->json;
	const uint32_t pid =
		chrome->tracks.process_count > 0 ? chrome->tracks.processes[0].pid : 0;
	uint64_t since;
	char *at;

	if (!ky_chrome_time(chrome, chrome->header->last_ns, &since))
		since = 0;
	at = KY_PUT(ky_chrome_begin_event(chrome, 'i'),
		    ",\n    \"cat\": \"Trace\",\n    \"s\": \"g\",\n    "
		    "\"name\": \"Record Window End\",\n    \"pid\": ");
	at = KY_PUT(ky_put_u64(at, pid), ",\n    \"tid\": ");
	at = KY_PUT(ky_put_u64(at, pid), ",\n    \"ts\": ");
	json->at = KY_PUT(ky_put_us(at, since), "\n  }");
}

void ky_tail_write(struct ky_chrome *chrome, const struct kymo_trace_end *end)
{
	write_window_end(chrome);
	KY_JSON_LITERAL(&chrome->json, "\n  ]");
	write_short(chrome, end);
	write_kymo(chrome, end);
	KY_JSON_LITERAL(&chrome->json, ",\n  \"traceName\": ");
	ky_json_raw(&chrome->json, chrome->trace_name, chrome->trace_name_size);
	KY_JSON_LITERAL(&chrome->json, "\n}");
}
