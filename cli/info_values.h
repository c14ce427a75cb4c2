/* SPDX-License-Identifier: BSD-3-Clause */
/* What was said of the whole trace, taken from a trace or from a capture. */
#ifndef KYMO_CLI_INFO_VALUES_H
#define KYMO_CLI_INFO_VALUES_H

#include <kymo/sink.h>

#include "info_trace.h"

/* After a key of the outermost object: whether that is what somebody has said. */
bool ky_info_is_value(struct ky_trace *trace);

/* After such a key: its value, up to and with its last token. */
enum ky_json_token ky_info_read_value(struct ky_trace *trace);

/* A value as a sink is given it. */
void ky_info_take_value(struct ky_info *info, const struct kymo_trace_value *value);

#endif
