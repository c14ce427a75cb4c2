/* SPDX-License-Identifier: BSD-3-Clause */
/* What a source's tables declare gets its numbers before the source itself is created. */
#include "session/host.h"

#include <sys/mman.h>

#include "base/error.h"

/* A macro, since a pointer to one list may not be read through another's type. */
#define count_list(list, count)                             \
	do {                                                \
		for ((count) = 0; (list) && (list)[count];) \
			(count)++;                          \
	} while (0)

/* Registers one list of the tables; `to` gets the numbers in its order. */
#define DECLARE(kind, list)                                                        \
	static int32_t declare_##list(struct kymo_source_host *host, uint16_t *to, \
				      struct kymo_error *error)                    \
	{                                                                          \
		for (size_t i = 0; host->desc->list && host->desc->list[i]; i++) { \
			int32_t status =                                           \
				ky_host_##kind(host, host->desc->list[i], &to[i]); \
                                                                                   \
			if (status != KYMO_OK)                                     \
				return ky_error_set(                               \
					error, status,                             \
					"its " #kind                               \
					" \"%.64s\" cannot be registered: %s",     \
					host->desc->list[i]->name,                 \
					kymo_status_text(status));                 \
		}                                                                  \
		return KYMO_OK;                                                    \
	}

DECLARE(type, types)
DECLARE(key, keys)
DECLARE(domain, domains)
DECLARE(link_kind, link_kinds)

/* Room for the numbers of all lists: not malloc, as for the host itself. */
static int32_t make_room(struct kymo_source_host *host, size_t count,
			 struct kymo_error *error)
{
	void *memory;

	if (host->declared)
		return KYMO_OK;
	memory = mmap(NULL, (count + 1) * sizeof(*host->declared), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for the numbers of its tables");
	host->declared = memory;
	return KYMO_OK;
}

/* By the first that is wrong: its type is what a maker of a source may get wrong. */
static int32_t check_keys(const struct kymo_source_host *host, struct kymo_error *error)
{
	for (size_t i = 0; host->desc->keys && host->desc->keys[i]; i++) {
		int32_t status = ky_host_key_check(host, host->desc->keys[i], error);

		if (status != KYMO_OK)
			return status;
	}
	return KYMO_OK;
}

int32_t ky_host_declare(struct kymo_source_host *host, struct kymo_error *error)
{
	size_t types, keys, domains, link_kinds;
	uint16_t *to;
	int32_t status;

	count_list(host->desc->types, types);
	count_list(host->desc->keys, keys);
	count_list(host->desc->domains, domains);
	count_list(host->desc->link_kinds, link_kinds);
	status = make_room(host, types + keys + domains + link_kinds, error);
	if (status != KYMO_OK)
		return status;
	to = host->declared;
	host->numbers = (struct kymo_source_numbers){
		.struct_size = sizeof(host->numbers),
		.types = to,
		.keys = to + types,
		.domains = to + types + keys,
		.link_kinds = to + types + keys + domains,
	};
	status = declare_types(host, to, error);
	if (status == KYMO_OK)
		status = check_keys(host, error);
	if (status == KYMO_OK)
		status = declare_keys(host, to += types, error);
	if (status == KYMO_OK)
		status = declare_domains(host, to += keys, error);
	if (status == KYMO_OK)
		status = declare_link_kinds(host, to + domains, error);
	return status;
}
