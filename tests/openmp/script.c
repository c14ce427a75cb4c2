/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     script SCENARIO PLUGIN TRACE
 *
 * Plays what an OpenMP runtime may do, in a session of its own, and saves the trace. What
 * must be in it says openmp_test.py, under the scenario's name.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kymo/kymo.h>

#include "fake_runtime.h"
#include "script.h"

static struct kymo_session *session;
static const char *trace_path;

static void must(int32_t status, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "script: %s\n", error->message);
	exit(3);
}

void script_record(void)
{
	struct kymo_error error;

	must(kymo_session_create(&session, NULL, &error), &error);
	must(kymo_session_start(session, &error), &error);
}

/* Once; what a scenario has stopped itself stays so. */
void script_stop(void)
{
	static int is_stopped;
	struct kymo_error error;

	if (is_stopped)
		return;
	is_stopped = 1;
	must(kymo_session_stop(session, &error), &error);
}

void script_save_as_child(unsigned int number)
{
	struct kymo_error error;
	char path[4096];

	snprintf(path, sizeof(path), "%s.%u.json", trace_path, number);
	must(kymo_session_save(session, path, NULL, NULL, &error), &error);
}

void script_pause(int is_paused)
{
	struct kymo_error error;

	must(is_paused ? kymo_session_pause(session, &error)
		       : kymo_session_resume(session, &error),
	     &error);
}

void script_nap(void)
{
	nanosleep(&(struct timespec){0, 200000}, NULL);
}

void script_meet(struct team *team)
{
	pthread_barrier_wait(&team->barrier);
}

struct part {
	const struct scenario *scenario;
	struct team *team;
	unsigned int index;
};

static void *play_part(void *context)
{
	struct part *part = context;
	union ky_ompt_data thread = {0};

	THREAD_BEGIN(part->index == 0 ? KY_OMPT_THREAD_INITIAL : KY_OMPT_THREAD_WORKER,
		     &thread);
	part->scenario->play(part->team, part->index);
	THREAD_END(&thread);
	return NULL;
}

static void play(const struct scenario *scenario)
{
	struct team team = {.count = scenario->threads};
	pthread_t threads[TEAM_MAX];
	struct part parts[TEAM_MAX];

	pthread_barrier_init(&team.barrier, NULL, team.count);
	for (unsigned int i = 0; i < team.count; i++) {
		parts[i] = (struct part){scenario, &team, i};
		if (pthread_create(&threads[i], NULL, play_part, &parts[i]) != 0)
			exit(4);
	}
	for (unsigned int i = 0; i < team.count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&team.barrier);
}

int main(int argc, char **argv)
{
	struct kymo_error error;

	if (argc != 4)
		return 1;
	for (const struct scenario *scenario = scenarios; scenario->name; scenario++) {
		if (strcmp(scenario->name, argv[1]) != 0)
			continue;
		trace_path = argv[3];
		fake_start(argv[2], scenario->never);
		if (!scenario->starts_itself)
			script_record();
		play(scenario);
		script_stop();
		must(kymo_session_save(session, trace_path, NULL, NULL, &error), &error);
		kymo_session_destroy(session);
		return 0;
	}
	fprintf(stderr, "script: no scenario %s\n", argv[1]);
	return 1;
}
