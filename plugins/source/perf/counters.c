/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "missing.h"
#include "proc.h"
#include "source.h"
#include "tally.h"
#include "usage.h"

#define NO_PROC_REMEDY "mount /proc"
#define NO_PSI_REMEDY  "a kernel with CONFIG_PSI, and psi=1 on its command line"

#define VALUES_MAX 8u /* of one group */

static const struct perf_event_kind migration_kind = {
	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "migrations"};

static const struct perf_event_kind pmu_kinds[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions"},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache misses"},
};
#define PMU_KINDS ((uint32_t)(sizeof(pmu_kinds) / sizeof(pmu_kinds[0])))

/* That all tasks wait for a CPU at once cannot be, so of the first only some is taken. */
static const struct {
	const char *path, *what;
	uint32_t count;
	const char *names[2];
} pressure_files[] = {
	{"/proc/pressure/cpu", "CPU pressure", 1, {"cpu some"}},
	{"/proc/pressure/memory", "memory pressure", 2, {"memory some", "memory full"}},
	{"/proc/pressure/io", "io pressure", 2, {"io some", "io full"}},
};
#define PRESSURE_FILES ((uint32_t)(sizeof(pressure_files) / sizeof(pressure_files[0])))

struct moment {
	uint64_t ticks, ns; /* of the host, of CLOCK_MONOTONIC */
};

static struct {
	uint32_t groups[PERF_TYPE_COUNT], track;
	struct moment since[PERF_TYPE_COUNT]; /* the begin of each one's window */
	uint8_t has[PERF_TYPE_COUNT];         /* opened, so it can be sampled */
	struct perf_usage usage;
	struct perf_tally migrations, pmu;
	/* What no window has had yet. */
	uint64_t migrated[PERF_GROUP_MAX], counted[PERF_GROUP_MAX];
	struct perf_file statm, pressure[PRESSURE_FILES];
	uint64_t pressure_us[PRESSURE_FILES][2]; /* as read last, after this: */
	uint64_t pressure_ns;
	uint64_t page_size;
} counters;

/* ---- Opening ---- */

static void open_usage(void)
{
	const int is_readable = perf_usage_begin(&counters.usage) == 0;

	for (uint32_t i = PERF_TYPE_CPU; i <= PERF_TYPE_SWITCHES; i++)
		counters.has[i] = perf_source.wants[i] && is_readable;
	if (!is_readable)
		perf_missing_add("CPU time, faults, switches",
				 "getrusage is forbidden here",
				 "a seccomp profile that allows getrusage");
}

static void open_events(void)
{
	struct perf_threads threads;
	uint32_t most = perf_descriptors_max() / (1 + PMU_KINDS);

	perf_threads_list(&threads);
	if (threads.count > most)
		threads.count = most > 0 ? most : 1;
	if (counters.has[PERF_TYPE_SWITCHES])
		perf_tally_open(&counters.migrations, &migration_kind, 1, 0, &threads);
	if (perf_source.wants[PERF_TYPE_EVENTS])
		perf_tally_open(&counters.pmu, pmu_kinds, PMU_KINDS, 1, &threads);
	counters.has[PERF_TYPE_EVENTS] = counters.pmu.kind_count > 0;
}

static uint32_t read_pressure(uint32_t index, uint64_t out[2])
{
	char text[256];

	if (perf_file_read(&counters.pressure[index], text, sizeof(text)) <= 0)
		return 0;
	return perf_parse_pressure(text, out);
}

static void open_pressure(void)
{
	if (!perf_source.wants[PERF_TYPE_PRESSURE])
		return;
	for (uint32_t i = 0; i < PRESSURE_FILES; i++) {
		struct perf_file *file = &counters.pressure[i];
		const int number = perf_file_open(file, pressure_files[i].path);

		if (number == EMFILE || number == ENFILE) {
			perf_missing_add_refused(pressure_files[i].what, number);
		} else if (number != 0 || read_pressure(i, counters.pressure_us[i]) <
						  pressure_files[i].count) {
			perf_missing_add(pressure_files[i].what,
					 "there is no /proc/pressure, or it is off",
					 NO_PSI_REMEDY);
			perf_file_close(file);
		}
		if (file->fd > 0)
			counters.has[PERF_TYPE_PRESSURE] = 1;
	}
}

