/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sources of this process and their life: every plug-in that was injected, linked in
 * or loaded, each source of it as one instance with its host side.
 *
 * Any thread may call these at any time. Operations of a source are called by one thread
 * at a time and with no lock of the library held: a source may load a library, whose
 * loading brings in another plug-in, whose constructor comes back here. A source that
 * fails in any step gets its state and reason recorded and is left out; the others go on.
 *
 * Where there is a deadline, an absolute time of CLOCK_MONOTONIC for all sources
 * together, operations run on threads of the library, and one that has not returned a
 * little after it has failed: it is entered again when it has. Without one (0) they run
 * in the calling thread, as they must where that may hold the locks of a loader.
 *
 * The gate is to be open when sources begin (what they ask meanwhile must have an answer)
 * and until they have ended.
 */
#ifndef KYMO_SESSION_SOURCE_H
#define KYMO_SESSION_SOURCE_H

#include <kymo/plugin.h>

#include "registry/type_filter.h"

/*
 * Remembers a plug-in that ky_plugin_check has found good; idempotent by its address. If
 * sources are recording now (after ky_sources_begin), its wanted sources are created,
 * prepared and started before this returns. Where it is known already, those that could
 * not be created are tried again: the session may have loaded it before its runtime did.
 * KYMO_ERROR_NO_MEMORY: there are KY_SOURCES_MAX already, or no memory or names are left.
 */
int32_t ky_sources_add(const struct kymo_plugin *plugin, struct kymo_error *error);

/*
 * Begins a session: creates (once per process), prepares and starts every remembered
 * source that is wanted, and those that are added until ky_sources_end. `wanted` is as in
 * session/wanted.h and copied, KY_WANTED_MAX bytes at most. `epoch` is handed to the
 * sources and is not 0.
 */
#define KY_WANTED_MAX 16384u
void ky_sources_begin(const char *wanted, uint32_t epoch, uint64_t deadline_ns);

/*
 * KYMO_ERROR_CONFIG with the reason if one of those that have begun, and that `wanted`
 * sets an option of, has refused what is configured; it is left out, the others run.
 */
int32_t ky_sources_refusal(struct kymo_error *error);

/* Stops and flushes all; there is a deadline. */
void ky_sources_end(uint64_t deadline_ns);

/*
 * The process exits: what drivers have left is nobody's to enter, so from now on sources
 * neither begin nor end. Their drains run, as far as they have not.
 */
void ky_sources_leave(void);

/* Has the sources that can rest, or go on. The gate is open at both. */
void ky_sources_pause(uint32_t paused, uint64_t deadline_ns);

/*
 * In a forked child, once, after the new capture is in place: tells each source of it and
 * goes on with the parent's recording: what was wanted there is prepared and started
 * here. A child that begins one of its own calls ky_sources_begin alone, which tells them
 * too.
 */
void ky_sources_forked(void);

/*
 * Opens and closes a region of the calling thread for every source that records and has
 * the operation. A region that was open when a source began is not told to it.
 */
void ky_sources_push(uint16_t domain, uint64_t value);
void ky_sources_pop(uint16_t domain);

/*
 * Runs the drain as an operation of its source: when nobody is in another one, and the
 * source is recording. What cannot be had by the deadline is left out.
 */
struct ky_drain;
void ky_sources_drain(const struct ky_drain *drain, uint64_t deadline_ns);

/*
 * The remembered sources that `wanted` has, into `out` with room for KY_SOURCES_MAX; how
 * many.
 */
size_t ky_sources_describe(const char *wanted, struct ky_type_source *out);

/*
 * The text that the list of wanted sources sets for an option. KYMO_ERROR_NOT_FOUND if it
 * sets none, KYMO_ERROR_NO_MEMORY if it does not fit.
 */
int32_t ky_sources_option(const char *source, const char *option, char *out, size_t size);

#endif
