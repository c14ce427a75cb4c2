/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "record/dictionary.h"

#define THREADS 8
#define NAMES   2000

static uint8_t region[1 << 20] __attribute__((aligned(8)));
static uint64_t tail, not_kept;

static uint32_t string_of(const char *text)
{
	return ky_dictionary_text(text);
}

static void a_string_has_one_number_whoever_asks(void **state)
{
	uint32_t a = string_of("alpha"), b = string_of("beta");

	(void)state;
	assert_true(a > KY_STRING_NOT_KEPT);
	assert_int_equal(b, a + 1);
	assert_int_equal(string_of("alpha"), a);
	assert_int_equal(string_of(NULL), 0);
	assert_true(string_of("") > 0);
	assert_int_equal(string_of(KY_STRING_NOT_KEPT_TEXT), KY_STRING_NOT_KEPT);
}

static void any_bytes_are_a_string(void **state)
{
	uint32_t a = ky_dictionary_string((struct kymo_str){"a\0b", 3});
	uint32_t b = ky_dictionary_string((struct kymo_str){"a\0c", 3});

	(void)state;
	assert_true(a != b);
	assert_int_equal(ky_dictionary_string((struct kymo_str){"a\0b", 3}), a);
}

static void kinds_number_apart_and_run_out_at_16_bits(void **state)
{
	struct ky_domain_entry domain = {0};
	uint32_t id, last = 0;

	(void)state;
	for (uint32_t i = 0; i < 0xffff; i++) {
		domain.reserved0 = i;
		assert_int_equal(ky_dictionary_intern(KY_ENTRY_DOMAIN, &domain,
						      sizeof(domain), &id),
				 KYMO_OK);
		assert_int_equal(id, last + 1);
		last = id;
	}
	domain.reserved0 = 0x10000;
	assert_int_equal(
		ky_dictionary_intern(KY_ENTRY_DOMAIN, &domain, sizeof(domain), &id),
		KYMO_ERROR_NO_MEMORY);
	assert_int_equal(id, 0);
	assert_int_equal(ky_dictionary_intern(0, "", 0, &id), KYMO_ERROR_INVALID);
	assert_int_equal(ky_dictionary_intern(KY_ENTRY_KINDS, "", 0, &id),
			 KYMO_ERROR_INVALID);
}

/* Walks the mirror and checks each entry; how many strings. */
static uint32_t check_mirror(void)
{
	uint64_t offset = 0, end = __atomic_load_n(&tail, __ATOMIC_ACQUIRE);
	uint32_t strings = 0;

	while (offset < end) {
		const struct ky_dictionary_entry *entry = (const void *)(region + offset);
		uint32_t crc =
			ky_crc32c(0, entry, offsetof(struct ky_dictionary_entry, crc32c));

		assert_int_equal(ky_crc32c(crc, entry + 1, entry->size), entry->crc32c);
		if (entry->kind == KY_ENTRY_STRING)
			assert_int_equal(entry->id, ++strings);
		offset += sizeof(*entry) + (entry->size + 7) / 8 * 8;
	}
	assert_int_equal(offset, end);
	return strings;
}

static void *intern_many(void *context)
{
	uint32_t *ids = context;
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		ids[i] = string_of(name);
	}
	return NULL;
}

static void threads_agree_and_the_mirror_has_every_entry(void **state)
{
	static uint32_t ids[THREADS][NAMES];
	static uint8_t fresh[8 << 20];
	pthread_t threads[THREADS];
	uint64_t fresh_tail = 0, fresh_lost = 0;

	(void)state;
	/* What the earlier cases interned does not fit into the small region. */
	assert_int_equal(ky_dictionary_mirror(region, sizeof(region), &tail, &not_kept),
			 KYMO_ERROR_NO_MEMORY);
	assert_int_equal(
		ky_dictionary_mirror(fresh, sizeof(fresh), &fresh_tail, &fresh_lost),
		KYMO_OK);
	assert_int_equal(fresh_tail, ky_dictionary_size());
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, intern_many, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(ids[i], ids[0], sizeof(ids[0]));
	assert_int_equal(fresh_tail, ky_dictionary_size());
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
}

