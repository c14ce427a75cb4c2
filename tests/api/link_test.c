/* SPDX-License-Identifier: BSD-3-Clause */
/* What an application says belongs together is so in the trace, whatever the source. */
#define _GNU_SOURCE /* mkdtemp */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "link_source.h"
#include "memory_sink.h"
#include "support/test.h"

#define REPLAYED 100000u /* kernels of one launch */

static struct kymo_session *session;
static struct memory_sink trace;
static uint32_t op_name, user_name;

static void begin(void)
{
	const struct kymo_host *host = NULL;
	struct kymo_error error = {0};

	kymo_mark_name(&op_name, "aten::mm");
	kymo_mark_name(&user_name, "step");
	assert_int_equal(kymo_agent_attach_v1(&link_plugin, &host, NULL), KYMO_OK);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
}

/* Reads the stopped session into `trace`. */
static void read_trace(void)
{
	const char *path = in_folder("link.kymo");
	struct kymo_error error = {0};

	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	kymo_session_destroy(session);
	memory_free(&trace);
	if (kymo_timeline_export_to(&path, 1, &memory_ops, &trace, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
	assert_int_equal(trace.ledger.accepted, trace.ledger.written);
}

static void end(void)
{
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	read_trace();
}

static size_t count_of(uint32_t kind, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < trace.count; i++)
		count += trace.events[i].kind == kind &&
			 strcmp(trace.events[i].name, name) == 0;
	return count;
}

static const struct memory_event *find(uint32_t kind, const char *name)
{
	for (size_t i = 0; i < trace.count; i++)
		if (trace.events[i].kind == kind &&
		    strcmp(trace.events[i].name, name) == 0)
			return &trace.events[i];
	fail_msg("there is no \"%s\"", name);
	return NULL;
}

/* The span of the queue's row that shows an annotation. */
static size_t count_projected(void)
{
	size_t count = 0;

	for (size_t i = 0; i < trace.count; i++)
		count += trace.events[i].flags & KYMO_EVENT_PROJECTED ? 1 : 0;
	return count;
}

static void end_op(uint64_t number)
{
	assert_int_equal(
		kymo_link_end(KYMO_LINK_OP, number, kymo_mark_begin(), op_name, NULL, 0),
		KYMO_OK);
}

static void wrong_arguments_are_refused(void **state)
{
	const uint16_t kind = kymo_link_kind("any");

	(void)state;
	assert_int_not_equal(kind, 0);
	assert_int_equal(kymo_link_kind("any"), kind);
	assert_int_equal(kymo_link_kind(NULL), 0);
	assert_int_equal(kymo_link_kind(""), 0);
	assert_int_equal(kymo_link_end(2, 1, 1, 1, NULL, 0), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_end(KYMO_LINK_OP, 0, 1, 1, NULL, 0),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_arrow(0, 0, 1, 0, 2), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_arrow(kind, 2, 1, 0, 2), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_arrow(kind, 0, 1, 2, 2), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_arrow(kind, 0, 0, 0, 2), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_link_arrow(kind, 0, 1, 0, 0), KYMO_ERROR_INVALID);
	/* Stacks that are none are not looked at. */
	kymo_link_push(2, 1);
	kymo_link_pop(UINT32_MAX);
	/* Nothing is recorded. */
	assert_int_equal(kymo_link_end(KYMO_LINK_OP, 1, kymo_mark_begin(), 1, NULL, 0),
			 KYMO_OK);
	assert_int_equal(kymo_link_arrow(kind, 0, 1, 0, 2), KYMO_OK);
}

static void an_operation_has_type_number_and_values(void **state)
{
	const struct kymo_value value = {
		.key = kymo_mark_key("flops", KYMO_VALUE_UINT64, NULL),
		.type = KYMO_VALUE_UINT64,
		.u64 = 12};
	uint64_t start;

	(void)state;
	begin();
	start = kymo_mark_begin();
	errno = 77;
	kymo_link_push(KYMO_LINK_OP, UINT64_MAX);
	kymo_link_pop(KYMO_LINK_OP);
	assert_int_equal(errno, 77);
	assert_int_equal(
		kymo_link_end(KYMO_LINK_OP, UINT64_MAX, start, op_name, &value, 1),
		KYMO_OK);
	assert_int_equal(kymo_link_end(KYMO_LINK_USER, 5, start, user_name, NULL, 0),
			 KYMO_OK);
	end();
	assert_string_equal(find(KYMO_EVENT_SPAN, "aten::mm")->type, "cpu_op");
	assert_string_equal(find(KYMO_EVENT_SPAN, "aten::mm")->domain, "op");
	assert_true(find(KYMO_EVENT_SPAN, "aten::mm")->native == UINT64_MAX);
	assert_int_equal(find(KYMO_EVENT_SPAN, "aten::mm")->values[0].u, 12);
	assert_string_equal(find(KYMO_EVENT_SPAN, "step")->type, "user_annotation");
	assert_string_equal(find(KYMO_EVENT_SPAN, "step")->domain, "user");
	assert_int_equal(find(KYMO_EVENT_SPAN, "step")->native, 5);
}

static void a_launch_is_linked_to_the_innermost_of_each_stack(void **state)
{
	const struct memory_event *arrow;

	(void)state;
	begin();
	end_op(1);
	end_op(2);
	assert_int_equal(
		kymo_link_end(KYMO_LINK_USER, 2, kymo_mark_begin(), user_name, NULL, 0),
		KYMO_OK);
	kymo_link_push(KYMO_LINK_OP, 1);
	kymo_link_push(KYMO_LINK_USER, 2);
	kymo_link_push(KYMO_LINK_OP, 2);
	link_source_launch(&plain_source, 0, 1);
	kymo_link_pop(KYMO_LINK_OP);
	kymo_link_pop(KYMO_LINK_OP);
	kymo_link_pop(KYMO_LINK_USER);
	kymo_link_pop(KYMO_LINK_USER);
	link_source_launch(&plain_source, 0, 1);
	end();
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "op"), 1);
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "user"), 1);
	arrow = find(KYMO_EVENT_ARROW, "op");
	assert_true(arrow->from_ns > find(KYMO_EVENT_SPAN, "aten::mm")->begin_ns);
	assert_int_equal(arrow->begin_ns, find(KYMO_EVENT_SPAN, "launch")->begin_ns);
	assert_int_equal(find(KYMO_EVENT_ARROW, "user")->from_ns,
			 find(KYMO_EVENT_SPAN, "step")->begin_ns);
}

