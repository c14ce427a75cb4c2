/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program says of its session. It may come before there is a capture, so it is
 * kept and told when one begins; what comes later is told at once as well. Where a
 * recorder has the program, its capture is told, since the session will never have one.
 */
#include <kymo/session.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "record/known_keys.h"
#include "session/host.h"
#include "session/mark_keys.h"
#include "session/page.h"
#include "session/session.h"

/* One value, the elements of an array behind it. */
struct ky_session_value {
	struct ky_session_value *next;
	struct kymo_value value;
	uint64_t elements[];
};

/* The value's type is the key's; says why if there is no such key, or it is not. */
static int32_t check(const struct kymo_value *value, struct kymo_error *error)
{
	char was[KY_TYPE_TEXT_MAX], said[KY_TYPE_TEXT_MAX];
	struct ky_mark_key key;

	if (!value || !ky_mark_key_find(value->key, &key))
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"metadata needs a key of kymo_key_register; %u is none",
			value ? value->key : 0);
	if (value->type != key.value_type)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "metadata under a key for values of %s cannot be %s",
				    ky_value_type_text(key.value_type, was),
				    ky_value_type_text(value->type, said));
	if ((value->type & KYMO_VALUE_ARRAY && !value->array) ||
	    ky_host_is_left_out(value))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "metadata cannot be an empty array or a time");
	return KYMO_OK;
}

static int has_key(const struct kymo_session *session, uint16_t key)
{
	const struct ky_session_value *at = session->metadata;

	while (at && at->value.key != key)
		at = at->next;
	return at != NULL;
}

static struct ky_session_value *copy(const struct kymo_value *value)
{
	const int is_array = (value->type & KYMO_VALUE_ARRAY) != 0;
	const size_t size = is_array ? value->count * sizeof(uint64_t) : 0;
	struct ky_session_value *out = malloc(sizeof(*out) + size);

	if (!out)
		return NULL;
	out->value = *value;
	if (is_array) {
		memcpy(out->elements, value->array, size);
		out->value.array = out->elements;
	}
	return out;
}

/*
 * To the capture that there is, unless that is another session's. Where there is none yet
 * the session's own is told by prepare. session_lock held.
 */
static int32_t publish(const struct kymo_session *session, const struct kymo_value *value)
{
	const struct kymo_session *has_begun = ky_session_page()->session;
	int32_t status = KYMO_ERROR_STATE;
	uint32_t id;

	if (!has_begun || has_begun == session)
		status = ky_host_intern_values(KY_ENTRY_METADATA, value, 1, &id);
	return status == KYMO_ERROR_STATE ? KYMO_OK : status;
}

/* session_lock held. */
static int32_t add(struct kymo_session *session, const struct kymo_value *value,
		   struct kymo_error *error)
{
	struct ky_session_value **end = &session->metadata, *kept;
	int32_t status;

	if (session->pid != getpid() || session->state == KY_SESSION_STOPPED)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "nothing more can be said of the session: it is %s",
				    session->pid != getpid() ? "the parent process's"
							     : "stopped");
	if (has_key(session, value->key))
		return ky_error_set(error, KYMO_ERROR_EXISTS,
				    "the session has a value for the key with number %u "
				    "already, which stays",
				    value->key);
	kept = copy(value);
	status = kept ? publish(session, value) : KYMO_ERROR_NO_MEMORY;
	if (status != KYMO_OK) {
		free(kept);
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no room for metadata of the session");
	}
	while (*end)
		end = &(*end)->next;
	kept->next = NULL;
	*end = kept;
	return KYMO_OK;
}

int32_t kymo_session_metadata(struct kymo_session *session,
			      const struct kymo_value *value, struct kymo_error *error)
{
	uint32_t *lock = &ky_gate()->session_lock;
	int32_t status;

	if (!session)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no session");
	/* A recorder that is there is attached by now: there is no key before that. */
	status = check(value, error);
	if (status != KYMO_OK)
		return status;
	ky_lock(lock);
	status = add(session, value, error);
	ky_unlock(lock);
	return status;
}

void ky_session_metadata_publish(const struct kymo_session *session)
{
	uint32_t id;

	/* Where there is no room for it the dictionary is full of names anyway. */
	for (const struct ky_session_value *at = session->metadata; at; at = at->next)
		ky_host_intern_values(KY_ENTRY_METADATA, &at->value, 1, &id);
}

void ky_session_metadata_free(struct kymo_session *session)
{
	while (session->metadata) {
		struct ky_session_value *at = session->metadata;

		session->metadata = at->next;
		free(at);
	}
}
