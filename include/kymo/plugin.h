/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in ABI: how a vendor adds a device to Kymo without changing or rebuilding it.
 *
 * A plug-in is one shared object that exports kymo_plugin_entry_v1(). The entry returns
 * constant tables: first data (names, types, keys, options, injections), which a tool
 * reads without running anything, then operations. The plug-in links nothing of Kymo;
 * all it may call is the host table it is given.
 *
 * Life of a source, each call one at a time per instance and with no host lock held:
 *
 *     create -> prepare -> start -> (set_paused)* -> stop -> flush -> prepare ... destroy
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
 * All structs here but the frozen ones (kymo_clock_pair, kymo_value) start with
 * struct_size and grow only at the end; none holds a bool, enum, long or implicit
 * padding. What a function returns is an enum kymo_status.
 */
#ifndef KYMO_PLUGIN_H
#define KYMO_PLUGIN_H

#include <kymo/base.h>
#include <kymo/record.h>

KYMO_BEGIN_DECLS

struct kymo_source_host; /* the host's side of one source instance; opaque */
struct kymo_host;
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
};

/* A metadata key: the type of its values is fixed here, with their unit ("bytes"). */
struct kymo_key_desc {
	uint32_t struct_size;
	uint32_t value_type; /* KYMO_VALUE_* */
	const char *name, *unit, *help;
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
};

/* A kind of link: what an arrow between two activities means. */
struct kymo_link_kind_desc {
	uint32_t struct_size;
	uint32_t flags;
	const char *name, *help;
};

/* A setting of the source: `-t name:option=value`. `fallback` is used where none is set.
 */
struct kymo_option_desc {
	uint32_t struct_size;
	uint32_t value_type;
	const char *name, *fallback, *help;
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
};

/* A session as a source sees it. */
struct kymo_source_session {
	uint32_t struct_size;
	uint32_t epoch; /* names this session, see buffer_epoch and stopped */
	/* Wanted, of those registered so far; never NULL; borrowed until prepare
	 * returns. What is emitted of others is counted as filtered. */
	const uint16_t *types;
	size_t type_count;
	uint64_t memory_limit; /* bytes the source may hold in buffers of its own */
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC; 0: not known */
};

/*
 * Frozen. Two readings of one moment, as a bound: the device's clock said `device`
 * somewhere between the host ticks `host_lo` and `host_hi`.
 */
struct kymo_clock_pair {
	uint64_t device, host_lo, host_hi;
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_clock_pair) == 24);
KYMO_STATIC_ASSERT(offsetof(struct kymo_clock_pair, host_lo) == 8);
KYMO_STATIC_ASSERT(offsetof(struct kymo_clock_pair, host_hi) == 16);

/* The numbers of what the source's tables declare, in the order of the tables. */
struct kymo_source_numbers {
	uint32_t struct_size;
	uint32_t reserved0;
	const uint16_t *types, *keys, *domains, *link_kinds; /* valid for ever */
};

/*
 * The operations. create, start and stop are required; a NULL among the rest means that
 * the source has nothing to do there. deadline_ns is an absolute CLOCK_MONOTONIC time
 * after which the host goes on without the source.
 *
 * A failing create, prepare or start leaves the source out: KYMO_ERROR_NOT_FOUND shows as
 * absent, _BUSY as busy, _PERMISSION as denied, all else as failed, with the error's
 * message as the reason.
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

	/* Claim what is needed, with nothing recorded yet. Errors leave the source out.
	 */
	int32_t (*prepare)(void *source, const struct kymo_source_session *session,
			   struct kymo_error *error);
	int32_t (*start)(void *source, struct kymo_error *error);
	/*
	 * Rest (1) or go on (0), which need not take turns. The gate stays as it is, for
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
};

/* What the entry returns; static, valid for ever. It may have several of each. */
struct kymo_plugin {
	uint32_t struct_size;
	uint16_t abi_major, abi_minor; /* KYMO_PLUGIN_ABI_* it was built with */
	const char *name, *version, *license;
	const struct kymo_source_desc *const *sources;
	const struct kymo_sink_desc *const *sinks;
};

typedef const struct kymo_plugin *(*kymo_plugin_entry_fn)(void);

