/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two questions of whoever recorded: what was lost and why, and what of the asked for did
 * not come. The answers are texts of fixed size; what does not fit is left out with
 * "...".
 */
#include "control/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/plugin.h>

#include "base/error.h"
#include "capture/reader.h"
#include "control/selection.h"
#include "session/remark.h"

/* What became of one source, over all processes; the best of its states counts. */
struct fate {
	char name[72];
	uint32_t state; /* KYMO_STATE_* */
	int is_seen;    /* a process knew of it */
	char reason[200], remedy[200];
	char broken[200]; /* why one that had begun failed before its end, or "" */
	char partly[404]; /* "why; remedy" where not all of a process was recorded */
	const struct ky_catalog *partly_in; /* that process's */
};

struct fates {
	struct fate *all;
	size_t count;
};

struct losses {
	uint64_t full, too_big, nested, overwritten, late, invalid, names;
	uint64_t exact, at_least, untimed, pending; /* as sources reported them */
};

static int has_recorded(uint32_t state)
{
	return state == KYMO_STATE_RECORDING || state == KYMO_STATE_PARTLY;
}

/* Copies a source's text as one line: it is shown on terminals. */
static void copy_line(char *out, size_t size, struct kymo_str text)
{
	size_t used = text.size < size - 1 ? text.size : size - 1;

	memcpy(out, text.data ? text.data : "", used);
	for (size_t i = 0; i < used; i++)
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			out[i] = '?';
	out[used] = '\0';
}

/* The fate of that name, made if need be; NULL when there is no memory. */
static struct fate *fate_of(struct fates *fates, struct kymo_str name)
{
	struct fate *grown;
	char text[sizeof(grown->name)];

