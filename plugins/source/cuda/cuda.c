/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA source: the life of its one instance.
 *
 * NVIDIA's driver loads it by CUDA_INJECTION64_PATH when the program first uses CUDA; it
 * then subscribes to CUPTI (attach.c), gives it buffers (buffer.c) and turns the records
 * that come back into lines (decode.c). The README says what is recorded, how it is
 * named, and what it costs.
 */
#include <stdio.h>

#include <kymo/inject.h>

#include "attach.h"
#include "buffer.h"
#include "clock.h"
#include "flush.h"
#include "pm_option.h"
#include "pm_source.h"
#include "probe.h"
#include "region.h"
#include "table.h"

#define PAUSE_LIMIT_NS 500000000u /* whoever orders a pause waits for it */
#define LATE_LIMIT_NS  500000000u /* as the driver does, while it is initialised */

struct ky_source ky_source;

static void tell(uint32_t state, const char *reason, const char *remedy)
{
	ky_source.host->state(ky_source.self, state, kymo_text(reason),
			      kymo_text(remedy));
}

/* ---- Recording ---- */

static void tell_of_flush(int32_t status)
{
	char name[128], reason[200];

	if (status == KYMO_ERROR_BUSY) {
		tell(KYMO_STATE_PARTLY,
		     "CUPTI's flush did not return in time: what it still had is missing",
		     "let the program wait for its device (cudaDeviceSynchronize) before "
		     "the recording ends");
	} else if (status == KYMO_ERROR_IO) {
		ky_trouble_name(&ky_source.library, ky_flush_result(), name,
				sizeof(name));
		snprintf(reason, sizeof(reason),
			 "cuptiActivityFlushAll said %s: what CUPTI had is missing",
			 name);
		tell(KYMO_STATE_PARTLY, reason, NULL);
	} else if (status != KYMO_OK) {
		tell(KYMO_STATE_PARTLY,
		     "no thread for CUPTI's flush: what CUPTI had is missing",
		     "allow the program one more thread (ulimit -u, pids.max)");
	}
}

/*
 * Hands over what CUPTI has, as far as it goes in time. What is complete comes first: the
 * flush that does not care, which ends a session, is the one that may wait for ever.
 */
static void hand_over(int is_last, uint64_t deadline_ns)
{
	int32_t status = ky_flush(0, deadline_ns);

	if (is_last && status != KYMO_ERROR_BUSY)
		status = ky_flush(CUPTI_FLUSH_FORCED, deadline_ns);
	tell_of_flush(status);
	ky_buffer_count_dropped();
	ky_clock_anchor();
}

/*
 * CUPTI's own example flushes in an exit handler that is registered where the driver
 * loads it, which is where this comes from.
 */
void ky_drain_at_exit(void *source, uint64_t deadline_ns)
{
	(void)source;
	if (!atomic_load(&ky_source.is_attached) || atomic_load(&ky_source.is_inherited))
		return;
	pm_stop(deadline_ns);
	hand_over(1, deadline_ns);
	pm_release();
	ky_buffer_end();
}

/* What has been handed over is still there when the program is killed. */
static void tick(void *source, uint64_t now)
{
	const uint64_t period_ns = ky_attach_flush_period_ns();

	(void)source, (void)now;
	if (!atomic_load(&ky_source.is_attached))
		return;
	ky_pm_tick();
	/* By half of it where that is the tick's: ticks come a little early or late. */
	ky_flush_when_due(pm_period() ? period_ns : period_ns / 2);
}

/* One timer: counters want theirs far more often than records do. */
static void begin_timer(void)
{
	const uint64_t often_ns = pm_period();
	const int32_t status =
		KYMO_HAS_FUNCTION(ky_source.host, timer)
			? ky_source.host->timer(ky_source.self,
						often_ns ? often_ns
							 : ky_attach_flush_period_ns(),
						tick, &ky_source)
			: KYMO_ERROR_UNSUPPORTED;

	if (often_ns && status != KYMO_OK)
		tell(KYMO_STATE_PARTLY, "no PM sampling: the host has no timer for it",
		     NULL);
}

