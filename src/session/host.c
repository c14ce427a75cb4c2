/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host table that every source is given, with its hot calls. Registrations, buffers,
 * timers and drains are in host_*.c.
 *
 * emit looks at nothing but the source's bitmap of wanted types and the thread's writer:
 * the writer's epoch, which is over as soon as the gate closes, is the gate's check too.
 */
#include "session/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/lock.h"
#include "capture/lease.h"
#include "record/dictionary.h"
#include "session/line.h"
#include "session/link.h"
#include "session/source.h"
#include "session/wanted_types.h"

/* Kinds that a source may begin a record with and whose type a filter decides about. */
#define ACTIVITY_KINDS                                                              \
	(1u << KYMO_KIND_SPAN | 1u << KYMO_KIND_INSTANT | 1u << KYMO_KIND_COUNTER | \
	 1u << KYMO_KIND_GAP | 1u << KYMO_KIND_OPEN)
#define FIRST_KINDS (ACTIVITY_KINDS | 1u << KYMO_KIND_LINK)

/* Makes entries differ that say the same thing again; all processes may count alike. */
static uint64_t next_sequence(void)
{
	static uint64_t sequence;

	return __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED);
}

static int is_of_kind(const struct kymo_record *line, uint32_t kinds)
{
	return line->kind < 32 && (kinds >> line->kind & 1);
}

static int is_wanted(const struct kymo_source_host *host, uint32_t type)
{
	uint64_t word = __atomic_load_n(&host->wanted[type / 64], __ATOMIC_RELAXED);

	return (int)(word >> (type % 64) & 1);
}

/* Between ky_host_open and ky_host_close. */
static int is_open(const struct kymo_source_host *host)
{
	return is_wanted(host, 0);
}

static void count_lost(const struct kymo_source_host *host, uint32_t reason,
		       uint64_t count)
{
	struct ky_source_counts *counts = ky_gate_counts(host->number);

	if (counts)
		__atomic_fetch_add(&counts->lost[reason], count, __ATOMIC_RELAXED);
}

int32_t ky_host_count_invalid(const struct kymo_source_host *host, uint64_t count)
{
	struct ky_source_counts *counts = ky_gate_counts(host->number);

	if (counts)
		__atomic_fetch_add(&counts->invalid, count, __ATOMIC_RELAXED);
	return KYMO_ERROR_INVALID;
}

static uint32_t epoch_of(const struct kymo_source_host *host)
{
	return __atomic_load_n(&host->epoch, __ATOMIC_RELAXED);
}

/* Whether it is to be part of what is recorded now, but has not started, or could not. */
static int is_left_out(const struct kymo_source_host *host)
{
	const struct ky_session_page *page = ky_session_page();

	return __atomic_load_n(&page->sources_active, __ATOMIC_ACQUIRE) &&
	       epoch_of(host) ==
		       __atomic_load_n(&page->sources_epoch, __ATOMIC_RELAXED) &&
	       !is_open(host);
}

/* A record of a source that is not open, or while nothing is recorded. */
static int32_t refuse(struct kymo_source_host *host)
{
	/* Handed in against the wish of whoever paused, or by one that was left out. */
	if ((ky_gate_is_paused() || is_left_out(host)) &&
	    ky_writer_filtered(host->number))
		return KYMO_ERROR_STATE;
	/* What comes before the first session belongs to none. */
	if (epoch_of(host) != 0)
		count_lost(host, KYMO_LOST_LATE, 1);
	return KYMO_ERROR_STATE;
}

/*
 * A line that begins no record, so where the next one would is not known: the rest is
 * dropped. That and whatever looks like one are counted.
 */
static int32_t refuse_rest(const struct kymo_source_host *host,
			   const struct kymo_record *lines, uint32_t line_count)
{
	uint64_t count = 1;

	for (uint32_t i = 1; i < line_count; i++)
		count += (uint64_t)is_of_kind(&lines[i], FIRST_KINDS);
	return ky_host_count_invalid(host, count);
}

/* One that a filter has left out, unless the type is not the source's at all. */
static int32_t leave_out(const struct kymo_source_host *host, uint32_t type)
{
	if (ky_dictionary_source_of((uint16_t)type) != host->number)
		return ky_host_count_invalid(host, 1);
	ky_writer_filtered(host->number);
	return KYMO_OK;
}

