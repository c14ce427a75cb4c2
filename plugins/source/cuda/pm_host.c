/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_suggest.h"

#define IMAGE_MAX (256u << 20) /* bytes; more is a mistake of the library */
#define NO_MEMORY (-1)         /* beside the library's results */

/*
 * What is sampled when no metric is named, by weight: how busy the
 * multiprocessors are and with what, and what goes through the memory and the
 * links. A chip gets those that it has and that fit into one pass with the ones
 * before.
 */
static const char *const defaults[] = {
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"dram__throughput.avg.pct_of_peak_sustained_elapsed",
	"dram__bytes_read.sum.per_second",
	"dram__bytes_write.sum.per_second",
	"pcie__read_bytes.sum.per_second",
	"pcie__write_bytes.sum.per_second",
	"nvlrx__bytes.sum.per_second",
	"nvltx__bytes.sum.per_second",
	"sm__inst_executed.avg.per_cycle_elapsed",
};

void pm_set_close(struct pm_set *set, const struct pm_cupti *cupti)
{
	struct pm_host_end end = {PM_SIZED(pm_host_end, host), .host = set->host};

	if (set->host)
		cupti->host_end(&end);
	free(set->image);
	memset(set, 0, sizeof(*set));
}

static int32_t make_image(struct pm_set *set, const struct pm_cupti *cupti)
{
	struct pm_host_image_size size = {PM_SIZED(pm_host_image_size, size),
					  .host = set->host};
	struct pm_host_image image = {PM_SIZED(pm_host_image, image), .host = set->host};
	int32_t rc = cupti->host_image_size(&size);

	if (rc != PM_RC_SUCCESS)
		return rc;
	set->image = size.size <= IMAGE_MAX ? malloc(size.size) : NULL;
	if (!set->image)
		return NO_MEMORY;
	set->image_size = image.size = size.size;
	image.image = set->image;
	return cupti->host_image(&image);
}

static int32_t count_passes(struct pm_set *set, const struct pm_cupti *cupti)
{
	struct pm_host_passes passes = {PM_SIZED(pm_host_passes, count),
					.size = set->image_size, .image = set->image};
	const int32_t rc = cupti->host_passes(&passes);

	set->passes = passes.count;
	return rc;
}

static int32_t open_host(void **host, const struct pm_chip *chip)
{
	struct pm_host_initialize initialize = {
		PM_SIZED(pm_host_initialize, host), .kind = PM_KIND_OF_PROFILER,
		.chip = chip->name, .availability = chip->availability};
	const int32_t rc = chip->cupti->host_initialize(&initialize);

	*host = rc == PM_RC_SUCCESS ? initialize.host : NULL;
	return rc;
}

/*
 * Opens the set of exactly these metrics. The library's objects are not to be added to a
 * second time, so each question is a new one; it takes about a millisecond.
 */
static int32_t open_set(struct pm_set *set, const struct pm_chip *chip,
			const char *const *metrics, size_t count)
{
	const struct pm_cupti *cupti = chip->cupti;
	struct pm_host_add add = {PM_SIZED(pm_host_add, count), .count = count};
	int32_t rc;

	memset(set, 0, sizeof(*set));
	memcpy(set->metrics, metrics, count * sizeof(*metrics));
	set->count = count;
	rc = open_host(&set->host, chip);
	add.host = set->host;
	add.metrics = set->metrics;
	if (rc == PM_RC_SUCCESS)
		rc = cupti->host_add(&add);
	if (rc == PM_RC_SUCCESS)
		rc = make_image(set, cupti);
	if (rc == PM_RC_SUCCESS)
		rc = count_passes(set, cupti);
	if (rc != PM_RC_SUCCESS)
		pm_set_close(set, cupti);
	return rc;
}

/* Opens the set of those, in order, that fit into one pass with what is in it already. */
static void fit(struct pm_set *set, const struct pm_chip *chip,
		const char *const *metrics, size_t count)
{
	memset(set, 0, sizeof(*set));
	for (size_t i = 0; i < count; i++) {
		const char *tried[PM_METRICS_MAX];
		struct pm_set larger;

		memcpy(tried, set->metrics, set->count * sizeof(*tried));
		tried[set->count] = metrics[i];
		if (open_set(&larger, chip, tried, set->count + 1) != PM_RC_SUCCESS)
			continue;
		if (larger.passes != 1) {
			pm_set_close(&larger, chip->cupti);
			continue;
		}
		pm_set_close(set, chip->cupti);
		*set = larger;
	}
}

static int no_host(const struct pm_chip *chip, int32_t rc, struct pm_problem *problem)
{
	pm_cupti_explain(chip->cupti, "cuptiProfilerHostInitialize", rc, problem);
	if (rc == PM_RC_NOT_SUPPORTED)
		snprintf(problem->reason, sizeof(problem->reason),
			 "%s has no PM sampling, Turing and later have", chip->name);
	if (rc != PM_RC_INVALID_CHIP_NAME && rc != PM_RC_INVALID_PARAMETER)
		return 0;
	snprintf(problem->reason, sizeof(problem->reason),
		 "this CUPTI does not know the chip %s", chip->name);
	snprintf(problem->remedy, sizeof(problem->remedy),
		 "use the CUPTI of a later CUDA");
	return 0;
}

