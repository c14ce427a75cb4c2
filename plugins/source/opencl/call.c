/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of wrapped calls.
 *
 * Viewers decide by name what a device span is: copies begin with "Memcpy", fills with
 * "Memset". The pattern is libkineto's, "Memcpy XtoY (X -> Y)", with its letter A (array)
 * for images.
 */
#include "call.h"

#include <stddef.h>

#define COMMAND(function, command, type, rate)           \
	{                                                \
		(function), (command), (type), (rate), 0 \
	}
#define HOST_CALL(function, block)                          \
	{                                                   \
		(function), NULL, KY_TYPE_COUNT, 0, (block) \
	}

const struct ky_call_desc ky_call_descs[KY_CALL_COUNT] = {
	[KY_CALL_NDRANGE_KERNEL] =
		COMMAND("clEnqueueNDRangeKernel", NULL, KY_TYPE_KERNEL, 0),
	[KY_CALL_TASK] = COMMAND("clEnqueueTask", NULL, KY_TYPE_KERNEL, 0),
	[KY_CALL_NATIVE_KERNEL] =
		COMMAND("clEnqueueNativeKernel", "Native kernel", KY_TYPE_KERNEL, 0),
	[KY_CALL_COMMAND_BUFFER] =
		COMMAND("clEnqueueCommandBufferKHR", "Command buffer", KY_TYPE_KERNEL, 0),

	[KY_CALL_READ_BUFFER] = COMMAND("clEnqueueReadBuffer",
					"Memcpy DtoH (Device -> Host)", KY_TYPE_COPY, 1),
	[KY_CALL_WRITE_BUFFER] = COMMAND("clEnqueueWriteBuffer",
					 "Memcpy HtoD (Host -> Device)", KY_TYPE_COPY, 1),
	[KY_CALL_COPY_BUFFER] = COMMAND(
		"clEnqueueCopyBuffer", "Memcpy DtoD (Device -> Device)", KY_TYPE_COPY, 1),
	[KY_CALL_FILL_BUFFER] =
		COMMAND("clEnqueueFillBuffer", "Memset (Device)", KY_TYPE_FILL, 1),
	[KY_CALL_READ_BUFFER_RECT] =
		COMMAND("clEnqueueReadBufferRect", "Memcpy DtoH (Device -> Host)",
			KY_TYPE_COPY, 1),
	[KY_CALL_WRITE_BUFFER_RECT] =
		COMMAND("clEnqueueWriteBufferRect", "Memcpy HtoD (Host -> Device)",
			KY_TYPE_COPY, 1),
	[KY_CALL_COPY_BUFFER_RECT] =
		COMMAND("clEnqueueCopyBufferRect", "Memcpy DtoD (Device -> Device)",
			KY_TYPE_COPY, 1),
	[KY_CALL_MAP_BUFFER] =
		COMMAND("clEnqueueMapBuffer", "Memcpy DtoH (Map)", KY_TYPE_COPY, 0),

	[KY_CALL_READ_IMAGE] = COMMAND("clEnqueueReadImage",
				       "Memcpy AtoH (Image -> Host)", KY_TYPE_COPY, 1),
	[KY_CALL_WRITE_IMAGE] = COMMAND("clEnqueueWriteImage",
					"Memcpy HtoA (Host -> Image)", KY_TYPE_COPY, 1),
	[KY_CALL_COPY_IMAGE] = COMMAND("clEnqueueCopyImage",
				       "Memcpy AtoA (Image -> Image)", KY_TYPE_COPY, 1),
	[KY_CALL_FILL_IMAGE] =
		COMMAND("clEnqueueFillImage", "Memset (Image)", KY_TYPE_FILL, 1),
	[KY_CALL_COPY_IMAGE_TO_BUFFER] =
		COMMAND("clEnqueueCopyImageToBuffer", "Memcpy AtoD (Image -> Device)",
			KY_TYPE_COPY, 1),
	[KY_CALL_COPY_BUFFER_TO_IMAGE] =
		COMMAND("clEnqueueCopyBufferToImage", "Memcpy DtoA (Device -> Image)",
			KY_TYPE_COPY, 1),
	[KY_CALL_MAP_IMAGE] =
		COMMAND("clEnqueueMapImage", "Memcpy AtoH (Map)", KY_TYPE_COPY, 0),

	[KY_CALL_UNMAP] = COMMAND("clEnqueueUnmapMemObject", "Memcpy HtoD (Unmap)",
				  KY_TYPE_COPY, 0),
	[KY_CALL_MIGRATE] = COMMAND("clEnqueueMigrateMemObjects", "Memcpy HtoD (Migrate)",
				    KY_TYPE_COPY, 0),
	[KY_CALL_MIGRATE_TO_HOST] = COMMAND("clEnqueueMigrateMemObjects",
					    "Memcpy DtoH (Migrate)", KY_TYPE_COPY, 0),

	[KY_CALL_SVM_FREE] = COMMAND("clEnqueueSVMFree", "SVM free", KY_TYPE_MARKER, 0),
	[KY_CALL_SVM_COPY] =
		COMMAND("clEnqueueSVMMemcpy", "Memcpy SVM (SVM -> SVM)", KY_TYPE_COPY, 1),
	[KY_CALL_SVM_FILL] =
		COMMAND("clEnqueueSVMMemFill", "Memset (SVM)", KY_TYPE_FILL, 1),
	[KY_CALL_SVM_MAP] =
		COMMAND("clEnqueueSVMMap", "Memcpy DtoH (SVM Map)", KY_TYPE_COPY, 0),
	[KY_CALL_SVM_UNMAP] =
		COMMAND("clEnqueueSVMUnmap", "Memcpy HtoD (SVM Unmap)", KY_TYPE_COPY, 0),
	[KY_CALL_SVM_MIGRATE] = COMMAND("clEnqueueSVMMigrateMem",
					"Memcpy HtoD (SVM Migrate)", KY_TYPE_COPY, 0),
	[KY_CALL_SVM_MIGRATE_TO_HOST] = COMMAND(
		"clEnqueueSVMMigrateMem", "Memcpy DtoH (SVM Migrate)", KY_TYPE_COPY, 0),
	[KY_CALL_USM_COPY] = COMMAND("clEnqueueMemcpyINTEL", "Memcpy USM (USM -> USM)",
				     KY_TYPE_COPY, 1),
	[KY_CALL_USM_FILL] =
		COMMAND("clEnqueueMemFillINTEL", "Memset (USM)", KY_TYPE_FILL, 1),
	[KY_CALL_USM_MIGRATE] = COMMAND("clEnqueueMigrateMemINTEL",
					"Memcpy HtoD (USM Migrate)", KY_TYPE_COPY, 0),
	[KY_CALL_USM_ADVISE] =
		COMMAND("clEnqueueMemAdviseINTEL", "USM advice", KY_TYPE_MARKER, 0),

	[KY_CALL_ACQUIRE_GL] = COMMAND("clEnqueueAcquireGLObjects", "Acquire GL objects",
				       KY_TYPE_MARKER, 0),
	[KY_CALL_RELEASE_GL] = COMMAND("clEnqueueReleaseGLObjects", "Release GL objects",
				       KY_TYPE_MARKER, 0),
	[KY_CALL_MARKER] = COMMAND("clEnqueueMarker", "Marker", KY_TYPE_MARKER, 0),
	[KY_CALL_MARKER_WITH_WAIT_LIST] =
		COMMAND("clEnqueueMarkerWithWaitList", "Marker", KY_TYPE_MARKER, 0),
	[KY_CALL_BARRIER_WITH_WAIT_LIST] =
		COMMAND("clEnqueueBarrierWithWaitList", "Barrier", KY_TYPE_MARKER, 0),

	[KY_CALL_BARRIER] = HOST_CALL("clEnqueueBarrier", 0),
	[KY_CALL_QUEUE_WAIT] = HOST_CALL("clEnqueueWaitForEvents", 0),
	[KY_CALL_FLUSH] = HOST_CALL("clFlush", 0),
	[KY_CALL_FINISH] = HOST_CALL("clFinish", 1),
	[KY_CALL_WAIT_FOR_EVENTS] = HOST_CALL("clWaitForEvents", 1),
	[KY_CALL_SET_USER_EVENT_STATUS] = HOST_CALL("clSetUserEventStatus", 0),
	[KY_CALL_RELEASE_QUEUE] = HOST_CALL("clReleaseCommandQueue", 0),
	[KY_CALL_BUILD_PROGRAM] = HOST_CALL("clBuildProgram", 1),
	[KY_CALL_COMPILE_PROGRAM] = HOST_CALL("clCompileProgram", 1),
	[KY_CALL_LINK_PROGRAM] = HOST_CALL("clLinkProgram", 1),
};
