/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/custody.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "control/channel.h"
#include "control/command.h"
#include "control/output.h"

#define GENERATION_MAX 2u
#define PATIENCE_NS    30000000000u /* a keeper is ready in milliseconds */
#define NS_PER_MS      1000000u
#define NS_PER_SECOND  1000000000u

/* Bits of `unsent`: one of each kind of message. */
#define BIT(kind) (1u << (kind))

static void push(struct ky_custody *custody);

/* ---- Wards ---- */

static struct ky_ward *find_ward(const struct ky_custody *custody, uint64_t number)
{
	struct ky_ward *ward = custody->wards;

	while (ward && ward->number != number)
		ward = ward->next;
	return ward;
}

/* One that no process has yet. */
static struct ky_ward *find_spare(const struct ky_custody *custody)
{
	struct ky_ward *ward = custody->wards;

	while (ward && (ward->pidfd >= 0 || ward->is_released))
		ward = ward->next;
	return ward;
}

static void drop_ward(struct ky_custody *custody, struct ky_ward *ward)
{
	struct ky_ward **link = &custody->wards;

	while (*link != ward)
		link = &(*link)->next;
	*link = ward->next;
	if (ward->pidfd >= 0) {
		ky_loop_remove(custody->loop, ward->pidfd);
		close(ward->pidfd);
	}
	close(ward->memory_fd);
	free(ward);
}

/* Makes a capture and has it warmed, for a process that is to come. */
static int32_t add_spare(struct ky_custody *custody, struct kymo_error *error)
{
	struct ky_capture capture;
	struct ky_ward *ward = calloc(1, sizeof(*ward)), **link = &custody->wards;
	int32_t status;

	if (!ward)
		return ky_error_no_memory(error);
	custody->capture_setup.capture++;
	status = ky_capture_make_fd(&custody->capture_setup, &capture, &ward->memory_fd,
				    error);
	if (status) {
		free(ward);
		return status;
	}
	/* Here, since its process may come before the keeper knows of it. */
	if (custody->command)
		ky_command_give(&capture, custody->command);
	/* The front only holds the memory; it does not look at it. */
	ky_capture_unmap(&capture);
	ward->number = custody->capture_setup.capture;
	ward->pidfd = -1;
	ward->unsent = BIT(KY_HANDOVER_MEMORY);
	while (*link)
		link = &(*link)->next;
	*link = ward;
	push(custody);
	return KYMO_OK;
}

static void process_ends(void *owner, struct ky_watch *watch)
{
	struct ky_custody *custody = owner;
	struct ky_ward *ward =
		(struct ky_ward *)(void *)((char *)watch -
					   offsetof(struct ky_ward, watch));

	ward->has_ended = 1;
	ky_loop_remove(custody->loop, ward->pidfd);
}

/* ---- Talking to the keeper ---- */

static int send_kind(struct ky_custody *custody, uint32_t kind,
		     const struct ky_ward *ward)
{
	struct ky_handover handover = {.kind = kind};
	int fd = -1;

	if (kind == KY_HANDOVER_COMMAND) {
		handover.number = custody->command_number;
		handover.flags = custody->command;
	}
	if (kind == KY_HANDOVER_FINISH)
		handover.flags = custody->finish_flags;
	if (ward) {
		handover.number = ward->number;
		handover.flags = ward->release_flags;
		if (kind == KY_HANDOVER_MEMORY)
			fd = ward->memory_fd;
		else if (kind == KY_HANDOVER_PROCESS)
			fd = ward->pidfd;
	}
	return ky_packet_send(custody->keeper_fd, &handover, sizeof(handover), fd) == 0;
}

/* Sends in the order of the kinds as much as goes; whether that is all. */
static int send_unsent(struct ky_custody *custody, uint32_t *unsent,
		       const struct ky_ward *ward)
{
	for (uint32_t kind = KY_HANDOVER_MEMORY; kind <= KY_HANDOVER_ABANDON; kind++) {
		if (!(*unsent & BIT(kind)))
			continue;
		if (!send_kind(custody, kind, ward))
			return 0;
		*unsent &= ~BIT(kind);
	}
	return 1;
}

