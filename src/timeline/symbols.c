/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "timeline/source_lines.h"

#define VDSO          "linux-vdso.so.1"
#define DEBUG_FOLDER  "/usr/lib/debug"
#define DEBUG_MAX     ((uint64_t)1 << 30) /* bytes of debug information that are read */
#define BUILD_ID_SIZE 129                 /* of its digits, terminated */
#define MANGLED_MAX   1024u               /* longer names grow beyond all use */
#define AROUND_MAX    16u /* functions to look at for one that lies around another */

struct image {
	int fd; /* -1: none, or of memory */
	Elf *elf;
};

struct function {
	uint64_t begin, size; /* size 0: not known */
	const char *name;
	uint32_t rank; /* of several at one address the lowest is shown */
};

struct ky_symbols {
	struct ky_libdw dw;
	struct image main, debug;
	struct ky_source_lines *lines; /* NULL: none */
	struct function *functions;
	size_t count;
};

/* ---- ELF files ---- */

static void close_image(const struct ky_libdw *dw, struct image *image)
{
	if (image->elf)
		dw->elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	*image = (struct image){.fd = -1};
}

static const char *say_errno(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return "is not here";
	case EACCES:
	case EPERM:
		return "may not be read";
	default:
		return "cannot be read";
	}
}

/*
 * A path may name anything by now, and that of a capture from elsewhere whatever its
 * maker liked: what is no file is not opened, since that alone may do something, or wait.
 */
static const char *open_image(const struct ky_libdw *dw, const char *path,
			      struct image *out, struct stat *file)
{
	if (stat(path, file) != 0)
		return say_errno(errno);
	if (S_ISREG(file->st_mode)) {
		out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (out->fd < 0)
			return say_errno(errno);
		if (fstat(out->fd, file) == 0)
			out->elf = dw->elf_begin(out->fd, ELF_C_READ, NULL);
	}
	if (out->elf && dw->elf_kind(out->elf) == ELF_K_ELF)
		return NULL;
	close_image(dw, out);
	return "is no ELF file that can be read";
}

/* The kernel's own object lies in this process as well. */
static const char *open_vdso(const struct ky_libdw *dw, struct image *out)
{
	char *memory = (char *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) header;

	if (!memory)
		return "is not here";
	memcpy(&header, memory, sizeof(header));
	out->elf = dw->elf_memory(memory, header.e_shoff + (size_t)header.e_shnum *
								   header.e_shentsize);
	return out->elf ? NULL : "cannot be read";
}

