/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each source is an instance with a state; the session says which state it should be in.
 * Whoever changes what should be (a session begins or ends, a plug-in comes) drives the
 * instances there, step by step. A step claims its instance, so that one thread at a time
 * is in a source's operations, and looks again afterwards, so that nobody has to wait for
 * a thread that is inside: that thread takes the next step as well.
 *
 * source_lock protects the list, states and claims, and is not held in an operation.
 */
#include "session/source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "capture/gate.h"
#include "session/host.h"
#include "session/instance.h"
#include "session/wanted.h"
#include "session/wanted_types.h"

#define POLL_NS 500000 /* of a claim */

static struct {
	struct ky_instance instances[KY_SOURCES_MAX];
	uint32_t count;
	uint32_t is_active; /* as page->sources_active, but inherited by children */
	char wanted[KY_WANTED_MAX];
} sources;

static void pause_shortly(void)
{
	const struct timespec step = {0, POLL_NS};

	nanosleep(&step, NULL);
}

static struct ky_type_source describe(const struct ky_instance *instance)
{
	const struct kymo_source_host *host = instance->host;

	return (struct ky_type_source){
		.name = host->desc->name,
		.plugin = host->plugin->name,
		.types = host->desc->types,
	};
}

/* By its name; source_lock held. */
static int is_named(const struct ky_instance *instance, const char *wanted)
{
	const struct kymo_source_desc *desc = instance->host->desc;

	return ky_wanted_has(wanted, desc->name, desc->flags & KYMO_SOURCE_EXPLICIT);
}

/* One of its types is wanted. */
static int has_wanted_types(const struct ky_instance *instance)
{
	const struct ky_type_source source = describe(instance);

	return ky_wanted_types_has_any(&source);
}

/* What brings the instance nearer to where it should be, or NULL. source_lock held. */
static ky_step_fn next_step(const struct ky_instance *instance)
{
	const struct ky_session_page *page = ky_session_page();

	return ky_instance_next(
		instance,
		page->sources_active && instance->failed_epoch != page->sources_epoch &&
			is_named(instance, sources.wanted) && has_wanted_types(instance));
}

/* Why a source that was asked for stays out is said; all else is its own affair. */
static void tell_left_out(const struct ky_instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int is_left_out;

	ky_lock(lock);
	is_left_out = ky_session_page()->sources_active &&
		      is_named(instance, sources.wanted) && !has_wanted_types(instance);
	ky_unlock(lock);
	if (is_left_out)
		ky_host_set_state(instance->host, KYMO_STATE_READY,
				  "none of its activity types is wanted", NULL);
}

static void release(struct ky_instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;

	ky_lock(lock);
	instance->is_claimed = 0;
	ky_unlock(lock);
}

/* Takes every step that is to be taken; false if another thread is about to. */
static int drive(struct ky_instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;

	for (;;) {
		ky_step_fn step = NULL;
		int is_claimed;

		ky_lock(lock);
		is_claimed = (int)instance->is_claimed;
		if (!is_claimed)
			step = next_step(instance);
		if (step)
			instance->is_claimed = 1;
		ky_unlock(lock);
		if (!step)
			return !is_claimed;
		step(instance);
		release(instance);
	}
}

static uint32_t instance_count(void)
{
	return __atomic_load_n(&sources.count, __ATOMIC_ACQUIRE);
}

/*
 * The first call in a forked child finds the page wiped. Threads that were in an
 * operation are gone, and with them their claims; what ran in the parent does not run
 * here.
 */
static void know_process(void)
{
	struct ky_session_page *page = ky_session_page();
	uint32_t *lock = &ky_gate()->source_lock;
	uint32_t count;

	ky_lock(lock);
	count = page->sources_known ? 0 : sources.count;
	__atomic_store_n(&page->sources_known, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < count; i++)
		ky_instance_reset(&sources.instances[i]);
	ky_unlock(lock);

	for (uint32_t i = 0; i < count; i++) {
		struct ky_instance *instance = &sources.instances[i];

		if (!instance->is_claimed)
			continue;
		ky_instance_tell_forked(instance);
		release(instance);
	}
}

static int is_known(const struct kymo_plugin *plugin)
{
	for (uint32_t i = 0; i < sources.count; i++)
		if (sources.instances[i].host->plugin == plugin)
			return 1;
	return 0;
}

/* So that they can be looked up before the source is created. */
static void know_types(const struct ky_instance *instance)
{
	const struct kymo_source_host *host = instance->host;

	for (size_t i = 0; ky_types() && host->desc->types && host->desc->types[i]; i++) {
		uint32_t number, flags;

		/* What is wrong with it is said when it is created. */
		ky_type_declare(ky_types(), host->plugin->name, host->desc->types[i],
				&number, &flags, NULL);
	}
}

/* Adds one source; further ones of the same name get a number. source_lock held. */
static int32_t add_instance(const struct kymo_plugin *plugin,
			    const struct kymo_source_desc *desc, struct kymo_error *error)
{
	uint32_t ordinal = 1;
	struct ky_instance *instance;

	if (sources.count == KY_SOURCES_MAX)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "the plug-in \"%s\" brings more sources than the %u "
				    "that one process can have",
				    plugin->name, KY_SOURCES_MAX);
	for (uint32_t i = 0; i < sources.count; i++)
		if (strcmp(sources.instances[i].host->desc->name, desc->name) == 0)
			ordinal++;
	instance = &sources.instances[sources.count];
	*instance = (struct ky_instance){
		.host = ky_host_create(plugin, desc, ordinal),
		.ops = desc->ops,
	};
	if (!instance->host)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for the source \"%s\", or no room for its "
				    "name in the dictionary",
				    desc->name);
	know_types(instance);
	/* Pairs with the acquire of instance_count(): it is whole now. */
	__atomic_store_n(&sources.count, sources.count + 1, __ATOMIC_RELEASE);
	return KYMO_OK;
}

