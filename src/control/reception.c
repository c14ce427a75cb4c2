/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A caller is a connection in one of three states: its first word is due; or it is an
 * agent that has its capture, and its word that it uses it comes; or it has given an
 * order and waits for the answer. What is due has to come in time. Whatever a caller says
 * is checked; who it is, is asked of the system.
 */
#include "control/reception.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kymo/inject.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/place.h"
#include "base/proc_stat.h"
#include "control/channel.h"
#include "control/process.h"

#define QUEUE_MAX 4096 /* the system's own bound is lower or equal */
#define NS_PER_MS 1000000u
#define OVER      "the recording is over"

struct ky_caller {
	struct ky_caller *next;
	int fd;
	struct ky_watch watch;
	uint64_t deadline_ns;
	uint64_t capture; /* that it was given; 0: its hello is due */
	uint64_t order;   /* that it waits for the processes to obey, by number; or 0 */
	struct ucred peer;
};

/* ---- For people ---- */

static void note_refused(struct ky_reception *reception, const struct ky_caller *caller,
			 const char *why)
{
	char name[32];

	/* Several plug-ins of one process are one that was not recorded. */
	if (reception->refused_count > 0 && reception->refused_pid == caller->peer.pid)
		return;
	if (reception->refused_count++ > 0)
		return;
	reception->refused_pid = caller->peer.pid;
	/* That may be the reason: that there is no descriptor left. */
	close(reception->reserve_fd);
	ky_process_name(caller->peer.pid, name, sizeof(name));
	reception->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	snprintf(reception->refused, sizeof(reception->refused),
		 "process %ld (%s) was not recorded: %.320s", (long)caller->peer.pid,
		 name, why);
}

/* ---- One caller ---- */

static void drop_caller(struct ky_reception *reception, struct ky_caller *caller)
{
	struct ky_caller **link = &reception->callers;

	while (*link != caller)
		link = &(*link)->next;
	*link = caller->next;
	ky_loop_remove(reception->loop, caller->fd);
	close(caller->fd);
	free(caller);
}

static void set_deadline(struct ky_caller *caller)
{
	caller->deadline_ns = ky_monotonic_ns() + KY_PROTOCOL_WAIT_NS;
}

static void answer_no(struct ky_reception *reception, struct ky_caller *caller,
		      const struct kymo_error *error)
{
	struct ky_welcome welcome;

	ky_welcome_fill(&welcome, error->status, error->message);
	ky_packet_send(caller->fd, &welcome, sizeof(welcome), -1);
	drop_caller(reception, caller);
}

static void refuse(struct ky_reception *reception, struct ky_caller *caller,
		   const struct kymo_error *error)
{
	note_refused(reception, caller, error->message);
	answer_no(reception, caller, error);
}

/* The word of the system on who called. */
static int32_t identify(struct ky_caller *caller, struct kymo_error *error)
{
	socklen_t size = sizeof(caller->peer);

	if (getsockopt(caller->fd, SOL_SOCKET, SO_PEERCRED, &caller->peer, &size) < 0)
		return ky_error_set_errno(error, errno, "cannot tell who it is");
	if (caller->peer.uid != geteuid() && caller->peer.uid != 0)
		return ky_error_set(error, KYMO_ERROR_PERMISSION,
				    "it runs as user %u, the recorder as user %u",
				    caller->peer.uid, geteuid());
	if (caller->peer.pid <= 0)
		return ky_error_set(
			error, KYMO_ERROR_UNSUPPORTED,
			"it runs in a pid namespace that the recorder does not "
			"see into");
	return KYMO_OK;
}

static int is_forked(const struct ky_caller *caller, const struct ky_hello *hello)
{
	struct ky_process process;

	/* An agent cannot know it if its process was forked before its first mark. */
	return hello->flags & KY_HELLO_FORKED ||
	       (ky_process_read(caller->peer.pid, &process) == 0 &&
		process.forked_not_exec);
}

/* A capture with this process for it. */
static int32_t take_ward(struct ky_reception *reception, const struct ky_caller *caller,
			 const struct ky_ward **ward, struct kymo_error *error)
{
	int pidfd = ky_pidfd_of_peer(caller->fd, caller->peer.pid);

	if (pidfd < 0)
		return ky_error_set_errno(error, -pidfd, "cannot watch the process");
	return ky_custody_take_process(reception->custody, caller->peer.pid, pidfd, ward,
				       error);
}

