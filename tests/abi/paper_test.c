/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of each paper adapter pass the check that a real plug-in has to pass. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/control.h>

#include "support/test.h"

static const struct {
	const char *file, *source;
} adapters[] = {
	{"opencl_layer", "opencl"},   {"cupti_buffers", "cupti"},
	{"ompt_callbacks", "openmp"}, {"pm_sampler", "pm"},
	{"pytorch_ops", "pytorch"},   {"collectives", "collectives"},
};

static int32_t note(void *context, const char *path, const struct kymo_plugin *plugin)
{
	const char **name = context;

	(void)path;
	assert_non_null(plugin);
	assert_non_null(plugin->sources[0]);
	assert_null(plugin->sources[1]);
	*name = plugin->sources[0]->name;
	return KYMO_OK;
}

static void every_adapter_is_a_good_plugin(void **state)
{
	const char *folder = getenv("KYMO_TEST_PLUGINS");

	(void)state;
	assert_non_null(folder);
	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++) {
		char path[PATH_MAX];
		const char *const sources[] = {path, NULL};
		struct kymo_error error = {0};
		const char *name = NULL;

		snprintf(path, sizeof(path), "%s/paper_%s.so", folder, adapters[i].file);
		if (kymo_plugin_visit(sources, note, &name, &error) != KYMO_OK)
			fail_msg("%s", error.message);
		assert_non_null(name);
		assert_string_equal(name, adapters[i].source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_adapter_is_a_good_plugin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
