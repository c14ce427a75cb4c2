/* SPDX-License-Identifier: BSD-3-Clause */
/* What a source is given and told by the steps of its life, and who may come beside. */
#include "session/instance.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/host.h"
#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

#define FAR_NS    (ky_monotonic_ns() + 60000000000u)
#define PERIOD_NS 100000u

static const struct kymo_type_desc dma = {.struct_size = sizeof(dma), .name = "dma"};
static const struct kymo_type_desc kernel = {.struct_size = sizeof(kernel),
					     .name = "kernel"};
static const struct kymo_key_desc bytes = {
	.struct_size = sizeof(bytes),
	.value_type = KYMO_VALUE_UINT64,
	.name = "bytes",
	.unit = "bytes",
};
static const struct kymo_domain_desc command = {.struct_size = sizeof(command),
						.name = "command"};
static const struct kymo_domain_desc collective = {
	.struct_size = sizeof(collective),
	.scope = KYMO_DOMAIN_GLOBAL,
	.name = "collective",
};
static const struct kymo_link_kind_desc forward = {.struct_size = sizeof(forward),
						   .name = "forward"};

static const struct kymo_type_desc *const types[] = {&kernel, &dma, NULL};
static const struct kymo_key_desc *const keys[] = {&bytes, NULL};
static const struct kymo_domain_desc *const domains[] = {&collective, &command, NULL};
static const struct kymo_link_kind_desc *const link_kinds[] = {&forward, NULL};

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct kymo_source_numbers *numbers;
	const char *message;
	int32_t start_status;
	uint32_t epoch;
	/* The operations of the source and its ticks look for one another. */
	uint32_t operations, ticks, ticks_inside, overlaps;
	uint32_t is_hung, is_slow;
	uint32_t pushed, popped, holds_push;
	uint64_t value;
	pthread_t pusher;
} npu;

static void leave_operation(void)
{
	__atomic_sub_fetch(&npu.operations, 1, __ATOMIC_SEQ_CST);
}

static void enter_operation(void)
{
	__atomic_add_fetch(&npu.operations, 1, __ATOMIC_SEQ_CST);
	usleep(1000); /* ten periods of the timer */
	if (__atomic_load_n(&npu.ticks_inside, __ATOMIC_SEQ_CST) ||
	    __atomic_load_n(&npu.pushed, __ATOMIC_SEQ_CST) !=
		    __atomic_load_n(&npu.popped, __ATOMIC_SEQ_CST))
		__atomic_add_fetch(&npu.overlaps, 1, __ATOMIC_SEQ_CST);
}

static void tick(void *source, uint64_t now)
{
	assert_ptr_equal(source, &npu);
	assert_int_not_equal(now, 0);
	__atomic_add_fetch(&npu.ticks_inside, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&npu.operations, __ATOMIC_SEQ_CST))
		__atomic_add_fetch(&npu.overlaps, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&npu.is_slow, __ATOMIC_RELAXED))
		usleep(5000);
	while (__atomic_load_n(&npu.is_hung, __ATOMIC_RELAXED))
		usleep(100);
	__atomic_sub_fetch(&npu.ticks_inside, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&npu.ticks, 1, __ATOMIC_SEQ_CST);
}

static uint32_t ticks(void)
{
	return __atomic_load_n(&npu.ticks, __ATOMIC_SEQ_CST);
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	npu.host = host;
	npu.self = self;
	npu.numbers = numbers;
	*source = &npu;
	/* Before there is a session: it ticks from start to stop all the same. */
	assert_int_equal(host->timer(self, PERIOD_NS, tick, &npu), KYMO_OK);
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source, (void)error;
	enter_operation();
	npu.epoch = session->epoch;
	assert_non_null(session->types);
	assert_true(kymo_source_wants(session, npu.numbers->types[0]));
	leave_operation();
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source;
	enter_operation();
	if (npu.message)
		snprintf(error->message, sizeof(error->message), "%s", npu.message);
	leave_operation();
	return npu.start_status;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	enter_operation();
	leave_operation();
	return KYMO_OK;
}

static void push(void *source, uint16_t domain, uint64_t value)
{
	assert_ptr_equal(source, &npu);
	assert_int_equal(domain, npu.numbers->domains[1]);
	__atomic_add_fetch(&npu.pushed, 1, __ATOMIC_SEQ_CST);
	npu.value = value;
	npu.pusher = pthread_self();
	while (__atomic_load_n(&npu.holds_push, __ATOMIC_RELAXED))
		usleep(100);
	/* No lock of the host is held: it may be called. */
	npu.host->string(npu.self, KYMO_STR("a region"));
	npu.host->timer(npu.self, PERIOD_NS, tick, &npu);
}

static void pop(void *source, uint16_t domain)
{
	assert_ptr_equal(source, &npu);
	assert_int_equal(domain, npu.numbers->domains[1]);
	__atomic_add_fetch(&npu.popped, 1, __ATOMIC_SEQ_CST);
}

static const struct kymo_source_ops npu_ops = {
	.struct_size = sizeof(npu_ops),
	.create = create,
	.prepare = prepare,
	.start = start,
	.stop = stop,
	.push_correlation = push,
	.pop_correlation = pop,
};

