/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _NET_PCPU_FOLD_H
#define _NET_PCPU_FOLD_H

#include <linux/compiler_types.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>

struct cpumask;

/**
 * DOC: per-cpu counter rows
 *
 * A row is an array of counters of which every CPU owns one copy. The owner
 * writes its copy, a reader wants the sum of each counter over all CPUs. The
 * fold gets all sums in one pass: CPU after CPU, and each CPU's row once, in
 * memory order. Nothing is locked, writers are not disturbed.
 *
 * Key points:
 *
 * - The fold *adds* to what the caller's array holds. Zero it first to get
 *   plain totals, or fold several rows into one array.
 *
 * - CPUs which never came online are not visited, a CPU which went offline
 *   still counts. This rests on one rule for the writers: a CPU's row is only
 *   written by that CPU, or by nobody before the CPU first came online.
 *
 * - Where few of them ever write, pcpu_fold_mark_cpu() keeps a mask of those
 *   for pcpu_fold_u64_cpus().
 *
 * - On 64-bit every counter is read once, whole. The counters of a row are
 *   not read at one instant: a pair like packets and bytes may be apart by
 *   the packets counted meanwhile.
 *
 * - On 32-bit a u64 counter needs a &struct u64_stats_sync next to its row.
 *   One read section covers up to %PCPU_FOLD_SECTION counters, so what the
 *   owner wrote in one update section is also read together. Without one,
 *   the two halves of a counter can be read from different updates; only
 *   rows which are quiet, or whose readers live with it, may do so.
 *
 * - Counters which only grow give sums which only grow, for any one reader.
 *
 * Usage::
 *
 *   struct foo_stats {
 *	u64			counters[FOO_MAX];
 *	struct u64_stats_sync	syncp;
 *   };
 *
 *   void foo_get_stats(const struct foo *foo, u64 *sum)
 *   {
 *	memset(sum, 0, FOO_MAX * sizeof(*sum));
 *	pcpu_fold_u64(sum, foo->stats->counters, FOO_MAX,
 *		      &foo->stats->syncp);
 *   }
 */

/* Most u64 counters that one seqcount section covers (32-bit only), and so
 * the size of the copy that the reader keeps on its stack.
 */
#define PCPU_FOLD_SECTION	64

const struct cpumask *pcpu_fold_cpus(void);

void pcpu_fold_u64_cpus(u64 *sum, const u64 __percpu *row, unsigned int n,
			const struct u64_stats_sync __percpu *syncp,
			const struct cpumask *cpus);
void pcpu_fold_u64(u64 *sum, const u64 __percpu *row, unsigned int n,
		   const struct u64_stats_sync __percpu *syncp);

void pcpu_fold_mark_cpu(struct cpumask *cpus);

void pcpu_fold_ulong(unsigned long *sum, const unsigned long __percpu *row,
		     unsigned int n);

#endif /* _NET_PCPU_FOLD_H */
