/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults on demand: operations and a host table that stand between the source and the
 * host and do to either what a bad source would. Without the options `fault` and `report`
 * they hand everything through, and the source has the host's own table.
 */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_FAULTS_H
#define KYMO_PLUGINS_SOURCE_FAKE_FAULTS_H

#include <kymo/plugin.h>

/* fake_ops, with faults. */
extern const struct kymo_source_ops fake_faulty_ops;

#endif
