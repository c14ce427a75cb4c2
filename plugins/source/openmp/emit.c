/* SPDX-License-Identifier: BSD-3-Clause */
#include "emit.h"

#include <string.h>

#include "code.h"

static union kymo_line line_of(const struct ky_open *open, uint8_t kind, uint64_t end)
{
	return (union kymo_line){.record = {
					 .kind = kind,
					 .lines = 1,
					 .flags = open->flags,
					 .type = ky_state.type[open->type],
					 .name = open->name,
					 .begin = open->begin,
					 .end = end,
					 .key = {open->key[0], open->key[1]},
					 .value = {open->value[0], open->value[1]},
				 }};
}

void ky_emit_open(const struct ky_open *open, uint64_t end, uint32_t track,
		  uint16_t flags)
{
	union kymo_line lines[2];
	uint32_t count = 1;

	if (!ky_state.is_wanted[open->type])
		return;
	lines[0] = line_of(open, KYMO_KIND_SPAN, end);
	lines[0].record.track = track;
	lines[0].record.flags |= flags;
	if (open->type == KY_TYPE_TASK) {
		lines[0].record.domain = ky_state.domain[KY_DOMAIN_TASK];
		lines[0].record.correlation = ky_word_number(open->word);
		if (open->kind == KY_TASK_IS_FIRST)
			lines[count++].link = (struct kymo_record_link){
				.kind = KYMO_KIND_LINK,
				.lines = 1,
				.track = track,
				.link_kind = ky_state.creation_link,
				.from_domain = ky_state.domain[KY_DOMAIN_CREATION],
				.to_domain = ky_state.domain[KY_DOMAIN_TASK],
				.time = open->begin,
				.from = ky_word_number(open->word),
				.to = ky_word_number(open->word),
			};
	}
	ky_state.host->emit(ky_state.source, lines, count);
}

void ky_emit_begin(const struct ky_open *open)
{
	union kymo_line line;

	if (!ky_state.is_wanted[open->type])
		return;
	line = line_of(open, KYMO_KIND_OPEN, open->begin);
	ky_state.host->emit(ky_state.source, &line, 1);
}

void ky_emit_creation(uint64_t number, uint32_t code_number)
{
	const uint64_t now = ky_state.host->now();
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_SPAN,
					.lines = 1,
					.type = ky_state.type[KY_TYPE_TASK_CREATE],
					.domain = ky_state.domain[KY_DOMAIN_CREATION],
					.name = ky_state.name[KY_NAME_TASK],
					.begin = now,
					.end = now,
					.correlation = number,
				}};

	if (code_number) {
		line.record.flags = KYMO_RECORD_NAME_CODE;
		line.record.name = code_number;
	}
	ky_state.host->emit(ky_state.source, &line, 1);
}