/*
 * The one symbol that a plug-in exports for Kymo. It may be called before main. A plug-in
 * that wants its own table takes the table: where libraries are loaded for all to see,
 * this name may be another one's.
 */
#define KYMO_PLUGIN_ENTRY "kymo_plugin_entry_v1"
KYMO_API const struct kymo_plugin *kymo_plugin_entry_v1(void);

/* ---- What the host offers ---- */

struct kymo_device_desc {
	uint32_t struct_size;
	uint32_t index;  /* the plug-in's own numbering, from 0 */
	uint64_t native; /* the vendor's handle or id, shown as it is */
	struct kymo_str name, kind, uuid;
	uint32_t parent; /* a device's number, or 0 */
	uint32_t order;  /* among its siblings */
	uint32_t attributes;
	uint32_t reserved0;
};

#define KYMO_TRACK_THREAD  1u /* of a host thread; made by thread_track */
#define KYMO_TRACK_QUEUE   2u /* of a device: a queue, stream or engine */
#define KYMO_TRACK_COUNTER 3u /* a row of counters */

struct kymo_track_desc {
	uint32_t struct_size;
	uint32_t kind;   /* KYMO_TRACK_* */
	uint64_t native; /* the vendor's handle or id; 64 bits are kept to the end */
	uint32_t device; /* a device's number, or 0 for the host */
	uint32_t clock;  /* a clock's number, or 0 for host ticks */
	uint32_t order;
	uint32_t attributes;
	struct kymo_str name;
};

#define KYMO_CLOCK_COUNTER   1u /* free running, its relation known from anchors only */
#define KYMO_CLOCK_MONOTONIC 2u /* the system's CLOCK_MONOTONIC, in ns */
#define KYMO_CLOCK_REALTIME  3u /* the system's CLOCK_REALTIME, in ns since the epoch */

/*
 * A clock: nominally `ticks_num / ticks_den` ticks per second, `bits` wide. A reading of
 * one that wraps is taken to be the one nearest to what the same thread has recorded
 * before: where half a round may pass between two records of a thread, or before it hands
 * one in, widen the readings in the source and say 64.
 */
struct kymo_clock_desc {
	uint32_t struct_size;
	uint32_t kind; /* KYMO_CLOCK_* */
	uint32_t bits; /* 64 unless it wraps earlier */
	uint32_t flags;
	uint64_t ticks_num, ticks_den;
	struct kymo_str name;
	uint32_t device; /* the one that it belongs to, or 0 */
	uint32_t reserved0;
};

struct kymo_counter_desc {
	uint32_t struct_size;
	uint32_t value_type; /* INT64, UINT64 or DOUBLE */
	struct kymo_str name, unit;
};

/* Frozen. A key with its value: one of 64 bits, or `count` elements of an array. */
struct kymo_value {
	uint16_t key;
	uint16_t type;  /* KYMO_VALUE_*, equal to the key's */
	uint32_t count; /* elements where the type has KYMO_VALUE_ARRAY, else 0 */
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		const void *array; /* of int64_t, uint64_t, double or uint64_t numbers */
	};
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_value) == 16);
KYMO_STATIC_ASSERT(offsetof(struct kymo_value, type) == 2);
KYMO_STATIC_ASSERT(offsetof(struct kymo_value, count) == 4);
KYMO_STATIC_ASSERT(offsetof(struct kymo_value, u64) == 8);

/* Why something was not recorded, as a source reports it. */
#define KYMO_LOST_VENDOR          1u /* the vendor's interface says how many it dropped */
#define KYMO_LOST_VENDOR_AT_LEAST 2u /* it says that it dropped, not how many */
#define KYMO_LOST_UNTIMED         3u /* it came without a usable time */
#define KYMO_LOST_LATE            4u /* it came after the session had ended */
#define KYMO_LOST_PENDING         5u /* not completed in time, and not emitted either */

/* The gate's word; see <kymo/mark.h> for who writes it. */
#define KYMO_GATE_UNDECIDED 0u
#define KYMO_GATE_OFF       1u
#define KYMO_GATE_ON        2u

