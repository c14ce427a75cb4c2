/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent without Kymo: it gives a plug-in a host table that keeps everything in memory
 * and writes it as lines of JSON when the program exits.
 *
 * STUB_OUT      where to write; nothing is written without it
 * STUB_GATE     "off": attached but not recording, to see what a closed gate costs
 * STUB_WAIT_MS  how long the plug-in may wait for pending commands at exit (500)
 * STUB_MEMORY   bytes that the plug-in may hold in buffers of its own (no limit)
 * STUB_FORK     "follow": a forked child records too, to STUB_OUT.PID
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <kymo/plugin.h>

#define LINE_COUNT  ((size_t)1 << 20)
#define ENTRY_COUNT 65536

struct kymo_source_host {
	int unused;
};

static _Alignas(64) uint32_t gate = KYMO_GATE_ON;
static struct kymo_source_host self;
static const struct kymo_source_ops *ops;
static void *source;
static kymo_drain_fn exit_drains[8];
static void *exit_data[8];
static unsigned exit_count;
static uint16_t type_numbers[64], key_numbers[64], domain_numbers[8];
static size_t type_count;
static const struct kymo_source_numbers numbers = {
	.struct_size = sizeof(numbers),
	.types = type_numbers,
	.keys = key_numbers,
	.domains = domain_numbers,
};
static pid_t owner;

static union kymo_line *lines; /* LINE_COUNT of them, mapped and touched */
static uint32_t *line_tids;
static atomic_size_t line_used;
static atomic_uint_fast64_t lost[8];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the dictionary */
static struct {
	const char *kind;
	char *text; /* JSON, the description */
	uint32_t number;
} entries[ENTRY_COUNT];
static size_t entry_used;
static uint32_t counts[16];

static __thread uint32_t own_tid;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC_RAW, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int32_t emit(struct kymo_source_host *host, const union kymo_line *from,
		    uint32_t count)
{
	const size_t at = atomic_fetch_add(&line_used, count);

	(void)host;
	if (at + count > LINE_COUNT)
		return KYMO_ERROR_NO_MEMORY;
	if (!own_tid)
		own_tid = (uint32_t)gettid();
	memcpy(&lines[at], from, count * sizeof(*from));
	line_tids[at] = own_tid;
	return KYMO_OK;
}

static void count_lost(struct kymo_source_host *host, uint32_t reason, uint64_t count)
{
	(void)host;
	atomic_fetch_add(&lost[reason % 8], count);
}

static int32_t begin(uint32_t epoch, struct kymo_error *error)
{
	const char *memory = getenv("STUB_MEMORY");
	const struct kymo_source_session session = {
		.struct_size = sizeof(session),
		.epoch = epoch,
		.types = type_numbers,
		.type_count = type_count,
		.memory_limit = memory ? strtoull(memory, NULL, 10) : 0,
	};

	ops->prepare(source, &session, error);
	return gate == KYMO_GATE_ON ? ops->start(source, error) : KYMO_OK;
}

static uint32_t decide(void)
{
	if (getpid() != owner) {
		const char *follow = getenv("STUB_FORK");

		owner = getpid();
		own_tid = 0;
		atomic_store(&line_used, 0);
		exit_count = 0; /* drains are not inherited */
		gate = follow && strcmp(follow, "follow") == 0 ? KYMO_GATE_ON
							       : KYMO_GATE_OFF;
		if (gate == KYMO_GATE_ON) {
			ops->forked(source);
			begin(2, NULL);
		}
	}
	return gate;
}

static void in_child(void)
{
	gate = KYMO_GATE_UNDECIDED;
}

/* ---- The dictionary: equal descriptions have equal numbers ---- */

static uint32_t intern(const char *kind, const char *text, unsigned space)
{
	uint32_t number = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < entry_used && !number; i++) {
		if (entries[i].kind == kind && strcmp(entries[i].text, text) == 0)
			number = entries[i].number;
	}
	if (!number && entry_used < ENTRY_COUNT) {
		number = ++counts[space];
		entries[entry_used].kind = kind;
		entries[entry_used].text = strdup(text);
		entries[entry_used++].number = number;
	}
	pthread_mutex_unlock(&lock);
	return number;
}

static void quote(char *out, size_t size, const char *data, size_t length)
{
	size_t at = 0;

	for (size_t i = 0; i < length && at + 8 < size; i++) {
		const unsigned char byte = (unsigned char)data[i];

		if (byte < 0x20 || byte == '"' || byte == '\\')
			at += (size_t)snprintf(out + at, size - at, "\\u%04x", byte);
		else
			out[at++] = (char)byte;
	}
	out[at] = '\0';
}

static int32_t type(struct kymo_source_host *host, const struct kymo_type_desc *desc,
		    uint16_t *out)
{
	char text[256];

	(void)host;
	snprintf(text, sizeof(text), "\"name\":\"%s\"", desc->name);
	*out = (uint16_t)intern("type", text, 0);
	return KYMO_OK;
}

