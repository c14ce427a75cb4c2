/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"

#define MIB ((uint64_t)1 << 20)

static char root[] = "/tmp/kymo-cgroup-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[PATH_MAX], command[PATH_MAX + 64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", path);
	assert_int_equal(system(command), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void without_groups_there_is_no_limit(void **state)
{
	(void)state;
	assert_true(ky_cgroup_left(root) == UINT64_MAX);
	put("proc/self/cgroup", "12:cpu:/\n3:memory:/a\n0::/b\nnonsense\n4:memory\n");
	assert_true(ky_cgroup_left(root) == UINT64_MAX);
}

static void the_nearest_limit_around_counts_and_cached_files_do_not(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/pod/job\n");
	put("sys/fs/cgroup/pod/job/memory.max", "max\n");
	put("sys/fs/cgroup/pod/job/memory.current", "1048576\n");
	put("sys/fs/cgroup/pod/memory.max", "104857600\n");
	put("sys/fs/cgroup/pod/memory.current", "73400320\n");
	put("sys/fs/cgroup/pod/memory.stat",
	    "anon 1\ninactive_file 10485760\nactive_file 20971520\n");
	assert_true(ky_cgroup_left(root) == 60 * MIB);
	put("sys/fs/cgroup/pod/memory.current", "204857600\n");
	assert_true(ky_cgroup_left(root) == 0);
}

static void a_container_whose_path_is_the_hosts_has_its_limit_at_the_mount(void **state)
{
	(void)state;
	put("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/4711\n0::/\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
	put("sys/fs/cgroup/memory/memory.usage_in_bytes", "16777216\n");
	assert_true(ky_cgroup_left(root) == 48 * MIB);
	/* Of the group alone, and with those within, as usage has it. */
	put("sys/fs/cgroup/memory/memory.stat",
	    "inactive_file 0\nactive_file 0\ntotal_inactive_file 8388608\n"
	    "total_active_file 4194304\n");
	assert_true(ky_cgroup_left(root) == 60 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_groups_there_is_no_limit,
						make_root, remove_root),
		cmocka_unit_test_setup_teardown(
			the_nearest_limit_around_counts_and_cached_files_do_not,
			make_root, remove_root),
		cmocka_unit_test_setup_teardown(
			a_container_whose_path_is_the_hosts_has_its_limit_at_the_mount,
			make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
