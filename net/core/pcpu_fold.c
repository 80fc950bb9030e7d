// SPDX-License-Identifier: GPL-2.0-or-later
/* One-pass sums of per-cpu counter rows, see include/net/pcpu_fold.h */

#include <kunit/visibility.h>

#include <linux/align.h>
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/unroll.h>

#include <net/pcpu_fold.h>

/**
 * pcpu_fold_cpus() - the CPUs whose rows can hold anything
 *
 * A CPU enters the mask while it comes up for the first time, before it can
 * run anything that counts, and never leaves it. For callers which walk the
 * CPUs themselves, to visit several rows of one CPU before the next CPU's.
 *
 * Context: Any.
 * Return: the mask of all CPUs that ever were online, at least the boot CPU.
 */
const struct cpumask *pcpu_fold_cpus(void)
{
#ifdef CONFIG_SMP
	return &cpus_booted_once_mask;
#else
	return cpu_possible_mask;
#endif
}
EXPORT_SYMBOL_IF_KUNIT(pcpu_fold_cpus);

/* Rows that are added up together. The sums are loaded and stored once for
 * all of them, and their cache misses overlap.
 */
#define PCPU_FOLD_BATCH		4

static void pcpu_fold_batch(unsigned long *sum,
			    const unsigned long *const *rows, unsigned int n)
{
	const unsigned long *a = rows[0], *b = rows[1];
	const unsigned long *c = rows[2], *d = rows[3];
	unsigned int i;

	BUILD_BUG_ON(PCPU_FOLD_BATCH != 4);
	for (i = 0; i < n; i++)
		sum[i] += READ_ONCE(a[i]) + READ_ONCE(b[i]) +
			  READ_ONCE(c[i]) + READ_ONCE(d[i]);
}

static void pcpu_fold_one(unsigned long *sum, const unsigned long *row,
			  unsigned int n)
{
	unsigned int i;

	unrolled_count(4)
	for (i = 0; i < n; i++)
		sum[i] += READ_ONCE(row[i]);
}

static void pcpu_fold_prefetch(const unsigned long *row, unsigned int n)
{
	const void *end = row + n;
	const void *p;

	for (p = PTR_ALIGN_DOWN(row, SMP_CACHE_BYTES); p < end;
	     p += SMP_CACHE_BYTES)
		prefetch(p);
}

/* While one batch is added up, the next one is on its way to the cache. There
 * is nothing to be won by that for the first one, which is wanted at once.
 */
static void pcpu_fold_longs(unsigned long *sum,
			    const unsigned long __percpu *row, unsigned int n,
			    const struct cpumask *cpus)
{
	const unsigned long *rows[2 * PCPU_FOLD_BATCH] __uninitialized;
	unsigned int nr = 0, i = 0;
	int cpu;

	for_each_cpu(cpu, cpus) {
		rows[nr] = per_cpu_ptr(row, cpu);
		if (nr >= PCPU_FOLD_BATCH)
			pcpu_fold_prefetch(rows[nr], n);
		if (++nr < ARRAY_SIZE(rows))
			continue;

		pcpu_fold_batch(sum, rows, n);
		nr = PCPU_FOLD_BATCH;
		memcpy(rows, rows + nr, nr * sizeof(*rows));
	}

	if (nr >= PCPU_FOLD_BATCH) {
		pcpu_fold_batch(sum, rows, n);
		i = PCPU_FOLD_BATCH;
	}
	for (; i < nr; i++)
		pcpu_fold_one(sum, rows[i], n);
}

/* Read a stretch of a row so that it is consistent. It must be copied, for a
 * retry must not add to the sums twice.
 */
static void pcpu_fold_section(u64 *sum, const u64 *row, unsigned int n,
			      const struct u64_stats_sync *syncp)
{
	u64 copy[PCPU_FOLD_SECTION] __uninitialized;
	unsigned int start, i;

	do {
		start = u64_stats_fetch_begin(syncp);
		u64_stats_copy(copy, row, n * sizeof(*row));
	} while (u64_stats_fetch_retry(syncp, start));

	for (i = 0; i < n; i++)
		sum[i] += copy[i];
}

/* The way of 32-bit, and of rows without a seqcount there. */
static void pcpu_fold_row(u64 *sum, const u64 *row, unsigned int n,
			  const struct u64_stats_sync *syncp)
{
	unsigned int i;

	if (!syncp) {
		for (i = 0; i < n; i++)
			sum[i] += READ_ONCE(row[i]);
		return;
	}

	for (i = 0; i < n; i += PCPU_FOLD_SECTION)
		pcpu_fold_section(sum + i, row + i,
				  min(n - i, PCPU_FOLD_SECTION), syncp);
}

