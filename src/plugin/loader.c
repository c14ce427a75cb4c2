/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen with everything around it that a person needs when it fails.
 *
 * What was loaded is kept in a list that only grows, without a lock: nodes are pushed by
 * compare-and-swap, so a forked child always finds it whole. Two threads that load the
 * same file at once do the same work twice, since dlopen gives both the same object.
 *
 * Files are told apart by device and inode, not by path: one plug-in reached through two
 * links is one plug-in.
 */
#include "plugin/loader.h"

#include <dirent.h>
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fs.h"
#include "base/nearest.h"
#include "base/place.h"
#include "plugin/check.h"
#include "plugin/trust.h"

#define SUFFIX        ".so"
#define MAJOR_HIGHEST 9 /* looked for, to tell "too new" from "not a plug-in" */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "which machine is this?"
#endif

struct loaded {
	struct loaded *next;
	dev_t device;
	ino_t inode;
	const struct kymo_plugin *plugin;
};

static struct loaded *loaded_first;

static const struct kymo_plugin *find_loaded(const struct stat *file)
{
	/* Pairs with the release of remember(). */
	const struct loaded *node = __atomic_load_n(&loaded_first, __ATOMIC_ACQUIRE);

	for (; node; node = node->next)
		if (node->device == file->st_dev && node->inode == file->st_ino)
			return node->plugin;
	return NULL;
}

static int32_t remember(const struct stat *file, const struct kymo_plugin *plugin,
			struct kymo_error *error)
{
	struct loaded *node = malloc(sizeof(*node));

	if (!node)
		return ky_error_no_memory(error);
	*node = (struct loaded){
		.next = __atomic_load_n(&loaded_first, __ATOMIC_RELAXED),
		.device = file->st_dev,
		.inode = file->st_ino,
		.plugin = plugin,
	};
	while (!__atomic_compare_exchange_n(&loaded_first, &node->next, node, 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return KYMO_OK;
}

/*
 * Of what is built for another machine dlopen() says that there is no such file, and of
 * another word size no more than that. So the header is looked at first, as far as it is
 * the same in all kinds of ELF; what else may be wrong with the file dlopen() knows.
 */
static int32_t check_header(const char *path, struct kymo_error *error)
{
	Elf64_Ehdr header = {.e_ident = ""};
	size_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return KYMO_OK; /* dlopen will say what is wrong with it */
	ky_pread_all(fd, &header, offsetof(Elf64_Ehdr, e_entry), 0, &got);
	close(fd);
	if (got < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "not a plug-in of Kymo: it is no shared object");
	if (got < offsetof(Elf64_Ehdr, e_entry))
		return ky_error_set(error, KYMO_ERROR_PLUGIN,
				    "it is cut off after %zu bytes", got);
	if (header.e_ident[EI_CLASS] == ELFCLASS64 &&
	    header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == OWN_MACHINE)
		return KYMO_OK;
	return ky_error_set(
		error, KYMO_ERROR_PLUGIN,
		"it was built for another kind of machine: %s-bit, number %u, "
		"where this one is 64-bit, number %u: rebuild it here",
		header.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32",
		header.e_ident[EI_DATA] == ELFDATA2LSB
			? header.e_machine
			: __builtin_bswap16(header.e_machine),
		OWN_MACHINE);
}

/* A symbol of the object itself: dlsym also finds those of the libraries it needs. */
static void *find_own_symbol(void *object, const char *name)
{
	void *symbol = dlsym(object, name);
	void *map, *owner;
	Dl_info info;

	if (!symbol || dlinfo(object, RTLD_DI_LINKMAP, &map) != 0)
		return NULL;
	if (!dladdr1(symbol, &info, &owner, RTLD_DL_LINKMAP))
		return NULL;
	return owner == map ? symbol : NULL;
}

static int32_t say_no_entry(void *object, struct kymo_error *error)
{
	char name[sizeof(KYMO_PLUGIN_ENTRY) + 8];

	for (int major = 0; major <= MAJOR_HIGHEST; major++) {
		snprintf(name, sizeof(name), "kymo_plugin_entry_v%d", major);
		if (find_own_symbol(object, name))
			return ky_error_set(error, KYMO_ERROR_VERSION,
					    "it was built for plug-in ABI %d, this Kymo "
					    "has %d.%d: rebuild it with the headers of "
					    "Kymo %s",
					    major, KYMO_PLUGIN_ABI_MAJOR,
					    KYMO_PLUGIN_ABI_MINOR, KYMO_VERSION_STRING);
	}
	return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
			    "not a plug-in of Kymo: it does not export %s",
			    KYMO_PLUGIN_ENTRY);
}

/* A descriptor that nobody but us has a reason to close. */
struct guard {
	int fd; /* -1: there is none left to be had */
	ino_t inode;
};

static struct guard make_guard(void)
{
	struct guard guard = {.fd = memfd_create("kymo-guard", MFD_CLOEXEC)};
	struct stat info = {0};

