/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a file, for people: the few lines that matter first, then tables. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define ROWS_MAX 20 /* of a table that can be very long */

/* ---- Tables ---- */

#define COLUMNS_MAX 7

/* Cells of text; numbers stand to the right. Printed and emptied at once. */
struct grid {
	char *(*rows)[COLUMNS_MAX];
	size_t row_count;
	int columns;
	const char *align; /* 'l' or 'r' for each column */
};

/* One cell for each column; NULL is an empty one. */
static void add_row(struct grid *grid, const char *const cells[])
{
	int i;

	grid->rows = ky_info_append(grid->rows, &grid->row_count, sizeof(*grid->rows));
	for (i = 0; i < grid->columns; i++) {
		const char *cell = cells[i] ? cells[i] : "";

		grid->rows[grid->row_count - 1][i] = ky_must_copy(cell, strlen(cell));
	}
}

/* Columns on a terminal: characters, not bytes. A wide one counts as one and juts out. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(const char *cell, size_t width, bool right, bool last)
{
	const size_t used = width_of(cell);
	const int blanks = used < width ? (int)(width - used) : 0;

	if (right)
		printf("%*s", blanks, "");
	ky_say_text(stdout, cell);
	if (!right && !last)
		printf("%*s", blanks, "");
}

static void print_grid(struct grid *grid)
{
	size_t widths[COLUMNS_MAX] = {0}, i;
	int column;

	for (i = 0; i < grid->row_count; i++) {
		for (column = 0; column < grid->columns; column++) {
			const size_t width = width_of(grid->rows[i][column]);

			if (width > widths[column])
				widths[column] = width;
		}
	}
	for (i = 0; i < grid->row_count; i++) {
		int last = grid->columns - 1;

		while (last > 0 && !grid->rows[i][last][0])
			last--;
		for (column = 0; column <= last; column++) {
			fputs("  ", stdout);
			print_cell(grid->rows[i][column], widths[column],
				   grid->align[column] == 'r', column == last);
		}
		fputc('\n', stdout);
		for (column = 0; column < grid->columns; column++)
			free(grid->rows[i][column]);
	}
	free(grid->rows);
	grid->rows = NULL;
	grid->row_count = 0;
}

static void print_title(const char *title, uint64_t count)
{
	char text[KY_SAY_SIZE];

	printf("\n%s (%s)\n", title, ky_say_count(text, count));
}

static void print_rest(size_t count)
{
	char text[KY_SAY_SIZE];

	if (count > ROWS_MAX)
		printf("  and %s more\n", ky_say_count(text, count - ROWS_MAX));
}

/* What there was no room for. */
static void print_others(uint64_t events, const char *what)
{
	char text[KY_SAY_SIZE];

	if (events > 0)
		printf("  and %s events of other %s\n", ky_say_count(text, events), what);
}

/* ---- The parts ---- */

static void print_summary(const struct ky_info *info)
{
	char bytes[KY_SAY_SIZE], unpacked[KY_SAY_SIZE], text[KY_SAY_SIZE];

	ky_say_text(stdout, info->path);
	printf(": %s%s%s, %s", info->is_ours ? "Kymo " : "", info->format,
	       info->is_gzip ? ", gzip" : "", ky_say_bytes(bytes, info->file_bytes));
	if (info->is_gzip)
		printf(" (%s unpacked)", ky_say_bytes(unpacked, info->bytes));
	fputc('\n', stdout);
	if (info->command_line && info->command_line[0]) {
		fputs("  command   ", stdout);
		ky_say_text(stdout, info->command_line);
		fputc('\n', stdout);
	}
	if (info->version)
		printf("  version   %s\n", info->version);
	if (info->has_time) {
		int64_t epoch;

		if (info->has_base &&
		    !__builtin_add_overflow(info->base_ns, info->first_ns, &epoch))
			printf("  begin     %s\n", ky_say_time(text, epoch));
		printf("  duration  %s\n",
		       ky_say_duration(
			       text, ky_info_between_ns(info->first_ns, info->last_ns)));
	}
}

