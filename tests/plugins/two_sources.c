/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that records itself with two sources, and uses the devices of both:
 *
 *     two_sources FAKE_PLUGIN NPU_PLUGIN TRACE
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <fake_device.h>
#include <npu.h>

#include <kymo/kymo.h>

static void use_fake(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	void *symbol = object ? dlsym(object, FAKE_API_SYMBOL) : NULL;
	fake_api_fn find;

	if (!symbol)
		return;
	memcpy(&find, &symbol, sizeof(find));
	find()->work(100, 1);
}

static void use_npu(void)
{
	uint64_t ticket = 0;

	for (int i = 0; i < 20; i++)
		ticket = npu_run("job", 10000, 0);
	npu_wait(ticket);
}

int main(int argc, char **argv)
{
	const char *const sources[] = {argc > 3 ? argv[1] : NULL, argv[2], NULL};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	int32_t status;

	npu_wait(0); /* its runtime loads the plug-in, which then attaches */
	status = kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = sources),
				     &error);
	if (!status)
		status = kymo_session_start(session, &error);
	if (!status) {
		use_fake(argv[1]);
		use_npu();
		status = kymo_session_stop(session, &error);
	}
	if (!status)
		status = kymo_session_save(session, argv[3], NULL, NULL, &error);
	kymo_session_destroy(session);
	if (status)
		fprintf(stderr, "%s\n", error.message);
	return status != KYMO_OK;
}
