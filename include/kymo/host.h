/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host table: all that a source may call. It is handed to create, and to whoever
 * attaches a plug-in, and stays valid for ever. <kymo/plugin.h> says from where and
 * when; what is described here grows as what is described there does.
 */
#ifndef KYMO_HOST_H
#define KYMO_HOST_H

#include <kymo/base.h>
#include <kymo/record.h>

KYMO_BEGIN_DECLS

struct kymo_source_host; /* the host's side of one source instance; opaque */
struct kymo_type_desc;   /* these: <kymo/plugin.h> */
struct kymo_key_desc;
struct kymo_domain_desc;
struct kymo_link_kind_desc;

/* ---- Devices, tracks, clocks, counters ---- */

struct kymo_device_desc {
	uint32_t struct_size;
	uint32_t index;  /* the plug-in's own numbering, from 0 */
	uint64_t native; /* the vendor's handle or id, shown as it is */
	struct kymo_str name, kind, uuid;
	uint32_t parent; /* a device's number, or 0 */
	uint32_t order;  /* among its siblings */
	uint32_t attributes;
	uint32_t reserved0;
	/* End of ABI 1.0 */
};

#define KYMO_TRACK_THREAD  1u /* of a host thread; see thread_track and track */
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
	/* End of ABI 1.0 */
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
	/* End of ABI 1.0 */
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

struct kymo_counter_desc {
	uint32_t struct_size;
	uint32_t value_type; /* INT64, UINT64 or DOUBLE */
	struct kymo_str name, unit;
	/* End of ABI 1.0 */
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

/* ---- The table ---- */

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
	/*
	 * Of kind THREAD: gives the thread whose kernel id `native` is a name (its role
	 * in the vendor's runtime), in place of its own; the last one told holds.
	 */
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
	 * set, which belongs to no track: such values are left out. A set in which a
	 * value is not of its key's type, or a key stands twice, is refused: 0, it is
	 * counted as invalid, and the log says once which key it is.
	 */
	uint32_t (*string)(struct kymo_source_host *self, struct kymo_str text);
	/*
	 * Noted is the file that it lies in; function and line are found when the trace
	 * is made. Of a return address give the byte before it, which is of the call.
	 */
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
	 * KYMO_ERROR_INVALID, counted and said in the log once, if it is not of the key's
	 * type.
	 */
	int32_t (*metadata)(struct kymo_source_host *self,
			    const struct kymo_value *value);
	/*
	 * The text set for an option, or its fallback; borrowed until the next prepare.
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

KYMO_END_DECLS

#endif
