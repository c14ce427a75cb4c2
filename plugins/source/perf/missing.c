/* SPDX-License-Identifier: BSD-3-Clause */
#include "missing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "descriptor.h"

#define REASONS_MAX 8u

static struct {
	uint32_t count;
	uint32_t is_news;
	struct {
		char what[160], why[160];
		const char *remedy;
	} reasons[REASONS_MAX];
} missing;

static void append(char *text, size_t size, const char *between, const char *more)
{
	const size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? between : "", more);
}

void perf_missing_reset(void)
{
	memset(&missing, 0, sizeof(missing));
}

void perf_missing_add(const char *what, const char *why, const char *remedy)
{
	uint32_t i = 0;

	while (i < missing.count && strcmp(missing.reasons[i].why, why) != 0)
		i++;
	if (i == REASONS_MAX)
		return;
	if (i == missing.count) {
		missing.count++;
		missing.reasons[i].what[0] = '\0';
		snprintf(missing.reasons[i].why, sizeof(missing.reasons[i].why), "%s",
			 why);
		missing.reasons[i].remedy = remedy;
	}
	append(missing.reasons[i].what, sizeof(missing.reasons[i].what), ", ", what);
	missing.is_news = 1;
}

void perf_missing_add_closed(const char *what)
{
	perf_missing_add(what, "the program has closed the descriptor",
			 "have it close its own descriptors only");
}

int perf_missing_is_news(void)
{
	return (int)missing.is_news;
}

long perf_setting(const char *path)
{
	char text[32] = "", *end = text;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	long number = -1;

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) > 0)
		number = strtol(text, &end, 10);
	close(fd);
	return end == text ? -1 : number;
}

/* Paranoid systems say EACCES; so do security modules, on systems that are not. */
static void add_denied(const char *what)
{
	const long level = perf_setting("/proc/sys/kernel/perf_event_paranoid");
	char why[160];

	if (level < 0) {
		perf_missing_add(what, "the system denies it (EACCES)",
				 "give CAP_PERFMON, or ask who set the system up");
		return;
	}
	snprintf(why, sizeof(why), "denied at perf_event_paranoid %ld (EACCES)", level);
	perf_missing_add(what, why,
			 "sysctl kernel.perf_event_paranoid=1, or give CAP_PERFMON");
}

static void add_no_descriptor(const char *what, int number)
{
	struct rlimit limit = {0, 0};
	char why[160];

	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(why, sizeof(why), "no descriptor is left, of %llu (%s)",
		 (unsigned long long)limit.rlim_cur,
		 number == EMFILE ? "EMFILE" : "ENFILE");
	perf_missing_add(what, why, "raise ulimit -n");
}

void perf_missing_add_refused(const char *what, int number)
{
	char why[160];

	switch (number) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		perf_missing_add(what, "no PMU is seen here (ENOENT)",
				 "record on the hardware itself, or have the hypervisor "
				 "pass its PMU on");
		return;
	case EACCES:
		add_denied(what);
		return;
	case EPERM:
		perf_missing_add(what, "perf_event_open is forbidden here (EPERM)",
				 "give the container CAP_PERFMON and a seccomp profile "
				 "that allows perf_event_open");
		return;
	case PERF_EVENT_KILLS:
		perf_missing_add(what, "a seccomp filter may kill for perf_event_open",
				 "a seccomp filter that allows perf_event_open");
		return;
	case ENOSYS:
		perf_missing_add(what, "there is no perf_event_open (ENOSYS)",
				 "a seccomp profile that allows perf_event_open, or a "
				 "kernel with CONFIG_PERF_EVENTS");
		return;
	case EINVAL: /* of `inherit_thread` above all, which came with 5.13 */
		perf_missing_add(what,
				 "this kernel does not follow threads apart from "
				 "children (EINVAL)",
				 "Linux 5.13 or newer");
		return;
	case EMFILE:
	case ENFILE:
		add_no_descriptor(what, number);
		return;
	default:
		snprintf(why, sizeof(why), "perf_event_open failed: %s",
			 strerror(number));
		perf_missing_add(what, why, "see perf_event_open(2)");
	}
}

int perf_missing_tell(char *why, size_t why_size, char *remedy, size_t remedy_size)
{
	why[0] = remedy[0] = '\0';
	for (uint32_t i = 0; i < missing.count; i++) {
		append(why, why_size, "; ", missing.reasons[i].what);
		append(why, why_size, ": ", missing.reasons[i].why);
		if (!strstr(remedy, missing.reasons[i].remedy))
			append(remedy, remedy_size, "; ", missing.reasons[i].remedy);
	}
	missing.is_news = 0;
	return missing.count > 0;
}
