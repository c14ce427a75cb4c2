/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources whose operations do not return: they are given up, and are entered again when
 * they have returned, not before.
 */
#include "session/source.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/host.h"

#include "support/test.h"

#include "session/test_recording.h"

#define LIMIT_NS 400000000u /* much, where the machine is busy */
#define SOON_NS  (ky_monotonic_ns() + LIMIT_NS)
#define FAR_NS   (ky_monotonic_ns() + 60000000000u)

/* Letters of operations, in the order of their beginning; '!': two were in it at once. */
static struct {
	const struct kymo_host *table;
	struct kymo_source_host *host;
	char story[64]; /* under story_lock */
	uint32_t inside;
	uint32_t stuck_in; /* a letter, or 0 */
	uint32_t healthy;  /* starts and stops of the other source */
} npu;

static pthread_mutex_t story_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(char letter)
{
	pthread_mutex_lock(&story_lock);
	npu.story[strlen(npu.story)] = letter;
	pthread_mutex_unlock(&story_lock);
}

static int32_t operate(char letter)
{
	int was_stuck = 0;

	if (__atomic_fetch_add(&npu.inside, 1, __ATOMIC_SEQ_CST) != 0)
		tell('!');
	tell(letter);
	while (__atomic_load_n(&npu.stuck_in, __ATOMIC_SEQ_CST) == (uint32_t)letter) {
		usleep(1000);
		was_stuck = 1;
	}
	/* Of this nobody hears any more. */
	if (was_stuck)
		npu.table->state(npu.host, KYMO_STATE_PARTLY, KYMO_STR("it was late"),
				 KYMO_STR(""));
	__atomic_sub_fetch(&npu.inside, 1, __ATOMIC_SEQ_CST);
	return KYMO_OK;
}

static int32_t create(const struct kymo_host *table, struct kymo_source_host *host,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)numbers, (void)source, (void)error;
	npu.table = table;
	npu.host = host;
	return operate('c');
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source, (void)session, (void)error;
	return operate('p');
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return operate('s');
}

static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	operate(paused ? 'r' : 'g');
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return operate('x');
}

static int32_t flush(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return operate('f');
}

static void forked(void *source)
{
	(void)source;
	npu.stuck_in = npu.inside = 0;
	operate('F');
}

static int32_t create_healthy(const struct kymo_host *table,
			      struct kymo_source_host *host,
			      const struct kymo_source_numbers *numbers, void **source,
			      struct kymo_error *error)
{
	(void)table, (void)host, (void)numbers, (void)source, (void)error;
	return KYMO_OK;
}

static int32_t start_healthy(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	__atomic_add_fetch(&npu.healthy, 1, __ATOMIC_SEQ_CST);
	return KYMO_OK;
}

/* Not called with the deadline gone, though another one hangs. */
static int32_t stop_healthy(void *source, uint64_t deadline_ns)
{
	(void)source;
	if (ky_monotonic_ns() < deadline_ns)
		__atomic_add_fetch(&npu.healthy, 1, __ATOMIC_SEQ_CST);
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.flush = flush,
	.forked = forked,
};
static const struct kymo_source_ops healthy_ops = {
	.struct_size = sizeof(healthy_ops),
	.create = create_healthy,
	.start = start_healthy,
	.stop = stop_healthy,
};
static const struct kymo_type_desc type = {.struct_size = sizeof(type), .name = "dma"};
static const struct kymo_type_desc *const types[] = {&type, NULL};
static const struct kymo_source_desc source = {
	.struct_size = sizeof(source), .name = "npu", .types = types, .ops = &ops};
static const struct kymo_source_desc healthy = {
	.struct_size = sizeof(healthy), .name = "healthy", .ops = &healthy_ops};
static const struct kymo_source_desc *const sources[] = {&source, &healthy, NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "npu",
	.version = "1",
	.license = "MIT",
	.sources = sources,
};

static void get_stuck_in(char letter)
{
	__atomic_store_n(&npu.stuck_in, (uint32_t)letter, __ATOMIC_SEQ_CST);
}

static void begin(uint64_t deadline_ns)
{
	begin_recording();
	ky_sources_begin("", ky_gate()->epoch, deadline_ns);
}