	if (guard.fd >= 0)
		fstat(guard.fd, &info);
	guard.inode = info.st_ino;
	return guard;
}

/* Whether it was there still. */
static int end_guard(const struct guard *guard)
{
	struct stat info;

	if (guard->fd < 0)
		return 1;
	/* The number may be another file's by now. */
	if (fstat(guard->fd, &info) != 0 || info.st_ino != guard->inode)
		return 0;
	close(guard->fd);
	return 1;
}

static int32_t open_object(const char *path, const struct kymo_plugin **out,
			   struct kymo_error *error)
{
	kymo_plugin_entry_fn entry;
	void *object, *symbol;
	int32_t status = check_header(path, error);

	if (status)
		return status;
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return ky_error_set(error, KYMO_ERROR_PLUGIN, "%s", dlerror());
	symbol = find_own_symbol(object, KYMO_PLUGIN_ENTRY);
	if (!symbol)
		return say_no_entry(object, error);
	memcpy(&entry, &symbol, sizeof(entry));
	*out = entry();
	return ky_plugin_check(*out, error);
}

/* With descriptors gone nothing of this process can be relied on. */
static int32_t open_guarded(const char *path, const struct kymo_plugin **out,
			    struct kymo_error *error)
{
	const struct guard guard = make_guard();
	int32_t status = open_object(path, out, error);

	if (end_guard(&guard))
		return status;
	return ky_error_set(error, KYMO_ERROR_STATE,
			    "it closed descriptors that are not its own when it was "
			    "loaded");
}

static int32_t load_real(const char *path, const struct kymo_plugin **out,
			 struct kymo_error *error)
{
	struct stat file;
	int32_t status;

	if (getauxval(AT_SECURE)) {
		status = ky_trust_check(path, geteuid(), error);
		if (status != KYMO_OK)
			return status;
	}
	if (stat(path, &file) != 0)
		return ky_error_set_errno(error, errno, "cannot look at it");
	if (!S_ISREG(file.st_mode))
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "not a plug-in of Kymo: it is no file");
	*out = find_loaded(&file);
	if (*out)
		return KYMO_OK;
	status = open_guarded(path, out, error);
	if (status == KYMO_OK)
		status = remember(&file, *out, error);
	return status;
}

int32_t ky_plugin_load(const char *path, const struct kymo_plugin **out,
		       struct kymo_error *error)
{
	const struct kymo_plugin *plugin = NULL;
	char real[PATH_MAX];
	int32_t status;

	*out = NULL;
	if (!path || path[0] != '/')
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "a plug-in is loaded by its absolute path, not by "
				    "\"%s\"",
				    path ? path : "");
	if (realpath(path, real))
		status = load_real(real, &plugin, error);
	else
		status = ky_error_set_errno(error, errno, "cannot find it");
	if (status == KYMO_OK)
		*out = plugin;
	else
		ky_error_wrap(error, "cannot use the plug-in %s", path);
	return status;
}

static int is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The folder that holds this library (or the program it is linked into), without '/'. */
static int32_t find_own_folder(char *out, size_t size)
{
	union {
		int32_t (*function)(char *, size_t);
		const void *address;
	} self = {.function = find_own_folder};
	int32_t status = ky_object_path(self.address, out, size);

	if (status == KYMO_OK)
		*strrchr(out, '/') = '\0';
	return status;
}

/* The folder that plug-ins of a kind ("source", "sink") are found in, by where this
 * library lies. */
static int32_t find_folder(const char *kind, char *out, size_t size)
{
	/* Installed, and the build tree, where "kymo" is a program and cannot match. */
	static const char *const between[] = {"/kymo", ""};
	char own[PATH_MAX];

	if (find_own_folder(own, sizeof(own)) != KYMO_OK)
		return KYMO_ERROR_NOT_FOUND;
	for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
		int length =
			snprintf(out, size, "%s%s/plugins/%s", own, between[i], kind);

		if ((size_t)length < size && is_folder(out))
			return KYMO_OK;
	}
	/* Linked into a program that lies elsewhere: as it was configured. */
	if ((size_t)snprintf(out, size, "%s/%s", KYMO_PLUGIN_DIR, kind) >= size)
		return KYMO_ERROR_NO_MEMORY;
	return is_folder(out) ? KYMO_OK : KYMO_ERROR_NOT_FOUND;
}

