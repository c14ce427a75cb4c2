/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver tells: records and callbacks of its calls, external correlation,
 * subscribers. */
#include <stdio.h>
#include <string.h>

#include "standin.h"

#define EXPORT STUB_API

enum { EXTERNAL_KINDS = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, EXTERNAL_DEPTH = 64 };

struct CUpti_Subscriber_st {
	int is_used;
};

static struct CUpti_Subscriber_st the_subscriber;
static _Thread_local struct {
	uint64_t ids[EXTERNAL_DEPTH];
	uint32_t count;
} external[EXTERNAL_KINDS];

/* ---- Callbacks ---- */

static void call_back(CUpti_CallbackDomain domain, uint32_t number, const void *data)
{
	CUpti_CallbackFunc callback;
	void *context;
	int is_wanted;

	pthread_mutex_lock(&standin.lock);
	callback = standin.callback;
	context = standin.callback_data;
	is_wanted = standin.domains[domain] ||
		    (number < sizeof(standin.calls[0]) && standin.calls[domain][number]);
	pthread_mutex_unlock(&standin.lock);
	if (callback && is_wanted)
		callback(context, domain, number, data);
}

static void call_back_call(struct stub_call *call, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->name,
		.functionReturnValue = site == CUPTI_API_EXIT ? &call->result : NULL,
		.context = call->context,
		.contextUid = 1,
		.correlationData = &call->data,
		.correlationId = call->correlation,
	};

	call_back(call->api == STUB_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
					   : CUPTI_CB_DOMAIN_RUNTIME_API,
		  standin_call_number(call->api, call->name), &data);
}

/* ---- The driver's tool ---- */

static int is_hidden(const struct stub_call *call)
{
	return call->outer && call->outer->tool &&
	       standin.faults.nested == STANDIN_NESTED_HIDDEN;
}

static void enter(struct stub_call *call)
{
	if (call->outer && call->outer->tool &&
	    standin.faults.nested != STANDIN_NESTED_OWN)
		call->correlation = call->outer->correlation;
	else
		call->correlation = __atomic_add_fetch(&standin.next_correlation, 1,
						       __ATOMIC_RELAXED);
	if (is_hidden(call))
		return;
	call_back_call(call, CUPTI_API_ENTER);
	call->begin = standin_now();
}

static void write_external(const struct stub_call *call)
{
	uint32_t api = call->api == STUB_DRIVER ? CUPTI_ACTIVITY_KIND_DRIVER
						: CUPTI_ACTIVITY_KIND_RUNTIME;

	if (!standin.enabled[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] ||
	    !standin.enabled[api])
		return;
	for (int kind = 0; kind < EXTERNAL_KINDS; kind++) {
		CUpti_ActivityExternalCorrelation *record;

		if (!external[kind].count)
			continue;
		record = standin_reserve(STANDIN_HOST, sizeof(*record));
		if (!record)
			continue;
		record->kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
		record->externalKind = (CUpti_ExternalCorrelationKind)kind;
		record->externalId = external[kind].ids[external[kind].count - 1];
		record->correlationId = call->correlation;
	}
}

static void leave(struct stub_call *call)
{
	uint64_t end = standin_now();

	if (is_hidden(call))
		return;
	pthread_mutex_lock(&standin.lock);
	write_external(call);
	standin_write_call(call, end);
	pthread_mutex_unlock(&standin.lock);
	call_back_call(call, CUPTI_API_EXIT);
}

static void tell_work(const struct stub_call *call, const struct stub_work *work)
{
	pthread_mutex_lock(&standin.lock);
	standin_write_work(call, work);
	pthread_mutex_unlock(&standin.lock);
}

static void tell_sync(const struct stub_call *call, const struct stub_sync *sync)
{
	pthread_mutex_lock(&standin.lock);
	standin_write_sync(call, sync);
	pthread_mutex_unlock(&standin.lock);
}

