/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenMP source: its tables and the life of its one instance. README.md says what it
 * records and how; tool.c is where it comes into a program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "probe.h"
#include "state.h"
#include "thread.h"
#include "tool.h"

/* A callback is over within microseconds, unless its thread is not let run. */
#define PAUSE_LIMIT_NS 100000000u

/* ---- Tables ---- */

#define TYPE(symbol, type_shapes, type_side, type_name, type_help) \
	static const struct kymo_type_desc symbol##_type = {       \
		.struct_size = sizeof(symbol##_type),              \
		.shapes = (type_shapes),                           \
		.side = (type_side),                               \
		.name = (type_name),                               \
		.help = (type_help),                               \
	}

#define SPAN   KYMO_SHAPE_SPAN
#define HOST   KYMO_SIDE_HOST
#define DEVICE KYMO_SIDE_ACCELERATOR

TYPE(parallel, SPAN, HOST, "parallel", "parallel regions, in the thread that began each");
TYPE(implicit_task, SPAN, HOST, "implicit_task", "each thread's part of a region");
TYPE(work, SPAN, HOST, "worksharing",
     "loops, sections, single, masked and other work-sharing");
TYPE(task, SPAN, HOST, "task", "explicit tasks, where they run");
TYPE(task_create, SPAN, HOST, "task_create", "where tasks are created");
TYPE(sync, SPAN, HOST, "sync_region", "barriers, taskwait, taskgroup, reductions");
TYPE(wait, SPAN, HOST, "sync_wait", "the part of these in which a thread waits");
TYPE(mutex, SPAN, HOST, "mutex", "waiting for critical, locks, atomic, ordered");
TYPE(target, SPAN, HOST, "target", "target constructs");
TYPE(runtime, SPAN, HOST, "runtime", "calls of the target runtime");
TYPE(kernel, SPAN, DEVICE, "kernel", "target regions on a device");
TYPE(copy, SPAN, DEVICE, "gpu_memcpy", "transfers to and from a device");
TYPE(memory, SPAN, DEVICE, "target_memory", "memory of a device, got and given back");

static const struct kymo_type_desc *const types[KY_TYPE_COUNT + 1] = {
	[KY_TYPE_PARALLEL] = &parallel_type,
	[KY_TYPE_IMPLICIT_TASK] = &implicit_task_type,
	[KY_TYPE_WORK] = &work_type,
	[KY_TYPE_TASK] = &task_type,
	[KY_TYPE_TASK_CREATE] = &task_create_type,
	[KY_TYPE_SYNC] = &sync_type,
	[KY_TYPE_WAIT] = &wait_type,
	[KY_TYPE_MUTEX] = &mutex_type,
	[KY_TYPE_TARGET] = &target_type,
	[KY_TYPE_RUNTIME] = &runtime_type,
	[KY_TYPE_KERNEL] = &kernel_type,
	[KY_TYPE_COPY] = &copy_type,
	[KY_TYPE_MEMORY] = &memory_type,
};

#define KEY(symbol, key_type, key_name, key_unit, key_help) \
	static const struct kymo_key_desc symbol##_key = {  \
		.struct_size = sizeof(symbol##_key),        \
		.value_type = (key_type),                   \
		.name = (key_name),                         \
		.unit = (key_unit),                         \
		.help = (key_help),                         \
	}

KEY(region, KYMO_VALUE_UINT64, "region", NULL, "number of the parallel region");
KEY(threads, KYMO_VALUE_UINT64, "threads", NULL, "in the region's team");
KEY(thread, KYMO_VALUE_UINT64, "thread", NULL, "its number in the team");
KEY(count, KYMO_VALUE_UINT64, "iterations", NULL, "as the construct has them");
KEY(code, KYMO_VALUE_CODE, "code", NULL, "where the construct stands");
KEY(ended, KYMO_VALUE_STRING, "ended", NULL, "how a task left its thread");
KEY(lock, KYMO_VALUE_UINT64, "lock", NULL, "the runtime's number of what is waited for");
KEY(bytes, KYMO_VALUE_UINT64, "bytes", "bytes", "what is moved or allocated");
KEY(source, KYMO_VALUE_UINT64, "source", NULL, "address");
KEY(destination, KYMO_VALUE_UINT64, "destination", NULL, "address");
KEY(from_device, KYMO_VALUE_INT64, "fromDevice", NULL,
    "of a transfer between two devices");
