/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All outputs are written in one pass, by a crew: a thread of its own and what it works
 * on. The caller looks on. If an operation of a sink takes long, it takes the other
 * outputs from that crew and has another one write them, while the slow one goes on with
 * the first. So a slow sink costs the others a second reading and nothing else, and is
 * not hurried itself. One that has not come back long after the others are whole is given
 * up: the thread, and what the crew has, are left to it for ever, since its sink may
 * still look at all of that.
 *
 * So a crew works on copies of everything, and the last of the two who lets go of it
 * frees them.
 */
#include "session/overtake.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "session/pass.h"

#define LOOK_NS   20000000u    /* how often the caller looks on */
#define STALL_NS  5000000000u  /* in one operation: the others overtake */
#define LIMIT_NS  60000000000u /* behind the others: given up */
#define CANCEL_NS 1000000000u  /* the same, of what is not wanted any more */
#define NS_PER_S  1000000000u

struct crew {
	uint32_t holders; /* atomic: its thread and the caller */
	uint32_t is_over; /* atomic: changes when its thread is done with it */
	struct ky_progress progress;
	struct ky_pass pass;
	struct kymo_sink_options options;
	char *compat, **captures, **paths;
	struct ky_fanout fanout;
	int32_t status;
	struct kymo_error error;
	/* The caller's: whose outputs these are, NULL once that is settled. */
	struct kymo_output **outputs;
	uint32_t calls;    /* of the fan-out, as last seen */
	uint64_t since_ns; /* when they were seen to change */
	int is_overtaken;
};

struct watch {
	const struct ky_export *export;
	const struct kymo_sink_options *options;
	struct crew **crews; /* NULL: dismissed */
	size_t crew_count, working;
	uint64_t dismissed_ns, cancelled_ns; /* the last time; since when, or 0 */
	uint32_t percent;                    /* of the whole, when it began */
	struct kymo_summary *summary;
};

void ky_output_take(struct kymo_output *output, const struct ky_fanout_branch *branch)
{
	output->error = branch->error;
	output->status = branch->error.status;
	if (branch->error.status == KYMO_OK)
		output->bytes = branch->result.bytes;
}

/* ---- Crews ---- */

static void free_texts(char **texts, size_t count)
{
	for (size_t i = 0; texts && i < count; i++)
		free(texts[i]);
	free(texts);
}