static int32_t attach(struct ky_trouble *trouble)
{
	int32_t status;

	*trouble = (struct ky_trouble){0};
	if (ky_flush_is_hung()) {
		trouble->status = KYMO_ERROR_BUSY;
		trouble->state = KYMO_STATE_BUSY;
		snprintf(trouble->reason, sizeof(trouble->reason),
			 "CUPTI's flush of an earlier session has not returned");
		snprintf(trouble->remedy, sizeof(trouble->remedy),
			 "it waits for work of the device that does not end");
		status = KYMO_ERROR_BUSY;
	} else {
		status = ky_attach(trouble);
	}
	if (trouble->reason[0])
		tell(trouble->state, trouble->reason, trouble->remedy);
	if (status == KYMO_OK && KYMO_HAS_FUNCTION(ky_source.host, at_exit))
		ky_source.host->at_exit(ky_source.self, ky_drain_at_exit, &ky_source);
	return status;
}

/* ---- Operations ---- */

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	if (ky_source.self) {
		if (error)
			*error = (struct kymo_error){KYMO_ERROR_BUSY,
						     "the CUDA source is in use"};
		return KYMO_ERROR_BUSY;
	}
	ky_source.host = host;
	ky_source.self = self;
	ky_source.numbers = numbers;
	ky_library_read_environment(&ky_source.places);
	ky_pm_create();
	*source = &ky_source;
	return KYMO_OK;
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source;
	atomic_store(&ky_source.epoch, session->epoch);
	if (pm_prepare(session, error) != KYMO_OK)
		return KYMO_ERROR_CONFIG;
	return ky_attach_prepare(session, error);
}

static int32_t start(void *source, struct kymo_error *error)
{
	struct ky_trouble trouble;

	(void)source;
	atomic_store(&ky_source.is_paused, 0);
	atomic_store(&ky_source.is_wanted, 1);
	if (atomic_load(&ky_source.is_injecting))
		return KYMO_OK; /* attach_late follows */
	if (atomic_load(&ky_source.is_inherited)) {
		tell(KYMO_STATE_ABSENT, "this forked process has not used CUDA itself",
		     NULL);
		return KYMO_OK;
	}
	if (attach(&trouble) == KYMO_OK) {
		ky_pm_attached(0);
		begin_timer();
		return KYMO_OK;
	}
	atomic_store(&ky_source.is_wanted, 0);
	if (error) {
		error->status = trouble.status;
		snprintf(error->message, sizeof(error->message), "%s", trouble.reason);
	}
	return trouble.status;
}

/*
 * What CUPTI has is of before the pause. It is handed over now, while the gate is still
 * open: the program may end in the pause, and nobody asks for it then.
 */
static void set_paused(void *source, uint32_t paused)
{
	(void)source;
	atomic_store(&ky_source.is_paused, paused);
	pm_pause(paused);
	if (!atomic_load(&ky_source.is_attached))
		return;
	ky_attach_pause((int)paused);
	if (!paused)
		return;
	hand_over(0, ky_monotonic_ns() + PAUSE_LIMIT_NS);
	ky_buffer_settle(0);
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	atomic_store(&ky_source.is_wanted, 0);
	if (!atomic_load(&ky_source.is_attached))
		return KYMO_OK;
	pm_stop(deadline_ns);
	ky_attach_stop();
	return KYMO_OK;
}

/* The last one of a session also ends what unfinished work there is, and lets go. */
static int32_t flush(void *source, uint64_t deadline_ns)
{
	const int is_last = !atomic_load(&ky_source.is_wanted);

	(void)source;
	if (!atomic_load(&ky_source.is_attached))
		return KYMO_OK;
	hand_over(is_last, deadline_ns);
	if (!is_last)
		return KYMO_OK;
	ky_buffer_end();
	pm_release();
	/* Not while CUPTI is in our callbacks: the next session does it then. */
	if (!ky_flush_is_hung())
		ky_detach();
	return KYMO_OK;
}

