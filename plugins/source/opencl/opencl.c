/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenCL source: its tables, and the life of its one instance.
 *
 * It is a layer of the ICD loader (layer.c). Each wrapped call records a span of the
 * calling thread, and each command that it launches becomes a span of its queue
 * (command.c), tied together by a number in the domain "command". The README says what
 * is recorded, how it is named, and what it costs.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "device.h"
#include "kernel.h"
#include "layer.h"
#include "probe.h"
#include "queue.h"

/* Commands that may wait at once; 72 bytes each, if the session allows no less. */
#define PENDING_LIMIT ((size_t)1 << 20)
#define PENDING_LEAST ((size_t)1 << 10)

#define TYPE(symbol, type_name, type_side)            \
	static const struct kymo_type_desc symbol = { \
		.struct_size = sizeof(symbol),        \
		.shapes = KYMO_SHAPE_SPAN,            \
		.side = (type_side),                  \
		.name = (type_name),                  \
	}

TYPE(runtime_type, "runtime", KYMO_SIDE_HOST);
TYPE(kernel_type, "kernel", KYMO_SIDE_ACCELERATOR);
TYPE(copy_type, "gpu_memcpy", KYMO_SIDE_ACCELERATOR);
TYPE(fill_type, "gpu_memset", KYMO_SIDE_ACCELERATOR);

static const struct kymo_type_desc marker_type = {
	.struct_size = sizeof(marker_type),
	.shapes = KYMO_SHAPE_SPAN,
	.side = KYMO_SIDE_ACCELERATOR,
	.name = "marker",
	.help = "markers, barriers and other commands that neither compute nor copy",
};

static const struct kymo_type_desc *const types[KY_TYPE_COUNT + 1] = {
	[KY_TYPE_RUNTIME] = &runtime_type, [KY_TYPE_KERNEL] = &kernel_type,
	[KY_TYPE_COPY] = &copy_type,       [KY_TYPE_FILL] = &fill_type,
	[KY_TYPE_MARKER] = &marker_type,
};

#define KEY(symbol, key_type, key_name, key_unit, key_help) \
	static const struct kymo_key_desc symbol##_key = {  \
		.struct_size = sizeof(symbol##_key),        \
		.value_type = (key_type),                   \
		.name = (key_name),                         \
		.unit = (key_unit),                         \
		.help = (key_help),                         \
	}

KEY(bytes, KYMO_VALUE_UINT64, "bytes", "bytes", "what the command moves or sets");
KEY(bandwidth, KYMO_VALUE_DOUBLE, "memory bandwidth (GB/s)", "GB/s", "bytes by duration");
KEY(queued, KYMO_VALUE_TIME, "queued", "ns", "when the host enqueued the command");
KEY(submitted, KYMO_VALUE_TIME, "submitted", "ns", "when the device received it");
KEY(context, KYMO_VALUE_UINT64, "context", NULL, "the cl_context");
KEY(global_size, KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, "global work size", "work items",
    "work items by dimension");
KEY(local_size, KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, "local work size", "work items",
    "work items of a group by dimension; absent: chosen by the driver");
KEY(global_offset, KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY, "global work offset",
    "work items", "of the first work item; absent: 0");
KEY(function, KYMO_VALUE_CODE, "function", NULL, "the host function of a native kernel");
KEY(error, KYMO_VALUE_INT64, "error", NULL, "the OpenCL error code");
KEY(vendor, KYMO_VALUE_STRING, "vendor", NULL, "CL_DEVICE_VENDOR");
KEY(driver_version, KYMO_VALUE_STRING, "driverVersion", NULL, "CL_DRIVER_VERSION");
KEY(opencl_version, KYMO_VALUE_STRING, "openclVersion", NULL, "CL_DEVICE_VERSION");
KEY(compute_units, KYMO_VALUE_UINT64, "maxComputeUnits", NULL,
    "CL_DEVICE_MAX_COMPUTE_UNITS");
KEY(clock_frequency, KYMO_VALUE_UINT64, "maxClockFrequency", "MHz",
    "CL_DEVICE_MAX_CLOCK_FREQUENCY");
