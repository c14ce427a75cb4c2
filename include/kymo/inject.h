/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For a plug-in that a vendor's runtime has loaded into somebody's program: how it finds
 * Kymo there. Header-only, so that the plug-in links nothing of ours.
 */
#ifndef KYMO_INJECT_H
#define KYMO_INJECT_H

#ifndef _GNU_SOURCE
#error "<kymo/inject.h> needs _GNU_SOURCE (RTLD_DEFAULT, secure_getenv)"
#endif

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <kymo/plugin.h>

typedef int32_t (*kymo_agent_attach_fn)(const struct kymo_plugin *plugin,
					const struct kymo_host **out,
					struct kymo_error *error);

/*
 * Frozen: what a plug-in that has found no agent says to the recorder, whose socket's
 * path stands in KYMO_SESSION: one packet, of which no answer is awaited.
 */
struct kymo_inject_word {
	uint32_t magic; /* KYMO_INJECT_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t kind; /* KYMO_INJECT_NO_AGENT */
	uint32_t reserved0;
	char plugin[72];
	char message[512];
};

#define KYMO_INJECT_MAGIC    0x5441594bu /* "KYAT" read as little endian */
#define KYMO_INJECT_NO_AGENT 6u

/* Does not wait: where nobody listens, or too many talk, nobody is told. */
static inline void kymo_inject_tell(const struct kymo_plugin *plugin, const char *message)
{
	const char *path = secure_getenv("KYMO_SESSION");
	const int kept = errno;
	struct kymo_inject_word word;
	struct sockaddr_un address;
	int fd;

	if (!path || path[0] != '/' || strlen(path) >= sizeof(address.sun_path))
		return;
	memset(&word, 0, sizeof(word));
	word.magic = KYMO_INJECT_MAGIC;
	word.abi_major = KYMO_PLUGIN_ABI_MAJOR;
	word.abi_minor = KYMO_PLUGIN_ABI_MINOR;
	word.kind = KYMO_INJECT_NO_AGENT;
	snprintf(word.plugin, sizeof(word.plugin), "%s",
		 plugin && plugin->name ? plugin->name : "unknown");
	snprintf(word.message, sizeof(word.message), "%s", message);
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		send(fd, &word, sizeof(word), MSG_NOSIGNAL);
	if (fd >= 0)
		close(fd);
	errno = kept;
}

/*
 * What the library that the program has loaded already answers to, or NULL. One that came
 * with an extension of an interpreter is in no global scope, and is found by its name.
 */
static inline void *kymo_inject_loaded(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, KYMO_AGENT_ATTACH);
	void *library = NULL;

	if (!symbol)
		library = dlopen("libkymo.so.0",
				 RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
	return library ? dlsym(library, KYMO_AGENT_ATTACH) : symbol;
}

/*
 * Attaches the plug-in to the agent of this process: the one that the program has loaded
 * already, else the library whose absolute path stands in KYMO_AGENT (set by the
 * recorder). KYMO_ERROR_NOT_FOUND if there is neither, which a recorder is told if there
 * is one: nobody can record here and the plug-in should be a pure pass-through. Not for
 * signal handlers.
 */
static inline int32_t kymo_inject(const struct kymo_plugin *plugin,
				  const struct kymo_host **out, struct kymo_error *error)
{
	void *symbol = kymo_inject_loaded();
	kymo_agent_attach_fn attach;

	if (!symbol) {
		const char *path = secure_getenv("KYMO_AGENT");
		void *agent = NULL;

		if (path && path[0] == '/')
			agent = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		if (agent)
			symbol = dlsym(agent, KYMO_AGENT_ATTACH);
		if (!symbol) {
			const char *why = "KYMO_AGENT is not set";

			if (path && path[0] != '/')
				why = "KYMO_AGENT is not an absolute path";
			else if (path)
				why = dlerror();
			if (!why)
				why = path;
			if (error) {
				error->status = KYMO_ERROR_NOT_FOUND;
				snprintf(error->message, sizeof(error->message),
					 "no Kymo agent in this process: %s", why);
			}
			kymo_inject_tell(plugin, why);
			return KYMO_ERROR_NOT_FOUND;
		}
	}
	memcpy(&attach, &symbol, sizeof(attach));
	return attach(plugin, out, error);
}

#endif
