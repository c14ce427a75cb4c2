/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/keys.h"

#include <string.h>

#include "base/str.h"

#define COUNT .kind = KY_KIND_INTEGER, .most = INT32_MAX
#define FLAG  .kind = KY_KIND_BOOL, .fallback = "false"
#define WORDS .kind = KY_KIND_TEXT
/* A variable of libkineto's that no text can set. */
#define VARIABLE(text) .name = text, .variable = text, WORDS, .is_variable_only = 1
#define OWN(text)      .name = "KYMO_" text, .variable = "KYMO_" text

/* In ms: what libkineto allows in seconds. */
#define SECONDS_MAX ((uint64_t)INT32_MAX * 1000)
#define NS_MAX      (UINT64_C(1000000000) * 3600 * 24 * 366)

/* What a key does whose feature is somebody else's, or why it does nothing. */
#define CLIENT      "a framework that is a client of sessions collects "
#define OF_TRACE    "stands in traces under its name"
#define OF_SOURCE   "a source has options of its own, by KYMO_SOURCES"
#define NO_SOURCE   "there is no source for this device"
#define OF_DAEMON   "nothing comes from a daemon"
#define OF_LOG      "nothing is printed; observers choose what they hear"
#define OF_SNAPSHOT "the program takes snapshots of memory itself (client.h)"

/*
 * libkineto's keep their names, also those of a vendor's runtime: who has a configuration
 * for it is not refused, and hears what takes the place of a key that does nothing here.
 * To the rest of the library they are texts like any other.
 */