/*
 * Sends what the keeper does not know. Where its socket takes no more, the loop says when
 * it does; where the keeper has died, the loop says that as well.
 */
static void push(struct ky_custody *custody)
{
	int is_all_sent = 1;

	if (custody->keeper_fd < 0)
		return;
	for (struct ky_ward *ward = custody->wards; ward && is_all_sent;
	     ward = ward->next)
		is_all_sent = send_unsent(custody, &ward->unsent, ward);
	/* Last: there is nothing behind it. */
	if (is_all_sent)
		is_all_sent = send_unsent(custody, &custody->unsent, NULL);
	ky_loop_change(custody->loop, custody->keeper_fd,
		       is_all_sent ? EPOLLIN : EPOLLIN | EPOLLOUT,
		       &custody->keeper_watch);
}

static void be_over(struct ky_custody *custody)
{
	custody->is_over = 1;
	if (custody->keeper_fd >= 0) {
		ky_loop_remove(custody->loop, custody->keeper_fd);
		close(custody->keeper_fd);
	}
	custody->keeper_fd = -1;
}

/* How the keeper ended; it is gone from the system then. */
static int reap_keeper(struct ky_custody *custody)
{
	int wait_status = 0;

	if (custody->keeper <= 0)
		return 0;
	while (waitpid(custody->keeper, &wait_status, 0) < 0 && errno == EINTR)
		;
	custody->keeper = 0;
	return wait_status;
}

static void hear_keeper(void *owner, struct ky_watch *watch);

static int32_t spawn_keeper(struct ky_custody *custody, struct kymo_error *error)
{
	int number;
	int32_t status = ky_keeper_spawn(&custody->keeper_setup, &custody->keeper,
					 &custody->keeper_fd, error);

	if (status) {
		custody->keeper = 0;
		custody->keeper_fd = -1;
		return status;
	}
	fcntl(custody->keeper_fd, F_SETFL, O_NONBLOCK);
	custody->keeper_watch = (struct ky_watch){.ready = hear_keeper, .owner = custody};
	number = ky_loop_add(custody->loop, custody->keeper_fd, EPOLLIN,
			     &custody->keeper_watch);
	if (number)
		return ky_error_set_errno(error, number, "cannot watch the keeper");
	push(custody);
	return KYMO_OK;
}

/* Everything that the dead one had is handed over again. */
static int32_t replace_keeper(struct ky_custody *custody, struct kymo_error *error)
{
	ky_loop_remove(custody->loop, custody->keeper_fd);
	close(custody->keeper_fd);
	custody->keeper_fd = -1;
	custody->keeper_setup.generation++;
	/* What lies there now may be what the dead one had made. */
	if (custody->is_finishing)
		custody->keeper_setup.overwrite = 1;
	for (struct ky_ward *ward = custody->wards; ward; ward = ward->next) {
		ward->unsent = BIT(KY_HANDOVER_MEMORY);
		if (ward->pidfd >= 0)
			ward->unsent |= BIT(KY_HANDOVER_PROCESS);
		if (ward->is_released)
			ward->unsent |= BIT(KY_HANDOVER_RELEASE);
	}
	if (custody->command)
		custody->unsent |= BIT(KY_HANDOVER_COMMAND);
	if (custody->is_finishing)
		custody->unsent |= BIT(KY_HANDOVER_FINISH);
	return spawn_keeper(custody, error);
}

/* The file that the keeper writes to, if there is one. */
static int find_file(const struct ky_custody *custody, char *path, size_t size)
{
	const struct ky_keeper_setup *setup = &custody->keeper_setup;

	return ky_output_capture_path(setup->outputs[0], setup->recorder, path, size,
				      NULL) == KYMO_OK &&
	       access(path, F_OK) == 0;
}

