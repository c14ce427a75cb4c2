/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling and checking the messages. Runs in the program as well as in the recorder: no
 * allocation and no stdio on the way of a message that is in order.
 */
#include "control/protocol.h"

#include <string.h>
#include <unistd.h>

#include <kymo/inject.h>

#include "base/error.h"
#include "base/proc_stat.h"
#include "record/layout.h"

static void fill_head(struct ky_message_head *head, uint32_t kind)
{
	*head = (struct ky_message_head){
		.magic = KY_PROTOCOL_MAGIC,
		.major = KY_PROTOCOL_MAJOR,
		.minor = KY_PROTOCOL_MINOR,
		.kind = kind,
		.format_major = KYMO_CAPTURE_FORMAT_MAJOR,
		.format_minor = KYMO_CAPTURE_FORMAT_MINOR,
	};
}

static int32_t check_head(const struct ky_message_head *head, uint32_t kind, size_t size,
			  size_t least, struct kymo_error *error)
{
	if (size < sizeof(*head) || head->magic != KY_PROTOCOL_MAGIC)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "not a message of the attach protocol");
	if (head->major != KY_PROTOCOL_MAJOR)
		return ky_error_set(error, KYMO_ERROR_VERSION,
				    "the other side speaks attach protocol %u.%u, this "
				    "one %d.%d",
				    head->major, head->minor, KY_PROTOCOL_MAJOR,
				    KY_PROTOCOL_MINOR);
	if (head->format_major != KYMO_CAPTURE_FORMAT_MAJOR)
		return ky_error_set(error, KYMO_ERROR_VERSION,
				    "the other side uses capture format %u.%u, this one "
				    "%d.%d",
				    head->format_major, head->format_minor,
				    KYMO_CAPTURE_FORMAT_MAJOR, KYMO_CAPTURE_FORMAT_MINOR);
	if (head->kind != kind || size < least)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "message of kind %u with %zu bytes where kind %u "
				    "with %zu was due",
				    head->kind, size, kind, least);
	return KYMO_OK;
}

static void terminate(char *text, size_t size)
{
	text[size - 1] = '\0';
}

void ky_text_copy(char *out, size_t size, const char *text)
{
	size_t used = strnlen(text, size - 1);

	memcpy(out, text, used);
	memset(out + used, 0, size - used);
}

void ky_hello_fill(struct ky_hello *hello, const char *attaching, uint32_t flags)
{
	struct ky_process process;

	memset(hello, 0, sizeof(*hello));
	fill_head(&hello->head, KY_MESSAGE_HELLO);
	hello->flags = flags;
	hello->pid = (uint64_t)getpid();
	if (ky_process_read(0, &process) == 0)
		hello->start_time = process.start_time;
	ky_text_copy(hello->library_version, sizeof(hello->library_version),
		     kymo_version());
	ky_text_copy(hello->attaching, sizeof(hello->attaching), attaching);
	/* Without /proc the recorder, which may have it, finds out by itself. */
	if (readlink("/proc/self/exe", hello->exe, sizeof(hello->exe) - 1) < 0)
		hello->exe[0] = '\0';
}

void ky_welcome_fill(struct ky_welcome *welcome, int32_t status, const char *message)
{
	memset(welcome, 0, sizeof(*welcome));
	fill_head(&welcome->head, KY_MESSAGE_WELCOME);
	welcome->status = status;
	ky_text_copy(welcome->message, sizeof(welcome->message), message);
}

void ky_attached_fill(struct ky_attached *attached, int32_t status, const char *message)
{
	memset(attached, 0, sizeof(*attached));
	fill_head(&attached->head, KY_MESSAGE_ATTACHED);
	attached->status = status;
	ky_text_copy(attached->message, sizeof(attached->message), message);
}

void ky_order_fill(struct ky_order *order, uint32_t command)
{
	memset(order, 0, sizeof(*order));
	fill_head(&order->head, KY_MESSAGE_ORDER);
	order->command = command;
}

void ky_answer_fill(struct ky_answer *answer, int32_t status, const char *message)
{
	memset(answer, 0, sizeof(*answer));
	fill_head(&answer->head, KY_MESSAGE_ANSWER);
	answer->status = status;
	ky_text_copy(answer->message, sizeof(answer->message), message);
}

int32_t ky_hello_check(struct ky_hello *hello, size_t size, struct kymo_error *error)
{
	int32_t status =
		check_head(&hello->head, KY_MESSAGE_HELLO, size, sizeof(*hello), error);

	if (status)
		return status;
	terminate(hello->library_version, sizeof(hello->library_version));
	terminate(hello->attaching, sizeof(hello->attaching));
	terminate(hello->exe, sizeof(hello->exe));
	return KYMO_OK;
}

int32_t ky_welcome_check(struct ky_welcome *welcome, size_t size,
			 struct kymo_error *error)
{
	int32_t status = check_head(&welcome->head, KY_MESSAGE_WELCOME, size,
				    sizeof(*welcome), error);

	if (status)
		return status;
	terminate(welcome->wanted, sizeof(welcome->wanted));
	terminate(welcome->message, sizeof(welcome->message));
	terminate(welcome->types, sizeof(welcome->types));
	terminate(welcome->range, sizeof(welcome->range));
	return KYMO_OK;
}

int32_t ky_attached_check(struct ky_attached *attached, size_t size,
			  struct kymo_error *error)
{
	int32_t status = check_head(&attached->head, KY_MESSAGE_ATTACHED, size,
				    sizeof(*attached), error);

	if (status)
		return status;
	terminate(attached->message, sizeof(attached->message));
	return KYMO_OK;
}

int32_t ky_order_check(const struct ky_order *order, size_t size,
		       struct kymo_error *error)
{
	int32_t status =
		check_head(&order->head, KY_MESSAGE_ORDER, size, sizeof(*order), error);

	if (status)
		return status;
	if (order->command != KY_COMMAND_RECORD && order->command != KY_COMMAND_REST)
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED, "no such command: %u",
				    order->command);
	return KYMO_OK;
}

int32_t ky_answer_check(struct ky_answer *answer, size_t size, struct kymo_error *error)
{
	int32_t status = check_head(&answer->head, KY_MESSAGE_ANSWER, size,
				    sizeof(*answer), error);

	if (status)
		return status;
	terminate(answer->message, sizeof(answer->message));
	return KYMO_OK;
}

KYMO_STATIC_ASSERT(sizeof(struct kymo_inject_word) == 600);
KYMO_STATIC_ASSERT(offsetof(struct kymo_inject_word, kind) ==
		   offsetof(struct ky_message_head, kind));
KYMO_STATIC_ASSERT(KYMO_INJECT_MAGIC == KY_PROTOCOL_MAGIC);
KYMO_STATIC_ASSERT(KYMO_INJECT_NO_AGENT == KY_MESSAGE_NO_AGENT);

int32_t ky_inject_word_check(struct kymo_inject_word *word, size_t size,
			     struct kymo_error *error)
{
	if (size < sizeof(*word) || word->magic != KY_PROTOCOL_MAGIC)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "not a message of the attach protocol");
	terminate(word->plugin, sizeof(word->plugin));
	terminate(word->message, sizeof(word->message));
	return KYMO_OK;
}
