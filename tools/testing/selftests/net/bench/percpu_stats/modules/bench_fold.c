// SPDX-License-Identifier: GPL-2.0
/* What it costs to sum up per-cpu rows of counters: the IPv6 statistics of
 * many devices, on many CPUs, with the rows in the caches and without. All the
 * ways to do it take turns, so that what disturbs one disturbs all.
 */

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/u64_stats_sync.h>

#include <net/snmp.h>

/* A kernel that has it exports it for KUnit. */
#if defined(HAVE_PCPU_FOLD_H) && IS_ENABLED(CONFIG_KUNIT)
#include <net/pcpu_fold.h>
#define HAVE_PCPU_FOLD
#endif

#include "bench.h"

#define FOLD_DEVICES	3000

struct fold_way {
	const char *name;
	void (*fold)(u64 *sum, struct ipstats_mib __percpu *mib,
		     const struct cpumask *cpus);
};

static struct ipstats_mib __percpu **fold_mibs;
static u64 fold_sum[IPSTATS_MIB_MAX];

/* As mainline had it: each counter by itself, looked up from scratch, with a
 * seqcount section of its own on 32-bit.
 */
static u64 fold_counter(struct ipstats_mib __percpu *mib, int cpu,
			unsigned int i)
{
	const struct ipstats_mib *row;
	unsigned int start;
	u64 value;

	do {
		row = per_cpu_ptr(mib, cpu);
		start = u64_stats_fetch_begin(&row->syncp);
		value = *((u64 *)row + i);
	} while (u64_stats_fetch_retry(&row->syncp, start));

	return value;
}

static void fold_by_counter(u64 *sum, struct ipstats_mib __percpu *mib,
			    const struct cpumask *cpus)
{
	unsigned int i;
	int cpu;

	for (i = 1; i < IPSTATS_MIB_MAX; i++)
		for_each_cpu(cpu, cpus)
			sum[i] += fold_counter(mib, cpu, i);
}

static void fold_by_cpu(u64 *sum, struct ipstats_mib __percpu *mib,
			const struct cpumask *cpus)
{
	unsigned int i;
	int cpu;

	for_each_cpu(cpu, cpus)
		for (i = 1; i < IPSTATS_MIB_MAX; i++)
			sum[i] += fold_counter(mib, cpu, i);
}

static void fold_row(u64 *sum, const struct ipstats_mib *mib)
{
	unsigned int start, i;
	u64 copy[IPSTATS_MIB_MAX];

	if (BITS_PER_LONG == 64) {
		for (i = 1; i < IPSTATS_MIB_MAX; i++)
			sum[i] += READ_ONCE(mib->mibs[i]);
		return;
	}

	do {
		start = u64_stats_fetch_begin(&mib->syncp);
		u64_stats_copy(copy, mib->mibs, sizeof(copy));
	} while (u64_stats_fetch_retry(&mib->syncp, start));
	for (i = 1; i < IPSTATS_MIB_MAX; i++)
		sum[i] += copy[i];
}

static void fold_by_row(u64 *sum, struct ipstats_mib __percpu *mib,
			const struct cpumask *cpus)
{
	int cpu;

	for_each_cpu(cpu, cpus)
		fold_row(sum, per_cpu_ptr(mib, cpu));
}

static void fold_prefetch(u64 *sum, struct ipstats_mib __percpu *mib,
			  const struct cpumask *cpus)
{
	int cpu, next;

	for_each_cpu(cpu, cpus) {
		next = cpumask_next(cpu, cpus);
		if (next < nr_cpu_ids)
			prefetch_range(per_cpu_ptr(mib, next),
				       sizeof(struct ipstats_mib));
		fold_row(sum, per_cpu_ptr(mib, cpu));
	}
}

#ifdef HAVE_PCPU_FOLD
static void fold_pcpu_fold(u64 *sum, struct ipstats_mib __percpu *mib,
			   const struct cpumask *cpus)
{
	pcpu_fold_u64_cpus(sum, mib->mibs, IPSTATS_MIB_MAX, &mib->syncp, cpus);
}

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
#endif

