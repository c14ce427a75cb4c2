/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/joined.h"

#include <kymo/base.h>

#define MEMORY          (16u << 20) /* of each sorter */
#define REFERRED_MEMORY (1u << 20)  /* waits are few */

/* The same one twice stands together. */
static int compare_arrows(const void *left, const void *right)
{
	const struct ky_arrow *a = left, *b = right;
	int order = ky_moment_compare(&a->when, &b->when);

	if (order != 0)
		return order;
	if (a->other_place != b->other_place)
		return a->other_place < b->other_place ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int32_t next_number(struct ky_joined *joined, struct kymo_error *error)
{
	const void *item;
	int32_t status = ky_sorter_next(joined->numbers, &item, error);

	joined->number = status == KYMO_OK ? item : NULL;
	return status == KYMO_END ? KYMO_OK : status;
}

static int32_t next_arrow(struct ky_joined *joined, struct kymo_error *error)
{
	const void *item;
	int32_t status;

	for (;;) {
		status = ky_sorter_next(joined->arrows, &item, error);
		joined->arrow = status == KYMO_OK ? item : NULL;
		if (!joined->arrow ||
		    compare_arrows(joined->arrow, &joined->last_arrow) != 0)
			break;
		(*joined->arrows_twice)++;
	}
	if (joined->arrow)
		joined->last_arrow = *joined->arrow;
	return status == KYMO_END ? KYMO_OK : status;
}

static int32_t next_referred(struct ky_joined *joined, struct kymo_error *error)
{
	const void *item;
	int32_t status = ky_sorter_next(joined->referred, &item, error);

	joined->reference = status == KYMO_OK ? item : NULL;
	return status == KYMO_END ? KYMO_OK : status;
}

void ky_joined_clear(struct ky_joined *joined)
{
	ky_sorter_destroy(joined->numbers);
	ky_sorter_destroy(joined->arrows);
	ky_sorter_destroy(joined->referred);
}

int32_t ky_joined_init(struct ky_joined *joined, uint64_t *arrows_twice,
		       struct kymo_error *error)
{
	int32_t status;

	joined->arrows_twice = arrows_twice;
	status = ky_sorter_create(&joined->numbers, sizeof(struct ky_number),
				  ky_moment_compare, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&joined->arrows, sizeof(struct ky_arrow),
					  compare_arrows, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&joined->referred, sizeof(struct ky_referred),
					  ky_moment_compare, REFERRED_MEMORY, error);
	return status;
}

int32_t ky_joined_push_number(struct ky_joined *joined, const struct ky_number *number,
			      struct kymo_error *error)
{
	return ky_sorter_push(joined->numbers, number, error);
}

int32_t ky_joined_push_arrow(struct ky_joined *joined, const struct ky_arrow *arrow,
			     struct kymo_error *error)
{
	return ky_sorter_push(joined->arrows, arrow, error);
}

int32_t ky_joined_push_referred(struct ky_joined *joined,
				const struct ky_referred *referred,
				struct kymo_error *error)
{
	return ky_sorter_push(joined->referred, referred, error);
}

int32_t ky_joined_begin(struct ky_joined *joined, struct kymo_error *error)
{
	int32_t status = ky_sorter_finish(joined->numbers, error);

	if (status == KYMO_OK)
		status = ky_sorter_finish(joined->arrows, error);
	if (status == KYMO_OK)
		status = ky_sorter_finish(joined->referred, error);
	if (status == KYMO_OK)
		status = next_number(joined, error);
	if (status == KYMO_OK)
		status = next_arrow(joined, error);
	if (status == KYMO_OK)
		status = next_referred(joined, error);
	return status;
}

int32_t ky_joined_number(struct ky_joined *joined, const struct ky_moment *when,
			 uint64_t *correlation, uint64_t *launch,
			 struct kymo_error *error)
{
	*correlation = *launch = 0;
	if (!joined->number || joined->number->when.place != when->place)
		return KYMO_OK;
	*correlation = joined->number->correlation;
	*launch = joined->number->launch;
	return next_number(joined, error);
}

int32_t ky_joined_arrow(struct ky_joined *joined, const struct ky_moment *when,
			struct ky_arrow *arrow, struct kymo_error *error)
{
	if (!joined->arrow || joined->arrow->when.place != when->place)
		return KYMO_END;
	*arrow = *joined->arrow;
	return next_arrow(joined, error);
}

int32_t ky_joined_referred(struct ky_joined *joined, const struct ky_moment *when,
			   uint64_t *number, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	*number = 0;
	/* Of what found no lane there is a reference, too, and nobody comes for it. */
	while (status == KYMO_OK && joined->reference &&
	       ky_moment_compare(&joined->reference->when, when) < 0)
		status = next_referred(joined, error);
	if (status != KYMO_OK || !joined->reference ||
	    joined->reference->when.place != when->place)
		return status;
	*number = joined->reference->number;
	return next_referred(joined, error);
}
