/* SPDX-License-Identifier: BSD-3-Clause */
/* Every plug-in through a checkup, and each outcome told. */
#include <kymo/doctor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/checkup.h"
#include "control/machine.h"
#include "control/protocol.h"
#include "plugin/loader.h"

#define VARIABLES_MAX 32

struct round {
	kymo_finding_fn tell;
	void *context;
	struct kymo_error *error;
	struct ky_checkup checkup; /* the present one */
	uint32_t is_named;         /* what is no plug-in is told too */
	uint32_t is_found;         /* of what was named */
	int32_t status;
};

/* ---- Telling ---- */

static int32_t tell_plugin(struct round *round)
{
	const struct ky_checkup *checkup = &round->checkup;
	const int is_there = checkup->error.status != KYMO_ERROR_NOT_FOUND;
	const struct kymo_finding finding = {
		.struct_size = sizeof(finding),
		.kind = KYMO_FINDING_PLUGIN,
		.state = KYMO_STATE_FAILED,
		.name = "",
		.what = "",
		.why = checkup->error.message,
		.remedy = is_there ? "build or install it anew for this machine and "
				     "Kymo " KYMO_VERSION_STRING ", or take the file away"
				   : "name a file that is there; kymo doctor without a "
				     "name lists what is installed",
		.path = checkup->path,
		.plugin = checkup->plugin,
		.version = checkup->version,
		.description = "",
		.said = checkup->trial.said,
		.variables = (const char *const[]){NULL},
	};

	return round->tell(round->context, &finding);
}

static void list_variables(const struct ky_checkup *checkup, const char **out)
{
	const char *at = checkup->variables;
	const char *end = at + sizeof(checkup->variables);
	size_t count = 0;

	while (count < checkup->variable_count && count < VARIABLES_MAX && at < end) {
		out[count++] = at;
		at += strlen(at) + 1;
	}
	out[count] = NULL;
}

/* Those that a probe left behind are ended already; that it does so is worth a word. */
static void add_left(const struct ky_checkup *checkup, char *why, size_t size)
{
	const size_t used = strlen(why);

	if (checkup->trial.left > 0)
		snprintf(why + used, size - used,
			 "%sits probe left %u process%s behind, which %s ended",
			 used ? "; " : "", checkup->trial.left,
			 checkup->trial.left == 1 ? "" : "es",
			 checkup->trial.left == 1 ? "was" : "were");
}

/* What the probe says helps; where it cannot even be asked, what always does. */
static void add_remedy(const struct ky_checkup *checkup, char *remedy, size_t size)
{
	ky_text_copy(remedy, size, checkup->probe.remedy);
	if (!remedy[0] && checkup->state == KYMO_STATE_FAILED)
		snprintf(remedy, size, "ask whoever made it, or remove %s",
			 checkup->path[0] ? checkup->path : "it");
}

static int32_t tell_part(struct round *round, uint32_t kind)
{
	const struct ky_checkup *checkup = &round->checkup;
	const char *variables[VARIABLES_MAX + 1];
	char why[sizeof(checkup->probe.why) + 80], remedy[4500];
	const struct kymo_finding finding = {
		.struct_size = sizeof(finding),
		.kind = kind,
		.state = checkup->state,
		.flags = checkup->flags,
		.name = checkup->name,
		.what = checkup->probe.what,
		.why = why,
		.remedy = remedy,
		.path = checkup->path,
		.plugin = checkup->plugin,
		.version = checkup->version,
		.description = checkup->description,
		.said = checkup->trial.said,
		.variables = variables,
	};

	ky_text_copy(why, sizeof(why), checkup->probe.why);
	add_left(checkup, why, sizeof(why));
	add_remedy(checkup, remedy, sizeof(remedy));
	list_variables(checkup, variables);
	return round->tell(round->context, &finding);
}

static int32_t tell_machine(struct round *round)
{
	struct ky_fact fact;
	int32_t status = KYMO_OK;

	for (uint32_t i = 0; !status && ky_machine_fact(i, &fact); i++) {
		const struct kymo_finding finding = {
			.struct_size = sizeof(finding),
			.kind = KYMO_FINDING_MACHINE,
			.state = fact.state,
			.name = fact.name,
			.what = fact.what,
			.why = fact.why,
			.remedy = fact.remedy,
			.path = "",
			.plugin = "",
			.version = "",
			.description = "",
			.said = "",
			.variables = (const char *const[]){NULL},
		};

		status = round->tell(round->context, &finding);
	}
	return status;
}

