/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code addresses: what must be known of one while the program runs. Which file it is in,
 * where in it, and the file's build id, so that whoever makes the trace finds function
 * and line without mistaking another file for this one.
 *
 * By dl_iterate_phdr, not dladdr: that waits for dlopen, and a constructor in there may
 * be waiting for the very thread that asks (a parallel region does). dladdr would also
 * look through all symbols of the file at each address.
 */
#include "session/host.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork_guard.h"
#include "capture/capture.h"
#include "record/dictionary.h"

#define BUILD_ID_MAX 64u /* bytes; linkers make 8 to 32 */

struct search {
	uintptr_t address;
	uint64_t offset;
	char object[PATH_MAX];
	char build_id[2 * BUILD_ID_MAX + 1];
};

/* Whether a part of the file that can be read lies around these bytes of it. */
static int is_mapped(const struct dl_phdr_info *info, uint64_t at, uint64_t size)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_R) &&
		    at - part->p_vaddr < part->p_memsz &&
		    size <= part->p_memsz - (at - part->p_vaddr))
			return 1;
	}
	return 0;
}

static void put_hex(char *to, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*to++ = digits[bytes[i] >> 4];
		*to++ = digits[bytes[i] & 15];
	}
	*to = '\0';
}

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* The build id among the notes at `at`; their sizes are checked, they may be anything. */
static int take_build_id(const unsigned char *at, size_t size, char *out)
{
	ElfW(Nhdr) note;

	while (size >= sizeof(note)) {
		size_t name, description;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		size -= sizeof(note);
		name = padded(note.n_namesz);
		description = padded(note.n_descsz);
		if (name > size || description > size - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(at, "GNU", 4) == 0 && note.n_descsz <= BUILD_ID_MAX) {
			put_hex(out, at + name, note.n_descsz);
			return 1;
		}
		at += name + description;
		size -= name + description;
	}
	return 0;
}

static void find_build_id(const struct dl_phdr_info *info, char *out)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE &&
		    is_mapped(info, part->p_vaddr, part->p_memsz) &&
		    take_build_id((const unsigned char *)info->dlpi_addr + part->p_vaddr,
				  part->p_memsz, out))
			return;
	}
}

/* The loader's lock is held: as little as can be is done here. */
static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;

	(void)size;
	search->offset = search->address - info->dlpi_addr;
	if (!is_mapped(info, search->offset, 1))
		return 0;
	strncpy(search->object, info->dlpi_name ? info->dlpi_name : "",
		sizeof(search->object) - 1);
	find_build_id(info, search->build_id);
	return 1;
}

/* The loader does not name the program, and others as they were asked for. */
static const char *find_path(const struct search *search, char *path)
{
	if (search->object[0] == '\0') {
		ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);

		path[size > 0 ? size : 0] = '\0';
		return path;
	}
	if (search->object[0] != '/' && strchr(search->object, '/') &&
	    realpath(search->object, path))
		return path;
	return search->object;
}

uint32_t ky_host_code(struct kymo_source_host *host, const void *address)
{
	struct ky_code_entry entry = {.address = (uintptr_t)address};
	struct search search = {.address = (uintptr_t)address};
	char path[PATH_MAX];
	int kept = errno;
	uint32_t id = 0;
	int is_found;

	(void)host;
	if (!address)
		return 0;
	ky_fork_guard_enter();
	is_found = dl_iterate_phdr(look_at, &search) != 0;
	ky_fork_guard_leave();
	if (is_found) {
		entry.object = ky_dictionary_text(find_path(&search, path));
		entry.offset = search.offset;
		if (search.build_id[0])
			entry.build_id = ky_dictionary_text(search.build_id);
	}
	if (ky_dictionary_intern(KY_ENTRY_CODE, &entry, sizeof(entry), &id) != KYMO_OK)
		ky_host_count_not_kept();
	errno = kept;
	return id;
}
