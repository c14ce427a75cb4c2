/* SPDX-License-Identifier: BSD-3-Clause */
/* What every recording rests on, whatever the sources: is it there on this machine? */
#ifndef KYMO_CONTROL_MACHINE_H
#define KYMO_CONTROL_MACHINE_H

#include <kymo/base.h>

struct ky_fact {
	const char *name;
	uint32_t state; /* KYMO_STATE_* */
	char what[512], why[240], remedy[240];
};

/* The fact of that number, from 0; false when there is none. Tries the thing itself. */
int ky_machine_fact(uint32_t number, struct ky_fact *out);

#endif
