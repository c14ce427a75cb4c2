/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/sinks.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "plugin/loader.h"
#include "session/sink_register.h"
#include "sink/memory.h"

#define SCHEME_END "://"

struct search {
	struct kymo_str protocol; /* wanted; {NULL, 0}: look at suffixes */
	struct kymo_str path;
	const struct kymo_sink_desc *best;
	size_t best_size; /* of the suffix that matched */
	char known[256];
	struct kymo_error broken; /* of the last plug-in that could not be used */
};

/* Whether the list of known ones has the text already. */
static int is_known(const struct search *search, const char *text)
{
	for (const char *at = search->known; *at;) {
		size_t part = strcspn(at, ",");

		if (ky_str_is_any_case((struct kymo_str){at, part}, text))
			return 1;
		at += part;
		at += strspn(at, ", ");
	}
	return 0;
}

static void add_known(struct search *search, const char *text)
{
	size_t size = strlen(search->known);

	if (!is_known(search, text))
		snprintf(search->known + size, sizeof(search->known) - size, "%s%s",
			 size ? ", " : "", text);
}

static int ends_with(struct kymo_str text, const char *suffix)
{
	size_t size = strlen(suffix);

	if (text.size <= size)
		return 0;
	text.data += text.size - size;
	text.size = size;
	return ky_str_is_any_case(text, suffix);
}

/* The first that is offered wins; of suffixes the longest: ".json.gz" over ".gz". */
static void offer(void *context, const struct kymo_sink_desc *desc)
{
	struct search *search = context;
	char protocol[80];

	if (search->protocol.data) {
		snprintf(protocol, sizeof(protocol), "%s://", desc->protocol);
		add_known(search, protocol);
		if (!search->best && ky_str_is_any_case(search->protocol, desc->protocol))
			search->best = desc;
		return;
	}
	for (size_t i = 0; desc->suffixes && desc->suffixes[i]; i++) {
		const char *suffix = desc->suffixes[i];

		add_known(search, suffix);
		if (ends_with(search->path, suffix) &&
		    strlen(suffix) > search->best_size) {
			search->best = desc;
			search->best_size = strlen(suffix);
		}
	}
}

static int look_at_plugin(void *context, const char *path)
{
	struct search *search = context;
	const struct kymo_plugin *plugin;
	struct kymo_error error;

	if (ky_plugin_load(path, &plugin, &error) != KYMO_OK) {
		/* What is no plug-in of ours may lie there too. */
		if (error.status != KYMO_ERROR_UNSUPPORTED)
			search->broken = error;
		return error.status == KYMO_ERROR_STATE;
	}
	for (size_t i = 0; plugin->sinks && plugin->sinks[i]; i++)
		offer(search, plugin->sinks[i]);
	return 0;
}

const char *ky_sink_path(const char *output)
{
	const char *end = strstr(output, SCHEME_END);

	/* What has a '/' in front of it is a path in which it happens to stand. */
	if (!end || end == output || memchr(output, '/', (size_t)(end - output)))
		return output;
	return end + strlen(SCHEME_END);
}

int ky_is_capture_path(const char *path)
{
	static const char suffix[] = KY_CAPTURE_SUFFIX;
	const size_t size = strlen(path), wanted = sizeof(suffix) - 1;

	return ky_sink_path(path) == path && size > wanted &&
	       strcmp(path + size - wanted, suffix) == 0;
}

int32_t ky_sink_choose(const char *path, const char *own, struct ky_sink_choice *out,
		       struct kymo_error *error)
{
	struct search search = {0};
	int32_t status;

	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no path to write to");
	search.path.data = ky_sink_path(path);
	search.path.size = strlen(search.path.data);
	if (search.path.data != path)
		search.protocol = (struct kymo_str){
			path, (size_t)(search.path.data - path) - strlen(SCHEME_END)};
	ky_sinks_visit(offer, &search);
	offer(&search, &ky_memory_sink);
	status = ky_plugin_each("sink", look_at_plugin, &search, error);
	if (status != KYMO_OK)
		return status;
	/* Ours may be gone too: nothing that is begun now would come to a good end. */
	if (search.broken.status == KYMO_ERROR_STATE)
		return ky_error_set(error, KYMO_ERROR_PLUGIN, "%s",
				    search.broken.message);
	*out = (struct ky_sink_choice){.desc = search.best, .path = search.path};
	if (search.best)
		return KYMO_OK;
	if (own && !search.protocol.data)
		add_known(&search, own);
	if (search.broken.message[0])
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "nothing can write \"%s\"; known are: %s; %s", path,
				    search.known[0] ? search.known : "none",
				    search.broken.message);
	return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
			    "nothing can write \"%s\"; known are: %s", path,
			    search.known[0] ? search.known : "none");
}