static void end(uint64_t deadline_ns)
{
	ky_sources_end(deadline_ns);
	end_recording();
}

/* What it was called for, in its order. */
static const char *story(void)
{
	static char copy[sizeof(npu.story)];

	pthread_mutex_lock(&story_lock);
	memcpy(copy, npu.story, sizeof(copy));
	pthread_mutex_unlock(&story_lock);
	return copy;
}

/* It returns; waits until what follows from that is done, and nobody there any more. */
static void come_back(const char *wanted)
{
	get_stuck_in(0);
	wait_for_threads();
	assert_int_equal(__atomic_load_n(&npu.inside, __ATOMIC_SEQ_CST), 0);
	assert_string_equal(story(), wanted);
}

/* The last state that it has in the recording, or NULL. */
static const struct ky_state_entry *last_state(void)
{
	const struct ky_state_entry *entry = NULL;
	const uint8_t *at = recording->capture.dictionary;
	const uint8_t *end = at + recording->capture.header->dictionary_tail;

	story(); /* what the thread has done that tells it */
	while (at < end) {
		const struct ky_dictionary_entry *found = (const void *)at;
		const struct ky_state_entry *state = (const void *)(found + 1);

		if (found->kind == KY_ENTRY_STATE && state->source == npu.host->number)
			entry = state;
		at += sizeof(*found) + ((size_t)found->size + 7) / 8 * 8;
	}
	return entry;
}

static void check_failed(const char *reason)
{
	const struct ky_state_entry *entry = last_state();

	assert_non_null(entry);
	assert_int_equal(entry->state, KYMO_STATE_FAILED);
	assert_int_equal(entry->reason, ky_dictionary_text(reason));
}

static void emit(void)
{
	const union kymo_line line = {.record = {.kind = KYMO_KIND_INSTANT,
						 .lines = 1,
						 .type = npu.host->types[0],
						 .begin = 1}};

	npu.table->emit(npu.host, &line, 1);
}

static uint64_t late(void)
{
	return ky_gate()->counts[npu.host->number].lost[KYMO_LOST_LATE];
}

/* ---- Tests ---- */

