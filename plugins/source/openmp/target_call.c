/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target construct is a span of its thread; within it lie the calls of the runtime, and
 * each call has what it did on the track of its device. Both have the same times, since
 * OMPT tells the host's side only: a copy is as long as the call that waited for it.
 */
#include "target_call.h"

#include "code.h"
#include "command.h"
#include "device.h"
#include "emit.h"
#include "thread.h"

/* What tells the calls of the target runtime apart. */
#define WORD_SUBMIT 64u

static int without_flag(int kind, int flag)
{
	return kind & flag ? kind & ~flag : kind;
}

/* ---- Regions ---- */

static void begin_target(struct ky_thread *thread, int kind, int device, const void *code)
{
	struct ky_open *open = ky_thread_open(
		thread, KY_TYPE_TARGET,
		ky_name_target(without_flag(kind, KY_OMPT_TARGET_NOWAIT_FLAG)));

	open->word = ky_word_make(1 + (uint64_t)(unsigned)device, ky_code_index(code));
	open->key[0] = ky_state.key[KY_KEY_TARGET_DEVICE];
	open->value[0] = (uint64_t)(int64_t)device;
	if (ky_word_code(open->word)) {
		open->key[1] = ky_state.key[KY_KEY_CODE];
		open->value[1] = ky_word_code(open->word);
	}
	ky_emit_begin(open);
}

void ky_on_target_emi(int kind, int endpoint, int device, union ky_ompt_data *task,
		      union ky_ompt_data *target_task, union ky_ompt_data *target,
		      const void *code)
{
	struct ky_thread *thread = ky_thread_enter();
	uint32_t depth;

	(void)task, (void)target_task, (void)target;
	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN)
		begin_target(thread, kind, device, code);
	if (endpoint & KY_OMPT_SCOPE_END) {
		depth = ky_thread_find(thread, KY_TYPE_TARGET, 0);
		if (depth)
			ky_thread_close(thread, depth);
	}
	ky_thread_leave(thread);
}

/* The construct that the thread is in; NULL: none is known. */
static const struct ky_open *find_target(const struct ky_thread *thread)
{
	uint32_t depth = ky_thread_find(thread, KY_TYPE_TARGET, 0);

	return depth ? &thread->open[depth - 1] : NULL;
}

/* ---- Calls ---- */

static void begin_call(struct ky_thread *thread, uint64_t word, uint32_t name,
		       const void *code)
{
	struct ky_open *open = ky_thread_open(thread, KY_TYPE_RUNTIME, name);
	uint32_t number = ky_code_number(ky_code_index(code));

	open->word = word;
	if (number) {
		open->key[0] = ky_state.key[KY_KEY_CODE];
		open->value[0] = number;
	}
}

/* Hands out the call that has ended, or false where its begin is not known. */
static int end_call(struct ky_thread *thread, uint64_t word, struct ky_command *command)
{
	uint32_t depth = ky_thread_find(thread, KY_TYPE_RUNTIME, word);

	if (!depth)
		return 0;
	command->call = ky_thread_take(thread, depth, &command->end);
	return 1;
}

/* A call of which nothing is told but that it was made. */
static void make_instant(struct ky_command *command, uint32_t name)
{
	command->call = (struct ky_open){.type = KY_TYPE_RUNTIME, .name = name};
	command->call.begin = command->end = ky_state.host->now();
	command->is_instant = 1;
}

/* Whose memory it is of. What is not said is of the construct's device. */
static int device_of(const struct ky_thread *thread, const struct ky_transfer *transfer)
{
	const struct ky_open *target = find_target(thread);
	int device = transfer->destination_device;

	if (transfer->operation == KY_OMPT_DATA_FROM_DEVICE ||
	    transfer->operation == KY_OMPT_DATA_DELETE ||
	    transfer->operation == KY_OMPT_DATA_DISASSOCIATE)
		device = transfer->source_device;
	return device < 0 && target ? (int)(int64_t)target->value[0] : device;
}

static void describe_transfer(const struct ky_thread *thread, struct ky_command *command,
			      const struct ky_transfer *transfer)
{
	const int is_copy = transfer->operation == KY_OMPT_DATA_TO_DEVICE ||
			    transfer->operation == KY_OMPT_DATA_FROM_DEVICE;

	command->type = is_copy ? KY_TYPE_COPY : KY_TYPE_MEMORY;
	command->name = ky_name_data(transfer->operation);
	command->device = device_of(thread, transfer);
	command->transfer = transfer;
}

