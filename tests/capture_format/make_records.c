/* SPDX-License-Identifier: BSD-3-Clause */
#include "generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <kymo/nested.h>

#include "record/dictionary.h"

#define NAMES        40000u
#define NESTED_WORDS 50u

/* Not UTF-8, or not what one expects: escapes, a NUL, too long, surrogates, too large. */
#define TEXT(literal)                        \
	{                                    \
		literal, sizeof(literal) - 1 \
	}

static const struct kymo_str odd_texts[] = {
	TEXT(""),
	TEXT("quote \" backslash \\ slash / \b\f\n\r\t \x01\x1f\x7f"),
	TEXT("nul \0 behind"),
	TEXT("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 \xef\xbb\xbf \xe2\x80\xa8"),
	TEXT("\xff\xfe \x80 \xc3 \xe2\x82 \xf0\x9f\x98"),
	TEXT("\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf"),
	TEXT("\xed\xa0\xbd\xed\xb8\x80 \xf4\x90\x80\x80 \xf8\x88\x80\x80\x80"),
	TEXT("\xc3\xa4\xc3"),
	TEXT("\xf4\x8f\xbf\xbf\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80"),
	TEXT("</script>${x}%s%n'; --"),
};

#define ODD_TEXTS (sizeof(odd_texts) / sizeof(odd_texts[0]))

/* xorshift64*: good enough, and the same everywhere. */
static uint64_t next(struct make *make)
{
	make->random ^= make->random >> 12;
	make->random ^= make->random << 25;
	make->random ^= make->random >> 27;
	return make->random * 0x2545f4914f6cdd1du;
}

static uint32_t below(struct make *make, uint32_t end)
{
	return (uint32_t)(next(make) >> 33) % end;
}

/* Bits of which many are at the ends of a range. */
static uint64_t odd_bits(struct make *make)
{
	static const uint64_t odd[] = {
		0,
		1,
		UINT64_MAX,
		INT64_MAX,
		(uint64_t)INT64_MAX + 1,
		0x7ff0000000000000, /* infinite */
		0xfff0000000000000,
		0x7ff8000000000001, /* not a number */
		0xfff8000000000000,
		0x8000000000000000, /* -0.0 */
		0x3fb999999999999a, /* 0.1 */
		0x7fefffffffffffff,
		0x0000000000000001,
	};
	uint32_t which = below(make, 20);

	return which < sizeof(odd) / sizeof(odd[0]) ? odd[which] : next(make);
}

/* ---- Dictionary ---- */

static uint32_t intern(uint16_t kind, const void *payload, size_t size)
{
	uint32_t id = 0;

	ky_dictionary_intern(kind, payload, size, &id);
	return id;
}

static void make_names(struct things *out, uint32_t source)
{
	static const char *const types[TYPES] = {"kernel", "runtime", "fake.counter"};

	for (uint32_t i = 0; i < TYPES; i++) {
		const struct ky_type_entry type = {.source = source,
						   .name = ky_dictionary_text(types[i]),
						   .category = ky_dictionary_text("cat"),
						   .shapes = i + 1,
						   .activity_type = i};

		out->types[i] = intern(KY_ENTRY_TYPE, &type, sizeof(type));
	}
	for (uint32_t i = 0; i < VALUE_KEYS; i++) {
		char name[32];
		const uint32_t type = i < 7 ? i + 1 : (i - 6) | KYMO_VALUE_ARRAY;
		struct ky_key_entry key = {.value_type = type};

		snprintf(name, sizeof(name), "key \"%" PRIu32 "\"", i);
		key.name = ky_dictionary_text(name);
		key.unit = i % 2 ? ky_dictionary_text("bytes") : 0;
		out->keys[i] = intern(KY_ENTRY_KEY, &key, sizeof(key));
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct ky_domain_entry domain = {
			.name = ky_dictionary_string(odd_texts[i + 3]),
			.source = i ? source : 0,
			.scope = i};

		out->domains[i] = intern(KY_ENTRY_DOMAIN, &domain, sizeof(domain));
	}
	out->link_kind = intern(
		KY_ENTRY_LINK_KIND,
		&(struct ky_link_kind_entry){.name = ky_dictionary_text("waits for")},
		sizeof(struct ky_link_kind_entry));
}