/* ---- Asking ---- */

static int32_t ask_part(struct round *round)
{
	struct ky_checkup *checkup = &round->checkup;
	int32_t status = ky_checkup_run(checkup, round->error);

	if (status)
		return status;
	if (checkup->stage == KY_CHECKUP_LOADING) {
		/* Other files may lie there too. */
		if (checkup->error.status == KYMO_ERROR_UNSUPPORTED && !round->is_named)
			return KYMO_OK;
		/* Looking for a source by name, those that cannot be asked are not it. */
		if (checkup->only[0])
			return KYMO_OK;
		round->is_found = 1;
		return tell_plugin(round);
	}
	if (checkup->index >= checkup->count ||
	    (checkup->only[0] && strcmp(checkup->only, checkup->name) != 0))
		return KYMO_OK;
	round->is_found = 1;
	return tell_part(round, checkup->kind == KY_CHECKUP_SINK ? KYMO_FINDING_SINK
								 : KYMO_FINDING_SOURCE);
}

/* Each source or sink of the file in a process of its own. */
static int ask_file(void *context, const char *path)
{
	struct round *round = context;
	struct ky_checkup *checkup = &round->checkup;

	ky_text_copy(checkup->path, sizeof(checkup->path), path);
	checkup->index = 0;
	do {
		round->status = ask_part(round);
	} while (!round->status && ++checkup->index < checkup->count);
	return round->status != KYMO_OK;
}

static int32_t ask_all(struct round *round, uint32_t kind)
{
	static const char *const folders[] = {
		[KY_CHECKUP_SOURCE] = "source",
		[KY_CHECKUP_SINK] = "sink",
	};
	int32_t status;

	round->checkup.kind = kind;
	round->checkup.is_probing = kind == KY_CHECKUP_SOURCE;
	status = ky_plugin_each(folders[kind], ask_file, round, round->error);
	return status ? status : round->status;
}

/* A plug-in without sources may be one of sinks, which whoever writes it asks for. */
static void ask_sinks(struct round *round, const char *path)
{
	round->checkup.kind = KY_CHECKUP_SINK;
	round->checkup.is_probing = 0;
	ask_file(round, path);
	if (!round->status && !round->is_found)
		round->status =
			ky_error_set(round->error, KYMO_ERROR_PLUGIN,
				     "the plug-in %s has no source and no sink", path);
}

/* By path, by the name of a file, or by that of a source in any of them. */
static int32_t ask_named(struct round *round, const char *name)
{
	struct ky_checkup *checkup = &round->checkup;
	struct kymo_error not_there = {0};
	char path[PATH_MAX] = "";
	int32_t status = ky_plugin_path("source", name, path, sizeof(path), &not_there);

	checkup->kind = KY_CHECKUP_SOURCE;
	checkup->is_probing = 1;
	round->is_found = 0;
	if (!status) {
		ask_file(round, path);
		if (!round->status && !round->is_found)
			ask_sinks(round, path);
		return round->status;
	}
	if (status == KYMO_ERROR_NOT_FOUND && strlen(name) < sizeof(checkup->only)) {
		ky_text_copy(checkup->only, sizeof(checkup->only), name);
		status = ask_all(round, KY_CHECKUP_SOURCE);
		checkup->only[0] = '\0';
		if (status || round->is_found)
			return status;
	}
	if (round->error)
		*round->error = not_there;
	return not_there.status;
}

int32_t kymo_doctor_run(const char *const *sources, kymo_finding_fn tell, void *context,
			struct kymo_error *error)
{
	struct round *round;
	int32_t status = KYMO_OK;

	if (!tell)
		return ky_error_set(error, KYMO_ERROR_INVALID, "nobody to be told");
	round = calloc(1, sizeof(*round));
	if (!round)
		return ky_error_no_memory(error);
	*round = (struct round){.tell = tell, .context = context, .error = error};
	round->is_named = sources != NULL;
	for (size_t i = 0; sources && sources[i] && !status; i++)
		status = ask_named(round, sources[i]);
	if (!sources)
		status = ask_all(round, KY_CHECKUP_SOURCE);
	if (!sources && !status)
		status = ask_all(round, KY_CHECKUP_SINK);
	if (!sources && !status)
		status = tell_machine(round);
	free(round);
	return status;
}
