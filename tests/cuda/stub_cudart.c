/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime that stands in for libcudart: a few calls, each on top of the driver's, as
 * the real one does. A kernel's address is the driver's handle of it. The first call
 * starts the driver.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

#include "stub.h"

#define EXPORT STUB_API

static void start(void)
{
	cuInit(0);
}

/* The calling thread's context; device 0's where it has none. */
static CUresult ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	CUcontext context = NULL;
	CUresult result;

	pthread_once(&once, start);
	result = cuCtxGetCurrent(&context);
	if (result != CUDA_SUCCESS || context)
		return result;
	result = cuDevicePrimaryCtxRetain(&context, 0);
	return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

static cudaError_t end(struct stub_call *call, CUresult result)
{
	call->result = (int32_t)result; /* the numbers that are used here are the same */
	stub_leave(call);
	return (cudaError_t)result;
}

/* `name` is CUPTI's: with the version in which the call got its form. */
#define BEGIN(call_name, call_text)                                              \
	struct stub_call call_name = {.api = STUB_RUNTIME, .name = (call_text)}; \
	CUresult call_name##_ready = ready();                                    \
                                                                                 \
	if (call_name##_ready != CUDA_SUCCESS)                                   \
		return (cudaError_t)call_name##_ready;                           \
	stub_enter(&call_name)

EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
				    void **arguments, size_t shared_memory,
				    cudaStream_t stream)
{
	BEGIN(call, "cudaLaunchKernel_v7000");
	return end(&call,
		   cuLaunchKernel((CUfunction)(uintptr_t)function, grid.x, grid.y, grid.z,
				  block.x, block.y, block.z, (unsigned int)shared_memory,
				  stream, arguments, NULL));
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
				   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	BEGIN(call, "cudaMemcpyAsync_v3020");
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return end(&call, cuMemcpyHtoDAsync((CUdeviceptr)(uintptr_t)to, from,
						    size, stream));
	case cudaMemcpyDeviceToHost:
		return end(&call, cuMemcpyDtoHAsync(to, (CUdeviceptr)(uintptr_t)from,
						    size, stream));
	case cudaMemcpyDeviceToDevice:
		return end(&call,
			   cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to,
					     (CUdeviceptr)(uintptr_t)from, size, stream));
	default:
		return end(&call, CUDA_ERROR_INVALID_VALUE);
	}
}

EXPORT cudaError_t cudaMemsetAsync(void *memory, int value, size_t size,
				   cudaStream_t stream)
{
	BEGIN(call, "cudaMemsetAsync_v3020");
	return end(&call,
		   cuMemsetD32Async((CUdeviceptr)(uintptr_t)memory,
				    (unsigned int)value * 0x01010101u, size / 4, stream));
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	BEGIN(call, "cudaStreamSynchronize_v3020");
	return end(&call, cuStreamSynchronize(stream));
}

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
	BEGIN(call, "cudaDeviceSynchronize_v3020");
	return end(&call, cuCtxSynchronize());
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
	BEGIN(call, "cudaGraphLaunch_v10000");
	return end(&call, cuGraphLaunch(executable, stream));
}
