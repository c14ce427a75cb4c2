/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent: what lives in a profiled program. It decides once per process whether that
 * is recorded, by asking the recorder whose socket stands in KYMO_SESSION.
 *
 * ky_agent_decide() runs in whatever thread came first, before or after main, with
 * decide_lock held. On the way to an open gate it allocates nothing: the first mark may
 * stand in somebody's malloc. While descriptors are open the thread takes no signal
 * and is not cancelled, since neither a handler's long jump nor the end of the thread
 * would close them or open the lock.
 *
 * Whatever fails, the program goes on unrecorded, and the recorder is told why if it can
 * still be reached.
 *
 * Descriptors live only here and only for the exchange. Another thread may close all that
 * the process has at any moment, and open others: a number is used again only after
 * looking whether it still is what we made.
 *
 * A forked child comes here anew, because its gate is on a wiped page; it knows itself by
 * what its parent left in `agent`, which is not. The gate has made its leases and its
 * dictionary its own by then.
 */
#include "control/agent.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "capture/capture.h"
#include "capture/gate.h"
#include "capture/lease.h"
#include "control/channel.h"
#include "control/command.h"
#include "control/protocol.h"
#include "control/room.h"
#include "plugin/check.h"
#include "record/dictionary.h"
#include "session/host.h"
#include "session/identity.h"
#include "session/range.h"
#include "session/recorder.h"
#include "session/source.h"
#include "session/wanted_types.h"

#define NS_PER_SECOND 1000000000u

enum phase {
	PHASE_NEW,
	PHASE_DECIDING, /* left behind in a child whose parent forked in the middle */
	PHASE_DECLINED,
	PHASE_ATTACHED, /* this process only */
	PHASE_FOLLOWED, /* and the children that it forks */
};

/* A descriptor of ours, and what it is; zero: none. */
struct held {
	int fd;
	dev_t device;
	ino_t inode;
};

static struct {
	enum phase phase; /* this and what follows: under decide_lock */
	struct held socket, memory;
	struct ky_capture capture; /* never unmapped: writers may come late */
	const char *attaching;     /* the first plug-in's name; atomic */
	pid_t recorder;            /* that we are, or were forked by; 0: none; atomic */
	uint32_t has_room;         /* 1: what sources need is reserved; atomic */
} agent;

static int identify(int fd, struct held *out)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0)
		return 0;
	*out = (struct held){.fd = fd, .device = info.st_dev, .inode = info.st_ino};
	return 1;
}

static int is_ours(const struct held *held)
{
	struct held now;

	return held->inode != 0 && identify(held->fd, &now) &&
	       now.device == held->device && now.inode == held->inode;
}

static void let_go(struct held *held)
{
	if (is_ours(held))
		close(held->fd);
	*held = (struct held){0};
}

static void set_timeout(int fd, int option, uint64_t ns)
{
	struct timeval time = {
		.tv_sec = (time_t)(ns / NS_PER_SECOND),
		/* Zero would mean for ever. */
		.tv_usec = (suseconds_t)(ns % NS_PER_SECOND / 1000) + 1,
	};

	setsockopt(fd, SOL_SOCKET, option, &time, sizeof(time));
}

/* Connects, or fails at once where nobody listens. */
static int32_t connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t size = strlen(path);
	int fd;

	if (size >= sizeof(address.sun_path))
		return KYMO_ERROR_INVALID;
	memcpy(address.sun_path, path, size);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (!identify(fd, &agent.socket))
		return KYMO_ERROR_IO;
	/* Connecting waits only where the recorder is so busy that its queue is full. */
	set_timeout(fd, SO_SNDTIMEO, KY_PROTOCOL_WAIT_NS);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return ky_status_from_errno(errno);
	return KYMO_OK;
}

