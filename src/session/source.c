/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each source is an instance with a state; the session says which state it should be in.
 * Whoever changes what should be (a session begins or ends, a plug-in comes) drives the
 * instances there, step by step. Who drives has claimed the instance, so that one thread
 * at a time is in a source's operations, and looks again before it lets go, so that
 * nobody has to wait for a thread that is inside: that thread takes the next step as
 * well.
 *
 * An operation that does not return cannot be taken back. So where somebody waits for
 * sources a thread of ours drives each; when time is up the instance is abandoned to it.
 * What a vendor's loader brings in its own thread drives, since that may hold locks.
 *
 * source_lock protects the list, states and claims, and is not held in an operation.
 */
#include "session/source.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"
#include "capture/gate.h"
#include "session/host.h"
#include "session/instance.h"
#include "session/wanted.h"
#include "session/wanted_types.h"

#define PATIENCE_NS 50000000u  /* with one source, before the next is driven too */
#define GRACE_NS    250000000u /* for one that has kept its deadline to come back */

static struct {
	struct ky_instance instances[KY_SOURCES_MAX];
	uint32_t count;
	uint32_t is_active; /* as page->sources_active, but inherited by children */
	char wanted[KY_WANTED_MAX];
} sources;

static void lock_sources(void)
{
	ky_lock(&ky_gate()->source_lock);
}

