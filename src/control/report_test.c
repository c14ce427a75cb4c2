/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/plugin.h>

#include "capture/spool.h"
#include "record/dictionary.h"
#include "session/remark.h"
#include "support/test.h"

static char folder[] = "/tmp/kymo-report-XXXXXX";
static char path[64];

static uint32_t intern(uint16_t kind, const void *payload, size_t size)
{
	uint32_t id = 0;

	assert_int_equal(ky_dictionary_intern(kind, payload, size, &id), KYMO_OK);
	return id;
}

static uint32_t add_source(const char *name)
{
	const struct ky_source_entry entry = {.name = ky_dictionary_text(name)};

	return intern(KY_ENTRY_SOURCE, &entry, sizeof(entry));
}

static void add_state(uint32_t source, uint32_t state, const char *reason,
		      const char *remedy)
{
	static uint64_t sequence = 1;
	const struct ky_state_entry entry = {
		.source = source,
		.state = state,
		.reason = ky_dictionary_text(reason),
		.remedy = ky_dictionary_text(remedy),
		.sequence = sequence,
	};

	sequence++;
	intern(KY_ENTRY_STATE, &entry, sizeof(entry));
}

/* One process, which has recorded others: seven sources, losses of several kinds. */
static void fill(struct ky_capture *capture)
{
	uint32_t good = add_source("good"), bad = add_source("bad"),
		 late = add_source("late"), stuck = add_source("stuck"),
		 mended = add_source("mended"), short_of = add_source("short"),
		 nested = add_source(KY_REMARK_SOURCE);

	add_state(nested, KYMO_STATE_BUSY, "what it starts", NULL);
	add_state(nested, KYMO_STATE_BUSY, "what it\nstarted", NULL);
	add_source("hanging");
	add_state(good, KYMO_STATE_READY, NULL, NULL);
	add_state(good, KYMO_STATE_RECORDING, NULL, NULL);
	add_state(bad, KYMO_STATE_DENIED, "no \"right\"\nto read", "ask root");
	add_state(late, KYMO_STATE_PARTLY, "attached late", NULL);
	add_state(mended, KYMO_STATE_PARTLY, "no thread", NULL);
	add_state(mended, KYMO_STATE_RECORDING, NULL, NULL);
	add_state(short_of, KYMO_STATE_RECORDING, NULL, NULL);
	add_state(short_of, KYMO_STATE_PARTLY, "a flush\nhangs", "wait for it");
	add_state(stuck, KYMO_STATE_RECORDING, NULL, NULL);
	add_state(stuck, KYMO_STATE_FAILED, "its stop\nhangs", NULL);
	capture->sources[good].lost[KYMO_LOST_VENDOR] = 1234567;
	capture->sources[good].lost[KYMO_LOST_UNTIMED] = 50; /* it is in the trace */
	capture->header->pid = 4711;
	capture->header->writer_count = 2;
	capture->slots[0].lost_full = 1000;
	capture->slots[1].lost_full = 1;
	capture->slots[1].lost_too_big = 3;
	capture->header->lost_nested_unowned = 2;
}