#define KYMO_SEVERITY_DEBUG   0u
#define KYMO_SEVERITY_INFO    1u
#define KYMO_SEVERITY_WARNING 2u
#define KYMO_SEVERITY_ERROR   3u

typedef void (*kymo_tick_fn)(void *source, uint64_t now);
typedef void (*kymo_drain_fn)(void *source, uint64_t deadline_ns);

struct kymo_host {
	uint32_t struct_size;
	uint16_t abi_major, abi_minor;

	/* A point does nothing if it reads KYMO_GATE_OFF; see kymo_host_is_on(). */
	const uint32_t *gate;

	/* -- Hot -- */

	/* Host ticks: the clock of host tracks, one for the life of the process. */
	uint64_t (*now)(void);

	/*
	 * Records whole records, `line_count` lines in all, copied before it returns.
	 * They are committed in order. KYMO_OK, also for what a filter leaves out;
	 * KYMO_ERROR_STATE when nothing is being recorded; KYMO_ERROR_NO_MEMORY when a
	 * loss was counted instead; KYMO_ERROR_INVALID when something was counted as
	 * invalid: a record of a type that is not the source's, or, from the first line
	 * on that begins no record, the rest, while those before it are recorded.
	 */
	int32_t (*emit)(struct kymo_source_host *self, const union kymo_line *lines,
			uint32_t line_count);

	/*
	 * Counts what the source knows that it did not record. reason: KYMO_LOST_*. What
	 * it emits as UNFINISHED or UNTIMED is recorded, and not counted here as well.
	 */
	void (*lost)(struct kymo_source_host *self, uint32_t reason, uint64_t count);

	/* -- Slow -- */

	/*
	 * What the gate says once it is decided: KYMO_GATE_OFF or KYMO_GATE_ON. For a
	 * point that found KYMO_GATE_UNDECIDED, with no lock of the source held: in a
	 * forked child this is where the source's own `forked` is called.
	 */
	uint32_t (*decide)(void);

	/*
	 * Each gives a number for the described thing, the same one for the same
	 * description. Strings are copied. The numbers outlive the session.
	 *
	 * Of a type that is known, attributes that are zero say nothing, others are
	 * added; those that contradict it are KYMO_ERROR_INVALID. A new one is
	 * KYMO_ERROR_STATE from the return of prepare until the flush after stop has
	 * returned.
	 */
	int32_t (*type)(struct kymo_source_host *self, const struct kymo_type_desc *desc,
			uint16_t *out);
	int32_t (*key)(struct kymo_source_host *self, const struct kymo_key_desc *desc,
		       uint16_t *out);
	int32_t (*domain)(struct kymo_source_host *self,
			  const struct kymo_domain_desc *desc, uint16_t *out);
	int32_t (*link_kind)(struct kymo_source_host *self,
			     const struct kymo_link_kind_desc *desc, uint16_t *out);
	int32_t (*clock)(struct kymo_source_host *self,
			 const struct kymo_clock_desc *desc, uint32_t *out);
	int32_t (*device)(struct kymo_source_host *self,
			  const struct kymo_device_desc *desc, uint32_t *out);
	int32_t (*track)(struct kymo_source_host *self,
			 const struct kymo_track_desc *desc, uint32_t *out);
	/*
	 * The track of a host thread by its kernel id (gettid; 0: the calling one), for
	 * records whose times are readings of `clock` (0: host ticks). Tracks of one
	 * thread are one row of the timeline, whatever their clocks.
	 */
	int32_t (*thread_track)(struct kymo_source_host *self, uint64_t tid,
				uint32_t clock, uint32_t *out);
	int32_t (*counter_group)(struct kymo_source_host *self, uint32_t track,
				 struct kymo_str name,
				 const struct kymo_counter_desc *const *counters,
				 size_t count, uint32_t *out);

	/*
	 * These never fail: when the dictionary is full they give the number that stands
	 * for "not kept", and the loss is counted. A TIME has no place in an attribute
	 * set, which belongs to no track: such values are left out.
	 */
	uint32_t (*string)(struct kymo_source_host *self, struct kymo_str text);
	uint32_t (*code)(struct kymo_source_host *self, const void *address);
	uint32_t (*attributes)(struct kymo_source_host *self,
			       const struct kymo_value *values, size_t count);