static uint64_t sum_of(const struct ky_info *info, const char *category)
{
	size_t i;

	for (i = 0; i < info->category_names.count; i++) {
		if (strcmp(info->category_names.names[i].text, category) == 0)
			return info->categories[i].spans;
	}
	return 0;
}

static void print_count(const char *name, uint64_t count)
{
	char many[KY_SAY_SIZE];

	snprintf(many, sizeof(many), "%ss", name);
	if (count > 0)
		ky_say_number(stdout, ", ", count, name, many);
}

static void print_counts(const struct ky_info *info)
{
	const uint64_t kernels =
		info->is_quick ? ky_info_ledger(info, "kernels") : sum_of(info, "kernel");
	const uint64_t copies = info->is_quick ? ky_info_ledger(info, "copies")
					       : sum_of(info, "gpu_memcpy");

	ky_say_number(stdout, "  events    ", info->spans, "span", "spans");
	print_count("instant", info->instants);
	/* In a trace a sample with several units is several events. */
	print_count(info->is_quick || strcmp(info->format, "capture") == 0
			    ? "counter sample"
			    : "counter event",
		    info->counters);
	print_count("arrow", info->arrows);
	print_count("other", info->others);
	print_count("projected span", info->projected);
	if (kernels + copies > 0) {
		ky_say_number(stdout, "; ", kernels, "kernel", "kernels");
		ky_say_number(stdout, ", ", copies, "copy", "copies");
	}
	fputc('\n', stdout);
	if (info->left_out > 0)
		ky_say_number(stdout, "  note      ", info->left_out,
			      "process, source or the like is left out\n",
			      "processes, sources or the like are left out\n");
	if (ky_info_is_incomplete(info))
		puts("  note      " KY_SAY_INCOMPLETE);
}

static void print_processes(const struct ky_info *info)
{
	struct grid grid = {.columns = 5, .align = "rllll"};
	size_t i;

	if (info->process_count == 0)
		return;
	print_title("PROCESSES", info->process_count);
	for (i = 0; i < info->process_count && i < ROWS_MAX; i++) {
		const struct ky_info_process *process = &info->processes[i];
		char rank[KY_SAY_SIZE] = "";

		if (process->rank)
			snprintf(rank, sizeof(rank), "rank %s", process->rank);
		add_row(&grid, (const char *[COLUMNS_MAX]){process->pid, process->name,
							   process->host, rank,
							   process->command_line});
	}
	print_grid(&grid);
	print_rest(info->process_count);
}

#define VALUE_SIZE 100 /* bytes; --json has all of it */

static void print_values(const struct ky_info *info)
{
	struct grid grid = {.columns = 2, .align = "ll"};
	size_t i;

	if (info->value_count == 0)
		return;
	print_title("METADATA", info->value_count);
	for (i = 0; i < info->value_count && i < ROWS_MAX; i++) {
		const struct ky_info_value *value = &info->values[i];
		size_t size = strlen(value->json);
		char text[VALUE_SIZE + sizeof("...")];

		if (size > VALUE_SIZE)
			size = VALUE_SIZE;
		/* Not in the middle of a character. */
		while (size > 0 && ((unsigned char)value->json[size] & 0xc0) == 0x80)
			size--;
		snprintf(text, sizeof(text), "%.*s%s", (int)size, value->json,
			 value->json[size] ? "..." : "");
		add_row(&grid, (const char *[COLUMNS_MAX]){value->key, text});
	}
	print_grid(&grid);
	print_rest(info->value_count);
}

static const char *pid_of(const struct ky_info *info, uint64_t process)
{
	return process < info->process_count ? info->processes[process].pid : NULL;
}

#define LOSSES_SIZE 256