static int32_t key(struct kymo_source_host *host, const struct kymo_key_desc *desc,
		   uint16_t *out)
{
	char text[256];

	(void)host;
	snprintf(text, sizeof(text), "\"name\":\"%s\",\"type\":%u", desc->name,
		 desc->value_type);
	*out = (uint16_t)intern("key", text, 1);
	return KYMO_OK;
}

static int32_t domain(struct kymo_source_host *host, const struct kymo_domain_desc *desc,
		      uint16_t *out)
{
	char text[128];

	(void)host;
	snprintf(text, sizeof(text), "\"name\":\"%s\",\"scope\":%u", desc->name,
		 desc->scope);
	*out = (uint16_t)intern("domain", text, 2);
	return KYMO_OK;
}

static int32_t clock_number(struct kymo_source_host *host,
			    const struct kymo_clock_desc *desc, uint32_t *out)
{
	char name[300], text[512];

	(void)host;
	quote(name, sizeof(name), desc->name.data, desc->name.size);
	snprintf(text, sizeof(text),
		 "\"name\":\"%s\",\"kind\":%u,\"rate\":%llu,\"device\":%u", name,
		 desc->kind, (unsigned long long)(desc->ticks_num / desc->ticks_den),
		 desc->device);
	*out = intern("clock", text, 3);
	return KYMO_OK;
}

static int32_t device(struct kymo_source_host *host, const struct kymo_device_desc *desc,
		      uint32_t *out)
{
	char name[300], text[800];

	(void)host;
	quote(name, sizeof(name), desc->name.data, desc->name.size);
	snprintf(text, sizeof(text),
		 "\"name\":\"%s\",\"index\":%u,\"native\":%llu,\"kind\":\"%.*s\","
		 "\"uuid\":\"%.*s\",\"attributes\":%u",
		 name, desc->index, (unsigned long long)desc->native,
		 (int)desc->kind.size, desc->kind.data, (int)desc->uuid.size,
		 desc->uuid.data, desc->attributes);
	*out = intern("device", text, 4);
	return KYMO_OK;
}

static int32_t track(struct kymo_source_host *host, const struct kymo_track_desc *desc,
		     uint32_t *out)
{
	char name[300], text[512];

	(void)host;
	quote(name, sizeof(name), desc->name.data, desc->name.size);
	snprintf(text, sizeof(text),
		 "\"name\":\"%s\",\"kind\":%u,\"native\":%llu,\"device\":%u,\"clock\":%u",
		 name, desc->kind, (unsigned long long)desc->native, desc->device,
		 desc->clock);
	*out = intern("track", text, 5);
	return KYMO_OK;
}

static uint32_t string(struct kymo_source_host *host, struct kymo_str str)
{
	char quoted[4096], text[4200];

	(void)host;
	quote(quoted, sizeof(quoted), str.data, str.size);
	snprintf(text, sizeof(text), "\"text\":\"%s\"", quoted);
	return intern("string", text, 6);
}

static uint32_t code(struct kymo_source_host *host, const void *address)
{
	char text[64];

	(void)host;
	snprintf(text, sizeof(text), "\"address\":%llu",
		 (unsigned long long)(uintptr_t)address);
	return intern("code", text, 7);
}

static uint32_t attributes(struct kymo_source_host *host, const struct kymo_value *values,
			   size_t count)
{
	char text[2048];
	size_t at = (size_t)snprintf(text, sizeof(text), "\"values\":{");

	(void)host;
	for (size_t i = 0; i < count; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "%s\"%u\":", i ? "," : "", values[i].key);
		if (!(values[i].type & KYMO_VALUE_ARRAY)) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%llu",
					       (unsigned long long)values[i].u64);
			continue;
		}
		for (uint32_t j = 0; j < values[i].count; j++) {
			const uint64_t *array = values[i].array;

			at += (size_t)snprintf(text + at, sizeof(text) - at, "%c%llu",
					       j ? ',' : '[',
					       (unsigned long long)array[j]);
		}
		at += (size_t)snprintf(text + at, sizeof(text) - at, "]");
	}
	snprintf(text + at, sizeof(text) - at, "}");
	return intern("attributes", text, 8);
}

static void anchor(struct kymo_source_host *host, uint32_t clock,
		   const struct kymo_clock_pair *pair)
{
	char text[256];

	(void)host;
	snprintf(text, sizeof(text),
		 "\"clock\":%u,\"device\":%llu,\"host_lo\":%llu,\"host_hi\":%llu", clock,
		 (unsigned long long)pair->device, (unsigned long long)pair->host_lo,
		 (unsigned long long)pair->host_hi);
	intern("anchor", text, 9);
}

static uint64_t deadline(void)
{
	const char *wait = getenv("STUB_WAIT_MS");
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec +
	       (wait ? strtoull(wait, NULL, 10) : 500) * 1000000u;
}

