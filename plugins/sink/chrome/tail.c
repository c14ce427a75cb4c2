/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the document. `metadata` is the one key that Perfetto keeps, as flat texts
 * and numbers, so the short truth stands there; `kymo` has all of it.
 */
#include "chrome.h"
#include "ledger.h"
#include "object.h"

#define UNITS_SHOWN 32u /* in `metadata` */

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

static const struct kymo_trace_ledger *ledger_of(const struct kymo_trace_end *end)
{
	static const struct kymo_trace_ledger nothing;

	return end->ledger ? end->ledger : &nothing;
}

/* ---- The short truth ---- */

static void add_source_line(struct ky_object *object,
			    const struct kymo_trace_source *source)
{
	struct ky_json *json = &object->chrome->json;

	ky_object_begin_line(object);
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

static struct kymo_str key_text(const struct ky_key *key)
{
	return (struct kymo_str){key->text, key->text_size};
}

/*
 * `"units": "power W, temperature C"`, of counters, which no reader shows; as many as a
 * person reads, kymo.units having all.
 */
static void add_units(struct ky_object *object)
{
	const struct ky_keys *keys = &object->chrome->keys;
	struct ky_json *json = &object->chrome->json;
	size_t i, count = 0;

	for (i = 0; i < keys->count; i++) {
		const struct ky_key *key = &keys->list[i];

		if (!key->is_series || !key->unit || ++count > UNITS_SHOWN)
			continue;
		if (count == 1)
			ky_object_begin_member(object, KYMO_STR("units"));
		ky_json_raw(json, count == 1 ? "\"" : ", ", count == 1 ? 1 : 2);
		ky_json_text(json, key_text(key));
		KY_JSON_LITERAL(json, " ");
		ky_json_text(json, (struct kymo_str){key->unit, key->unit_size});
	}
	if (count > UNITS_SHOWN)
		KY_JSON_LITERAL(json, ", ...");
	if (count > 0)
		KY_JSON_LITERAL(json, "\"");
}

static void write_short(struct ky_chrome *chrome, const struct kymo_trace_end *end)
{
	const struct kymo_trace_process *process = ky_ranks_one(chrome->header);
	struct ky_object object = {.chrome = chrome, .indent = "\n    "};
	const struct kymo_trace_ledger *ledger = ledger_of(end);
	size_t i;

	KY_JSON_LITERAL(&chrome->json, ",\n  \"metadata\": {");
	ky_object_add_text(&object, KYMO_STR("kymo version"),
			   KYMO_STR(KYMO_VERSION_STRING));
	ky_object_add_text(&object, KYMO_STR("command"), chrome->header->command_line);
	if (chrome->header->process_count > 0)
		ky_object_add_text(&object, KYMO_STR("host"),
				   chrome->header->processes[0]->host);
	if (process)
		ky_object_add_i64(&object, KYMO_STR("rank"), process->rank);
	ky_object_add_i64(&object, KYMO_STR("base time (ns)"), chrome->base_epoch_ns);
	ky_object_add_u64(&object, KYMO_STR("events"), chrome->counts.activities);
	ky_object_add_u64(&object, KYMO_STR("arrows"), chrome->counts.arrows);
	ky_object_add_u64(&object, KYMO_STR("lost"), ky_ledger_lost(ledger));
	ky_ledger_write_losses(&object, ledger);
	if (ky_ledger_is_incomplete(ledger))
		ky_object_add_text(
			&object, KYMO_STR("incomplete"),
			KYMO_STR("the capture ends early (recorder killed or file cut): "
				 "what follows is missing"));
	add_units(&object);
	for (i = 0; i < end->source_count; i++)
		add_source_line(&object, end->sources[i]);
	KY_JSON_LITERAL(&chrome->json, "\n  }");
}

/* ---- All of it ---- */

/* Lists of objects, one a line. */
static void begin_list(struct ky_object *object, struct kymo_str key)
{
	ky_object_begin_member(object, key);
	KY_JSON_LITERAL(&object->chrome->json, "[");
}

static struct ky_object begin_item(struct ky_chrome *chrome, size_t i)
{
	if (i > 0)
		KY_JSON_LITERAL(&chrome->json, ",");
	KY_JSON_LITERAL(&chrome->json, "\n      {");
	return (struct ky_object){.chrome = chrome};
}

static void end_list(struct ky_chrome *chrome, bool has_items)
{
	if (has_items)
		KY_JSON_LITERAL(&chrome->json, "\n    ]");
	else
		KY_JSON_LITERAL(&chrome->json, "]");
}

static void write_processes(struct ky_object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	const struct kymo_trace_header *header = chrome->header;
	uint32_t i;

	begin_list(kymo, KYMO_STR("processes"));
	for (i = 0; i < header->process_count; i++) {
		const struct kymo_trace_process *process = header->processes[i];
		struct ky_object item = begin_item(chrome, i);

		ky_object_add_u64(&item, KYMO_STR("pid"), process->pid);
		ky_object_add_u64(&item, KYMO_STR("pid in trace"),
				  chrome->tracks.processes[i].pid);
		ky_object_add_text(&item, KYMO_STR("name"), process->name);
		ky_object_add_text(&item, KYMO_STR("exe"), process->exe);
		ky_object_add_text(&item, KYMO_STR("command line"),
				   process->command_line);
		ky_object_add_text(&item, KYMO_STR("host"), process->host);
		ky_object_add_text(&item, KYMO_STR("boot id"), process->boot_id);
		if (process->rank >= 0)
			ky_object_add_i64(&item, KYMO_STR("rank"), process->rank);
		if (process->world_size >= 0)
			ky_object_add_i64(&item, KYMO_STR("world size"),
					  process->world_size);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, header->process_count > 0);
}

static void write_sources(struct ky_object *kymo, const struct kymo_trace_end *end)
{
	struct ky_chrome *chrome = kymo->chrome;
	uint32_t i;

	begin_list(kymo, KYMO_STR("sources"));
	for (i = 0; i < end->source_count; i++) {
		const struct kymo_trace_source *source = end->sources[i];
		struct ky_object item = begin_item(chrome, i);

		ky_object_add_text(&item, KYMO_STR("name"), source->name);
		ky_object_add_text(&item, KYMO_STR("state"), state_name(source->state));
		if (source->process)
			ky_object_add_u64(&item, KYMO_STR("process"),
					  source->process->index);
		ky_object_add_text(&item, KYMO_STR("reason"), source->reason);
		ky_object_add_text(&item, KYMO_STR("remedy"), source->remedy);
		if (KYMO_HAS_FIELD(source, events))
			ky_object_add_u64(&item, KYMO_STR("events"), source->events);
		ky_object_add_u64(&item, KYMO_STR("written"), source->written);
		ky_object_add_u64(&item, KYMO_STR("lost"), source->lost);
		ky_object_add_u64(&item, KYMO_STR("late"), source->late);
		ky_object_add_u64(&item, KYMO_STR("overwritten"), source->overwritten);
		if (KYMO_HAS_FIELD(source, invalid)) {
			ky_object_add_u64(&item, KYMO_STR("filtered"), source->filtered);
			ky_object_add_u64(&item, KYMO_STR("invalid"), source->invalid);
		}
		if (KYMO_HAS_FIELD(source, out_of_window))
			ky_object_add_u64(&item, KYMO_STR("out of window"),
					  source->out_of_window);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, end->source_count > 0);
}

/* Who brought it, and its number where there is room for 8 bits. */
static void write_identity(struct ky_object *item, const struct kymo_trace_type *type)
{
	if (!KYMO_HAS_FIELD(type, kineto_id))
		return;
	ky_object_add_text(item, KYMO_STR("plugin"), type->plugin);
	ky_object_add_text(item, KYMO_STR("full name"), type->full_name);
	ky_object_add_u64(item, KYMO_STR("8-bit number"), type->kineto_id);
	ky_object_add_u64(item, KYMO_STR("opt-in"), type->flags & KYMO_TYPE_OPT_IN);
}

static struct kymo_str shape_names(uint32_t shapes)
{
	static const struct kymo_str names[] = {
		{"", 0},
		{"span", 4},
		{"instant", 7},
		{"span, instant", 13},
		{"counter", 7},
		{"span, counter", 13},
		{"instant, counter", 16},
		{"span, instant, counter", 22},
	};

	return names[shapes & 7];
}

static struct kymo_str side_name(uint32_t side)
{
	return side == KYMO_SIDE_HOST          ? KYMO_STR("host")
	       : side == KYMO_SIDE_ACCELERATOR ? KYMO_STR("accelerator")
					       : KYMO_STR("");
}

static void write_types(struct ky_object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	const struct kymo_trace_header *header = chrome->header;
	size_t i, written = 0;

	begin_list(kymo, KYMO_STR("activity types"));
	for (i = 0; i < header->type_count; i++) {
		const struct kymo_trace_type *type = header->types[i];
		struct ky_object item;

		if (type->is_static)
			continue;
		item = begin_item(chrome, written++);
		ky_object_add_u64(&item, KYMO_STR("number"), type->activity_type);
		ky_object_add_text(&item, KYMO_STR("source"), type->source);
		ky_object_add_text(&item, KYMO_STR("name"), type->name);
		ky_object_add_text(&item, KYMO_STR("category"), type->category);
		write_identity(&item, type);
		ky_object_add_text(&item, KYMO_STR("shapes"), shape_names(type->shapes));
		ky_object_add_text(&item, KYMO_STR("side"), side_name(type->side));
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, written > 0);
}

static void write_clocks(struct ky_object *kymo, const struct kymo_trace_end *end)
{
	struct ky_chrome *chrome = kymo->chrome;
	size_t i;

	begin_list(kymo, KYMO_STR("clocks"));
	for (i = 0; i < end->clock_count; i++) {
		const struct kymo_trace_clock *clock = end->clocks[i];
		struct ky_object item = begin_item(chrome, i);

		ky_object_add_text(&item, KYMO_STR("name"), clock->name);
		ky_object_add_text(&item, KYMO_STR("kind"), clock_kind_name(clock->kind));
		ky_object_add_text(&item, KYMO_STR("source"), clock->source);
		if (clock->process)
			ky_object_add_u64(&item, KYMO_STR("process"),
					  clock->process->index);
		ky_object_add_u64(&item, KYMO_STR("anchors"), clock->anchor_count);
		ky_object_add_u64(&item, KYMO_STR("uncertainty (ns)"),
				  clock->uncertainty_ns);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, end->clock_count > 0);
}

static void write_writers(struct ky_object *kymo, const struct kymo_trace_end *end)
{
	const size_t count = KYMO_HAS_FIELD(end, writer_count) ? end->writer_count : 0;
	struct ky_chrome *chrome = kymo->chrome;

	begin_list(kymo, KYMO_STR("writers"));
	for (size_t i = 0; i < count; i++) {
		const struct kymo_trace_writer *writer = end->writers[i];
		struct ky_object item = begin_item(chrome, i);

		if (writer->process)
			ky_object_add_u64(&item, KYMO_STR("process"),
					  writer->process->index);
		ky_object_add_u64(&item, KYMO_STR("tid"), writer->tid);
		ky_object_add_u64(&item, KYMO_STR("accepted"), writer->accepted);
		ky_object_add_u64(&item, KYMO_STR("written"), writer->written);
		ky_object_add_u64(&item, KYMO_STR("full"), writer->full);
		ky_object_add_u64(&item, KYMO_STR("too big"), writer->too_big);
		ky_object_add_u64(&item, KYMO_STR("nested"), writer->nested);
		ky_object_add_u64(&item, KYMO_STR("filtered"), writer->filtered);
		KY_JSON_LITERAL(&chrome->json, "}");
	}
	end_list(chrome, count > 0);
}

static struct ky_object begin_object(struct ky_object *kymo, struct kymo_str key)
{
	ky_object_begin_member(kymo, key);
	KY_JSON_LITERAL(&kymo->chrome->json, "{");
	return (struct ky_object){.chrome = kymo->chrome, .indent = "\n      "};
}

static void end_object(struct ky_object *object)
{
	if (object->has_members)
		KY_JSON_LITERAL(&object->chrome->json, "\n    }");
	else
		KY_JSON_LITERAL(&object->chrome->json, "}");
}

static void write_ledger(struct ky_object *kymo, const struct kymo_trace_ledger *ledger)
{
	struct ky_object object = begin_object(kymo, KYMO_STR("ledger"));

	ky_ledger_write(&object, ledger);
	end_object(&object);
}

/* Keys that differ only in bytes that were replaced get a number, as in args. */
static void begin_unit(struct ky_object *object, struct kymo_str key, size_t number)
{
	struct ky_json *json = &object->chrome->json;
	const uint64_t replaced = json->invalid_utf8 + json->nul;

	ky_object_begin_line(object);
	KY_JSON_LITERAL(json, "\"");
	ky_json_text(json, key);
	if (json->invalid_utf8 + json->nul != replaced) {
		KY_JSON_LITERAL(json, " (");
		ky_json_u64(json, number);
		KY_JSON_LITERAL(json, ")");
	}
	KY_JSON_LITERAL(json, "\": ");
}

static void write_units(struct ky_object *kymo)
{
	const struct ky_keys *keys = &kymo->chrome->keys;
	struct ky_object object = begin_object(kymo, KYMO_STR("units"));
	size_t i;

	for (i = 0; i < keys->count; i++) {
		const struct ky_key *key = &keys->list[i];

		if (!key->unit)
			continue;
		begin_unit(&object, key_text(key), i + 1);
		ky_json_string(&kymo->chrome->json,
			       (struct kymo_str){key->unit, key->unit_size});
	}
	end_object(&object);
}

static void write_big_keys(struct ky_object *kymo)
{
	const struct ky_keys *keys = &kymo->chrome->keys;
	struct ky_json *json = &kymo->chrome->json;
	const char *between = "";
	size_t i;

	ky_object_begin_member(kymo, KYMO_STR("big number keys"));
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
static void write_sink(struct ky_object *kymo)
{
	struct ky_chrome *chrome = kymo->chrome;
	struct ky_object object = begin_object(kymo, KYMO_STR("sink"));

	ky_object_add_text(&object, KYMO_STR("name"), KYMO_STR("chrome"));
	ky_object_add_u64(&object, KYMO_STR("events"), chrome->counts.activities);
	ky_object_add_u64(&object, KYMO_STR("arrows"), chrome->counts.arrows);
	ky_object_add_u64(&object, KYMO_STR("not drawn"), chrome->counts.not_drawn);
	ky_object_add_u64(&object, KYMO_STR("counter values not finite"),
			  chrome->counts.non_finite);
	ky_object_add_u64(&object, KYMO_STR("synthetic events"),
			  chrome->counts.synthetic);
	ky_object_add_u64(&object, KYMO_STR("keys not listed"), chrome->keys.unlisted);
	ky_object_add_u64(&object, KYMO_STR("invalid utf-8 replaced"),
			  chrome->json.invalid_utf8);
	ky_object_add_u64(&object, KYMO_STR("nul replaced"), chrome->json.nul);
	end_object(&object);
}

static void write_kymo(struct ky_chrome *chrome, const struct kymo_trace_end *end)
{
	struct ky_object kymo = {.chrome = chrome, .indent = "\n    "};

	KY_JSON_LITERAL(&chrome->json, ",\n  \"kymo\": {");
	ky_object_add_text(&kymo, KYMO_STR("version"), KYMO_STR(KYMO_VERSION_STRING));
	ky_object_add_text(&kymo, KYMO_STR("command line"), chrome->header->command_line);
	write_processes(&kymo);
	write_sources(&kymo, end);
	write_types(&kymo);
	write_clocks(&kymo, end);
	write_writers(&kymo, end);
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
