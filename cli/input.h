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
	size_t at, size;       /* of the block */
	uint64_t file_bytes;   /* read so far */
	uint64_t bytes;        /* handed out so far */
	uint64_t members;      /* of gzip, with something in them */
	bool is_counted;       /* the present one is among them */
	uint64_t unpacked;     /* so far, what is not handed out yet included */
	uint64_t member_begin; /* in what is unpacked, of the last one of them */
	bool is_padded;        /* zeros stand behind the last member */
	enum ky_input_damage {
		KY_INPUT_SOUND,
		KY_INPUT_UNREADABLE,
		KY_INPUT_CUT,    /* the gzip data ends early */
		KY_INPUT_BROKEN, /* the gzip data is damaged */
		KY_INPUT_BEHIND, /* something else stands behind it */
	} damage;
	int number; /* of UNREADABLE: an errno */
};

/* 0, or a number with a reason. The first bytes are at `block`, `size` of them. */
int ky_input_open(struct ky_input *input, const char *path);
const char *ky_input_reason(int number);

void ky_input_close(struct ky_input *input);

/* Whether it begins as a capture does; no text can. */
bool ky_input_is_capture(const struct ky_input *input);

/*
 * Fills the buffer, as a ky_json_fill_fn; `context` is a struct ky_input. What can be
 * unpacked is handed out before damage is told of.
 */
ptrdiff_t ky_input_read(void *context, void *buffer, size_t size, char *reason);

#endif
