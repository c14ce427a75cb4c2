/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_TABLE_H
#define KYMO_PLUGINS_SOURCE_CUDA_TABLE_H

#include "source.h"

/* What the source declares; each ends with NULL. By enum ky_type and enum ky_key. */
extern const struct kymo_type_desc *const ky_types[KY_TYPE_COUNT + 1];
extern const struct kymo_key_desc *const ky_keys[KY_KEY_COUNT + 1];
extern const struct kymo_domain_desc *const ky_domains[];
extern const struct kymo_link_kind_desc *const ky_link_kinds[];
extern const struct kymo_option_desc *const ky_options[];
extern const struct kymo_injection_desc *const ky_injections[];

#endif
