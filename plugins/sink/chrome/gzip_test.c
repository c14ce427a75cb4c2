/* SPDX-License-Identifier: BSD-3-Clause */
#include "gzip.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "support/test.h"

#define BLOCK (512u << 10) /* as the threads get them */

/* What comes out; fails at the `fail_at`-th piece, from 1. */
struct out {
	unsigned char *data;
	size_t size, pieces, fail_at, after_failure;
	int is_slow;
};

static int32_t collect(void *context, const void *data, size_t size)
{
	struct out *out = context;

	if (out->is_slow)
		usleep(2000);
	out->pieces++;
	if (out->fail_at && out->pieces >= out->fail_at) {
		out->after_failure += out->pieces > out->fail_at;
		return KYMO_ERROR_IO;
	}
	out->data = realloc(out->data, out->size + size);
	assert_non_null(out->data);
	memcpy(out->data + out->size, data, size);
	out->size += size;
	return KYMO_OK;
}

/* Most of it like a trace, some of it noise that no compressor can make smaller. */
static char *make_text(size_t size)
{
	static const char line[] = "\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": ";
	char *text = malloc(size + 1);
	uint64_t state = 88172645463325252u;

	assert_non_null(text);
	for (size_t i = 0; i < size; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		text[i] = i / (600 << 10) % 4 == 1 ? (char)state
						   : line[i % (sizeof(line) - 1)];
	}
	return text;
}

/* Reads back as one member of just this text, with nothing behind it. */
static void assert_member(const struct out *out, const char *text, size_t size)
{
	z_stream stream = {.next_in = out->data, .avail_in = (uInt)out->size};
	unsigned char *back = malloc(size + 1);

	assert_non_null(back);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_out = back;
	stream.avail_out = (uInt)size + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_int_equal(stream.total_out, size);
	if (size > 0)
		assert_memory_equal(back, text, size);
	inflateEnd(&stream);
	free(back);
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	assert_non_null(tasks);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* In pieces of `step`. */
static int32_t put(struct ky_gzip *gzip, const char *text, size_t size, size_t step)
{
	int32_t status = KYMO_OK;

	for (size_t i = 0; i < size && status == KYMO_OK; i += step)
		status = ky_gzip_write(gzip, text + i, size - i < step ? size - i : step);
	return status;
}

static void texts_of_all_sizes_read_back_as_one_member(void **state)
{
	static const size_t sizes[] = {0,         1,         BLOCK - 1,     BLOCK,
				       BLOCK + 1, 2 * BLOCK, 20 * BLOCK + 7};
	char *text = make_text(21 * BLOCK);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned threads = 0; threads <= KY_GZIP_THREADS; threads++) {
			struct out out = {0};
			struct ky_gzip *gzip = ky_gzip_create(threads, collect, &out);

			assert_non_null(gzip);
			assert_int_equal(put(gzip, text, sizes[i], 100001), KYMO_OK);
			assert_int_equal(ky_gzip_finish(gzip), KYMO_OK);
			ky_gzip_destroy(gzip);
			assert_member(&out, text, sizes[i]);
			free(out.data);
		}
	}
	free(text);
}

static void the_number_of_threads_does_not_change_the_file(void **state)
{
	char *text = make_text(9 * BLOCK);
	struct out outs[KY_GZIP_THREADS + 1] = {0};

	(void)state;
	for (unsigned threads = 0; threads <= KY_GZIP_THREADS; threads++) {
		struct ky_gzip *gzip = ky_gzip_create(threads, collect, &outs[threads]);

		assert_int_equal(put(gzip, text, 9 * BLOCK, 3333 + threads), KYMO_OK);
		assert_int_equal(ky_gzip_finish(gzip), KYMO_OK);
		ky_gzip_destroy(gzip);
		assert_int_equal(outs[threads].size, outs[0].size);
		assert_memory_equal(outs[threads].data, outs[0].data, outs[0].size);
	}
	for (unsigned threads = 0; threads <= KY_GZIP_THREADS; threads++)
		free(outs[threads].data);
	free(text);
}

