/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: a small capture that is made, run through the timeline and looked at.
 * Include "support/test.h" before.
 */
#ifndef KYMO_TIMELINE_TRACE_SETUP_H
#define KYMO_TIMELINE_TRACE_SETUP_H

#include <inttypes.h>
#include <stdio.h>

#include "capture/build_capture.h"
#include "timeline/memory_sink.h"
#include "timeline/timeline.h"

#define T(ns) (BUILD_ATTACH + (ns))

/* A capture with one thread (track 1), one device with one queue (track 2). */
struct setup {
	struct build *build;
	uint32_t source, thread, device, queue, name;
	uint16_t runtime, kernel, copy, domain, bytes;
};

static inline struct setup begin(void)
{
	struct setup s = {.build = build_new()};

	s.source = build_source(s.build, "fake");
	s.runtime = build_type(s.build, s.source, "runtime", 7);
	s.kernel = build_type(s.build, s.source, "kernel", 5);
	s.copy = build_type(s.build, s.source, "gpu_memcpy", 3);
	s.domain = build_domain(s.build, s.source, "fake.command", KYMO_DOMAIN_SOURCE);
	s.bytes = build_key(s.build, "bytes", KYMO_VALUE_UINT64);
	s.thread = build_thread(s.build, 501, "main");
	s.device = build_device(s.build, s.source, 0);
	s.queue = build_queue(s.build, s.device, 0x7f0000001234, 0);
	s.name = build_text(s.build, "launch \"x\"\n");
	build_lease(s.build, s.thread, T(0));
	return s;
}

static inline void add_span(struct setup *s, uint32_t track, uint64_t begin_ns,
			    uint64_t end_ns)
{
	build_record(s->build, KYMO_KIND_SPAN,
		     (struct kymo_record){.track = track,
					  .type = track ? s->kernel : s->runtime,
					  .name = s->name,
					  .begin = T(begin_ns),
					  .end = T(end_ns)});
}

static inline void add_correlated(struct setup *s, uint32_t track, uint64_t begin_ns,
				  uint16_t flags, uint64_t correlation)
{
	build_record(s->build, KYMO_KIND_SPAN,
		     (struct kymo_record){.track = track,
					  .flags = flags,
					  .type = track ? s->kernel : s->runtime,
					  .domain = s->domain,
					  .name = s->name,
					  .begin = T(begin_ns),
					  .end = T(begin_ns + 10),
					  .correlation = correlation});
}

static inline struct memory_sink run_files(struct build **builds, size_t count)
{
	struct memory_sink sink = {.keep = 1};
	struct ky_reader *readers[4] = {NULL};
	struct kymo_error error = {0};

	for (size_t i = 0; i < count; i++) {
		if (ky_reader_open(&readers[i], build_save(builds[i]), &error) != KYMO_OK)
			fail_msg("%s", error.message);
	}
	if (ky_timeline_run(readers, count, &memory_ops, &sink, NULL, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	assert_true(sink.ended);
	for (size_t i = 0; i < count; i++) {
		ky_reader_close(readers[i]);
		build_free(builds[i]);
	}
	return sink;
}

static inline struct memory_sink run(struct setup *s)
{
	build_finish(s->build, T(BUILD_SECOND));
	return run_files(&s->build, 1);
}

/* "track.lane begin-end" of all spans, in order; times from the attach on. */
static inline void describe(const struct memory_sink *sink, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < sink->count; i++) {
		const struct memory_event *at = &sink->events[i];
		size_t used = strlen(out);

		if (at->event.kind == KYMO_EVENT_SPAN)
			snprintf(out + used, size - used,
				 "%s%" PRIu64 ".%u %" PRId64 "-%" PRId64,
				 used ? ", " : "", at->track.native, at->track.lane,
				 at->event.begin_ns - (int64_t)BUILD_ATTACH,
				 at->event.end_ns - (int64_t)BUILD_ATTACH);
	}
}

#endif