static void open_memory(void)
{
	int number;

	if (!perf_source.wants[PERF_TYPE_MEMORY])
		return;
	number = perf_file_open(&counters.statm, "/proc/self/statm");
	if (number == EMFILE || number == ENFILE)
		perf_missing_add_refused("memory", number);
	else if (number != 0)
		perf_missing_add("memory", "there is no /proc/self/statm",
				 NO_PROC_REMEDY);
	counters.has[PERF_TYPE_MEMORY] = number == 0;
}

void perf_counters_open(void)
{
	memset(&counters, 0, sizeof(counters));
	counters.page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	open_usage();
	open_events();
	open_pressure();
	open_memory();
}

void perf_counters_close(void)
{
	perf_tally_close(&counters.migrations);
	perf_tally_close(&counters.pmu);
	for (uint32_t i = 0; i < PRESSURE_FILES; i++)
		perf_file_close(&counters.pressure[i]);
	perf_file_close(&counters.statm);
	memset(counters.has, 0, sizeof(counters.has));
}

/* ---- Registering ---- */

/* The counters of one group, as they are found to be there. */
struct group {
	struct kymo_counter_desc descs[VALUES_MAX];
	const struct kymo_counter_desc *list[VALUES_MAX];
	uint32_t count;
};

static void add_counter(struct group *group, uint32_t type, const char *name,
			const char *unit)
{
	struct kymo_counter_desc *desc = &group->descs[group->count];

	*desc = (struct kymo_counter_desc){.struct_size = sizeof(*desc),
					   .value_type = type,
					   .name = kymo_text(name),
					   .unit = kymo_text(unit)};
	group->list[group->count++] = desc;
}

static int32_t add_group(enum perf_type type, const char *name, const struct group *group)
{
	return perf_source.host->counter_group(perf_source.self, counters.track,
					       kymo_text(name), group->list, group->count,
					       &counters.groups[type]);
}

static int32_t register_usage(void)
{
	struct group cpu = {.count = 0}, faults = {.count = 0}, switches = {.count = 0};
	int32_t status;

	add_counter(&cpu, KYMO_VALUE_UINT64, "task clock", "ns");
	add_counter(&cpu, KYMO_VALUE_DOUBLE, "busy", "%");
	add_counter(&faults, KYMO_VALUE_UINT64, "minor", "");
	add_counter(&faults, KYMO_VALUE_UINT64, "major", "");
	add_counter(&switches, KYMO_VALUE_UINT64, "voluntary", "");
	add_counter(&switches, KYMO_VALUE_UINT64, "involuntary", "");
	if (counters.migrations.kind_count > 0)
		add_counter(&switches, KYMO_VALUE_UINT64, migration_kind.name, "");
	status = add_group(PERF_TYPE_CPU, "cpu", &cpu);
	if (!status)
		status = add_group(PERF_TYPE_FAULTS, "page faults", &faults);
	if (!status)
		status = add_group(PERF_TYPE_SWITCHES, "context switches", &switches);
	return status;
}

static int32_t register_events(void)
{
	struct group events = {.count = 0};

	for (uint32_t i = 0; i < counters.pmu.kind_count; i++)
		add_counter(&events, KYMO_VALUE_UINT64, counters.pmu.kinds[i]->name, "");
	return add_group(PERF_TYPE_EVENTS, "cpu events", &events);
}

static int32_t register_pressure(void)
{
	struct group pressure = {.count = 0};

	for (uint32_t i = 0; i < PRESSURE_FILES; i++)
		for (uint32_t k = 0; k < pressure_files[i].count; k++)
			if (counters.pressure[i].fd > 0)
				add_counter(&pressure, KYMO_VALUE_DOUBLE,
					    pressure_files[i].names[k], "%");
	return add_group(PERF_TYPE_PRESSURE, "pressure", &pressure);
}