/* Who listens there, as the system has it. */
static void note_recorder(void)
{
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);

	if (getsockopt(agent.socket.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		peer.pid = 0;
	ky_recorder_set(peer.pid);
}

/* Says hello and waits for the answer, which brings the memory. */
static int32_t ask(uint32_t flags, struct ky_welcome *welcome, struct kymo_error *error)
{
	const char *attaching = __atomic_load_n(&agent.attaching, __ATOMIC_RELAXED);
	const int fd = agent.socket.fd;
	struct ky_hello hello;
	int number, memory_fd;
	ssize_t size;
	int32_t status;

	ky_hello_fill(&hello, attaching ? attaching : "marks", flags);
	number = ky_packet_send(fd, &hello, sizeof(hello), -1);
	if (number)
		return ky_error_set_errno(error, number, "cannot send");
	set_timeout(fd, SO_RCVTIMEO, KY_PROTOCOL_WAIT_NS);
	size = ky_packet_receive(fd, welcome, sizeof(*welcome), &memory_fd);
	identify(memory_fd, &agent.memory);
	if (size < 0)
		return ky_error_set_errno(error, (int)-size, "no answer");
	status = ky_welcome_check(welcome, (size_t)size, error);
	if (status)
		return status;
	if (welcome->status)
		return ky_error_set(error, welcome->status, "%s", welcome->message);
	if (memory_fd < 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "it cannot be given the memory: it may have as many "
				    "descriptors open as it is allowed (ulimit -n)");
	return KYMO_OK;
}

/* Before anything is mapped. */
static int32_t check_room(struct kymo_error *error)
{
	struct stat memory;

	if (fstat(agent.memory.fd, &memory) != 0)
		return ky_error_set_errno(error, errno, "cannot look at the memory");
	return ky_room_check((uint64_t)memory.st_size, error);
}

/* Maps the capture and readies it. */
static int32_t open_capture(struct kymo_error *error)
{
	struct ky_capture *capture = &agent.capture;
	int32_t status = ky_capture_map(agent.memory.fd, capture, error);

	if (status)
		return status;
	if (ky_gate_protect() != 0) {
		status = ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				      "this kernel cannot wipe memory on fork");
		goto fail;
	}
	status = ky_dictionary_mirror(capture->dictionary, capture->dictionary_size,
				      &capture->header->dictionary_tail,
				      &capture->header->names_not_kept);
	if (status) {
		ky_error_set(error, status,
			     "no memory for names, or those used so far do not fit in "
			     "the capture");
		goto fail;
	}
	/* Nothing fails any more: from here on it is a capture to the recorder. */
	ky_capture_identify(capture, 0);
	return ky_gate_take(capture);
fail:
	ky_capture_unmap(capture);
	return status;
}

static int32_t attach(const char *path, uint32_t flags, struct ky_welcome *welcome)
{
	struct kymo_error error = {0};
	struct ky_attached attached;
	int32_t status = connect_to(path);

	if (!status) {
		status = ask(flags, welcome, &error);
		if (!status)
			status = check_room(&error);
		if (!status) {
			ky_wanted_types_set(welcome->types);
			note_recorder();
			status = open_capture(&error);
		}
		/* Not heard, the recorder is gone: the memory is usable, and idle. */
		ky_attached_fill(&attached, status, error.message);
		if (is_ours(&agent.socket))
			ky_packet_send(agent.socket.fd, &attached, sizeof(attached), -1);
	}
	let_go(&agent.memory);
	let_go(&agent.socket);
	return status;
}

/* The same with nothing that could cut it short. */
static int32_t attach_undisturbed(const char *path, uint32_t flags,
				  struct ky_welcome *welcome)
{
	sigset_t all, old_mask;
	int old_state;
	int32_t status;

	sigfillset(&all);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old_state);
	pthread_sigmask(SIG_BLOCK, &all, &old_mask);
	status = attach(path, flags, welcome);
	pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
	pthread_setcancelstate(old_state, &old_state);
	return status;
}