KEY(global_memory, KYMO_VALUE_UINT64, "totalGlobalMem", "bytes",
    "CL_DEVICE_GLOBAL_MEM_SIZE");
KEY(local_memory, KYMO_VALUE_UINT64, "localMemSize", "bytes", "CL_DEVICE_LOCAL_MEM_SIZE");
KEY(work_group_size, KYMO_VALUE_UINT64, "maxWorkGroupSize", "work items",
    "CL_DEVICE_MAX_WORK_GROUP_SIZE");

static const struct kymo_key_desc *const keys[KY_KEY_COUNT + 1] = {
	[KY_KEY_BYTES] = &bytes_key,
	[KY_KEY_BANDWIDTH] = &bandwidth_key,
	[KY_KEY_QUEUED] = &queued_key,
	[KY_KEY_SUBMITTED] = &submitted_key,
	[KY_KEY_CONTEXT] = &context_key,
	[KY_KEY_GLOBAL_SIZE] = &global_size_key,
	[KY_KEY_LOCAL_SIZE] = &local_size_key,
	[KY_KEY_GLOBAL_OFFSET] = &global_offset_key,
	[KY_KEY_FUNCTION] = &function_key,
	[KY_KEY_ERROR] = &error_key,
	[KY_KEY_VENDOR] = &vendor_key,
	[KY_KEY_DRIVER_VERSION] = &driver_version_key,
	[KY_KEY_OPENCL_VERSION] = &opencl_version_key,
	[KY_KEY_COMPUTE_UNITS] = &compute_units_key,
	[KY_KEY_CLOCK_FREQUENCY] = &clock_frequency_key,
	[KY_KEY_GLOBAL_MEMORY] = &global_memory_key,
	[KY_KEY_LOCAL_MEMORY] = &local_memory_key,
	[KY_KEY_WORK_GROUP_SIZE] = &work_group_size_key,
};

static const struct kymo_domain_desc command_domain = {
	.struct_size = sizeof(command_domain),
	.scope = KYMO_DOMAIN_SOURCE,
	.name = "command",
	.help = "a call and the command that it launches",
};

static const struct kymo_domain_desc *const domains[] = {&command_domain, NULL};

static const struct kymo_injection_desc layer_injection = {
	.struct_size = sizeof(layer_injection),
	.how = KYMO_INJECT_PREPEND,
	.variable = "OPENCL_LAYERS",
	.separator = ":",
	.value = "{plugin}",
};

static const struct kymo_injection_desc *const injections[] = {&layer_injection, NULL};

struct ky_state ky_state;

/* ---- State ---- */

static void forget_parent(void)
{
	ky_queue_forked();
	ky_kernel_forked();
	ky_device_forked();
	ky_command_forked();
	atomic_store(&ky_state.process_id, getpid());
}

int ky_state_is_inherited(void)
{
	const int owner = atomic_load(&ky_state.process_id);

	return owner != 0 && owner != getpid();
}

struct kymo_value ky_value_number(enum ky_key key, uint64_t number)
{
	return (struct kymo_value){
		.key = ky_state.key[key],
		.type = (uint16_t)keys[key]->value_type,
		.u64 = number,
	};
}

struct kymo_value ky_value_text(enum ky_key key, const char *text)
{
	return ky_value_number(key,
			       ky_state.host->string(ky_state.source, kymo_text(text)));
}

struct kymo_value ky_value_array(enum ky_key key, const uint64_t *numbers, uint32_t count)
{
	struct kymo_value value = ky_value_number(key, 0);

	value.count = count;
	value.array = numbers;
	return value;
}

/* ---- The instance ---- */

static void register_names(const struct kymo_host *host, struct kymo_source_host *self)
{
	for (size_t i = 0; i < KY_CALL_COUNT; i++) {
		const struct ky_call_desc *call = &ky_call_descs[i];

		ky_state.function_name[i] = host->string(self, kymo_text(call->function));
		if (call->command)
			ky_state.command_name[i] =
				host->string(self, kymo_text(call->command));
	}
}

/*
 * Exit handlers run in reverse order. One that was registered before the driver made its
 * own finds a driver in ruins: a thread of it that still compiles a kernel crashes, if
 * we linger. So the first handler does not wait; the second, which may, is registered
 * when a kernel has run to its end and the driver has all that it ever will need.
 */
