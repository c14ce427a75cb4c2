/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each source is an instance with a state; the session says which state it should be in.
 * Whoever changes what should be (a session begins or ends, a plug-in comes) drives the
 * instances there, step by step. A step claims its instance, so that one thread at a time
 * is in a source's operations, and looks again afterwards, so that nobody has to wait for
 * a thread that is inside: that thread takes the next step as well.
 *
 * source_lock protects the list, states and claims, and is not held in an operation.
 *
 *     NEW --create--> IDLE --prepare, start--> RUNNING --stop, flush--> IDLE
 *
 * What is between prepare and start, or stop and flush, cannot be seen from outside.
 */
#include "session/source.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "plugin/check.h"
#include "session/host.h"
#include "session/wanted.h"

#define POLL_NS       500000      /* of a late stop, and of a claim */
#define STOP_LIMIT_NS 2000000000u /* where nobody has said a deadline */

enum instance_state { NEW, IDLE, RUNNING };

struct instance {
	struct kymo_source_host *host;
	const struct kymo_source_ops *ops;
	void *source;
	enum instance_state state;
	uint32_t is_claimed;
	uint32_t failed_epoch; /* of the session that it is left out of */
};

typedef void (*step_fn)(struct instance *instance);

static struct {
	struct instance instances[KY_SOURCES_MAX];
	uint32_t count;
	uint32_t is_active; /* as page->sources_active, but inherited by children */
	char wanted[KY_WANTED_MAX];
} sources;

static void pause_shortly(void)
{
	const struct timespec step = {0, POLL_NS};

	nanosleep(&step, NULL);
}

static uint32_t state_from_status(int32_t status)
{
	switch (status) {
	case KYMO_ERROR_NOT_FOUND:
	case KYMO_ERROR_UNSUPPORTED:
		return KYMO_SOURCE_ABSENT;
	case KYMO_ERROR_BUSY:
		return KYMO_SOURCE_BUSY;
	case KYMO_ERROR_PERMISSION:
		return KYMO_SOURCE_DENIED;
	default:
		return KYMO_SOURCE_FAILED;
	}
}

static int has_told(const struct instance *instance)
{
	return (int)__atomic_load_n(&instance->host->has_told, __ATOMIC_RELAXED);
}

/* The source is not part of this session; what it said about that itself holds. */
static void leave_out(struct instance *instance, const char *step, int32_t status,
		      const struct kymo_error *error)
{
	char reason[sizeof(error->message) + 32];

	instance->failed_epoch = ky_session_page()->sources_epoch;
	if (has_told(instance))
		return;
	snprintf(reason, sizeof(reason), "%s failed: %s", step,
		 error->message[0] ? error->message : kymo_status_text(status));
	ky_host_set_state(instance->host, state_from_status(status), reason, NULL);
}

/* Anchors every clock that only the source can read. */
static void sample_clocks(struct instance *instance)
{
	uint32_t clocks[KY_HOST_CLOCKS_MAX];
	size_t count = ky_host_clocks(instance->host, clocks);

	if (!KYMO_HAS_FUNCTION(instance->ops, sample_clock))
		return;
	for (size_t i = 0; i < count; i++) {
		struct kymo_clock_pair pair;

		if (instance->ops->sample_clock(instance->source, clocks[i], &pair) ==
		    KYMO_OK)
			ky_host_table()->anchor(instance->host, clocks[i], &pair);
	}
}

static void create(struct instance *instance)
{
	struct kymo_error error = {0};
	int32_t status;

	__atomic_store_n(&instance->host->has_told, 0, __ATOMIC_RELAXED);
	status = instance->ops->create(ky_host_table(), instance->host, &instance->source,
				       &error);
	if (status == KYMO_OK)
		instance->state = IDLE;
	else
		leave_out(instance, "create", status, &error);
}

