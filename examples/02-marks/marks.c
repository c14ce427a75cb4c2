/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that says what it does, for whoever records it:
 *
 *     kymo record -o trace.json -- ./marks
 *
 * Run without a recorder it does the same, and a mark costs it one load.
 */
#include <stdio.h>
#include <unistd.h>

#include <kymo/mark.h>
#include <kymo/record.h>

static uint16_t bytes_key;

/* A name is looked up once per place, and its number kept there. */
static void load_batch(uint64_t size)
{
	static uint32_t name;
	uint64_t begin = kymo_mark_begin();

	usleep(2000);
	kymo_mark_end2(begin, kymo_mark_name(&name, "load batch"), bytes_key, size, 0, 0);
}

int main(void)
{
	static uint32_t epoch, done;

	bytes_key = kymo_mark_key("bytes", KYMO_VALUE_UINT64, "bytes");
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t begin = kymo_mark_begin();

		load_batch(i << 20);
		usleep(1000);
		kymo_mark_end(begin, kymo_mark_name(&epoch, "epoch"));
	}
	kymo_mark_instant(kymo_mark_name(&done, "done"));
	puts("three epochs");
	return 0;
}
