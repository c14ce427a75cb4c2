/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/capture.h"

static const struct ky_capture_setup small = {
	.budget = 1,
	.ticks = KY_TICKS_MONOTONIC,
	.overflow = KY_OVERFLOW_DROP,
	.session = 0x1122334455667788u,
	.capture = 3,
};

static void a_budget_has_its_limits(void **state)
{
	static const struct {
		uint64_t budget;
		int32_t status;
	} rows[] = {
		{0, KYMO_OK},
		{1, KYMO_ERROR_INVALID},
		{KY_BUDGET_MIN - 1, KYMO_ERROR_INVALID},
		{KY_BUDGET_MIN, KYMO_OK},
		{KY_BUDGET_MAX, KYMO_OK},
		{KY_BUDGET_MAX + 1, KYMO_ERROR_INVALID},
		{UINT64_MAX, KYMO_ERROR_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};

		assert_int_equal(ky_budget_check(rows[i].budget, &error), rows[i].status);
		if (rows[i].status != KYMO_OK)
			assert_non_null(strstr(error.message, "10 MiB to 1048576 MiB"));
		/* Whoever did not ask gets what there can be. */
		assert_in_range(ky_capture_size(rows[i].budget), KY_BUDGET_MIN,
				KY_BUDGET_MAX);
	}
}

static void memory_is_formatted_and_can_be_mapped_again(void **state)
{
	struct ky_capture made, mapped;
	struct kymo_error error;
	int fd;

	(void)state;
	assert_int_equal(ky_capture_make_fd(&small, &made, &fd, &error), KYMO_OK);
	assert_int_equal(ky_capture_map(fd, &mapped, &error), KYMO_OK);
	assert_int_equal(mapped.size, ky_capture_size(KY_BUDGET_MIN));
	assert_int_equal(mapped.header->session, small.session);
	assert_int_equal(mapped.chunk_count, made.chunk_count);
	assert_true(mapped.chunk_count >= 16);
	assert_true(mapped.dictionary_size >= KY_DICTIONARY_MIN);
	assert_true(ky_capture_chunk(&mapped, mapped.chunk_count) <=
		    (uint8_t *)mapped.header + mapped.size);
	assert_int_equal(
		(uintptr_t)(mapped.chunks - (uint8_t *)mapped.header) % KY_CHUNK_SIZE, 0);
	/* One memory, two views. */
	ky_capture_chunk(&made, 1)[5] = 77;
	assert_int_equal(ky_capture_chunk(&mapped, 1)[5], 77);
	ky_capture_unmap(&mapped);
	ky_capture_unmap(&made);
	close(fd);
}

static void whoever_made_it_takes_nothing_from_the_memory(void **state)
{
	struct ky_capture made, mapped;
	int fd;

	(void)state;
	assert_int_equal(ky_capture_make_fd(&small, &made, &fd, NULL), KYMO_OK);
	memset(made.header, 0xff, sizeof(*made.header));
	assert_int_not_equal(ky_capture_map(fd, &mapped, NULL), KYMO_OK);
	assert_int_equal(ky_capture_map_made(fd, &small, &mapped, NULL), KYMO_OK);
	assert_int_equal(mapped.chunk_count, made.chunk_count);
	assert_int_equal(mapped.ticks, small.ticks);
	assert_memory_equal(mapped.constants, made.constants, sizeof(made.constants));
	ky_capture_unmap(&mapped);
	ky_capture_unmap(&made);
	close(fd);
}

static void the_descriptor_is_sealed_and_closes_on_exec(void **state)
{
	struct ky_capture made;
	int fd;

	(void)state;
	assert_int_equal(ky_capture_make_fd(&small, &made, &fd, NULL), KYMO_OK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_not_equal(ftruncate(fd, 4096), 0);
	ky_capture_unmap(&made);
	close(fd);
}

static void memory_that_could_shrink_is_refused(void **state)
{
	int fd = memfd_create("kymo-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct ky_capture mapped;
	struct kymo_error error;

	(void)state;
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(ky_capture_map(fd, &mapped, &error), KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "sealed"));
	close(fd);
}

/* Each makes one word of a good header wrong. */
static void break_magic(struct ky_capture_header *header)
{
	header->magic++;
}

static void break_major(struct ky_capture_header *header)
{
	header->format_major = 9;
}

static void break_chunks(struct ky_capture_header *header)
{
	header->chunk_count = UINT32_MAX;
}

static void break_dictionary(struct ky_capture_header *header)
{
	header->dictionary_offset = header->total_size - 4096;
}

static void break_offset(struct ky_capture_header *header)
{
	header->chunks_offset = UINT64_MAX - 65535;
}

static void break_alignment(struct ky_capture_header *header)
{
	header->writers_offset += 8;
}

static void break_size(struct ky_capture_header *header)
{
	header->total_size *= 2;
}

static void a_damaged_header_is_refused(void **state)
{
	void (*const breaks[])(struct ky_capture_header *) = {
		break_magic,  break_major,     break_chunks, break_dictionary,
		break_offset, break_alignment, break_size,
	};
	struct ky_capture made, mapped;
	struct kymo_error error;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		assert_int_equal(ky_capture_make_fd(&small, &made, &fd, NULL), KYMO_OK);
		breaks[i](made.header);
		assert_int_equal(ky_capture_map(fd, &mapped, &error), KYMO_ERROR_VERSION);
		assert_null(mapped.header);
		ky_capture_unmap(&made);
		close(fd);
	}
}

