/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stand-ins themselves, without Kymo: that they do what CUPTI's manual says CUPTI
 * does. Built once for each major, against its headers; the first argument is the
 * library, and each test has a process of its own, since CUPTI cannot be begun anew.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

#include "standin.h"

#define FUNCTION(name) __typeof__(name) *name##_
#define FIND(name)     (*(void **)&cupti.name##_ = dlsym(library, #name))

static const char *library_path;
static struct {
	FUNCTION(cuptiActivityRegisterCallbacks);
	FUNCTION(cuptiActivityRegisterTimestampCallback);
	FUNCTION(cuptiActivityEnable);
	FUNCTION(cuptiActivityDisable);
	FUNCTION(cuptiActivityFlushAll);
	FUNCTION(cuptiActivityGetNextRecord);
	FUNCTION(cuptiActivityGetNumDroppedRecords);
	FUNCTION(cuptiActivityPushExternalCorrelationId);
	FUNCTION(cuptiActivityPopExternalCorrelationId);
	FUNCTION(cuptiGetCallbackName);
	FUNCTION(cuptiSubscribe);
	FUNCTION(cuptiEnableDomain);
	FUNCTION(cuptiFinalize);
} cupti;

/* What has come: copies of the records, in the order of coming. */
static struct {
	_Alignas(8) uint8_t data[1 << 16];
	size_t used, buffer_size, buffers_left, buffers, last_result;
	CUpti_Activity *records[512];
	int count;
	pthread_t from; /* the thread of the last buffer */
} seen;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*most = 0;
	*buffer = NULL;
	if (seen.buffers_left == 0)
		return;
	seen.buffers_left--;
	seen.buffers++;
	*size = seen.buffer_size;
	*buffer = aligned_alloc(8, seen.buffer_size);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
		     size_t valid)
{
	CUpti_Activity *record = NULL;
	CUptiResult result;

	(void)context, (void)stream, (void)size;
	memcpy(seen.data + seen.used, buffer, valid);
	free(buffer);
	buffer = seen.data + seen.used;
	seen.used += (valid + 7) & ~(size_t)7;
	while (!(result = cupti.cuptiActivityGetNextRecord_(buffer, valid, &record)))
		seen.records[seen.count++] = record;
	seen.last_result = result;
	seen.from = pthread_self();
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static CUfunction function;
static CUmodule module;

static void begin(const char *scenario)
{
	char path[] = "/tmp/kymo-standin-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	CUcontext context;
	void *library;

	fputs(scenario, file);
	fclose(file);
	setenv("CUDA_SCENARIO", path, 1);
	library = dlopen(library_path, RTLD_NOW);
	assert_non_null(library);
	FIND(cuptiActivityRegisterCallbacks);
	FIND(cuptiActivityRegisterTimestampCallback);
	FIND(cuptiActivityEnable);
	FIND(cuptiActivityDisable);
	FIND(cuptiActivityFlushAll);
	FIND(cuptiActivityGetNextRecord);
	FIND(cuptiActivityGetNumDroppedRecords);
	FIND(cuptiActivityPushExternalCorrelationId);
	FIND(cuptiActivityPopExternalCorrelationId);
	FIND(cuptiGetCallbackName);
	FIND(cuptiSubscribe);
	FIND(cuptiEnableDomain);
	FIND(cuptiFinalize);
	seen.buffer_size = 4096;
	seen.buffers_left = 100;
	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(cuModuleLoadData(&module, ""), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&function, module, "a kernel"),
			 CUDA_SUCCESS);
	assert_int_equal(cupti.cuptiActivityRegisterCallbacks_(request, complete),
			 CUPTI_SUCCESS);
	cupti.cuptiActivityRegisterTimestampCallback_(now);
	unlink(path);
}

static void launch(void)
{
	assert_int_equal(
		cuLaunchKernel(function, 3, 2, 1, 32, 1, 1, 64, NULL, NULL, NULL),
		CUDA_SUCCESS);
}

static int count_of(uint32_t kind)
{
	int count = 0;

	for (int i = 0; i < seen.count; i++)
		count += seen.records[i]->kind == kind;
	return count;
}

