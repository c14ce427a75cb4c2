/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that records itself, also where a recorder has it already, and says of each
 * session what its arguments say, one after the other:
 *
 *     session          another session, the one before destroyed
 *     start            and prints "busy" if it is refused as such; to stderr, why
 *     await            the same, again and again until it is not
 *     say KEY TEXT     number KEY N     shape KEY    ([[2, 3], {"depth": 4}])
 *     save PATH        stops and saves it
 *     mark             one span
 *     wait PATH        until there is such a file
 *     fork ...         the rest in a child, for which this process waits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/kymo.h>

static struct kymo_session *session;
static struct kymo_error refusal; /* the last one */

static void need(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "embedded: %s: %s\n", what, error->message);
	exit(1);
}

static void say(const char *name, uint32_t type, struct kymo_value value)
{
	const struct kymo_key_desc desc = {
		.struct_size = sizeof(desc), .value_type = type, .name = name};
	struct kymo_error error = {0};

	need(kymo_key_register(&desc, &value.key, &error), name, &error);
	value.type = (uint16_t)type;
	need(kymo_session_metadata(session, &value, &error), name, &error);
}

static void say_shape(const char *name)
{
	static const int64_t dims[] = {2, 3};
	struct kymo_nested nested;
	uint64_t words[16];

	kymo_nested_begin(&nested, words, 16, KYMO_VALUE_LIST);
	kymo_nested_put_array(&nested, 0, KYMO_VALUE_INT64, dims, 2);
	kymo_nested_open(&nested, 0, KYMO_VALUE_DICT);
	kymo_nested_put(&nested, kymo_mark_intern("depth", 5), KYMO_VALUE_INT64, 4);
	say(name, KYMO_VALUE_NESTED, kymo_nested_value(&nested, 0));
}

static int is_started(void)
{
	struct kymo_error error = {0};
	int32_t status = kymo_session_start(session, &error);

	if (status != KYMO_ERROR_BUSY)
		need(status, "start", &error);
	refusal = error;
	return status == KYMO_OK;
}

static void save(const char *path)
{
	struct kymo_error error = {0};

	need(kymo_session_stop(session, &error), "stop", &error);
	need(kymo_session_save(session, path, NULL, NULL, &error), "save", &error);
}

static void go_on_in_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		return;
	waitpid(child, &status, 0);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	struct kymo_error error = {0};
	static uint32_t name;

	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];

		if (strcmp(what, "session") == 0) {
			kymo_session_destroy(session);
			need(kymo_session_create(&session, NULL, &error), what, &error);
		} else if (strcmp(what, "start") == 0) {
			if (!is_started()) {
				puts("busy");
				fprintf(stderr, "%s\n", refusal.message);
			}
		} else if (strcmp(what, "await") == 0) {
			while (!is_started())
				usleep(1000);
		} else if (strcmp(what, "mark") == 0) {
			kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "span"));
		} else if (strcmp(what, "fork") == 0) {
			go_on_in_child();
		} else if (strcmp(what, "wait") == 0 && i + 1 < argc) {
			while (access(argv[i + 1], F_OK) != 0)
				usleep(1000);
			i++;
		} else if (strcmp(what, "shape") == 0 && i + 1 < argc) {
			say_shape(argv[++i]);
		} else if (strcmp(what, "save") == 0 && i + 1 < argc) {
			save(argv[++i]);
		} else if (strcmp(what, "say") == 0 && i + 2 < argc) {
			const char *text = argv[i + 2];

			say(argv[i + 1], KYMO_VALUE_STRING,
			    (struct kymo_value){
				    .u64 = kymo_mark_intern(text, strlen(text))});
			i += 2;
		} else if (strcmp(what, "number") == 0 && i + 2 < argc) {
			say(argv[i + 1], KYMO_VALUE_INT64,
			    (struct kymo_value){.i64 = atoll(argv[i + 2])});
			i += 2;
		} else {
			fprintf(stderr, "embedded: no such command: %s\n", what);
			return 98;
		}
	}
	kymo_session_destroy(session);
	return 0;
}