static void tell_object(const struct stub_object *object)
{
	CUpti_ResourceData data = {
		.context = object->context_handle,
		.resourceHandle = {.stream = object->stream_handle},
	};
	uint32_t number = object->kind == STUB_CONTEXT
				  ? CUPTI_CBID_RESOURCE_CONTEXT_CREATED
				  : CUPTI_CBID_RESOURCE_STREAM_CREATED;

	pthread_mutex_lock(&standin.lock);
	standin_write_object(object);
	pthread_mutex_unlock(&standin.lock);
	/* The destroying one has the number behind the creating one. */
	if (object->kind != STUB_DEVICE)
		call_back(CUPTI_CB_DOMAIN_RESOURCE, number + object->is_gone, &data);
}

static void tell_record(char **words, int count)
{
	pthread_mutex_lock(&standin.lock);
	standin_write_words(words, count);
	pthread_mutex_unlock(&standin.lock);
}

const struct stub_tool standin_tool = {
	.enter = enter,
	.leave = leave,
	.work = tell_work,
	.sync = tell_sync,
	.object = tell_object,
	.record = tell_record,
};

/* ---- Subscribers ---- */

static CUptiResult subscribe(CUpti_SubscriberHandle *subscriber,
			     CUpti_CallbackFunc callback, void *context)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (!subscriber || !callback)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	if (standin.callback || standin.faults.subscriber[0]) {
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	} else {
		standin.callback = callback;
		standin.callback_data = context;
		the_subscriber.is_used = 1;
		*subscriber = &the_subscriber;
	}
	pthread_mutex_unlock(&standin.lock);
	if (result == CUPTI_SUCCESS)
		standin_attach();
	return standin_result(result);
}

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber,
				  CUpti_CallbackFunc callback, void *context)
{
	STANDIN_ENTER(0);
	return subscribe(subscriber, callback, context);
}

#if CUPTI_API_VERSION >= 130000
EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
				     CUpti_CallbackFunc callback, void *context,
				     CUpti_SubscriberParams *parameters)
{
	CUptiResult result;

	STANDIN_ENTER(0);
	if (!parameters || parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	result = subscribe(subscriber, callback, context);
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
	    parameters->oldSubscriberName &&
	    parameters->oldSubscriberSize >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)
		snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize,
			 "%s", standin.faults.subscriber);
	return result;
}
#endif

void standin_drop_subscriber(void)
{
	standin.callback = NULL;
	standin.callback_data = NULL;
	the_subscriber.is_used = 0;
	memset(standin.domains, 0, sizeof(standin.domains));
	memset(standin.calls, 0, sizeof(standin.calls));
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	STANDIN_ENTER(0);
	if (subscriber != &the_subscriber || !the_subscriber.is_used)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	standin_drop_subscriber();
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
				     CUpti_CallbackDomain domain)
{
	STANDIN_ENTER(domain);
	if (subscriber != &the_subscriber || !the_subscriber.is_used ||
	    (unsigned int)domain >= CUPTI_CB_DOMAIN_SIZE)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	standin.domains[domain] = enable != 0;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
				       CUpti_CallbackDomain domain,
				       CUpti_CallbackId number)
{
	STANDIN_ENTER(number);
	if (subscriber != &the_subscriber || !the_subscriber.is_used ||
	    (unsigned int)domain >= CUPTI_CB_DOMAIN_SIZE ||
	    number >= sizeof(standin.calls[0]))
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	standin.calls[domain][number] = enable != 0;
	return CUPTI_SUCCESS;
}

/* ---- External correlation: a stack for each kind, in each thread ---- */

EXPORT CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	STANDIN_ENTER(kind);
	if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
	    (int)kind >= EXTERNAL_KINDS)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (external[kind].count == EXTERNAL_DEPTH)
		return standin_result(CUPTI_ERROR_OUT_OF_MEMORY);
	external[kind].ids[external[kind].count++] = id;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
	STANDIN_ENTER(kind);
	if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
	    (int)kind >= EXTERNAL_KINDS)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (!external[kind].count)
		return standin_result(CUPTI_ERROR_QUEUE_EMPTY);
	external[kind].count--;
	if (last)
		*last = external[kind].ids[external[kind].count];
	return CUPTI_SUCCESS;
}
