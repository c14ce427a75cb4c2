/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process of a job of many this is, as its launcher says in the environment. */
#ifndef KYMO_CONFIG_RANK_H
#define KYMO_CONFIG_RANK_H

/* Digits, innermost launcher first; NULL: none has said it. */
const char *ky_rank(void);
/* How many processes the job has. */
const char *ky_world_size(void);

#endif