static void make_places(struct things *out, uint32_t source)
{
	const struct ky_device_entry device = {.native = UINT64_MAX,
					       .source = source,
					       .index = 3,
					       .name = ky_dictionary_text("device"),
					       .attributes = out->sets[0]};
	struct ky_clock_entry clock = {.name = ky_dictionary_text("device clock"),
				       .source = source,
				       .kind = KYMO_CLOCK_COUNTER,
				       .bits = 32,
				       .ticks_num = 1000000000,
				       .ticks_den = 3};
	struct ky_track_entry track = {.source = source};

	track.device = clock.device = intern(KY_ENTRY_DEVICE, &device, sizeof(device));
	out->clock = intern(KY_ENTRY_CLOCK, &clock, sizeof(clock));
	for (uint32_t i = 0; i < TRACKS; i++) {
		track.native = UINT64_MAX - i;
		track.kind = KYMO_TRACK_QUEUE + i % 2;
		track.name = ky_dictionary_string(odd_texts[i]);
		track.clock = i % 2 ? out->clock : 0;
		track.order = i;
		out->tracks[i] = intern(KY_ENTRY_TRACK, &track, sizeof(track));
	}
}

/* A group of 3 counters on a track, and one of 20 on none. */
static void make_groups(struct things *out, uint32_t source)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct {
			struct ky_group_entry group;
			struct ky_counter_entry counters[20];
		} entry;

		memset(&entry, 0, sizeof(entry));
		entry.group.track = i ? 0 : out->tracks[1];
		entry.group.name = ky_dictionary_text(i ? "twenty" : "three");
		entry.group.count = i ? 20 : 3;
		entry.group.source = source;
		for (uint32_t n = 0; n < entry.group.count; n++) {
			entry.counters[n].name =
				ky_dictionary_string(odd_texts[n % ODD_TEXTS]);
			entry.counters[n].value_type = n % 3 + 1;
		}
		out->groups[i] =
			intern(KY_ENTRY_GROUP, &entry,
			       sizeof(entry.group) +
				       entry.group.count * sizeof(entry.counters[0]));
	}
}

/* Items of all sorts, lists and dictionaries within each other. */
static void add_items(struct make *make, struct kymo_nested *nested)
{
	for (uint32_t left = 1 + below(make, 3); left > 0; left--) {
		const uint64_t elements[] = {odd_bits(make), below(make, 50), 7};
		const uint32_t key = below(make, 60), type = 1 + below(make, 6);

		switch (below(make, 4)) {
		case 0:
			kymo_nested_put(nested, key, type, odd_bits(make));
			break;
		case 1:
			kymo_nested_put_array(nested, key, type, elements,
					      below(make, 4));
			break;
		default:
			if (nested->depth > 3)
				break;
			kymo_nested_open(nested, key,
					 below(make, 2) ? KYMO_VALUE_LIST
							: KYMO_VALUE_DICT);
			add_items(make, nested);
			kymo_nested_close(nested);
			break;
		}
	}
}

/* A nested value; in one of four a word of it is another. How many words it has. */
static uint32_t make_nested(struct make *make, uint64_t *words)
{
	struct kymo_nested nested;

	do {
		kymo_nested_begin(&nested, words, NESTED_WORDS,
				  below(make, 2) ? KYMO_VALUE_LIST : KYMO_VALUE_DICT);
		add_items(make, &nested);
	} while (!kymo_nested_is_whole(&nested));
	if (below(make, 4) == 0)
		words[below(make, nested.used)] = odd_bits(make);
	return nested.used;
}

static uint8_t *add_nested(struct make *make, uint8_t *to, uint32_t id)
{
	uint64_t words[NESTED_WORDS];
	const struct ky_attribute attribute = {.key = (uint16_t)id,
					       .count = make_nested(make, words)};

	memcpy(to, &attribute, sizeof(attribute));
	memcpy(to + sizeof(attribute), words, attribute.count * sizeof(words[0]));
	return to + sizeof(attribute) + attribute.count * sizeof(words[0]);
}

/* A scalar, and an array of five where the key is of one. */
static uint8_t *add_attribute(struct make *make, uint8_t *to, uint32_t key, uint32_t id)
{
	const struct ky_attribute attribute = {.key = (uint16_t)id,
					       .count = key < 7 ? 0 : 5};

	if (key == NESTED_KEY)
		return add_nested(make, to, id);
	memcpy(to, &attribute, sizeof(attribute));
	to += sizeof(attribute);
	for (uint32_t i = 0; i < (key < 7 ? 1u : 5u); i++) {
		uint64_t bits = odd_bits(make);

		memcpy(to, &bits, sizeof(bits));
		to += sizeof(bits);
	}
	return to;
}

