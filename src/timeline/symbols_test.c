/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/symbols.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

#define ROUNDS 300 /* of damage */

/*
 * The leak checker takes what the loader keeps of libdw's thread-local variables for
 * memory of another kind, and crashes.
 */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "use_tls=0";
}

static char self[4096], own_build_id[256];

static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1; /* the program is the first */
}

/* This function's address as the file numbers it. */
static uint64_t here(void)
{
	union {
		uint64_t (*function)(void);
		uintptr_t address;
	} own = {.function = here};
	uintptr_t base = 0;

	dl_iterate_phdr(take_base, &base);
	return own.address - base;
}

static const char *open_file(struct ky_symbols **out, const char *path)
{
	return ky_symbols_open(out,
			       &(struct ky_symbols_file){path, own_build_id, INT64_MAX});
}

static void a_static_function_is_found(void **state)
{
	struct ky_symbols *symbols;
	struct ky_symbols_place place;

	(void)state;
	assert_null(open_file(&symbols, self));
	ky_symbols_find(symbols, here() + 1, &place);
	assert_string_equal(place.function, "here");
	assert_int_equal(place.into, 1);
	if (place.source) { /* builds without -g have none */
		assert_string_equal(place.source, "symbols_test.c");
		assert_in_range(place.line, 20, 40);
	}
	ky_symbols_find(symbols, 1, &place);
	assert_null(place.function);
	assert_null(place.source);
	ky_symbols_find(symbols, UINT64_MAX, &place);
	assert_null(place.source);
	ky_symbols_close(symbols);
	ky_symbols_close(NULL);
}

static void what_is_no_such_file_is_told(void **state)
{
	static const struct {
		const char *path, *build_id, *reason;
	} rows[] = {
		{self, "c0ffee", "is not the file that ran: its build id differs"},
		{"/nowhere/prog", "", "is not here"},
		{"prog", "", "is known by name only, not where it was"},
		{"/dev/null", "", "is no ELF file that can be read"},
		{"/", "", "is no ELF file that can be read"},
		{"/etc/passwd", "", "is no ELF file that can be read"},
	};
	struct ky_symbols *symbols;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ky_symbols_file file = {rows[i].path, rows[i].build_id, 0};

		assert_string_equal(ky_symbols_open(&symbols, &file), rows[i].reason);
		assert_null(symbols);
	}
}

static unsigned char *read_self(size_t *size)
{
	FILE *file = fopen(self, "re");
	unsigned char *data;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

static void write_file(const char *path, const unsigned char *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

/* Of what is found nothing is asserted: it must end. */
static void a_damaged_file_does_no_harm(void **state)
{
	char path[] = "/tmp/kymo-symbols-XXXXXX";
	int fd = mkstemp(path);
	size_t size;
	unsigned char *whole = read_self(&size), *data = malloc(size);
	uint32_t number = 1;
	int opened = 0;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(data);
	for (int round = 0; round < ROUNDS; round++) {
		struct ky_symbols *symbols;
		struct ky_symbols_place place;
		size_t bytes = size;

		memcpy(data, whole, size);
		/* The table of sections is at the end; without it nothing is found. */
		for (int i = 0; i < 1 + round / 4; i++) {
			size_t at;

			number = number * 1664525u + 1013904223u;
			at = number % size;
			if (i % 3 == 0)
				at = size - 1 - at % 4096;
			else if (i % 3 == 1 && round % 8 == 0)
				at %= 1024;
			data[at] = (unsigned char)(number >> 24);
		}
		if (round % 4 == 0)
			bytes = size * (size_t)round / ROUNDS;
		write_file(path, data, bytes);
		if (open_file(&symbols, path))
			continue;
		opened++;
		for (uint64_t at = 0; at < size; at += size / 64 + 1)
			ky_symbols_find(symbols, at, &place);
		ky_symbols_close(symbols);
	}
	assert_true(opened > ROUNDS / 4);
	unlink(path);
	free(data);
	free(whole);
}

static void names_of_cpp_are_shown_as_written(void **state)
{
	char *name = ky_symbols_demangle("_ZN3npu4stepEi");
	char *bad = ky_symbols_demangle("_ZN3npu");

	(void)state;
	assert_null(ky_symbols_demangle("main"));
	assert_null(bad);
	if (name) /* not everywhere is there a library that knows how */
		assert_string_equal(name, "npu::step(int)");
	free(name);
}

/* Linkers write none unless they are told to. */
static void find_build_id(void)
{
	char line[8192];
	FILE *tool;

	snprintf(line, sizeof(line), "readelf -n '%s' 2>/dev/null", self);
	tool = popen(line, "re");
	while (tool && fgets(line, sizeof(line), tool))
		sscanf(line, " Build ID: %255[0-9a-f]", own_build_id);
	if (tool)
		pclose(tool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_static_function_is_found),
		cmocka_unit_test(what_is_no_such_file_is_told),
		cmocka_unit_test(a_damaged_file_does_no_harm),
		cmocka_unit_test(names_of_cpp_are_shown_as_written),
	};
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (size <= 0)
		return 1;
	find_build_id();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