static void *first_of(uint32_t kind)
{
	for (int i = 0; i < seen.count; i++)
		if (seen.records[i]->kind == kind)
			return seen.records[i];
	fail_msg("no record of kind %u", kind);
	return NULL;
}

static size_t dropped(void)
{
	size_t count = 0;

	assert_int_equal(cupti.cuptiActivityGetNumDroppedRecords_(NULL, 0, &count), 0);
	return count;
}

/* ---- Tests ---- */

static void a_launch_and_its_kernel_have_one_correlation(void **state)
{
	uint64_t before = now();
	const CUpti_ActivityAPI *call;
	const standin_kernel *kernel;

	(void)state;
	begin("");
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_DRIVER);
	launch();
	cuCtxSynchronize();
	cupti.cuptiActivityFlushAll_(0);
	kernel = first_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	call = first_of(CUPTI_ACTIVITY_KIND_DRIVER);
	assert_string_equal(kernel->name, "a kernel");
	assert_int_equal(kernel->gridX, 3);
	assert_int_equal(kernel->end - kernel->start, 10000);
	assert_in_range(kernel->start, before, now());
	assert_int_equal(call->cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	assert_int_equal(call->correlationId, kernel->correlationId);
	assert_in_range(kernel->start, call->start, now());
}

static void a_flush_keeps_back_what_runs_and_a_forced_one_has_no_times_of_it(void **state)
{
	const standin_kernel *kernel;

	(void)state;
	begin("");
	stub_set_duration(60000000000);
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch();
	cupti.cuptiActivityFlushAll_(0);
	assert_int_equal(seen.count, 0);
	cupti.cuptiActivityFlushAll_(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	kernel = first_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	assert_int_equal(kernel->start, 0);
	assert_int_equal(kernel->end, 0);
}

static void what_finds_no_buffer_is_counted_once(void **state)
{
	(void)state;
	begin("");
	seen.buffers_left = 1;
	seen.buffer_size = 2 * sizeof(standin_kernel) + 8;
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (int i = 0; i < 5; i++)
		launch();
	assert_int_equal(dropped(), 3);
	assert_int_equal(dropped(), 0);
	cuCtxSynchronize();
	cupti.cuptiActivityFlushAll_(0);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 2);
}

static void a_full_buffer_comes_back_from_another_thread(void **state)
{
	struct timespec moment = {0, 1000000};

	(void)state;
	begin("");
	seen.buffer_size = 2 * sizeof(standin_kernel);
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (int i = 0; i < 3; i++)
		launch();
	for (int i = 0; i < 5000 && __atomic_load_n(&seen.count, __ATOMIC_ACQUIRE) < 2;
	     i++)
		nanosleep(&moment, NULL);
	assert_int_equal(seen.count, 2);
	assert_false(pthread_equal(seen.from, pthread_self()));
	assert_int_equal(seen.last_result, CUPTI_ERROR_MAX_LIMIT_REACHED);
}

static void external_correlation_stands_before_the_call(void **state)
{
	const CUpti_ActivityExternalCorrelation *external;
	uint64_t last = 0;

	(void)state;
	begin("");
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_DRIVER);
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	cupti.cuptiActivityPushExternalCorrelationId_(
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 1);
	cupti.cuptiActivityPushExternalCorrelationId_(
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, UINT64_MAX);
	launch();
	cupti.cuptiActivityPopExternalCorrelationId_(
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &last);
	assert_true(last == UINT64_MAX);
	cupti.cuptiActivityPopExternalCorrelationId_(
		CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, NULL);
	assert_int_equal(cupti.cuptiActivityPopExternalCorrelationId_(
				 CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, NULL),
			 CUPTI_ERROR_QUEUE_EMPTY);
	launch();
	cupti.cuptiActivityFlushAll_(0);
	assert_int_equal(seen.count, 3);
	external = (const void *)seen.records[0];
	assert_int_equal(external->kind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	assert_true(external->externalId == UINT64_MAX);
	assert_int_equal(external->correlationId,
			 ((const CUpti_ActivityAPI *)(const void *)seen.records[1])
				 ->correlationId);
}

