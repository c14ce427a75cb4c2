/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with activity types of its own, which it registers only when it is recorded
 * already: one plain mark, then for each argument PLUGIN.NAME, with `!` in front opt-in,
 * ten spans and one instant of that type. Prints the number of each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <kymo/activity_type.h>
#include <kymo/mark.h>

static int record_type(const char *text)
{
	struct kymo_activity_type_attributes attributes = {
		.struct_size = sizeof(attributes),
		.side = KYMO_SIDE_HOST,
	};
	struct kymo_error error = {0};
	char plugin[65], name[65];
	static uint32_t span;
	uint16_t type;
	uint32_t id;

	if (text[0] == '!') {
		attributes.flags = KYMO_TYPE_OPT_IN;
		text++;
	}
	if (sscanf(text, "%64[^.].%64s", plugin, name) != 2 ||
	    kymo_activity_type_register(plugin, name, &attributes, &id, &error) !=
		    KYMO_OK) {
		fprintf(stderr, "typed: %s: %s\n", text, error.message);
		return 1;
	}
	printf("%" PRIu32 "\n", id);
	if (kymo_mark_type(id, &type, &error) != KYMO_OK) {
		fprintf(stderr, "typed: %s: %s\n", text, error.message);
		return 1;
	}
	for (int i = 0; i < 10; i++)
		kymo_mark_end_typed(kymo_mark_begin(), type,
				    kymo_mark_name(&span, "typed"), NULL, 0);
	return kymo_mark_instant_typed(type, span, NULL, 0) != KYMO_OK;
}

int main(int argc, char **argv)
{
	static uint32_t plain;
	int status = 0;

	kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&plain, "plain"));
	for (int i = 1; i < argc && status == 0; i++)
		status = record_type(argv[i]);
	return status;
}