static int32_t prepare(struct instance *instance, uint32_t epoch,
		       struct kymo_error *error)
{
	struct kymo_source_host *host = instance->host;
	uint16_t types[KY_HOST_TYPES_MAX];
	struct kymo_prepare session = {
		.struct_size = sizeof(session),
		.epoch = epoch,
		.types = types,
		.type_count = ky_host_default_types(host, types),
		.memory_limit = KY_HOST_MEMORY_MAX,
		.start_ns = ky_monotonic_ns(),
	};
	int32_t status;

	host->epoch = epoch;
	host->is_frozen = 0;
	ky_host_forget_lost(host);
	status = instance->ops->prepare(instance->source, &session, error);
	host->is_frozen = 1;
	return status;
}

static void begin(struct instance *instance)
{
	uint32_t epoch = ky_session_page()->sources_epoch;
	struct kymo_error error = {0};
	int32_t status;

	__atomic_store_n(&instance->host->has_told, 0, __ATOMIC_RELAXED);
	status = prepare(instance, epoch, &error);
	if (status != KYMO_OK) {
		leave_out(instance, "prepare", status, &error);
		return;
	}
	/* Before start: its first record may come from another thread at once. */
	ky_host_open(instance->host);
	status = instance->ops->start(instance->source, &error);
	if (status != KYMO_OK) {
		ky_host_close(instance->host);
		leave_out(instance, "start", status, &error);
		return;
	}
	instance->state = RUNNING;
	if (!has_told(instance))
		ky_host_set_state(instance->host, KYMO_SOURCE_RECORDING, NULL, NULL);
	sample_clocks(instance);
}

/* Waits for the late end of a stop; false if it has not come by the deadline. */
static int wait_until_stopped(struct instance *instance, uint64_t deadline_ns)
{
	struct kymo_source_host *host = instance->host;

	/* Pairs with the release of the host's `stopped`. */
	while (__atomic_load_n(&host->stopped, __ATOMIC_ACQUIRE) != host->epoch) {
		if (ky_monotonic_ns() >= deadline_ns)
			return 0;
		pause_shortly();
	}
	return 1;
}

static void end(struct instance *instance)
{
	uint64_t deadline_ns = ky_session_page()->sources_deadline_ns;
	struct kymo_source_host *host = instance->host;
	char reason[64];
	int32_t status;

	if (deadline_ns == 0)
		deadline_ns = ky_monotonic_ns() + STOP_LIMIT_NS;
	status = instance->ops->stop(instance->source, deadline_ns);
	if (status == KYMO_AGAIN && !wait_until_stopped(instance, deadline_ns))
		ky_host_set_state(host, KYMO_SOURCE_PARTLY,
				  "it had not finished when time was up", NULL);
	sample_clocks(instance);
	if (KYMO_HAS_FUNCTION(instance->ops, flush) && status >= 0)
		status = instance->ops->flush(instance->source, deadline_ns);
	if (status < 0) {
		snprintf(reason, sizeof(reason), "it ended with: %s",
			 kymo_status_text(status));
		ky_host_set_state(host, KYMO_SOURCE_PARTLY, reason, NULL);
	}
	ky_host_close(host);
	host->is_frozen = 0;
	ky_host_publish_lost(host);
	instance->state = IDLE;
}

/* What brings the instance nearer to where it should be, or NULL. source_lock held. */
static step_fn next_step(const struct instance *instance)
{
	const struct ky_session_page *page = ky_session_page();
	const struct kymo_source_desc *desc = instance->host->desc;
	int is_wanted = page->sources_active &&
			instance->failed_epoch != page->sources_epoch &&
			ky_wanted_has(sources.wanted, desc->name,
				      desc->flags & KYMO_SOURCE_EXPLICIT);

	switch (instance->state) {
	case NEW:
		return is_wanted ? create : NULL;
	case IDLE:
		return is_wanted ? begin : NULL;
	case RUNNING:
		if (is_wanted && instance->host->epoch == page->sources_epoch)
			return NULL;
		return end;
	}
	return NULL;
}

static void release(struct instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;

	ky_lock(lock);
	instance->is_claimed = 0;
	ky_unlock(lock);
}

