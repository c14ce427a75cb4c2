/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types: what kinds of things are recorded.
 *
 * A type is a number of 32 bits. Those below 50 are static: their numbers and names mean
 * the same for ever. All others are custom: anybody brings them, by (plug-in, name), and
 * their number comes from those two alone, so it is equal in every process and rank. A
 * plug-in declares its types in its tables (<kymo/plugin.h>); an application registers
 * them here, and records what is of them by <kymo/mark.h>:
 *
 *     uint32_t id;
 *
 *     kymo_activity_type_register("trainer", "phase", NULL, &id, NULL);
 *
 * All functions may be called from any thread, at any time but in a signal handler, in
 * forked children too; they take a lock, and copy what they are given and give. The table
 * belongs to the process and is never shortened. docs/activity-types.md has the whole
 * list.
 */
#ifndef KYMO_ACTIVITY_TYPE_H
#define KYMO_ACTIVITY_TYPE_H

#include <kymo/base.h>
#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

/* Numbers of static types that stand for a whole class, whatever the vendor. */
#define KYMO_ACTIVITY_TYPE_KERNEL         5u
#define KYMO_ACTIVITY_TYPE_RUNTIME        7u
#define KYMO_ACTIVITY_TYPE_DRIVER         8u
#define KYMO_ACTIVITY_TYPE_GPU_PM_COUNTER 28u

/*
 * Static types that are recorded where nobody says which are wanted, a bit for each: 0 to
 * 11, 14, 15, 16. Custom ones are, unless they are KYMO_TYPE_OPT_IN.
 */
#define KYMO_ACTIVITY_TYPES_DEFAULT 0x1cfffu

/* What is said of a type; a member that is zero says nothing. Set struct_size. */
struct kymo_activity_type_attributes {
	uint32_t struct_size;
	uint32_t shapes;      /* KYMO_SHAPE_* */
	uint32_t side;        /* KYMO_SIDE_* */
	uint32_t flags;       /* KYMO_TYPE_OPT_IN */
	const char *category; /* what viewers group by, up to 64 bytes; NULL */

	/* End of ABI 1.0 */
};

/*
 * Makes the custom type (plugin, name) known, or finds it; `*id` is its number. Both
 * names are 1 to 64 of [A-Za-z0-9_-]; `name` may be that of a static type. What one call
 * leaves out another may add; attributes NULL says nothing.
 *
 * KYMO_ERROR_INVALID: a name or attribute is none, or is another than before, and the
 * error has both. KYMO_ERROR_STATE: the name is new, and a session of this program is
 * prepared or recording; the log says so too. KYMO_ERROR_NO_MEMORY: there are 131072
 * types. Where it fails `*id` is UINT32_MAX, which no type is.
 */
KYMO_API int32_t
kymo_activity_type_register(const char *plugin, const char *name,
			    const struct kymo_activity_type_attributes *attributes,
			    uint32_t *id, struct kymo_error *error);

/*
 * The number for a name, in this order: "plugin.name"; the name of a static type, or the
 * bare name of a custom one if just one plug-in has it, of which the static one wins and
 * the log says so; names of static types, and their aliases, in any case; a number, as
 * digits. An alias, also by its number, gives the generic type's number, and the log says
 * once a session which name to use.
 *
 * KYMO_ERROR_NOT_FOUND, with what may have been meant; KYMO_ERROR_INVALID, with what it
 * could be, where several plug-ins have it. Then `*id` is UINT32_MAX.
 */
KYMO_API int32_t kymo_activity_type_lookup(const char *name, uint32_t *id,
					   struct kymo_error *error);

/*
 * The name of a number: of a static type, or "plugin.name"; of an alias that of what it
 * stands for. KYMO_ERROR_NOT_FOUND and "" for one that nobody has, KYMO_ERROR_INVALID if
 * `size` is too small; 130 bytes hold any.
 */
KYMO_API int32_t kymo_activity_type_name(uint32_t id, char *out, size_t size);

/* The number that an alias stands for; any other number is itself. */
KYMO_API uint32_t kymo_activity_type_canonical(uint32_t id);

#define KYMO_ACTIVITY_TYPE_STATIC  0x10000u /* in kymo_activity_type.flags: static */
#define KYMO_ACTIVITY_TYPE_DEFAULT 0x20000u /* recorded unless something else is said */
#define KYMO_ACTIVITY_TYPE_ALIAS   0x40000u /* deprecated: use the type `canonical` */

/* One entry of the table; set struct_size. All of it is a copy. */
struct kymo_activity_type {
	uint32_t struct_size;
	uint32_t id;
	uint32_t canonical;    /* itself, but of an alias */
	uint32_t kineto_id;    /* its number in 8 bits, see below */
	uint32_t shapes, side; /* 0: nobody has said */
	uint32_t flags;        /* KYMO_TYPE_OPT_IN, KYMO_ACTIVITY_TYPE_* */
	uint32_t reserved0;
	char plugin[72];             /* "" for a static type */
	char name[72], category[72]; /* category "": the name is shown */

	/* End of ABI 1.0 */
};

/*
 * The entry at `index`: the 29 static types in order of their numbers, then custom ones
 * in order of registration. An entry keeps its index, so a count taken once bounds a
 * snapshot whoever registers meanwhile. KYMO_END behind the last; KYMO_ERROR_INVALID
 * without struct_size.
 */
KYMO_API size_t kymo_activity_type_count(void);
KYMO_API int32_t kymo_activity_type_at(size_t index, struct kymo_activity_type *out);

/* The alias at `index`, a static text, and what it stands for; NULL behind the last. */
KYMO_API const char *kymo_activity_type_alias(size_t index, uint32_t *id);

/*
 * The number that a type has where there is room for 8 bits: a static one its own, a
 * custom one 50 to 254, from its full name. Several types may share one, so the way back
 * is KYMO_ERROR_INVALID with the candidates where more than one has it here, and
 * KYMO_ERROR_NOT_FOUND where none has. kymo_activity_type_kineto_id gives UINT32_MAX for
 * a number that nobody has.
 */
KYMO_API uint32_t kymo_activity_type_kineto_id(uint32_t id);
KYMO_API int32_t kymo_activity_type_from_kineto_id(uint32_t kineto_id, uint32_t *id,
						   struct kymo_error *error);

KYMO_END_DECLS

#endif
