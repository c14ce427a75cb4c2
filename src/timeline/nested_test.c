/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested values: what is made with <kymo/nested.h> is what a sink is told. */
#include <malloc.h>
#include <stdarg.h>

#include "support/test.h"

#include <kymo/nested.h>
#include <kymo/sink.h>

#include "timeline/nested.h"
#include "timeline/trace_setup.h"

/* A key, and the strings "a" and "b". */
struct world {
	struct build *build;
	uint16_t key;
	uint32_t a, b;
	struct ky_reader *reader;
	struct ky_model *model;
	struct ky_arena arena;
};

static struct world open_world(void)
{
	struct world world = {.build = build_new()};

	world.key = build_key(world.build, "shapes", KYMO_VALUE_NESTED);
	world.a = build_text(world.build, "a");
	world.b = build_text(world.build, "b");
	build_finish(world.build, T(BUILD_SECOND));
	assert_int_equal(ky_reader_open(&world.reader, build_save(world.build), NULL),
			 KYMO_OK);
	assert_int_equal(ky_model_create(&world.model, &world.reader, 1, NULL), KYMO_OK);
	return world;
}

static void close_world(struct world *world)
{
	ky_arena_clear(&world->arena);
	ky_model_destroy(world->model);
	ky_reader_close(world->reader);
	build_free(world->build);
}

/* ---- As text ---- */

struct text {
	char text[2048];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->size +=
		(size_t)vsnprintf(text->text + text->size,
				  sizeof(text->text) - text->size, format, arguments);
	va_end(arguments);
	assert_true(text->size < sizeof(text->text));
}

static void add_key(struct text *text, const struct kymo_trace_value *value)
{
	if (value->key.data)
		add(text, "%.*s:", (int)value->key.size, value->key.data);
}

static void add_value(void *context, const struct kymo_trace_value *value)
{
	add_key(context, value);
	switch (value->type) {
	case KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY:
	case KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY:
		add(context, "(");
		for (uint32_t i = 0; i < value->count; i++)
			add(context, i ? " %" PRId64 : "%" PRId64, value->i64_array[i]);
		add(context, ") ");
		return;
	case KYMO_VALUE_STRING | KYMO_VALUE_ARRAY:
		for (uint32_t i = 0; i < value->count; i++)
			add(context, "'%.*s' ", (int)value->text_array[i].size,
			    value->text_array[i].data);
		return;
	case KYMO_VALUE_STRING:
		add(context, "'%.*s' ", (int)value->text.size, value->text.data);
		return;
	case KYMO_VALUE_DOUBLE:
		add(context, "%g ", value->f64);
		return;
	default:
		add(context, "%" PRId64 " ", value->i64);
	}
}

static void add_begin(void *context, const struct kymo_trace_value *value)
{
	add_key(context, value);
	add(context, value->type == KYMO_VALUE_DICT ? "{ " : "[ ");
}

static void add_end(void *context, const struct kymo_trace_value *value)
{
	add(context, value->type == KYMO_VALUE_DICT ? "} " : "] ");
}

static const struct kymo_value_visitor writer = {
	.value = add_value, .begin = add_begin, .end = add_end};

/* What a sink is told of the words, under the key. */
static void assert_told(struct world *world, const uint64_t *words, size_t count,
			const char *expected)
{
	struct ky_values values = {.capture = world->model->captures,
				   .arena = &world->arena};
	const struct kymo_trace_value *told;
	struct text text = {.size = 0};
	size_t told_count;

	ky_values_add_bytes(&values, world->key, words, count * sizeof(*words));
	assert_int_equal(ky_values_take(&values, &told, &told_count), KYMO_OK);
	ky_values_clear(&values);
	assert_int_equal(told_count, 1);
	kymo_value_visit(told, &writer, &text);
	assert_string_equal(text.text, expected);
}

static void assert_nested(struct world *world, const struct kymo_nested *nested,
			  const char *expected)
{
	const struct kymo_value value = kymo_nested_value(nested, world->key);

	assert_true(kymo_nested_is_whole(nested));
	assert_int_equal(value.key, world->key);
	assert_told(world, value.array, value.count, expected);
}

/* ---- Tests ---- */

static void shapes_are_lists_of_lists(void **state)
{
	const int64_t first[] = {2, 3}, second[] = {-4};
	struct world world = open_world();
	struct kymo_nested shapes;
	uint64_t words[16];

	(void)state;
	kymo_nested_begin(&shapes, words, 16, KYMO_VALUE_LIST);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, first, 2);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, first, 0);
	kymo_nested_open(&shapes, 0, KYMO_VALUE_LIST);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, second, 1);
	kymo_nested_close(&shapes);
	kymo_nested_put_array(&shapes, 0, KYMO_VALUE_STRING, second, 0);
	assert_nested(&world, &shapes, "shapes:[ (2 3) () [ (-4) ] ] ");
	close_world(&world);
}

static void dictionaries_have_keys_and_any_values(void **state)
{
	struct world world = open_world();
	const uint64_t texts[] = {world.b, world.a};
	struct kymo_nested dict;
	uint64_t words[32];

	(void)state;
	kymo_nested_begin(&dict, words, 32, KYMO_VALUE_DICT);
	kymo_nested_put(&dict, world.a, KYMO_VALUE_DOUBLE, kymo_double_bits(0.5));
	kymo_nested_open(&dict, world.b, KYMO_VALUE_DICT);
	kymo_nested_put(&dict, world.a, KYMO_VALUE_STRING, world.b);
	kymo_nested_put_array(&dict, world.a, KYMO_VALUE_STRING, texts, 2);
	kymo_nested_close(&dict);
	kymo_nested_put(&dict, 99, KYMO_VALUE_INT64, (uint64_t)-1);
	assert_nested(&world, &dict,
		      "shapes:{ a:0.5 b:{ a:'b' a:'b' 'a' } (unknown string 99):-1 } ");
	close_world(&world);
}

