/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders from outside, or from a program that is recorded, to a recorder. */
#include <kymo/control.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "control/channel.h"
#include "control/protocol.h"
#include "record/layout.h"

#define WAIT_S 6 /* the recorder itself waits less */

KYMO_STATIC_ASSERT(KYMO_ORDER_RECORD == KY_COMMAND_RECORD);
KYMO_STATIC_ASSERT(KYMO_ORDER_REST == KY_COMMAND_REST);

static int32_t connect_to(const char *path, int *out, struct kymo_error *error)
{
	const struct timeval limit = {.tv_sec = WAIT_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t size = strlen(path);
	int number = 0;

	if (size >= sizeof(address.sun_path))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "\"%.100s...\" is too long for a socket", path);
	memcpy(address.sun_path, path, size);
	*out = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (*out < 0)
		return ky_error_set_errno(error, errno, "cannot make a socket");
	setsockopt(*out, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(*out, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(*out, (const struct sockaddr *)&address, sizeof(address)) < 0)
		number = errno;
	if (number == ENOENT || number == ECONNREFUSED)
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "nobody records at \"%s\": the recording is over",
				    path);
	if (number)
		return ky_error_set_errno(error, number, "cannot reach \"%s\"", path);
	return KYMO_OK;
}

static int32_t ask(int fd, uint32_t command, struct kymo_error *error)
{
	struct ky_order order;
	struct ky_answer answer;
	int number, other_fd;
	ssize_t size;
	int32_t status;

	ky_order_fill(&order, command);
	number = ky_packet_send(fd, &order, sizeof(order), -1);
	if (number)
		return ky_error_set_errno(error, number, "cannot send the order");
	size = ky_packet_receive(fd, &answer, sizeof(answer), &other_fd);
	if (other_fd >= 0)
		close(other_fd);
	if (size == -EAGAIN)
		return ky_error_set(error, KYMO_ERROR_BUSY,
				    "no answer to the order in %d s: the recorder stands "
				    "still",
				    WAIT_S);
	if (size < 0)
		return ky_error_set_errno(error, (int)-size, "no answer to the order");
	if (size == 0)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "no answer to the order: the recording is over");
	status = ky_answer_check(&answer, (size_t)size, error);
	if (!status && answer.status)
		status = ky_error_set(error, answer.status, "%s", answer.message);
	return status;
}

int32_t kymo_recorder_order(const char *socket, uint32_t order, struct kymo_error *error)
{
	const char *path = socket ? socket : ky_env_get(KY_SESSION_VARIABLE);
	int fd = -1, kept = errno;
	int32_t status;

	if (!path || !path[0])
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "nobody records this program from outside (%s "
				    "is not set)",
				    KY_SESSION_VARIABLE);
	status = connect_to(path, &fd, error);
	if (!status)
		status = ask(fd, order, error);
	if (fd >= 0)
		close(fd);
	errno = kept;
	return status;
}