static int no_metric(const struct pm_chip *chip, const char *metric,
		     struct pm_problem *problem)
{
	char nearest[sizeof(problem->remedy) - 16];
	void *host;

	snprintf(problem->reason, sizeof(problem->reason), "%s has no metric %s",
		 chip->name, metric);
	snprintf(problem->remedy, sizeof(problem->remedy),
		 "ncu --query-metrics-collection pmsampling --chip %s lists what it has",
		 chip->name);
	if (open_host(&host, chip) == PM_RC_SUCCESS) {
		struct pm_host_end end = {PM_SIZED(pm_host_end, host), .host = host};

		pm_suggest(chip->cupti, host, metric, nearest, sizeof(nearest));
		if (nearest[0])
			snprintf(problem->remedy, sizeof(problem->remedy), "nearest: %s",
				 nearest);
		chip->cupti->host_end(&end);
	}
	return 0;
}

/* "a, b": those of `metrics` that are not in `set`, or are. */
static void list(char *out, size_t size, const char *separator, const struct pm_set *all,
		 const struct pm_set *set, int wanted)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < all->count && used < size; i++) {
		int is_in = 0;

		for (size_t j = 0; j < set->count; j++)
			is_in |= all->metrics[i] == set->metrics[j];
		if (is_in == wanted)
			used += (size_t)snprintf(out + used, size - used, "%s%s",
						 used ? separator : "", all->metrics[i]);
	}
}

/* What does not fit, and a set that does. */
static int too_many_passes(const struct pm_chip *chip, const struct pm_set *all,
			   struct pm_problem *problem)
{
	char outside[sizeof(problem->reason) - 128], inside[sizeof(problem->remedy) - 16];
	struct pm_set fitting;

	fit(&fitting, chip, all->metrics, all->count);
	list(outside, sizeof(outside), ", ", all, &fitting, 0);
	list(inside, sizeof(inside), "+", all, &fitting, 1);
	snprintf(problem->reason, sizeof(problem->reason),
		 "%s needs %zu passes for %s, and sampling has one: what does not fit in "
		 "is "
		 "%s",
		 chip->name, all->passes,
		 all->count > 1 ? "these metrics" : "this metric", outside);
	if (fitting.count)
		snprintf(problem->remedy, sizeof(problem->remedy), "pm=%s", inside);
	else
		snprintf(problem->remedy, sizeof(problem->remedy), "%s",
			 "leave pm out for a default that fits");
	pm_set_close(&fitting, chip->cupti);
	return 0;
}

/* The first that the chip does not know; NULL if it knows each. */
static const char *find_unknown(const struct pm_chip *chip, const char *const *metrics,
				size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pm_set alone;
		const int32_t rc = open_set(&alone, chip, &metrics[i], 1);

		if (rc == PM_RC_INVALID_PARAMETER || rc == PM_RC_INVALID_METRIC_NAME)
			return metrics[i];
		if (rc == PM_RC_SUCCESS)
			pm_set_close(&alone, chip->cupti);
	}
	return NULL;
}

static int choose_default(struct pm_set *set, const struct pm_chip *chip,
			  struct pm_problem *problem)
{
	fit(set, chip, defaults, sizeof(defaults) / sizeof(defaults[0]));
	if (set->count > 0)
		return 1;
	snprintf(problem->reason, sizeof(problem->reason),
		 "%s has none of the metrics that are sampled by default", chip->name);
	snprintf(problem->remedy, sizeof(problem->remedy),
		 "name some: ncu --query-metrics-collection pmsampling --chip %s lists "
		 "them",
		 chip->name);
	return 0;
}

int pm_set_choose(struct pm_set *set, const struct pm_chip *chip,
		  const char *const *metrics, size_t count, struct pm_problem *problem)
{
	const struct pm_cupti *cupti = chip->cupti;
	const char *unknown;
	void *host = NULL;
	int32_t rc = open_host(&host, chip);
	struct pm_host_end end = {PM_SIZED(pm_host_end, host), .host = host};

	memset(set, 0, sizeof(*set));
	if (rc != PM_RC_SUCCESS)
		return no_host(chip, rc, problem);
	cupti->host_end(&end);
	if (count == 0)
		return choose_default(set, chip, problem);
	unknown = find_unknown(chip, metrics, count);
	if (unknown)
		return no_metric(chip, unknown, problem);
	rc = open_set(set, chip, metrics, count);
	if (rc == PM_RC_SUCCESS && set->passes == 1)
		return 1;
	if (rc == PM_RC_SUCCESS)
		too_many_passes(chip, set, problem);
	else
		pm_cupti_explain(cupti, "cuptiProfilerHostConfigAddMetrics", rc, problem);
	pm_set_close(set, cupti);
	return 0;
}

const char *pm_set_unit(const struct pm_set *set, const struct pm_cupti *cupti,
			const char *metric)
{
	struct pm_host_properties properties = {PM_SIZED(pm_host_properties, type),
						.host = set->host, .metric = metric};

	return cupti->host_properties(&properties) == PM_RC_SUCCESS && properties.unit
		       ? properties.unit
		       : "";
}
