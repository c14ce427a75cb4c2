/* SPDX-License-Identifier: BSD-3-Clause */
/* All of Kymo for an application: activity types, errors, marks, sessions. */
#ifndef KYMO_KYMO_H
#define KYMO_KYMO_H

#include <kymo/activity_type.h>
#include <kymo/base.h>
#include <kymo/client.h>
#include <kymo/config.h>
#include <kymo/key.h>
#include <kymo/link.h>
#include <kymo/mark.h>
#include <kymo/observer.h>
#include <kymo/request.h>
#include <kymo/save.h>
#include <kymo/session.h>
#include <kymo/trace.h>

#endif