static int has_suffix(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return size > strlen(SUFFIX) &&
	       strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) == 0;
}

/* By bytes: alphasort() would give another order in another locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int32_t ky_plugin_each(const char *kind, ky_plugin_file_fn visit, void *context,
		       struct kymo_error *error)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent **names;
	int count, stopped = 0;

	/* No folder is no plug-in, which is for the caller to judge. */
	if (find_folder(kind, folder, sizeof(folder)) != KYMO_OK)
		return KYMO_OK;
	count = scandir(folder, &names, has_suffix, compare_names);
	if (count < 0)
		return ky_error_set_errno(error, errno, "cannot read the folder %s",
					  folder);
	for (int i = 0; i < count; i++) {
		int length =
			snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);

		if (!stopped && (size_t)length < sizeof(path))
			stopped = visit(context, path);
		free(names[i]);
	}
	free(names);
	return KYMO_OK;
}

struct listing {
	char text[256];
	size_t size;
	struct ky_nearest nearest;
};

static int list_name(void *context, const char *path)
{
	struct listing *listing = context;
	const char *name = strrchr(path, '/') + 1;
	const int length = (int)(strlen(name) - strlen(SUFFIX));
	char word[KY_NEAREST_MAX + 1];
	int added;

	if ((size_t)length < sizeof(word)) {
		snprintf(word, sizeof(word), "%.*s", length, name);
		ky_nearest_offer(&listing->nearest, word);
	}
	if (listing->size >= sizeof(listing->text))
		return 0;
	added = snprintf(listing->text + listing->size,
			 sizeof(listing->text) - listing->size, "%s%.*s",
			 listing->size ? ", " : "", length, name);

	listing->size += (size_t)added;
	return 0;
}

static int32_t say_not_installed(const char *kind, const char *name, const char *folder,
				 struct kymo_error *error)
{
	struct listing listing = {.nearest = {.word = {name, strlen(name)}}};
	char meant[KY_NEAREST_SAID];

	if (ky_plugin_each(kind, list_name, &listing, NULL) != KYMO_OK ||
	    listing.size == 0)
		snprintf(listing.text, sizeof(listing.text), "none");
	ky_nearest_say(&listing.nearest, meant, sizeof(meant));
	return ky_error_set(
		error, KYMO_ERROR_NOT_FOUND,
		"there is no %s plug-in \"%.64s\"%s in %s (there: %s); give its "
		"path if it lies elsewhere",
		kind, name, meant, folder, listing.text);
}

int ky_plugin_is_path(const char *item)
{
	return item[strcspn(item, "/:")] == '/';
}

const char *ky_plugin_option(const char *item)
{
	const char *end;

	if (!ky_plugin_is_path(item))
		return item + strcspn(item, ":");
	end = strstr(item, SUFFIX ":");
	return end ? end + strlen(SUFFIX) : item + strlen(item);
}

int32_t ky_plugin_path(const char *kind, const char *name, char *out, size_t size,
		       struct kymo_error *error)
{
	char folder[PATH_MAX] = "";
	const int is_path = name && strchr(name, '/');
	int length;

	if (!name || !name[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no name of a plug-in");
	if (name[0] == '/') {
		length = snprintf(out, size, "%s", name);
	} else if (is_path) {
		if (!getcwd(folder, sizeof(folder)))
			return ky_error_set_errno(error, errno,
						  "cannot find the folder that \"%s\" "
						  "begins in",
						  name);
		name += strncmp(name, "./", 2) == 0 ? 2 : 0;
		length = snprintf(out, size, "%s/%s",
				  strcmp(folder, "/") == 0 ? "" : folder, name);
	} else {
		if (find_folder(kind, folder, sizeof(folder)) != KYMO_OK)
			return say_not_installed(kind, name, folder, error);
		length = snprintf(out, size, "%s/%s" SUFFIX, folder, name);
	}
	if ((size_t)length >= size)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the path of the plug-in \"%.64s\" is too long",
				    name);
	if (!is_path && access(out, F_OK) != 0)
		return say_not_installed(kind, name, folder, error);
	return KYMO_OK;
}
