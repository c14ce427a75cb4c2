/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's side of one source: who it is, what of it is wanted, what it registered, and
 * the buffers that it was lent. One for each source of the process, made once and never
 * freed, since a vendor's callback may come with it at any time.
 *
 * Locks: registrations and buffers take host_lock; counts are single atomic words.
 */
#ifndef KYMO_SESSION_HOST_H
#define KYMO_SESSION_HOST_H

#include <kymo/plugin.h>

#include "record/layout.h"
#include "registry/static_types.h"
#include "registry/type_table.h"
#include "session/page.h"

#define KY_HOST_TYPES_MAX    8192u       /* activity types of one source */
#define KY_HOST_CLOCKS_MAX   16u         /* clocks that are sampled for it */
#define KY_HOST_BUFFERS_MAX  64u         /* buffers of one source */
#define KY_HOST_MEMORY_MAX   (64u << 20) /* bytes in them */
#define KY_HOST_TEXT_MAX     2048u       /* bytes of option values */
#define KY_HOST_METADATA_MAX 64u         /* keys that it said of the process */

struct ky_host_buffer {
	uint8_t *data;
	size_t size;
	uint32_t epoch; /* of the session that it was taken in */
	uint32_t reserved0;
};

/* One value that is kept, the elements of an array behind it. */
struct ky_host_metadata {
	struct kymo_value value;
	uint64_t elements[];
};

struct kymo_source_host {
	/* Hot: types wanted, a bit for each handle. Bit 0, no type, is always wanted. */
	uint64_t wanted[(UINT16_MAX + 1) / 64];

	const struct kymo_plugin *plugin;
	const struct kymo_source_desc *desc;
	uint32_t number;    /* of the source in the dictionary */
	uint32_t is_frozen; /* no new types until the session has ended */
	uint32_t epoch;     /* of the session it was prepared for last */
	uint32_t stopped;   /* the last epoch whose late end it has told */
	uint32_t has_told; /* it reported a state by itself since it was last looked at */
	uint32_t state;    /* KYMO_STATE_*, as last recorded; under source_lock */
	uint32_t is_abandoned; /* an operation of it is waited for no more; the same */

	uint32_t type_count;
	uint16_t types[KY_HOST_TYPES_MAX];
	uint16_t wanted_types[KY_HOST_TYPES_MAX]; /* of them, as last asked for */
	struct ky_type_entry type_entries[KY_HOST_TYPES_MAX];
	/* What it has said of static ones; their names stand in full_name. */
	struct ky_type static_types[KY_TYPE_STATIC_COUNT];

	struct kymo_source_numbers numbers; /* of what its tables declare */
	uint16_t *declared;                 /* the numbers themselves */

	uint32_t clock_count;
	uint32_t clocks[KY_HOST_CLOCKS_MAX];

	uint8_t *buffer_memory; /* KY_HOST_MEMORY_MAX bytes, or NULL */
	uint32_t buffer_count;
	struct ky_host_buffer buffers[KY_HOST_BUFFERS_MAX]; /* taken, by their place */

	uint32_t metadata_count;
	struct ky_host_metadata *metadata[KY_HOST_METADATA_MAX];

	size_t text_size;
	char text[KY_HOST_TEXT_MAX]; /* option values, each terminated */
};

/* A host for the source, or NULL. `ordinal`: 1, or more for further ones of a name. */
struct kymo_source_host *ky_host_create(const struct kymo_plugin *plugin,
					const struct kymo_source_desc *desc,
					uint32_t ordinal);

/*
 * Gives what the source's tables declare its numbers, in the order of the tables, into
 * host->numbers. May be tried again after a failure.
 */
int32_t ky_host_declare(struct kymo_source_host *host, struct kymo_error *error);

/* Counts what it should not have said or handed in; KYMO_ERROR_INVALID. */
int32_t ky_host_count_invalid(const struct kymo_source_host *host, uint64_t count);

/* Opens emit for the types that are on; closes it again. */
void ky_host_open(struct kymo_source_host *host);
void ky_host_close(struct kymo_source_host *host);

/* Types that this recording wants, into host->wanted_types; how many. */
size_t ky_host_wanted_types(struct kymo_source_host *host);

/* In a forked child: nothing of the parent's recording is its own. */
void ky_host_forked(struct kymo_source_host *host);

/* The clocks it has registered, into `clocks`; how many. */
size_t ky_host_clocks(struct kymo_source_host *host, uint32_t *clocks);

