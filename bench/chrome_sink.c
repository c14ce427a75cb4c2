/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What writing a Chrome trace costs: launches and kernels with the arguments that kernels
 * have, given to the sink as a timeline does. Each line is one JSON object with the
 * median of the rounds, per event: of CPU time where there is one thread, which other
 * programs do not disturb, and of what the clock on the wall says where there are more.
 *
 *     chrome_fprintf   the floor: the same text by fprintf to /dev/null
 *     chrome_format    the sink to /dev/null
 *     chrome_write     the floor: the sink's text by plain write(2) to a fresh file
 *     chrome_file      the sink to .json; both without the wait for the disk
 *     chrome_deflate   the floor: the sink's text compressed by one thread that does
 *                      nothing else; on the wall
 *     chrome_gzip      the sink to .json.gz: formatted and compressed; on the wall
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <kymo/sink.h>
#include <zlib.h>

#define ROUNDS_MAX 15
#define BATCH      256u /* events; two for each launch */
#define AHEAD      8u   /* batches that are prepared before any is timed */
#define BLOCK_SIZE (1u << 20)
#define BASE_NS    INT64_C(5000000000)
#define LEVEL      2 /* the sink's own */

static unsigned int rounds = 5;
static unsigned int batches = 1000;
static char folder[] = "/tmp/kymo-bench-XXXXXX";
static const struct kymo_sink_ops *ops;

static const struct kymo_trace_process process = {
	.struct_size = sizeof(process),
	.pid = 4242,
	.name = {"program", 7},
	.rank = -1,
	.world_size = -1,
};
static const struct kymo_trace_device device = {
	.struct_size = sizeof(device),
	.process = &process,
	.name = {"device", 6},
	.kind = {"GPU", 3},
};
static const struct kymo_trace_track tracks[] = {
	{.struct_size = sizeof(tracks[0]),
	 .kind = KYMO_TRACK_THREAD,
	 .native = 4242,
	 .process = &process},
	{.struct_size = sizeof(tracks[0]),
	 .index = 1,
	 .kind = KYMO_TRACK_QUEUE,
	 .native = 7,
	 .number = 1,
	 .process = &process,
	 .device = &device},
};
static const struct kymo_trace_type types[] = {
	{.struct_size = sizeof(types[0]),
	 .activity_type = 7,
	 .is_static = 1,
	 .name = {"runtime", 7},
	 .category = {"cuda_runtime", 12}},
	{.struct_size = sizeof(types[0]),
	 .index = 1,
	 .activity_type = 5,
	 .is_static = 1,
	 .name = {"kernel", 6},
	 .category = {"kernel", 6}},
};

static const char launch_name[] = "cudaLaunchKernel";
static const char kernel_name[] =
	"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor>";
static const int64_t grid[] = {2, 2, 1}, block[] = {256, 1, 1};
static const struct kymo_trace_value launch_values[] = {
	{.key = {"cbid", 4}, .type = KYMO_VALUE_UINT64, .u64 = 211},
};
static const struct kymo_trace_value kernel_values[] = {
	{.key = {"registers per thread", 20}, .type = KYMO_VALUE_UINT64, .u64 = 33},
	{.key = {"shared memory", 13}, .type = KYMO_VALUE_UINT64, .u64 = 1024},
	{.key = {"warps per SM", 12}, .type = KYMO_VALUE_DOUBLE, .f64 = 0.242424},
	{.key = {"grid", 4},
	 .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
	 .count = 3,
	 .i64_array = grid},
	{.key = {"block", 5},
	 .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
	 .count = 3,
	 .i64_array = block},
};

static struct kymo_trace_event events[AHEAD * BATCH];
static clockid_t clock_id; /* of the case that runs */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(clock_id, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "chrome_sink: cannot %s: %s\n", what, why);
	exit(1);
}

static void must(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status != KYMO_OK)
		fail(what, error->message);
}

/* Times, correlations and durations as irregular as those of a real program. */
static void prepare_batches(unsigned int first)
{
	for (unsigned int i = 0; i < AHEAD * BATCH; i += 2) {
		const unsigned int pair = (first * BATCH + i) / 2;
		struct kymo_trace_event *launch = &events[i], *kernel = &events[i + 1];

		*launch = (struct kymo_trace_event){
			.struct_size = sizeof(*launch),
			.kind = KYMO_EVENT_SPAN,
			.track = &tracks[0],
			.type = &types[0],
			.name = {launch_name, sizeof(launch_name) - 1},
			.begin_ns = BASE_NS + (int64_t)pair * 5003,
			.correlation = pair + 1,
			.values = launch_values,
			.value_count = 1,
		};
		*kernel = *launch;
		kernel->track = &tracks[1];
		kernel->type = &types[1];
		kernel->name = (struct kymo_str){kernel_name, sizeof(kernel_name) - 1};
		kernel->begin_ns += 1200;
		kernel->values = kernel_values;
		kernel->value_count = sizeof(kernel_values) / sizeof(kernel_values[0]);
		launch->end_ns = launch->begin_ns + 900 + pair * 7 % 301;
		kernel->end_ns = kernel->begin_ns + 1500 + pair * 13 % 2003;
	}
}

