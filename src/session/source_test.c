/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of sources, told by what a source of the test writes down: one letter for each
 * operation that it was called for.
 */
#include "session/source.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/host.h"

#include "support/test.h"

#include "session/test_recording.h"

#define FAR_NS (ky_monotonic_ns() + 5000000000u)

/* What the source of the test does, and did. */
static struct {
	char story[256];
	struct kymo_source_host *host;
	const struct kymo_host *table;
	const struct kymo_plugin
		*brings; /* attached by create, as loading a library may */
	int32_t create_status, prepare_status, start_status, stop_status, flush_status;
	uint32_t epoch;
	uint32_t types_wanted;
	int answers_late; /* the stop, from another thread */
	int explains;     /* reports a state by itself before it fails */
	uint16_t type;    /* "dma" */
	pthread_t thread;
} npu;

static void tell(char what)
{
	size_t size = strlen(npu.story);

	assert_true(size + 1 < sizeof(npu.story));
	npu.story[size] = what;
}

static void explain(void)
{
	if (npu.explains)
		npu.table->state(npu.host, KYMO_STATE_BUSY, KYMO_STR("taken"),
				 KYMO_STR("give it back"));
}

static const struct kymo_type_desc rare = {
	.struct_size = sizeof(rare),
	.flags = KYMO_TYPE_OPT_IN,
	.name = "rare",
};
static const struct kymo_type_desc dma = {.struct_size = sizeof(dma), .name = "dma"};
static const struct kymo_type_desc *const npu_types[] = {&rare, &dma, NULL};

static int32_t npu_create(const struct kymo_host *table, struct kymo_source_host *host,
			  const struct kymo_source_numbers *numbers, void **source,
			  struct kymo_error *error)
{
	const struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 1000000,
		.ticks_den = 1,
		.name = KYMO_STR("npu clock"),
	};
	uint32_t number;

	tell('c');
	npu.table = table;
	npu.host = host;
	npu.type = numbers->types[1];
	explain();
	*source = &npu;
	if (npu.create_status != KYMO_OK) {
		snprintf(error->message, sizeof(error->message), "no device");
		return npu.create_status;
	}
	assert_int_equal(table->clock(host, &clock, &number), KYMO_OK);
	if (npu.brings)
		assert_int_equal(ky_sources_add(npu.brings, NULL), KYMO_OK);
	return KYMO_OK;
}

static int32_t npu_prepare(void *source, const struct kymo_source_session *session,
			   struct kymo_error *error)
{
	(void)error;
	assert_ptr_equal(source, &npu);
	tell('p');
	npu.epoch = session->epoch;
	npu.types_wanted = (uint32_t)session->type_count;
	return npu.prepare_status;
}

static void emit_one(void)
{
	const union kymo_line span = {.record = {.kind = KYMO_KIND_SPAN,
						 .lines = 1,
						 .type = npu.type,
						 .begin = 1,
						 .end = 2}};

	npu.table->emit(npu.host, &span, 1);
}

static int32_t npu_start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	tell('s');
	explain();
	if (npu.start_status == KYMO_OK)
		emit_one();
	return npu.start_status;
}

static void *stop_late(void *context)
{
	(void)context;
	usleep(20000);
	emit_one();
	npu.table->stopped(npu.host, npu.epoch);
	return NULL;
}

static int32_t npu_stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	assert_true(deadline_ns > ky_monotonic_ns());
	tell('x');
	if (npu.answers_late)
		assert_int_equal(pthread_create(&npu.thread, NULL, stop_late, NULL), 0);
	return npu.stop_status;
}

static int32_t npu_flush(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	tell('f');
	emit_one();
	return npu.flush_status;
}

static int32_t npu_sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)source;
	assert_int_not_equal(clock, 0);
	*out = (struct kymo_clock_pair){.device = 5, .host_lo = 6, .host_hi = 7};
	return KYMO_OK;
}

static void npu_forked(void *source)
{
	(void)source;
	tell('F');
}