static const struct fold_way fold_ways[] = {
	{ "by_counter",	fold_by_counter },	/* before 2015 */
	{ "by_cpu",	fold_by_cpu },		/* mainline */
	{ "by_row",	fold_by_row },		/* with one pointer per row */
	{ "prefetch",	fold_prefetch },	/* and the next row under way */
#ifdef HAVE_PCPU_FOLD
	{ "pcpu_fold",	fold_pcpu_fold },	/* this kernel's own */
#endif
};

static struct bench_case fold_bench[ARRAY_SIZE(fold_ways)];

/* Each counter of each row of each device is one. */
static unsigned int fold_alloc(void)
{
	unsigned int n, i;
	int cpu;

	for (n = 0; n < FOLD_DEVICES; n++) {
		fold_mibs[n] = alloc_percpu(struct ipstats_mib);
		if (!fold_mibs[n])
			break;
		for_each_possible_cpu(cpu)
			for (i = 1; i < IPSTATS_MIB_MAX; i++)
				per_cpu_ptr(fold_mibs[n], cpu)->mibs[i] = 1;
	}

	return n;
}

static u64 fold_all(const struct fold_way *way, unsigned int n,
		    unsigned int passes, const struct cpumask *cpus)
{
	u64 start = bench_clock();
	unsigned int i;

	while (passes--)
		for (i = 0; i < n; i++)
			way->fold(fold_sum, fold_mibs[i], cpus);

	return bench_since(start);
}

static const char *fold_check(u64 rows)
{
	unsigned int i;

	for (i = 1; i < IPSTATS_MIB_MAX; i++)
		if (fold_sum[i] != rows)
			return "sum";

	return NULL;
}

/* Few devices are folded again and again when the caches are to be warm. */
static void fold_run(const struct fold_way *way, struct bench_case *bench,
		     unsigned int n, bool cold, const struct cpumask *cpus)
{
	unsigned int passes = cold ? 1 : DIV_ROUND_UP(100, n);

	if (cold)
		bench_evict();
	else
		fold_all(way, n, 1, cpus);

	memset(fold_sum, 0, sizeof(fold_sum));
	bench->took[bench->runs++] = fold_all(way, n, passes, cpus);
	bench->loops = passes * n;
	if (!bench->invalid)
		bench->invalid = fold_check((u64)bench->loops *
					    cpumask_weight(cpus));
}

static void fold_bench_ways(unsigned int n, bool cold,
			    const struct cpumask *cpus)
{
	unsigned int i, run;
	char name[64];

	memset(fold_bench, 0, sizeof(fold_bench));
	for (run = 0; run < bench_runs; run++)
		for (i = 0; i < ARRAY_SIZE(fold_ways); i++)
			fold_run(&fold_ways[i], &fold_bench[i], n, cold, cpus);

	for (i = 0; i < ARRAY_SIZE(fold_ways); i++) {
		snprintf(name, sizeof(name), "fold.%s.%s cpus=%u devices=%u",
			 cold ? "cold" : "warm", fold_ways[i].name,
			 cpumask_weight(cpus), n);
		fold_bench[i].test = name;
		bench_report(&fold_bench[i]);
	}
}

static void fold_bench_devices(unsigned int max, const struct cpumask *cpus)
{
	static const unsigned int devices[] = { 1, 10, 100, 1000, 3000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(devices) && devices[i] <= max; i++) {
		fold_bench_ways(devices[i], false, cpus);
		fold_bench_ways(devices[i], true, cpus);
	}
}

void bench_fold(void)
{
	static struct cpumask cpus;
	unsigned int n, i;
	int cpu;

	fold_mibs = kvcalloc(FOLD_DEVICES, sizeof(*fold_mibs), GFP_KERNEL);
	if (!fold_mibs)
		return;

	n = fold_alloc();
	cpumask_clear(&cpus);
	for_each_possible_cpu(cpu) {
		cpumask_set_cpu(cpu, &cpus);
		if (is_power_of_2(cpumask_weight(&cpus)))
			fold_bench_devices(n, &cpus);
	}
	for (i = 0; i < n; i++)
		free_percpu(fold_mibs[i]);
	kvfree(fold_mibs);
}
