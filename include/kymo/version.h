/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which Kymo this is. The library's version and the three formats that outlive a
 * build (plug-in ABI, capture, attach protocol) are numbered apart, since they
 * change at different times. In each pair the major must match, the minor informs.
 */
#ifndef KYMO_VERSION_H
#define KYMO_VERSION_H

#define KYMO_VERSION_MAJOR  0
#define KYMO_VERSION_MINOR  1
#define KYMO_VERSION_PATCH  0
#define KYMO_VERSION_STRING "0.1.0"

/* Of <kymo/plugin.h>, host.h and sink.h; the major is also in the entry's name. */
#define KYMO_PLUGIN_ABI_MAJOR 1
#define KYMO_PLUGIN_ABI_MINOR 0

/* Of <kymo/record.h>, the capture memory and the .kymo file. */
#define KYMO_CAPTURE_FORMAT_MAJOR 1
#define KYMO_CAPTURE_FORMAT_MINOR 0

#endif