/* Takes every step that is to be taken; false if another thread is about to. */
static int drive(struct instance *instance)
{
	uint32_t *lock = &ky_gate()->source_lock;

	for (;;) {
		step_fn step = NULL;
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
	page->sources_known = 1;
	for (uint32_t i = 0; i < count; i++) {
		struct instance *instance = &sources.instances[i];

		instance->is_claimed = instance->state != NEW;
		instance->failed_epoch = 0;
		instance->host->is_frozen = 0;
		if (instance->is_claimed)
			instance->state = IDLE;
	}
	ky_unlock(lock);

	for (uint32_t i = 0; i < count; i++) {
		struct instance *instance = &sources.instances[i];

		if (instance->state == NEW)
			continue;
		ky_host_close(instance->host);
		ky_host_forget_lost(instance->host);
		if (KYMO_HAS_FUNCTION(instance->ops, forked))
			instance->ops->forked(instance->source);
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

/* Adds one source; further ones of the same name get a number. source_lock held. */
static int32_t add_instance(const struct kymo_plugin *plugin,
			    const struct kymo_source_desc *desc)
{
	uint32_t ordinal = 1;
	struct instance *instance;

	if (sources.count == KY_SOURCES_MAX)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < sources.count; i++)
		if (strcmp(sources.instances[i].host->desc->name, desc->name) == 0)
			ordinal++;
	instance = &sources.instances[sources.count];
	*instance = (struct instance){
		.host = ky_host_create(plugin, desc, ordinal),
		.ops = desc->ops,
	};
	if (!instance->host)
		return KYMO_ERROR_NO_MEMORY;
	/* Pairs with the acquire of instance_count(): it is whole now. */
	__atomic_store_n(&sources.count, sources.count + 1, __ATOMIC_RELEASE);
	return KYMO_OK;
}

int32_t ky_sources_add(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	uint32_t *lock = &ky_gate()->source_lock;
	int32_t status = ky_plugin_check(plugin, error);
	uint32_t first;

	if (status != KYMO_OK)
		return status;
	know_process();
	ky_lock(lock);
	first = sources.count;
	if (!is_known(plugin))
		for (size_t i = 0; plugin->sources && plugin->sources[i]; i++)
			if (status == KYMO_OK)
				status = add_instance(plugin, plugin->sources[i]);
	ky_unlock(lock);
	/* Those that were added are driven even where a further one did not fit. */
	for (uint32_t i = first; i < instance_count(); i++)
		drive(&sources.instances[i]);
	if (status != KYMO_OK)
		return ky_error_set(error, status,
				    "the plug-in \"%s\" brings more sources than the %u "
				    "that one process can have",
				    plugin->name, KY_SOURCES_MAX);
	return KYMO_OK;
}

/* Goes on with what is to be active now, whatever was before. */
static void drive_all(void)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		drive(&sources.instances[i]);
}

/* source_lock held. */
static void activate(uint32_t epoch)
{
	struct ky_session_page *page = ky_session_page();

	page->sources_active = 1;
	page->sources_epoch = epoch;
	page->sources_deadline_ns = 0;
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
	drive_all();
}

void ky_sources_end(uint64_t deadline_ns)
{
	struct ky_session_page *page = ky_session_page();
	uint32_t *lock = &ky_gate()->source_lock;

	know_process();
	ky_lock(lock);
	page->sources_active = 0;
	page->sources_deadline_ns = deadline_ns;
	sources.is_active = 0;
	ky_unlock(lock);
	for (uint32_t i = 0; i < instance_count(); i++)
		while (!drive(&sources.instances[i]) && ky_monotonic_ns() < deadline_ns)
			pause_shortly();
}

void ky_sources_publish(void)
{
	for (uint32_t i = 0; i < instance_count(); i++)
		ky_host_publish_lost(sources.instances[i].host);
}

void ky_sources_forked(void)
{
	uint32_t *lock = &ky_gate()->source_lock;

	know_process();
	ky_lock(lock);
	if (sources.is_active && ky_gate()->epoch != 0)
		activate(ky_gate()->epoch);
	ky_unlock(lock);
	drive_all();
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
