/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink that ends the process, with a status that says all is well: .exit when it is
 * opened, or in the operation that the name of the output begins with (begin, batch,
 * end). With "signal" it has a signal come that would end the process.
 *
 * Where it is loaded and where it is opened it makes a thread that takes all signals.
 */
#include <kymo/plugin.h>
#include <kymo/sink.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char when[16];

static void *take_signals(void *unused)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	for (;;)
		pause();
	return unused;
}

static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_signals, NULL) == 0)
		pthread_detach(thread);
}

static void have_signal_come(void)
{
	const struct timespec time = {.tv_nsec = 200000000};

	nanosleep(&time, NULL);
	kill(getpid(), SIGTERM);
	nanosleep(&time, NULL);
}

static void end_in(const char *operation)
{
	if (strcmp(when, operation) == 0)
		exit(0);
}

static int32_t open_sink(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	size_t size = path.size;

	(void)options, (void)error;
	while (size > 0 && path.data[size - 1] != '/')
		size--;
	for (size_t i = 0; i + 1 < sizeof(when) && path.data[size + i] != '.'; i++)
		when[i] = path.data[size + i];
	*sink = when;
	make_thread();
	end_in("open");
	return KYMO_OK;
}

static int32_t begin(void *sink, const struct kymo_trace_header *header,
		     struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	end_in("begin");
	return KYMO_OK;
}

static int32_t batch(void *sink, const struct kymo_trace_event *const *events,
		     size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count, (void)error;
	end_in("batch");
	return KYMO_OK;
}

static int32_t end(void *sink, const struct kymo_trace_end *end,
		   struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result, (void)error;
	end_in("end");
	if (strcmp(when, "signal") == 0)
		have_signal_come();
	return KYMO_OK;
}

static void abort_sink(void *sink)
{
	(void)sink;
}

static void close_sink(void *sink)
{
	(void)sink;
}

static const struct kymo_sink_ops ops = {
	.struct_size = sizeof(ops),
	.open = open_sink,
	.begin = begin,
	.batch = batch,
	.end = end,
	.abort = abort_sink,
	.close = close_sink,
};

static const char *const suffixes[] = {".exit", NULL};

static const struct kymo_sink_desc sink = {
	.struct_size = sizeof(sink),
	.protocol = "exit",
	.description = "ends the process",
	.suffixes = suffixes,
	.ops = &ops,
};

static const struct kymo_sink_desc *const sinks[] = {&sink, NULL};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "exiting_sink",
	.version = "1.0",
	.license = "BSD-3-Clause",
	.sinks = sinks,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	make_thread();
	return &plugin;
}