static void a_source_that_is_told_of_regions_links_them_itself(void **state)
{
	(void)state;
	begin();
	told_source.pushed = told_source.popped = 0;
	end_op(3);
	kymo_link_push(KYMO_LINK_OP, 3);
	link_source_launch(&told_source, 0, 1);
	kymo_link_pop(KYMO_LINK_OP);
	assert_int_equal(told_source.pushed, 1);
	assert_int_equal(told_source.popped, 1);
	assert_int_equal(told_source.pushed_value, 3);
	assert_int_not_equal(told_source.pushed_domain, 0);
	end();
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "op"), 0);
	assert_int_equal(count_of(KYMO_EVENT_SPAN, "aten::mm"), 1);
}

static void regions_are_kept_beyond_their_limit_and_between_sessions(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 1; i <= 100; i++)
		kymo_link_push(KYMO_LINK_OP, i);
	for (uint64_t i = 1; i < 100; i++)
		kymo_link_pop(KYMO_LINK_OP);
	end();
	/* One is open, and closed while nothing is recorded. */
	kymo_link_push(KYMO_LINK_OP, 2);
	begin();
	end_op(1);
	end_op(2);
	link_source_launch(&plain_source, 0, 1);
	kymo_link_pop(KYMO_LINK_OP);
	link_source_launch(&plain_source, 0, 1);
	end();
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "op"), 2);
	kymo_link_pop(KYMO_LINK_OP);
	begin();
	end_op(1);
	link_source_launch(&plain_source, 0, 1);
	end();
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "op"), 0);
}

static void *work_for_a_step(void *number)
{
	kymo_link_push(KYMO_LINK_USER, *(const uint64_t *)number);
	link_source_launch(&plain_source, 0, 1);
	link_source_launch(&plain_source, 1, 3);
	kymo_link_pop(KYMO_LINK_USER);
	link_source_launch(&plain_source, 1, 1);
	return NULL;
}

/* After the annotation was closed, so nothing but its number leads there. */
static void an_annotation_is_shown_where_other_threads_worked_for_it(void **state)
{
	uint64_t number = 9;
	pthread_t worker;

	(void)state;
	begin();
	assert_int_equal(kymo_link_end(KYMO_LINK_USER, number, kymo_mark_begin(),
				       user_name, NULL, 0),
			 KYMO_OK);
	assert_int_equal(pthread_create(&worker, NULL, work_for_a_step, &number), 0);
	pthread_join(worker, NULL);
	end();
	assert_int_equal(count_projected(), 2);
	assert_int_equal(trace.ledger.projected, 2);
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "user"), 2);
	assert_int_equal(count_of(KYMO_EVENT_SPAN, "step"), 3);
}

static void *launch_and_leave_open(void *context)
{
	(void)context;
	link_source_launch(&plain_source, 0, 1);
	kymo_link_push(KYMO_LINK_OP, 9);
	return NULL;
}

/* The next thread gets the memory that the last one had. */
static void a_thread_begins_without_regions(void **state)
{
	pthread_t worker;

	(void)state;
	begin();
	end_op(9);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(
			pthread_create(&worker, NULL, launch_and_leave_open, NULL), 0);
		pthread_join(worker, NULL);
	}
	end();
	assert_int_equal(count_of(KYMO_EVENT_SPAN, "launch"), 6);
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "op"), 0);
}