static void unlock_sources(void)
{
	ky_unlock(&ky_gate()->source_lock);
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

/* Whether it should be part of what is recorded. source_lock held. */
static int is_wanted(const struct ky_instance *instance)
{
	const struct ky_session_page *page = ky_session_page();

	return page->sources_active && instance->failed_epoch != page->sources_epoch &&
	       is_named(instance, sources.wanted) && has_wanted_types(instance);
}

/* Why a source that was asked for stays out is said; all else is its own affair. */
static void tell_left_out(const struct ky_instance *instance)
{
	int is_left_out;

	lock_sources();
	is_left_out = ky_session_page()->sources_active &&
		      is_named(instance, sources.wanted) && !has_wanted_types(instance);
	unlock_sources();
	if (is_left_out)
		ky_host_set_state(instance->host, KYMO_STATE_READY,
				  "none of its activity types is wanted", NULL);
}

/* ---- Driving ---- */

/* True if the caller is to drive it. source_lock held. */
static int claim(struct ky_instance *instance)
{
	if (instance->is_claimed || !ky_instance_next(instance, is_wanted(instance)))
		return 0;
	instance->is_claimed = 1;
	return 1;
}

/* The next step of one that is claimed; if there is none the claim is given back. */
static ky_step_fn take_step(struct ky_instance *instance)
{
	ky_step_fn step;

	lock_sources();
	/* Whatever it was abandoned in has returned. */
	__atomic_store_n(&instance->host->is_abandoned, 0, __ATOMIC_RELAXED);
	step = ky_instance_next(instance, is_wanted(instance));
	instance->is_claimed = step != NULL;
	unlock_sources();
	return step;
}

/* Takes every step that is to be taken; the instance is claimed. */
static void drive_claimed(void *context)
{
	struct ky_instance *instance = context;
	ky_step_fn step;

	while ((step = take_step(instance)) != NULL)
		step(instance);
	ky_tell_change(&ky_session_page()->source_change);
}

/* The same, unless another thread does. */
static void drive(struct ky_instance *instance)
{
	int is_ours;

	lock_sources();
	is_ours = claim(instance);
	unlock_sources();
	if (is_ours)
		drive_claimed(instance);
}

/*
 * The same, by a thread that can be given up; without one, by this one. What is inside
 * since an earlier session is no part of this one.
 */
static void drive_beside(struct ky_instance *instance)
{
	int is_ours;

	lock_sources();
	is_ours = claim(instance);
	if (instance->host->is_abandoned && is_wanted(instance)) {
		instance->failed_epoch = ky_session_page()->sources_epoch;
		ky_instance_refuse(instance);
	}
	unlock_sources();
	if (is_ours && ky_thread_start(drive_claimed, instance) != KYMO_OK)
		drive_claimed(instance);
}

/* A thread is in it that is waited for. source_lock held. */
static int is_busy(const struct ky_instance *instance)
{
	return instance->is_claimed && !instance->host->is_abandoned;
}

/* Waits until nobody is in it; false if somebody still is then. */
static int wait_for(const struct ky_instance *instance, uint64_t due_ns)
{
	uint32_t *change = &ky_session_page()->source_change;

	for (;;) {
		const uint32_t seen = __atomic_load_n(change, __ATOMIC_ACQUIRE);
		int must_wait;

		lock_sources();
		must_wait = is_busy(instance);
		unlock_sources();
		if (!must_wait)
			return 1;
		if (ky_monotonic_ns() >= due_ns)
			return 0;
		ky_wait_for_change(change, seen, due_ns);
	}
}

/* Time is up: unless it has come back meanwhile, it is abandoned. */
static void give_up(struct ky_instance *instance)
{
	lock_sources();
	if (is_busy(instance)) {
		instance->failed_epoch = ky_session_page()->sources_epoch;
		instance->drain.drain = NULL;
		ky_instance_give_up(instance);
	}
	unlock_sources();
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
	uint32_t count;

	lock_sources();
	count = page->sources_known ? 0 : sources.count;
	__atomic_store_n(&page->sources_known, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < count; i++)
		ky_instance_reset(&sources.instances[i]);
	unlock_sources();

	for (uint32_t i = 0; i < count; i++) {
		struct ky_instance *instance = &sources.instances[i];

		if (!instance->is_claimed)
			continue;
		ky_instance_tell_forked(instance);
		lock_sources();
		instance->is_claimed = 0;
		unlock_sources();
	}
}

/*
 * Whether it is known. What of it could not be created may be by now, since it comes with
 * the runtime that was missing: that it has failed in this session is over. source_lock
 * held.
 */
static int recognise(const struct kymo_plugin *plugin)
{
	int is_known = 0;

	for (uint32_t i = 0; i < sources.count; i++) {
		struct ky_instance *instance = &sources.instances[i];

		if (instance->host->plugin != plugin)
			continue;
		is_known = 1;
		/* In this order: whoever is in it changes its state without the lock. */
		if (!instance->is_claimed && instance->state == KY_NEW)
			instance->failed_epoch = 0;
	}
	return is_known;
}

/* Adds one source; further ones of the same name get a number. source_lock held. */
static int32_t add_instance(const struct kymo_plugin *plugin,
			    const struct kymo_source_desc *desc, struct kymo_error *error)
{
	uint32_t ordinal = 1;
	struct ky_instance *instance;
	struct ky_type_source source;

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
	source = describe(instance);
	if (ky_types())
		ky_type_declare_all(ky_types(), &source);
	/* Pairs with the acquire of instance_count(): it is whole now. */
	__atomic_store_n(&sources.count, sources.count + 1, __ATOMIC_RELEASE);
	return KYMO_OK;
}

int32_t ky_sources_add(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	int32_t status = KYMO_OK;
	uint32_t first;

	know_process();
	lock_sources();
	first = sources.count;
	if (!recognise(plugin))
		for (size_t i = 0; plugin->sources && plugin->sources[i]; i++)
			if (status == KYMO_OK)
				status = add_instance(plugin, plugin->sources[i], error);
	unlock_sources();
	/* Those that were added are driven even where a further one did not fit. */
	for (uint32_t i = 0; i < instance_count(); i++) {
		struct ky_instance *instance = &sources.instances[i];

		if (i >= first)
			tell_left_out(instance);
		if (instance->host->plugin == plugin)
			drive(instance);
	}
	return status;
}

/*
 * Brings all where they are to be; those that are not there at the deadline are given up.
 * They come one after the other, but who takes his time does not take the others'.
 * Deadline 0: all steps are the caller's, however long they take.
 */
static void settle(uint64_t deadline_ns)
{
	if (__atomic_load_n(&ky_session_page()->sources_left, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < instance_count(); i++) {
		struct ky_instance *instance = &sources.instances[i];

		if (deadline_ns == 0) {
			drive(instance);
		} else {
			drive_beside(instance);
			wait_for(instance, ky_monotonic_ns() + PATIENCE_NS);
		}
	}
	for (uint32_t i = 0; deadline_ns != 0 && i < instance_count(); i++)
		if (!wait_for(&sources.instances[i], deadline_ns + GRACE_NS))
			give_up(&sources.instances[i]);
}

static void tell_all_left_out(void)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		tell_left_out(&sources.instances[i]);
}

/* source_lock held. */
static void activate(uint32_t epoch)
{
	struct ky_session_page *page = ky_session_page();

	__atomic_store_n(&page->sources_epoch, epoch, __ATOMIC_RELAXED);
	__atomic_store_n(&page->sources_deadline_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&page->sources_paused, 0, __ATOMIC_RELAXED);
	/* Pairs with has_listeners(): the sources know their process by now. */
	__atomic_store_n(&page->sources_active, 1, __ATOMIC_RELEASE);
	sources.is_active = 1;
}

void ky_sources_begin(const char *wanted, uint32_t epoch, uint64_t deadline_ns)
{
	know_process();
	lock_sources();
	snprintf(sources.wanted, sizeof(sources.wanted), "%s", wanted);
	activate(epoch);
	unlock_sources();
	tell_all_left_out();
	settle(deadline_ns);
}

int32_t ky_sources_refusal(struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	lock_sources();
	for (uint32_t i = 0; i < sources.count && status == KYMO_OK; i++)
		status =
			ky_instance_refusal(&sources.instances[i], sources.wanted, error);
	unlock_sources();
	return status;
}

void ky_sources_pause(uint32_t paused, uint64_t deadline_ns)
{
	lock_sources();
	__atomic_store_n(&ky_session_page()->sources_paused, paused, __ATOMIC_RELAXED);
	unlock_sources();
	settle(deadline_ns);
}

void ky_sources_end(uint64_t deadline_ns)
{
	struct ky_session_page *page = ky_session_page();

	know_process();
	lock_sources();
	__atomic_store_n(&page->sources_active, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&page->sources_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
	sources.is_active = 0;
	unlock_sources();
	settle(deadline_ns);
}

void ky_sources_leave(void)
{
	ky_host_drain_all();
	/* Steps are taken with it held: none begins from here on. */
	lock_sources();
	__atomic_store_n(&ky_session_page()->sources_left, 1, __ATOMIC_RELAXED);
	unlock_sources();
}

void ky_sources_forked(void)
{
	know_process();
	lock_sources();
	if (sources.is_active && ky_gate_epoch() != 0)
		activate(ky_gate_epoch());
	unlock_sources();
	tell_all_left_out();
	settle(0);
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

void ky_sources_drain(const struct ky_drain *drain, uint64_t deadline_ns)
{
	struct ky_instance *instance = find_instance(drain->host);
	int may_enter;

	if (!instance)
		return;
	lock_sources();
	/* Who is inside and was given up may come back when the driver is gone. */
	may_enter = !instance->host->is_abandoned;
	if (may_enter) {
		instance->drain = *drain;
		instance->drain_deadline_ns = deadline_ns;
	}
	unlock_sources();
	if (!may_enter)
		return;
	drive_beside(instance);
	if (!wait_for(instance, deadline_ns + GRACE_NS))
		give_up(instance);
}

size_t ky_sources_describe(const char *wanted, struct ky_type_source *out)
{
	size_t count = 0;

	know_process();
	lock_sources();
	for (uint32_t i = 0; i < sources.count; i++)
		if (is_named(&sources.instances[i], wanted))
			out[count++] = describe(&sources.instances[i]);
	unlock_sources();
	return count;
}

int32_t ky_sources_option(const char *source, const char *option, char *out, size_t size)
{
	int32_t status = KYMO_ERROR_NOT_FOUND;
	struct kymo_str value;

	lock_sources();
	value = ky_wanted_option(sources.wanted, source, option);
	if (value.data) {
		status = value.size < size ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
		if (status == KYMO_OK)
			snprintf(out, size, "%.*s", (int)value.size, value.data);
	}
	unlock_sources();
	return status;
}