	/* A bound between a device clock and host ticks. Give many; the best are used. */
	void (*anchor)(struct kymo_source_host *self, uint32_t clock,
		       const struct kymo_clock_pair *pair);

	/*
	 * A fixed pool for buffers that a vendor fills, 64-byte aligned, mapped for ever.
	 * take gives NULL when all are in use (then tell the vendor so). epoch tells the
	 * session under which a buffer was taken: what is in one of another session is
	 * late, and the source counts it so. epoch and give refuse what is no taken
	 * buffer with KYMO_ERROR_INVALID. In a forked child all are free again.
	 */
	void *(*buffer_take)(struct kymo_source_host *self, size_t size);
	int32_t (*buffer_epoch)(struct kymo_source_host *self, const void *buffer,
				uint32_t *epoch);
	int32_t (*buffer_give)(struct kymo_source_host *self, void *buffer);

	/* The source's state with the reason and what to do, for people. */
	void (*state)(struct kymo_source_host *self, uint32_t state,
		      struct kymo_str reason, struct kymo_str remedy);
	/* The answer to a stop that said KYMO_AGAIN. */
	void (*stopped)(struct kymo_source_host *self, uint32_t epoch);
	/*
	 * One key with its value, of this process; the last one holds, also if it came
	 * before the session. INT64 "rank" and "world_size" identify the process.
	 */
	int32_t (*metadata)(struct kymo_source_host *self,
			    const struct kymo_value *value);
	/* The text set for an option, or its fallback; borrowed until the next prepare.
	 */
	int32_t (*option)(struct kymo_source_host *self, const char *name,
			  struct kymo_str *out);
	/*
	 * Calls tick every period, between start and stop, from the one thread that
	 * serves all timers; `now` is host ticks. One per source; a period of 0 ends it,
	 * and no tick runs when that has returned (so hold no lock then that the tick
	 * takes; the tick itself may end it). A tick overlaps no operation of the source.
	 */
	int32_t (*timer)(struct kymo_source_host *self, uint64_t period_ns,
			 kymo_tick_fn tick, void *source);
	/*
	 * Calls drain once when the program exits normally while something is recorded;
	 * it must respect the deadline, which is one for all. The place among the exit
	 * handlers of others is that of this call: they run last registered first. So a
	 * drain that waits for the vendor must be registered after the vendor's driver
	 * has registered its own handlers, or it finds the driver gone. The same drain
	 * again changes nothing, others have each its own place. A forked child has only
	 * the drains that were registered in itself. A drain overlaps no operation of the
	 * source; after it the source is told of no tick and no region.
	 */
	int32_t (*at_exit)(struct kymo_source_host *self, kymo_drain_fn drain,
			   void *source);
	void (*log)(struct kymo_source_host *self, uint32_t severity,
		    struct kymo_str text);

	/*
	 * Opens and closes a region of the calling thread, for all recording sources: the
	 * operations of that name are called on it, with no lock held.
	 */
	void (*push_correlation)(struct kymo_source_host *self, uint16_t domain,
				 uint64_t value);
	void (*pop_correlation)(struct kymo_source_host *self, uint16_t domain);
	/* End of ABI 1.0 */
};

/*
 * The whole of a point that is off: one load, one predicted branch. Not for points in
 * signal handlers, which must not decide: those read the gate.
 */
static inline int kymo_host_is_on(const struct kymo_host *host)
{
	uint32_t gate = __atomic_load_n(host->gate, __ATOMIC_RELAXED);

	if (gate == KYMO_GATE_UNDECIDED)
		gate = host->decide();
	return gate == KYMO_GATE_ON;
}

/* What a DOUBLE value is in a record: a cast would ruin it. */
static inline uint64_t kymo_double_bits(double value)
{
	union {
		double f64;
		uint64_t u64;
	} bits;

	bits.f64 = value;
	return bits.u64;
}

/* A C string as text; NULL is none. */
static inline struct kymo_str kymo_text(const char *text)
{
	struct kymo_str str = {text, 0};

	while (text && text[str.size])
		str.size++;
	return str;
}

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