static void make_sets(struct things *out)
{
	struct make make = {.random = 7};

	for (uint32_t i = 0; i < SETS; i++) {
		uint8_t set[VALUE_KEYS * 48 + NESTED_WORDS * 8], *to = set;

		for (uint32_t key = i; key < VALUE_KEYS; key += i + 1)
			to = add_attribute(&make, to, key, out->keys[key]);
		out->sets[i] = intern(KY_ENTRY_ATTRIBUTES, set, (size_t)(to - set));
		if (i == SETS - 1)
			intern(KY_ENTRY_METADATA, set, (size_t)(to - set));
	}
}

void make_things(struct things *out)
{
	const struct ky_source_entry source = {.name = ky_dictionary_text("fake"),
					       .version = ky_dictionary_text("1")};
	const struct ky_code_entry code = {.address = 0xffffffffff600000,
					   .object = ky_dictionary_text("/lib/x.so"),
					   .symbol = ky_dictionary_text("operator<<"),
					   .offset = 16,
					   .build_id = ky_dictionary_text("0c4f")};
	struct ky_state_entry state = {.state = KYMO_STATE_RECORDING, .sequence = 1};
	const uint32_t id = intern(KY_ENTRY_SOURCE, &source, sizeof(source));

	memset(out, 0, sizeof(*out));
	out->source = id;
	make_names(out, id);
	make_sets(out);
	make_places(out, id);
	make_groups(out, id);
	/* Also one as captures of before had them. */
	intern(KY_ENTRY_CODE, &code, KY_CODE_ENTRY_LEAST);
	out->code = intern(KY_ENTRY_CODE, &code, sizeof(code));
	state.source = id;
	intern(KY_ENTRY_STATE, &state, sizeof(state));
}

/* ---- Records ---- */

static uint32_t make_name(struct make *make)
{
	uint32_t which = below(make, NAMES);
	char text[64];

	if (which < ODD_TEXTS)
		return ky_dictionary_string(odd_texts[which]);
	snprintf(text, sizeof(text), "kernel<%" PRIu32 ">(\"\xc3\xa9\xff\")", which);
	return ky_dictionary_text(text);
}

/* A key of any type, now and then one that nobody knows. */
static uint16_t make_key(struct make *make)
{
	uint32_t which = below(make, 100);

	return which == 99 ? 60000 : (uint16_t)make->things->keys[which % VALUE_KEYS];
}

/* Bits that are often a number of the dictionary. */
static uint64_t make_bits(struct make *make)
{
	return below(make, 2) ? below(make, 50) : odd_bits(make);
}

static void add_more(struct make *make, union kymo_line *line)
{
	line->more = (struct kymo_record_more){.kind = KYMO_KIND_MORE,
					       .used = (uint8_t)(1 + below(make, 6))};
	for (uint32_t i = 0; i < line->more.used; i++) {
		line->more.key[i] = make_key(make);
		line->more.value[i] = make_bits(make);
	}
}

/* A long value of up to 400 bytes; how many lines it took. */
static uint32_t add_bytes(struct make *make, union kymo_line *lines, uint16_t key)
{
	static const uint32_t sizes[] = {0, 8, 13, 56, 57, 112, 400};
	uint32_t total = sizes[below(make, 7)], done = 0, count = 0;
	uint64_t value[NESTED_WORDS];

	for (uint32_t i = 0; i < NESTED_WORDS; i++)
		value[i] = next(make);
	if (key == make->things->keys[NESTED_KEY])
		total = make_nested(make, value) * (uint32_t)sizeof(value[0]);

	do {
		struct kymo_record_bytes *bytes = &lines[count++].bytes;
		uint32_t part = total - done < 56 ? total - done : 56;

		*bytes = (struct kymo_record_bytes){.kind = KYMO_KIND_BYTES,
						    .used = (uint8_t)part,
						    .key = key,
						    .total = total};
		memcpy(bytes->byte, (const uint8_t *)value + done, part);
		done += part;
	} while (done < total);
	return count;
}

