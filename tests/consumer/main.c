/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest user of an installed Kymo; guide_test.py builds it through pkg-config. */
#include <stdio.h>
#include <string.h>

#include <kymo/base.h>

int main(void)
{
	puts(kymo_version());
	return strcmp(kymo_version(), KYMO_VERSION_STRING) != 0;
}
