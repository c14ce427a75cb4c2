/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A good plug-in, spoilt in one place for each case. The tables of the API are constant,
 * so each case spoils a fresh copy of all of them.
 */
#include "plugin/check.h"

#include <string.h>

#include "support/test.h"

struct tables {
	struct kymo_type_desc type;
	struct kymo_key_desc key;
	struct kymo_domain_desc domain;
	struct kymo_link_kind_desc link_kind;
	struct kymo_option_desc option;
	struct kymo_injection_desc injection;
	struct kymo_source_ops source_ops;
	struct kymo_source_desc source;
	struct kymo_sink_ops sink_ops;
	struct kymo_sink_desc sink;
	struct kymo_plugin plugin;

	const struct kymo_type_desc *types[2];
	const struct kymo_key_desc *keys[2];
	const struct kymo_option_desc *options[2];
	const struct kymo_injection_desc *injections[2];
	const struct kymo_domain_desc *domains[2];
	const struct kymo_link_kind_desc *link_kinds[2];
	const char *suffixes[2];
	const struct kymo_source_desc *sources[2];
	const struct kymo_sink_desc *sinks[2];
};

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)source, (void)error;
	return KYMO_OK;
}

static void destroy(void *source)
{
	(void)source;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source, (void)session, (void)error;
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static int32_t sink_open(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	(void)path, (void)options, (void)sink, (void)error;
	return KYMO_OK;
}

static int32_t sink_begin(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	return KYMO_OK;
}

static int32_t sink_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count, (void)error;
	return KYMO_OK;
}

static int32_t sink_end(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result, (void)error;
	return KYMO_OK;
}

static void fill_source(struct tables *t)
{
	t->type = (struct kymo_type_desc){.struct_size = sizeof(t->type), .name = "dma"};
	t->key = (struct kymo_key_desc){
		.struct_size = sizeof(t->key),
		.value_type = KYMO_VALUE_DOUBLE,
		.name = "bandwidth (GB/s)",
	};
	t->domain = (struct kymo_domain_desc){
		.struct_size = sizeof(t->domain),
		.name = "npu.command",
	};
	t->link_kind = (struct kymo_link_kind_desc){
		.struct_size = sizeof(t->link_kind),
		.name = "ac2g",
	};
	t->option = (struct kymo_option_desc){
		.struct_size = sizeof(t->option),
		.value_type = KYMO_VALUE_BOOL,
		.name = "queues",
	};
	t->injection = (struct kymo_injection_desc){
		.struct_size = sizeof(t->injection),
		.how = KYMO_INJECT_PREPEND,
		.variable = "NPU_LAYERS",
		.separator = ":",
		.value = "{plugin}",
	};
	t->source_ops = (struct kymo_source_ops){
		.struct_size = sizeof(t->source_ops),
		.create = create,
		.destroy = destroy,
		.prepare = prepare,
		.start = start,
		.stop = stop,
	};
	t->types[0] = &t->type;
	t->keys[0] = &t->key;
	t->options[0] = &t->option;
	t->injections[0] = &t->injection;
	t->domains[0] = &t->domain;
	t->link_kinds[0] = &t->link_kind;
	t->source = (struct kymo_source_desc){
		.struct_size = sizeof(t->source),
		.name = "npu",
		.types = t->types,
		.keys = t->keys,
		.domains = t->domains,
		.link_kinds = t->link_kinds,
		.options = t->options,
		.injections = t->injections,
		.ops = &t->source_ops,
	};
}

static void fill(struct tables *t)
{
	memset(t, 0, sizeof(*t));
	fill_source(t);
	t->sink_ops = (struct kymo_sink_ops){
		.struct_size = sizeof(t->sink_ops),
		.open = sink_open,
		.begin = sink_begin,
		.batch = sink_batch,
		.end = sink_end,
		.abort = destroy,
		.close = destroy,
	};
	t->suffixes[0] = ".npu";
	t->sink = (struct kymo_sink_desc){
		.struct_size = sizeof(t->sink),
		.protocol = "npu",
		.suffixes = t->suffixes,
		.ops = &t->sink_ops,
	};
	t->sources[0] = &t->source;
	t->sinks[0] = &t->sink;
	t->plugin = (struct kymo_plugin){
		.struct_size = sizeof(t->plugin),
		.abi_major = KYMO_PLUGIN_ABI_MAJOR,
		.abi_minor = KYMO_PLUGIN_ABI_MINOR,
		.name = "npu",
		.version = "1.0",
		.license = "MIT",
		.sources = t->sources,
		.sinks = t->sinks,
	};
}