int32_t ky_sources_add(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int32_t status = KYMO_OK;
	uint32_t first;

	know_process();
	ky_lock(lock);
	first = sources.count;
	if (!is_known(plugin))
		for (size_t i = 0; plugin->sources && plugin->sources[i]; i++)
			if (status == KYMO_OK)
				status = add_instance(plugin, plugin->sources[i], error);
	ky_unlock(lock);
	/* Those that were added are driven even where a further one did not fit. */
	for (uint32_t i = first; i < instance_count(); i++) {
		tell_left_out(&sources.instances[i]);
		drive(&sources.instances[i]);
	}
	return status;
}

/* Goes on with what is to be active now, whatever was before. */
static void drive_all(void)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		drive(&sources.instances[i]);
}

/* The same for a recording that begins. */
static void begin_all(void)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		tell_left_out(&sources.instances[i]);
	drive_all();
}

/* source_lock held. */
static void activate(uint32_t epoch)
{
	struct ky_session_page *page = ky_session_page();

	page->sources_epoch = epoch;
	page->sources_deadline_ns = 0;
	page->sources_paused = 0;
	/* Pairs with has_listeners(): the sources know their process by now. */
	__atomic_store_n(&page->sources_active, 1, __ATOMIC_RELEASE);
	sources.is_active = 1;
}

void ky_sources_begin(const char *wanted, uint32_t epoch)
{
	uint32_t *lock = &ky_gate()->source_lock;

	know_process();
	ky_lock(lock);
	snprintf(sources.wanted, sizeof(sources.wanted), "%s", wanted);
	activate(epoch);
	ky_unlock(lock);
	begin_all();
}

void ky_sources_pause(uint32_t paused)
{
	uint32_t *lock = &ky_gate()->source_lock;

	ky_lock(lock);
	ky_session_page()->sources_paused = paused;
	ky_unlock(lock);
	drive_all();
}

void ky_sources_end(uint64_t deadline_ns)
{
	struct ky_session_page *page = ky_session_page();
	uint32_t *lock = &ky_gate()->source_lock;

	know_process();
	ky_lock(lock);
	__atomic_store_n(&page->sources_active, 0, __ATOMIC_RELEASE);
	page->sources_deadline_ns = deadline_ns;
	sources.is_active = 0;
	ky_unlock(lock);
	for (uint32_t i = 0; i < instance_count(); i++)
		while (!drive(&sources.instances[i]) && ky_monotonic_ns() < deadline_ns)
			pause_shortly();
}

void ky_sources_forked(void)
{
	uint32_t *lock = &ky_gate()->source_lock;

	know_process();
	ky_lock(lock);
	if (sources.is_active && ky_gate_epoch() != 0)
		activate(ky_gate_epoch());
	ky_unlock(lock);
	begin_all();
}

/*
 * Whether regions are to be told. In a forked child the sources have to know that it is
 * one before anything else is asked of them, which the gate's decision sees to.
 */
static int has_listeners(void)
{
	const struct ky_session_page *page = ky_session_page();

	ky_gate_decide();
	return __atomic_load_n(&page->sources_known, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&page->sources_active, __ATOMIC_ACQUIRE);
}

void ky_sources_push(uint16_t domain, uint64_t value)
{
	if (!has_listeners())
		return;
	for (uint32_t i = 0; i < instance_count(); i++)
		ky_instance_push(&sources.instances[i], domain, value);
}

void ky_sources_pop(uint16_t domain)
{
	if (!has_listeners())
		return;
	for (uint32_t i = 0; i < instance_count(); i++)
		ky_instance_pop(&sources.instances[i], domain);
}

static struct ky_instance *find_instance(const struct kymo_source_host *host)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		if (sources.instances[i].host == host)
			return &sources.instances[i];
	return NULL;
}

static int claim(struct ky_instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int is_free;

	ky_lock(lock);
	is_free = !instance->is_claimed;
	instance->is_claimed = 1;
	ky_unlock(lock);
	return is_free;
}

void ky_sources_drain(const struct ky_drain *drain, uint64_t deadline_ns)
{
	struct ky_instance *instance = find_instance(drain->host);

	if (!instance)
		return;
	while (!claim(instance)) {
		if (ky_monotonic_ns() >= deadline_ns)
			return;
		pause_shortly();
	}
	ky_instance_drain(instance, drain, deadline_ns);
	release(instance);
	drive(instance); /* the step that somebody left to us meanwhile */
}

size_t ky_sources_describe(const char *wanted, struct ky_type_source *out)
{
	uint32_t *lock = &ky_gate()->source_lock;
	size_t count = 0;

	know_process();
	ky_lock(lock);
	for (uint32_t i = 0; i < sources.count; i++)
		if (is_named(&sources.instances[i], wanted))
			out[count++] = describe(&sources.instances[i]);
	ky_unlock(lock);
	return count;
}

int32_t ky_sources_option(const char *source, const char *option, char *out, size_t size)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int32_t status = KYMO_ERROR_NOT_FOUND;
	struct kymo_str value;

	ky_lock(lock);
	value = ky_wanted_option(sources.wanted, source, option);
	if (value.data) {
		status = value.size < size ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
		if (status == KYMO_OK)
			snprintf(out, size, "%.*s", (int)value.size, value.data);
	}
	ky_unlock(lock);
	return status;
}