static const struct kymo_source_ops npu_ops = {
	.struct_size = sizeof(npu_ops),
	.create = npu_create,
	.prepare = npu_prepare,
	.start = npu_start,
	.stop = npu_stop,
	.flush = npu_flush,
	.sample_clock = npu_sample_clock,
	.forked = npu_forked,
};

/* The life of the second source is not of interest, only that it has one. */
static int32_t other_create(const struct kymo_host *table, struct kymo_source_host *host,
			    const struct kymo_source_numbers *numbers, void **source,
			    struct kymo_error *error)
{
	(void)table, (void)host, (void)numbers, (void)source, (void)error;
	tell('C');
	return KYMO_OK;
}

static int32_t other_start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	tell('S');
	return KYMO_OK;
}

static int32_t other_stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	tell('X');
	return KYMO_OK;
}

static const struct kymo_source_ops other_ops = {
	.struct_size = sizeof(other_ops),
	.create = other_create,
	.start = other_start,
	.stop = other_stop,
};

#define SOURCE(variable, its_name, its_flags, its_types, its_ops)            \
	static const struct kymo_source_desc variable##_source = {           \
		.struct_size = sizeof(variable##_source),                    \
		.flags = its_flags,                                          \
		.name = its_name,                                            \
		.types = its_types,                                          \
		.ops = its_ops,                                              \
	};                                                                   \
	static const struct kymo_source_desc *const variable##_sources[] = { \
		&variable##_source, NULL};                                   \
	static const struct kymo_plugin variable = {                         \
		.struct_size = sizeof(variable),                             \
		.abi_major = KYMO_PLUGIN_ABI_MAJOR,                          \
		.name = its_name,                                            \
		.version = "1",                                              \
		.license = "MIT",                                            \
		.sources = variable##_sources,                               \
	}

SOURCE(npu_plugin, "npu", 0, npu_types, &npu_ops);
SOURCE(other_plugin, "other", KYMO_SOURCE_EXPLICIT, NULL, &other_ops);
SOURCE(twin_plugin, "other", KYMO_SOURCE_EXPLICIT, NULL, &other_ops);

static void begin(const char *wanted)
{
	begin_recording();
	ky_sources_begin(wanted, ky_gate()->epoch);
}

static void end(void)
{
	ky_sources_end(FAR_NS);
	end_recording();
}

static uint32_t last_state(void)
{
	size_t count;
	const struct ky_state_entry *entry = last_entry(KY_ENTRY_STATE, &count);

	assert_non_null(entry);
	assert_int_equal(entry->source, npu.host->number);
	return entry->state;
}

static void last_reason(char *out, size_t size)
{
	size_t count;
	const struct ky_state_entry *entry = last_entry(KY_ENTRY_STATE, &count);
	const uint8_t *at = recording->capture.dictionary;
	const struct ky_dictionary_entry *string = (const void *)at;

	while (string->kind != KY_ENTRY_STRING || string->id != entry->reason) {
		at += sizeof(*string) + ((size_t)string->size + 7) / 8 * 8;
		string = (const void *)at;
	}
	snprintf(out, size, "%.*s", (int)string->size, (const char *)(string + 1));
}

static int clear_story(void **state)
{
	const struct kymo_host *table = npu.table;
	struct kymo_source_host *host = npu.host;
	uint16_t type = npu.type;

	(void)state;
	memset(&npu, 0, sizeof(npu));
	npu.table = table;
	npu.host = host;
	npu.type = type;
	return 0;
}

/* The first: the source is added, and fails to be created. */
static void a_source_that_cannot_be_created_is_left_out(void **state)
{
	char reason[128];

	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	assert_string_equal(npu.story, "");
	npu.create_status = KYMO_ERROR_NOT_FOUND;
	begin("");
	assert_string_equal(npu.story, "c");
	assert_int_equal(last_state(), KYMO_STATE_ABSENT);
	last_reason(reason, sizeof(reason));
	assert_string_equal(reason, "no device");
	end();
	assert_string_equal(npu.story, "c");
}

