/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and checking the memory of a capture. The layout is computed here only; whoever
 * maps it takes the offsets from the header, after checking that each part lies inside
 * the mapping and is aligned, and keeps its own copy of what bounds an index.
 */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/proc_stat.h"
#include "base/reserve.h"

#define PAGE      4096u
#define HUGE_PAGE ((size_t)2 << 20)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

int32_t ky_budget_check(uint64_t budget, struct kymo_error *error)
{
	if (budget == 0 || (budget >= KY_BUDGET_MIN && budget <= KY_BUDGET_MAX))
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "a buffer of %llu bytes is too %s: %u MiB to %u MiB",
			    (unsigned long long)budget,
			    budget < KY_BUDGET_MIN ? "small" : "large",
			    KY_BUDGET_MIN >> 20, (unsigned int)(KY_BUDGET_MAX >> 20));
}

size_t ky_capture_size(uint64_t budget)
{
	if (budget == 0)
		budget = KY_BUDGET_DEFAULT;
	if (budget < KY_BUDGET_MIN)
		budget = KY_BUDGET_MIN;
	if (budget > KY_BUDGET_MAX)
		budget = KY_BUDGET_MAX;
	return round_up((size_t)budget, HUGE_PAGE);
}

/* By a header that has been checked and does not change, as the one in there may. */
static void find_parts(struct ky_capture *out, const struct ky_capture_header *header)
{
	uint8_t *base = (uint8_t *)out->header;

	out->anchors = (struct ky_anchor *)(void *)(base + header->anchors_offset);
	out->slots = (struct ky_writer_slot *)(void *)(base + header->writers_offset);
	out->sources = (struct ky_source_counts *)(void *)(base + header->sources_offset);
	out->states = (uint32_t *)(void *)(base + header->states_offset);
	out->order = (uint64_t *)(void *)(base + header->order_offset);
	out->dictionary = base + header->dictionary_offset;
	out->chunks = base + header->chunks_offset;
	out->dictionary_size = header->dictionary_size;
	out->anchor_capacity = header->anchor_capacity;
	out->writer_capacity = header->writer_capacity;
	out->source_capacity = header->source_capacity;
	out->chunk_count = header->chunk_count;
	out->ticks = header->ticks;
	memcpy(out->constants, header, sizeof(out->constants));
}

/* What of a header does not change; it is zero before. */
static void lay_out(const struct ky_capture_setup *setup, size_t size,
		    struct ky_capture_header *header)
{
	size_t dictionary = round_up(size / 8, PAGE);
	size_t offset = PAGE;

	if (dictionary < KY_DICTIONARY_MIN)
		dictionary = KY_DICTIONARY_MIN;
	header->magic = KY_CAPTURE_MAGIC;
	header->format_major = KYMO_CAPTURE_FORMAT_MAJOR;
	header->format_minor = KYMO_CAPTURE_FORMAT_MINOR;
	header->header_size = sizeof(*header);
	header->flags = setup->flags;
	header->total_size = size;
	header->anchor_capacity = KY_ANCHOR_MAX;
	header->writer_capacity = KY_WRITER_MAX;
	header->source_capacity = KY_SOURCE_MAX;
	header->chunk_size = KY_CHUNK_SIZE;
	header->dictionary_size = dictionary;

	header->anchors_offset = offset;
	offset += round_up(KY_ANCHOR_MAX * sizeof(struct ky_anchor), PAGE);
	header->writers_offset = offset;
	offset += round_up(KY_WRITER_MAX * sizeof(struct ky_writer_slot), PAGE);
	header->sources_offset = offset;
	offset += round_up(KY_SOURCE_MAX * sizeof(struct ky_source_counts), PAGE);
	header->states_offset = offset;
	offset += round_up(size / KY_CHUNK_SIZE * sizeof(uint32_t), PAGE);
	header->order_offset = offset;
	offset += round_up(size / KY_CHUNK_SIZE * sizeof(uint64_t), PAGE);
	header->dictionary_offset = offset;
	offset = round_up(offset + dictionary, KY_CHUNK_SIZE);
	header->chunks_offset = offset;
	header->chunk_count = (uint32_t)((size - offset) / KY_CHUNK_SIZE);

	header->ticks = setup->ticks;
	header->overflow = setup->overflow;
	header->session = setup->session;
	header->capture = setup->capture;
}

/* Takes the memory as that of a capture so laid out, whatever is written there. */
static void take(const struct ky_capture_setup *setup, void *memory, size_t size,
		 struct ky_capture *out)
{
	struct ky_capture_header header = {0};

	lay_out(setup, size, &header);
	memset(out, 0, sizeof(*out));
	out->header = memory;
	out->size = size;
	find_parts(out, &header);
}

/* Fresh memory is zero: the states are COLD, the slots free. */
static void format(const struct ky_capture_setup *setup, void *memory, size_t size,
		   struct ky_capture *out)
{
	take(setup, memory, size, out);
	memcpy(memory, out->constants, sizeof(out->constants));
}