static const struct kymo_source_desc npu_source = {
	.struct_size = sizeof(npu_source),
	.name = "npu",
	.types = types,
	.keys = keys,
	.domains = domains,
	.link_kinds = link_kinds,
	.ops = &npu_ops,
};

/* One that needs nothing but what is required, and begins before the other. */
static int32_t create_least(const struct kymo_host *host, struct kymo_source_host *self,
			    const struct kymo_source_numbers *numbers, void **source,
			    struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)source, (void)error;
	return KYMO_OK;
}

static int32_t start_least(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static int32_t stop_least(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops least_ops = {
	.struct_size = offsetof(struct kymo_source_ops, flush),
	.create = create_least,
	.start = start_least,
	.stop = stop_least,
};

static const struct kymo_source_desc least_source = {
	.struct_size = sizeof(least_source),
	.name = "least",
	.ops = &least_ops,
};

static const struct kymo_source_desc *const sources[] = {&least_source, &npu_source,
							 NULL};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "npu",
	.version = "1",
	.license = "MIT",
	.sources = sources,
};

static void begin(void)
{
	begin_recording();
	ky_sources_begin("", ky_gate()->epoch, FAR_NS);
}

static void end(void)
{
	ky_sources_end(FAR_NS);
	end_recording();
}

static const struct ky_state_entry *last_state(void)
{
	size_t count;
	const struct ky_state_entry *entry = last_entry(KY_ENTRY_STATE, &count);

	assert_non_null(entry);
	return entry;
}

static void wait_for_ticks(uint32_t count)
{
	for (int i = 0; i < 60000 && ticks() < count; i++)
		usleep(1000);
	assert_true(ticks() >= count);
}

static void create_is_given_the_numbers_of_the_tables(void **state)
{
	const struct kymo_source_numbers *numbers;
	const struct kymo_host *host;
	uint16_t number = 0;

	(void)state;
	/* So that keys and types have no equal numbers. */
	kymo_mark_key("another key", KYMO_VALUE_INT64, NULL);
	assert_int_equal(ky_sources_add(&plugin, NULL), KYMO_OK);
	begin();
	numbers = npu.numbers;
	host = npu.host;
	assert_int_equal(numbers->struct_size, sizeof(*numbers));
	assert_int_equal(host->type(npu.self, &kernel, &number), KYMO_OK);
	assert_int_equal(numbers->types[0], number);
	assert_int_equal(host->type(npu.self, &dma, &number), KYMO_OK);
	assert_int_equal(numbers->types[1], number);
	assert_int_equal(host->key(npu.self, &bytes, &number), KYMO_OK);
	assert_int_equal(numbers->keys[0], number);
	assert_int_equal(host->domain(npu.self, &collective, &number), KYMO_OK);
	assert_int_equal(numbers->domains[0], number);
	assert_int_equal(host->domain(npu.self, &command, &number), KYMO_OK);
	assert_int_equal(numbers->domains[1], number);
	assert_int_equal(host->link_kind(npu.self, &forward, &number), KYMO_OK);
	assert_int_equal(numbers->link_kinds[0], number);
	end();
	begin();
	assert_int_equal(host->type(npu.self, &dma, &number), KYMO_OK);
	assert_int_equal(numbers->types[1], number);
	end();
}

static void the_status_of_a_failure_says_its_state(void **state)
{
	static const struct {
		int32_t status;
		const char *message;
		uint32_t state;
		const char *reason;
	} rows[] = {
		{KYMO_ERROR_NOT_FOUND, "no device", KYMO_STATE_ABSENT, "no device"},
		{KYMO_ERROR_BUSY, "held by x", KYMO_STATE_BUSY, "held by x"},
		{KYMO_ERROR_PERMISSION, "as root", KYMO_STATE_DENIED, "as root"},
		{KYMO_ERROR_UNSUPPORTED, "old", KYMO_STATE_FAILED, "old"},
		{KYMO_ERROR_IO, NULL, KYMO_STATE_FAILED,
		 "start failed: input/output failed"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		npu.start_status = rows[i].status;
		npu.message = rows[i].message;
		begin();
		assert_int_equal(last_state()->state, rows[i].state);
		assert_string_equal(text_of(last_state()->reason), rows[i].reason);
		end();
	}
}

static void ticks_come_between_start_and_stop_and_overlap_nothing(void **state)
{
	uint32_t seen;

	(void)state;
	npu.ticks = 0;
	for (int i = 0; i < 5; i++) {
		seen = ticks();
		usleep(2000);
		assert_int_equal(ticks(), seen); /* not before start */
		begin();
		wait_for_ticks(seen + 2);
		end();
		seen = ticks();
		usleep(2000);
		assert_int_equal(ticks(), seen); /* nor after stop */
	}
	assert_int_equal(npu.overlaps, 0);
}

static void no_tick_runs_when_the_timer_has_been_ended(void **state)
{
	(void)state;
	begin();
	__atomic_store_n(&npu.is_slow, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 10; i++) {
		uint32_t seen;

		npu.host->timer(npu.self, PERIOD_NS, tick, &npu);
		while (!__atomic_load_n(&npu.ticks_inside, __ATOMIC_SEQ_CST))
			usleep(100);
		npu.host->timer(npu.self, 0, NULL, NULL);
		assert_int_equal(__atomic_load_n(&npu.ticks_inside, __ATOMIC_SEQ_CST), 0);
		seen = ticks();
		usleep(300);
		assert_int_equal(ticks(), seen);
	}
	__atomic_store_n(&npu.is_slow, 0, __ATOMIC_RELAXED);
	npu.host->timer(npu.self, PERIOD_NS, tick, &npu);
	end();
}

static void regions_are_told_to_whoever_records(void **state)
{
	uint16_t domain = npu.numbers->domains[1];

	(void)state;
	npu.pushed = npu.popped = 0;
	npu.host->push_correlation(npu.self, domain, 1);
	npu.host->pop_correlation(npu.self, domain);
	assert_int_equal(npu.pushed + npu.popped, 0);
	begin();
	npu.host->push_correlation(npu.self, domain, UINT64_MAX - 1);
	assert_int_equal(npu.pushed, 1);
	assert_true(npu.value == UINT64_MAX - 1);
	assert_true(pthread_equal(npu.pusher, pthread_self()));
	npu.host->pop_correlation(npu.self, domain);
	npu.host->pop_correlation(npu.self, domain); /* one without its push */
	assert_int_equal(npu.popped, 2);
	npu.popped = 1;
	end();
	npu.host->push_correlation(npu.self, domain, 3);
	assert_int_equal(npu.pushed, 1);
	assert_int_equal(npu.overlaps, 0);
}

static void a_child_tells_nobody_of_regions_before_it_is_known(void **state)
{
	uint16_t domain = npu.numbers->domains[1];
	int status;
	pid_t pid;

	(void)state;
	npu.pushed = npu.popped = 0;
	begin();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		npu.host->push_correlation(npu.self, domain, 1);
		npu.host->pop_correlation(npu.self, domain);
		_exit(npu.pushed + npu.popped == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end();
}

static void *push_one(void *context)
{
	(void)context;
	npu.host->push_correlation(npu.self, npu.numbers->domains[1], 4);
	npu.host->pop_correlation(npu.self, npu.numbers->domains[1]);
	return NULL;
}

static void *let_go_soon(void *context)
{
	(void)context;
	usleep(20000);
	__atomic_store_n(&npu.holds_push, 0, __ATOMIC_RELAXED);
	return NULL;
}

/* The pop that would follow comes too late, and is none of the source's business. */
static void a_stop_waits_for_a_region_that_is_being_opened(void **state)
{
	pthread_t pusher, helper;

	(void)state;
	npu.pushed = npu.popped = 0;
	begin();
	__atomic_store_n(&npu.holds_push, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&pusher, NULL, push_one, NULL), 0);
	while (!__atomic_load_n(&npu.pushed, __ATOMIC_SEQ_CST))
		usleep(100);
	__atomic_store_n(&npu.popped, 1, __ATOMIC_SEQ_CST); /* balanced, for stop */
	assert_int_equal(pthread_create(&helper, NULL, let_go_soon, NULL), 0);
	end();
	assert_int_equal(__atomic_load_n(&npu.holds_push, __ATOMIC_RELAXED), 0);
	pthread_join(pusher, NULL);
	pthread_join(helper, NULL);
	assert_int_equal(npu.popped, 1);
}

/* The last one: nobody enters the source after this. */
static void a_source_whose_tick_does_not_end_is_left_alone(void **state)
{
	uint64_t before;

	(void)state;
	begin();
	__atomic_store_n(&npu.is_hung, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&npu.ticks_inside, __ATOMIC_SEQ_CST))
		usleep(100);
	before = ky_monotonic_ns();
	ky_sources_end(before + 50000000u);
	assert_true(ky_monotonic_ns() - before >= 50000000u);
	assert_int_equal(last_state()->state, KYMO_STATE_PARTLY);
	end_recording();
	begin();
	assert_int_equal(last_state()->state, KYMO_STATE_BUSY);
	assert_int_not_equal(npu.epoch, ky_gate()->epoch);
	end();
	assert_int_equal(npu.overlaps, 0);
	__atomic_store_n(&npu.is_hung, 0, __ATOMIC_RELAXED);
}

static int clear(void **state)
{
	(void)state;
	npu.start_status = KYMO_OK;
	npu.message = NULL;
	npu.overlaps = 0;
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

int main(void)
{
	/* In this order: the process has its sources for ever. */
	const struct CMUnitTest tests[] = {
		TEST(create_is_given_the_numbers_of_the_tables),
		TEST(the_status_of_a_failure_says_its_state),
		TEST(ticks_come_between_start_and_stop_and_overlap_nothing),
		TEST(no_tick_runs_when_the_timer_has_been_ended),
		TEST(regions_are_told_to_whoever_records),
		TEST(a_child_tells_nobody_of_regions_before_it_is_known),
		TEST(a_stop_waits_for_a_region_that_is_being_opened),
		TEST(a_source_whose_tick_does_not_end_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