/* Runs `body` in a child with a dictionary of its own; its exit status. */
static int in_child(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int fill_small_mirror(void)
{
	char name[64];
	uint32_t i;

	ky_dictionary_mirror(region, sizeof(region), &tail, &not_kept);
	for (i = 0; not_kept == 0 && i < 100000; i++) {
		snprintf(name, sizeof(name), "a name of some length, number %u", i);
		string_of(name);
	}
	snprintf(name, sizeof(name), "a name of some length, number %u", i);
	if (string_of(name) != KY_STRING_NOT_KEPT || not_kept != 2)
		return 1;
	/* What was known before is known still. */
	if (string_of("a name of some length, number 0") == KY_STRING_NOT_KEPT)
		return 2;
	check_mirror();
	return 0;
}

static void a_full_dictionary_keeps_its_promise_and_counts(void **state)
{
	(void)state;
	assert_int_equal(in_child(fill_small_mirror), 0);
}

static int append_what_is_of_one_session(void)
{
	struct ky_state_entry fate = {.source = 1, .state = 3};
	static uint8_t second[1 << 16];
	uint64_t second_tail = 0;
	uint32_t id, a, b;

	if (ky_dictionary_intern(KY_ENTRY_STATE, &fate, sizeof(fate), &id) !=
	    KYMO_ERROR_STATE)
		return 1;
	ky_dictionary_mirror(region, sizeof(region), &tail, &not_kept);
	a = string_of("between");
	/* A state may come again: each is an entry of its own. */
	ky_dictionary_intern(KY_ENTRY_STATE, &fate, sizeof(fate), &id);
	ky_dictionary_intern(KY_ENTRY_STATE, &fate, sizeof(fate), &id);
	b = string_of("after them");
	if (id != 2 || b != a + 1 || check_mirror() != b)
		return 2;
	/* The next session's capture has the names and not the states. */
	ky_dictionary_mirror(second, sizeof(second), &second_tail, &not_kept);
	return second_tail == tail - 2 * (sizeof(struct ky_dictionary_entry) +
					  sizeof(fate))
		       ? 0
		       : 3;
}

static void what_is_of_one_session_does_not_reach_the_next(void **state)
{
	(void)state;
	assert_int_equal(in_child(append_what_is_of_one_session), 0);
}

static uint32_t known_before_fork;

static int recover_in_child(void)
{
	uint32_t next;

	ky_dictionary_recover();
	if (string_of("before") != known_before_fork)
		return 1;
	next = string_of("after");
	if (next <= known_before_fork || string_of("after") != next)
		return 2;
	/* Its own mirror, from the beginning. */
	if (ky_dictionary_mirror(region, sizeof(region), &tail, &not_kept) != KYMO_OK)
		return 3;
	return check_mirror() == next ? 0 : 4;
}

static int fork_again(void)
{
	known_before_fork = string_of("before");
	return in_child(recover_in_child);
}

static void a_forked_child_keeps_the_numbers(void **state)
{
	(void)state;
	assert_int_equal(in_child(fork_again), 0);
}

int main(void)
{
	/* The first three run in children, with a dictionary that is still empty. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_dictionary_keeps_its_promise_and_counts),
		cmocka_unit_test(a_forked_child_keeps_the_numbers),
		cmocka_unit_test(what_is_of_one_session_does_not_reach_the_next),
		cmocka_unit_test(a_string_has_one_number_whoever_asks),
		cmocka_unit_test(any_bytes_are_a_string),
		cmocka_unit_test(kinds_number_apart_and_run_out_at_16_bits),
		cmocka_unit_test(threads_agree_and_the_mirror_has_every_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
