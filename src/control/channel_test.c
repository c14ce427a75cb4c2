/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

static int setup_pair(void **state)
{
	static int pair[2];

	*state = pair;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int teardown_pair(void **state)
{
	int *pair = *state;

	close(pair[0]);
	close(pair[1]);
	return 0;
}

static int is_same_file(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static void a_packet_arrives_whole_with_its_descriptor(void **state)
{
	int *pair = *state, fd, received;
	char text[16];

	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ky_packet_send(pair[0], "hello", 5, fd), 0);
	assert_int_equal(ky_packet_send(pair[0], "bye", 3, -1), 0);
	assert_int_equal(ky_packet_receive(pair[1], text, sizeof(text), &received), 5);
	assert_memory_equal(text, "hello", 5);
	assert_true(is_same_file(fd, received));
	assert_int_equal(fcntl(received, F_GETFD), FD_CLOEXEC);
	close(received);
	assert_int_equal(ky_packet_receive(pair[1], text, sizeof(text), &received), 3);
	assert_int_equal(received, -1);
	close(fd);
}

static void the_end_is_an_empty_packet_and_sending_fails_without_a_signal(void **state)
{
	int *pair = *state, fd;
	char byte;

	shutdown(pair[0], SHUT_RDWR);
	assert_int_equal(ky_packet_receive(pair[1], &byte, 1, &fd), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(ky_packet_send(pair[1], "x", 1, -1), EPIPE);
}

static void what_a_peer_sent_arrives_though_it_ended_with_something_unread(void **state)
{
	int *pair = *state, fd;
	char text[4];

	assert_int_equal(ky_packet_send(pair[0], "never read", 10, -1), 0);
	assert_int_equal(ky_packet_send(pair[1], "bye", 3, -1), 0);
	close(pair[1]);
	pair[1] = -1;
	assert_int_equal(ky_packet_receive(pair[0], text, sizeof(text), &fd), 3);
	assert_int_equal(ky_packet_receive(pair[0], text, sizeof(text), &fd), 0);
}

static void nothing_to_read_is_told_as_that(void **state)
{
	int *pair = *state, fd;
	char byte;

	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	assert_int_equal(ky_packet_receive(pair[1], &byte, 1, &fd), -EAGAIN);
}

static void what_does_not_fit_is_dropped_with_the_packet(void **state)
{
	int *pair = *state, fd;
	char text[4] = "";

	ky_packet_send(pair[0], "123456", 6, -1);
	ky_packet_send(pair[0], "ab", 2, -1);
	assert_int_equal(ky_packet_receive(pair[1], text, 3, &fd), 3);
	assert_int_equal(ky_packet_receive(pair[1], text, 3, &fd), 2);
	assert_memory_equal(text, "ab", 2);
}

/* Sends `count` copies of a descriptor along with one byte. */
static void send_many(int socket_fd, int fd, size_t count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 8)];
	} control = {.bytes = {0}};
	struct iovec part = {.iov_base = "x", .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_SPACE(sizeof(int) * count)};

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int) * count);
	for (size_t i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &fd, sizeof(int));
	assert_int_equal(sendmsg(socket_fd, &message, 0), 1);
}

static void more_than_one_descriptor_are_closed(void **state)
{
	int *pair = *state, fd, next, again;
	char byte;

	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	send_many(pair[0], next, 5);
	assert_int_equal(ky_packet_receive(pair[1], &byte, 1, &fd), 1);
	assert_true(fd > next);
	close(fd);
	/* If one were left open, the next number would be higher. */
	again = dup(next);
	assert_int_equal(again, fd);
	close(again);
	close(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_packet_arrives_whole_with_its_descriptor, setup_pair,
			teardown_pair),
		cmocka_unit_test_setup_teardown(
			the_end_is_an_empty_packet_and_sending_fails_without_a_signal,
			setup_pair, teardown_pair),
		cmocka_unit_test_setup_teardown(
			what_a_peer_sent_arrives_though_it_ended_with_something_unread,
			setup_pair, teardown_pair),
		cmocka_unit_test_setup_teardown(nothing_to_read_is_told_as_that,
						setup_pair, teardown_pair),
		cmocka_unit_test_setup_teardown(
			what_does_not_fit_is_dropped_with_the_packet, setup_pair,
			teardown_pair),
		cmocka_unit_test_setup_teardown(more_than_one_descriptor_are_closed,
						setup_pair, teardown_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