static int32_t register_memory(void)
{
	struct group memory = {.count = 0};

	add_counter(&memory, KYMO_VALUE_UINT64, "resident", "bytes");
	add_counter(&memory, KYMO_VALUE_UINT64, "shared", "bytes");
	return add_group(PERF_TYPE_MEMORY, "memory", &memory);
}

int32_t perf_counters_register(void)
{
	const struct kymo_track_desc track = {
		.struct_size = sizeof(track),
		.kind = KYMO_TRACK_COUNTER,
		.name = KYMO_STR("perf"),
	};
	int32_t status =
		perf_source.host->track(perf_source.self, &track, &counters.track);

	if (!status)
		status = register_usage();
	if (!status && counters.has[PERF_TYPE_EVENTS])
		status = register_events();
	if (!status && counters.has[PERF_TYPE_PRESSURE])
		status = register_pressure();
	if (!status)
		status = register_memory();
	return status;
}

/* ---- Sampling ---- */

static void emit(enum perf_type type, uint64_t begin, uint64_t end,
		 const uint64_t *values, uint32_t count)
{
	union kymo_line lines[2] = {{.counter = {
					     .kind = KYMO_KIND_COUNTER,
					     .lines = count > 4 ? 2 : 1,
					     .track = counters.track,
					     .type = perf_source.types[type],
					     .count = (uint16_t)count,
					     .group = counters.groups[type],
					     .begin = begin,
					     .end = end,
				     }}};

	lines[1].values.kind = KYMO_KIND_VALUES;
	for (uint32_t i = 0; i < count; i++) {
		if (i < 4)
			lines[0].counter.value[i] = values[i];
		else
			lines[1].values.value[lines[1].values.used++] = values[i];
	}
	perf_source.host->emit(perf_source.self, lines, lines[0].counter.lines);
}

static void emit_window(enum perf_type type, const struct moment *end,
			const uint64_t *values, uint32_t count)
{
	emit(type, counters.since[type].ticks, end->ticks, values, count);
	counters.since[type] = *end;
}

static uint64_t percent(uint64_t part, enum perf_type type, const struct moment *end)
{
	const uint64_t whole = end->ns - counters.since[type].ns;

	return kymo_double_bits(whole ? 100.0 * (double)part / (double)whole : 0);
}

static void sample_switches(const struct moment *end, const uint64_t *switches)
{
	uint64_t values[3] = {switches[0], switches[1]};
	uint32_t count = 2;

	if (perf_tally_take(&counters.migrations, counters.migrated))
		values[count++] = counters.migrated[0];
	counters.migrated[0] = 0;
	emit_window(PERF_TYPE_SWITCHES, end, values, count);
}

static void sample_usage(int is_tick, const struct moment *end)
{
	uint64_t used[PERF_USAGE_COUNT], values[2];

	if (perf_usage_take(&counters.usage, is_tick, used) != 0)
		return;
	values[0] = used[PERF_USAGE_CPU];
	values[1] = percent(used[PERF_USAGE_CPU], PERF_TYPE_CPU, end);
	if (counters.has[PERF_TYPE_CPU])
		emit_window(PERF_TYPE_CPU, end, values, 2);
	if (counters.has[PERF_TYPE_FAULTS])
		emit_window(PERF_TYPE_FAULTS, end, &used[PERF_USAGE_MINOR], 2);
	if (counters.has[PERF_TYPE_SWITCHES])
		sample_switches(end, &used[PERF_USAGE_VOLUNTARY]);
}

static void sample_events(const struct moment *end)
{
	if (!counters.has[PERF_TYPE_EVENTS] ||
	    !perf_tally_take(&counters.pmu, counters.counted))
		return;
	emit_window(PERF_TYPE_EVENTS, end, counters.counted, counters.pmu.kind_count);
	memset(counters.counted, 0, sizeof(counters.counted));
}