/* ---- The sink ---- */

static double run_sink(const char *path)
{
	static const struct kymo_trace_process *const processes[] = {&process};
	static const struct kymo_trace_device *const devices[] = {&device};
	static const struct kymo_trace_type *const type_list[] = {&types[0], &types[1]};
	static const struct kymo_trace_header header = {
		.struct_size = sizeof(header),
		.process_count = 1,
		.processes = processes,
		.devices = devices,
		.device_count = 1,
		.types = type_list,
		.type_count = 2,
		.realtime_offset_ns = INT64_C(1795910400000000000),
		.first_ns = BASE_NS,
		.last_ns = BASE_NS + INT64_C(60000000000),
	};
	static const struct kymo_trace_end end = {.struct_size = sizeof(end)};
	const struct kymo_sink_options options = {.struct_size = sizeof(options),
						  .overwrite = 1};
	const struct kymo_trace_event *pointers[AHEAD * BATCH];
	struct kymo_sink_result result = {.struct_size = sizeof(result)};
	struct kymo_error error;
	uint64_t begin = now_ns(), idle = 0;
	void *sink;

	must(ops->open((struct kymo_str){path, strlen(path)}, &options, &sink, &error),
	     "open", &error);
	must(ops->begin(sink, &header, &error), "begin", &error);
	for (unsigned int i = 0; i < AHEAD * BATCH; i++)
		pointers[i] = &events[i];
	for (unsigned int i = 0; i < batches; i += AHEAD) {
		uint64_t from = now_ns();

		prepare_batches(i);
		idle += now_ns() - from;
		for (unsigned int j = 0; j < AHEAD; j++)
			must(ops->batch(sink, pointers + (size_t)j * BATCH, BATCH,
					&error),
			     "write", &error);
	}
	must(ops->end(sink, &end, &result, &error), "end", &error);
	ops->close(sink);
	return (double)(now_ns() - begin - idle);
}

static double run_format(void)
{
	return run_sink("/dev/null");
}

static double run_file(void)
{
	unlink("trace.json"); /* else freeing its pages would count */
	return run_sink("trace.json");
}

static double run_gzip(void)
{
	return run_sink("trace.json.gz");
}

/* ---- Floors ---- */

static void print_event(FILE *out, const struct kymo_trace_event *event)
{
	const int64_t ts = event->begin_ns, dur = event->end_ns - event->begin_ns;
	const int is_kernel = event->track == &tracks[1];

	fprintf(out,
		",\n  {\n    \"ph\": \"X\",\n    \"cat\": \"%s\",\n    \"name\": "
		"\"%s\",\n"
		"    \"pid\": %d,\n    \"tid\": %d,\n    \"ts\": %" PRId64 ".%03d,\n"
		"    \"dur\": %" PRId64 ".%03d,\n    \"args\": {\n      \"External id\": "
		"%" PRIu64 ", ",
		event->type->category.data, event->name.data, is_kernel ? 1 << 30 : 4242,
		is_kernel ? 1 : 4242, ts / 1000, (int)(ts % 1000), dur / 1000,
		(int)(dur % 1000), event->correlation);
	if (is_kernel)
		fprintf(out,
			"\"device\": %d, \"stream\": %d, \"correlation\": %" PRIu64 ", "
			"\"registers per thread\": %d, \"shared memory\": %d, \"warps "
			"per "
			"SM\": %.17g, \"grid\": [%d, %d, %d], \"block\": [%d, %d, %d]\n",
			0, 1, event->correlation, 33, 1024, 0.242424, 2, 2, 1, 256, 1, 1);
	else
		fprintf(out, "\"correlation\": %" PRIu64 ", \"cbid\": %d\n",
			event->correlation, 211);
	fprintf(out, "    }\n  }");
}

static double run_fprintf(void)
{
	FILE *out = fopen("/dev/null", "w");
	uint64_t begin = now_ns(), idle = 0;

	if (!out)
		fail("open", "/dev/null");
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	for (unsigned int i = 0; i < batches; i += AHEAD) {
		uint64_t from = now_ns();

		prepare_batches(i);
		idle += now_ns() - from;
		for (unsigned int j = 0; j < AHEAD * BATCH; j++)
			print_event(out, &events[j]);
	}
	fclose(out);
	return (double)(now_ns() - begin - idle);
}