/* Lines of the record that begins here, or 0 if it is not one. */
static uint32_t measure(const struct kymo_record *lines, uint32_t line_count)
{
	uint32_t size = lines->lines;

	if (!is_of_kind(lines, FIRST_KINDS) || size > line_count)
		return 0;
	for (uint32_t i = 1; i < size; i++)
		if (lines[i].kind < KYMO_KIND_MORE || lines[i].kind > KYMO_KIND_BYTES)
			return 0;
	return size;
}

__attribute__((noinline)) static int32_t emit_many(struct kymo_source_host *host,
						   const struct kymo_record *lines,
						   uint32_t line_count)
{
	int32_t status = KYMO_OK;
	uint32_t size;

	for (; line_count > 0; lines += size, line_count -= size) {
		struct kymo_record *to;
		int is_off = 0;

		size = measure(lines, line_count);
		if (size == 0)
			return refuse_rest(host, lines, line_count);
		if (!is_open(host)) {
			status = refuse(host);
			continue;
		}
		/* A link has its kind where others have their type. */
		if (!is_wanted(host, lines->kind == KYMO_KIND_LINK ? 0 : lines->type)) {
			const int32_t left_out = leave_out(host, lines->type);

			status = left_out == KYMO_OK ? status : left_out;
			continue;
		}
		to = ky_writer_begin_or(size, &is_off);
		if (!to) {
			status = is_off ? refuse(host) : KYMO_ERROR_NO_MEMORY;
			continue;
		}
		memcpy(to, lines, (size_t)size * KYMO_LINE_SIZE);
		if (lines->kind == KYMO_KIND_LINK)
			((struct kymo_record_link *)(void *)to)->source =
				(uint16_t)host->number;
		ky_writer_commit(size, 1);
		if (ky_link_is_due(ky_writer_self, lines))
			ky_link_launch(host, lines);
	}
	return status;
}

/* A call in the place of a return, for which nothing has to be saved. */
__attribute__((noinline)) static int32_t emit_links(const struct kymo_source_host *host,
						    const struct kymo_record *launch)
{
	ky_link_launch(host, launch);
	return KYMO_OK;
}

static int32_t host_emit(struct kymo_source_host *host, const union kymo_line *lines,
			 uint32_t line_count)
{
	const struct kymo_record *first = &lines->record;
	struct ky_writer *writer = ky_writer_self;

	if (KYMO_UNLIKELY(line_count != 1 || first->lines != 1 ||
			  !is_of_kind(first, ACTIVITY_KINDS) ||
			  !is_wanted(host, first->type) || !ky_line_begin(writer)))
		return emit_many(host, first, line_count);
	*writer->cursor = *first;
	ky_line_commit(writer);
	if (ky_link_is_due(writer, first))
		return emit_links(host, first);
	return KYMO_OK;
}

static uint64_t host_now(void)
{
	return ky_ticks();
}

static void host_lost(struct kymo_source_host *host, uint32_t reason, uint64_t count)
{
	if (reason > 0 && reason < KY_LOST_REASONS)
		count_lost(host, reason, count);
}

static void host_anchor(struct kymo_source_host *host, uint32_t clock,
			const struct kymo_clock_pair *pair)
{
	struct ky_capture *capture = ky_gate_capture();

	(void)host;
	/* Clock 0 is host ticks, which only the library anchors. */
	if (capture && clock != 0)
		ky_capture_anchor(capture, clock, pair->device, pair->host_lo,
				  pair->host_hi, 0);
}

static void set_state(struct kymo_source_host *host, uint32_t state,
		      struct kymo_str reason, struct kymo_str remedy)
{
	struct ky_state_entry entry = {
		.source = host->number,
		.state = state,
		.reason = ky_dictionary_string(reason),
		.remedy = ky_dictionary_string(remedy),
		.sequence = next_sequence(),
	};
	uint32_t id;

	host->state = state;
	/* Without room for it the state is not known, which is what readers then say. */
	ky_dictionary_intern(KY_ENTRY_STATE, &entry, sizeof(entry), &id);
}

