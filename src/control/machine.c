/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each fact is found by doing what the recording does, not by comparing versions: a
 * sandbox may refuse what the kernel has.
 */
#include "control/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kymo/plugin.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/place.h"
#include "control/process.h"
#include "control/protocol.h"
#include "timeline/symbols.h"

#define HUGE_PAGES "/sys/kernel/mm/transparent_hugepage/enabled"
#define PAGE_SIZE  4096u

static void set_state(struct ky_fact *fact, uint32_t state, const char *why,
		      const char *remedy)
{
	fact->state = state;
	ky_text_copy(fact->why, sizeof(fact->why), why);
	ky_text_copy(fact->remedy, sizeof(fact->remedy), remedy);
}

static void fail_by_errno(struct ky_fact *fact, int number, const char *remedy)
{
	const int is_denied = number == EPERM || number == EACCES;

	set_state(fact, is_denied ? KYMO_STATE_DENIED : KYMO_STATE_FAILED,
		  strerror(number), remedy);
}

static void find_clock(struct ky_fact *fact)
{
	const uint32_t clock = ky_clock_choose();

	if (clock == KY_CLOCK_TSC)
		snprintf(fact->what, sizeof(fact->what),
			 "the TSC: invariant, and the same on all cores");
	else if (clock == KY_CLOCK_CNTVCT)
		snprintf(fact->what, sizeof(fact->what), "the system counter (CNTVCT)");
	else
		snprintf(fact->what, sizeof(fact->what), "CLOCK_MONOTONIC");
	if (clock == KY_CLOCK_MONOTONIC)
		set_state(fact, KYMO_STATE_PARTLY,
			  "the TSC is not invariant, or cores disagree about it: each "
			  "reading takes longer",
			  "");
}

static void find_memory(struct ky_fact *fact)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int fd = memfd_create("kymo-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	snprintf(fact->what, sizeof(fact->what),
		 "memfd, sealed against shrinking; /dev/shm is not needed");
	if (fd < 0 || ftruncate(fd, PAGE_SIZE) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)
		fail_by_errno(fact, errno,
			      "let memfd_create and its seals through the sandbox");
	if (fd >= 0)
		close(fd);
}

/* What programs load: this library, whatever it is linked into. */
static void find_agent(struct ky_fact *fact)
{
	void (*const self)(struct ky_fact *) = find_agent;
	const void *address;
	char path[PATH_MAX];

	memcpy(&address, &self, sizeof(address));
	if (ky_object_path(address, path, sizeof(path)))
		set_state(fact, KYMO_STATE_FAILED,
			  "the file of this library cannot be found",
			  "is /proc mounted? was it deleted?");
	else
		ky_text_copy(fact->what, sizeof(fact->what), path);
}

static void find_folder(struct ky_fact *fact)
{
	struct kymo_error error = {0};
	char path[256];

	snprintf(fact->what, sizeof(fact->what), "a private folder for the socket");
	if (ky_private_dir(path, sizeof(path), &error)) {
		set_state(fact, KYMO_STATE_FAILED, error.message,
			  "set TMPDIR to a folder that can be written");
		return;
	}
	rmdir(path);
	*strrchr(path, '/') = '\0';
	snprintf(fact->what, sizeof(fact->what),
		 "a private folder for the socket, in %.80s", path);
}

static void find_pidfd(struct ky_fact *fact)
{
	const int fd = ky_pidfd_open(getpid());

	snprintf(fact->what, sizeof(fact->what), "pidfd: the end of a process is seen");
	if (fd < 0)
		fail_by_errno(fact, -fd,
			      "Linux 5.3, or let pidfd_open through the sandbox");
	else
		close(fd);
}

static void find_forks(struct ky_fact *fact)
{
	void *page = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	snprintf(fact->what, sizeof(fact->what),
		 "MADV_WIPEONFORK: forked children begin afresh");
	if (page == MAP_FAILED || madvise(page, PAGE_SIZE, MADV_WIPEONFORK) < 0)
		fail_by_errno(fact, errno, "Linux 4.14; without it nothing is recorded");
	if (page != MAP_FAILED)
		munmap(page, PAGE_SIZE);
}

static void find_barrier(struct ky_fact *fact)
{
	const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	snprintf(fact->what, sizeof(fact->what), "membarrier: stopping waits for nobody");
	if (commands < 0 || !(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		set_state(fact, KYMO_STATE_PARTLY,
			  "it is missing or refused: stopping takes some milliseconds",
			  "let membarrier through the sandbox");
}

/* Programs that record themselves; a recorder's memory is warmed page by page. */
static void find_huge_pages(struct ky_fact *fact)
{
	char text[128];

	snprintf(fact->what, sizeof(fact->what), "off");
	if (ky_read_small(HUGE_PAGES, text, sizeof(text)) < 0 || strstr(text, "[never]"))
		set_state(fact, KYMO_STATE_PARTLY,
			  "a program's own session starts a little slower",
			  "echo madvise > " HUGE_PAGES);
	else
		snprintf(fact->what, sizeof(fact->what), "%s",
			 strstr(text, "[always]") ? "always"
						  : "where they are asked for");
}

static void find_symbols(struct ky_fact *fact)
{
	const char *remedy, *reason = ky_symbols_missing(&remedy);

	snprintf(fact->what, sizeof(fact->what),
		 "libdw: code addresses are shown by function and line");
	if (reason)
		set_state(fact, KYMO_STATE_PARTLY, reason, remedy);
}

int ky_machine_fact(uint32_t number, struct ky_fact *out)
{
	static const struct {
		const char *name;
		void (*find)(struct ky_fact *fact);
	} facts[] = {
		{"clock", find_clock},     {"memory", find_memory},
		{"agent", find_agent},     {"folder", find_folder},
		{"processes", find_pidfd}, {"forks", find_forks},
		{"barrier", find_barrier}, {"huge pages", find_huge_pages},
		{"symbols", find_symbols},
	};

	if (number >= sizeof(facts) / sizeof(facts[0]))
		return 0;
	*out = (struct ky_fact){.name = facts[number].name, .state = KYMO_STATE_READY};
	facts[number].find(out);
	return 1;
}