static void keeper_died(struct ky_custody *custody)
{
	struct ky_outcome *outcome = &custody->outcome;
	int wait_status = reap_keeper(custody);
	char path[sizeof(outcome->capture)];

	if (custody->keeper_setup.generation < GENERATION_MAX &&
	    replace_keeper(custody, NULL) == KYMO_OK)
		return;
	if (WIFSIGNALED(wait_status))
		ky_error_set(&outcome->error, KYMO_ERROR_STATE,
			     "the process that keeps the recording was killed twice, the "
			     "last time by signal %d",
			     WTERMSIG(wait_status));
	else
		ky_error_set(&outcome->error, KYMO_ERROR_STATE,
			     "the process that keeps the recording ended twice, the last "
			     "time with status %d",
			     WEXITSTATUS(wait_status));
	if (find_file(custody, path, sizeof(path)))
		memcpy(outcome->capture, path, sizeof(path));
	be_over(custody);
}

static void heed(struct ky_custody *custody, const struct ky_told *told)
{
	struct ky_ward *ward;

	switch (told->kind) {
	case KY_TOLD_READY:
		custody->is_ready = 1;
		custody->outcome.error = told->outcome.error;
		return;
	case KY_TOLD_ENDED:
		custody->keeper_setup.has_file = 1;
		ward = find_ward(custody, told->number);
		if (ward)
			drop_ward(custody, ward);
		return;
	case KY_TOLD_OBEYED:
		if (custody->obeyed)
			custody->obeyed(custody->obeyed_owner, told->number,
					told->not_count);
		return;
	case KY_TOLD_OUTCOME:
		custody->outcome = told->outcome;
		be_over(custody);
		reap_keeper(custody);
		return;
	}
}

static void hear_keeper(void *owner, struct ky_watch *watch)
{
	struct ky_custody *custody = owner;
	struct ky_told told;
	int fd;
	ssize_t size = ky_packet_receive(custody->keeper_fd, &told, sizeof(told), &fd);

	(void)watch;
	if (fd >= 0)
		close(fd);
	if (size >= (ssize_t)KY_TOLD_SHORT_SIZE)
		heed(custody, &told);
	else if (size != -EAGAIN)
		keeper_died(custody);
	push(custody);
}

/* ---- For the front ---- */

void ky_custody_close(struct ky_custody *custody)
{
	if (!custody->loop)
		return;
	while (custody->wards)
		drop_ward(custody, custody->wards);
	be_over(custody);
	if (custody->keeper_setup.progress)
		munmap(custody->keeper_setup.progress, sizeof(struct ky_progress));
	custody->keeper_setup.progress = NULL;
}

/* Before the keeper is forked, which inherits it. */
static int32_t share_progress(struct ky_keeper_setup *setup, struct kymo_error *error)
{
	void *memory = mmap(NULL, sizeof(struct ky_progress), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return ky_error_no_memory(error);
	setup->progress = memory;
	return KYMO_OK;
}

/* The keeper's first word, which is not waited for without end. */
static int32_t hear_first_word(struct ky_custody *custody, struct kymo_error *error)
{
	const uint64_t patience_ns =
		custody->patience_ns ? custody->patience_ns : PATIENCE_NS;
	const uint64_t begin_ns = ky_monotonic_ns();
	uint64_t spent_ns = 0;

	while (!custody->is_ready && !custody->is_over && spent_ns < patience_ns) {
		const uint64_t left_ns = patience_ns - spent_ns;

		if (ky_loop_step(custody->loop, (int)(left_ns / NS_PER_MS) + 1) < 0)
			return ky_error_set_errno(error, errno,
						  "cannot wait for the keeper");
		spent_ns = ky_monotonic_ns() - begin_ns;
	}
	if (custody->is_ready || custody->is_over)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_IO,
			    "the process that is to keep the recording has not begun "
			    "within %llu s: is \"%s\" on a disk that answers?",
			    (unsigned long long)(patience_ns / NS_PER_SECOND),
			    custody->keeper_setup.outputs[0]);
}