static unsigned char *text;
static size_t text_size;

static void read_text(void)
{
	struct stat found;
	int fd;

	run_sink("trace.json");
	fd = open("trace.json", O_RDONLY);
	if (fd < 0 || fstat(fd, &found) != 0)
		fail("read", "trace.json");
	text_size = (size_t)found.st_size;
	text = malloc(text_size);
	for (size_t got = 0; text && got < text_size;) {
		ssize_t count = read(fd, text + got, text_size - got);

		if (count <= 0)
			fail("read", "trace.json");
		got += (size_t)count;
	}
	close(fd);
}

static double run_write(void)
{
	uint64_t begin;
	int out;

	unlink("plain.json");
	begin = now_ns();
	out = open("plain.json", O_WRONLY | O_CREAT | O_EXCL, 0600);
	for (size_t at = 0; at < text_size;) {
		const size_t left = text_size - at;
		ssize_t count =
			write(out, text + at, left < BLOCK_SIZE ? left : BLOCK_SIZE);

		if (count <= 0)
			fail("write", "plain.json");
		at += (size_t)count;
	}
	close(out);
	return (double)(now_ns() - begin);
}

static double run_deflate(void)
{
	static unsigned char packed[128 << 10];
	uint64_t begin = now_ns();
	z_stream stream = {0};
	int result, out = open("plain.gz", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (!text || out < 0 ||
	    deflateInit2(&stream, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
		    Z_OK)
		fail("compress", "no memory");
	stream.next_in = text;
	stream.avail_in = (uInt)text_size;
	do {
		stream.next_out = packed;
		stream.avail_out = sizeof(packed);
		result = deflate(&stream, Z_FINISH);
		if (write(out, packed, sizeof(packed) - stream.avail_out) < 0)
			fail("write", "plain.gz");
	} while (result == Z_OK);
	deflateEnd(&stream);
	if (fsync(out) != 0 || close(out) != 0)
		fail("write", "plain.gz");
	return (double)(now_ns() - begin);
}

/* ---- All of it ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static const struct kymo_sink_ops *load(const char *path)
{
	const struct kymo_plugin *(*entry)(void) = NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "kymo_plugin_entry_v1") : NULL;

	if (!symbol)
		fail("load the sink", dlerror());
	memcpy(&entry, &symbol, sizeof(entry));
	return entry()->sinks[0]->ops;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		double (*what)(void);
		int floor; /* the case that it is compared with */
		clockid_t clock_id;
	} cases[] = {
		{"chrome_fprintf", run_fprintf, 0, CLOCK_PROCESS_CPUTIME_ID},
		{"chrome_format", run_format, 0, CLOCK_PROCESS_CPUTIME_ID},
		{"chrome_write", run_write, 2, CLOCK_PROCESS_CPUTIME_ID},
		{"chrome_file", run_file, 2, CLOCK_PROCESS_CPUTIME_ID},
		{"chrome_deflate", run_deflate, 4, CLOCK_MONOTONIC},
		{"chrome_gzip", run_gzip, 4, CLOCK_MONOTONIC},
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);
	double ns[sizeof(cases) / sizeof(cases[0])][ROUNDS_MAX];

	if (argc != 2) {
		fputs("usage: chrome_sink CHROME_SO\n", stderr);
		return 2;
	}
	if (getenv("KYMO_BENCH_QUICK")) {
		rounds = 3;
		batches = 200;
	}
	ops = load(argv[1]);
	if (!mkdtemp(folder) || chdir(folder) != 0)
		fail("enter", folder);
	read_text();
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++) {
			clock_id = cases[i].clock_id;
			ns[i][round] = cases[i].what() / (double)(batches * BATCH);
		}
	for (size_t i = 0; i < count; i++)
		qsort(ns[i], rounds, sizeof(ns[i][0]), compare);
	for (size_t i = 0; i < count; i++) {
		const double value = ns[i][rounds / 2];
		const double floor = ns[cases[i].floor][rounds / 2];

		printf("{\"bench\": \"%s\", \"ns\": %.2f, \"min_ns\": %.2f, "
		       "\"ratio_to_floor\": %.3f, \"mb_per_s\": %.0f, \"rounds\": %u, "
		       "\"events\": %u}\n",
		       cases[i].name, value, ns[i][0], value / floor,
		       (double)text_size / (double)(batches * BATCH) / value * 1000,
		       rounds, batches * BATCH);
	}
	unlink("trace.json");
	unlink("trace.json.gz");
	unlink("plain.json");
	unlink("plain.gz");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}