/* Those of clocks that a source has registered. */
static size_t count_anchors(void)
{
	size_t count = 0;

	for (uint64_t i = 0; i < recording->capture.header->anchor_tail; i++)
		count += recording->capture.anchors[i].clock != 0;
	return count;
}

static void a_source_lives_from_create_to_flush(void **state)
{
	(void)state;
	begin("npu");
	assert_string_equal(npu.story, "cps");
	assert_int_equal(npu.epoch, ky_gate()->epoch);
	assert_int_equal(npu.types_wanted, 1);
	assert_int_equal(last_state(), KYMO_STATE_RECORDING);
	ky_sources_end(FAR_NS);
	assert_string_equal(npu.story, "cpsxf");
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 2);
	assert_int_equal(count_anchors(), 2); /* of its clock: at its begin and end */
	emit_one();
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 2);
	assert_int_equal(ky_gate()->counts[npu.host->number].lost[KYMO_LOST_LATE], 1);
	end_recording();
}

static void a_source_is_created_once(void **state)
{
	(void)state;
	begin("");
	end();
	begin("");
	end();
	assert_string_equal(npu.story, "psxfpsxf");
}

static void what_is_not_wanted_stays_asleep(void **state)
{
	(void)state;
	begin("something,else");
	end();
	assert_string_equal(npu.story, "");
}

static void a_source_that_fails_is_left_out_of_that_session_only(void **state)
{
	char reason[128];

	(void)state;
	npu.prepare_status = KYMO_ERROR_PERMISSION;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_DENIED);
	last_reason(reason, sizeof(reason));
	assert_string_equal(reason, "prepare failed: not permitted");
	end();
	assert_string_equal(npu.story, "p");
	npu.prepare_status = KYMO_OK;
	npu.start_status = KYMO_ERROR_BUSY;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_BUSY);
	emit_one();
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 0);
	end();
	assert_string_equal(npu.story, "pps");
	npu.start_status = KYMO_OK;
	begin("");
	end();
	assert_string_equal(npu.story, "ppspsxf");
}

static void what_a_source_says_of_itself_is_not_overwritten(void **state)
{
	char reason[128];

	(void)state;
	npu.explains = 1;
	npu.start_status = KYMO_ERROR_IO;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_BUSY);
	last_reason(reason, sizeof(reason));
	assert_string_equal(reason, "taken");
	end();
}

static void a_late_stop_is_waited_for(void **state)
{
	(void)state;
	npu.stop_status = KYMO_AGAIN;
	npu.answers_late = 1;
	begin("");
	ky_sources_end(FAR_NS);
	assert_string_equal(npu.story, "psxf");
	assert_int_equal(last_state(), KYMO_STATE_RECORDING);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 3);
	pthread_join(npu.thread, NULL);
	end_recording();
}

static void a_stop_that_never_ends_is_not_and_the_source_has_failed(void **state)
{
	uint64_t before;

	(void)state;
	npu.stop_status = KYMO_AGAIN;
	begin("");
	before = ky_monotonic_ns();
	ky_sources_end(before + 50000000u);
	assert_in_range(ky_monotonic_ns() - before, 50000000u, 2000000000u);
	assert_int_equal(last_state(), KYMO_STATE_FAILED);
	emit_one();
	assert_int_equal(ky_gate()->counts[npu.host->number].lost[KYMO_LOST_LATE], 1);
	end_recording();
}

static void a_plugin_that_comes_during_a_session_takes_part(void **state)
{
	(void)state;
	begin("other");
	assert_string_equal(npu.story, "");
	assert_int_equal(ky_sources_add(&other_plugin, NULL), KYMO_OK);
	assert_string_equal(npu.story, "CS");
	end();
	assert_string_equal(npu.story, "CSX");
	begin("");
	end();
	assert_string_equal(npu.story, "CSXpsxf"); /* it wants to be named */
}

