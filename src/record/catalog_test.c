/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue finds what was written and stops at what is damaged. */
#include "record/catalog.h"

#include <string.h>

#include "base/crc32c.h"
#include "support/test.h"

struct bytes {
	_Alignas(8) uint8_t data[4096];
	size_t size;
};

static void add(struct bytes *bytes, uint16_t kind, uint32_t id, const void *payload,
		uint32_t size)
{
	struct ky_dictionary_entry entry = {.size = size, .kind = kind, .id = id};

	entry.crc32c = ky_crc32c(0, &entry, offsetof(struct ky_dictionary_entry, crc32c));
	entry.crc32c = ky_crc32c(entry.crc32c, payload, size);
	memcpy(bytes->data + bytes->size, &entry, sizeof(entry));
	memcpy(bytes->data + bytes->size + sizeof(entry), payload, size);
	bytes->size += sizeof(entry) + ((size + 7u) & ~7u);
}

static struct ky_catalog *open_catalog(const struct bytes *bytes)
{
	struct ky_catalog *catalog;

	assert_int_equal(ky_catalog_create(&catalog, bytes->data, bytes->size, NULL),
			 KYMO_OK);
	return catalog;
}

static void assert_text(struct kymo_str text, const char *expected)
{
	assert_int_equal(text.size, strlen(expected));
	assert_memory_equal(text.data, expected, text.size);
}

static void entries_are_found_by_kind_and_number(void **state)
{
	struct bytes bytes = {.size = 0};
	struct ky_source_entry source = {.name = 2};
	struct ky_catalog *catalog;
	const struct ky_source_entry *found;
	size_t size;

	(void)state;
	add(&bytes, KY_ENTRY_STRING, 1, "one", 3);
	add(&bytes, KY_ENTRY_SOURCE, 1, &source, sizeof(source));
	add(&bytes, KY_ENTRY_STRING, 2, "", 0);
	add(&bytes, KY_ENTRY_STRING, 3, "three\0\"\n", 8);
	catalog = open_catalog(&bytes);
	assert_int_equal(ky_catalog_count(catalog, KY_ENTRY_STRING), 3);
	assert_int_equal(ky_catalog_count(catalog, KY_ENTRY_SOURCE), 1);
	assert_text(ky_catalog_string(catalog, 1), "one");
	assert_text(ky_catalog_string(catalog, 2), "");
	assert_non_null(ky_catalog_string(catalog, 2).data);
	assert_int_equal(ky_catalog_string(catalog, 3).size, 8);
	found = ky_catalog_find(catalog, KY_ENTRY_SOURCE, 1, sizeof(*found), &size);
	assert_int_equal(found->name, 2);
	assert_int_equal(size, sizeof(*found));
	assert_int_equal(ky_catalog_bad_bytes(catalog), 0);
	ky_catalog_destroy(catalog);
}

static void numbers_that_are_not_there_give_null(void **state)
{
	struct bytes bytes = {.size = 0};
	struct ky_catalog *catalog;

	(void)state;
	add(&bytes, KY_ENTRY_STRING, 1, "one", 3);
	catalog = open_catalog(&bytes);
	assert_null(ky_catalog_string(catalog, 0).data);
	assert_null(ky_catalog_string(catalog, 2).data);
	assert_null(ky_catalog_string(catalog, UINT32_MAX).data);
	assert_null(ky_catalog_find(catalog, KY_ENTRY_STRING, 1, 4, NULL));
	assert_null(ky_catalog_find(catalog, KY_ENTRY_TYPE, 1, 0, NULL));
	assert_null(ky_catalog_find(catalog, 60000, 1, 0, NULL));
	assert_int_equal(ky_catalog_count(catalog, 60000), 0);
	ky_catalog_destroy(catalog);
}

static void an_unknown_kind_is_passed_over(void **state)
{
	struct bytes bytes = {.size = 0};
	struct ky_catalog *catalog;

	(void)state;
	add(&bytes, 77, 5, "later version", 13);
	add(&bytes, KY_ENTRY_STRING, 1, "one", 3);
	catalog = open_catalog(&bytes);
	assert_text(ky_catalog_string(catalog, 1), "one");
	assert_int_equal(ky_catalog_bad_bytes(catalog), 0);
	ky_catalog_destroy(catalog);
}

static void a_damaged_entry_ends_the_catalogue(void **state)
{
	static const struct {
		const char *what;
		size_t offset; /* in the second entry, 24 bytes long, at 24 */
		uint8_t change;
	} rows[] = {
		{"size", 0, 0x40},     {"size beyond the end", 3, 0xff},
		{"kind", 4, 0xff},     {"flags", 6, 1},
		{"number", 8, 1},      {"crc", 12, 1},
		{"payload", 16, 0x20},
	};

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct bytes bytes = {.size = 0};
		struct ky_catalog *catalog;

		add(&bytes, KY_ENTRY_STRING, 1, "one", 3);
		add(&bytes, KY_ENTRY_STRING, 2, "two", 3);
		add(&bytes, KY_ENTRY_STRING, 3, "three", 5);
		bytes.data[24 + rows[row].offset] ^= rows[row].change;
		catalog = open_catalog(&bytes);
		if (ky_catalog_count(catalog, KY_ENTRY_STRING) != 1)
			fail_msg("%s", rows[row].what);
		assert_int_equal(ky_catalog_bad_bytes(catalog), bytes.size - 24);
		ky_catalog_destroy(catalog);
	}
}

static void a_number_out_of_order_ends_the_catalogue(void **state)
{
	struct bytes bytes = {.size = 0};
	struct ky_catalog *catalog;

	(void)state;
	add(&bytes, KY_ENTRY_STRING, 1, "one", 3);
	add(&bytes, KY_ENTRY_STRING, 3, "three", 5);
	catalog = open_catalog(&bytes);
	assert_int_equal(ky_catalog_count(catalog, KY_ENTRY_STRING), 1);
	assert_int_equal(ky_catalog_bad_bytes(catalog), 24);
	ky_catalog_destroy(catalog);
}

static void every_cut_gives_the_entries_before_it(void **state)
{
	struct bytes bytes = {.size = 0};

	(void)state;
	for (uint32_t id = 1; id <= 20; id++)
		add(&bytes, KY_ENTRY_STRING, id, "0123456789abcdef", 5 + id % 8);
	for (size_t cut = 0; cut <= bytes.size; cut++) {
		struct bytes part = bytes;
		struct ky_catalog *catalog;

		part.size = cut;
		catalog = open_catalog(&part);
		assert_in_range(ky_catalog_bad_bytes(catalog), 0, 31);
		ky_catalog_destroy(catalog);
	}
}

static void bytes_that_are_not_aligned_are_refused(void **state)
{
	struct bytes bytes = {.size = 0};
	struct ky_catalog *catalog;

	(void)state;
	assert_int_equal(ky_catalog_create(&catalog, bytes.data + 1, 64, NULL),
			 KYMO_ERROR_INVALID);
	assert_null(catalog);
	ky_catalog_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_found_by_kind_and_number),
		cmocka_unit_test(numbers_that_are_not_there_give_null),
		cmocka_unit_test(an_unknown_kind_is_passed_over),
		cmocka_unit_test(a_damaged_entry_ends_the_catalogue),
		cmocka_unit_test(a_number_out_of_order_ends_the_catalogue),
		cmocka_unit_test(every_cut_gives_the_entries_before_it),
		cmocka_unit_test(bytes_that_are_not_aligned_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