static int make_memfd(size_t size)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("kymo", flags | MFD_NOEXEC_SEAL);

	/* Linux before 6.3 does not know NOEXEC_SEAL, later ones log its absence. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("kymo", flags);
	if (fd < 0)
		return -1;
	/* Without F_SEAL_SHRINK a shorter file would be SIGBUS in the program. */
	if (ftruncate(fd, (off_t)size) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		int number = errno;

		close(fd);
		errno = number;
		return -1;
	}
	return fd;
}

int32_t ky_capture_make_fd(const struct ky_capture_setup *setup, struct ky_capture *out,
			   int *fd, struct kymo_error *error)
{
	const size_t size = ky_capture_size(setup->budget);
	void *memory;

	*fd = make_memfd(size);
	if (*fd < 0)
		return ky_error_set_errno(error, errno, "cannot make a memfd of %zu MiB",
					  size >> 20);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (memory == MAP_FAILED) {
		int number = errno;

		close(*fd);
		*fd = -1;
		return ky_error_set_errno(error, number, "cannot map %zu MiB",
					  size >> 20);
	}
	format(setup, memory, size, out);
	return KYMO_OK;
}

int32_t ky_capture_make_private(const struct ky_capture_setup *setup,
				struct ky_capture *out, struct kymo_error *error)
{
	const size_t size = ky_capture_size(setup->budget), whole = size + HUGE_PAGE;
	uint8_t *memory = ky_reserve(whole, -1);
	size_t front;

	if (!memory)
		return ky_error_set_errno(error, errno, "cannot map %zu MiB", size >> 20);
	/* Cut to alignment: only an aligned 2 MiB can be one huge page. */
	front = round_up((uintptr_t)memory, HUGE_PAGE) - (uintptr_t)memory;
	if (front > 0)
		munmap(memory, front);
	if (HUGE_PAGE - front > 0)
		munmap(memory + front + size, HUGE_PAGE - front);
	memory += front;
	madvise(memory, size, MADV_HUGEPAGE); /* a wish; small pages work too */
	format(setup, memory, size, out);
	return KYMO_OK;
}

static int is_inside(uint64_t offset, uint64_t size, uint64_t align, uint64_t total)
{
	return offset % align == 0 && offset >= PAGE && offset <= total &&
	       size <= total - offset;
}

/* `header` is a copy: what it points to may change while we look. */
static int layout_is_valid(const struct ky_capture_header *header, uint64_t total)
{
	return header->total_size == total && header->chunk_size == KY_CHUNK_SIZE &&
	       header->anchor_capacity > 0 && header->writer_capacity > 0 &&
	       header->source_capacity > 0 &&
	       is_inside(header->anchors_offset,
			 (uint64_t)header->anchor_capacity * sizeof(struct ky_anchor),
			 PAGE, total) &&
	       is_inside(header->writers_offset,
			 (uint64_t)header->writer_capacity *
				 sizeof(struct ky_writer_slot),
			 PAGE, total) &&
	       is_inside(header->sources_offset,
			 (uint64_t)header->source_capacity *
				 sizeof(struct ky_source_counts),
			 PAGE, total) &&
	       is_inside(header->states_offset,
			 (uint64_t)header->chunk_count * sizeof(uint32_t), PAGE, total) &&
	       is_inside(header->order_offset,
			 (uint64_t)header->chunk_count * sizeof(uint64_t), PAGE, total) &&
	       is_inside(header->dictionary_offset, header->dictionary_size, PAGE,
			 total) &&
	       is_inside(header->chunks_offset,
			 (uint64_t)header->chunk_count * KY_CHUNK_SIZE, KY_CHUNK_SIZE,
			 total);
}

static int32_t map_sealed(int fd, struct ky_capture *out, struct kymo_error *error)
{
	struct stat stat;
	void *memory;
	int seals = fcntl(fd, F_GET_SEALS);

	memset(out, 0, sizeof(*out));
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &stat) != 0 ||
	    stat.st_size < (off_t)sizeof(*out->header))
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"the capture's memory is not sealed against shrinking");
	memory = ky_reserve((size_t)stat.st_size, fd);
	if (!memory)
		return ky_error_set_errno(error, errno,
					  "cannot map the capture's memory");
	out->header = memory;
	out->size = (size_t)stat.st_size;
	return KYMO_OK;
}

int32_t ky_capture_map(int fd, struct ky_capture *out, struct kymo_error *error)
{
	struct ky_capture_header copy;
	int32_t status = map_sealed(fd, out, error);

	if (status)
		return status;
	memcpy(&copy, out->header, sizeof(copy));
	if (copy.magic != KY_CAPTURE_MAGIC ||
	    copy.format_major != KYMO_CAPTURE_FORMAT_MAJOR ||
	    !layout_is_valid(&copy, out->size)) {
		ky_capture_unmap(out);
		return ky_error_set(error, KYMO_ERROR_VERSION,
				    "the capture's memory has format %u.%u, this library "
				    "knows %u.%u, or its layout is damaged",
				    copy.format_major, copy.format_minor,
				    KYMO_CAPTURE_FORMAT_MAJOR, KYMO_CAPTURE_FORMAT_MINOR);
	}
	find_parts(out, &copy);
	return KYMO_OK;
}