/* ---- One way to spoil it each ---- */

#define SPOIL(name, statement)             \
	static void name(struct tables *t) \
	{                                  \
		statement;                 \
	}

SPOIL(plugin_too_short, t->plugin.struct_size = 4)
SPOIL(plugin_without_sinks_member,
      t->plugin.struct_size = offsetof(struct kymo_plugin, sinks))
SPOIL(plugin_of_major_2, (t->plugin.abi_major = 2, t->plugin.abi_minor = 3))
SPOIL(plugin_of_major_0, t->plugin.abi_major = 0)
SPOIL(plugin_without_name, t->plugin.name = NULL)
SPOIL(plugin_with_dot, t->plugin.name = "a.b")
SPOIL(plugin_without_version, t->plugin.version = NULL)
SPOIL(plugin_without_license, t->plugin.license = "")
SPOIL(plugin_of_nothing, t->sources[0] = NULL; t->plugin.sinks = NULL)
SPOIL(source_too_short, t->source.struct_size = 16)
SPOIL(source_without_name, t->source.name = "")
SPOIL(source_with_comma, t->source.name = "a,b")
SPOIL(source_with_long_name,
      t->source.name =
	      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
SPOIL(source_without_ops, t->source.ops = NULL)
SPOIL(no_create, t->source_ops.create = NULL)
SPOIL(no_start, t->source_ops.start = NULL)
SPOIL(no_stop, t->source_ops.stop = NULL)
SPOIL(ops_end_before_stop,
      t->source_ops.struct_size = offsetof(struct kymo_source_ops, stop))
SPOIL(type_too_short, t->type.struct_size = 0)
SPOIL(type_without_name, t->type.name = NULL)
SPOIL(type_with_space, t->type.name = "my type")
SPOIL(type_of_no_side, t->type.side = 3)
SPOIL(key_without_name, t->key.name = NULL)
SPOIL(key_of_no_type, t->key.value_type = 0)
SPOIL(key_of_other_type, t->key.name = "bytes"; t->key.value_type = KYMO_VALUE_STRING)
SPOIL(key_of_lists, t->key.value_type = KYMO_VALUE_LIST | KYMO_VALUE_ARRAY)
SPOIL(domain_too_short, t->domain.struct_size = 8)
SPOIL(domain_without_name, t->domain.name = "")
SPOIL(domain_of_no_scope, t->domain.scope = 3)
SPOIL(link_kind_too_short, t->link_kind.struct_size = 8)
SPOIL(link_kind_without_name, t->link_kind.name = NULL)
SPOIL(option_with_equals, t->option.name = "a=b")
SPOIL(fallback_of_another_type, t->option.fallback = "often";
      t->option.value_type = KYMO_VALUE_UINT64)
SPOIL(option_of_arrays, t->option.value_type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY)
SPOIL(injection_of_no_kind, t->injection.how = 0)
SPOIL(injection_of_kind_5, t->injection.how = 5)
SPOIL(injection_without_variable, t->injection.variable = NULL)
SPOIL(injection_with_equals, t->injection.variable = "A=B")
SPOIL(injection_without_value, t->injection.value = NULL)
SPOIL(injection_of_unknown_option, t->injection.option = "queue")
SPOIL(sink_too_short, t->sink.struct_size = 8)
SPOIL(sink_without_protocol, t->sink.protocol = NULL)
SPOIL(sink_with_slash, t->sink.protocol = "a/b")
SPOIL(sink_without_ops, t->sink.ops = NULL)
SPOIL(suffix_without_dot, t->suffixes[0] = "json")
SPOIL(suffix_of_a_dot, t->suffixes[0] = ".")
SPOIL(no_open, t->sink_ops.open = NULL)
SPOIL(no_begin, t->sink_ops.begin = NULL)
SPOIL(no_batch, t->sink_ops.batch = NULL)
SPOIL(no_end, t->sink_ops.end = NULL)
SPOIL(no_abort, t->sink_ops.abort = NULL)
SPOIL(no_close, t->sink_ops.close = NULL)

static const struct {
	void (*spoil)(struct tables *t);
	int32_t status;
	const char *says;
} cases[] = {
	{plugin_too_short, KYMO_ERROR_PLUGIN, "struct_size is 4, but kymo_plugin"},
	{plugin_without_sinks_member, KYMO_ERROR_PLUGIN, "kymo_plugin has at least"},
	{plugin_of_major_2, KYMO_ERROR_VERSION, "ABI 2.3, this Kymo has 1.0"},
	{plugin_of_major_0, KYMO_ERROR_VERSION, "ABI 0.0, this Kymo has 1.0"},
	{plugin_without_name, KYMO_ERROR_PLUGIN, "no name"},
	{plugin_with_dot, KYMO_ERROR_PLUGIN, "\"a.b\" has more than letters"},
	{plugin_without_version, KYMO_ERROR_PLUGIN, "no version"},
	{plugin_without_license, KYMO_ERROR_PLUGIN, "no license"},
	{plugin_of_nothing, KYMO_ERROR_PLUGIN, "neither a source nor a sink"},
	{source_too_short, KYMO_ERROR_PLUGIN, "source 1: struct_size is 16"},
	{source_without_name, KYMO_ERROR_PLUGIN, "source 1: the name \"\""},
	{source_with_comma, KYMO_ERROR_PLUGIN, "source 1: the name \"a,b\""},
	{source_with_long_name, KYMO_ERROR_PLUGIN, "is not 1 to 64 characters"},
	{source_without_ops, KYMO_ERROR_PLUGIN, "source 1: \"npu\": no operations"},
	{no_create, KYMO_ERROR_PLUGIN, "the operation \"create\" is missing"},
	{no_start, KYMO_ERROR_PLUGIN, "the operation \"start\" is missing"},
	{no_stop, KYMO_ERROR_PLUGIN, "the operation \"stop\" is missing"},
	{ops_end_before_stop, KYMO_ERROR_PLUGIN, "the operation \"stop\" is missing"},
	{type_too_short, KYMO_ERROR_PLUGIN, "\"npu\": type 1: struct_size is 0"},
	{type_without_name, KYMO_ERROR_PLUGIN, "\"npu\": type 1: no name"},
	{type_with_space, KYMO_ERROR_PLUGIN, "type 1: the name \"my type\""},
	{type_of_no_side, KYMO_ERROR_PLUGIN, "type 1: side 3 is none"},
	{key_without_name, KYMO_ERROR_PLUGIN, "key 1: no name"},
	{key_of_no_type, KYMO_ERROR_PLUGIN, "key 1: value_type 0 is none"},
	{key_of_other_type, KYMO_ERROR_PLUGIN,
	 "key 1: the key \"bytes\" is one that readers of traces know: its values have "
	 "to "
	 "be uint64, not string"},
	{key_of_lists, KYMO_ERROR_PLUGIN, "key 1: value_type 0x109 is none"},
	{domain_too_short, KYMO_ERROR_PLUGIN, "domain 1: struct_size is 8"},
	{domain_without_name, KYMO_ERROR_PLUGIN, "domain 1: no name"},
	{domain_of_no_scope, KYMO_ERROR_PLUGIN, "domain 1: scope 3 is none"},
	{link_kind_too_short, KYMO_ERROR_PLUGIN, "link kind 1: struct_size is 8"},
	{link_kind_without_name, KYMO_ERROR_PLUGIN, "link kind 1: no name"},
	{option_with_equals, KYMO_ERROR_PLUGIN, "option 1: the name \"a=b\""},
	{fallback_of_another_type, KYMO_ERROR_PLUGIN,
	 "the fallback \"often\" of \"queues\" is no uint64"},
	{option_of_arrays, KYMO_ERROR_PLUGIN, "option 1: value_type 0x101 is none"},
	{injection_of_no_kind, KYMO_ERROR_PLUGIN, "injection 1: how 0 is none"},
	{injection_of_kind_5, KYMO_ERROR_PLUGIN, "injection 1: how 5 is none"},
	{injection_without_variable, KYMO_ERROR_PLUGIN, "injection 1: no variable"},
	{injection_with_equals, KYMO_ERROR_PLUGIN, "\"A=B\" holds a '='"},
	{injection_without_value, KYMO_ERROR_PLUGIN, "no value for \"NPU_LAYERS\""},
	{injection_of_unknown_option, KYMO_ERROR_PLUGIN,
	 "option \"queue\", which there is not"},
	{sink_too_short, KYMO_ERROR_PLUGIN, "sink 1: struct_size is 8"},
	{sink_without_protocol, KYMO_ERROR_PLUGIN, "sink 1: no name"},
	{sink_with_slash, KYMO_ERROR_PLUGIN, "sink 1: the name \"a/b\""},
	{sink_without_ops, KYMO_ERROR_PLUGIN, "sink 1: \"npu\": no operations"},
	{suffix_without_dot, KYMO_ERROR_PLUGIN, "suffix 1: \"json\" does not begin"},
	{suffix_of_a_dot, KYMO_ERROR_PLUGIN, "suffix 1: \".\" does not begin"},
	{no_open, KYMO_ERROR_PLUGIN, "the operation \"open\" is missing"},
	{no_begin, KYMO_ERROR_PLUGIN, "the operation \"begin\" is missing"},
	{no_batch, KYMO_ERROR_PLUGIN, "the operation \"batch\" is missing"},
	{no_end, KYMO_ERROR_PLUGIN, "the operation \"end\" is missing"},
	{no_abort, KYMO_ERROR_PLUGIN, "the operation \"abort\" is missing"},
	{no_close, KYMO_ERROR_PLUGIN, "the operation \"close\" is missing"},
};

static void a_good_plugin_passes(void **state)
{
	struct kymo_error error;
	struct tables t;

	(void)state;
	fill(&t);
	assert_int_equal(ky_plugin_check(&t.plugin, &error), KYMO_OK);
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
}

static void only_three_operations_are_required(void **state)
{
	struct tables t;

	(void)state;
	fill(&t);
	t.source_ops.destroy = NULL;
	t.source_ops.prepare = NULL;
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
}

static void an_injection_needs_no_separator_and_may_name_an_option(void **state)
{
	static const char *const separators[] = {NULL, "", "; "};

	(void)state;
	for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++) {
		struct tables t;

		fill(&t);
		t.injection.separator = separators[i];
		t.injection.option = i ? "queues" : NULL;
		for (t.injection.how = KYMO_INJECT_SET;
		     t.injection.how <= KYMO_INJECT_KEEP; t.injection.how++)
			assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
	}
}

