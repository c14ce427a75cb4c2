/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in ABI: how a vendor adds a device to Kymo without changing or rebuilding it.
 *
 * A plug-in is one shared object that exports kymo_plugin_entry_v1(). The entry returns
 * constant tables: first data (names, types, keys, options, injections), which a tool
 * reads without running anything, then operations. The plug-in links nothing of Kymo;
 * all it may call is the host table it is given (<kymo/host.h>).
 *
 * Life of a source, each call one at a time per instance and with no host lock held:
 *
 *     create -> prepare -> start -> (set_paused)* -> stop -> flush -> prepare ... destroy
 *
 * They come from any thread: one of the program, the vendor's loader, or one of the
 * library, which blocks the signals that are sent and ends with the call. One that has
 * not returned when time is up is left behind, its source has failed, and is called again
 * when it has.
 *
 * The host numbers what the tables declare and hands the numbers to create; what turns up
 * later (devices, tracks, strings, attribute sets, further types) the source registers
 * itself. Numbers stay valid for the life of the process, in forked children too.
 *
 * The source may emit, from any of its threads, from start until the flush after stop
 * returns. What comes later is refused and counted, never lost in silence. One gate
 * serves all sources: a source that may be left out tests a flag of its own as well.
 *
 * The hot calls of the host (now, emit, lost) may be made from any thread and from a
 * signal handler; they never block, allocate or change errno. The slow ones may be made
 * from any thread; they may take a lock and never call back into the source.
 *
 * All structs here and there but the frozen ones (kymo_clock_pair, kymo_value) start with
 * struct_size and grow only at the end; none holds a bool, enum, long or implicit
 * padding. Reserved members and flags without a name are 0; flags that a host does not
 * know it ignores. What a function returns is an enum kymo_status.
 */
#ifndef KYMO_PLUGIN_H
#define KYMO_PLUGIN_H

#include <kymo/base.h>
#include <kymo/host.h>
#include <kymo/record.h>

KYMO_BEGIN_DECLS

struct kymo_sink_desc; /* <kymo/sink.h> */

/* ---- What a plug-in declares ---- */

/* Where a type's activities belong when a track does not say: a host or a device. */
#define KYMO_SIDE_ANY         0u
#define KYMO_SIDE_HOST        1u
#define KYMO_SIDE_ACCELERATOR 2u

#define KYMO_SHAPE_SPAN    0x1u
#define KYMO_SHAPE_INSTANT 0x2u
#define KYMO_SHAPE_COUNTER 0x4u

#define KYMO_TYPE_OPT_IN 0x1u /* recorded only when asked for by name */

/*
 * An activity type. `name` is exactly a static one ("kernel", "runtime", "gpu_memcpy",
 * ...) or the plug-in's own (1 to 64 of [A-Za-z0-9_-]; full name "plugin.name").
 * `category` is what viewers group by, 64 bytes at most; NULL shows a static type's own
 * name, or the full name. docs/activity-types.md has the list and the rules.
 */
struct kymo_type_desc {
	uint32_t struct_size;
	uint32_t shapes; /* KYMO_SHAPE_*; 0: no opinion */
	uint32_t side;   /* KYMO_SIDE_* */
	uint32_t flags;  /* KYMO_TYPE_* */
	const char *name, *category, *help;
	/* End of ABI 1.0 */
};

/* A metadata key: the type of its values is fixed here, with their unit ("bytes"). */
struct kymo_key_desc {
	uint32_t struct_size;
	uint32_t value_type; /* KYMO_VALUE_* */
	const char *name, *unit, *help;
	/* End of ABI 1.0 */
};

#define KYMO_DOMAIN_SOURCE  0u /* values are this source's, in this process */
#define KYMO_DOMAIN_PROCESS 1u /* values mean the same to all sources of the process */
#define KYMO_DOMAIN_GLOBAL  2u /* and in all processes: collectives */

/*
 * A correlation domain. Domains of scope PROCESS and GLOBAL are equal where their names
 * are, those of scope SOURCE where source and name are.
 */
struct kymo_domain_desc {
	uint32_t struct_size;
	uint32_t scope; /* KYMO_DOMAIN_* */
	const char *name, *help;
	/* End of ABI 1.0 */
};

/* A kind of link: what an arrow between two activities means. */
struct kymo_link_kind_desc {
	uint32_t struct_size;
	uint32_t flags;
	const char *name, *help;
	/* End of ABI 1.0 */
};

/*
 * A setting of the source: `-t name:option=value`. `fallback` is used where none is set.
 */
