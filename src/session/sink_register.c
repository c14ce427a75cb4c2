/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list that only grows, without a lock: nodes are pushed by compare-and-swap, so a
 * forked child always finds it whole.
 */
#include "session/sink_register.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "plugin/check.h"
#include "plugin/loader.h"
#include "session/sinks.h"
#include "sink/memory.h"

struct node {
	struct node *next;
	const struct kymo_sink_desc *desc;
	struct kymo_sink_desc own; /* `desc`, where the program gave the operations */
	char protocol[72];
};

static struct node *first;

/* The registered or built-in sink of that protocol, or NULL. */
static const struct kymo_sink_desc *find(const char *protocol)
{
	/* Pairs with the release of push(). */
	const struct node *node = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
	const struct kymo_str wanted = {protocol, strlen(protocol)};

	for (; node; node = node->next)
		if (ky_str_is_any_case(wanted, node->desc->protocol))
			return node->desc;
	return ky_str_is_any_case(wanted, ky_memory_sink.protocol) ? &ky_memory_sink
								   : NULL;
}

static void push(struct node *node)
{
	node->next = __atomic_load_n(&first, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&first, &node->next, node, 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static int32_t add(const struct kymo_sink_desc *desc, struct kymo_error *error)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return ky_error_no_memory(error);
	node->desc = desc;
	push(node);
	return KYMO_OK;
}

void ky_sinks_visit(ky_sink_visit_fn visit, void *context)
{
	const struct node *node = __atomic_load_n(&first, __ATOMIC_ACQUIRE);

	for (; node; node = node->next)
		visit(context, node->desc);
}

int32_t kymo_sink_register(const char *protocol, const struct kymo_sink_ops *ops,
			   struct kymo_error *error)
{
	struct node *node = calloc(1, sizeof(*node));
	int32_t status;

	if (!node)
		return ky_error_no_memory(error);
	node->own = (struct kymo_sink_desc){
		.struct_size = sizeof(node->own),
		.protocol = protocol,
		.description = "registered by the program",
		.ops = ops,
	};
	node->desc = &node->own;
	status = ky_plugin_check_sink(node->desc, error);
	if (status != KYMO_OK) {
		free(node);
		if (error)
			error->status = KYMO_ERROR_INVALID;
		ky_error_wrap(error, "cannot register a sink");
		return KYMO_ERROR_INVALID;
	}
	/* The check allows 64 bytes. */
	memcpy(node->protocol, protocol, strlen(protocol) + 1);
	node->own.protocol = node->protocol;
	if (find(protocol))
		ky_error_set(error, KYMO_OK,
			     "%s:// was registered before: the new one holds", protocol);
	else
		ky_error_set(error, KYMO_OK, "%s", "");
	push(node);
	return KYMO_OK;
}

int32_t kymo_sink_load(const char *name, struct kymo_error *error)
{
	const struct kymo_plugin *plugin;
	char path[PATH_MAX];
	int32_t status = ky_plugin_path("sink", name, path, sizeof(path), error);

	if (status == KYMO_OK)
		status = ky_plugin_load(path, &plugin, error);
	if (status != KYMO_OK)
		return status;
	if (!plugin->sinks || !plugin->sinks[0])
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "the plug-in %s has no sink", path);
	for (size_t i = 0; plugin->sinks[i] && status == KYMO_OK; i++)
		if (find(plugin->sinks[i]->protocol) != plugin->sinks[i])
			status = add(plugin->sinks[i], error);
	return status;
}

int32_t ky_sinks_load(char *const *names, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	for (size_t i = 0; names && names[i] && status == KYMO_OK; i++)
		status = kymo_sink_load(names[i], error);
	return status;
}