static void read_build_id(const struct ky_libdw *dw, Elf *elf, char out[BUILD_ID_SIZE])
{
	const void *bytes;
	const ssize_t size = dw->dwelf_elf_gnu_build_id(elf, &bytes);

	out[0] = '\0';
	for (ssize_t i = 0; i < size && 2 * i + 2 < BUILD_ID_SIZE; i++)
		snprintf(out + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
}

static int64_t changed_ns(const struct stat *file)
{
	const struct timespec *at = &file->st_ctim; /* not set back, unlike st_mtim */

	return at->tv_sec * INT64_C(1000000000) + at->tv_nsec;
}

/* Whether it is the file that was seen, and none that has come in its place. */
static const char *check_same(const struct ky_libdw *dw, const struct image *image,
			      const struct ky_symbols_file *file, const struct stat *now)
{
	char build_id[BUILD_ID_SIZE];

	read_build_id(dw, image->elf, build_id);
	if (strcmp(build_id, file->build_id) != 0)
		return "is not the file that ran: its build id differs";
	if (build_id[0] == '\0' && image->fd >= 0 && changed_ns(now) > file->seen_ns)
		return "may not be the file that ran: it has no build id, and was "
		       "changed since";
	return NULL;
}

/* ---- Sections ---- */

static const char *section_name(const struct ky_libdw *dw, Elf *elf,
				const GElf_Shdr *section)
{
	size_t names;
	const char *name = NULL;

	if (dw->elf_getshdrstrndx(elf, &names) == 0)
		name = dw->elf_strptr(elf, names, section->sh_name);
	return name ? name : "";
}

static Elf_Scn *find_section(const struct ky_libdw *dw, Elf *elf, uint32_t type,
			     GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = dw->elf_nextscn(elf, section)))
		if (dw->gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

/* Bytes of debug information in the file. */
static uint64_t debug_size(const struct ky_libdw *dw, Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t size = 0;
	GElf_Shdr header;

	while ((section = dw->elf_nextscn(elf, section))) {
		const char *name;

		if (!dw->gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = section_name(dw, elf, &header);
		if (strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0)
			size += header.sh_size < DEBUG_MAX ? header.sh_size : DEBUG_MAX;
	}
	return size;
}

/* ---- A separate file with the rest ---- */

/* Only one of the same build id: else nothing says that it belongs to this one. */
static int take_debug_file(struct ky_symbols *symbols, const char *path,
			   const char *build_id)
{
	char found[BUILD_ID_SIZE];
	struct stat file;

	if (open_image(&symbols->dw, path, &symbols->debug, &file) != NULL)
		return 0;
	read_build_id(&symbols->dw, symbols->debug.elf, found);
	if (strcmp(found, build_id) == 0)
		return 1;
	close_image(&symbols->dw, &symbols->debug);
	return 0;
}

/* By its build id, then by the name that the file gives it, as debuggers do. */
static void find_debug_file(struct ky_symbols *symbols, const char *path,
			    const char *build_id)
{
	static const char *const places[][2] = {
		{"", "/"}, {"", "/.debug/"}, {DEBUG_FOLDER, "/"}};
	const char *slash = strrchr(path, '/'), *link;
	char beside[PATH_MAX];
	GElf_Word crc;

	if (strlen(build_id) < 4)
		return;
	snprintf(beside, sizeof(beside), DEBUG_FOLDER "/.build-id/%.2s/%s.debug",
		 build_id, build_id + 2);
	if (take_debug_file(symbols, beside, build_id))
		return;
	link = symbols->dw.dwelf_elf_gnu_debuglink(symbols->main.elf, &crc);
	for (size_t i = 0; link && slash && i < 3; i++) {
		int size = snprintf(beside, sizeof(beside), "%s%.*s%s%s", places[i][0],
				    (int)(slash - path), path, places[i][1], link);

		if (size > 0 && (size_t)size < sizeof(beside) &&
		    take_debug_file(symbols, beside, build_id))
			return;
	}
}

/* ---- Functions ---- */

static uint32_t rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name); /* so that it is the same in all traces */
}

/* Of several at one address one stays. */
static void sort_functions(struct ky_symbols *symbols)
{
	struct function *all = symbols->functions;
	size_t count = 0;

	if (symbols->count > 0)
		qsort(all, symbols->count, sizeof(*all), compare_functions);
	for (size_t i = 0; i < symbols->count; i++)
		if (count == 0 || all[i].begin != all[count - 1].begin)
			all[count++] = all[i];
	symbols->count = count;
}

/* The functions of a table of symbols; false if there are none. */
static int read_functions(struct ky_symbols *symbols, Elf *elf, uint32_t type)
{
	const struct ky_libdw *dw = &symbols->dw;
	GElf_Shdr header;
	Elf_Scn *section = elf ? find_section(dw, elf, type, &header) : NULL;
	Elf_Data *data = section ? dw->elf_getdata(section, NULL) : NULL;
	size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	GElf_Sym symbol;

	count = count < INT_MAX ? count : INT_MAX;
	if (count == 0)
		return 0;
	free(symbols->functions);
	symbols->count = 0;
	symbols->functions = calloc(count, sizeof(*symbols->functions));
	for (int i = 0; symbols->functions && (size_t)i < count; i++) {
		const char *name;

		if (!dw->gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC))
			continue;
		name = dw->elf_strptr(elf, header.sh_link, symbol.st_name);
		if (name && name[0] != '\0')
			symbols->functions[symbols->count++] = (struct function){
				symbol.st_value, symbol.st_size, name, rank_of(&symbol)};
	}
	sort_functions(symbols);
	return symbols->count > 0;
}