/* Adds up to five further lines or values; the record's lines then. */
static uint8_t add_further(struct make *make, union kymo_line *lines, uint32_t count)
{
	for (uint32_t left = below(make, 6); left > 0; left--) {
		switch (below(make, 5)) {
		case 0:
		case 1:
			add_more(make, &lines[count++]);
			break;
		case 2:
			count += add_bytes(make, &lines[count], 0);
			break;
		case 3:
			count += add_bytes(make, &lines[count], make_key(make));
			break;
		default: /* of a later minor */
			memset(&lines[count], 0, sizeof(lines[count]));
			lines[count++].record.kind = (uint8_t)(100 + below(make, 156));
			break;
		}
	}
	return (uint8_t)count;
}

static void make_activity(struct make *make, union kymo_line *lines, uint8_t kind)
{
	const struct things *things = make->things;
	struct kymo_record *record = &lines->record;

	*record = (struct kymo_record){
		.kind = kind,
		.lines = 1,
		.flags = below(make, 8) ? 0 : (uint16_t)next(make),
		.track = below(make, 2) ? things->tracks[below(make, TRACKS)] : 0,
		.type = (uint16_t)things->types[below(make, TYPES)],
		.begin = make->ticks,
		.end = make->ticks + below(make, 1000),
	};
	make->ticks += below(make, 2000);
	record->name =
		record->flags & KYMO_RECORD_NAME_CODE ? things->code : make_name(make);
	if (below(make, 4) == 0) {
		record->domain = (uint16_t)things->domains[below(make, 2)];
		record->correlation = odd_bits(make);
		record->attributes = things->sets[below(make, SETS)];
		record->key[0] = make_key(make);
		record->value[0] = make_bits(make);
		record->key[1] = make_key(make);
		record->value[1] = make_bits(make);
	}
	if (below(make, 10) == 0)
		record->lines = add_further(make, lines, 1);
}

static void make_counter(struct make *make, union kymo_line *lines)
{
	const uint32_t which = below(make, 3), wanted = which == 1 ? 20 : 3;
	struct kymo_record_counter *counter = &lines->counter;
	uint32_t count = 1, done = 4;

	*counter = (struct kymo_record_counter){
		.kind = KYMO_KIND_COUNTER,
		.track = below(make, 2) ? make->things->tracks[0] : 0,
		.type = (uint16_t)make->things->types[2],
		.count = (uint16_t)wanted,
		.group = which < 2 ? make->things->groups[which] : 999,
		.begin = make->ticks,
		.end = make->ticks,
	};
	for (uint32_t i = 0; i < 4; i++)
		counter->value[i] = odd_bits(make);
	for (; done < wanted; done += 7) {
		struct kymo_record_values *values = &lines[count++].values;

		*values =
			(struct kymo_record_values){.kind = KYMO_KIND_VALUES, .used = 7};
		for (uint32_t i = 0; i < 7; i++)
			values->value[i] = odd_bits(make);
	}
	counter->lines = (uint8_t)count;
	if (below(make, 4) == 0)
		counter->lines = add_further(make, lines, count);
}

static void make_link(struct make *make, union kymo_line *lines)
{
	lines->link = (struct kymo_record_link){
		.kind = KYMO_KIND_LINK,
		.lines = 1,
		.link_kind = (uint16_t)make->things->link_kind,
		.from_domain = (uint16_t)make->things->domains[0],
		.to_domain = (uint16_t)make->things->domains[1],
		.source = (uint16_t)make->things->source,
		.time = make->ticks,
		.from = next(make),
		.to = next(make),
		.attributes = below(make, 3) ? 0 : make->things->sets[1],
		.key = {make_key(make), 0},
		.value = {make_bits(make), 0},
	};
	if (below(make, 10) == 0)
		lines->link.lines = add_further(make, lines, 1);
}

void make_record(struct make *make, union kymo_line *lines)
{
	/* Of 20 records so many are of that kind. */
	static const uint8_t kinds[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					  1, 1, 2, 2, 3, 3, 4, 6, 7, 8};
	uint8_t kind = kinds[below(make, 20)];

	make->counts[kind]++;
	if (kind == KYMO_KIND_COUNTER) {
		make_counter(make, lines);
	} else if (kind == KYMO_KIND_LINK) {
		make_link(make, lines);
	} else {
		make_activity(make, lines, kind);
		if (kind == 8)
			lines->record.kind = (uint8_t)(8 + below(make, 56));
	}
}

void print_counts(uint64_t capture, const uint64_t *counts)
{
	printf("{\"capture\":%" PRIu64 ",\"counts\":[", capture);
	for (uint32_t kind = 0; kind < MADE_KINDS; kind++)
		printf("%s%" PRIu64, kind ? "," : "", counts[kind]);
	printf("]}\n");
}