/* The group ends where the program has closed one of its files. */
static int read_pressures(uint64_t now[PRESSURE_FILES][2])
{
	for (uint32_t i = 0; i < PRESSURE_FILES; i++) {
		if (counters.pressure[i].fd <= 0 ||
		    read_pressure(i, now[i]) >= pressure_files[i].count)
			continue;
		counters.has[PERF_TYPE_PRESSURE] = 0;
		perf_missing_add_closed("pressure");
		return 0;
	}
	return 1;
}

/*
 * The files are read between two looks at the clock, and whoever reads may have to wait
 * meanwhile. From before one reading to after the next is never less than what they tell
 * of; what is left above 100 are the kernel's own roundings.
 */
static uint64_t pressure_share(uint64_t us, uint64_t after_ns)
{
	const uint64_t whole_ns = after_ns - counters.pressure_ns;
	const double share =
		whole_ns ? 100.0 * 1000.0 * (double)us / (double)whole_ns : 0;

	return kymo_double_bits(share < 100 ? share : 100);
}

static void sample_pressure(void)
{
	const struct moment end = {perf_source.host->now(), perf_now_ns()};
	uint64_t now[PRESSURE_FILES][2] = {{0}}, values[VALUES_MAX], after_ns;
	uint32_t count = 0;

	if (!counters.has[PERF_TYPE_PRESSURE] || !read_pressures(now))
		return;
	after_ns = perf_now_ns();
	for (uint32_t i = 0; i < PRESSURE_FILES; i++) {
		if (counters.pressure[i].fd <= 0)
			continue;
		for (uint32_t k = 0; k < pressure_files[i].count; k++) {
			const uint64_t us = now[i][k] - counters.pressure_us[i][k];

			values[count++] = pressure_share(us, after_ns);
			counters.pressure_us[i][k] = now[i][k];
		}
	}
	counters.pressure_ns = end.ns;
	emit_window(PERF_TYPE_PRESSURE, &end, values, count);
}

static void sample_memory(uint64_t now)
{
	uint64_t pages[3], values[2];
	char text[256];

	if (!counters.has[PERF_TYPE_MEMORY])
		return;
	if (perf_file_read(&counters.statm, text, sizeof(text)) <= 0 ||
	    perf_parse_statm(text, pages) != 0) {
		counters.has[PERF_TYPE_MEMORY] = 0;
		perf_missing_add_closed("memory");
		return;
	}
	values[0] = pages[1] * counters.page_size;
	values[1] = pages[2] * counters.page_size;
	emit(PERF_TYPE_MEMORY, now, now, values, 2);
}

void perf_counters_sample(int is_tick)
{
	const struct moment end = {perf_source.host->now(), perf_now_ns()};

	sample_usage(is_tick, &end);
	sample_events(&end);
	sample_pressure();
	sample_memory(end.ticks);
}

void perf_counters_begin(void)
{
	const struct moment now = {perf_source.host->now(), perf_now_ns()};

	for (uint32_t i = 0; i < PERF_TYPE_COUNT; i++)
		counters.since[i] = now;
	/* Afresh: after a rest the host's timers may be served by another thread. */
	perf_usage_begin(&counters.usage);
	perf_tally_take(&counters.migrations, counters.migrated);
	perf_tally_take(&counters.pmu, counters.counted);
	memset(counters.migrated, 0, sizeof(counters.migrated));
	memset(counters.counted, 0, sizeof(counters.counted));
	counters.pressure_ns = now.ns;
	if (counters.has[PERF_TYPE_PRESSURE])
		read_pressures(counters.pressure_us);
}

/* What was extrapolated is said: more events than the PMU has counters for. */
void perf_counters_end(void)
{
	const struct perf_tally *pmu = &counters.pmu;
	const struct kymo_value share = {
		.key = perf_source.keys[PERF_KEY_PMU_SHARE],
		.type = KYMO_VALUE_DOUBLE,
		.f64 = pmu->enabled ? 100.0 * (double)pmu->running / (double)pmu->enabled
				    : 0,
	};

	if (pmu->running < pmu->enabled)
		perf_source.host->metadata(perf_source.self, &share);
}
