/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first half runs in the process that is thrown away and fills the checkup as it goes
 * on, so that what is known when it crashes is known here as well. The second half looks
 * at what came back.
 */
#include "control/checkup.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "control/environment.h"
#include "control/protocol.h"
#include "plugin/loader.h"
#include "session/instance.h"

#define LIMIT_NS  5000000000u
#define COUNT_MAX 1024 /* as the checker has it */

#define copy(out, text) ky_text_copy(out, sizeof(out), text)

/* ---- In the process that is thrown away ---- */

static size_t count_of(const struct kymo_plugin *plugin, uint32_t kind)
{
	size_t count = 0;

	if (kind == KY_CHECKUP_SINK)
		while (plugin->sinks && plugin->sinks[count])
			count++;
	else
		while (plugin->sources && plugin->sources[count])
			count++;
	return count;
}

/* "/x/y.so", "/x/y.so.1": the path of an object, not of a folder or of settings. */
static int is_object_path(const char *value)
{
	const char *file = strrchr(value, '/');
	struct stat info;

	return value[0] == '/' && strstr(file, ".so") && stat(value, &info) == 0 &&
	       S_ISREG(info.st_mode);
}

/* What the vendor's runtime will load must be something that can be loaded. */
static int32_t check_injected(const char *value, struct kymo_error *error)
{
	if (!is_object_path(value))
		return KYMO_OK; /* not ours to judge */
	/* cppcheck-suppress leakReturnValNotUsed ; the process is thrown away */
	if (dlopen(value, RTLD_NOW | RTLD_LOCAL) != NULL)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_PLUGIN, "it cannot be loaded: %s",
			    dlerror());
}

static int32_t inject(struct ky_environment *environment,
		      const struct kymo_injection_desc *injection, const char *path,
		      struct kymo_error *error)
{
	char *value = ky_environment_expand(injection->value, KY_PLACE_PLUGIN, path);
	int32_t status = KYMO_ERROR_NO_MEMORY;

	if (value)
		status = check_injected(value, error);
	free(value);
	if (!status)
		status = ky_environment_inject(environment, injection, path, NULL, error);
	if (status)
		ky_error_wrap(error, "what the plug-in %s injects by %s", path,
			      injection->variable);
	return status;
}

/* Whether an earlier injection of the list has the same variable. */
static int is_repeated(const struct kymo_injection_desc *const *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(list[i]->variable, list[index]->variable) == 0)
			return 1;
	return 0;
}

static void add_variable(struct ky_checkup *checkup, size_t *used, const char *name,
			 const char *value)
{
	const size_t room = sizeof(checkup->variables) - *used;
	const int size = snprintf(checkup->variables + *used, room, "%s=%s", name, value);

	if ((size_t)size >= room) {
		memset(checkup->variables + *used, 0, room);
		return;
	}
	*used += (size_t)size + 1;
	checkup->variable_count++;
}

/* What a program would be given, from what we were given. */
static int32_t look_at_injections(struct ky_checkup *checkup,
				  const struct kymo_source_desc *source)
{
	const struct kymo_injection_desc *const *list = source->injections;
	struct ky_environment environment = {0};
	int32_t status = ky_environment_create(&environment, environ, &checkup->error);
	size_t used = 0;

	for (size_t i = 0; !status && list && list[i]; i++)
		status = inject(&environment, list[i], checkup->path, &checkup->error);
	for (size_t i = 0; !status && list && list[i]; i++)
		if (!is_repeated(list, i) && !ky_environment_option_of(list[i]))
			add_variable(checkup, &used, list[i]->variable,
				     ky_environment_get(&environment, list[i]->variable));
	ky_environment_destroy(&environment);
	return status;
}

static void probe(struct ky_checkup *checkup, const struct kymo_source_ops *ops)
{
	struct kymo_error error = {0};
	int32_t status;

	checkup->stage = KY_CHECKUP_PROBING;
	checkup->probe.struct_size = sizeof(checkup->probe);
	checkup->probe.state = KYMO_STATE_READY;
	if (!KYMO_HAS_FUNCTION(ops, probe)) {
		copy(checkup->probe.why, "it has no probe, so nothing was tried");
		checkup->stage = KY_CHECKUP_PROBED;
		return;
	}
	status = ops->probe(&checkup->probe, &error);
	if (status < 0) {
		checkup->probe.state = ky_instance_state_of(status);
		copy(checkup->probe.why,
		     error.message[0] ? error.message : kymo_status_text(status));
	}
	checkup->state = checkup->probe.state;
	checkup->stage = KY_CHECKUP_PROBED;
}

