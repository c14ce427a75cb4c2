/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of this folder: a recording of this process, without a session around it.
 * Comes after "support/test.h".
 */
#ifndef KYMO_SESSION_TEST_RECORDING_H
#define KYMO_SESSION_TEST_RECORDING_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "capture/lease.h"
#include "record/dictionary.h"
#include "session/embedded.h"

static struct ky_embedded *recording;

static inline size_t count_threads(const char *name)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		char path[300], text[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue; /* no thread, or no more */
		if (fgets(text, sizeof(text), file))
			count += strcmp(text, name) == 0;
		fclose(file);
	}
	closedir(folder);
	return count;
}

/*
 * Until there are no more of the library's than those that are stuck; nobody joins them.
 * Before a fork as well: to the thread sanitizer the child has those that have ended.
 */
static inline void wait_for_threads_but(size_t stuck)
{
	for (int i = 0; i < 60000 && count_threads("kymo\n") > stuck; i++)
		usleep(1000);
	assert_int_equal(count_threads("kymo\n"), stuck);
	/* Which a sanitizer does not know: they ended with this lock. */
	ky_lock(&ky_gate()->pool_lock);
	ky_unlock(&ky_gate()->pool_lock);
}

static inline void wait_for_threads(void)
{
	wait_for_threads_but(0);
}

static inline void begin_recording(void)
{
	struct ky_embedded *before = recording; /* a child's: its parent's */
	struct ky_capture *capture;

	assert_int_not_equal(ky_gate_decide(), KYMO_GATE_ON);
	assert_int_equal(
		ky_embedded_create(&recording, KY_BUDGET_MIN, KY_OVERFLOW_DROP, 1, NULL),
		KYMO_OK);
	recording->next = before;
	capture = &recording->capture;
	ky_capture_identify(capture, 0);
	assert_int_equal(ky_dictionary_mirror(capture->dictionary,
					      capture->dictionary_size,
					      &capture->header->dictionary_tail,
					      &capture->header->names_not_kept),
			 KYMO_OK);
	assert_int_equal(ky_gate_open(capture), KYMO_OK);
}

static inline void end_recording(void)
{
	ky_capture_cut(&recording->capture);
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
	ky_embedded_retire(recording);
	recording = NULL;
}

/* Lines of the given kind that are committed, the last of them in `*last`. */
static inline size_t count_lines_of_kind(uint8_t kind, struct kymo_record *last)
{
	size_t count = 0;

	for (uint32_t i = 0; i < recording->capture.chunk_count; i++) {
		const struct ky_chunk_header *header =
			(const void *)ky_capture_chunk(&recording->capture, i);
		const struct kymo_record *lines = (const void *)(header + 1);

		for (uint32_t line = 0; line < header->head; line++) {
			if (lines[line].kind != kind)
				continue;
			count++;
			if (last)
				*last = lines[line];
		}
	}
	return count;
}

/* The payload of the last dictionary entry of that kind, or NULL. */
static inline const void *last_entry(uint16_t kind, size_t *count)
{
	const uint8_t *at = recording->capture.dictionary;
	const uint8_t *end = at + recording->capture.header->dictionary_tail;
	const void *found = NULL;

	*count = 0;
	while (at < end) {
		const struct ky_dictionary_entry *entry = (const void *)at;

		if (entry->kind == kind) {
			found = entry + 1;
			++*count;
		}
		at += sizeof(*entry) + ((size_t)entry->size + 7) / 8 * 8;
	}
	return found;
}

/* The string of the dictionary that has the number; until the next call. */
static inline const char *text_of(uint32_t id)
{
	static char text[256];
	const uint8_t *at = recording->capture.dictionary;
	const struct ky_dictionary_entry *string = (const void *)at;

	while (string->kind != KY_ENTRY_STRING || string->id != id) {
		at += sizeof(*string) + ((size_t)string->size + 7) / 8 * 8;
		string = (const void *)at;
	}
	snprintf(text, sizeof(text), "%.*s", (int)string->size,
		 (const char *)(string + 1));
	return text;
}

#endif
