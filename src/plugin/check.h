/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of a plug-in's tables, checked once, before anything of them is used. */
#ifndef KYMO_PLUGIN_CHECK_H
#define KYMO_PLUGIN_CHECK_H

#include <kymo/plugin.h>
#include <kymo/sink.h>

/* KYMO_OK, or _VERSION (both numbers), or _PLUGIN with what is missing or wrong. */
int32_t ky_plugin_check(const struct kymo_plugin *plugin, struct kymo_error *error);

/* The same for one sink, wherever it comes from. */
int32_t ky_plugin_check_sink(const struct kymo_sink_desc *sink, struct kymo_error *error);

#endif
