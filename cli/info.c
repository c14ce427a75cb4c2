/* SPDX-License-Identifier: BSD-3-Clause */
/* kymo info: what is in a trace or a capture. */
#include "info.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "say.h"

enum {
	OPTION_JSON = 256,
	OPTION_QUICK,
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"quick", no_argument, NULL, OPTION_QUICK},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo info FILE [OPTION]...\n"
	"\n"
	"Says what is in a capture (.kymo) or a Chrome trace (.json, .json.gz; of any\n"
	"tool): who was recorded, by which sources, with what losses, and what there\n"
	"is of each type.\n"
	"\n"
	"      --quick  of a large trace of Kymo read the first and last part only:\n"
	"               no rows, no types, no duration\n"
	"      --json   print one JSON object\n"
	"  -h, --help   show this\n";

/* ---- What is known of a file ---- */

void *ky_info_append(void *list, size_t *count, size_t size)
{
	char *items;

	/* Grown at powers of two, the capacity being implied by the count. */
	if ((*count & (*count - 1)) == 0)
		list = ky_must_grow(list, *count ? 2 * *count : 1, size);
	items = list;
	memset(items + *count * size, 0, size);
	(*count)++;
	return list;
}

static void *reach(void *list, size_t *capacity, size_t index, size_t size)
{
	size_t wanted = *capacity ? *capacity : 64;
	char *grown;

	if (index < *capacity)
		return list;
	while (wanted <= index)
		wanted *= 2;
	grown = ky_must_grow(list, wanted, size);
	memset(grown + *capacity * size, 0, (wanted - *capacity) * size);
	*capacity = wanted;
	return grown;
}

struct ky_info_track *ky_info_track(struct ky_info *info, const void *key, size_t size)
{
	const size_t number =
		ky_table_number(&info->track_keys, key, size, KY_INFO_KEPT_MAX);

	if (number == KY_TABLE_FULL)
		return &info->other_rows;
	info->tracks =
		reach(info->tracks, &info->track_capacity, number, sizeof(*info->tracks));
	return &info->tracks[number];
}

struct ky_info_category *ky_info_category(struct ky_info *info, const char *name,
					  size_t size)
{
	/* What is counted by name has room kept for it. */
	const bool is_counted = (size == 6 && memcmp(name, "kernel", size) == 0) ||
				(size == 10 && memcmp(name, "gpu_memcpy", size) == 0);
	const size_t number =
		ky_table_number(&info->category_names, name, size,
				is_counted ? KY_INFO_KEPT_MAX : KY_INFO_KEPT_MAX - 2);

	if (number == KY_TABLE_FULL)
		return &info->other_categories;
	info->categories = reach(info->categories, &info->category_capacity, number,
				 sizeof(*info->categories));
	return &info->categories[number];
}

char *ky_info_copy_name(const char *name, size_t size)
{
	if (size > KY_INFO_NAME_SIZE) {
		size = KY_INFO_NAME_SIZE;
		while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
			size--;
	}
	return ky_must_copy(name, size);
}

int64_t ky_info_add_ns(int64_t a_ns, int64_t b_ns)
{
	int64_t sum_ns;

	if (__builtin_add_overflow(a_ns, b_ns, &sum_ns))
		return b_ns < 0 ? INT64_MIN : INT64_MAX;
	return sum_ns;
}

int64_t ky_info_between_ns(int64_t begin_ns, int64_t end_ns)
{
	int64_t between_ns;

	if (__builtin_sub_overflow(end_ns, begin_ns, &between_ns))
		return end_ns < begin_ns ? INT64_MIN : INT64_MAX;
	return between_ns;
}

void ky_info_note_time(struct ky_info *info, int64_t begin_ns, int64_t end_ns)
{
	if (!info->has_time || begin_ns < info->first_ns)
		info->first_ns = begin_ns;
	if (!info->has_time || end_ns > info->last_ns)
		info->last_ns = end_ns;
	info->has_time = true;
}

uint64_t ky_info_ledger(const struct ky_info *info, const char *name)
{
	size_t i;

	for (i = 0; i < info->ledger_count; i++) {
		if (strcmp(info->ledger[i].name, name) == 0)
			return info->ledger[i].value;
	}
	return 0;
}

void ky_info_part_projected(struct ky_info *info)
{
	const uint64_t projected = ky_info_ledger(info, "projected");

	info->projected = projected < info->spans ? projected : info->spans;
	info->spans -= info->projected;
}

bool ky_info_is_incomplete(const struct ky_info *info)
{
	return ky_info_ledger(info, "cut_captures") > 0 ||
	       ky_info_ledger(info, "bad_bytes") > 0;
}

/* ---- The command ---- */

static int read_file(struct ky_info *info, bool quick)
{
	struct ky_input input;
	const int number = ky_input_open(&input, info->path);
	bool capture, is_empty;

	if (number != 0)
		return ky_say_error(KY_EXIT_FAILED, "cannot read \"%s\": %s", info->path,
				    ky_input_reason(number));
	capture = ky_input_is_capture(&input);
	is_empty = input.size == 0;
	ky_input_close(&input);
	if (is_empty)
		return ky_say_error(KY_EXIT_FAILED,
				    "cannot read \"%s\": the file is empty", info->path);
	if (capture)
		return ky_info_read_capture(info);
	return quick ? ky_info_read_quick(info) : ky_info_read_trace(info);
}

int ky_cli_info(int argc, char **argv)
{
	static struct ky_info info; /* its tables live as long as the command */
	bool json = false, quick = false;
	int option, status;

	opterr = 0;
	for (;;) {
		option = getopt_long(argc, argv, ":h", long_options, NULL);
		if (option == -1)
			break;
		if (option == 'h') {
			fputs(usage, stdout);
			return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
		}
		if (option != OPTION_JSON && option != OPTION_QUICK)
			return ky_say_usage(KY_EXIT_USAGE, option, argv, long_options);
		json |= option == OPTION_JSON;
		quick |= option == OPTION_QUICK;
	}
	if (argc - optind != 1)
		return ky_say_error(KY_EXIT_USAGE,
				    "info: one FILE is wanted; see kymo info --help");
	info.path = argv[optind];
	status = read_file(&info, quick); /* what it found lives as long as the command */
	if (status != 0)
		return status;
	if (json)
		ky_info_print_json(&info);
	else
		ky_info_print(&info);
	return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
}