static void host_state(struct kymo_source_host *host, uint32_t state,
		       struct kymo_str reason, struct kymo_str remedy)
{
	uint32_t *lock = &ky_gate()->source_lock;

	if (state > KYMO_STATE_FAILED)
		return;
	ky_lock(lock);
	__atomic_store_n(&host->has_told, 1, __ATOMIC_RELAXED);
	if (!host->is_abandoned)
		set_state(host, state, reason, remedy);
	ky_unlock(lock);
}

static void host_stopped(struct kymo_source_host *host, uint32_t epoch)
{
	/*
	 * Pairs with the acquire of whoever waits for it: what was emitted is committed.
	 */
	__atomic_store_n(&host->stopped, epoch, __ATOMIC_RELEASE);
}

/*
 * Keeps an option's text for as long as the host lives: the list it comes from changes
 * with the next session. A text that is kept already is not kept twice. host_lock held.
 */
static int32_t keep_text(struct kymo_source_host *host, const char *text,
			 struct kymo_str *out)
{
	const size_t size = strlen(text);
	size_t at = 0;

	while (at < host->text_size && strcmp(host->text + at, text) != 0)
		at += strlen(host->text + at) + 1;
	if (at == host->text_size) {
		if (size + 1 > KY_HOST_TEXT_MAX - host->text_size)
			return KYMO_ERROR_NO_MEMORY;
		memcpy(host->text + at, text, size + 1);
		host->text_size += size + 1;
	}
	*out = (struct kymo_str){host->text + at, size};
	return KYMO_OK;
}

static int32_t host_option(struct kymo_source_host *host, const char *name,
			   struct kymo_str *out)
{
	const struct kymo_option_desc *const *option = host->desc->options;
	uint32_t *lock = &ky_session_page()->host_lock;
	char text[KY_HOST_TEXT_MAX];
	int32_t status;

	*out = (struct kymo_str){NULL, 0};
	while (option && *option && strcmp((*option)->name, name) != 0)
		option++;
	if (!option || !*option)
		return KYMO_ERROR_NOT_FOUND;
	status = ky_sources_option(host->desc->name, name, text, sizeof(text));
	if (status == KYMO_OK) {
		ky_lock(lock);
		status = keep_text(host, text, out);
		ky_unlock(lock);
		return status;
	}
	if (status == KYMO_ERROR_NOT_FOUND && (*option)->fallback)
		*out = (struct kymo_str){(*option)->fallback,
					 strlen((*option)->fallback)};
	return status == KYMO_ERROR_NOT_FOUND ? KYMO_OK : status;
}

/*
 * The library prints nothing. What a source warns of becomes the reason that stands
 * beside its state, unless the state has been explained already.
 */
static void host_log(struct kymo_source_host *host, uint32_t severity,
		     struct kymo_str text)
{
	uint32_t *lock = &ky_gate()->source_lock;

	if (severity < KYMO_SEVERITY_WARNING)
		return;
	ky_lock(lock);
	if (host->state == KYMO_STATE_RECORDING && !host->is_abandoned &&
	    !__atomic_exchange_n(&host->has_told, 1, __ATOMIC_RELAXED))
		set_state(host, KYMO_STATE_RECORDING, text, (struct kymo_str){NULL, 0});
	ky_unlock(lock);
}

static void host_push_correlation(struct kymo_source_host *host, uint16_t domain,
				  uint64_t value)
{
	(void)host;
	ky_sources_push(domain, value);
}

static void host_pop_correlation(struct kymo_source_host *host, uint16_t domain)
{
	(void)host;
	ky_sources_pop(domain);
}