/**
 * pcpu_fold_u64_cpus() - add the rows of u64 counters of some CPUs
 * @sum: array of @n sums to add to
 * @row: per-cpu row of @n counters
 * @n: number of counters in a row
 * @syncp: the seqcount that the writers of the row use, or NULL if none;
 *	   not looked at on 64-bit
 * @cpus: the CPUs to visit
 *
 * For callers who know better than pcpu_fold_u64() which CPUs ever wrote.
 *
 * Context: Any on 64-bit. With a @syncp on 32-bit, no context that can
 *	    interrupt a writer: it would wait for a write section which
 *	    cannot end.
 */
void pcpu_fold_u64_cpus(u64 *sum, const u64 __percpu *row, unsigned int n,
			const struct u64_stats_sync __percpu *syncp,
			const struct cpumask *cpus)
{
	int cpu;

	if (BITS_PER_LONG == 64) {
		/* CPUs come into the mask while it is read, and
		 * pcpu_fold_mark_cpu() says why none is missing.
		 */
		data_race((pcpu_fold_longs((unsigned long *)sum,
					   (const unsigned long __percpu *)row,
					   n, cpus), 0));
		return;
	}

	for_each_cpu(cpu, cpus)
		pcpu_fold_row(sum, per_cpu_ptr(row, cpu), n,
			      syncp ? per_cpu_ptr(syncp, cpu) : NULL);
}
EXPORT_SYMBOL_IF_KUNIT(pcpu_fold_u64_cpus);

/**
 * pcpu_fold_u64() - add the rows of u64 counters of all CPUs
 * @sum: array of @n sums to add to
 * @row: per-cpu row of @n counters
 * @n: number of counters in a row
 * @syncp: the seqcount that the writers of the row use, or NULL if none;
 *	   not looked at on 64-bit
 *
 * The cost is the cache misses of the rows, one visit for each CPU that ever
 * came online; how many are possible does not matter.
 *
 * Context: as pcpu_fold_u64_cpus().
 */
void pcpu_fold_u64(u64 *sum, const u64 __percpu *row, unsigned int n,
		   const struct u64_stats_sync __percpu *syncp)
{
	pcpu_fold_u64_cpus(sum, row, n, syncp, pcpu_fold_cpus());
}
EXPORT_SYMBOL_IF_KUNIT(pcpu_fold_u64);

/**
 * pcpu_fold_mark_cpu() - add this CPU to those whose rows are summed up
 * @cpus: the mask for pcpu_fold_u64_cpus(), of cpumask_size() bytes, empty
 *	  at first, which lives as long as the row
 *
 * Who counts tests the counter that is about to be written, and comes here if
 * it is still 0. The CPU must not change in between::
 *
 *	if (unlikely(!__this_cpu_read(row[i])))
 *		pcpu_fold_mark_cpu(cpus);
 *	this_cpu_add(row[i], n);
 *
 * So a counter leaves 0 only after its CPU is in the mask, and nothing takes
 * a CPU out: no event is missing, by induction. A counter which wraps to 0
 * only marks its CPU once more. Who interrupts in between, like a softirq, and
 * finds the counter at 0 marks the CPU as well.
 *
 * A reader needs no barrier. Who knows of an event was told by a release on
 * this CPU and an acquire on its own, like those of a lock or a wakeup, and
 * they order the bit as well as the counter.
 *
 * Context: Any in which the CPU cannot change.
 */
void pcpu_fold_mark_cpu(struct cpumask *cpus)
{
	cpumask_set_cpu(smp_processor_id(), cpus);
	/* Bit before counter. Pairs with the test of the counter by one who
	 * interrupts the caller after it has counted.
	 */
	barrier();
}

/**
 * pcpu_fold_ulong() - add the rows of unsigned long counters of all CPUs
 * @sum: array of @n sums to add to
 * @row: per-cpu row of @n counters
 * @n: number of counters in a row
 *
 * Sums wrap at the size of unsigned long, as the counters do. A counter that
 * is also decremented, maybe on another CPU, sums up to its true value. Cost
 * as pcpu_fold_u64().
 *
 * Context: Any.
 */
void pcpu_fold_ulong(unsigned long *sum, const unsigned long __percpu *row,
		     unsigned int n)
{
	pcpu_fold_longs(sum, row, n, pcpu_fold_cpus());
}
EXPORT_SYMBOL_GPL(pcpu_fold_ulong);
