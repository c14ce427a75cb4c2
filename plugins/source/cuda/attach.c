/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "clock.h"
#include "name.h"
#include "pm_source.h"

/* A kind of records, and the types that need it. */
static const struct kind {
	uint32_t kind;
	const char *name;
	uint32_t types;    /* by bit */
	uint32_t is_extra; /* its absence takes nothing from what was asked for */
} kinds[] = {
	/* First, since the others name what they tell of. */
	{CUPTI_KIND_DEVICE, "devices", ~0u, 1},
	{CUPTI_KIND_CONTEXT, "contexts", ~0u, 1},
	{CUPTI_KIND_EXTERNAL_CORRELATION, "external correlation", 1u << KY_TYPE_EXTERNAL,
	 0},
	{CUPTI_KIND_RUNTIME, "runtime calls", 1u << KY_TYPE_RUNTIME, 0},
	{CUPTI_KIND_DRIVER, "driver calls", 1u << KY_TYPE_DRIVER, 0},
	{CUPTI_KIND_CONCURRENT_KERNEL, "kernels", 1u << KY_TYPE_KERNEL, 0},
	{CUPTI_KIND_MEMCPY, "copies", 1u << KY_TYPE_COPY, 0},
	{CUPTI_KIND_MEMCPY_PEER, "copies between devices", 1u << KY_TYPE_COPY, 0},
	{CUPTI_KIND_MEMSET, "fills", 1u << KY_TYPE_FILL, 0},
	{CUPTI_KIND_SYNCHRONIZATION, "waits", 1u << KY_TYPE_SYNC, 0},
	/* Waits say what event they are for, so they need these too. */
	{CUPTI_KIND_CUDA_EVENT, "events", 1u << KY_TYPE_EVENT | 1u << KY_TYPE_SYNC, 0},
	{CUPTI_KIND_OVERHEAD, "overhead", 1u << KY_TYPE_OVERHEAD, 0},
	{CUPTI_KIND_GRAPH_TRACE, "graphs", 1u << KY_TYPE_GRAPH, 0},
	{CUPTI_KIND_UNIFIED_MEMORY_COUNTER, "unified memory", 1u << KY_TYPE_UNIFIED, 0},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* attaching and detaching */
static void *subscriber;
static uint64_t memory_limit;
static atomic_uchar is_enabled[KIND_COUNT]; /* on_callback has no lock */
static struct ky_library_list list;

/* ---- Options ---- */

static void option_text(const char *name, char *out, size_t size)
{
	struct kymo_str text;

	out[0] = '\0';
	if (ky_source.host &&
	    ky_source.host->option(ky_source.self, name, &text) == KYMO_OK &&
	    text.size > 0 && text.size < size)
		snprintf(out, size, "%.*s", (int)text.size, text.data);
}

/* 1, 0, or -1: it says neither. */
static int option_switch(const char *name)
{
	static const char *const words[] = {"false", "true", "no", "yes",
					    "off",   "on",   "0",  "1"};
	char text[16];

	option_text(name, text, sizeof(text));
	for (int i = 0; i < 8; i++)
		if (strcmp(text, words[i]) == 0)
			return i % 2;
	return -1;
}

/* 0 if it is no number of milliseconds that a timer takes. */
static int option_is_period(const char *name)
{
	char text[16], *end;
	unsigned long number;

	option_text(name, text, sizeof(text));
	number = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= 3600000;
}

uint64_t ky_attach_flush_period_ns(void)
{
	char text[16];

	option_text("flush_ms", text, sizeof(text));
	return strtoul(text, NULL, 10) * 1000000u;
}

int32_t ky_attach_check(struct kymo_error *error)
{
	static const char *const switches[] = {"latency", "event_times", "finalize"};
	const char *wrong = option_is_period("flush_ms") ? NULL : "flush_ms";
	const char *form = "a number of milliseconds up to 3600000";

	for (size_t i = 0; i < 3 && !wrong; i++)
		if (option_switch(switches[i]) < 0) {
			wrong = switches[i];
			form = "true or false";
		}
	if (!wrong)
		return KYMO_OK;
	if (error) {
		error->status = KYMO_ERROR_CONFIG;
		snprintf(error->message, sizeof(error->message),
			 "its setting \"%s\" must be %s", wrong, form);
	}
	return KYMO_ERROR_CONFIG;
}

int32_t ky_attach_prepare(const struct kymo_source_session *session,
			  struct kymo_error *error)
{
	memory_limit = session->memory_limit;
	for (uint32_t i = 0; i < KY_TYPE_COUNT; i++)
		ky_source.wants[i] = (uint8_t)kymo_source_wants(
			session, ky_type_number((enum ky_type)i));
	return ky_attach_check(error);
}

/* ---- Subscribing ---- */

/* There is one callback only, for what cannot be done before there is a context. */
static void on_callback(void *user, uint32_t domain, uint32_t cbid, const void *data);

/* Whoever is subscribed, if this version tells. */
static void find_out_who(char *who, size_t size)
{
	struct cupti_subscriber_params params = {
		.struct_size = sizeof(params),
		.name = "kymo",
		.old_name = who,
		.old_size = size,
	};
	void *other = NULL;

	who[0] = '\0';
	if (ky_source.library.Subscribe_v2 &&
	    ky_source.library.Subscribe_v2(&other, on_callback, NULL, &params) ==
		    CUPTI_RC_SUCCESS)
		ky_source.library.Unsubscribe(other); /* it has ended meanwhile */
	who[size - 1] = '\0';
}

static int32_t subscribe(struct ky_trouble *trouble)
{
	char who[CUPTI_OLD_SUBSCRIBER_BYTES] = "";
	int32_t rc = ky_source.library.Subscribe(&subscriber, on_callback, NULL);

	if (rc == CUPTI_RC_SUCCESS)
		return rc;
	if (rc == CUPTI_RC_MULTIPLE_SUBSCRIBERS)
		find_out_who(who, sizeof(who));
	ky_trouble_of(trouble, &ky_source.library, rc, "cuptiSubscribe", who);
	return rc;
}

static void list_libraries(char *setting, size_t size)
{
	option_text("cupti", setting, size);
	ky_library_find(&list, setting, &ky_source.places);
}

int ky_attach_find_library(struct ky_trouble *trouble)
{
	char setting[PATH_MAX], why[256];

	if (ky_source.library.handle)
		return 1;
	list_libraries(setting, sizeof(setting));
	for (size_t i = 0; i < list.count; i++)
		if (ky_library_open(&ky_source.library, list.path[i], why, sizeof(why)))
			return 1;
	ky_trouble_no_library(trouble, setting, setting[0] ? why : NULL);
	return 0;
}

/* With the library that is there already, else with the first that the driver takes. */
static int32_t find_and_subscribe(struct ky_trouble *trouble)
{
	struct ky_trouble later;
	char setting[PATH_MAX], why[256];
	int32_t rc = CUPTI_RC_UNKNOWN;
	int has_tried = 0;

	if (ky_source.library.handle)
		return subscribe(trouble);
	list_libraries(setting, sizeof(setting));
	for (size_t i = 0; i < list.count; i++) {
		if (!ky_library_open(&ky_source.library, list.path[i], why, sizeof(why)))
			continue;
		/* The first, newest one's trouble is told, if all have some. */
		rc = subscribe(has_tried ? &later : trouble);
		if (rc == CUPTI_RC_SUCCESS)
			return rc;
		if (!ky_trouble_is_of_version(rc)) {
			if (has_tried++)
				*trouble = later;
			return rc;
		}
		has_tried = 1;
		ky_library_close(&ky_source.library);
	}
	if (!has_tried)
		ky_trouble_no_library(trouble, setting, setting[0] ? why : NULL);
	return rc;
}

/* ---- Kinds ---- */

static int is_asked_for(const struct kind *kind)
{
	for (uint32_t i = 0; i < KY_TYPE_COUNT; i++)
		if (ky_source.wants[i] && kind->types & 1u << i)
			return 1;
	return 0;
}

static int32_t enable_unified(void)
{
	static const uint32_t counters[] = {
		CUPTI_UVM_BYTES_HTOD,     CUPTI_UVM_BYTES_DTOH, CUPTI_UVM_CPU_PAGE_FAULT,
		CUPTI_UVM_GPU_PAGE_FAULT, CUPTI_UVM_THRASHING,  CUPTI_UVM_THROTTLING,
		CUPTI_UVM_REMOTE_MAP,     CUPTI_UVM_BYTES_DTOD};
	struct cupti_unified_config configs[sizeof(counters) / sizeof(counters[0])];
	const uint32_t count = sizeof(counters) / sizeof(counters[0]);

	for (uint32_t i = 0; i < count; i++)
		configs[i] = (struct cupti_unified_config){
			.scope = CUPTI_UVM_SCOPE_ALL, .kind = counters[i], .enable = 1};
	if (!ky_source.library.ActivityConfigureUnifiedMemoryCounter)
		return CUPTI_RC_NOT_SUPPORTED;
	return ky_source.library.ActivityConfigureUnifiedMemoryCounter(configs, count);
}

static int32_t enable(size_t index)
{
	int32_t rc = CUPTI_RC_SUCCESS;

	if (kinds[index].kind == CUPTI_KIND_UNIFIED_MEMORY_COUNTER)
		rc = enable_unified();
	/* Devices and contexts that are there already are told of once more. */
	if (rc == CUPTI_RC_SUCCESS && kinds[index].is_extra &&
	    ky_source.library.ActivityEnableAndDump)
		rc = ky_source.library.ActivityEnableAndDump(kinds[index].kind);
	else if (rc == CUPTI_RC_SUCCESS)
		rc = ky_source.library.ActivityEnable(kinds[index].kind);
	is_enabled[index] = rc == CUPTI_RC_SUCCESS;
	return rc;
}

/*
 * Unified memory can be asked for only when the driver is initialised, which it is not
 * yet in InitializeInjection: a context is there afterwards.
 */
static void on_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	if (domain != CUPTI_DOMAIN_RESOURCE || cbid != CUPTI_CONTEXT_CREATED ||
	    !atomic_load(&ky_source.is_wanted))
		return;
	ky_pm_context(data);
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (kinds[i].kind == CUPTI_KIND_UNIFIED_MEMORY_COUNTER &&
		    is_asked_for(&kinds[i]) && !is_enabled[i])
			enable(i);
}

