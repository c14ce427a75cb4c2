/* SPDX-License-Identifier: BSD-3-Clause */
#include "command.h"

#include "device.h"
#include "ompt.h"

static void add_device(struct kymo_record_more *more, enum ky_key key, int device)
{
	more->key[more->used] = ky_state.key[key];
	more->value[more->used++] = (uint64_t)(int64_t)device;
}

static void add_address(struct kymo_record_more *more, enum ky_key key, uint64_t address)
{
	if (!address)
		return;
	more->key[more->used] = ky_state.key[key];
	more->value[more->used++] = address;
}

static void describe_transfer(const struct ky_transfer *transfer, union kymo_line *lines)
{
	struct kymo_record_more *more = &lines[1].more;

	/* What is given back or let go has no size that anybody would be told. */
	if (transfer->bytes || (transfer->operation != KY_OMPT_DATA_DELETE &&
				transfer->operation != KY_OMPT_DATA_DISASSOCIATE)) {
		lines[0].record.key[0] = ky_state.key[KY_KEY_BYTES];
		lines[0].record.value[0] = transfer->bytes;
	}
	*more = (struct kymo_record_more){.kind = KYMO_KIND_MORE};
	add_address(more, KY_KEY_SOURCE, transfer->source);
	add_address(more, KY_KEY_DESTINATION, transfer->destination);
	/* From device to device: of all else it is known which end is the host's. */
	if (ky_device_is_told(transfer->source_device) &&
	    ky_device_is_told(transfer->destination_device)) {
		add_device(more, KY_KEY_FROM_DEVICE, transfer->source_device);
		add_device(more, KY_KEY_TO_DEVICE, transfer->destination_device);
	}
	lines[0].record.lines = more->used ? 2 : 1;
}

/* Launch and launched are one pair only where both are wanted. */
static void tie(union kymo_line *call, union kymo_line *done)
{
	const uint64_t number = 1 + atomic_fetch_add_explicit(&ky_state.last_command, 1,
							      memory_order_relaxed);

	call->record.flags |= KYMO_RECORD_ORIGIN;
	done->record.flags |= KYMO_RECORD_TARGET;
	call->record.domain = done->record.domain = ky_state.domain[KY_DOMAIN_COMMAND];
	call->record.correlation = done->record.correlation = number;
}

void ky_command_emit(const struct ky_command *command)
{
	const struct ky_open *call = &command->call;
	const uint16_t rule = command->is_instant ? KYMO_RECORD_END_BY_RULE : 0;
	const uint32_t track = ky_device_track(command->device);
	const int has_call = ky_state.is_wanted[KY_TYPE_RUNTIME];
	/* On no device nothing was done. */
	const int has_done = track && ky_state.is_wanted[command->type];
	union kymo_line lines[3] = {
		{.record = {.kind = KYMO_KIND_SPAN,
			    .lines = 1,
			    .flags = rule,
			    .type = ky_state.type[KY_TYPE_RUNTIME],
			    .name = call->name,
			    .begin = call->begin,
			    .end = command->end,
			    .key = {call->key[0]},
			    .value = {call->value[0]}}},
		{.record = {.kind = KYMO_KIND_SPAN,
			    .lines = 1,
			    .flags = command->flags | rule,
			    .track = track,
			    .type = ky_state.type[command->type],
			    .name = command->name,
			    .begin = call->begin,
			    .end = command->end}},
	};

	if (command->transfer) {
		describe_transfer(command->transfer, &lines[1]);
	} else if (command->teams) {
		lines[1].record.key[0] = ky_state.key[KY_KEY_TEAMS];
		lines[1].record.value[0] = command->teams;
	}
	if (has_call && has_done)
		tie(&lines[0], &lines[1]);
	if (has_call || has_done)
		ky_state.host->emit(ky_state.source, &lines[has_call ? 0 : 1],
				    (has_call ? 1 : 0) +
					    (has_done ? lines[1].record.lines : 0));
}