static const struct kymo_host table = {
	.struct_size = sizeof(struct kymo_host),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.gate = ky_gate_memory, /* the word comes first */
	.now = host_now,
	.emit = host_emit,
	.lost = host_lost,
	.decide = ky_gate_decide,
	.type = ky_host_type,
	.key = ky_host_key,
	.domain = ky_host_domain,
	.link_kind = ky_host_link_kind,
	.clock = ky_host_clock,
	.device = ky_host_device,
	.track = ky_host_track,
	.thread_track = ky_host_thread_track,
	.counter_group = ky_host_counter_group,
	.string = ky_host_string,
	.code = ky_host_code,
	.attributes = ky_host_attributes,
	.anchor = host_anchor,
	.buffer_take = ky_host_buffer_take,
	.buffer_epoch = ky_host_buffer_epoch,
	.buffer_give = ky_host_buffer_give,
	.state = host_state,
	.stopped = host_stopped,
	.metadata = ky_host_metadata,
	.option = host_option,
	.timer = ky_host_timer,
	.at_exit = ky_host_at_exit,
	.log = host_log,
	.push_correlation = host_push_correlation,
	.pop_correlation = host_pop_correlation,
};

const struct kymo_host *ky_host_table(void)
{
	return &table;
}

struct kymo_source_host *ky_host_create(const struct kymo_plugin *plugin,
					const struct kymo_source_desc *desc,
					uint32_t ordinal)
{
	struct ky_source_entry entry = {
		.plugin = ky_dictionary_text(plugin->name),
		.version = ky_dictionary_text(plugin->version),
		.description = ky_dictionary_text(desc->description),
	};
	struct kymo_source_host *host;
	char name[80];

	if (ordinal > 1)
		snprintf(name, sizeof(name), "%s#%u", desc->name, ordinal);
	else
		snprintf(name, sizeof(name), "%s", desc->name);
	entry.name = ky_dictionary_text(name);
	/* Not malloc: this may be where an allocator's own points lead to. */
	host = mmap(NULL, sizeof(*host), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host == MAP_FAILED)
		return NULL;
	host->plugin = plugin;
	host->desc = desc;
	if (ky_dictionary_intern(KY_ENTRY_SOURCE, &entry, sizeof(entry), &host->number) !=
	    KYMO_OK) {
		munmap(host, sizeof(*host));
		return NULL;
	}
	return host;
}

size_t ky_host_wanted_types(struct kymo_source_host *host)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	size_t count = 0;

	ky_lock(lock);
	for (uint32_t i = 0; i < host->type_count; i++)
		if (ky_wanted_types_has(host->desc->name,
					host->type_entries[i].activity_type,
					host->type_entries[i].flags))
			host->wanted_types[count++] = host->types[i];
	ky_unlock(lock);
	return count;
}

void ky_host_open(struct kymo_source_host *host)
{
	const uint16_t *types = host->wanted_types;
	size_t count = ky_host_wanted_types(host);

	for (size_t i = 0; i < count; i++)
		__atomic_fetch_or(&host->wanted[types[i] / 64],
				  (uint64_t)1 << (types[i] % 64), __ATOMIC_RELAXED);
	__atomic_fetch_or(&host->wanted[0], 1, __ATOMIC_RELAXED);
}

void ky_host_close(struct kymo_source_host *host)
{
	for (size_t i = 0; i < sizeof(host->wanted) / sizeof(host->wanted[0]); i++)
		if (__atomic_load_n(&host->wanted[i], __ATOMIC_RELAXED))
			__atomic_store_n(&host->wanted[i], 0, __ATOMIC_RELAXED);
}

void ky_host_forked(struct kymo_source_host *host)
{
	__atomic_store_n(&host->is_frozen, 0, __ATOMIC_RELAXED);
	/* Whoever was to fill them is gone with the parent's threads. */
	host->buffer_count = 0;
	ky_host_close(host);
}

void ky_host_set_state(struct kymo_source_host *host, uint32_t state, const char *reason,
		       const char *remedy)
{
	uint32_t *lock = &ky_gate()->source_lock;

	ky_lock(lock);
	if (!host->is_abandoned)
		set_state(host, state,
			  (struct kymo_str){reason, reason ? strlen(reason) : 0},
			  (struct kymo_str){remedy, remedy ? strlen(remedy) : 0});
	ky_unlock(lock);
}

void ky_host_abandon(struct kymo_source_host *host, const char *reason)
{
	__atomic_store_n(&host->is_abandoned, 1, __ATOMIC_RELAXED);
	set_state(host, KYMO_STATE_FAILED, (struct kymo_str){reason, strlen(reason)},
		  (struct kymo_str){NULL, 0});
}