/* Whether to ask at all, by what the parent, if there was one, came to. */
static int is_told_to_ask(enum phase parent, const char *path)
{
	const pid_t recorder = __atomic_load_n(&agent.recorder, __ATOMIC_RELAXED);

	if (!path || path[0] != '/' || (recorder != 0 && recorder != getpid()))
		return 0;
	return parent == PHASE_NEW || parent == PHASE_DECIDING ||
	       parent == PHASE_FOLLOWED;
}

/*
 * Whoever finds the gate open may be at its end before we are: all that is told of the
 * process is told by then. Where nothing is to be recorded yet no thread may find it
 * open; what the sources tell while they start is taken all the same.
 */
static void open_gate(const struct ky_welcome *welcome)
{
	ky_identity_publish();
	if (welcome->range[0] || ky_command_is_to_rest(&agent.capture))
		ky_gate_shut();
	else
		ky_gate_resume();
}

/* What the parent had open or mapped is nothing to this process. */
static void leave_parent(enum phase parent)
{
	const struct ky_writer *writer = ky_writer_self;

	if (parent == PHASE_DECIDING) {
		let_go(&agent.memory);
		let_go(&agent.socket);
	}
	/* A handler that forked in the middle of a record will end it there. */
	if ((parent == PHASE_ATTACHED || parent == PHASE_FOLLOWED) &&
	    ((uintptr_t)writer <= 1 || !writer->busy))
		ky_capture_unmap(&agent.capture);
}

static void decide(void)
{
	const enum phase parent = agent.phase;
	const char *path = ky_env_get(KY_SESSION_VARIABLE);
	/* One thread decides, whose stack may be small. */
	static struct ky_welcome welcome;

	leave_parent(parent);
	agent.phase = PHASE_DECIDING;
	if (!is_told_to_ask(parent, path) ||
	    attach_undisturbed(path, parent == PHASE_NEW ? 0 : KY_HELLO_FORKED,
			       &welcome) != KYMO_OK) {
		agent.phase = PHASE_DECLINED;
		return;
	}
	agent.phase =
		welcome.flags & KY_WELCOME_FOLLOW_FORKS ? PHASE_FOLLOWED : PHASE_ATTACHED;
	open_gate(&welcome);
	if (parent == PHASE_FOLLOWED)
		ky_sources_forked();
	else
		ky_sources_begin(welcome.wanted, ky_gate_epoch(), 0);
	/* A name that does not fit in the dictionary any more cannot begin either. */
	if (welcome.range[0])
		(void)ky_range_arm(welcome.range, NULL);
	if (welcome.flags & KY_WELCOME_CONTROLLED)
		ky_command_serve(&agent.capture);
}

void ky_agent_set_recorder(pid_t pid)
{
	__atomic_store_n(&agent.recorder, pid, __ATOMIC_RELAXED);
}

void ky_agent_decide(void)
{
	int kept = errno;

	decide();
	errno = kept;
}

/*
 * For sessions of its own that may come, a program gives up no less than for a recorder;
 * but only once, since what is reserved for the first plug-in serves all.
 */
static int32_t find_room(struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	if (!__atomic_load_n(&agent.has_room, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&ky_gate()->capture, __ATOMIC_ACQUIRE))
		status = ky_room_check(0, error);
	if (!status)
		__atomic_store_n(&agent.has_room, 1, __ATOMIC_RELAXED);
	return status;
}

int32_t kymo_agent_attach_v1(const struct kymo_plugin *plugin,
			     const struct kymo_host **out, struct kymo_error *error)
{
	const char *nobody = NULL;
	int kept = errno;
	int32_t status;

	if (!plugin || !out)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no plug-in to attach");
	status = ky_plugin_check(plugin, error);
	if (!status) {
		__atomic_compare_exchange_n(&agent.attaching, &nobody, plugin->name, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		ky_gate_decide();
		status = find_room(error);
	}
	if (!status)
		status = ky_sources_add(plugin, error);
	if (!status)
		*out = ky_host_table();
	errno = kept;
	return status;
}