static const struct ky_key keys[] = {
	[KY_KEY_SOURCES] = {OWN("SOURCES"), .kind = KY_KIND_LIST,
			    .use = "sources to record: NAME[:OPTION=VALUE], ..."},
	[KY_KEY_OUTPUT] = {OWN("OUTPUT"), .kind = KY_KIND_PATTERN,
			   .use = "pattern of the output's name"},
	[KY_KEY_OVERWRITE] = {OWN("OVERWRITE"), FLAG,
			      .use = "an existing output is replaced"},
	[KY_KEY_BUFFER_SIZE] = {OWN("BUFFER_SIZE"), .kind = KY_KIND_SIZE, .unit = "bytes",
				.fallback = "67108864", .least = 10 << 20,
				.most = UINT64_C(1) << 40,
				.use = "memory for the records of a process"},
	[KY_KEY_OVERFLOW] = {OWN("OVERFLOW"), .kind = KY_KIND_CHOICE,
			     .choices = "drop|overwrite|stream", .fallback = "stream",
			     .use = "what becomes of records when that is full; a "
				    "program's own session drops where this says stream"},
	[KY_KEY_FILE_LIMIT] = {OWN("FILE_LIMIT"), .kind = KY_KIND_SIZE, .unit = "bytes",
			       .least = 1, .most = INT64_MAX,
			       .use = "streaming ends there; not set: half of the free "
				      "space"},
	[KY_KEY_FOLLOW_FORK] = {OWN("FOLLOW_FORK"), .kind = KY_KIND_BOOL,
				.fallback = "true",
				.use = "forked children are recorded"},
	[KY_KEY_COMPAT] = {OWN("COMPAT"), WORDS,
			   .use = "reader that the trace is made for"},
	[KY_KEY_SINKS] = {OWN("SINKS"), .kind = KY_KIND_LIST,
			  .use = "sink plug-ins to load, by path: for recordings and "
				 "a program's own sessions"},
	[KY_KEY_ACTIVITY_TYPES] = {.name = "ACTIVITY_TYPES",
				   .kind = KY_KIND_TYPES,
				   .fallback = "default",
				   .use = "activity types to record: [SOURCE:]NAME, "
					  "with - in front all but those"},
	[KY_KEY_LOG_FILE] = {.name = "ACTIVITIES_LOG_FILE",
			     WORDS,
			     .use = "output, with _PID in front of its suffix, where "
				    "KYMO_OUTPUT is not set"},
	[KY_KEY_DEVICE_BUFFER_MB] = {.name = "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB",
				     COUNT,
				     .unit = "MiB",
				     .fallback = "128",
				     .use = "memory for the records of a process, where "
					    "it is set and KYMO_BUFFER_SIZE is not"},

	[KY_KEY_DELAY] = {OWN("DELAY"), .kind = KY_KIND_DURATION, .unit = "ns",
			  .fallback = "0", .most = NS_MAX,
			  .use = "a request starts that much later, kymo record "
				 "records that long after the program's start"},
	[KY_KEY_DURATION] = {OWN("DURATION"), .kind = KY_KIND_DURATION, .unit = "ns",
			     .least = 1000000, .most = NS_MAX,
			     .use = "duration of a request, and of what kymo record "
				    "records"},
	[KY_KEY_DURATION_MS] = {.name = "ACTIVITIES_DURATION_MSECS",
				.kind = KY_KIND_INTEGER,
				.most = SECONDS_MAX,
				.unit = "ms",
				.fallback = "500",
				.use = "duration of a request, where KYMO_DURATION is "
				       "not set"},
	[KY_KEY_ITERATIONS] = {.name = "ACTIVITIES_ITERATIONS",
			       COUNT,
			       .fallback = "0",
			       .use = "iterations of a request; 0: it goes by time"},
	[KY_KEY_WARMUP_S] = {.name = "ACTIVITIES_WARMUP_PERIOD_SECS",
			     COUNT,
			     .unit = "s",
			     .fallback = "5",
			     .use = "warm-up of a request by time"},
	[KY_KEY_WARMUP_ITERATIONS] = {.name = "ACTIVITIES_WARMUP_ITERATIONS",
				      COUNT,
				      .fallback = "0",
				      .use = "warm-up of a request by iterations"},
	[KY_KEY_START_TIME] = {.name = "PROFILE_START_TIME",
			       .kind = KY_KIND_INTEGER,
			       .most = INT64_MAX,
			       .unit = "ms since the epoch",
			       .fallback = "0",
			       .use = "start of a request; 0: as soon as it is warm"},
	[KY_KEY_START_ITERATION] = {.name = "PROFILE_START_ITERATION",
				    COUNT,
				    .fallback = "-1",
				    .use = "start of a request by iterations"},
	[KY_KEY_START_ROUND_UP] = {.name = "PROFILE_START_ITERATION_ROUNDUP",
				   COUNT,
				   .fallback = "-1",
				   .use = "a start that is over is put off to the next "
					  "multiple"},
	[KY_KEY_TRACE_ID] = {.name = "REQUEST_TRACE_ID",
			     WORDS,
			     .use = "trace_id of a session, for its trace and observers"},
	[KY_KEY_GROUP_TRACE_ID] = {.name = "REQUEST_GROUP_TRACE_ID",
				   WORDS,
				   .use = "the same, group_trace_id"},

	[KY_KEY_INPUT_SHAPES] = {.name = "PROFILE_REPORT_INPUT_SHAPES",
				 FLAG,
				 .use = CLIENT "shapes of inputs"},
	[KY_KEY_CLIENT_MEMORY] = {.name = "PROFILE_PROFILE_MEMORY",
				  FLAG,
				  .use = CLIENT "allocations"},
	[KY_KEY_STACK] = {.name = "PROFILE_WITH_STACK", FLAG, .use = CLIENT "stacks"},
	[KY_KEY_FLOPS] = {.name = "PROFILE_WITH_FLOPS", FLAG, .use = CLIENT "flops"},
	[KY_KEY_MODULES] = {.name = "PROFILE_WITH_MODULES",
			    FLAG,
			    .use = CLIENT "the hierarchy of modules"},

	{.name = "ACTIVITIES_ENABLED",
	 .kind = KY_KIND_BOOL,
	 .fallback = "true",
	 .unused = "what is not to be recorded is not begun"},
	{.name = "ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS",
	 .kind = KY_KIND_BOOL,
	 .fallback = "true",
	 .unused = "types are chosen by ACTIVITY_TYPES"},
	{.name = "CUPTI_PER_THREAD_BUFFER_ENABLED", FLAG, .unused = OF_SOURCE},
	{.name = "CUPTI_PM_SAMPLING_METRICS",
	 .kind = KY_KIND_LIST,
	 .unused = "a source has options of its own: KYMO_SOURCES = cuda:pm=A+B, with "
		   "gpu_pm_counter in ACTIVITY_TYPES"},
	{.name = "CUPTI_PM_SAMPLING_DEVICE_ID",
	 COUNT,
	 .fallback = "-1",
	 .unused = "a source has options of its own: KYMO_SOURCES = cuda:pm_device=N"},
	{.name = "ENABLE_IPC_FABRIC", FLAG, .unused = OF_DAEMON},
	{.name = "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS",
	 COUNT,
	 .unit = "s",
	 .fallback = "5",
	 .unused = OF_DAEMON},
	{.name = "VERBOSE_LOG_LEVEL", COUNT, .fallback = "-1", .unused = OF_LOG},
	{.name = "VERBOSE_LOG_MODULES", .kind = KY_KIND_LIST, .unused = OF_LOG},
	{.name = "PROFILE_MEMORY", FLAG, .unused = OF_SNAPSHOT},
	{.name = "PROFILE_MEMORY_DURATION_MSECS",
	 COUNT,
	 .unit = "ms",
	 .fallback = "1000",
	 .unused = OF_SNAPSHOT},
	{.name = "ROCTRACER_MAX_EVENTS",
	 COUNT,
	 .unit = "rows",
	 .fallback = "5000000",
	 .unused = NO_SOURCE},
	{.name = "CUSTOM_CONFIG", WORDS, .unused = OF_SOURCE},
	{.name = "XPUPTI_PROFILER_METRICS", .kind = KY_KIND_LIST, .unused = NO_SOURCE},
	{.name = "XPUPTI_PROFILER_ENABLE_PER_KERNEL", FLAG, .unused = NO_SOURCE},
	{.name = "XPUPTI_PROFILER_MAX_SCOPES",
	 COUNT,
	 .fallback = "1500 a kernel, 10 a user",
	 .unused = NO_SOURCE},

	{VARIABLE("KINETO_CONFIG"), .fallback = "/etc/libkineto.conf",
	 .use = "file that is read first"},
	{VARIABLE("KYMO_CONFIG"), .fallback = "/etc/kymo.conf",
	 .use = "file that is read next"},
	{VARIABLE("KINETO_USE_DAEMON"), .unused = OF_DAEMON},
	{VARIABLE("KINETO_LOG_LEVEL"), .unused = OF_LOG},
	{VARIABLE("KINETO_ONDEMAND_TRACE_DIR"), .fallback = "/tmp/", .unused = OF_DAEMON},
	{VARIABLE("KINETO_IPC_SOCKET_DIR"), .unused = OF_DAEMON},
	{VARIABLE("SLURM_JOB_ID"), .unused = OF_DAEMON},
	{VARIABLE("PT_PROFILER_JOB_NAME"), .use = OF_TRACE},
	{VARIABLE("PT_PROFILER_JOB_VERSION"), .use = OF_TRACE},
	{VARIABLE("PT_PROFILER_JOB_ATTEMPT_INDEX"), .use = OF_TRACE},
	{VARIABLE("TEARDOWN_CUPTI"), .unused = OF_SOURCE},
	{VARIABLE("DISABLE_CUPTI_LAZY_REINIT"), .unused = OF_SOURCE},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

KYMO_STATIC_ASSERT(KEY_COUNT <= KY_KEY_MAX);

/* Further names: those in another unit, and those that libkineto had before. */
static const struct {
	const char *name, *of;
	uint64_t factor;
} others[] = {
	{"ACTIVITIES_DURATION_SECS", "ACTIVITIES_DURATION_MSECS", 1000},
	{"CLIENT_INTERFACE_ENABLE_OP_INPUTS_COLLECTION", "PROFILE_REPORT_INPUT_SHAPES",
	 1},
	{"PYTHON_STACK_TRACE", "PROFILE_WITH_STACK", 1},
};

#define OTHER_COUNT (sizeof(others) / sizeof(others[0]))

const struct ky_key *ky_key_at(size_t index)
{
	return index < KEY_COUNT ? &keys[index] : NULL;
}

const struct ky_key *ky_key_find(struct kymo_str name, size_t *index, uint64_t *factor)
{
	*factor = 1;
	for (size_t i = 0; i < OTHER_COUNT; i++) {
		if (!ky_str_is(name, others[i].name))
			continue;
		*factor = others[i].factor;
		name = (struct kymo_str){others[i].of, strlen(others[i].of)};
		break;
	}
	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (keys[i].is_variable_only || !ky_str_is(name, keys[i].name))
			continue;
		*index = i;
		return &keys[i];
	}
	return NULL;
}

void ky_keys_offer(struct ky_nearest *nearest)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!keys[i].is_variable_only)
			ky_nearest_offer(nearest, keys[i].name);
	for (size_t i = 0; i < OTHER_COUNT; i++)
		ky_nearest_offer(nearest, others[i].name);
}