struct kymo_option_desc {
	uint32_t struct_size;
	uint32_t value_type;
	const char *name, *fallback, *help;
	/* End of ABI 1.0 */
};

#define KYMO_INJECT_SET     1u /* the variable becomes the value */
#define KYMO_INJECT_PREPEND 2u /* the value goes in front, before the separator */
#define KYMO_INJECT_APPEND  3u /* the value goes behind, after the separator */
#define KYMO_INJECT_KEEP    4u /* the variable becomes the value unless it is set */

/*
 * How a vendor's runtime comes to load the plug-in: an environment variable that the
 * recorder sets for the program. "{plugin}" in value stands for the absolute path.
 */
struct kymo_injection_desc {
	uint32_t struct_size;
	uint32_t how; /* KYMO_INJECT_* */
	const char *variable;
	const char *separator; /* of the parts of a list; NULL or "": ":" */
	const char *value;
	/*
	 * NULL, or one of the source's options: its text stands for "{option}" in value,
	 * and nothing is injected where that is empty. A path must be there.
	 */
	const char *option;
	/* End of ABI 1.0 */
};

#define KYMO_STATE_ABSENT    0u /* never loaded, or no such runtime or device */
#define KYMO_STATE_READY     1u /* could record */
#define KYMO_STATE_PARTLY    2u /* records, but not everything it could */
#define KYMO_STATE_RECORDING 3u
#define KYMO_STATE_BUSY      4u /* another tool holds what it needs */
#define KYMO_STATE_DENIED    5u /* the system refused */
#define KYMO_STATE_FAILED    6u

/* What probe found out: the state, on what, why, and what to do about it. */
struct kymo_probe {
	uint32_t struct_size;
	uint32_t state; /* KYMO_STATE_* */
	char what[120], why[240], remedy[240];
	/* End of ABI 1.0 */
};

/* A session as a source sees it. */
struct kymo_source_session {
	uint32_t struct_size;
	uint32_t epoch; /* names this session, see buffer_epoch and stopped */
	/*
	 * Wanted, of those registered so far; never NULL; borrowed until prepare
	 * returns. What is emitted of others is counted as filtered.
	 */
	const uint16_t *types;
	size_t type_count;
	uint64_t memory_limit; /* bytes the source may hold in buffers of its own */
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC; 0: not known */

	/* End of ABI 1.0 */
};

/*
 * The numbers of what the source's tables declare, in the order of the tables. The lists
 * are valid for ever, the struct until create returns.
 */
struct kymo_source_numbers {
	uint32_t struct_size;
	uint32_t reserved0;
	const uint16_t *types, *keys, *domains, *link_kinds;

	/* End of ABI 1.0 */
};

/*
 * The operations. create, start and stop are required; a NULL among the rest means that
 * the source has nothing to do there. deadline_ns is an absolute CLOCK_MONOTONIC time
 * after which the host goes on without the source.
 *
 * A failing create, prepare or start leaves the source out: KYMO_ERROR_NOT_FOUND shows as
 * absent, _BUSY as busy, _PERMISSION as denied, all else as failed, with the error's
 * message as the reason. _CONFIG says that an option has a wrong value: in a program's
 * own session, which cannot ask `check`, that refuses the session, if it has set one.
 */
struct kymo_source_ops {
	uint32_t struct_size;
	uint32_t reserved0;

	/* Can this record here? Runs in a throw-away process, never in a profiled one. */
	int32_t (*probe)(struct kymo_probe *out, struct kymo_error *error);

	/*
	 * `self` is valid until destroy returns; `*source` goes to all later calls.
	 * create, prepare and start may run where the vendor's loader brings the plug-in
	 * in, under its own lock: they must not call the vendor's interface there.
	 */
	int32_t (*create)(const struct kymo_host *host, struct kymo_source_host *self,
			  const struct kymo_source_numbers *numbers, void **source,
			  struct kymo_error *error);
	/* Not called while the process runs: a source lives as long as its process. */
	void (*destroy)(void *source);

	/*
	 * Claim what is needed, with nothing recorded yet. Errors leave the source out.
	 */
	int32_t (*prepare)(void *source, const struct kymo_source_session *session,
			   struct kymo_error *error);
	int32_t (*start)(void *source, struct kymo_error *error);
	/*
	 * Rest (1) or go on (0), which need not take turns. It lowers or raises a flag: a
	 * thread that is being measured may wait for it. The gate stays as it is, for
	 * the others: test a flag of your own as well. A source that cannot rest goes on,
	 * and what it emits is counted as filtered.
	 */
	void (*set_paused)(void *source, uint32_t paused);