int32_t ky_capture_map_made(int fd, const struct ky_capture_setup *setup,
			    struct ky_capture *out, struct kymo_error *error)
{
	int32_t status = map_sealed(fd, out, error);

	if (status)
		return status;
	if (out->size != ky_capture_size(setup->budget)) {
		ky_capture_unmap(out);
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the capture's memory has another size");
	}
	take(setup, out->header, out->size, out);
	return KYMO_OK;
}

void ky_capture_unmap(struct ky_capture *capture)
{
	if (capture->header)
		munmap(capture->header, capture->size);
	memset(capture, 0, sizeof(*capture));
}

void ky_capture_identify(struct ky_capture *capture, pid_t pid)
{
	struct ky_capture_header *header = capture->header;
	struct ky_process process;
	struct utsname names;
	struct stat space;
	char path[KY_PROC_PATH_SIZE];
	ssize_t size;

	header->pid = (uint64_t)(pid ? pid : getpid());
	header->parent_pid = pid ? 0 : (uint64_t)getppid();
	ky_process_read(pid, &process);
	header->start_time = process.start_time;
	if (stat(ky_proc_path(path, pid, "ns/pid"), &space) == 0)
		header->pid_namespace = space.st_ino;
	if (uname(&names) == 0)
		snprintf(header->host, sizeof(header->host), "%.63s", names.nodename);
	size = ky_read_small("/proc/sys/kernel/random/boot_id", header->boot_id,
			     sizeof(header->boot_id));
	if (size > 0 && header->boot_id[size - 1] == '\n')
		header->boot_id[size - 1] = '\0';
	snprintf(header->library_version, sizeof(header->library_version), "%s",
		 kymo_version());
	size = readlink(ky_proc_path(path, pid, "exe"), header->exe,
			sizeof(header->exe) - 1);
	header->exe[size > 0 ? size : 0] = '\0';
	size = ky_read_small(ky_proc_path(path, pid, "cmdline"), header->command_line,
			     sizeof(header->command_line) - 1);
	header->command_line_size = size > 0 ? (uint32_t)size : 0;
	header->attach_ticks = ky_ticks_of(header->ticks);
	header->attach_monotonic_ns = (int64_t)ky_monotonic_ns();
	header->attach_realtime_ns = (int64_t)ky_realtime_ns();
	/* One at the begin: what ends this capture early may leave it no other. */
	ky_capture_host_anchor(capture);
	__atomic_store_n(&header->state, KY_CAPTURE_RECORDING, __ATOMIC_RELEASE);
}

static void touch(volatile uint8_t *memory, size_t size)
{
	for (size_t offset = 0; offset < size; offset += PAGE)
		memory[offset] = 0;
}

uint32_t ky_capture_warm(struct ky_capture *capture, uint32_t ahead)
{
	uint32_t free_count = 0, warmed = 0;

	for (uint32_t i = 0; i < capture->chunk_count && free_count < ahead; i++) {
		uint32_t state = __atomic_load_n(&capture->states[i], __ATOMIC_RELAXED);

		if (state == KY_CHUNK_FREE)
			free_count++;
		if (state != KY_CHUNK_COLD)
			continue;
		/*
		 * Ours while it is LEASED: the program takes COLD ones by the same step.
		 */
		if (!__atomic_compare_exchange_n(&capture->states[i], &state,
						 KY_CHUNK_LEASED, 0, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		touch(ky_capture_chunk(capture, i), KY_CHUNK_SIZE);
		__atomic_store_n(&capture->states[i], KY_CHUNK_FREE, __ATOMIC_RELEASE);
		free_count++;
		warmed++;
	}
	return warmed;
}

void ky_capture_anchor(struct ky_capture *capture, uint32_t clock, uint64_t device,
		       uint64_t host_lo, uint64_t host_hi, uint64_t realtime)
{
	uint64_t number =
		__atomic_fetch_add(&capture->header->anchor_tail, 1, __ATOMIC_RELAXED);
	struct ky_anchor *anchor = &capture->anchors[number % capture->anchor_capacity];

	/* Not complete from here (no store may move up) until the sequence is there. */
	__atomic_exchange_n(&anchor->sequence, 0, __ATOMIC_ACQ_REL);
	anchor->clock = clock;
	anchor->device = device;
	anchor->host_lo = host_lo;
	anchor->host_hi = host_hi;
	anchor->realtime = realtime;
	__atomic_store_n(&anchor->sequence, number + 1, __ATOMIC_RELEASE);
}

void ky_capture_begin(struct ky_capture *capture)
{
	__atomic_store_n(&capture->header->begin_ticks,
			 ky_ticks_of(capture->header->ticks), __ATOMIC_RELAXED);
}

void ky_capture_host_anchor(struct ky_capture *capture)
{
	struct ky_clock_bound bound = ky_clock_bound(capture->ticks, 8);

	ky_capture_anchor(capture, 0, bound.ticks, bound.monotonic_lo, bound.monotonic_hi,
			  bound.realtime);
}