int32_t ky_custody_open(struct ky_custody *custody, struct kymo_error *error)
{
	int32_t status;

	custody->keeper_fd = -1;
	custody->keeper_setup.generation = 1;
	custody->keeper_setup.captures = &custody->capture_setup;
	status = share_progress(&custody->keeper_setup, error);
	if (!status)
		status = add_spare(custody, error);
	if (!status)
		status = spawn_keeper(custody, error);
	if (!status)
		status = hear_first_word(custody, error);
	if (!status && custody->outcome.error.status) {
		status = custody->outcome.error.status;
		if (error)
			*error = custody->outcome.error;
	}
	return status;
}

int32_t ky_custody_take_process(struct ky_custody *custody, pid_t pid, int pidfd,
				const struct ky_ward **out, struct kymo_error *error)
{
	struct ky_ward *ward = find_spare(custody);
	int32_t status = KYMO_OK;
	int number;

	if (custody->is_over || custody->is_finishing)
		status = ky_error_set(error, KYMO_ERROR_STATE, "the recording is over");
	else if (!ward)
		status = add_spare(custody, error);
	if (status) {
		close(pidfd);
		return status;
	}
	ward = find_spare(custody);
	ward->watch = (struct ky_watch){.ready = process_ends, .owner = custody};
	number = ky_loop_add(custody->loop, pidfd, EPOLLIN, &ward->watch);
	if (number) {
		close(pidfd);
		return ky_error_set_errno(error, number, "cannot watch the process");
	}
	ward->pid = pid;
	ward->pidfd = pidfd;
	ward->unsent |= BIT(KY_HANDOVER_PROCESS);
	push(custody);
	*out = ward;
	return KYMO_OK;
}

void ky_custody_restock(struct ky_custody *custody)
{
	/* If this fails it is tried again, and told of, when it is needed. */
	if (!custody->is_over && !custody->is_finishing && !find_spare(custody))
		add_spare(custody, NULL);
}

void ky_custody_release(struct ky_custody *custody, uint64_t number, uint32_t flags)
{
	struct ky_ward *ward = find_ward(custody, number);

	if (!ward)
		return;
	ward->is_released = 1;
	ward->release_flags = flags;
	ward->unsent |= BIT(KY_HANDOVER_RELEASE);
	push(custody);
}

uint32_t ky_custody_percent(const struct ky_custody *custody)
{
	return ky_progress_percent(custody->keeper_setup.progress);
}

size_t ky_custody_count_processes(const struct ky_custody *custody, pid_t *pid)
{
	size_t count = 0;

	for (const struct ky_ward *ward = custody->wards; ward; ward = ward->next) {
		if (ward->pidfd < 0 || ward->has_ended)
			continue;
		count++;
		if (pid)
			*pid = ward->pid;
	}
	return count;
}

uint64_t ky_custody_command(struct ky_custody *custody, uint32_t command)
{
	custody->command = command;
	custody->command_number++;
	custody->unsent |= BIT(KY_HANDOVER_COMMAND);
	push(custody);
	return custody->command_number;
}

void ky_custody_finish(struct ky_custody *custody, uint32_t flags)
{
	custody->finish_flags = flags;
	custody->is_finishing = 1;
	custody->unsent |= BIT(KY_HANDOVER_FINISH);
	push(custody);
}

/* One that was never heard would not obey either. */
static void kill_keeper(struct ky_custody *custody)
{
	char path[sizeof(custody->outcome.capture)];

	be_over(custody);
	if (custody->keeper > 0)
		kill(custody->keeper, SIGKILL);
	reap_keeper(custody);
	if (find_file(custody, path, sizeof(path)))
		unlink(path);
}

void ky_custody_abandon(struct ky_custody *custody)
{
	if (!custody->loop || custody->is_over || custody->keeper_fd < 0)
		return;
	if (!custody->is_ready) {
		kill_keeper(custody);
		return;
	}
	custody->keeper_setup.generation = GENERATION_MAX; /* not worth another one */
	custody->is_finishing = 1;
	custody->unsent |= BIT(KY_HANDOVER_ABANDON);
	push(custody);
	while (!custody->is_over)
		if (ky_loop_step(custody->loop, -1) < 0)
			be_over(custody); /* it has been told, and sees that we go */
	reap_keeper(custody);
}
