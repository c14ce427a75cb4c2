/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration: libkineto's keys and Kymo's own, read once and never changed after.
 * From first to last, what comes later overriding what came before:
 *
 *     defaults
 *     the file that KINETO_CONFIG names, else /etc/libkineto.conf
 *     the file that KYMO_CONFIG names, else /etc/kymo.conf
 *     variables of the environment with the names of Kymo's own keys
 *     the text of the options
 *     the members of a session's or recorder's options that are not zero
 *
 * A text is lines of KEY = value, '#' begins a comment. A key that nobody knows is a
 * warning, which a session that is given no configuration tells the log. A bad value, or
 * a line that is none, refuses all of it: there is no configuration then, rather than
 * half of one. `kymo config` lists the keys.
 */
#ifndef KYMO_CONFIG_H
#define KYMO_CONFIG_H

#include <kymo/base.h>

KYMO_BEGIN_DECLS

struct kymo_config; /* opaque; does not change: any thread may read it */

#define KYMO_CONFIG_NO_FILES       0x1u
#define KYMO_CONFIG_NO_ENVIRONMENT 0x2u /* nor the files that it names */

/*
 * Zero a member to have its default; set struct_size. Members that this library does not
 * know must be zero, else KYMO_ERROR_UNSUPPORTED. All is copied.
 */
struct kymo_config_options {
	uint32_t struct_size;
	uint32_t flags;       /* KYMO_CONFIG_* */
	const char *file;     /* read in place of the two files above; it must be there */
	struct kymo_str text; /* not terminated */

	/* End of ABI 1.0 */
};

/* A key with what holds for it. All texts are the configuration's own. */
struct kymo_config_value {
	uint32_t struct_size;
	uint32_t is_set; /* 0: `value` is the default */
	const char *key;
	const char *value; /* numbers in `unit`, times in ns, sizes in bytes */
	const char *unit;  /* or "" */
	const char
		*origin; /* "/etc/kymo.conf:3", "environment", "options:1", "default" */
	const char *use; /* what it does in this version; NULL: nothing */
	const char *unused; /* and why it does nothing; NULL: it does something */

	/* End of ABI 1.0 */
};

/*
 * Reads files and environment, in this thread, and checks them. options NULL: defaults.
 * The configuration is the caller's, to be destroyed. KYMO_ERROR_CONFIG names file, line
 * and reason.
 */
KYMO_API int32_t kymo_config_create(struct kymo_config **out,
				    const struct kymo_config_options *options,
				    struct kymo_error *error);

/* NULL is allowed. */
KYMO_API void kymo_config_destroy(struct kymo_config *config);

/* The index-th key, from 0; KYMO_END behind the last. Set out->struct_size. */
KYMO_API int32_t kymo_config_at(const struct kymo_config *config, size_t index,
				struct kymo_config_value *out);

/* The index-th warning, from 0, in one line; NULL behind the last. */
KYMO_API const char *kymo_config_warning(const struct kymo_config *config, size_t index);

/*
 * 1 if one of the files is another one now (by inode, size and time of change), so that
 * it is worth reading again; else 0. This is the only thing that looks at files again, so
 * it is done by whoever wants that, and as often.
 */
KYMO_API int32_t kymo_config_has_changed(const struct kymo_config *config);

/*
 * Fills `out` with the name of a file to be written by this process, as a pattern gives
 * it: %p is the pid, %h the host, %r the rank (of the launcher's environment), %t the
 * time, %n the first number from 1 that no file has, %q{NAME} a variable of the
 * environment, %% is %. What they bring in cannot lead to another folder.
 *
 * pattern NULL: the one of the configuration (NULL: none). Without any: a name that no
 * other call has, in whatever process, host or container. KYMO_ERROR_INVALID for what is
 * no pattern or too long; KYMO_ERROR_NOT_FOUND for a variable or rank that there is not.
 */
KYMO_API int32_t kymo_output_name(const char *pattern, const struct kymo_config *config,
				  char *out, size_t size, struct kymo_error *error);

KYMO_END_DECLS

#endif
