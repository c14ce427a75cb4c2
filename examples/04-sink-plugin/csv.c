/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink plug-in: a trace as a table, one activity a line. It links nothing of Kymo.
 *     cc -shared -fPIC csv.c $(pkg-config --cflags kymo) -o csv.so
 *     kymo record --sink $PWD/csv.so -o trace.csv -- ./program
 */
#include <errno.h>
#include <kymo/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct csv {
	char path[8192], temporary[8208]; /* the target appears whole or not at all */
	FILE *file;
	uint32_t overwrite;
};

static int32_t fail(struct kymo_error *error, const char *path)
{
	if (error)
		snprintf(error->message, sizeof(error->message), "\"%.300s\": %.100s",
			 path, strerror(errno));
	return errno == EEXIST ? KYMO_ERROR_EXISTS : KYMO_ERROR_IO;
}

/* Quoted, with quotes doubled: names may have anything in them. */
static void print_text(FILE *file, struct kymo_str text)
{
	fputs(",\"", file);
	for (size_t i = 0; i < text.size; i++)
		fprintf(file, text.data[i] == '"' ? "\"\"" : "%c", text.data[i]);
	fputc('"', file);
}

static int32_t csv_open(struct kymo_str path, const struct kymo_sink_options *options,
			void **sink, struct kymo_error *error)
{
	struct csv *csv = *sink = calloc(1, sizeof(*csv));

	if (!csv)
		return fail(error, "csv");
	snprintf(csv->path, sizeof(csv->path), "%.*s", (int)path.size, path.data);
	snprintf(csv->temporary, sizeof(csv->temporary), "%s.%ld", csv->path,
		 (long)getpid());
	csv->overwrite = options->overwrite;
	return KYMO_OK;
}

static int32_t csv_begin(void *sink, const struct kymo_trace_header *header,
			 struct kymo_error *error)
{
	struct csv *csv = sink;

	(void)header;
	csv->file = fopen(csv->temporary, "wx"); /* x: never one that is there */
	if (!csv->file)
		return fail(error, csv->temporary);
	fputs("begin_ns,duration_ns,pid,track,category,name\n", csv->file);
	return KYMO_OK;
}

static int32_t csv_batch(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error)
{
	FILE *file = ((struct csv *)sink)->file;

	for (size_t i = 0; i < count; i++) {
		const struct kymo_trace_event *event = events[i];

		if (!event->type)
			continue; /* an arrow, or a track that is announced */
		fprintf(file, "%lld,%lld,%llu", (long long)event->begin_ns,
			(long long)(event->end_ns - event->begin_ns),
			(unsigned long long)event->track->process->pid);
		print_text(file, event->track->name);
		print_text(file, event->type->category);
		print_text(file, event->name);
		fputc('\n', file);
	}
	return ferror(file) ? fail(error, ((struct csv *)sink)->temporary) : KYMO_OK;
}

/* All is on disk before the target is there; link() keeps what has the name already. */
static int32_t csv_end(void *sink, const struct kymo_trace_end *end,
		       struct kymo_sink_result *result, struct kymo_error *error)
{
	struct csv *csv = sink;

	(void)end;
	if (fflush(csv->file) != 0 || fsync(fileno(csv->file)) != 0)
		return fail(error, csv->temporary);
	result->bytes = (uint64_t)ftell(csv->file);
	if ((csv->overwrite ? rename : link)(csv->temporary, csv->path) != 0)
		return fail(error, csv->path);
	unlink(csv->temporary);
	return KYMO_OK;
}

static void csv_abort(void *sink)
{
	struct csv *csv = sink;

	if (csv->file)
		unlink(csv->temporary);
}

static void csv_close(void *sink)
{
	struct csv *csv = sink;

	if (csv->file)
		fclose(csv->file);
	free(csv);
}

static const struct kymo_sink_ops ops = {
	.struct_size = sizeof(ops),
	.open = csv_open,
	.begin = csv_begin,
	.batch = csv_batch,
	.end = csv_end,
	.abort = csv_abort,
	.close = csv_close,
};

static const struct kymo_sink_desc csv_desc = {
	.struct_size = sizeof(csv_desc),
	.protocol = "csv",
	.description = "one activity a line, as comma-separated values",
	.suffixes = (const char *const[]){".csv", NULL},
	.ops = &ops,
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "csv",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sinks = (const struct kymo_sink_desc *const[]){&csv_desc, NULL},
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &plugin;
}
