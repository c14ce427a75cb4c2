/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace says of the process beyond what its capture's header has. */
#ifndef KYMO_SESSION_IDENTITY_H
#define KYMO_SESSION_IDENTITY_H

/* Rank and size of the job, as metadata; nothing where no launcher has said them. */
void ky_identity_publish(void);

#endif