static int32_t sample_clock(void *source, uint32_t clock, struct kymo_clock_pair *out)
{
	(void)source;
	return ky_clock_sample(clock, out);
}

/* CUDA does not live on in a child, and what CUPTI had of the parent's is not ours. */
static void forked(void *source)
{
	(void)source;
	atomic_store(&ky_source.is_wanted, 0);
	atomic_store(&ky_source.is_inherited, 1);
	pm_forked();
	ky_attach_forked();
	ky_flush_forked();
	ky_buffer_forked();
}

static int32_t refuse_option(struct kymo_error *error, const char *reason)
{
	error->status = KYMO_ERROR_CONFIG;
	snprintf(error->message, sizeof(error->message), "%.*s",
		 (int)sizeof(error->message) - 1, reason);
	return KYMO_ERROR_CONFIG;
}

/* In a process that is thrown away: there is no instance that this could disturb. */
static int32_t check(const struct kymo_host *host, struct kymo_source_host *self,
		     struct kymo_error *error)
{
	struct pm_options options;
	struct pm_problem problem = {0};
	int32_t status;

	ky_source.host = host;
	ky_source.self = self;
	status = ky_attach_check(error);
	if (status)
		return status;
	return pm_options_read(&options, host, self, &problem)
		       ? KYMO_OK
		       : refuse_option(error, problem.reason);
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = ky_probe,
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.flush = flush,
	.sample_clock = sample_clock,
	.push_correlation = ky_region_push,
	.pop_correlation = ky_region_pop,
	.forked = forked,
	.check = check,
};

static const struct kymo_source_desc cuda_source = {
	.struct_size = sizeof(cuda_source),
	.name = "cuda",
	.description = "CUDA kernels, copies and calls, by CUPTI",
	.types = ky_types,
	.keys = ky_keys,
	.domains = ky_domains,
	.link_kinds = ky_link_kinds,
	.options = ky_options,
	.injections = ky_injections,
	.ops = &ops,
	.unloaded_remedy = "NVIDIA's driver (libcuda.so.1) loads it when the program "
			   "first uses CUDA, unless CUDA_INJECTION64_PATH names another "
			   "tool already; kymo doctor cuda says whether it can",
};

static const struct kymo_source_desc *const sources[] = {&cuda_source, NULL};

const struct kymo_plugin ky_cuda_plugin = {
	.struct_size = sizeof(ky_cuda_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "cuda",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &ky_cuda_plugin;
}

/* After the host was attached from within the driver, or CUDA has come to a child. */
static void attach_late(int is_child)
{
	struct ky_trouble trouble;

	if (!atomic_load(&ky_source.is_wanted) || atomic_load(&ky_source.is_attached))
		return;
	if (attach(&trouble) != KYMO_OK)
		return;
	/* Whoever has stopped it meanwhile may have found nothing to stop. */
	if (!atomic_load(&ky_source.is_wanted)) {
		ky_attach_stop();
		flush(&ky_source, ky_monotonic_ns() + LATE_LIMIT_NS);
		return;
	}
	if (!trouble.reason[0] && is_child)
		tell(KYMO_STATE_RECORDING, NULL, NULL);
	ky_pm_attached(1);
	begin_timer();
}

/*
 * What the driver calls in the library that CUDA_INJECTION64_PATH names, while it is
 * initialised. CUPTI may be subscribed to here, CUDA may not be called; so the host is
 * attached first, and CUPTI is called when nothing of the host's is held any more.
 */
KYMO_API int InitializeInjection(void);
int InitializeInjection(void)
{
	const struct kymo_host *host = NULL;
	int is_child;

	atomic_store(&ky_source.is_injecting, 1);
	if (kymo_inject(&ky_cuda_plugin, &host, NULL) == KYMO_OK && host)
		kymo_host_is_on(host); /* in a forked child: `forked` comes first */
	is_child = (int)atomic_exchange(&ky_source.is_inherited, 0);
	atomic_store(&ky_source.is_injecting, 0);
	if (ky_source.self)
		attach_late(is_child);
	return 1;
}
