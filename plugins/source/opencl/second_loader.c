/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapped calls once more, for a second loader in the process; layer.h says why.
 */
#define KY_LAYER_INDEX 1

#include "copy_call.c"
#include "extension_call.c"
#include "host_call.c"
#include "kernel_call.c"
#include "queue_call.c"