static void a_region_without_its_span_is_counted(void **state)
{
	uint64_t number = 9;

	(void)state;
	begin();
	work_for_a_step(&number);
	end();
	assert_int_equal(trace.ledger.arrows_no_launch, 2);
	assert_int_equal(count_projected(), 0);
}

static void forward_leads_to_backward_once(void **state)
{
	const uint16_t kind = kymo_link_kind(KYMO_LINK_FORWARD_BACKWARD);

	(void)state;
	begin();
	/* Before its ends are there, and twice. */
	assert_int_equal(kymo_link_arrow(kind, KYMO_LINK_OP, 1, KYMO_LINK_OP, 2),
			 KYMO_OK);
	assert_int_equal(kymo_link_arrow(kind, KYMO_LINK_OP, 1, KYMO_LINK_OP, 2),
			 KYMO_OK);
	assert_int_equal(kymo_link_arrow(kind, KYMO_LINK_OP, 1, KYMO_LINK_OP, 99),
			 KYMO_OK);
	end_op(1);
	end_op(2);
	end();
	assert_int_equal(count_of(KYMO_EVENT_ARROW, "fwdbwd"), 1);
	assert_int_equal(trace.ledger.arrows_twice, 1);
	assert_int_equal(trace.ledger.arrows_no_launch, 1);
	assert_int_equal(find(KYMO_EVENT_ARROW, "fwdbwd")->from_ns,
			 find(KYMO_EVENT_SPAN, "aten::mm")->begin_ns);
}

static size_t count_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "r");
	size_t count = 0, size = strlen(text);
	char line[4096];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		for (const char *at = strstr(line, text); at;
		     at = strstr(at + size, text))
			count++;
	fclose(file);
	return count;
}

static void one_launch_has_a_hundred_thousand_kernels(void **state)
{
	uint8_t *seen = calloc(REPLAYED, 1);
	const char *path = in_folder("replay.json");
	uint64_t launch = 0, last = 0;
	struct kymo_error error = {0};
	size_t arrows = 0;

	(void)state;
	begin();
	end_op(1);
	kymo_link_push(KYMO_LINK_OP, 1);
	link_source_launch(&plain_source, 1, REPLAYED);
	kymo_link_pop(KYMO_LINK_OP);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	/* All but the first have a number of their own beside the launch's. */
	assert_int_equal(count_text(path, "\"launch correlation\": "), REPLAYED - 1);
	assert_int_equal(count_text(path, "\"graph node id\": "), REPLAYED);
	unlink(path);
	read_trace();
	for (size_t i = 0; i < trace.count; i++) {
		const struct memory_event *event = &trace.events[i];

		arrows += event->kind == KYMO_EVENT_ARROW;
		if (event->kind != KYMO_EVENT_SPAN || event->is_host)
			continue;
		assert_string_equal(event->values[0].key, "graph node id");
		assert_in_range(event->values[0].u, 0, REPLAYED - 1);
		assert_false(seen[event->values[0].u]);
		seen[event->values[0].u] = 1;
		assert_true(event->correlation > last);
		last = event->correlation;
		if (event->values[0].u == 0)
			launch = event->correlation;
		else
			assert_int_equal(event->launch, launch);
	}
	assert_null(memchr(seen, 0, REPLAYED));
	assert_int_equal(arrows, REPLAYED + 1);
	assert_int_equal(trace.ledger.arrows, REPLAYED + 1);
	free(seen);
}

static void a_child_has_the_regions_of_the_thread_that_forked_it(void **state)
{
	int status;
	pid_t child;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer ends children that start threads");
#endif
	begin();
	kymo_link_push(KYMO_LINK_OP, 4);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		/* A session of its own, with the region that is open here too. */
		session = NULL;
		begin();
		end_op(4);
		link_source_launch(&plain_source, 0, 1);
		kymo_link_pop(KYMO_LINK_OP);
		link_source_launch(&plain_source, 0, 1);
		end();
		_exit(count_of(KYMO_EVENT_ARROW, "op") == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	kymo_link_pop(KYMO_LINK_OP);
	assert_int_equal(status, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_arguments_are_refused),
		cmocka_unit_test(an_operation_has_type_number_and_values),
		cmocka_unit_test(a_launch_is_linked_to_the_innermost_of_each_stack),
		cmocka_unit_test(a_source_that_is_told_of_regions_links_them_itself),
		cmocka_unit_test(
			regions_are_kept_beyond_their_limit_and_between_sessions),
		cmocka_unit_test(
			an_annotation_is_shown_where_other_threads_worked_for_it),
		cmocka_unit_test(a_thread_begins_without_regions),
		cmocka_unit_test(a_region_without_its_span_is_counted),
		cmocka_unit_test(forward_leads_to_backward_once),
		cmocka_unit_test(one_launch_has_a_hundred_thousand_kernels),
		cmocka_unit_test(a_child_has_the_regions_of_the_thread_that_forked_it),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
