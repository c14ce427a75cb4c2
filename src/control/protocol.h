/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attach protocol: what the agent in a program and a recorder say to each other over
 * a unix socket of packets (SOCK_SEQPACKET), whose path stands in KYMO_SESSION.
 *
 *     agent     hello        who I am, what I speak
 *     recorder  welcome      the capture's memory (by SCM_RIGHTS), or why not
 *     agent     attached     the memory is in use, or why not
 *
 * Others of the user may come as well, to command what is recorded:
 *
 *     caller    order        what is to be done
 *     recorder  answer       that all processes have done it, or why not
 *
 * And a plug-in that has found no agent in its process, which is no agent's word and not
 * answered; <kymo/inject.h> has it:
 *
 *     plug-in   no agent     who I am, and why
 *
 * Each message has a fixed size and is one packet. The head is the same in every version,
 * so that two sides that do not understand each other can still name both numbers. In
 * later minors messages grow at the end: a receiver takes more than it knows, not less.
 */
#ifndef KYMO_CONTROL_PROTOCOL_H
#define KYMO_CONTROL_PROTOCOL_H

#include <kymo/base.h>

#include "record/type_list.h"
#include "session/range.h"

#define KY_SESSION_VARIABLE "KYMO_SESSION" /* path of the recorder's socket */
#define KY_AGENT_VARIABLE   "KYMO_AGENT"   /* path of the library with the agent */

#define KY_PROTOCOL_MAGIC 0x5441594bu /* "KYAT" read as little endian */
/* Tests build the library with others. */
#ifndef KY_PROTOCOL_MAJOR
#define KY_PROTOCOL_MAJOR 1
#endif
#ifndef KY_PROTOCOL_MINOR
#define KY_PROTOCOL_MINOR 0
#endif

/* How long an agent waits for an answer, and a recorder for a message that is due. */
#define KY_PROTOCOL_WAIT_NS 2000000000u

#define KY_MESSAGE_HELLO    1u
#define KY_MESSAGE_WELCOME  2u
#define KY_MESSAGE_ATTACHED 3u
#define KY_MESSAGE_ORDER    4u
#define KY_MESSAGE_ANSWER   5u
#define KY_MESSAGE_NO_AGENT 6u /* FROZEN, in all majors */

/* FROZEN, in all majors. */
struct ky_message_head {
	uint32_t magic;
	uint16_t major, minor;               /* KY_PROTOCOL_* of the sender */
	uint32_t kind;                       /* KY_MESSAGE_* */
	uint16_t format_major, format_minor; /* KYMO_CAPTURE_FORMAT_* of the sender */
};

#define KY_HELLO_FORKED 0x1u /* a child of a process that had decided already */

struct ky_hello {
	struct ky_message_head head;
	uint32_t flags; /* KY_HELLO_* */
	uint32_t reserved0;
	uint64_t pid;        /* as the process sees itself */
	uint64_t start_time; /* clock ticks since boot, 0: not known */
	char library_version[24];
	char attaching[72]; /* the first plug-in, or "marks" */
	char exe[1024];
};

#define KY_WELCOME_FOLLOW_FORKS 0x1u /* forked children shall attach too */
#define KY_WELCOME_CONTROLLED   0x2u /* commands may come while it records */

struct ky_welcome {
	struct ky_message_head head;
	int32_t status; /* KYMO_OK, and one descriptor comes along; or why not */
	uint32_t flags; /* KY_WELCOME_* */
	uint32_t ticks,
		overflow; /* KY_TICKS_*, KY_OVERFLOW_*, as in the capture's header */
	uint64_t session, capture;
	char wanted[1024];            /* names of sources, separated by ','; "": all */
	char message[512];            /* for people, where status is an error */
	char types[KY_TYPE_LIST_MAX]; /* wanted, as made by src/registry; "": default */
	char range[KY_RANGE_MAX];     /* what to record of itself; "": all */
};

struct ky_attached {
	struct ky_message_head head;
	int32_t status;
	uint32_t reserved0;
	char message[512];
};

struct ky_order {
	struct ky_message_head head;
	uint32_t command; /* KY_COMMAND_* */
	uint32_t reserved0;
};

/* As ky_attached. */
struct ky_answer {
	struct ky_message_head head;
	int32_t status;
	uint32_t reserved0;
	char message[512];
};

/* Copies text into a message's field; what does not fit loses its end. */
void ky_text_copy(char *out, size_t size, const char *text);

/* Fill a message, all of it. They allocate nothing and use no stdio. */
void ky_hello_fill(struct ky_hello *hello, const char *attaching, uint32_t flags);
void ky_welcome_fill(struct ky_welcome *welcome, int32_t status, const char *message);
void ky_attached_fill(struct ky_attached *attached, int32_t status, const char *message);
void ky_order_fill(struct ky_order *order, uint32_t command);
void ky_answer_fill(struct ky_answer *answer, int32_t status, const char *message);

/*
 * Checks a packet of `size` bytes and makes its texts terminated. KYMO_ERROR_INVALID if
 * it is none of ours or the wrong one; KYMO_ERROR_VERSION, with both numbers, if the
 * sender speaks another major of the protocol or of the capture format.
 */
int32_t ky_hello_check(struct ky_hello *hello, size_t size, struct kymo_error *error);
int32_t ky_welcome_check(struct ky_welcome *welcome, size_t size,
			 struct kymo_error *error);
int32_t ky_attached_check(struct ky_attached *attached, size_t size,
			  struct kymo_error *error);
int32_t ky_order_check(const struct ky_order *order, size_t size,
		       struct kymo_error *error);
int32_t ky_answer_check(struct ky_answer *answer, size_t size, struct kymo_error *error);

/* No version is asked for: who wrote it knows nothing of this protocol. */
struct kymo_inject_word;
int32_t ky_inject_word_check(struct kymo_inject_word *word, size_t size,
			     struct kymo_error *error);

KYMO_STATIC_ASSERT(sizeof(struct ky_message_head) == 16);
KYMO_STATIC_ASSERT(sizeof(struct ky_hello) == 1160);
KYMO_STATIC_ASSERT(sizeof(struct ky_welcome) == 18224);
KYMO_STATIC_ASSERT(sizeof(struct ky_attached) == 536);
KYMO_STATIC_ASSERT(sizeof(struct ky_order) == 24);
KYMO_STATIC_ASSERT(sizeof(struct ky_answer) == 536);

#endif