static void admit(struct ky_reception *reception, struct ky_caller *caller)
{
	const struct ky_capture_setup *setup = &reception->custody->capture_setup;
	const struct ky_ward *ward = NULL;
	struct kymo_error error = {0};
	struct ky_welcome welcome;

	take_ward(reception, caller, &ward, &error);
	if (!ward) {
		refuse(reception, caller, &error);
		return;
	}
	ky_welcome_fill(&welcome, KYMO_OK, "");
	welcome.flags = reception->is_following ? KY_WELCOME_FOLLOW_FORKS : 0;
	welcome.flags |= reception->is_controlled ? KY_WELCOME_CONTROLLED : 0;
	welcome.ticks = setup->ticks;
	welcome.overflow = setup->overflow;
	welcome.session = setup->session;
	welcome.capture = ward->number;
	ky_text_copy(welcome.wanted, sizeof(welcome.wanted), reception->wanted);
	ky_text_copy(welcome.types, sizeof(welcome.types), reception->types);
	ky_text_copy(welcome.range, sizeof(welcome.range), reception->range);
	caller->capture = ward->number;
	/* It may be slow to use what it has: its word comes then, or its end. */
	caller->deadline_ns = UINT64_MAX;
	if (ky_packet_send(caller->fd, &welcome, sizeof(welcome), ward->memory_fd) != 0) {
		/* It has not waited for us; so it is not recorded. */
		ky_custody_release(reception->custody, caller->capture, 0);
		note_refused(reception, caller, "the recorder did not answer in time");
		drop_caller(reception, caller);
	}
	ky_custody_restock(reception->custody);
}

static void hear_hello(struct ky_reception *reception, struct ky_caller *caller,
		       struct ky_hello *hello, size_t size)
{
	struct kymo_error error = {0};

	if (identify(caller, &error) != KYMO_OK ||
	    ky_hello_check(hello, size, &error) != KYMO_OK) {
		refuse(reception, caller, &error);
		return;
	}
	if (!reception->is_following && is_forked(caller, hello)) {
		/* As it was wished: nobody need be told. */
		ky_error_set(&error, KYMO_ERROR_STATE,
			     "forked children are not recorded");
		answer_no(reception, caller, &error);
		return;
	}
	if (reception->is_over) {
		ky_error_set(&error, KYMO_ERROR_STATE, OVER);
		answer_no(reception, caller, &error);
		return;
	}
	admit(reception, caller);
}

static void hear_attached(struct ky_reception *reception, struct ky_caller *caller,
			  struct ky_attached *attached, size_t size)
{
	struct kymo_error error = {0};
	int32_t status = ky_attached_check(attached, size, &error);

	if (!status && attached->status)
		status = ky_error_set(&error, attached->status, "%s", attached->message);
	if (status) {
		note_refused(reception, caller, error.message);
		ky_custody_release(reception->custody, caller->capture, 0);
	}
	drop_caller(reception, caller);
}

/* From a process in which there is no agent to say so. */
static void hear_no_agent(struct ky_reception *reception, struct ky_caller *caller,
			  struct kymo_inject_word *word, size_t size)
{
	struct kymo_error error = {0};

	if (identify(caller, &error) == KYMO_OK &&
	    ky_inject_word_check(word, size, &error) == KYMO_OK)
		ky_error_set(&error, KYMO_ERROR_NOT_FOUND,
			     "the plug-in \"%s\" found no agent there: %s", word->plugin,
			     word->message);
	note_refused(reception, caller, error.message);
	drop_caller(reception, caller);
}

/* ---- Orders ---- */

static void answer_order(struct ky_reception *reception, struct ky_caller *caller,
			 int32_t status, const char *message)
{
	struct ky_answer answer;

	ky_answer_fill(&answer, status, message);
	ky_packet_send(caller->fd, &answer, sizeof(answer), -1);
	drop_caller(reception, caller);
}