static void a_cut_buffer_ends_with_an_error(void **state)
{
	(void)state;
	begin("cupti cut 1\n");
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch();
	launch();
	cuCtxSynchronize();
	cupti.cuptiActivityFlushAll_(0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last_result, CUPTI_ERROR_INVALID_KIND);
}

static void a_record_of_a_kind_that_nobody_knows_is_stepped_over(void **state)
{
	char unknown[] = "unknown", size[] = "72";
	char *words[] = {unknown, size, NULL};

	(void)state;
	begin("");
	cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_DRIVER);
	launch();
	stub_record(words, 2);
	launch();
	cupti.cuptiActivityFlushAll_(0);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.records[1]->kind, STANDIN_UNKNOWN_KIND + 72);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_DRIVER), 2);
}

static void the_scenario_makes_a_call_fail_for_one_argument(void **state)
{
	(void)state;
	begin("cupti error cuptiActivityEnable 35 10 # kernels\n");
	assert_int_equal(
		cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	assert_int_equal(cupti.cuptiActivityEnable_(CUPTI_ACTIVITY_KIND_DRIVER),
			 CUPTI_SUCCESS);
}

static int callbacks;

static void count_callback(void *context, CUpti_CallbackDomain domain,
			   CUpti_CallbackId number, const void *data)
{
	(void)context, (void)data;
	callbacks += domain == CUPTI_CB_DOMAIN_DRIVER_API &&
		     number == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
}

static void one_may_subscribe_and_after_the_end_nothing_is_told(void **state)
{
	CUpti_SubscriberHandle subscriber;

	(void)state;
	begin("");
	assert_int_equal(cupti.cuptiSubscribe_(&subscriber, count_callback, NULL),
			 CUPTI_SUCCESS);
	assert_int_equal(cupti.cuptiSubscribe_(&subscriber, count_callback, NULL),
			 CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	cupti.cuptiEnableDomain_(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	launch();
	assert_int_equal(callbacks, 2);
	cupti.cuptiFinalize_();
	launch();
	assert_int_equal(callbacks, 2);
}

static void each_call_has_its_vendors_name(void **state)
{
	const char *name = NULL;

	(void)state;
	begin("");
	cupti.cuptiGetCallbackName_(CUPTI_CB_DOMAIN_RUNTIME_API,
				    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
				    &name);
	assert_string_equal(name, "cudaLaunchKernel_v7000");
	assert_int_equal(
		cupti.cuptiGetCallbackName_(CUPTI_CB_DOMAIN_RUNTIME_API, 99999, &name),
		CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- A process for each ---- */

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_launch_and_its_kernel_have_one_correlation),
	cmocka_unit_test(
		a_flush_keeps_back_what_runs_and_a_forced_one_has_no_times_of_it),
	cmocka_unit_test(what_finds_no_buffer_is_counted_once),
	cmocka_unit_test(a_full_buffer_comes_back_from_another_thread),
	cmocka_unit_test(external_correlation_stands_before_the_call),
	cmocka_unit_test(a_cut_buffer_ends_with_an_error),
	cmocka_unit_test(a_record_of_a_kind_that_nobody_knows_is_stepped_over),
	cmocka_unit_test(the_scenario_makes_a_call_fail_for_one_argument),
	cmocka_unit_test(one_may_subscribe_and_after_the_end_nothing_is_told),
	cmocka_unit_test(each_call_has_its_vendors_name),
};

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2)
		return 2;
	library_path = argv[1];
	printf("1..%zu\n", sizeof(tests) / sizeof(tests[0]));
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int status = 1;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			dup2(2, 1); /* cmocka's own plan of one is for who looks for the
				       reason */
			_exit(_cmocka_run_group_tests(tests[i].name, &tests[i], 1, NULL,
						      NULL));
		}
		waitpid(child, &status, 0);
		failed += status != 0;
		printf("%sok %zu - %s\n", status ? "not " : "", i + 1, tests[i].name);
	}
	return failed != 0;
}