static int hear_of_contexts(void)
{
	return ky_source.library.EnableCallback &&
	       ky_source.library.EnableCallback(1, subscriber, CUPTI_DOMAIN_RESOURCE,
						CUPTI_CONTEXT_CREATED) ==
		       CUPTI_RC_SUCCESS;
}

static int can_wait_for_context(const struct kind *kind)
{
	return kind->kind == CUPTI_KIND_UNIFIED_MEMORY_COUNTER && hear_of_contexts();
}

/* What was refused in part, for people. */
static void note_refused(struct ky_trouble *trouble, const char *refused,
			 const char *error)
{
	trouble->state = KYMO_STATE_PARTLY;
	snprintf(trouble->reason, sizeof(trouble->reason), "CUPTI refuses %.120s: %.100s",
		 refused, error);
	snprintf(trouble->remedy, sizeof(trouble->remedy), "the rest is recorded");
}

static int32_t enable_all(struct ky_trouble *trouble)
{
	char refused[128] = "", error[128] = "", *at = refused;
	int32_t first = CUPTI_RC_SUCCESS;
	int got = 0;

	for (size_t i = 0; i < KIND_COUNT; i++) {
		int32_t rc;

		is_enabled[i] = 0;
		if (!is_asked_for(&kinds[i]))
			continue;
		rc = enable(i);
		if (kinds[i].is_extra)
			continue;
		got += rc == CUPTI_RC_SUCCESS;
		if (rc == CUPTI_RC_SUCCESS || can_wait_for_context(&kinds[i]))
			continue;
		if (first == CUPTI_RC_SUCCESS) {
			first = rc;
			ky_trouble_name(&ky_source.library, rc, error, sizeof(error));
		}
		at += snprintf(at, sizeof(refused) - (size_t)(at - refused), "%s%s",
			       at > refused ? ", " : "", kinds[i].name);
		if (at >= refused + sizeof(refused))
			at = refused + sizeof(refused) - 1;
	}
	if (first == CUPTI_RC_SUCCESS)
		return first;
	if (got > 0) {
		note_refused(trouble, refused, error);
		return CUPTI_RC_SUCCESS;
	}
	ky_trouble_of(trouble, &ky_source.library, first, "cuptiActivityEnable", "");
	return first;
}