static void private_memory_is_aligned_for_huge_pages(void **state)
{
	struct ky_capture made;

	(void)state;
	assert_int_equal(ky_capture_make_private(&small, &made, NULL), KYMO_OK);
	assert_int_equal((uintptr_t)made.header % (2 << 20), 0);
	memset(ky_capture_chunk(&made, made.chunk_count - 1), 1, KY_CHUNK_SIZE);
	ky_capture_unmap(&made);
	ky_capture_unmap(&made); /* nothing left to undo */
}

static void warming_makes_cold_chunks_free_and_no_more(void **state)
{
	struct ky_capture made;

	(void)state;
	assert_int_equal(ky_capture_make_private(&small, &made, NULL), KYMO_OK);
	made.states[1] = KY_CHUNK_LEASED;
	assert_int_equal(ky_capture_warm(&made, 3), 3);
	assert_int_equal(made.states[0], KY_CHUNK_FREE);
	assert_int_equal(made.states[1], KY_CHUNK_LEASED);
	assert_int_equal(made.states[3], KY_CHUNK_FREE);
	assert_int_equal(made.states[4], KY_CHUNK_COLD);
	assert_int_equal(ky_capture_warm(&made, 3), 0);
	made.states[0] = KY_CHUNK_SEALED;
	assert_int_equal(ky_capture_warm(&made, 3), 1);
	ky_capture_unmap(&made);
}

static void the_program_says_who_it_is(void **state)
{
	struct ky_capture made;

	(void)state;
	assert_int_equal(ky_capture_make_private(&small, &made, NULL), KYMO_OK);
	ky_capture_identify(&made, 0);
	assert_int_equal(made.header->pid, getpid());
	assert_true(made.header->start_time > 0);
	assert_non_null(strstr(made.header->exe, "capture_test"));
	assert_true(strlen(made.header->boot_id) == 36);
	assert_true(strlen(made.header->command_line) > 0);
	assert_true(made.header->command_line_size > strlen(made.header->command_line));
	assert_int_equal(made.header->command_line[made.header->command_line_size - 1],
			 '\0');
	assert_int_equal(made.header->state, KY_CAPTURE_RECORDING);
	/* A program that is killed early has one anchor from its begin on. */
	assert_int_equal(made.header->anchor_tail, 1);
	assert_int_equal(made.anchors[0].clock, 0);
	assert_true(made.anchors[0].device >= made.header->attach_ticks);
	ky_capture_unmap(&made);
}

static void anchors_go_round_and_carry_their_number(void **state)
{
	struct ky_capture made;

	(void)state;
	assert_int_equal(ky_capture_make_private(&small, &made, NULL), KYMO_OK);
	for (uint64_t i = 0; i < KY_ANCHOR_MAX + 10; i++)
		ky_capture_anchor(&made, 7, i, i + 1, i + 2, 0);
	assert_int_equal(made.header->anchor_tail, KY_ANCHOR_MAX + 10);
	assert_int_equal(made.anchors[9].sequence, KY_ANCHOR_MAX + 10);
	assert_int_equal(made.anchors[9].device, KY_ANCHOR_MAX + 9);
	assert_int_equal(made.anchors[10].sequence, 11);
	ky_capture_host_anchor(&made);
	assert_int_equal(made.anchors[10].clock, 0);
	assert_true(made.anchors[10].host_lo <= made.anchors[10].device);
	assert_true(made.anchors[10].device <= made.anchors[10].host_hi);
	ky_capture_unmap(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_has_its_limits),
		cmocka_unit_test(memory_is_formatted_and_can_be_mapped_again),
		cmocka_unit_test(whoever_made_it_takes_nothing_from_the_memory),
		cmocka_unit_test(the_descriptor_is_sealed_and_closes_on_exec),
		cmocka_unit_test(memory_that_could_shrink_is_refused),
		cmocka_unit_test(a_damaged_header_is_refused),
		cmocka_unit_test(private_memory_is_aligned_for_huge_pages),
		cmocka_unit_test(warming_makes_cold_chunks_free_and_no_more),
		cmocka_unit_test(the_program_says_who_it_is),
		cmocka_unit_test(anchors_go_round_and_carry_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
