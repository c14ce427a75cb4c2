/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define NS_PER_MS 1000000u

/* "1.5 s", to the millisecond: it is for people. */
static const char *seconds(char out[32], uint64_t ns)
{
	const uint64_t ms = (ns + NS_PER_MS / 2) / NS_PER_MS;
	int size = snprintf(out, 32, "%" PRIu64 ".%03u", ms / 1000,
			    (unsigned int)(ms % 1000));

	while (out[size - 1] == '0')
		size--;
	if (out[size - 1] == '.')
		size--;
	snprintf(out + size, 32 - (size_t)size, " s");
	return out;
}

static uint64_t end_ns(const struct ky_window *window)
{
	return window->delay_ns + window->duration_ns;
}

static void make_plan(struct ky_window *window)
{
	char from[32], to[32];

	if (window->range)
		snprintf(window->plan, sizeof(window->plan), "%s of each process",
			 window->range);
	else if (window->rests)
		snprintf(window->plan, sizeof(window->plan),
			 "from when it is ordered, at rest before");
	else if (window->duration_ns)
		snprintf(window->plan, sizeof(window->plan),
			 "from %s to %s after the program's start",
			 seconds(from, window->delay_ns), seconds(to, end_ns(window)));
	else if (window->delay_ns)
		snprintf(window->plan, sizeof(window->plan),
			 "from %s after the program's start",
			 seconds(from, window->delay_ns));
}

void ky_window_plan(struct ky_window *window, const struct kymo_recorder_options *options,
		    struct ky_reception *reception)
{
	window->reception = reception;
	window->delay_ns = options->delay_ns;
	window->duration_ns = options->duration_ns;
	window->range = options->capture_range;
	window->rests = options->start_paused;
	window->state = KY_WINDOW_CLOSED;
	make_plan(window);
	/* The keeper comes later; captures are made with it. */
	if (window->rests || window->delay_ns)
		reception->custody->command = KY_COMMAND_REST;
	else
		window->state = KY_WINDOW_OPEN;
}

void ky_window_begin(struct ky_window *window)
{
	window->begun_ns = ky_monotonic_ns();
}

static void obeyed(void *owner, uint64_t number, uint32_t not_count)
{
	struct ky_window *window = owner;

	/* What was ordered shortly before may be told now. */
	if (number != window->stop || window->state != KY_WINDOW_CLOSING)
		return;
	window->not_stopped = not_count;
	window->state = KY_WINDOW_OVER;
}

static void open_window(struct ky_window *window)
{
	window->state = KY_WINDOW_OPEN;
	ky_custody_command(window->reception->custody, KY_COMMAND_RECORD);
}

static void close_window(struct ky_window *window)
{
	struct ky_custody *custody = window->reception->custody;

	window->state = KY_WINDOW_CLOSING;
	window->closed_ns = ky_monotonic_ns();
	ky_reception_turn_away(window->reception);
	custody->obeyed = obeyed;
	custody->obeyed_owner = window;
	window->stop = ky_custody_command(custody, KY_COMMAND_STOP);
}

/* When the next step is due, after the program's start; 0: never. */
static uint64_t next_ns(const struct ky_window *window)
{
	if (window->state == KY_WINDOW_CLOSED && !window->rests)
		return window->delay_ns;
	if (window->state == KY_WINDOW_OPEN && window->duration_ns)
		return end_ns(window);
	return 0;
}

int ky_window_expire(struct ky_window *window)
{
	uint64_t next, past;

	if (window->reception->custody->is_finishing || window->begun_ns == 0)
		return -1;
	for (;;) {
		next = next_ns(window);
		past = ky_monotonic_ns() - window->begun_ns;
		if (next == 0)
			return -1;
		if (past < next)
			break;
		if (window->state == KY_WINDOW_CLOSED)
			open_window(window);
		else
			close_window(window);
	}
	next = (next - past) / NS_PER_MS + 1;
	return next < INT32_MAX ? (int)next : INT32_MAX;
}

int ky_window_is_over(const struct ky_window *window)
{
	return window->state == KY_WINDOW_OVER;
}

void ky_window_tell(const struct ky_window *window, int is_empty, char *out, size_t size)
{
	char from[32], to[32];

	if (window->range && is_empty)
		snprintf(out, size, "no process began a range of that name (%s)",
			 window->range);
	else if (window->range || window->rests)
		snprintf(out, size, "recorded: %s", window->plan);
	else if (!window->plan[0])
		out[0] = '\0';
	else if (window->state == KY_WINDOW_CLOSED)
		snprintf(out, size,
			 "the program ended before the recording was to begin, %s after "
			 "its start",
			 seconds(from, window->delay_ns));
	else if (window->state == KY_WINDOW_OPEN)
		snprintf(out, size, "recorded: from %s to the program's end",
			 seconds(from, window->delay_ns));
	else
		snprintf(out, size, "recorded: from %s to %s after the program's start",
			 seconds(from, window->delay_ns),
			 seconds(to, window->closed_ns - window->begun_ns));
	if (window->not_stopped > 0) {
		const size_t used = strlen(out);

		snprintf(out + used, size - used,
			 "; %" PRIu32 " of the processes did not stop in time",
			 window->not_stopped);
	}
}
