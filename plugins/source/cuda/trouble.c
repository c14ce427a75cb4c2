/* SPDX-License-Identifier: BSD-3-Clause */
#include "trouble.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTALL_HINT                                                                     \
	"install it (pip install nvidia-cuda-cupti, or the CUDA toolkit), or say where " \
	"it is: -t cuda:cupti=/path/to/libcupti.so"

static int driver_is_there(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (driver)
		dlclose(driver);
	return driver != NULL;
}

/* "550.54.15", or "" where there is no such file. No call into the driver is made. */
static void driver_version(char *text, size_t size)
{
	int file = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
	char line[256], first[64] = "";
	ssize_t got;
	const char *at;

	text[0] = '\0';
	if (file < 0)
		return;
	got = read(file, line, sizeof(line) - 1);
	close(file);
	line[got > 0 ? got : 0] = '\0';
	at = strstr(line, "Module");
	if (at && sscanf(at + 6, " %63[0-9.]", first) == 1)
		snprintf(text, size, "%s", first);
}

const char *ky_trouble_name(const struct ky_library *library, int32_t rc, char *text,
			    size_t size)
{
	const char *name = NULL;

	if (library->GetResultString &&
	    library->GetResultString(rc, &name) == CUPTI_RC_SUCCESS && name)
		snprintf(text, size, "%.80s (%d)", name, rc);
	else
		snprintf(text, size, "error %d", rc);
	return text;
}

static void set(struct ky_trouble *out, int32_t status, uint32_t state)
{
	out->status = status;
	out->state = state;
}

void ky_trouble_no_library(struct ky_trouble *out, const char *path, const char *why)
{
	set(out, KYMO_ERROR_NOT_FOUND, KYMO_STATE_ABSENT);
	if (why)
		snprintf(out->reason, sizeof(out->reason), "%.80s is no CUPTI: %.120s",
			 path, why);
	else
		snprintf(out->reason, sizeof(out->reason), "no CUPTI found");
	snprintf(out->remedy, sizeof(out->remedy), INSTALL_HINT);
}

static void tell_of_driver(struct ky_trouble *out, const struct ky_library *library,
			   const char *function, const char *name)
{
	char version[24], driver[40];

	ky_library_version_text(library->version, version, sizeof(version));
	if (!driver_is_there()) {
		set(out, KYMO_ERROR_NOT_FOUND, KYMO_STATE_ABSENT);
		snprintf(out->reason, sizeof(out->reason),
			 "CUPTI %s found, no driver: there is no libcuda.so.1", version);
		snprintf(out->remedy, sizeof(out->remedy),
			 "install NVIDIA's driver (apt install nvidia-driver); in a "
			 "container start it with --gpus all");
		return;
	}
	driver_version(driver, sizeof(driver));
	set(out, KYMO_ERROR_UNSUPPORTED, KYMO_STATE_FAILED);
	snprintf(out->reason, sizeof(out->reason),
		 "CUPTI %s does not go with the driver%s%s: %s said %.80s", version,
		 driver[0] ? " " : "", driver, function, name);
	snprintf(out->remedy, sizeof(out->remedy),
		 "update the driver, or name a CUPTI that is as old as it: "
		 "-t cuda:cupti=/path/to/libcupti.so");
}

void ky_trouble_of(struct ky_trouble *out, const struct ky_library *library, int32_t rc,
		   const char *function, const char *who)
{
	char name[128];

	ky_trouble_name(library, rc, name, sizeof(name));
	switch (rc) {
	case CUPTI_RC_PRIVILEGES:
	case CUPTI_RC_VIRTUALIZED_PRIVILEGES:
		set(out, KYMO_ERROR_PERMISSION, KYMO_STATE_DENIED);
		snprintf(out->reason, sizeof(out->reason),
			 "the driver lets administrators only profile: %s said %s",
			 function, name);
		snprintf(
			out->remedy, sizeof(out->remedy),
			"load the module with NVreg_RestrictProfilingToAdminUsers=0 "
			"(/etc/modprobe.d), or run with CAP_SYS_ADMIN (docker: --cap-add "
			"SYS_ADMIN)");
		break;
	case CUPTI_RC_MULTIPLE_SUBSCRIBERS:
		set(out, KYMO_ERROR_BUSY, KYMO_STATE_BUSY);
		snprintf(out->reason, sizeof(out->reason),
			 "CUPTI serves one tool at a time, and %.64s has it",
			 who[0] ? who : "another one");
		snprintf(out->remedy, sizeof(out->remedy),
			 "end the other profiler or debugger (PyTorch's, Nsight, "
			 "cuda-gdb) "
			 "in this program, or record without it");
		break;
	case CUPTI_RC_NOT_COMPATIBLE:
	case CUPTI_RC_NOT_INITIALIZED:
	case CUPTI_RC_UNKNOWN:
		tell_of_driver(out, library, function, name);
		break;
	default:
		set(out, KYMO_ERROR_UNSUPPORTED, KYMO_STATE_FAILED);
		snprintf(out->reason, sizeof(out->reason), "%s said %s", function, name);
		snprintf(out->remedy, sizeof(out->remedy),
			 "this system cannot be profiled by CUPTI as it is set up");
		break;
	}
}

int ky_trouble_is_of_version(int32_t rc)
{
	return rc == CUPTI_RC_NOT_COMPATIBLE || rc == CUPTI_RC_NOT_INITIALIZED ||
	       rc == CUPTI_RC_UNKNOWN;
}