/* `lock` held. What a pause misses of devices and contexts does not come again. */
static void pause_kinds(int is_paused)
{
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (!is_enabled[i] || kinds[i].is_extra)
			continue;
		if (is_paused)
			ky_source.library.ActivityDisable(kinds[i].kind);
		else
			ky_source.library.ActivityEnable(kinds[i].kind);
	}
}

void ky_attach_pause(int is_paused)
{
	pthread_mutex_lock(&lock);
	pause_kinds(is_paused);
	pthread_mutex_unlock(&lock);
}

void ky_attach_stop(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		if (is_enabled[i])
			ky_source.library.ActivityDisable(kinds[i].kind);
		is_enabled[i] = 0;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- Attaching ---- */

static void unsubscribe(void)
{
	atomic_store(&ky_source.is_attached, 0);
	if (subscriber)
		ky_source.library.Unsubscribe(subscriber);
	subscriber = NULL;
}

static void set_options(void)
{
	const struct ky_library *library = &ky_source.library;

	if (library->ActivityEnableLatencyTimestamps)
		library->ActivityEnableLatencyTimestamps(option_switch("latency") > 0);
	if (library->ActivityEnableCudaEventDeviceTimestamps)
		library->ActivityEnableCudaEventDeviceTimestamps(
			option_switch("event_times") > 0);
}

/* Subscribed: everything else, up to the first record. */
static int32_t begin(struct ky_trouble *trouble)
{
	const struct ky_library *library = &ky_source.library;
	const int threads_are_system =
		library->SetThreadIdType &&
		library->SetThreadIdType(CUPTI_THREAD_ID_SYSTEM) == CUPTI_RC_SUCCESS;
	int32_t rc = ky_clock_begin();

	if (rc != KYMO_OK) {
		*trouble = (struct ky_trouble){.status = rc, .state = KYMO_STATE_FAILED};
		snprintf(trouble->reason, sizeof(trouble->reason),
			 "there is no room for its clock");
		return rc;
	}
	ky_name_begin();
	ky_buffer_begin(memory_limit, threads_are_system, ky_clock_now());
	rc = library->ActivityRegisterCallbacks(ky_buffer_requested, ky_buffer_completed);
	if (rc != CUPTI_RC_SUCCESS) {
		ky_trouble_of(trouble, library, rc, "cuptiActivityRegisterCallbacks", "");
		return rc;
	}
	set_options();
	atomic_store(&ky_source.is_attached, 1);
	if (ky_source.wants[KY_TYPE_COUNTER])
		hear_of_contexts();
	rc = enable_all(trouble);
	if (rc == CUPTI_RC_SUCCESS)
		ky_clock_anchor();
	if (atomic_load(&ky_source.is_paused))
		pause_kinds(1);
	return rc;
}

int32_t ky_attach(struct ky_trouble *trouble)
{
	int32_t status = KYMO_OK;

	pthread_mutex_lock(&lock);
	unsubscribe(); /* from a session whose flush did not return in time */
	if (find_and_subscribe(trouble) != CUPTI_RC_SUCCESS ||
	    begin(trouble) != CUPTI_RC_SUCCESS) {
		status = trouble->status;
		unsubscribe();
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void ky_detach(void)
{
	pthread_mutex_lock(&lock);
	unsubscribe();
	if (option_switch("finalize") > 0 && ky_source.library.Finalize) {
		ky_source.library.Finalize();
		ky_clock_forget();
	}
	pthread_mutex_unlock(&lock);
}

void ky_attach_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	atomic_store(&ky_source.is_attached, 0);
	subscriber = NULL;
	for (size_t i = 0; i < KIND_COUNT; i++)
		is_enabled[i] = 0;
	ky_clock_forget();
}
