/* SPDX-License-Identifier: BSD-3-Clause */
/* The probe asks the real thing: it loads CUPTI and tries to subscribe. */
#include "probe.h"

#include <stdio.h>

#include "attach.h"

static void ignore_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

/* The reason of a trouble names the library and its version where they matter. */
static int32_t answer(struct kymo_probe *out, const struct ky_trouble *trouble)
{
	out->state = trouble->state;
	snprintf(out->why, sizeof(out->why), "%s", trouble->reason);
	snprintf(out->remedy, sizeof(out->remedy), "%s", trouble->remedy);
	return KYMO_OK;
}

int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error)
{
	const struct ky_library *library = &ky_source.library;
	struct ky_trouble trouble = {.state = KYMO_STATE_READY};
	void *subscriber = NULL;
	char version[24];
	int32_t rc;

	(void)error;
	ky_library_read_environment(&ky_source.places);
	if (!ky_attach_find_library(&trouble))
		return answer(out, &trouble);
	ky_library_version_text(library->version, version, sizeof(version));
	rc = library->Subscribe(&subscriber, ignore_callback, NULL);
	if (rc == CUPTI_RC_SUCCESS) {
		rc = library->ActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL);
		if (rc == CUPTI_RC_SUCCESS)
			library->ActivityDisable(CUPTI_KIND_CONCURRENT_KERNEL);
		library->Unsubscribe(subscriber);
	}
	if (rc != CUPTI_RC_SUCCESS)
		ky_trouble_of(&trouble, library, rc, "CUPTI", "");
	else
		snprintf(out->what, sizeof(out->what), "CUPTI %s", version);
	return answer(out, &trouble);
}