static void lists_may_be_missing(void **state)
{
	struct tables t;

	(void)state;
	fill(&t);
	t.source.types = NULL;
	t.source.keys = NULL;
	t.source.domains = NULL;
	t.source.link_kinds = NULL;
	t.source.options = NULL;
	t.source.injections = NULL;
	t.plugin.sinks = NULL;
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
	fill(&t);
	t.plugin.sources = NULL;
	t.sink.suffixes = NULL;
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
}

static void structs_that_have_grown_pass(void **state)
{
	struct tables t;

	(void)state;
	fill(&t);
	t.plugin.struct_size += 64;
	t.plugin.abi_minor = 7;
	t.source.struct_size += 8;
	t.source_ops.struct_size += 8;
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
}

static void a_key_may_be_of_nested_values(void **state)
{
	struct tables t;

	(void)state;
	fill(&t);
	t.key.value_type = KYMO_VALUE_NESTED;
	assert_int_equal(ky_plugin_check(&t.plugin, NULL), KYMO_OK);
}

static void every_fault_is_refused_and_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_error error = {0};
		struct tables t;

		fill(&t);
		cases[i].spoil(&t);
		assert_int_equal(ky_plugin_check(&t.plugin, &error), cases[i].status);
		assert_int_equal(error.status, cases[i].status);
		if (!strstr(error.message, cases[i].says))
			fail_msg("\"%s\" does not say \"%s\"", error.message,
				 cases[i].says);
	}
}

static void a_list_without_end_is_refused(void **state)
{
	static const struct kymo_domain_desc *domains[4096];
	struct kymo_error error = {0};
	struct tables t;

	(void)state;
	fill(&t);
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
		domains[i] = &t.domain;
	t.source.domains = domains;
	assert_int_equal(ky_plugin_check(&t.plugin, &error), KYMO_ERROR_PLUGIN);
	assert_non_null(strstr(error.message, "list of domains does not end with NULL"));
}

static void no_table_is_refused(void **state)
{
	(void)state;
	assert_int_equal(ky_plugin_check(NULL, NULL), KYMO_ERROR_PLUGIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_plugin_passes),
		cmocka_unit_test(only_three_operations_are_required),
		cmocka_unit_test(an_injection_needs_no_separator_and_may_name_an_option),
		cmocka_unit_test(lists_may_be_missing),
		cmocka_unit_test(structs_that_have_grown_pass),
		cmocka_unit_test(a_key_may_be_of_nested_values),
		cmocka_unit_test(every_fault_is_refused_and_named),
		cmocka_unit_test(a_list_without_end_is_refused),
		cmocka_unit_test(no_table_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
