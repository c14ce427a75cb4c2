/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as a bad source would make them: at every N-th span of the device all
 * faults that are wanted. Everything that goes to the host goes through here and is
 * counted, also when nothing is spoilt.
 */
#include "fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "source.h"

#define TEXT_SIZE 65536u

static atomic_ullong spans, records; /* so far */

static struct {
	pthread_mutex_t lock;
	union kymo_line held[FAKE_HELD_MAX];
	uint32_t held_count;
} late = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum fake_count count_of_kind(uint8_t kind)
{
	switch (kind) {
	case KYMO_KIND_SPAN:
		return FAKE_COUNT_SPAN;
	case KYMO_KIND_INSTANT:
		return FAKE_COUNT_INSTANT;
	case KYMO_KIND_COUNTER:
		return FAKE_COUNT_COUNTER;
	case KYMO_KIND_LINK:
		return FAKE_COUNT_LINK;
	case KYMO_KIND_OPEN:
		return FAKE_COUNT_OPEN;
	default:
		return FAKE_COUNT_OTHER;
	}
}

static enum fake_count count_of_status(int32_t status)
{
	switch (status) {
	case KYMO_OK:
		return FAKE_COUNT_OK;
	case KYMO_ERROR_NO_MEMORY:
		return FAKE_COUNT_NO_MEMORY;
	case KYMO_ERROR_STATE:
		return FAKE_COUNT_STATE;
	default:
		return FAKE_COUNT_INVALID;
	}
}

int32_t fake_spoil_give(const union kymo_line *lines, uint32_t line_count)
{
	const int32_t status =
		fake_faults.real->emit(fake_faults.self, lines, line_count);

	fake_report_add(count_of_kind(lines->record.kind), 1);
	fake_report_add(count_of_status(status), 1);
	return status;
}

static void spoil_times(struct kymo_record *record)
{
	if (fake_fault_is_wanted(FAKE_FAULT_ZERO)) {
		record->begin = record->end = 0;
		fake_fault_count(FAKE_FAULT_ZERO);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_BACKWARDS)) {
		record->begin = record->end + 1000;
		fake_fault_count(FAKE_FAULT_BACKWARDS);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_WINDOW)) {
		record->begin += 3600 * fake_faults.rate;
		record->end += 3600 * fake_faults.rate;
		fake_fault_count(FAKE_FAULT_WINDOW);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_OVERLAP)) {
		record->end += (record->end - record->begin) / 2 + 1;
		fake_fault_count(FAKE_FAULT_OVERLAP);
	}
}

/* Numbers that nobody gave. */
static void spoil_numbers(struct kymo_record *record)
{
	static const struct {
		enum fake_fault fault;
		size_t offset, size;
	} fields[] = {
		{FAKE_FAULT_TYPE, offsetof(struct kymo_record, type),
		 sizeof(record->type)},
		{FAKE_FAULT_TRACK, offsetof(struct kymo_record, track),
		 sizeof(record->track)},
		{FAKE_FAULT_DOMAIN, offsetof(struct kymo_record, domain),
		 sizeof(record->domain)},
		{FAKE_FAULT_NAME, offsetof(struct kymo_record, name),
		 sizeof(record->name)},
		{FAKE_FAULT_ATTRIBUTES, offsetof(struct kymo_record, attributes),
		 sizeof(record->attributes)},
		{FAKE_FAULT_KEY_NUMBER, offsetof(struct kymo_record, key),
		 sizeof(record->key[0])},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!fake_fault_is_wanted(fields[i].fault))
			continue;
		memset((char *)record + fields[i].offset, 0xfe, fields[i].size);
		fake_fault_count(fields[i].fault);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_UNWANTED)) {
		record->type = fake_source.types[POLL];
		fake_fault_count(FAKE_FAULT_UNWANTED);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_SAME)) {
		record->correlation = 1;
		fake_fault_count(FAKE_FAULT_SAME);
	}
}

/* What is no record at all. */
static void spoil_form(struct kymo_record *record, uint64_t number)
{
	static const uint8_t lines[] = {0, 2, 255};
	static const uint8_t kinds[] = {0, KYMO_KIND_LEASE, 63, KYMO_KIND_BYTES,
					KYMO_KIND_PAD};

	if (fake_fault_is_wanted(FAKE_FAULT_LINES)) {
		record->lines = lines[number % sizeof(lines)];
		fake_fault_count(FAKE_FAULT_LINES);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_KIND)) {
		record->kind = kinds[number % sizeof(kinds)];
		fake_fault_count(FAKE_FAULT_KIND);
	}
}