/* The keeper stands still, or others order anew before the processes can obey. */
static void answer_late(struct ky_reception *reception, struct ky_caller *caller)
{
	answer_order(reception, caller, KYMO_ERROR_BUSY,
		     "it is not known in time that the processes have obeyed");
}

/* Who has ordered anything since is told of that when it has been obeyed. */
static void tell_obeyed(void *owner, uint64_t number, uint32_t not_count)
{
	struct ky_reception *reception = owner;
	struct ky_caller *next;
	char text[96] = "";

	if (not_count > 0)
		snprintf(text, sizeof(text),
			 "%u of the processes have not obeyed in time", not_count);
	for (struct ky_caller *caller = reception->callers; caller; caller = next) {
		next = caller->next;
		if (caller->order != 0 && caller->order <= number)
			answer_order(reception, caller,
				     not_count > 0 ? KYMO_ERROR_BUSY : KYMO_OK, text);
	}
}

static void hear_order(struct ky_reception *reception, struct ky_caller *caller,
		       const struct ky_order *order, size_t size)
{
	struct kymo_error error = {0};

	if (identify(caller, &error) == KYMO_OK &&
	    ky_order_check(order, size, &error) == KYMO_OK) {
		if (!reception->is_controlled)
			ky_error_set(&error, KYMO_ERROR_UNSUPPORTED,
				     "this recording takes no orders");
		else if (reception->is_over || reception->custody->is_finishing ||
			 reception->custody->is_over)
			ky_error_set(&error, KYMO_ERROR_STATE, OVER);
	}
	if (error.status) {
		answer_order(reception, caller, error.status, error.message);
		return;
	}
	/* The keeper has the shorter patience, and knows how many have not obeyed. */
	caller->deadline_ns = ky_monotonic_ns() + 2 * (uint64_t)KY_PROTOCOL_WAIT_NS;
	reception->custody->obeyed = tell_obeyed;
	reception->custody->obeyed_owner = reception;
	caller->order = ky_custody_command(reception->custody, order->command);
}

void ky_reception_turn_away(struct ky_reception *reception)
{
	struct ky_caller *next;

	reception->is_over = 1;
	for (struct ky_caller *caller = reception->callers; caller; caller = next) {
		next = caller->next;
		if (caller->order != 0)
			answer_order(reception, caller, KYMO_ERROR_STATE, OVER);
	}
}

/* It went away, or said nothing: nobody knows whether it has opened its capture. */
static void lose_caller(struct ky_reception *reception, struct ky_caller *caller)
{
	if (caller->capture)
		ky_custody_release(reception->custody, caller->capture,
				   KY_RELEASE_IF_UNUSED);
	drop_caller(reception, caller);
}

static void hear_caller(void *owner, struct ky_watch *watch)
{
	struct ky_reception *reception = owner;
	struct ky_caller *caller =
		(struct ky_caller *)(void *)((char *)watch -
					     offsetof(struct ky_caller, watch));
	union {
		struct ky_hello hello;
		struct ky_attached attached;
		struct ky_order order;
		struct kymo_inject_word word;
	} message = {0};
	int fd;
	ssize_t size = ky_packet_receive(caller->fd, &message, sizeof(message), &fd);

	if (fd >= 0)
		close(fd);
	if (size == -EAGAIN)
		return;
	if (size <= 0 || caller->order != 0)
		lose_caller(reception, caller);
	else if (!caller->capture && message.order.head.kind == KY_MESSAGE_ORDER)
		hear_order(reception, caller, &message.order, (size_t)size);
	else if (!caller->capture && message.order.head.kind == KY_MESSAGE_NO_AGENT)
		hear_no_agent(reception, caller, &message.word, (size_t)size);
	else if (!caller->capture)
		hear_hello(reception, caller, &message.hello, (size_t)size);
	else
		hear_attached(reception, caller, &message.attached, (size_t)size);
}

/* ---- Listening ---- */

static void add_caller(struct ky_reception *reception, int fd)
{
	struct ky_caller *caller = calloc(1, sizeof(*caller));

	if (!caller) {
		close(fd);
		return;
	}
	caller->fd = fd;
	caller->watch = (struct ky_watch){.ready = hear_caller, .owner = reception};
	set_deadline(caller);
	caller->next = reception->callers;
	reception->callers = caller;
	if (ky_loop_add(reception->loop, fd, EPOLLIN, &caller->watch) != 0)
		drop_caller(reception, caller);
}