/* Nobody waits with a deadline there: it must not be entered at all. */
static void fork_in_the_middle_of_its_create(void)
{
	int status;
	pid_t pid;

	wait_for_threads_but(1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct ky_state_entry *entry;

		alarm(60);
		begin_recording();
		ky_sources_forked();
		entry = last_state();
		_exit(strcmp(story(), "c") == 0 && npu.healthy == 2 && entry &&
				      entry->state == KYMO_STATE_FAILED &&
				      entry->reason ==
					      ky_dictionary_text(
						      "this process was forked while "
						      "its create ran in the parent")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_create_that_does_not_return_is_given_up(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(ky_sources_add(&plugin, NULL), KYMO_OK);
	get_stuck_in('c');
	before = ky_monotonic_ns();
	begin(SOON_NS);
	assert_true(ky_monotonic_ns() - before >= LIMIT_NS);
	check_failed("its create has not returned when time was up; what came later is "
		     "counted as late");
	assert_int_equal(npu.healthy, 1);
	fork_in_the_middle_of_its_create();
	end(FAR_NS);
	come_back("c");
	begin(FAR_NS);
	end(FAR_NS);
	assert_string_equal(story(), "cpsxf");
}

/* Each row: stuck there, its session; and what has been called when it has come back. */
static void what_does_not_begin_in_time_is_no_part_of_the_session(void **state)
{
	static const struct {
		char letter;
		const char *story, *reason;
	} rows[] = {
		{'p', "p",
		 "its prepare has not returned when time was up; what came later is "
		 "counted as late"},
		{'s', "psxf",
		 "its start has not returned when time was up; what came later is "
		 "counted as late"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(npu.story, 0, sizeof(npu.story));
		npu.healthy = 0;
		get_stuck_in(rows[i].letter);
		begin(SOON_NS);
		assert_int_equal(npu.healthy, 1);
		emit(); /* it is not wanted any more */
		assert_int_equal(count_lines_of_kind(KYMO_KIND_INSTANT, NULL), 0);
		come_back(rows[i].story);
		check_failed(rows[i].reason);
		end(FAR_NS);
		assert_string_equal(story(), rows[i].story);
	}
}

static void
an_end_that_does_not_return_is_given_up_and_the_others_end_in_time(void **state)
{
	static const char letters[] = {'x', 'f'};
	uint64_t before;

	(void)state;
	for (size_t i = 0; i < sizeof(letters); i++) {
		memset(npu.story, 0, sizeof(npu.story));
		npu.healthy = 0;
		begin(FAR_NS);
		emit();
		get_stuck_in(letters[i]);
		before = ky_monotonic_ns();
		ky_sources_end(before + 2 * LIMIT_NS);
		assert_true(ky_monotonic_ns() - before >= LIMIT_NS);
		assert_int_equal(npu.healthy, 2);
		emit();
		assert_int_equal(late(), 1);
		assert_int_equal(count_lines_of_kind(KYMO_KIND_INSTANT, NULL), 1);
		end_recording();
		come_back("psxf");
	}
}

static void nobody_enters_it_again_until_it_has_come_back(void **state)
{
	(void)state;
	begin(FAR_NS);
	get_stuck_in('x');
	end(SOON_NS);
	npu.healthy = 0;
	begin(FAR_NS);
	check_failed("its stop has not returned since an earlier session");
	assert_int_equal(npu.healthy, 1);
	ky_sources_pause(1, FAR_NS);
	ky_sources_pause(0, FAR_NS);
	assert_string_equal(story(), "psx");
	come_back("psxf");
	/* It stays out to the end of this one, and is part of the next. */
	end(FAR_NS);
	assert_string_equal(story(), "psxf");
	begin(FAR_NS);
	end(FAR_NS);
	assert_string_equal(story(), "psxfpsxf");
}

static void one_that_hangs_at_rest_ends_when_it_comes_back(void **state)
{
	(void)state;
	begin(FAR_NS);
	get_stuck_in('r');
	ky_sources_pause(1, SOON_NS);
	check_failed("its set_paused has not returned when time was up; what came later "
		     "is counted as late");
	ky_sources_pause(0, FAR_NS);
	come_back("psrxf");
	end(FAR_NS);
	assert_string_equal(story(), "psrxf");
}

/* Threads are not inherited, and so is nobody who hangs. */
static void a_forked_child_has_nobody_in_its_sources(void **state)
{
	int status;
	pid_t pid;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer ends children that start threads");
#endif
	begin(FAR_NS);
	get_stuck_in('x');
	ky_sources_end(SOON_NS);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		begin(FAR_NS);
		end(FAR_NS);
		_exit(strcmp(story(), "psxFpsxf") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end_recording();
	come_back("psxf");
}

static void one_that_comes_back_when_the_program_exits_is_entered_no_more(void **state)
{
	static const struct {
		char letter;
		const char *story;
	} rows[] = {{'s', "ps"}, {'r', "psr"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(npu.story, 0, sizeof(npu.story));
		get_stuck_in(rows[i].letter);
		begin(SOON_NS);
		ky_sources_pause(1, SOON_NS);
		ky_sources_leave();
		come_back(rows[i].story);
		end_recording();
		/* A process exits once; this one goes on. */
		__atomic_store_n(&ky_session_page()->sources_left, 0, __ATOMIC_SEQ_CST);
		ky_sources_end(FAR_NS);
	}
}

static int clear(void **state)
{
	(void)state;
	memset(npu.story, 0, sizeof(npu.story));
	npu.healthy = 0;
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

int main(void)
{
	/* In this order: the process has its sources for ever. */
	const struct CMUnitTest tests[] = {
		TEST(a_create_that_does_not_return_is_given_up),
		TEST(what_does_not_begin_in_time_is_no_part_of_the_session),
		TEST(an_end_that_does_not_return_is_given_up_and_the_others_end_in_time),
		TEST(nobody_enters_it_again_until_it_has_come_back),
		TEST(one_that_hangs_at_rest_ends_when_it_comes_back),
		TEST(a_forked_child_has_nobody_in_its_sources),
		TEST(one_that_comes_back_when_the_program_exits_is_entered_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
