/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/protocol.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/inject.h>

#include "record/layout.h"
#include "support/test.h"

static void a_message_that_was_filled_passes_its_check(void **state)
{
	struct ky_hello hello;
	struct ky_welcome welcome;
	struct ky_attached attached;

	(void)state;
	ky_hello_fill(&hello, "marks", KY_HELLO_FORKED);
	assert_int_equal(ky_hello_check(&hello, sizeof(hello), NULL), KYMO_OK);
	assert_int_equal(hello.pid, getpid());
	assert_int_not_equal(hello.start_time, 0);
	assert_string_equal(hello.attaching, "marks");
	assert_string_equal(hello.library_version, KYMO_VERSION_STRING);
	assert_non_null(strstr(hello.exe, "protocol_test"));
	assert_int_equal(hello.flags, KY_HELLO_FORKED);

	ky_welcome_fill(&welcome, KYMO_ERROR_BUSY, "later");
	assert_int_equal(ky_welcome_check(&welcome, sizeof(welcome), NULL), KYMO_OK);
	assert_int_equal(welcome.status, KYMO_ERROR_BUSY);
	assert_string_equal(welcome.message, "later");

	ky_attached_fill(&attached, KYMO_OK, "");
	assert_int_equal(ky_attached_check(&attached, sizeof(attached), NULL), KYMO_OK);
}

static void a_longer_message_of_a_later_minor_passes(void **state)
{
	struct ky_hello hello;

	(void)state;
	ky_hello_fill(&hello, "marks", 0);
	hello.head.minor = KY_PROTOCOL_MINOR + 1;
	assert_int_equal(ky_hello_check(&hello, sizeof(hello) + 64, NULL), KYMO_OK);
}

static void another_major_is_refused_with_both_numbers(void **state)
{
	char ours[16];
	struct ky_hello hello;
	struct kymo_error error = {0};

	(void)state;
	snprintf(ours, sizeof(ours), "%d.%d", KY_PROTOCOL_MAJOR, KY_PROTOCOL_MINOR);
	ky_hello_fill(&hello, "marks", 0);
	hello.head.major = 71;
	hello.head.minor = 9;
	/* Shorter than ours: the other major may have another size. */
	assert_int_equal(ky_hello_check(&hello, sizeof(hello.head), &error),
			 KYMO_ERROR_VERSION);
	assert_non_null(strstr(error.message, "71.9"));
	assert_non_null(strstr(error.message, ours));

	ky_hello_fill(&hello, "marks", 0);
	hello.head.format_major = 82;
	assert_int_equal(ky_hello_check(&hello, sizeof(hello), &error),
			 KYMO_ERROR_VERSION);
	assert_non_null(strstr(error.message, "82.0"));
}

static void what_is_no_message_or_the_wrong_one_is_invalid(void **state)
{
	struct ky_hello hello;
	struct ky_welcome welcome;

	(void)state;
	ky_hello_fill(&hello, "marks", 0);
	assert_int_equal(ky_hello_check(&hello, 0, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(ky_hello_check(&hello, sizeof(hello) - 1, NULL),
			 KYMO_ERROR_INVALID);
	hello.head.magic++;
	assert_int_equal(ky_hello_check(&hello, sizeof(hello), NULL), KYMO_ERROR_INVALID);
	ky_welcome_fill(&welcome, KYMO_OK, "");
	memcpy(&hello, &welcome, sizeof(hello));
	assert_int_equal(ky_hello_check(&hello, sizeof(hello), NULL), KYMO_ERROR_INVALID);
}

static void texts_that_are_not_terminated_are_cut(void **state)
{
	struct ky_hello hello;

	(void)state;
	ky_hello_fill(&hello, "marks", 0);
	memset(hello.exe, 'x', sizeof(hello.exe));
	memset(hello.attaching, 'y', sizeof(hello.attaching));
	assert_int_equal(ky_hello_check(&hello, sizeof(hello), NULL), KYMO_OK);
	assert_int_equal(strlen(hello.exe), sizeof(hello.exe) - 1);
	assert_int_equal(strlen(hello.attaching), sizeof(hello.attaching) - 1);
}

/* Whoever wrote it: of a plug-in no version is asked. */
static void the_word_of_a_plugin_without_agent_is_checked_and_cut(void **state)
{
	struct kymo_inject_word word;

	(void)state;
	memset(&word, 'x', sizeof(word));
	assert_int_equal(ky_inject_word_check(&word, sizeof(word), NULL),
			 KYMO_ERROR_INVALID);
	word.magic = KYMO_INJECT_MAGIC;
	assert_int_equal(ky_inject_word_check(&word, sizeof(word) - 1, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_inject_word_check(&word, sizeof(word), NULL), KYMO_OK);
	assert_int_equal(strlen(word.plugin), sizeof(word.plugin) - 1);
	assert_int_equal(strlen(word.message), sizeof(word.message) - 1);
}

static void only_known_orders_pass(void **state)
{
	struct kymo_error error = {0};
	struct ky_order order = {.command = KY_COMMAND_REST};
	struct ky_answer answer;

	(void)state;
	ky_answer_fill(&answer, KYMO_ERROR_BUSY, "why");
	assert_int_equal(answer.head.kind, KY_MESSAGE_ANSWER);
	assert_string_equal(answer.message, "why");
	order.head = answer.head;
	assert_int_equal(ky_order_check(&order, sizeof(order), NULL), KYMO_ERROR_INVALID);
	order.head.kind = KY_MESSAGE_ORDER;
	assert_int_equal(ky_order_check(&order, sizeof(order), NULL), KYMO_OK);
	assert_int_equal(ky_order_check(&order, sizeof(order) - 1, NULL),
			 KYMO_ERROR_INVALID);
	order.command = 0;
	assert_int_equal(ky_order_check(&order, sizeof(order), &error),
			 KYMO_ERROR_UNSUPPORTED);
	assert_string_equal(error.message, "no such command: 0");
}

static void a_text_that_does_not_fit_loses_its_end(void **state)
{
	char text[5];

	(void)state;
	ky_text_copy(text, sizeof(text), "1234567");
	assert_string_equal(text, "1234");
	ky_text_copy(text, sizeof(text), "");
	assert_memory_equal(text, "\0\0\0\0\0", sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_that_was_filled_passes_its_check),
		cmocka_unit_test(a_longer_message_of_a_later_minor_passes),
		cmocka_unit_test(another_major_is_refused_with_both_numbers),
		cmocka_unit_test(what_is_no_message_or_the_wrong_one_is_invalid),
		cmocka_unit_test(texts_that_are_not_terminated_are_cut),
		cmocka_unit_test(the_word_of_a_plugin_without_agent_is_checked_and_cut),
		cmocka_unit_test(only_known_orders_pass),
		cmocka_unit_test(a_text_that_does_not_fit_loses_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
