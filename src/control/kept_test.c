/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/kept.h"

#include "support/test.h"

/* One that a process has begun to use. */
static struct ky_kept use(struct ky_capture_header *header, struct ky_kept *next)
{
	*header = (struct ky_capture_header){.state = KY_CAPTURE_RECORDING};
	return (struct ky_kept){
		.next = next,
		.number = next ? next->number + 1 : 1,
		.capture = {.header = header},
	};
}

static void who_comes_after_a_command_is_not_waited_for(void **state)
{
	struct ky_capture_header headers[2];
	struct ky_kept first = use(&headers[0], NULL), second;
	struct ky_kept_list list = {&first, 1};

	(void)state;
	ky_kept_command(&list, KY_COMMAND_REST);
	second = use(&headers[1], &first);
	headers[1].pid = 1;
	list = (struct ky_kept_list){&second, 2};
	/* It has the command as the front gave it, and has not come to that yet. */
	headers[1].command_sequence = 1;
	assert_true(ky_kept_is_to_obey(&list, &first));
	assert_false(ky_kept_is_to_obey(&list, &second));
	headers[0].command_done = headers[0].command_sequence;
	assert_false(ky_kept_is_to_obey(&list, &first));

	ky_kept_command(&list, KY_COMMAND_RECORD);
	assert_true(ky_kept_is_to_obey(&list, &first));
	assert_true(ky_kept_is_to_obey(&list, &second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_after_a_command_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