static const struct function *find_function(const struct ky_symbols *symbols,
					    uint64_t address)
{
	size_t from = 0, to = symbols->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (symbols->functions[middle].begin <= address)
			from = middle + 1;
		else
			to = middle;
	}
	for (size_t i = 0; i < AROUND_MAX && i < from; i++) {
		const struct function *at = &symbols->functions[from - 1 - i];

		if (at->size == 0 || address - at->begin < at->size)
			return at;
	}
	return NULL;
}

/* ---- Public ---- */

const char *ky_symbols_missing(const char **remedy)
{
	struct ky_libdw dw;

	*remedy = "install elfutils' libdw (libdw1)";
	return ky_libdw_load(&dw) ? NULL : "libdw.so.1 cannot be loaded";
}

void ky_symbols_close(struct ky_symbols *symbols)
{
	if (!symbols)
		return;
	ky_source_lines_destroy(symbols->lines);
	close_image(&symbols->dw, &symbols->debug);
	close_image(&symbols->dw, &symbols->main);
	free(symbols->functions);
	free(symbols);
}

static void read_lines(struct ky_symbols *symbols)
{
	Elf *const images[] = {symbols->main.elf, symbols->debug.elf};

	for (size_t i = 0; i < 2 && !symbols->lines; i++) {
		uint64_t size = images[i] ? debug_size(&symbols->dw, images[i]) : 0;

		if (size > 0 && size < DEBUG_MAX)
			symbols->lines = ky_source_lines_create(&symbols->dw, images[i]);
	}
}

static const char *open_file(struct ky_symbols *symbols,
			     const struct ky_symbols_file *file)
{
	const int is_vdso = strcmp(file->path, VDSO) == 0;
	const struct ky_libdw *dw = &symbols->dw;
	struct stat now = {0};
	const char *reason;
	int has_table;

	if (is_vdso)
		reason = open_vdso(dw, &symbols->main);
	else if (file->path[0] == '/')
		reason = open_image(dw, file->path, &symbols->main, &now);
	else
		reason = "is known by name only, not where it was";
	if (!reason)
		reason = check_same(dw, &symbols->main, file, &now);
	if (reason)
		return reason;
	has_table = read_functions(symbols, symbols->main.elf, SHT_SYMTAB);
	if (!is_vdso && (!has_table || debug_size(dw, symbols->main.elf) == 0))
		find_debug_file(symbols, file->path, file->build_id);
	read_lines(symbols);
	if (!has_table && !read_functions(symbols, symbols->debug.elf, SHT_SYMTAB) &&
	    !read_functions(symbols, symbols->main.elf, SHT_DYNSYM) && !symbols->lines)
		return "has no symbols";
	return NULL;
}

const char *ky_symbols_open(struct ky_symbols **out, const struct ky_symbols_file *file)
{
	struct ky_symbols *symbols = calloc(1, sizeof(*symbols));
	const char *reason;

	*out = NULL;
	if (!symbols)
		return "cannot be read: no memory left";
	symbols->main.fd = symbols->debug.fd = -1;
	reason = ky_libdw_load(&symbols->dw) ? open_file(symbols, file)
					     : "cannot be read: there is no libdw";
	if (!reason)
		*out = symbols;
	else
		ky_symbols_close(symbols);
	return reason;
}

void ky_symbols_find(struct ky_symbols *symbols, uint64_t address,
		     struct ky_symbols_place *out)
{
	const struct function *function = find_function(symbols, address);
	const char *source = NULL, *slash;

	*out = (struct ky_symbols_place){.function = NULL};
	if (function) {
		out->function = function->name;
		out->into = address - function->begin;
	}
	if (symbols->lines)
		source = ky_source_lines_find(symbols->lines, address, &out->line);
	if (!source)
		return;
	slash = strrchr(source, '/');
	out->source = slash ? slash + 1 : source;
}

char *ky_symbols_demangle(const char *name)
{
	typedef char *(*demangle_fn)(const char *, char *, size_t *, int *);
	demangle_fn demangle;
	void *library, *symbol;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > MANGLED_MAX)
		return NULL;
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return NULL;
	symbol = dlsym(library, "__cxa_demangle");
	dlclose(library);
	if (!symbol)
		return NULL;
	memcpy(&demangle, &symbol, sizeof(demangle));
	return demangle(name, NULL, NULL, NULL);
}