static void only_a_long_text_starts_threads_and_they_end(void **state)
{
	char *text = make_text(3 * BLOCK);
	struct out out = {0};
	struct ky_gzip *gzip = ky_gzip_create(KY_GZIP_THREADS, collect, &out);
	const int before = count_threads();

	(void)state;
	assert_int_equal(put(gzip, text, BLOCK - 1, BLOCK), KYMO_OK);
	assert_int_equal(count_threads(), before);
	assert_int_equal(put(gzip, text, 2 * BLOCK, BLOCK), KYMO_OK);
	assert_int_equal(count_threads(), before + (int)KY_GZIP_THREADS);
	assert_int_equal(ky_gzip_finish(gzip), KYMO_OK);
	/* One that was joined is seen there for a moment yet. */
	for (int i = 0; i < 5000 && count_threads() != before; i++)
		usleep(1000);
	assert_int_equal(count_threads(), before);
	ky_gzip_destroy(gzip);
	free(out.data);
	free(text);
}

/* Whichever piece it is: head, a block, the last one, the end. */
static void a_write_that_fails_is_told_and_nothing_follows_it(void **state)
{
	char *text = make_text(4 * BLOCK);

	(void)state;
	for (size_t fail_at = 1; fail_at <= 7; fail_at++) {
		for (unsigned threads = 0; threads <= KY_GZIP_THREADS; threads++) {
			struct out out = {.fail_at = fail_at};
			struct ky_gzip *gzip = ky_gzip_create(threads, collect, &out);

			put(gzip, text, 4 * BLOCK, BLOCK);
			assert_int_equal(ky_gzip_finish(gzip), KYMO_ERROR_IO);
			ky_gzip_destroy(gzip);
			assert_int_equal(out.pieces, fail_at);
			assert_int_equal(out.after_failure, 0);
			free(out.data);
		}
	}
	free(text);
}

static void a_failure_stops_the_caller_soon(void **state)
{
	char *text = make_text(BLOCK);
	struct out out = {.fail_at = 2};
	struct ky_gzip *gzip = ky_gzip_create(KY_GZIP_THREADS, collect, &out);
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		if (ky_gzip_write(gzip, text, BLOCK) != KYMO_OK)
			break;
	}
	assert_in_range(i, 1, 10);
	ky_gzip_destroy(gzip);
	free(out.data);
	free(text);
}

static void destroying_in_the_middle_ends_the_threads(void **state)
{
	char *text = make_text(5 * BLOCK);
	const int before = count_threads();

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct out out = {.is_slow = 1};
		struct ky_gzip *gzip = ky_gzip_create(KY_GZIP_THREADS, collect, &out);

		assert_int_equal(put(gzip, text, (size_t)i * BLOCK / 4, BLOCK), KYMO_OK);
		ky_gzip_destroy(gzip);
		assert_int_equal(count_threads(), before);
		free(out.data);
	}
	ky_gzip_destroy(NULL);
	free(text);
}

static pthread_t handled_by;

static void note_thread(int signal)
{
	(void)signal;
	handled_by = pthread_self();
}

static void signals_of_the_process_are_not_handled_by_its_threads(void **state)
{
	const struct sigaction action = {.sa_handler = note_thread};
	char *text = make_text(2 * BLOCK);
	struct out out = {0};
	struct ky_gzip *gzip = ky_gzip_create(KY_GZIP_THREADS, collect, &out);
	struct sigaction before;
	sigset_t usr1, mask;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	assert_int_equal(put(gzip, text, 2 * BLOCK, BLOCK), KYMO_OK);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	/* With it blocked here, a thread that did not block it would be who gets it. */
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr1, &mask), 0);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	usleep(20000);
	assert_int_equal(handled_by, 0);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
	assert_true(pthread_equal(handled_by, pthread_self()));
	ky_gzip_destroy(gzip);
	sigaction(SIGUSR1, &before, NULL);
	free(out.data);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_all_sizes_read_back_as_one_member),
		cmocka_unit_test(the_number_of_threads_does_not_change_the_file),
		cmocka_unit_test(only_a_long_text_starts_threads_and_they_end),
		cmocka_unit_test(a_write_that_fails_is_told_and_nothing_follows_it),
		cmocka_unit_test(a_failure_stops_the_caller_soon),
		cmocka_unit_test(destroying_in_the_middle_ends_the_threads),
		cmocka_unit_test(signals_of_the_process_are_not_handled_by_its_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
