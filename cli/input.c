/* SPDX-License-Identifier: BSD-3-Clause */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_reader.h"

#define GZIP_WINDOW (15 + 16)

/* False at the end of the file and on failure, which is in `*number`. */
static bool read_block(struct ky_input *input, int *number)
{
	ssize_t got;

	*number = 0;
	do
		got = read(input->fd, input->block, KY_INPUT_BLOCK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		*number = errno;
	input->at = 0;
	input->size = got > 0 ? (size_t)got : 0;
	input->file_bytes += input->size;
	return got > 0;
}

static const char *describe(const struct ky_input *input)
{
	switch (input->damage) {
	case KY_INPUT_UNREADABLE:
		return strerror(input->number);
	case KY_INPUT_CUT:
		return "the gzip data ends early";
	case KY_INPUT_BEHIND:
		return "no gzip data behind the first part";
	default:
		return "the gzip data is broken";
	}
}

static size_t read_plain(struct ky_input *input, void *buffer, size_t size)
{
	size_t got;

	if (input->at == input->size && !read_block(input, &input->number)) {
		if (input->number)
			input->damage = KY_INPUT_UNREADABLE;
		return 0;
	}
	got = input->size - input->at < size ? input->size - input->at : size;
	memcpy(buffer, input->block + input->at, got);
	input->at += got;
	return got;
}

/* Further members follow one another; zeros behind the last are padding of tapes. */
static enum ky_input_damage begin_member(struct ky_input *input)
{
	if (input->block[input->at] == 0) {
		input->is_padded = true;
		while (input->at < input->size && input->block[input->at] == 0)
			input->at++;
		return KY_INPUT_SOUND;
	}
	if (input->is_padded || input->block[input->at] != 0x1f)
		return KY_INPUT_BEHIND;
	input->in_member = true;
	input->is_counted = false;
	return inflateReset(&input->stream) == Z_OK ? KY_INPUT_SOUND : KY_INPUT_BROKEN;
}

static enum ky_input_damage inflate_some(struct ky_input *input)
{
	z_stream *stream = &input->stream;
	const uInt before = stream->avail_out;
	int result;

	stream->next_in = input->block + input->at;
	stream->avail_in = (uInt)(input->size - input->at);
	result = inflate(stream, Z_NO_FLUSH);
	input->at = input->size - stream->avail_in;
	if (stream->avail_out < before && !input->is_counted) {
		input->members++;
		input->is_counted = true;
		input->member_begin = input->unpacked;
	}
	input->unpacked += before - stream->avail_out;
	if (result == Z_STREAM_END)
		input->in_member = false;
	else if (result != Z_OK && result != Z_BUF_ERROR)
		return KY_INPUT_BROKEN;
	return KY_INPUT_SOUND;
}

static size_t read_gzip(struct ky_input *input, void *buffer, size_t size)
{
	z_stream *stream = &input->stream;

	stream->next_out = buffer;
	stream->avail_out = (uInt)size;
	while (stream->avail_out > 0 && input->damage == KY_INPUT_SOUND) {
		if (input->at == input->size && !read_block(input, &input->number)) {
			if (input->number)
				input->damage = KY_INPUT_UNREADABLE;
			else if (input->in_member)
				input->damage = KY_INPUT_CUT;
			break;
		}
		input->damage =
			input->in_member ? inflate_some(input) : begin_member(input);
	}
	return size - stream->avail_out;
}

ptrdiff_t ky_input_read(void *context, void *buffer, size_t size, char *reason)
{
	struct ky_input *input = context;
	size_t got = 0;

	if (input->damage == KY_INPUT_SOUND)
		got = input->is_gzip ? read_gzip(input, buffer, size)
				     : read_plain(input, buffer, size);
	input->bytes += got;
	if (got > 0 || input->damage == KY_INPUT_SOUND)
		return (ptrdiff_t)got;
	snprintf(reason, KY_JSON_REASON_SIZE, "%s", describe(input));
	return -1;
}

bool ky_input_is_capture(const struct ky_input *input)
{
	static const unsigned char magic[8] = {0x89, 0x1a, 0x0a, 'K',
					       'Y',  'M',  'O',  '\n'};

	return input->size >= sizeof(magic) &&
	       memcmp(input->block, magic, sizeof(magic)) == 0;
}

void ky_input_close(struct ky_input *input)
{
	if (input->inflating)
		inflateEnd(&input->stream);
	if (input->fd >= 0)
		close(input->fd);
	free(input->block);
	memset(input, 0, sizeof(*input));
	input->fd = -1;
}

const char *ky_input_reason(int number)
{
	return number == ESPIPE ? "it is no regular file; copy it to one first"
				: strerror(number);
}

/* Files are read more than once, which a pipe can't be; nor is a writer waited for. */
int ky_input_open(struct ky_input *input, const char *path)
{
	struct stat found;
	int number = ENOMEM;

	memset(input, 0, sizeof(*input));
	input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (input->fd < 0)
		return errno;
	if (fstat(input->fd, &found) == 0 && !S_ISREG(found.st_mode)) {
		number = S_ISDIR(found.st_mode) ? EISDIR : ESPIPE;
		goto fail;
	}
	input->block = malloc(KY_INPUT_BLOCK);
	if (!input->block)
		goto fail;
	if (!read_block(input, &number) && number)
		goto fail;
	input->is_gzip =
		input->size >= 2 && input->block[0] == 0x1f && input->block[1] == 0x8b;
	number = ENOMEM;
	if (input->is_gzip && inflateInit2(&input->stream, GZIP_WINDOW) != Z_OK)
		goto fail;
	input->inflating = input->is_gzip;
	return 0;
fail:
	ky_input_close(input);
	return number;
}
