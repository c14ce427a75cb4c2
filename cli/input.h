/* SPDX-License-Identifier: BSD-3-Clause */
/* A file to read from front to back, unpacked where it is gzip. */
#ifndef KYMO_CLI_INPUT_H
#define KYMO_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#define KY_INPUT_BLOCK (256u << 10)

struct ky_input {
	int fd; /* -1: none */
	bool is_gzip;
	bool in_member; /* of gzip: between its first byte and its last */
	bool inflating; /* `stream` is set up */
	z_stream stream;
	unsigned char *block;
	size_t at, size;     /* of the block */
	uint64_t file_bytes; /* read so far */
	uint64_t bytes;      /* handed out so far */
};

/* 0, or an errno. The first bytes are at `block`, `size` of them. */
int ky_input_open(struct ky_input *input, const char *path);
void ky_input_close(struct ky_input *input);

/* Fills the buffer, as a ky_json_fill_fn; `context` is a struct ky_input. */
ptrdiff_t ky_input_read(void *context, void *buffer, size_t size, char *reason);

#endif