	copy_line(text, sizeof(text), name);
	for (size_t i = 0; i < fates->count; i++)
		if (strcmp(fates->all[i].name, text) == 0)
			return &fates->all[i];
	grown = realloc(fates->all, (fates->count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	fates->all = grown;
	grown += fates->count++;
	*grown = (struct fate){.state = KYMO_STATE_ABSENT};
	memcpy(grown->name, text, sizeof(text));
	return grown;
}

static int add_wanted(struct fates *fates, const char *wanted)
{
	while (*wanted) {
		size_t size = strcspn(wanted, ",");

		if (size > 0 && !fate_of(fates, (struct kymo_str){wanted, size}))
			return 0;
		wanted += size + (wanted[size] == ',');
	}
	return 1;
}

/*
 * "why; remedy" of one process; another one in which all was recorded does not undo it.
 */
static void note_partly(struct fate *fate, const struct ky_state_entry *entry,
			const struct ky_catalog *catalog)
{
	char reason[sizeof(fate->reason)], remedy[sizeof(fate->remedy)];

	if (entry->state == KYMO_STATE_PARTLY) {
		copy_line(reason, sizeof(reason),
			  ky_catalog_string(catalog, entry->reason));
		copy_line(remedy, sizeof(remedy),
			  ky_catalog_string(catalog, entry->remedy));
		snprintf(fate->partly, sizeof(fate->partly), "%s%s%s", reason,
			 remedy[0] ? "; " : "", remedy);
		fate->partly_in = catalog;
	} else if (fate->partly_in == catalog) {
		fate->partly[0] = '\0';
	}
}

/* The name of the source that the state is of; nothing where there is none. */
static struct kymo_str source_of(const struct ky_catalog *catalog,
				 const struct ky_state_entry *entry)
{
	const struct ky_source_entry *source = ky_catalog_find(
		catalog, KY_ENTRY_SOURCE, entry->source, sizeof(*source), NULL);

	return source ? ky_catalog_string(catalog, source->name)
		      : (struct kymo_str){NULL, 0};
}

static int is_remark(struct kymo_str source)
{
	return source.size == strlen(KY_REMARK_SOURCE) &&
	       memcmp(source.data, KY_REMARK_SOURCE, source.size) == 0;
}

/* The last state of each source of one process. */
static int add_states(struct fates *fates, const struct ky_catalog *catalog)
{
	uint32_t count = ky_catalog_count(catalog, KY_ENTRY_STATE);

	for (uint32_t id = 1; id <= count; id++) {
		const struct ky_state_entry *entry = ky_catalog_find(
			catalog, KY_ENTRY_STATE, id, sizeof(*entry), NULL);
		struct kymo_str source;
		struct fate *fate;

		if (!entry)
			continue;
		source = source_of(catalog, entry);
		if (!source.data || is_remark(source))
			continue;
		fate = fate_of(fates, source);
		if (!fate)
			return 0;
		fate->is_seen = 1;
		note_partly(fate, entry, catalog);
		if (has_recorded(fate->state) && !has_recorded(entry->state)) {
			if (entry->state == KYMO_STATE_FAILED)
				copy_line(fate->broken, sizeof(fate->broken),
					  ky_catalog_string(catalog, entry->reason));
			continue;
		}
		fate->state = entry->state;
		copy_line(fate->reason, sizeof(fate->reason),
			  ky_catalog_string(catalog, entry->reason));
		copy_line(fate->remedy, sizeof(fate->remedy),
			  ky_catalog_string(catalog, entry->remedy));
	}
	return 1;
}

/* Whether the process is a recorder of its own, and what became of what it started. */
static void add_nested(struct ky_report *report, const struct ky_reader_capture *capture)
{
	const uint32_t count = ky_catalog_count(capture->catalog, KY_ENTRY_STATE);
	const struct ky_state_entry *last = NULL;
	char reason[sizeof(report->nested) - 48];

	for (uint32_t id = 1; id <= count; id++) {
		const struct ky_state_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_STATE, id, sizeof(*entry), NULL);

		if (entry && is_remark(source_of(capture->catalog, entry)))
			last = entry;
	}
	if (!last || last->state != KYMO_STATE_BUSY)
		return;
	if (report->nested_count++ > 0)
		return;
	copy_line(reason, sizeof(reason),
		  ky_catalog_string(capture->catalog, last->reason));
	snprintf(report->nested, sizeof(report->nested), "process %" PRIu64 " (%s): %s",
		 capture->header.pid, KY_REMARK_SOURCE, reason);
}

/*
 * Of those that were asked for: one that is known to a process and of which nothing was
 * said there is still in its create, prepare or start.
 */
static void add_loaded(struct fates *fates, const struct ky_catalog *catalog)
{
	const uint32_t count = ky_catalog_count(catalog, KY_ENTRY_SOURCE);

	for (uint32_t id = 1; id <= count; id++) {
		const struct ky_source_entry *source = ky_catalog_find(
			catalog, KY_ENTRY_SOURCE, id, sizeof(*source), NULL);
		char name[sizeof(fates->all->name)];

		if (!source)
			continue;
		copy_line(name, sizeof(name), ky_catalog_string(catalog, source->name));
		for (size_t i = 0; i < fates->count; i++) {
			struct fate *fate = &fates->all[i];

			if (fate->is_seen || strcmp(fate->name, name) != 0)
				continue;
			fate->is_seen = 1;
			fate->state = KYMO_STATE_READY;
			snprintf(fate->reason, sizeof(fate->reason),
				 "it was loaded, and had not begun at the end");
		}
	}
}

static void add_losses(struct losses *losses, const struct ky_reader_capture *capture)
{
	losses->full += capture->header.lost_full_unowned;
	losses->nested += capture->header.lost_nested_unowned;
	losses->names += capture->header.names_not_kept;
	for (size_t i = 0; i < capture->writer_count; i++) {
		losses->full += capture->writers[i].lost_full;
		losses->too_big += capture->writers[i].lost_too_big;
		losses->nested += capture->writers[i].lost_nested;
	}
	for (size_t i = 0; i < capture->source_count; i++) {
		const struct ky_source_counts *counts = &capture->sources[i];

		losses->exact += counts->lost[KYMO_LOST_VENDOR];
		losses->at_least += counts->lost[KYMO_LOST_VENDOR_AT_LEAST];
		losses->untimed += counts->lost[KYMO_LOST_UNTIMED];
		losses->late += counts->lost[KYMO_LOST_LATE];
		losses->invalid += counts->invalid;
		losses->pending += counts->lost[KYMO_LOST_PENDING];
		losses->overwritten += counts->overwritten;
	}
}

static void append(char *out, size_t size, const char *separator, const char *text)
{
	size_t used = strlen(out);
	int added =
		snprintf(out + used, size - used, "%s%s", used ? separator : "", text);

	if ((size_t)added >= size - used && size > 4)
		memcpy(out + size - 4, "...", 4);
}

/* "1,234" */
static void append_count(char *out, size_t size, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < length; i++) {
		char part[3] = {digits[i]};

		if (i < length - 1 && (length - i) % 3 == 1)
			part[1] = ',';
		append(out, size, "", part);
	}
}

