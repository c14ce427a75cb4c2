/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that the driver and the runtime that stand in make, with CUPTI's numbers of
 * them. */
#include <string.h>

#include "standin.h"

#define DRIVER(name)                                               \
	{                                                          \
		STUB_DRIVER, CUPTI_DRIVER_TRACE_CBID_##name, #name \
	}
#define RUNTIME(name)                                                \
	{                                                            \
		STUB_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_##name, #name \
	}

static const struct {
	enum stub_api api;
	uint32_t number;
	const char *name;
} calls[] = {
	RUNTIME(cudaLaunchKernel_v7000),
	RUNTIME(cudaMemcpyAsync_v3020),
	RUNTIME(cudaMemsetAsync_v3020),
	RUNTIME(cudaStreamSynchronize_v3020),
	RUNTIME(cudaDeviceSynchronize_v3020),
	RUNTIME(cudaGraphLaunch_v10000),
	DRIVER(cuCtxEnablePeerAccess),
	DRIVER(cuCtxGetCurrent),
	DRIVER(cuCtxGetDevice),
	DRIVER(cuCtxSetCurrent),
	DRIVER(cuCtxSynchronize),
	DRIVER(cuDeviceCanAccessPeer),
	DRIVER(cuDeviceGet),
	DRIVER(cuDeviceGetAttribute),
	DRIVER(cuDeviceGetCount),
	DRIVER(cuDeviceGetName),
	DRIVER(cuDevicePrimaryCtxRelease_v2),
	DRIVER(cuDevicePrimaryCtxRetain),
	DRIVER(cuEventCreate),
	DRIVER(cuEventDestroy_v2),
	DRIVER(cuEventRecord),
	DRIVER(cuEventSynchronize),
	DRIVER(cuGraphDestroy),
	DRIVER(cuGraphExecDestroy),
	DRIVER(cuGraphInstantiateWithFlags),
	DRIVER(cuGraphLaunch),
	DRIVER(cuLaunchKernel),
	DRIVER(cuMemAllocHost_v2),
	DRIVER(cuMemAlloc_v2),
	DRIVER(cuMemFreeHost),
	DRIVER(cuMemFree_v2),
	DRIVER(cuMemcpyDtoDAsync_v2),
	DRIVER(cuMemcpyDtoHAsync_v2),
	DRIVER(cuMemcpyHtoDAsync_v2),
	DRIVER(cuMemcpyPeerAsync),
	DRIVER(cuMemsetD32Async),
	DRIVER(cuModuleGetFunction),
	DRIVER(cuModuleLoadData),
	DRIVER(cuModuleUnload),
	DRIVER(cuStreamBeginCapture_v2),
	DRIVER(cuStreamCreate),
	DRIVER(cuStreamDestroy_v2),
	DRIVER(cuStreamEndCapture),
	DRIVER(cuStreamSynchronize),
	DRIVER(cuStreamWaitEvent),
};

uint32_t standin_call_number(enum stub_api api, const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].api == api && strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	return 0;
}

STUB_API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number,
					  const char **name)
{
	enum stub_api api =
		domain == CUPTI_CB_DOMAIN_DRIVER_API ? STUB_DRIVER : STUB_RUNTIME;

	STANDIN_ENTER_ANYWHERE(number);
	if (!name || (domain != CUPTI_CB_DOMAIN_DRIVER_API &&
		      domain != CUPTI_CB_DOMAIN_RUNTIME_API))
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i].api != api || calls[i].number != number)
			continue;
		*name = calls[i].name;
		return CUPTI_SUCCESS;
	}
	return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
}