/* One for each registered drain, the latest first; a child has its parent's handlers. */
static void run_drain(void)
{
	if (exit_count == 0)
		return;
	exit_count--;
	exit_drains[exit_count](exit_data[exit_count], deadline());
}

static int32_t at_exit(struct kymo_source_host *host, kymo_drain_fn drain, void *data)
{
	(void)host;
	if (exit_count == 8)
		return KYMO_ERROR_NO_MEMORY;
	exit_drains[exit_count] = drain;
	exit_data[exit_count++] = data;
	return atexit(run_drain) == 0 ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
}

static const struct kymo_host table = {
	.struct_size = sizeof(table),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.gate = &gate,
	.now = now,
	.emit = emit,
	.lost = count_lost,
	.decide = decide,
	.type = type,
	.key = key,
	.domain = domain,
	.clock = clock_number,
	.device = device,
	.track = track,
	.string = string,
	.code = code,
	.attributes = attributes,
	.anchor = anchor,
	.at_exit = at_exit,
};

/* ---- The dump ---- */

static void write_record(FILE *out, size_t at)
{
	const struct kymo_record *record = &lines[at].record;

	fprintf(out,
		"{\"record\":%u,\"flags\":%u,\"tid\":%u,\"track\":%u,\"type\":%u,"
		"\"domain\":%u,\"name\":%u,\"begin\":%llu,\"end\":%llu,"
		"\"correlation\":%llu,\"attributes\":%u,\"keys\":{",
		record->kind, record->flags, line_tids[at], record->track, record->type,
		record->domain, record->name, (unsigned long long)record->begin,
		(unsigned long long)record->end, (unsigned long long)record->correlation,
		record->attributes);
	for (unsigned i = 0, n = 0; i < 2; i++) {
		if (record->key[i])
			fprintf(out, "%s\"%u\":%llu", n++ ? "," : "", record->key[i],
				(unsigned long long)record->value[i]);
	}
	for (unsigned line = 1; line < record->lines; line++) {
		const struct kymo_record_more *more = &lines[at + line].more;

		for (unsigned i = 0; i < more->used; i++)
			fprintf(out, ",\"%u\":%llu", more->key[i],
				(unsigned long long)more->value[i]);
	}
	fprintf(out, "}}\n");
}

static void write_all(const char *path)
{
	FILE *out = fopen(path, "w");
	size_t used = atomic_load(&line_used);

	if (!out)
		return;
	if (used > LINE_COUNT)
		used = LINE_COUNT;
	for (size_t i = 0; i < entry_used; i++)
		fprintf(out, "{\"entry\":\"%s\",\"number\":%u,%s}\n", entries[i].kind,
			entries[i].number, entries[i].text);
	for (size_t at = 0; at < used; at += lines[at].record.lines)
		write_record(out, at);
	for (unsigned i = 0; i < 8; i++) {
		if (lost[i])
			fprintf(out, "{\"lost\":%u,\"count\":%llu}\n", i,
				(unsigned long long)lost[i]);
	}
	fprintf(out, "{\"end\":1}\n");
	fclose(out);
}

/* Registered first, so it runs last, in whatever is left of the driver: no waiting. */
static void finish(void)
{
	const char *path = getenv("STUB_OUT");
	char child_path[4096];

	if (gate != KYMO_GATE_ON || !path)
		return;
	gate = KYMO_GATE_OFF;
	ops->stop(source, 0);
	ops->flush(source, 0);
	snprintf(child_path, sizeof(child_path), "%s.%d", path, (int)getpid());
	write_all(getenv("STUB_FORK") ? child_path : path);
}

/* Gives what the tables declare its numbers, before anything is created. */
static void declare(const struct kymo_source_desc *desc)
{
	for (; desc->types[type_count]; type_count++)
		type(&self, desc->types[type_count], &type_numbers[type_count]);
	for (size_t i = 0; desc->keys[i]; i++)
		key(&self, desc->keys[i], &key_numbers[i]);
	for (size_t i = 0; desc->domains[i]; i++)
		domain(&self, desc->domains[i], &domain_numbers[i]);
}

int32_t kymo_agent_attach_v1(const struct kymo_plugin *plugin,
			     const struct kymo_host **out, struct kymo_error *error)
{
	const char *mode = getenv("STUB_GATE");

	*out = &table;
	if (ops)
		return KYMO_OK;
	owner = getpid();
	lines = mmap(NULL, LINE_COUNT * sizeof(*lines), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	line_tids = mmap(NULL, LINE_COUNT * sizeof(*line_tids), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ops = plugin->sources[0]->ops;
	pthread_atfork(NULL, NULL, in_child);
	atexit(finish);
	if (mode && strcmp(mode, "off") == 0)
		gate = KYMO_GATE_OFF;
	declare(plugin->sources[0]);
	if (ops->create(&table, &self, &numbers, &source, error) != KYMO_OK)
		return KYMO_ERROR_PLUGIN;
	return begin(1, error);
}