static void lose(uint64_t number)
{
	/* One of no reason that there is, which nobody can count. */
	const uint32_t reason = (uint32_t)(number % (KYMO_LOST_PENDING + 2));

	fake_faults.real->lost(fake_faults.self, reason, 3);
	if (reason >= KYMO_LOST_VENDOR && reason <= KYMO_LOST_PENDING)
		fake_report_add(FAKE_COUNT_LOST, 3);
	fake_fault_count(FAKE_FAULT_LOSSES);
}

/* Keeps the record for after the session; 0 if there is no room. */
static int hold(const union kymo_line *line)
{
	int is_held;

	pthread_mutex_lock(&late.lock);
	is_held = late.held_count < FAKE_HELD_MAX;
	if (is_held)
		late.held[late.held_count++] = *line;
	pthread_mutex_unlock(&late.lock);
	return is_held;
}

/* A span of the device, which has one line. */
static int32_t spoil(const union kymo_line *line, uint64_t number)
{
	union kymo_line bad = *line;

	spoil_times(&bad.record);
	spoil_numbers(&bad.record);
	spoil_form(&bad.record, number);
	if (fake_fault_is_wanted(FAKE_FAULT_LOSSES))
		lose(number);
	if (fake_fault_is_wanted(FAKE_FAULT_TWICE)) {
		fake_spoil_give(&bad, 1);
		fake_fault_count(FAKE_FAULT_TWICE);
	}
	if (fake_fault_is_wanted(FAKE_FAULT_LATE) && hold(&bad)) {
		fake_fault_count(FAKE_FAULT_LATE);
		return KYMO_OK;
	}
	return fake_spoil_give(&bad, 1);
}

static void end_process(void)
{
	if (fake_fault_is_wanted(FAKE_FAULT_KILL))
		kill(getpid(), SIGKILL);
	if (fake_fault_is_wanted(FAKE_FAULT_CRASH)) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
}

int32_t fake_spoil_emit(struct kymo_source_host *self, const union kymo_line *lines,
			uint32_t line_count)
{
	const struct kymo_record *record = &lines->record;

	(void)self;
	if ((fake_fault_is_wanted(FAKE_FAULT_KILL) ||
	     fake_fault_is_wanted(FAKE_FAULT_CRASH)) &&
	    atomic_fetch_add(&records, 1) == fake_faults.at)
		end_process();
	if (fake_faults.wanted && record->kind == KYMO_KIND_SPAN && record->track != 0) {
		const uint64_t number = atomic_fetch_add(&spans, 1);

		if (number % fake_faults.every == 0)
			return spoil(lines, number / fake_faults.every);
	}
	return fake_spoil_give(lines, line_count);
}

void fake_spoil_lost(struct kymo_source_host *self, uint32_t reason, uint64_t count)
{
	fake_report_add(FAKE_COUNT_LOST, count);
	fake_faults.real->lost(self, reason, count);
}

/* Kernels' names become 64 KiB of every byte there is, most of which is no UTF-8. */
uint32_t fake_spoil_string(struct kymo_source_host *self, struct kymo_str text)
{
	static const char prefix[] = "kernel_";
	char *bad;
	uint32_t number;

	if (!fake_fault_is_wanted(FAKE_FAULT_NAMES) || text.size < sizeof(prefix) ||
	    memcmp(text.data, prefix, sizeof(prefix) - 1) != 0)
		return fake_faults.real->string(self, text);
	bad = malloc(TEXT_SIZE);
	if (!bad)
		return fake_faults.real->string(self, text);
	for (size_t i = 0; i < TEXT_SIZE; i++)
		bad[i] = i < text.size ? text.data[i] : (char)(i * 7);
	number = fake_faults.real->string(self, (struct kymo_str){bad, TEXT_SIZE});
	free(bad);
	fake_fault_count(FAKE_FAULT_NAMES);
	return number;
}

void fake_spoil_give_held(void)
{
	pthread_mutex_lock(&late.lock);
	for (uint32_t i = 0; i < late.held_count; i++)
		fake_spoil_give(&late.held[i], 1);
	late.held_count = 0;
	pthread_mutex_unlock(&late.lock);
}

void fake_spoil_forked(void)
{
	pthread_mutex_init(&late.lock, NULL);
	late.held_count = 0;
	atomic_store(&spans, 0);
	atomic_store(&records, 0);
}
