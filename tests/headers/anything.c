/* SPDX-License-Identifier: BSD-3-Clause */
/* A header of macros alone would leave an empty translation unit, which C forbids. */
typedef int anything;