static void look_at_source(struct ky_checkup *checkup,
			   const struct kymo_source_desc *source)
{
	copy(checkup->name, source->name);
	copy(checkup->description, source->description ? source->description : "");
	checkup->flags = source->flags;
	checkup->state = KYMO_STATE_READY;
	if (look_at_injections(checkup, source))
		return;
	checkup->stage = KY_CHECKUP_LOADED;
	if (checkup->is_probing &&
	    (!checkup->only[0] || strcmp(checkup->only, source->name) == 0))
		probe(checkup, source->ops);
}

static void look_at_sink(struct ky_checkup *checkup, const struct kymo_sink_desc *sink)
{
	char *what = checkup->probe.what;
	size_t size = sizeof(checkup->probe.what);

	copy(checkup->name, sink->protocol);
	copy(checkup->description, sink->description ? sink->description : "");
	for (size_t i = 0; sink->suffixes && sink->suffixes[i]; i++) {
		const size_t used = strlen(what);

		snprintf(what + used, size - used, "%s%s", i > 0 ? " " : "",
			 sink->suffixes[i]);
	}
	checkup->state = KYMO_STATE_READY;
	checkup->stage = KY_CHECKUP_LOADED;
}

static void check_up(void *context)
{
	struct ky_checkup *checkup = context;
	const struct kymo_plugin *plugin;
	size_t count;

	if (ky_plugin_load(checkup->path, &plugin, &checkup->error))
		return;
	copy(checkup->plugin, plugin->name);
	copy(checkup->version, plugin->version);
	count = count_of(plugin, checkup->kind);
	checkup->count = (uint32_t)count;
	if (checkup->index >= count)
		checkup->stage = KY_CHECKUP_LOADED;
	else if (checkup->kind == KY_CHECKUP_SINK)
		look_at_sink(checkup, plugin->sinks[checkup->index]);
	else
		look_at_source(checkup, plugin->sources[checkup->index]);
}

/* ---- Here ---- */

#define terminate(text) ((text)[sizeof(text) - 1] = '\0')

static void distrust(struct ky_checkup *checkup)
{
	terminate(checkup->error.message);
	terminate(checkup->plugin);
	terminate(checkup->version);
	terminate(checkup->name);
	terminate(checkup->description);
	terminate(checkup->variables);
	terminate(checkup->probe.what);
	terminate(checkup->probe.why);
	terminate(checkup->probe.remedy);
	if (checkup->count > COUNT_MAX)
		checkup->count = COUNT_MAX;
	if (checkup->state > KYMO_STATE_FAILED ||
	    checkup->state == KYMO_STATE_RECORDING) {
		checkup->state = KYMO_STATE_FAILED;
		copy(checkup->probe.why, "its probe gave a state that nothing can have");
	}
	if (checkup->error.status >= 0 && checkup->stage == KY_CHECKUP_LOADING)
		checkup->error.status = KYMO_ERROR_PLUGIN;
	if (checkup->stage > KY_CHECKUP_PROBED)
		checkup->stage = KY_CHECKUP_LOADING;
}

/* Why it did not come to where it should. */
static void explain(struct ky_checkup *checkup)
{
	char end[96];

	ky_trial_describe(&checkup->trial, end, sizeof(end));
	if (checkup->stage == KY_CHECKUP_LOADING)
		ky_error_set(&checkup->error, KYMO_ERROR_PLUGIN,
			     "cannot use the plug-in %s: it %s when it was loaded",
			     checkup->path, end);
	else
		snprintf(checkup->probe.why, sizeof(checkup->probe.why), "its probe %s",
			 end);
	checkup->state = KYMO_STATE_FAILED;
}

int32_t ky_checkup_run(struct ky_checkup *checkup, struct kymo_error *error)
{
	char wanted[offsetof(struct ky_checkup, stage)];
	struct ky_trial trial;
	int32_t status;

	memcpy(wanted, checkup, sizeof(wanted));
	memset((char *)checkup + sizeof(wanted), 0, sizeof(*checkup) - sizeof(wanted));
	status = ky_trial_run(check_up, checkup, sizeof(*checkup), LIMIT_NS, &trial,
			      error);
	memcpy(checkup, wanted, sizeof(wanted)); /* whatever was made of it there */
	if (status)
		return status;
	checkup->trial = trial;
	distrust(checkup);
	if (trial.end != KY_TRIAL_RETURNED)
		explain(checkup);
	return KYMO_OK;
}

int32_t ky_checkup_load(const char *path, struct kymo_error *error)
{
	struct ky_checkup *checkup = calloc(1, sizeof(*checkup));
	int32_t status = KYMO_OK;

	if (!checkup)
		return ky_error_no_memory(error);
	copy(checkup->path, path);
	do {
		status = ky_checkup_run(checkup, error);
		if (!status && checkup->stage == KY_CHECKUP_LOADING)
			status = ky_error_set(error, checkup->error.status, "%s",
					      checkup->error.message);
	} while (!status && ++checkup->index < checkup->count);
	free(checkup);
	return status;
}