/*
 * Records the state; `reason` and `remedy` may be NULL. Nothing is heard of one that is
 * abandoned, neither from here nor from itself, until its operation has returned: it has
 * failed for the reason that it was abandoned with. source_lock held for the latter.
 */
void ky_host_set_state(struct kymo_source_host *host, uint32_t state, const char *reason,
		       const char *remedy);
void ky_host_abandon(struct kymo_source_host *host, const char *reason);

/* What sources are given to call. */
const struct kymo_host *ky_host_table(void);

/* ---- Members of the host table, by file ---- */

/* host_names.c */
int32_t ky_host_type(struct kymo_source_host *host, const struct kymo_type_desc *desc,
		     uint16_t *out);
/* KYMO_ERROR_INVALID, and why, if it is no key, or has another type than is known. */
int32_t ky_host_key_check(const struct kymo_source_host *host,
			  const struct kymo_key_desc *desc, struct kymo_error *error);
int32_t ky_host_key(struct kymo_source_host *host, const struct kymo_key_desc *desc,
		    uint16_t *out);
int32_t ky_host_domain(struct kymo_source_host *host, const struct kymo_domain_desc *desc,
		       uint16_t *out);
int32_t ky_host_link_kind(struct kymo_source_host *host,
			  const struct kymo_link_kind_desc *desc, uint16_t *out);
int32_t ky_host_clock(struct kymo_source_host *host, const struct kymo_clock_desc *desc,
		      uint32_t *out);

/* The type as the dictionary has it; KYMO_ERROR_NO_MEMORY if its name is not kept. */
int32_t ky_type_entry_make(const struct ky_type *type, uint32_t source,
			   struct ky_type_entry *out);

/* host_places.c */
int32_t ky_host_device(struct kymo_source_host *host, const struct kymo_device_desc *desc,
		       uint32_t *out);
int32_t ky_host_track(struct kymo_source_host *host, const struct kymo_track_desc *desc,
		      uint32_t *out);
int32_t ky_host_thread_track(struct kymo_source_host *host, uint64_t tid, uint32_t clock,
			     uint32_t *out);
int32_t ky_host_counter_group(struct kymo_source_host *host, uint32_t track,
			      struct kymo_str name,
			      const struct kymo_counter_desc *const *counters,
			      size_t count, uint32_t *out);

/* host_values.c */
uint32_t ky_host_string(struct kymo_source_host *host, struct kymo_str text);
uint32_t ky_host_attributes(struct kymo_source_host *host,
			    const struct kymo_value *values, size_t count);
/* Interns the values as one entry, those that are left out excepted. */
int32_t ky_host_intern_values(uint16_t kind, const struct kymo_value *values,
			      size_t count, uint32_t *id);
int ky_host_is_left_out(const struct kymo_value *value);
/*
 * The first value that is not of its key's type, as far as both are said (it is the key's
 * that readers go by), or whose key stands before it already; NULL: they all fit. Key 0
 * is none: its values are not shown.
 */
const struct kymo_value *ky_host_find_misfit(const struct kymo_value *values,
					     size_t count);
/* Says so of the source, once for each key, and counts it; KYMO_ERROR_INVALID. */
int32_t ky_host_refuse_value(const struct kymo_source_host *host,
			     const struct kymo_value *value);
/* What was to be interned found no room. */
void ky_host_count_not_kept(void);

/* host_code.c */
uint32_t ky_host_code(struct kymo_source_host *host, const void *address);

/* host_metadata.c */
int32_t ky_host_metadata(struct kymo_source_host *host, const struct kymo_value *value);
/* Tells the session that begins all that was said so far. */
void ky_host_publish_metadata(struct kymo_source_host *host);

/* host_buffers.c */
void *ky_host_buffer_take(struct kymo_source_host *host, size_t size);
int32_t ky_host_buffer_epoch(struct kymo_source_host *host, const void *buffer,
			     uint32_t *epoch);
int32_t ky_host_buffer_give(struct kymo_source_host *host, void *buffer);

/* host_timer.c */
int32_t ky_host_timer(struct kymo_source_host *host, uint64_t period_ns,
		      kymo_tick_fn tick, void *source);
/*
 * Its timer ticks from open to close. Close waits for a tick that is under way; false if
 * that has not ended by the deadline.
 */
int32_t ky_host_open_timer(struct kymo_source_host *host);
int ky_host_close_timer(struct kymo_source_host *host, uint64_t deadline_ns);

/* host_exit.c */
int32_t ky_host_at_exit(struct kymo_source_host *host, kymo_drain_fn drain, void *source);
/* Runs all drains that have not run yet, in an exit handler. */
void ky_host_drain_all(void);

#endif
