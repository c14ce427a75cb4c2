/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <string.h>

#include "base/crc32c.h"

static void the_published_vectors_are_met(void **state)
{
	uint8_t bytes[32];

	(void)state;
	/* RFC 3720, appendix B.4 */
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(ky_crc32c(0, bytes, 32), 0x8a9136aau);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(ky_crc32c(0, bytes, 32), 0x62a8ab43u);
	for (uint8_t i = 0; i < 32; i++)
		bytes[i] = i;
	assert_int_equal(ky_crc32c(0, bytes, 32), 0x46dd794eu);
	assert_int_equal(ky_crc32c(0, "123456789", 9), 0xe3069283u);
}

static void pieces_give_the_same_as_the_whole(void **state)
{
	uint8_t bytes[257];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
		uint32_t crc = ky_crc32c(0, bytes, cut);

		crc = ky_crc32c(crc, bytes + cut, sizeof(bytes) - cut);
		assert_int_equal(crc, ky_crc32c(0, bytes, sizeof(bytes)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vectors_are_met),
		cmocka_unit_test(pieces_give_the_same_as_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