static void let_go(struct crew *crew)
{
	if (__atomic_sub_fetch(&crew->holders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free_texts(crew->captures, crew->pass.capture_count);
	free_texts(crew->paths, crew->fanout.count);
	free(crew->compat);
	free(crew->fanout.branches);
	free(crew->outputs);
	free(crew);
}

static void write_outputs(struct crew *crew)
{
	crew->status = ky_pass_write(&crew->pass, (const char *const *)crew->paths,
				     &crew->options, &crew->fanout, &crew->error);
	ky_tell_change(&crew->is_over);
}

static void work(void *context)
{
	write_outputs(context);
	let_go(context);
}

/* NULL stays NULL. */
static int copy_text(const char *from, char **out)
{
	*out = from ? strdup(from) : NULL;
	return !from || *out;
}

static int copy_all(struct crew *crew, const struct watch *watch)
{
	const struct kymo_str compat = watch->options->compat;
	int is_whole = 1;

	crew->captures = calloc(crew->pass.capture_count + 1, sizeof(char *));
	crew->paths = calloc(crew->fanout.count + 1, sizeof(char *));
	crew->fanout.branches =
		calloc(crew->fanout.count, sizeof(*crew->fanout.branches));
	crew->compat = strndup(compat.size ? compat.data : "", compat.size);
	if (!crew->captures || !crew->paths || !crew->fanout.branches || !crew->compat)
		return 0;
	for (size_t i = 0; i < crew->pass.capture_count; i++)
		is_whole &= copy_text(watch->export->captures[i], &crew->captures[i]);
	for (size_t i = 0; i < crew->fanout.count; i++)
		is_whole &= copy_text(crew->outputs[i]->path, &crew->paths[i]);
	crew->options = *watch->options;
	crew->options.compat.data = crew->compat;
	crew->pass.captures = (const char *const *)crew->captures;
	crew->pass.since_ns = watch->export->since_ns;
	crew->pass.progress = &crew->progress;
	return is_whole;
}

/* Puts a crew to work on `outputs`, which are taken; if none can be, they say why. */
static void send_crew(struct watch *watch, struct kymo_output **outputs, size_t count)
{
	struct crew *crew = calloc(1, sizeof(*crew));

	if (crew) {
		crew->holders = 2;
		crew->outputs = outputs;
		crew->fanout.count = count;
		crew->pass.capture_count =
			watch->export->captures ? watch->export->count : 0;
		crew->since_ns = ky_monotonic_ns();
	}
	if (crew && copy_all(crew, watch)) {
		watch->crews[watch->crew_count++] = crew;
		watch->working++;
		/* Without a thread at least those are written that do not hang. */
		if (ky_thread_start(work, crew) != KYMO_OK) {
			crew->holders = 1;
			write_outputs(crew);
		}
		return;
	}
	for (size_t i = 0; i < count; i++)
		outputs[i]->status = ky_error_no_memory(&outputs[i]->error);
	if (!crew) {
		free(outputs);
		return;
	}
	crew->holders = 1;
	let_go(crew);
}

/* ---- Looking on ---- */

static void settle(struct crew *crew, size_t index)
{
	ky_output_take(crew->outputs[index], &crew->fanout.branches[index]);
	crew->outputs[index] = NULL;
}

/* How many of its outputs are not settled; takes those of which it is known. */
static size_t settle_all(struct crew *crew)
{
	size_t left = 0;

	for (size_t i = 0; i < crew->fanout.count; i++) {
		if (crew->outputs[i] && ky_fanout_is_over(&crew->fanout.branches[i]))
			settle(crew, i);
		left += crew->outputs[i] != NULL;
	}
	return left;
}

/* Another crew for all but the one output that this one hangs in. */
static void overtake(struct watch *watch, struct crew *crew, uint32_t calling)
{
	struct kymo_output **rest =
		calloc(crew->fanout.count + 1, sizeof(struct kymo_output *));
	size_t count = 0;

	if (!rest || !ky_fanout_overtake(&crew->fanout, calling)) {
		free(rest);
		return;
	}
	crew->is_overtaken = 1;
	settle_all(crew);
	for (size_t i = 0; i < crew->fanout.count; i++) {
		if (!crew->outputs[i] || i == calling - 1)
			continue;
		rest[count++] = crew->outputs[i];
		crew->outputs[i] = NULL;
	}
	if (count > 0)
		send_crew(watch, rest, count);
	else
		free(rest);
}

/* What it has not done; should it come back after all, it does not go on. */
static void give_up(struct crew *crew, const struct watch *watch, uint64_t now_ns)
{
	const unsigned seconds = (unsigned)((now_ns - crew->since_ns) / NS_PER_S);

	ky_progress_cancel(&crew->progress);
	settle_all(crew);
	for (size_t i = 0; i < crew->fanout.count; i++) {
		struct kymo_output *output = crew->outputs[i];

		if (output && watch->cancelled_ns)
			output->status = ky_error_set(
				&output->error, KYMO_ERROR_CANCELLED, "it was cancelled");
		else if (output)
			output->status = ky_error_set(
				&output->error, KYMO_ERROR_IO,
				"its sink has not come back for %u s, and is given up",
				seconds);
	}
}

static uint64_t first_of(uint64_t a, uint64_t b)
{
	return a ? a : b;
}

/* Whether there is nothing to wait for any more. */
static int is_done(struct watch *watch, struct crew *crew, uint64_t now_ns)
{
	const uint32_t calls = __atomic_load_n(&crew->fanout.calls, __ATOMIC_RELAXED);
	const uint32_t calling = __atomic_load_n(&crew->fanout.calling, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&crew->is_over, __ATOMIC_ACQUIRE)) {
		settle_all(crew);
		return 1;
	}
	if (calling == 0 || calls != crew->calls) {
		crew->calls = calls;
		crew->since_ns = now_ns;
	} else if (!crew->is_overtaken &&
		   now_ns - crew->since_ns >
			   first_of(watch->export->stall_ns, STALL_NS)) {
		overtake(watch, crew, calling);
	}
	return 0;
}

static int is_too_late(const struct watch *watch, const struct crew *crew,
		       uint64_t now_ns)
{
	const uint64_t limit_ns = first_of(watch->export->limit_ns, LIMIT_NS);

	if (watch->cancelled_ns)
		return now_ns - watch->cancelled_ns > CANCEL_NS;
	return crew->is_overtaken && now_ns - crew->since_ns > limit_ns &&
	       now_ns - watch->dismissed_ns > limit_ns;
}

/* The caller's progress goes on from here, and so does its wish that there be none. */
static void pass_on_progress(struct watch *watch, uint64_t now_ns)
{
	struct ky_progress *progress = watch->export->progress;
	uint32_t percent = 0;

	if (!progress)
		return;
	if (!watch->cancelled_ns &&
	    __atomic_load_n(&progress->is_cancelled, __ATOMIC_RELAXED))
		watch->cancelled_ns = now_ns;
	for (size_t i = 0; i < watch->crew_count; i++) {
		if (!watch->crews[i])
			continue;
		percent = ky_progress_percent(&watch->crews[i]->progress);
		if (watch->cancelled_ns)
			ky_progress_cancel(&watch->crews[i]->progress);
	}
	percent = watch->percent + percent * (100 - watch->percent) / 100;
	if (percent > ky_progress_percent(progress))
		__atomic_store_n(&progress->percent, percent, __ATOMIC_RELAXED);
}

static void dismiss(struct watch *watch, size_t index, uint64_t now_ns)
{
	let_go(watch->crews[index]);
	watch->crews[index] = NULL;
	watch->working--;
	watch->dismissed_ns = now_ns;
}

/* Once over all crews, also those that are sent meanwhile. */
static void look(struct watch *watch, struct kymo_error *reason)
{
	const uint64_t now_ns = ky_monotonic_ns();

	pass_on_progress(watch, now_ns);
	for (size_t i = 0; i < watch->crew_count; i++) {
		struct crew *crew = watch->crews[i];

		if (!crew)
			continue;
		if (is_done(watch, crew, now_ns)) {
			if (crew->status == KYMO_OK)
				*watch->summary = crew->pass.summary;
			else
				*reason = crew->error;
			reason->status = crew->status;
			dismiss(watch, i, now_ns);
		} else if (is_too_late(watch, crew, now_ns)) {
			give_up(crew, watch, now_ns);
			dismiss(watch, i, now_ns);
		}
	}
}

/* Until the latest crew is done, or a moment. */
static void pause_shortly(const struct watch *watch)
{
	for (size_t i = watch->crew_count; i-- > 0;) {
		if (!watch->crews[i])
			continue;
		ky_wait_for_change(&watch->crews[i]->is_over, 0,
				   ky_monotonic_ns() + LOOK_NS);
		return;
	}
}

/* Those that no crew has reached; KYMO_OK if one is whole. */
static int32_t judge(struct kymo_output *const *outputs, int32_t status,
		     const struct kymo_error *reason)
{
	int is_reached = 0, is_whole = 0;

	for (size_t i = 0; outputs[i]; i++) {
		is_reached |= outputs[i]->status != KYMO_ERROR_STATE;
		is_whole |= outputs[i]->status == KYMO_OK;
	}
	for (size_t i = 0; outputs[i] && is_reached; i++) {
		if (outputs[i]->status != KYMO_ERROR_STATE)
			continue;
		outputs[i]->error = *reason;
		outputs[i]->status = status;
	}
	return is_whole ? KYMO_OK : status;
}

int32_t ky_overtake_run(const struct ky_export *export, size_t count,
			const struct kymo_sink_options *options,
			struct kymo_summary *summary, struct kymo_error *error)
{
	struct watch watch = {.export = export, .options = options, .summary = summary};
	struct kymo_output **outputs = calloc(count + 1, sizeof(*outputs));
	struct kymo_error reason = {.status = KYMO_ERROR_IO};

	/* Each crew that is overtaken keeps an output at least. */
	watch.crews = calloc(count + 1, sizeof(*watch.crews));
	if (!outputs || !watch.crews) {
		free(outputs);
		free(watch.crews);
		return ky_error_no_memory(error);
	}
	if (export->progress)
		watch.percent = ky_progress_percent(export->progress);
	memcpy(outputs, export->outputs, count * sizeof(*outputs));
	send_crew(&watch, outputs, count);
	while (watch.working > 0) {
		pause_shortly(&watch);
		look(&watch, &reason);
	}
	free(watch.crews);
	if (error)
		*error = reason;
	return judge(export->outputs, reason.status, &reason);
}