/* The one that brings it is in an operation of its own at that time. */
static void a_plugin_may_come_out_of_another_ones_operation(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		static struct kymo_source_desc desc;
		static const struct kymo_source_desc *sources[] = {&desc, NULL};
		static struct kymo_plugin plugin;

		desc = npu_plugin_source;
		desc.name = "bringer";
		plugin = npu_plugin;
		plugin.sources = sources;
		npu.brings = &twin_plugin;
		ky_sources_add(&plugin, NULL);
		begin("bringer,other");
		end();
		/* The first "other" was there already; then the bringer brings its twin.
		 */
		_exit(strcmp(npu.story, "FScCSpsXxfX") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_second_source_of_one_name_has_a_number(void **state)
{
	const struct ky_source_entry *entry;
	size_t count;

	(void)state;
	begin_recording();
	assert_int_equal(ky_sources_add(&twin_plugin, NULL), KYMO_OK);
	entry = last_entry(KY_ENTRY_SOURCE, &count);
	assert_int_equal(entry->name, ky_dictionary_text("other#2"));
	end_recording();
}

static void a_child_tells_its_sources_once_and_goes_on(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	begin("");
	assert_string_equal(npu.story, "ps");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		begin_recording();
		ky_sources_forked();
		ky_sources_forked();
		_exit(strcmp(npu.story, "psFps") == 0 && npu.epoch == ky_gate()->epoch &&
				      count_lines_of_kind(KYMO_KIND_SPAN, NULL) == 1
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end();
	assert_string_equal(npu.story, "psxf");
}

static void a_child_that_begins_its_own_tells_them_as_well(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	begin("");
	end();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		begin("");
		_exit(strcmp(npu.story, "psxfFps") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void *add_twin_often(void *context)
{
	(void)context;
	for (int i = 0; i < 2000; i++)
		ky_sources_add(&twin_plugin, NULL);
	return NULL;
}

static void sessions_and_arrivals_may_come_from_any_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, add_twin_often, NULL), 0);
	for (int i = 0; i < 20; i++) {
		npu.story[0] = '\0';
		memset(npu.story, 0, sizeof(npu.story));
		begin("npu");
		end();
		assert_string_equal(npu.story, "psxf");
	}
	pthread_join(thread, NULL);
}

static void there_is_room_for_so_many_only(void **state)
{
	static struct kymo_plugin many[KY_SOURCES_MAX + 1];
	struct kymo_error error = {0};
	int32_t status = KYMO_OK;

	(void)state;
	for (size_t i = 0; i <= KY_SOURCES_MAX && status == KYMO_OK; i++) {
		many[i] = other_plugin;
		status = ky_sources_add(&many[i], &error);
	}
	assert_int_equal(status, KYMO_ERROR_NO_MEMORY);
	assert_non_null(strstr(error.message, "32"));
}

#define TEST(name) cmocka_unit_test_setup(name, clear_story)

int main(void)
{
	/* In this order: the process has its sources for ever. */
	const struct CMUnitTest tests[] = {
		TEST(a_source_that_cannot_be_created_is_left_out),
		TEST(a_source_lives_from_create_to_flush),
		TEST(a_source_is_created_once),
		TEST(what_is_not_wanted_stays_asleep),
		TEST(a_source_that_fails_is_left_out_of_that_session_only),
		TEST(what_a_source_says_of_itself_is_not_overwritten),
		TEST(a_late_stop_is_waited_for),
		TEST(a_stop_that_never_ends_is_not_and_the_source_has_failed),
		TEST(a_plugin_that_comes_during_a_session_takes_part),
		TEST(a_plugin_may_come_out_of_another_ones_operation),
		TEST(a_second_source_of_one_name_has_a_number),
		TEST(a_child_tells_its_sources_once_and_goes_on),
		TEST(a_child_that_begins_its_own_tells_them_as_well),
		TEST(sessions_and_arrivals_may_come_from_any_thread),
		TEST(there_is_room_for_so_many_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