static int accept_caller(const struct ky_reception *reception)
{
	struct sockaddr_un address;
	socklen_t size = sizeof(address);

	return accept4(reception->listen_fd, (struct sockaddr *)&address, &size,
		       SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* Without a free descriptor the queue would stay, and wake us, for ever. */
static void turn_away(struct ky_reception *reception)
{
	struct ky_caller caller = {0};
	struct kymo_error error = {0};

	close(reception->reserve_fd);
	caller.fd = accept_caller(reception);
	if (caller.fd >= 0) {
		identify(&caller, &error);
		close(caller.fd);
		note_refused(reception, &caller,
			     "the recorder has too many descriptors open (ulimit -n)");
	}
	reception->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_callers(void *owner, struct ky_watch *watch)
{
	struct ky_reception *reception = owner;
	int fd = accept_caller(reception);

	(void)watch;
	if (fd >= 0)
		add_caller(reception, fd);
	else if (errno == EMFILE || errno == ENFILE)
		turn_away(reception);
}

static int32_t listen_at(struct ky_reception *reception, struct kymo_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int number = 0;

	memcpy(address.sun_path, reception->path, strlen(reception->path));
	reception->listen_fd =
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (reception->listen_fd < 0 ||
	    bind(reception->listen_fd, (const struct sockaddr *)&address,
		 sizeof(address)) < 0 ||
	    listen(reception->listen_fd, QUEUE_MAX) < 0)
		number = errno;
	if (!number) {
		reception->watch =
			(struct ky_watch){.ready = accept_callers, .owner = reception};
		number = ky_loop_add(reception->loop, reception->listen_fd, EPOLLIN,
				     &reception->watch);
	}
	if (number)
		return ky_error_set_errno(error, number, "cannot listen at \"%s\"",
					  reception->path);
	return KYMO_OK;
}

/* Somebody has tidied up: nobody could come in any more. */
static void note_removed(struct ky_reception *reception)
{
	if (reception->refused_count++ == 0)
		snprintf(reception->refused, sizeof(reception->refused),
			 "the recorder's folder %s was removed while the program ran: "
			 "who came later was not recorded",
			 reception->folder);
}

void ky_reception_close(struct ky_reception *reception)
{
	if (!reception->loop)
		return;
	while (reception->callers)
		lose_caller(reception, reception->callers);
	if (reception->listen_fd >= 0) {
		ky_loop_remove(reception->loop, reception->listen_fd);
		close(reception->listen_fd);
	}
	if (reception->reserve_fd >= 0)
		close(reception->reserve_fd);
	if (reception->folder[0]) {
		if (unlink(reception->path) != 0 && errno == ENOENT)
			note_removed(reception);
		rmdir(reception->folder);
	}
	reception->listen_fd = reception->reserve_fd = -1;
	reception->folder[0] = '\0';
}

int32_t ky_reception_open(struct ky_reception *reception, struct kymo_error *error)
{
	int32_t status;

	reception->listen_fd = -1;
	reception->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* So small that path fits in a socket's address. */
	status = ky_private_dir(reception->folder, sizeof(reception->folder), error);
	if (status)
		return status;
	snprintf(reception->path, sizeof(reception->path), "%s/s", reception->folder);
	return listen_at(reception, error);
}

int ky_reception_is_idle(const struct ky_reception *reception)
{
	return !reception->callers;
}

int ky_reception_expire(struct ky_reception *reception)
{
	uint64_t now = ky_monotonic_ns(), nearest = UINT64_MAX;
	struct ky_caller *next;

	for (struct ky_caller *caller = reception->callers; caller; caller = next) {
		next = caller->next;
		if (caller->deadline_ns <= now && caller->order != 0)
			answer_late(reception, caller);
		else if (caller->deadline_ns <= now)
			lose_caller(reception, caller);
		else if (caller->deadline_ns < nearest)
			nearest = caller->deadline_ns;
	}
	if (nearest == UINT64_MAX)
		return -1;
	return (int)((nearest - now) / NS_PER_MS) + 1;
}