static int make_file(void **state)
{
	const struct ky_capture_setup setup = {.ticks = KY_TICKS_MONOTONIC, .capture = 1};
	struct ky_spool_capture *spooled;
	struct ky_spool *spool;
	struct ky_capture capture;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.kymo", folder);
	assert_int_equal(ky_capture_make_private(&setup, &capture, NULL), KYMO_OK);
	assert_int_equal(ky_dictionary_mirror(capture.dictionary, capture.dictionary_size,
					      &capture.header->dictionary_tail,
					      &capture.header->names_not_kept),
			 KYMO_OK);
	fill(&capture);
	assert_int_equal(
		ky_spool_create(&spool, path, &(struct ky_spool_session){0}, NULL),
		KYMO_OK);
	assert_int_equal(ky_spool_add(spool, &capture, 1, &spooled, NULL), KYMO_OK);
	assert_int_equal(ky_spool_finish(spooled, KY_END_EXITED, NULL), KYMO_OK);
	ky_spool_close(spool);
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
	ky_capture_unmap(&capture);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

static void losses_are_told_by_reason(void **state)
{
	struct ky_report report;

	(void)state;
	assert_int_equal(ky_report_make(path, "", NULL, &report, NULL), KYMO_OK);
	assert_string_equal(report.losses,
			    "buffer full 1,001, too big 3, nested in a signal "
			    "handler 2, dropped by sources 1,234,567, without a "
			    "time 50");
}

static void sources_that_failed_and_that_never_came_are_told_apart(void **state)
{
	struct ky_report report;

	(void)state;
	assert_int_equal(ky_report_make(path, "good,never,bad,too", NULL, &report, NULL),
			 KYMO_OK);
	assert_string_equal(report.failed, "bad: denied: no \"right\"?to read; ask root; "
					   "stuck, since it failed: its stop?hangs");
	assert_string_equal(report.absent, "never, too");
}

static void a_source_that_was_loaded_and_never_began_is_not_absent(void **state)
{
	struct ky_report report;

	(void)state;
	assert_int_equal(ky_report_make(path, "never,hanging", NULL, &report, NULL),
			 KYMO_OK);
	assert_string_equal(report.absent, "never");
	assert_non_null(strstr(report.failed, "hanging: did not start: it was loaded, "
					      "and had not begun at the end"));
}

static void what_is_missing_of_a_source_that_recorded_is_told_in_a_line(void **state)
{
	struct ky_report report;

	(void)state;
	assert_int_equal(ky_report_make(path, "good", NULL, &report, NULL), KYMO_OK);
	assert_string_equal(report.partly, "late: attached late\n"
					   "short: a flush?hangs; wait for it");
}

static void what_a_recorder_within_has_kept_is_told_and_no_source_has_failed(void **state)
{
	struct ky_report report;

	(void)state;
	assert_int_equal(ky_report_make(path, "good", NULL, &report, NULL), KYMO_OK);
	assert_int_equal(report.nested_count, 1);
	assert_string_equal(report.nested, "process 4711 (kymo record): what it?started");
	assert_null(strstr(report.failed, KY_REMARK_SOURCE));
}

static void a_required_source_must_have_recorded(void **state)
{
	static const char *const met[] = {"good", "late", "stuck", NULL};
	static const char *const denied[] = {"good", "bad", NULL};
	static const char *const absent[] = {"other", NULL};
	struct ky_report report;
	struct kymo_error error;

	(void)state;
	assert_int_equal(ky_report_make(path, "", met, &report, &error), KYMO_OK);
	assert_int_equal(ky_report_make(path, "", denied, &report, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "bad: denied"));
	assert_int_equal(ky_report_make(path, "", absent, &report, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "other: never loaded"));
	assert_non_null(
		strstr(report.failed, "bad: denied: no \"right\"?to read; ask root"));
}

static void too_many_sources_are_cut_visibly(void **state)
{
	char wanted[2048] = "";
	struct ky_report report;

	(void)state;
	for (int i = 0; i < 100; i++)
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted),
			 "source%d,", i);
	assert_int_equal(ky_report_make(path, wanted, NULL, &report, NULL), KYMO_OK);
	assert_int_equal(strlen(report.absent), sizeof(report.absent) - 1);
	assert_string_equal(report.absent + sizeof(report.absent) - 4, "...");
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
	struct ky_report report;
	struct kymo_error error;

	(void)state;
	assert_int_equal(ky_report_make("/no/such.kymo", "x", NULL, &report, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_string_equal(report.absent, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_told_by_reason),
		cmocka_unit_test(sources_that_failed_and_that_never_came_are_told_apart),
		cmocka_unit_test(a_source_that_was_loaded_and_never_began_is_not_absent),
		cmocka_unit_test(
			what_is_missing_of_a_source_that_recorded_is_told_in_a_line),
		cmocka_unit_test(
			what_a_recorder_within_has_kept_is_told_and_no_source_has_failed),
		cmocka_unit_test(a_required_source_must_have_recorded),
		cmocka_unit_test(too_many_sources_are_cut_visibly),
		cmocka_unit_test(a_file_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