static void describe_kernel(const struct ky_thread *thread, struct ky_command *command,
			    unsigned int teams)
{
	const struct ky_open *target = find_target(thread);
	const uint32_t code = target ? ky_word_code(target->word) : 0;

	command->type = KY_TYPE_KERNEL;
	command->name = code ? code : ky_state.name[KY_NAME_KERNEL];
	command->flags = code ? KYMO_RECORD_NAME_CODE : 0;
	command->device = target ? (int)(int64_t)target->value[0] : -1;
	command->teams = teams;
}

void ky_on_target_data_op_emi(int endpoint, union ky_ompt_data *target_task,
			      union ky_ompt_data *target, uint64_t *host_op_id,
			      int operation, void *source, int source_device,
			      void *destination, int destination_device, size_t bytes,
			      const void *code)
{
	struct ky_thread *thread = ky_thread_enter();
	const struct ky_transfer transfer = {
		.operation = without_flag(operation, KY_OMPT_DATA_ASYNC_FLAG),
		.source_device = source_device,
		.destination_device = destination_device,
		.source = (uintptr_t)source,
		.destination = (uintptr_t)destination,
		.bytes = bytes,
	};
	const uint64_t word = (uint64_t)transfer.operation + 1;
	struct ky_command command = {.is_instant = 0};

	(void)target_task, (void)target, (void)host_op_id;
	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN)
		begin_call(thread, word, ky_name_operation(transfer.operation), code);
	if (endpoint & KY_OMPT_SCOPE_END && end_call(thread, word, &command)) {
		describe_transfer(thread, &command, &transfer);
		ky_command_emit(&command);
	}
	ky_thread_leave(thread);
}

void ky_on_target_submit_emi(int endpoint, union ky_ompt_data *target,
			     uint64_t *host_op_id, unsigned int teams)
{
	struct ky_thread *thread = ky_thread_enter();
	struct ky_command command = {.is_instant = 0};

	(void)target, (void)host_op_id;
	if (!thread)
		return;
	if (endpoint & KY_OMPT_SCOPE_BEGIN)
		begin_call(thread, WORD_SUBMIT, ky_state.name[KY_NAME_SUBMIT], NULL);
	if (endpoint & KY_OMPT_SCOPE_END && end_call(thread, WORD_SUBMIT, &command)) {
		describe_kernel(thread, &command, teams);
		ky_command_emit(&command);
	}
	ky_thread_leave(thread);
}

/* ---- Without EMI ---- */

void ky_on_target(int kind, int endpoint, int device, union ky_ompt_data *task,
		  uint64_t target_id, const void *code)
{
	(void)target_id;
	ky_on_target_emi(kind, endpoint, device, task, NULL, NULL, code);
}

void ky_on_target_data_op(uint64_t target_id, uint64_t host_op_id, int operation,
			  void *source, int source_device, void *destination,
			  int destination_device, size_t bytes, const void *code)
{
	struct ky_thread *thread = ky_thread_enter();
	const struct ky_transfer transfer = {
		.operation = without_flag(operation, KY_OMPT_DATA_ASYNC_FLAG),
		.source_device = source_device,
		.destination_device = destination_device,
		.source = (uintptr_t)source,
		.destination = (uintptr_t)destination,
		.bytes = bytes,
	};
	struct ky_command command = {.is_instant = 1};

	(void)target_id, (void)host_op_id, (void)code;
	if (!thread)
		return;
	make_instant(&command, ky_name_operation(transfer.operation));
	describe_transfer(thread, &command, &transfer);
	ky_command_emit(&command);
	ky_thread_leave(thread);
}

void ky_on_target_submit(uint64_t target_id, uint64_t host_op_id, unsigned int teams)
{
	struct ky_thread *thread = ky_thread_enter();
	struct ky_command command = {.is_instant = 1};

	(void)target_id, (void)host_op_id;
	if (!thread)
		return;
	make_instant(&command, ky_state.name[KY_NAME_SUBMIT]);
	describe_kernel(thread, &command, teams);
	ky_command_emit(&command);
	ky_thread_leave(thread);
}