/* "3 lost (1 late), 12 overwritten, 5 filtered": what there is of it, or "0 lost". */
static void say_losses(char out[LOSSES_SIZE], const struct ky_info_source *source)
{
	const struct {
		uint64_t count;
		const char *words;
	} losses[] = {
		{source->lost, "lost"},
		{source->overwritten, "overwritten"},
		{source->out_of_window, "out of window"},
		{source->filtered, "filtered"},
		{source->invalid, "invalid"},
	};
	char text[KY_SAY_SIZE];
	size_t i, size = 0;

	for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		if (losses[i].count == 0)
			continue;
		size += (size_t)snprintf(
			out + size, LOSSES_SIZE - size, "%s%s %s", size > 0 ? ", " : "",
			ky_say_count(text, losses[i].count), losses[i].words);
		if (i == 0 && source->late > 0)
			size += (size_t)snprintf(out + size, LOSSES_SIZE - size,
						 " (%s late)",
						 ky_say_count(text, source->late));
	}
	if (size == 0)
		snprintf(out, LOSSES_SIZE, "0 lost");
}

static void print_sources(const struct ky_info *info)
{
	struct grid grid = {.columns = 7, .align = "lrlrrll"};
	size_t i;

	if (info->source_count == 0)
		return;
	print_title("SOURCES", info->source_count);
	for (i = 0; i < info->source_count && i < ROWS_MAX; i++) {
		const struct ky_info_source *source = &info->sources[i];
		char events[KY_SAY_SIZE], written[KY_SAY_SIZE], count[KY_SAY_SIZE];
		char losses[LOSSES_SIZE], why[1024];

		snprintf(events, sizeof(events), "%s %s",
			 ky_say_count(count, source->events),
			 source->events == 1 ? "event" : "events");
		snprintf(written, sizeof(written), "%s written",
			 ky_say_count(count, source->written));
		say_losses(losses, source);
		snprintf(why, sizeof(why), "%s%s%s", source->reason ? source->reason : "",
			 source->reason && source->remedy ? "; " : "",
			 source->remedy ? source->remedy : "");
		add_row(&grid, (const char *[COLUMNS_MAX]){
				       source->name, pid_of(info, source->process),
				       source->state, events, written, losses, why});
	}
	print_grid(&grid);
	print_rest(info->source_count);
}

static void print_devices(const struct ky_info *info)
{
	struct grid grid = {.columns = 5, .align = "rllll"};
	size_t i;

	if (info->device_count == 0)
		return;
	print_title("DEVICES", info->device_count);
	for (i = 0; i < info->device_count && i < ROWS_MAX; i++) {
		const struct ky_info_device *device = &info->devices[i];
		char number[KY_SAY_SIZE];

		snprintf(number, sizeof(number), "%zu", i);
		add_row(&grid, (const char *[COLUMNS_MAX]){
				       number, device->kind, device->name, device->source,
				       pid_of(info, device->process)});
	}
	print_grid(&grid);
	print_rest(info->device_count);
}