static void tell_losses(const struct losses *losses, char *out, size_t size)
{
	const struct {
		const char *reason;
		uint64_t count;
	} rows[] = {
		{"buffer full", losses->full},
		{"too big", losses->too_big},
		{"nested in a signal handler", losses->nested},
		{"overwritten by newer ones", losses->overwritten},
		{"dropped by sources", losses->exact},
		{"dropped by sources, at least", losses->at_least},
		{"without a time", losses->untimed},
		{"came too late", losses->late},
		{"invalid", losses->invalid},
		{"not completed", losses->pending},
		{"names not kept", losses->names},
	};

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].count == 0)
			continue;
		append(out, size, ", ", rows[i].reason);
		append(out, size, " ", "");
		append_count(out, size, rows[i].count);
	}
}

static void tell_stopped(const struct ky_capture_header *header, char *out, size_t size)
{
	static const char *const reasons[] = {
		[KY_STREAM_LIMIT] = "the capture file reached its limit",
		[KY_STREAM_SPACE] = "the disk is nearly full",
		[KY_STREAM_FAILED] = "the capture file could not be written",
	};
	uint32_t reason = header->stream_stopped;

	if (reason != KY_STREAM_GOES_ON && reason < sizeof(reasons) / sizeof(reasons[0]))
		snprintf(out, size, "streaming stopped: %s", reasons[reason]);
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[KYMO_STATE_ABSENT] = "absent", [KYMO_STATE_READY] = "did not start",
		[KYMO_STATE_PARTLY] = "partly", [KYMO_STATE_RECORDING] = "recording",
		[KYMO_STATE_BUSY] = "busy",     [KYMO_STATE_DENIED] = "denied",
		[KYMO_STATE_FAILED] = "failed",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown state";
}

/* The program's own marks, which are no plug-in's. */
static int is_app(const char *name)
{
	return strcmp(name, KY_SOURCE_APP) == 0;
}

static void tell_fate(const struct fate *fate, char *out, size_t size)
{
	if (fate->broken[0]) {
		snprintf(out, size, "%s, since it failed: %s", fate->name, fate->broken);
		return;
	}
	snprintf(out, size, "%s: %s%s%s%s%s", fate->name,
		 fate->is_seen        ? state_name(fate->state)
		 : is_app(fate->name) ? "the program made no mark"
				      : "never loaded by the program",
		 fate->reason[0] ? ": " : "", fate->reason, fate->remedy[0] ? "; " : "",
		 fate->remedy);
}

static void tell_sources(const struct fates *fates, struct ky_report *report)
{
	for (size_t i = 0; i < fates->count; i++) {
		const struct fate *fate = &fates->all[i];
		char text[sizeof(*fate) + 32];

		tell_fate(fate, text, sizeof(text));
		if (!fate->is_seen && is_app(fate->name))
			continue; /* a program without marks is nothing to be told of */
		if (!fate->is_seen)
			append(report->absent, sizeof(report->absent), ", ", fate->name);
		else if (!has_recorded(fate->state) || fate->broken[0])
			append(report->failed, sizeof(report->failed), "; ", text);
		else if (fate->partly[0]) {
			snprintf(text, sizeof(text), "%s: %s", fate->name, fate->partly);
			append(report->partly, sizeof(report->partly), "\n", text);
		}
	}
}

static int32_t check_required(struct fates *fates, const char *const *require,
			      struct kymo_error *error)
{
	for (size_t i = 0; require && require[i]; i++) {
		const struct fate *fate =
			fate_of(fates, (struct kymo_str){require[i], strlen(require[i])});
		char text[sizeof(*fate) + 32];

		if (!fate)
			return ky_error_no_memory(error);
		if (has_recorded(fate->state))
			continue;
		tell_fate(fate, text, sizeof(text));
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "a required source did not record: %s", text);
	}
	return KYMO_OK;
}

int32_t ky_report_make(const char *path, const char *wanted, const char *const *require,
		       struct ky_report *report, struct kymo_error *error)
{
	struct fates fates = {0};
	struct losses losses = {0};
	struct ky_reader *reader = NULL;
	int32_t status = ky_reader_open(&reader, path, error);
	int has_memory;

	memset(report, 0, sizeof(*report));
	if (status)
		return status;
	has_memory = add_wanted(&fates, wanted);
	for (size_t i = 0; i < ky_reader_capture_count(reader) && has_memory; i++) {
		const struct ky_reader_capture *capture = ky_reader_capture(reader, i);

		add_losses(&losses, capture);
		add_nested(report, capture);
		tell_stopped(&capture->header, report->stopped, sizeof(report->stopped));
		has_memory = add_states(&fates, capture->catalog);
		add_loaded(&fates, capture->catalog);
	}
	tell_losses(&losses, report->losses, sizeof(report->losses));
	tell_sources(&fates, report);
	if (has_memory)
		status = check_required(&fates, require, error);
	else
		status = ky_error_no_memory(error);
	free(fates.all);
	ky_reader_close(reader);
	return status;
}