	/*
	 * End the recording and emit what is ready. KYMO_AGAIN: more is on its way and
	 * host->stopped() will be called when it has arrived.
	 */
	int32_t (*stop)(void *source, uint64_t deadline_ns);

	/* Emit what the vendor still holds. Also called in the middle of a session. */
	int32_t (*flush)(void *source, uint64_t deadline_ns);

	int32_t (*sample_clock)(void *source, uint32_t clock,
				struct kymo_clock_pair *out);

	/*
	 * Somebody opens and closes a region that launches of the calling thread are to
	 * be linked to. Unlike all others these come from any thread, several at once, at
	 * any time between start and stop; a pop may come without its push. Without the
	 * operation the host links launches to an application's regions (link.h) itself:
	 * SPANs that are an ORIGIN, as they are emitted in the thread that made them.
	 */
	void (*push_correlation)(void *source, uint16_t domain, uint64_t value);
	void (*pop_correlation)(void *source, uint16_t domain);

	/*
	 * In a forked child, once, before anything is recorded there. Locks of the parent
	 * may be held for ever, its threads and timers are gone: start afresh, free
	 * nothing. prepare and start follow, under a new epoch.
	 */
	void (*forked)(void *source);

	/*
	 * Do the options that were set make sense? Runs like probe, before the program
	 * is started, where one was set. It may call the host's `option`, which is all
	 * that the table has. What it refuses is not recorded, nor the program run; the
	 * error's message says why. create and prepare find the same options all the
	 * same: this may not have been asked.
	 */
	int32_t (*check)(const struct kymo_host *host, struct kymo_source_host *self,
			 struct kymo_error *error);
	/* End of ABI 1.0 */
};

#define KYMO_SOURCE_EXPLICIT 0x1u /* recorded only when named by -t */

/* One source. The lists end with NULL; a NULL list is empty. */
struct kymo_source_desc {
	uint32_t struct_size;
	uint32_t flags; /* KYMO_SOURCE_EXPLICIT */
	const char *name, *description;
	const struct kymo_type_desc *const *types;
	const struct kymo_key_desc *const *keys;
	const struct kymo_domain_desc *const *domains;
	const struct kymo_link_kind_desc *const *link_kinds;
	const struct kymo_option_desc *const *options;
	const struct kymo_injection_desc *const *injections;
	const struct kymo_source_ops *ops;
	/*
	 * What may help where the program never loaded the plug-in; NULL: nothing does.
	 */
	const char *unloaded_remedy;
	/* End of ABI 1.0 */
};

/* What the entry returns; static, valid for ever. It may have several of each. */
struct kymo_plugin {
	uint32_t struct_size;
	uint16_t abi_major, abi_minor; /* KYMO_PLUGIN_ABI_* it was built with */
	const char *name, *version, *license;
	const struct kymo_source_desc *const *sources;
	const struct kymo_sink_desc *const *sinks;
	/* End of ABI 1.0 */
};

typedef const struct kymo_plugin *(*kymo_plugin_entry_fn)(void);

/*
 * The one symbol that a plug-in exports for Kymo. It may be called before main. A plug-in
 * that wants its own table takes the table: where libraries are loaded for all to see,
 * this name may be another one's.
 */
#define KYMO_PLUGIN_ENTRY "kymo_plugin_entry_v1"
KYMO_API const struct kymo_plugin *kymo_plugin_entry_v1(void);

/* Does the session want this type? */
static inline int kymo_source_wants(const struct kymo_source_session *session,
				    uint16_t type)
{
	for (size_t i = 0; i < session->type_count; i++)
		if (session->types[i] == type)
			return 1;
	return 0;
}

/* ---- For injected plug-ins: the only call in the other direction ---- */

#define KYMO_AGENT_ATTACH "kymo_agent_attach_v1"

/*
 * Gives the plug-in to the agent of this process; use <kymo/inject.h>, which finds it.
 * If a recorder waits for this process, the plug-in's sources are created, prepared and
 * started before it returns; if not, they are remembered for the program's own sessions.
 * Idempotent by the plug-in's address. `*out` is the host table; KYMO_OK also where
 * nothing will be recorded (the gate is off then).
 */
KYMO_API int32_t kymo_agent_attach_v1(const struct kymo_plugin *plugin,
				      const struct kymo_host **out,
				      struct kymo_error *error);

KYMO_END_DECLS

#endif