/* Numbers of a list from the largest value to the smallest. */
struct ranked {
	size_t number;
	uint64_t value;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static void print_tracks(const struct ky_info *info)
{
	struct grid grid = {.columns = 3, .align = "rll"};
	const size_t count = info->track_keys.count;
	struct ranked *order;
	size_t i;

	if (count == 0)
		return;
	order = ky_must_grow(NULL, count, sizeof(*order));
	for (i = 0; i < count; i++)
		order[i] = (struct ranked){i, info->tracks[i].events};
	qsort(order, count, sizeof(*order), compare_ranked);
	print_title("ROWS", count);
	for (i = 0; i < count && i < ROWS_MAX; i++) {
		const struct ky_info_track *track = &info->tracks[order[i].number];
		char events[KY_SAY_SIZE], key[KY_SAY_SIZE];
		const char *words = info->track_keys.names[order[i].number].text;

		snprintf(key, sizeof(key), "(no name) pid %.20s", words);
		/* One process has said who it is; of several, rows are called alike. */
		add_row(&grid, (const char *[COLUMNS_MAX]){
				       ky_say_count(events, track->events),
				       track->name ? track->name : key,
				       info->process_count > 1 ? track->owner : NULL});
	}
	print_grid(&grid);
	print_rest(count);
	print_others(info->other_rows.events, "rows");
	free(order);
}

static void print_categories(const struct ky_info *info)
{
	struct grid grid = {.columns = 3, .align = "lrr"};
	const size_t count = info->category_names.count;
	struct ranked *order;
	size_t i;

	if (count == 0)
		return;
	order = ky_must_grow(NULL, count, sizeof(*order));
	for (i = 0; i < count; i++)
		order[i] = (struct ranked){i, ky_info_count(&info->categories[i])};
	qsort(order, count, sizeof(*order), compare_ranked);
	print_title("TYPES", count);
	for (i = 0; i < count && i < ROWS_MAX; i++) {
		const struct ky_info_category *category =
			&info->categories[order[i].number];
		const char *name = info->category_names.names[order[i].number].text;
		char events[KY_SAY_SIZE], busy[KY_SAY_SIZE] = "";

		if (category->spans > 0)
			ky_say_duration(busy, category->busy_ns);
		add_row(&grid, (const char *[COLUMNS_MAX]){
				       name[0] ? name : "(no category)",
				       ky_say_count(events, order[i].value), busy});
	}
	print_grid(&grid);
	print_rest(count);
	print_others(ky_info_count(&info->other_categories), "types");
	free(order);
}

static void print_types(const struct ky_info *info)
{
	struct grid grid = {.columns = 5, .align = "rllll"};
	size_t i;

	if (info->type_count == 0)
		return;
	print_title("ACTIVITY TYPES", info->type_count);
	for (i = 0; i < info->type_count && i < ROWS_MAX; i++) {
		const struct ky_info_type *type = &info->types[i];
		char number[24];

		snprintf(number, sizeof(number), "%" PRIu64, type->number);
		add_row(&grid,
			(const char *[COLUMNS_MAX]){number, type->name, type->category,
						    type->side, type->shapes});
	}
	print_grid(&grid);
	print_rest(info->type_count);
}

static void print_clocks(const struct ky_info *info)
{
	struct grid grid = {.columns = 5, .align = "llrrl"};
	size_t i;

	if (info->clock_count == 0)
		return;
	print_title("CLOCKS", info->clock_count);
	for (i = 0; i < info->clock_count && i < ROWS_MAX; i++) {
		const struct ky_info_clock *clock = &info->clocks[i];
		char anchors[KY_SAY_SIZE], error[KY_SAY_SIZE], text[KY_SAY_SIZE];

		snprintf(anchors, sizeof(anchors), "%s %s",
			 ky_say_count(text, clock->anchors),
			 clock->anchors == 1 ? "anchor" : "anchors");
		snprintf(error, sizeof(error), "within %s",
			 ky_say_duration(text, clock->uncertainty_ns > INT64_MAX
						       ? INT64_MAX
						       : (int64_t)clock->uncertainty_ns));
		add_row(&grid, (const char *[COLUMNS_MAX]){clock->kind, clock->source,
							   anchors, error, clock->name});
	}
	print_grid(&grid);
	print_rest(info->clock_count);
}

/* Zeros say nothing here; that all is well is said in one line. */
static void print_ledger(const struct ky_info *info)
{
	static const char *const always[] = {"offered", "accepted", "written"};
	struct grid grid = {.columns = 2, .align = "lr"};
	size_t i, j;

	if (info->ledger_count == 0)
		return;
	fputs("\nLEDGER\n", stdout);
	for (i = 0; i < info->ledger_count; i++) {
		const struct ky_info_entry *entry = &info->ledger[i];
		bool wanted = entry->value > 0;
		char count[KY_SAY_SIZE];

		for (j = 0; j < sizeof(always) / sizeof(always[0]); j++)
			wanted |= strcmp(entry->name, always[j]) == 0;
		if (wanted)
			add_row(&grid,
				(const char *[COLUMNS_MAX]){
					entry->name, ky_say_count(count, entry->value)});
	}
	print_grid(&grid);
}

void ky_info_print(const struct ky_info *info)
{
	print_summary(info);
	print_counts(info);
	print_processes(info);
	print_values(info);
	print_sources(info);
	print_devices(info);
	print_tracks(info);
	print_categories(info);
	print_types(info);
	print_clocks(info);
	print_ledger(info);
}
