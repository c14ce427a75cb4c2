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
#include "session/page.h"

#define KY_HOST_TYPES_MAX   512u        /* activity types of one source */
#define KY_HOST_CLOCKS_MAX  16u         /* clocks that are sampled for it */
#define KY_HOST_BUFFERS_MAX 64u         /* buffers of one source */
#define KY_HOST_MEMORY_MAX  (64u << 20) /* bytes in them */
#define KY_HOST_TEXT_MAX    2048u       /* bytes of option values */
#define KY_LOST_REASONS     6u          /* KYMO_LOST_*, and 0 */

struct ky_host_buffer {
	void *data;
	size_t size;
	uint32_t epoch; /* of the session that it was taken in */
	uint32_t taken;
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
	uint32_t state;    /* KYMO_SOURCE_*, as last recorded */
	uint64_t lost[KY_LOST_REASONS]; /* counted, not yet in the dictionary */

	uint32_t type_count;
	uint16_t types[KY_HOST_TYPES_MAX];
	struct ky_type_entry type_entries[KY_HOST_TYPES_MAX];

	uint32_t clock_count;
	uint32_t clocks[KY_HOST_CLOCKS_MAX];

	struct ky_host_buffer buffers[KY_HOST_BUFFERS_MAX];
	size_t buffer_bytes;

	size_t text_size;
	char text[KY_HOST_TEXT_MAX]; /* option values, each terminated */
};

/* A host for the source, or NULL. `ordinal`: 1, or 2 and more for further ones of a name.
 */
struct kymo_source_host *ky_host_create(const struct kymo_plugin *plugin,
					const struct kymo_source_desc *desc,
					uint32_t ordinal);

/* Opens emit for the types that are on; closes it again. */
void ky_host_open(struct kymo_source_host *host);
void ky_host_close(struct kymo_source_host *host);

/* Types that are on unless asked otherwise, into `types`; how many. */
size_t ky_host_default_types(struct kymo_source_host *host, uint16_t *types);

/* The clocks it has registered, into `clocks`; how many. */
size_t ky_host_clocks(struct kymo_source_host *host, uint32_t *clocks);

/* Records the state; `reason` and `remedy` may be NULL. */
void ky_host_set_state(struct kymo_source_host *host, uint32_t state, const char *reason,
		       const char *remedy);

/* Moves what was counted as lost into the dictionary; or forgets it. */
void ky_host_publish_lost(struct kymo_source_host *host);
void ky_host_forget_lost(struct kymo_source_host *host);

/* ---- Members of the host table, by file ---- */

/* host_names.c */
int32_t ky_host_type(struct kymo_source_host *host, const struct kymo_type_desc *desc,
		     uint16_t *out);
int32_t ky_host_key(struct kymo_source_host *host, const struct kymo_key_desc *desc,
		    uint16_t *out);
int32_t ky_host_domain(struct kymo_source_host *host, const char *name, uint32_t scope,
		       uint16_t *out);
int32_t ky_host_link_kind(struct kymo_source_host *host, const char *name, uint16_t *out);
int32_t ky_host_clock(struct kymo_source_host *host, const struct kymo_clock_desc *desc,
		      uint32_t *out);

/* host_places.c */
int32_t ky_host_device(struct kymo_source_host *host, const struct kymo_device_desc *desc,
		       uint32_t *out);
int32_t ky_host_track(struct kymo_source_host *host, const struct kymo_track_desc *desc,
		      uint32_t *out);
int32_t ky_host_thread_track(struct kymo_source_host *host, uint64_t tid, uint32_t *out);
int32_t ky_host_counter_group(struct kymo_source_host *host, uint32_t track,
			      struct kymo_str name,
			      const struct kymo_counter_desc *const *counters,
			      size_t count, uint32_t *out);

/* host_values.c */
uint32_t ky_host_string(struct kymo_source_host *host, struct kymo_str text);
uint32_t ky_host_code(struct kymo_source_host *host, const void *address);
uint32_t ky_host_attributes(struct kymo_source_host *host,
			    const struct kymo_value *values, size_t count);
int32_t ky_host_metadata(struct kymo_source_host *host, const struct kymo_value *value);

/* host_buffers.c */
void *ky_host_buffer_take(struct kymo_source_host *host, size_t size);
int32_t ky_host_buffer_give(struct kymo_source_host *host, void *buffer, uint32_t epoch);

/* host_timer.c */
int32_t ky_host_timer(struct kymo_source_host *host, uint64_t period_ns,
		      void (*tick)(void *source, uint64_t now), void *source);

/* host_exit.c */
int32_t ky_host_at_exit(struct kymo_source_host *host,
			void (*drain)(void *source, uint64_t deadline_ns), void *source);

#endif
