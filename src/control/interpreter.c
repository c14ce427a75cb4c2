/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/interpreter.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/fs.h"

#define HEADERS_MAX 64 /* of a program; more are none that a compiler made */

/* As execvp does, but that a pipe is not waited for; -1: there is none. */
static int open_program(const char *program)
{
	const char *folders = ky_env_get("PATH");
	char path[PATH_MAX];
	int fd = -1;

	if (strchr(program, '/'))
		return open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (!folders)
		folders = "/bin:/usr/bin";
	while (fd < 0) {
		const size_t length = strcspn(folders, ":");

		/* An empty part is the folder that we are in. */
		snprintf(path, sizeof(path), "%.*s%s%s", (int)length, folders,
			 length ? "/" : "", program);
		if (access(path, X_OK) == 0)
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (!folders[length])
			break;
		folders += length + 1;
	}
	return fd;
}

/* The loader's path; "": it is no such program, or asks for none. */
static void read_loader(int fd, char *out, size_t size)
{
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr header;
	size_t got = 0, count;

	out[0] = '\0';
	ky_pread_all(fd, &header, sizeof(header), 0, &got);
	if (got < sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(headers[0]))
		return;
	count = header.e_phnum < HEADERS_MAX ? header.e_phnum : HEADERS_MAX;
	ky_pread_all(fd, headers, count * sizeof(headers[0]), header.e_phoff, &got);
	for (size_t i = 0; i < got / sizeof(headers[0]); i++) {
		if (headers[i].p_type != PT_INTERP)
			continue;
		ky_pread_all(fd, out,
			     headers[i].p_filesz < size ? headers[i].p_filesz : size - 1,
			     headers[i].p_offset, &got);
		out[got] = '\0';
		return;
	}
}

/* By its name, which is the same wherever it is installed: ld-linux-x86-64.so.2. */
static int is_of_gnu(const char *loader)
{
	static const char *const names[] = {"ld-linux", "ld.so", "ld64.so", "ld-2."};
	const char *slash = strrchr(loader, '/');
	const char *name = slash ? slash + 1 : loader;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

void ky_foreign_loader(const char *program, char *loader, size_t size)
{
	const int fd = open_program(program);

	loader[0] = '\0';
	if (fd < 0)
		return;
	read_loader(fd, loader, size);
	close(fd);
	if (is_of_gnu(loader))
		loader[0] = '\0';
}