KEY(to_device, KYMO_VALUE_INT64, "toDevice", NULL, "of a transfer between two devices");
KEY(target_device, KYMO_VALUE_INT64, "target device", NULL, "of a construct");
KEY(teams, KYMO_VALUE_UINT64, "teams", NULL, "as requested");

static const struct kymo_key_desc *const keys[KY_KEY_COUNT + 1] = {
	[KY_KEY_REGION] = &region_key,
	[KY_KEY_THREADS] = &threads_key,
	[KY_KEY_THREAD] = &thread_key,
	[KY_KEY_COUNT_OF_WORK] = &count_key,
	[KY_KEY_CODE] = &code_key,
	[KY_KEY_ENDED] = &ended_key,
	[KY_KEY_LOCK] = &lock_key,
	[KY_KEY_BYTES] = &bytes_key,
	[KY_KEY_SOURCE] = &source_key,
	[KY_KEY_DESTINATION] = &destination_key,
	[KY_KEY_FROM_DEVICE] = &from_device_key,
	[KY_KEY_TO_DEVICE] = &to_device_key,
	[KY_KEY_TARGET_DEVICE] = &target_device_key,
	[KY_KEY_TEAMS] = &teams_key,
};

#define DOMAIN(symbol, domain_name, domain_help)                 \
	static const struct kymo_domain_desc symbol##_domain = { \
		.struct_size = sizeof(symbol##_domain),          \
		.scope = KYMO_DOMAIN_SOURCE,                     \
		.name = (domain_name),                           \
		.help = (domain_help),                           \
	}

DOMAIN(creation, "task creation", "the creation of a task");
DOMAIN(task, "task", "the execution of a task, in one part or more");
DOMAIN(command, "command", "a call of the target runtime and what the device did");

static const struct kymo_domain_desc *const domains[KY_DOMAIN_COUNT + 1] = {
	[KY_DOMAIN_CREATION] = &creation_domain,
	[KY_DOMAIN_TASK] = &task_domain,
	[KY_DOMAIN_COMMAND] = &command_domain,
};

static const struct kymo_link_kind_desc creation_link = {
	.struct_size = sizeof(creation_link),
	.name = "task",
	.help = "from where a task is created to where it first runs",
};

static const struct kymo_link_kind_desc *const link_kinds[] = {&creation_link, NULL};

static const struct kymo_injection_desc tool_injection = {
	.struct_size = sizeof(tool_injection),
	.how = KYMO_INJECT_PREPEND,
	.variable = "OMP_TOOL_LIBRARIES",
	.separator = ":",
	.value = "{plugin}",
};

/* GCC's libgomp has no OMPT, but LLVM's runtime has all of its functions as well. */
static const struct kymo_option_desc preload_option = {
	.struct_size = sizeof(preload_option),
	.value_type = KYMO_VALUE_STRING,
	.name = "preload",
	.help = "LLVM's libomp.so.5, which programs of GCC then use in place of libgomp",
};

static const struct kymo_option_desc *const options[] = {&preload_option, NULL};

static const struct kymo_injection_desc preload_injection = {
	.struct_size = sizeof(preload_injection),
	.how = KYMO_INJECT_PREPEND,
	.variable = "LD_PRELOAD",
	.value = "{option}",
	.option = "preload",
};

static const struct kymo_injection_desc *const injections[] = {&tool_injection,
							       &preload_injection, NULL};

struct ky_state ky_state;

/* ---- The instance ---- */

/* Lowers the flag and closes what is open; tells whether the flag was up. */
static uint32_t halt(uint64_t deadline_ns)
{
	const uint32_t was_recording = atomic_exchange(&ky_state.recording, 0);

	if (was_recording)
		ky_thread_close_all(deadline_ns);
	return was_recording;
}

static void go_on(void)
{
	atomic_fetch_add(&ky_state.epoch, 1);
	atomic_store(&ky_state.recording, 1);
}

/* What comes later, from exit handlers of others, is recorded as well. */
static void drain(void *source, uint64_t deadline_ns)
{
	(void)source;
	if (halt(deadline_ns))
		go_on();
}