static void drain_at_exit(void *source, uint64_t deadline_ns)
{
	(void)deadline_ns;
	(void)source;
	if (atomic_load(&ky_state.recording) && !ky_state_is_inherited())
		ky_command_finish(0);
}

static void wait_at_exit(void *source, uint64_t deadline_ns)
{
	(void)source;
	if (atomic_load(&ky_state.recording) && !ky_state_is_inherited())
		ky_command_finish(deadline_ns);
}

static void register_at_exit(kymo_drain_fn drain)
{
	if (KYMO_HAS_FUNCTION(ky_state.host, at_exit))
		ky_state.host->at_exit(ky_state.source, drain, &ky_state);
}

void ky_state_kernel_done(void)
{
	if (!atomic_load_explicit(&ky_state.may_wait_at_exit, memory_order_relaxed) &&
	    !atomic_exchange(&ky_state.may_wait_at_exit, 1))
		register_at_exit(wait_at_exit);
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	if (ky_state.source) {
		if (error)
			*error = (struct kymo_error){KYMO_ERROR_BUSY,
						     "the OpenCL layer is in use"};
		return KYMO_ERROR_BUSY;
	}
	ky_state.host = host;
	ky_state.source = self;
	ky_state.type = numbers->types;
	ky_state.key = numbers->keys;
	ky_state.domain = numbers->domains[0];
	atomic_store(&ky_state.process_id, getpid());
	register_names(host, self);
	register_at_exit(drain_at_exit);
	*source = &ky_state;
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	size_t limit = PENDING_LIMIT;

	(void)source;
	(void)error;
	for (size_t i = 0; i < KY_TYPE_COUNT; i++)
		ky_state.is_wanted[i] =
			(uint8_t)kymo_source_wants(session, ky_state.type[i]);
	if (session->memory_limit &&
	    session->memory_limit / sizeof(struct ky_command) < limit)
		limit = session->memory_limit / sizeof(struct ky_command);
	atomic_store(&ky_state.pending_limit,
		     limit > PENDING_LEAST ? limit : PENDING_LEAST);
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source;
	(void)error;
	atomic_fetch_add(&ky_state.epoch, 1);
	atomic_store_explicit(&ky_state.recording, 1, memory_order_release);
	return KYMO_OK;
}

static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	atomic_store_explicit(&ky_state.recording, !paused, memory_order_release);
}

/* A program's session may have us, and the loader never hear of it. */
static void tell_alone(void)
{
	ky_state.host->state(ky_state.source, KYMO_STATE_ABSENT,
			     KYMO_STR("no OpenCL loader has loaded it into the program"),
			     KYMO_STR("start the program with OPENCL_LAYERS as "
				      "kymo doctor opencl shows it"));
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	atomic_store(&ky_state.recording, 0);
	ky_command_finish(deadline_ns);
	if (!ky_layer_is_in_use())
		tell_alone();
	return KYMO_OK;
}

/* One look at everything: in the middle of a session something is always running. */
static int32_t flush_pending(void *source, uint64_t deadline_ns)
{
	(void)source;
	(void)deadline_ns;
	ky_command_drain_all();
	return KYMO_OK;
}

/* As after create: prepare and start follow. Exit handlers are not inherited. */
static void forked(void *source)
{
	(void)source;
	atomic_store(&ky_state.recording, 0);
	atomic_store(&ky_state.may_wait_at_exit, 0);
	forget_parent();
	register_at_exit(drain_at_exit);
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = ky_probe,
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.flush = flush_pending,
	.forked = forked,
};

static const struct kymo_source_desc opencl_source = {
	.struct_size = sizeof(opencl_source),
	.name = "opencl",
	.description = "OpenCL commands and the calls that launch them, of any platform",
	.types = types,
	.keys = keys,
	.domains = domains,
	.injections = injections,
	.ops = &ops,
};

static const struct kymo_source_desc *const sources[] = {&opencl_source, NULL};

const struct kymo_plugin ky_opencl_plugin = {
	.struct_size = sizeof(ky_opencl_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "opencl",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &ky_opencl_plugin;
}