static void what_does_not_fit_or_makes_no_sense_is_left_out(void **state)
{
	const uint64_t numbers[8] = {0};
	struct kymo_nested nested;
	uint64_t words[8];

	(void)state;
	kymo_nested_begin(&nested, words, 0, KYMO_VALUE_LIST);
	assert_false(kymo_nested_is_whole(&nested));
	kymo_nested_begin(&nested, words, 8, KYMO_VALUE_INT64);
	assert_false(kymo_nested_is_whole(&nested));
	kymo_nested_begin(&nested, words, 8, KYMO_VALUE_LIST);
	kymo_nested_put_array(&nested, 0, KYMO_VALUE_INT64, numbers, 7);
	assert_false(kymo_nested_is_whole(&nested));
	assert_int_equal(kymo_nested_value(&nested, 5).key, 0);
	kymo_nested_begin(&nested, words, 8, KYMO_VALUE_LIST);
	kymo_nested_put_array(&nested, 0, KYMO_VALUE_INT64, numbers, UINT32_MAX);
	assert_false(kymo_nested_is_whole(&nested));
	kymo_nested_begin(&nested, words, 8, KYMO_VALUE_LIST);
	kymo_nested_put_array(&nested, 0, KYMO_VALUE_INT64, numbers, 6);
	assert_true(kymo_nested_is_whole(&nested));
	kymo_nested_close(&nested);
	assert_false(kymo_nested_is_whole(&nested));
	kymo_nested_begin(&nested, words, 8, KYMO_VALUE_LIST);
	kymo_nested_put(&nested, 0, KYMO_VALUE_TIME, 1);
	assert_false(kymo_nested_is_whole(&nested));
}

static void depth_has_a_limit_that_both_sides_know(void **state)
{
	char expected[256] = "shapes:";
	struct world world = open_world();
	struct kymo_nested nested;
	uint64_t words[32];

	(void)state;
	for (uint32_t i = 0; i < KYMO_NESTED_DEPTH_MAX; i++)
		strcat(expected, "[ ");
	for (uint32_t i = 0; i < KYMO_NESTED_DEPTH_MAX; i++)
		strcat(expected, "] ");
	kymo_nested_begin(&nested, words, 32, KYMO_VALUE_LIST);
	for (uint32_t i = 1; i < KYMO_NESTED_DEPTH_MAX; i++)
		kymo_nested_open(&nested, 0, KYMO_VALUE_LIST);
	assert_nested(&world, &nested, expected);
	kymo_nested_open(&nested, 0, KYMO_VALUE_LIST);
	assert_false(kymo_nested_is_whole(&nested));
	close_world(&world);
}

/* Words that nobody made with the header: shown as they are, whatever they are. */
static void hostile_words_are_shown_as_numbers(void **state)
{
#define HEAD(type, count) ((uint64_t)(type) | (uint64_t)(count) << 32)
	static const struct {
		const char *what;
		size_t count;
		uint64_t words[20];
	} rows[] = {
		{"no words", 0, {0}},
		{"a scalar alone", 2, {KYMO_VALUE_INT64, 7}},
		{"no value", 2, {HEAD(9, 1), 1}},
		{"too few items", 1, {HEAD(9, 3)}},
		{"far too many", 1, {HEAD(9, UINT32_MAX)}},
		{"too many words", 2, {HEAD(9, 0), 5}},
		{"bits that mean nothing", 1, {9 | 0x200}},
		{"a type that is none", 2, {HEAD(9, 1), 77}},
		{"a time", 3, {HEAD(9, 1), 7, 1}},
		{"a scalar with a count", 3, {HEAD(9, 1), HEAD(1, 1), 1}},
		{"a long array", 2, {HEAD(9, 1), HEAD(0x101, 1)}},
		{"a key alone", 2, {HEAD(10, 1), 1}},
		{"17 deep",
		 17,
		 {HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1),
		  HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1),
		  HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 1), HEAD(9, 0)}},
	};
	struct world world = open_world();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text plain = {.size = 0};

		add(&plain, "shapes:(");
		for (size_t j = 0; j < rows[i].count; j++)
			add(&plain, j ? " %" PRId64 : "%" PRId64,
			    (int64_t)rows[i].words[j]);
		add(&plain, ") ");
		assert_told(&world, rows[i].words, rows[i].count, plain.text);
	}
	close_world(&world);
}

static size_t bytes_taken(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Lists that claim all that is behind them, each within the other: memory is bounded. */
static void many_claims_cost_no_more_than_their_words(void **state)
{
	const size_t count = 100000;
	uint64_t *words = calloc(count, sizeof(*words));
	struct world world = open_world();
	struct ky_values values = {.capture = world.model->captures,
				   .arena = &world.arena};
	struct kymo_trace_value value = {.count = 0};
	size_t before;

	(void)state;
	for (size_t i = 0; i < count; i++)
		words[i] = HEAD(KYMO_VALUE_LIST, count - 1 - i);
	before = bytes_taken();
	assert_false(ky_nested_resolve(&values, words, count, &value));
	assert_int_equal(values.status, KYMO_OK);
	assert_true(bytes_taken() - before < 2 * count * sizeof(value));
	free(words);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_lists_of_lists),
		cmocka_unit_test(dictionaries_have_keys_and_any_values),
		cmocka_unit_test(what_does_not_fit_or_makes_no_sense_is_left_out),
		cmocka_unit_test(depth_has_a_limit_that_both_sides_know),
		cmocka_unit_test(hostile_words_are_shown_as_numbers),
		cmocka_unit_test(many_claims_cost_no_more_than_their_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