static void register_at_exit(void)
{
	if (KYMO_HAS_FUNCTION(ky_state.host, at_exit))
		ky_state.host->at_exit(ky_state.source, drain, &ky_state);
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	const struct ky_other_tool *other = ky_tool_other();

	if (other) {
		host->state(self, KYMO_STATE_BUSY, kymo_text(other->who),
			    kymo_text(other->remedy));
		return KYMO_ERROR_BUSY;
	}
	if (ky_state.source) {
		if (error)
			*error = (struct kymo_error){KYMO_ERROR_BUSY,
						     "the OpenMP tool is in use"};
		return KYMO_ERROR_BUSY;
	}
	ky_state.host = host;
	ky_state.source = self;
	ky_state.type = numbers->types;
	ky_state.key = numbers->keys;
	ky_state.domain = numbers->domains;
	ky_state.creation_link = numbers->link_kinds[0];
	ky_name_register();
	ky_thread_prepare();
	register_at_exit();
	*source = &ky_state;
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source, (void)error;
	for (size_t i = 0; i < KY_TYPE_COUNT; i++)
		ky_state.is_wanted[i] =
			(uint8_t)kymo_source_wants(session, ky_state.type[i]);
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	ky_thread_tell_roles();
	ky_tool_report();
	go_on();
	return KYMO_OK;
}

/* What lies in a pause in part is not known to have ended: it is closed before it. */
static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	if (!paused) {
		if (!atomic_load(&ky_state.recording))
			go_on();
		return;
	}
	halt(ky_thread_monotonic_ns() + PAUSE_LIMIT_NS);
}

/* A program's session may have us, and the runtime never hear of it. */
static void tell_alone(void)
{
	ky_state.host->state(ky_state.source, KYMO_STATE_ABSENT,
			     KYMO_STR("no OpenMP runtime has loaded it into the program"),
			     KYMO_STR("start the program with OMP_TOOL_LIBRARIES as "
				      "kymo doctor openmp shows it; it takes LLVM's "
				      "runtime, not GCC's"));
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	halt(deadline_ns);
	if (!ky_tool_is_started())
		tell_alone();
	return KYMO_OK;
}

/* As after create: prepare and start follow. Exit handlers are not inherited. */
static void forked(void *source)
{
	(void)source;
	atomic_store(&ky_state.recording, 0);
	ky_thread_forked();
	ky_device_forked();
	ky_thread_prepare();
	register_at_exit();
}

/*
 * The dynamic loader says what it cannot preload in the program's output, and goes on:
 * nothing would be recorded. Several are a list, each taken as the loader takes them.
 */
static int32_t check(const struct kymo_host *host, struct kymo_source_host *self,
		     struct kymo_error *error)
{
	struct kymo_str text;
	char list[4096], *rest = NULL, *name;

	if (host->option(self, preload_option.name, &text) != KYMO_OK ||
	    text.size >= sizeof(list))
		return KYMO_OK; /* the host says that itself */
	snprintf(list, sizeof(list), "%.*s", (int)text.size, text.size ? text.data : "");
	name = strtok_r(list, ": ", &rest);
	for (; name; name = strtok_r(NULL, ": ", &rest)) {
		/* cppcheck-suppress leakNoVarFunctionCall ; the process is thrown away */
		if (dlopen(name, RTLD_LAZY | RTLD_LOCAL))
			continue;
		error->status = KYMO_ERROR_CONFIG;
		snprintf(error->message, sizeof(error->message),
			 "preload: %s: give the path of LLVM's libomp.so.5", dlerror());
		return KYMO_ERROR_CONFIG;
	}
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = ky_probe,
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.forked = forked,
	.check = check,
};

static const struct kymo_source_desc openmp_source = {
	.struct_size = sizeof(openmp_source),
	.name = "openmp",
	.description = "OpenMP regions, tasks, waits and target constructs, by OMPT",
	.types = types,
	.keys = keys,
	.domains = domains,
	.link_kinds = link_kinds,
	.options = options,
	.injections = injections,
	.ops = &ops,
	.unloaded_remedy = "programs built with GCC use libgomp, which has no OMPT: with "
			   "-t openmp:preload=libomp.so.5 they use LLVM's",
};

static const struct kymo_source_desc *const sources[] = {&openmp_source, NULL};

const struct kymo_plugin ky_openmp_plugin = {
	.struct_size = sizeof(ky_openmp_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "openmp",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &ky_openmp_plugin;
}
