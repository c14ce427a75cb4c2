/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared object that waits for another thread while it is loaded into coder.c. */
void ask_on_another_thread(void);

__attribute__((constructor)) static void begin(void)
{
	ask_on_another_thread();
}
